from __future__ import annotations

import ast
import doctest
import importlib
import json
import re
from typing import Any

import pytest
from conftest import ROOT

PAGES = {"docs/python.md": 8, "crates/python/README.md": 1}


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


@pytest.mark.parametrize("module", ["rubric", "stats", "limits", "evaluators", "rewards", "tables", "results"])
def test_examples_in_docstrings_hold(module: str) -> None:
    results = doctest.testmod(importlib.import_module(f"jurist.{module}"))
    assert results.attempted and not results.failed


def test_the_notebook_runs_in_a_kernel() -> None:
    nbclient = pytest.importorskip("nbclient", reason="the package `nbclient` is not installed")
    pytest.importorskip("ipykernel", reason="the package `ipykernel` is not installed")
    import sys

    import nbformat
    from jupyter_client.kernelspec import KernelSpec
    from jupyter_client.manager import AsyncKernelManager

    notebook = nbformat.read(ROOT / "examples/python.ipynb", as_version=4)
    notebook.cells.insert(0, nbformat.v4.new_code_cell("import jurist; print(jurist.__version__)"))
    # The kernel of this interpreter, whichever are installed on this machine.
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    manager = AsyncKernelManager()
    manager._kernel_spec = KernelSpec(argv=command, language="python", display_name="jurist")
    resources = {"metadata": {"path": str(ROOT / "examples")}}
    nbclient.NotebookClient(notebook, km=manager, timeout=300, resources=resources).execute()
    import jurist

    assert notebook.cells[0].outputs[0].text.strip() == jurist.__version__
    shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    html = "".join(output.data.get("text/html", "") for output in shown if "data" in output)
    assert "<mark>" in html and "<table>" in html


def test_the_notebook_shows_what_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT / "examples")
    notebook = json.loads((ROOT / "examples/python.ipynb").read_text())
    names: dict[str, Any] = {}
    shown: list[Any] = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            tree = ast.parse("".join(cell["source"]))
            last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
            exec(compile(tree, "notebook", "exec"), names)
            if isinstance(last, ast.Expr):
                shown.append(eval(compile(ast.Expression(last.value), "notebook", "eval"), names))
    verdict, verdicts, alpha, bars = shown
    assert "<mark>" in verdict._repr_html_() and len(verdicts) == 3
    assert 0.5 < alpha < 1
    assert set(bars.means) >= {"amount", "helpful"} and "<div" in bars._repr_html_()
