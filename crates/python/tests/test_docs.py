from __future__ import annotations

import doctest
import importlib
import re

import pytest
from conftest import ROOT

PAGES = {"docs/python.md": 6, "crates/python/README.md": 1}


def snippets() -> list[tuple[str, str]]:
    found = []
    for page, n_expected in PAGES.items():
        blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
        assert len(blocks) == n_expected, page
        found += [(f"{page} {index + 1}", block) for index, block in enumerate(blocks)]
    return found


@pytest.mark.parametrize(("name", "code"), snippets(), ids=lambda value: value if len(value) < 40 else "")
def test_a_snippet_of_the_manual_runs(name: str, code: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(code, name, "exec"), {})
    printed = capsys.readouterr().out
    if "reward(" in code:
        assert printed == "[1.0, 0.0]\n"
    if "verdict.status" in code:
        assert printed.startswith("pass 1.0\n")


@pytest.mark.parametrize("module", ["rubric", "stats"])
def test_examples_in_docstrings_hold(module: str) -> None:
    results = doctest.testmod(importlib.import_module(f"jurist.{module}"))
    assert results.attempted and not results.failed
