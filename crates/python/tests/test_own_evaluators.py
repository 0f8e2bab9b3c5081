"""Own evaluators in rubrics and suites: by file, by a registered name, by an entry point."""

from __future__ import annotations

import json
import os
import pathlib
import sys
import textwrap
from typing import Any

import pytest
from conftest import run_jurist

import jurist
from jurist import evaluators

OWN = """
from dataclasses import dataclass


@dataclass
class Result:
    score: float | None
    value: object = None
    comment: str = ""
    error: str | None = None


class Polite:
    def __init__(self, word="please"):
        self.word = word

    def evaluate(self, *, outputs, reference_outputs=None, inputs=None, context=None):
        said = self.word in outputs.lower()
        return Result(1.0 if said else 0.25, said, f"{self.word} for {inputs}; {reference_outputs}; {context}")


def half(*, outputs, share=0.5, **_):
    return {"key": "half", "score": share, "comment": f"{len(outputs)} letters"}


def make_polite(word):
    return Polite(word)


async def slow(*, outputs, **_):
    return {"score": True, "comment": "waited"}


def unsure(*, outputs, **_):
    return Result(None, error="nobody knows")


def get_assert(output, context):
    return {"pass": True, "score": 0.75, "reason": "promptfoo's contract"}
"""


@pytest.fixture
def own(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    (tmp_path / "own_evaluators.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(evaluators, "_OWN", {})
    monkeypatch.setenv("JURIST_EVALUATORS", "")
    monkeypatch.setenv("JURIST_PYTHON", sys.executable)
    sys.modules.pop("own_evaluators", None)
    return tmp_path / "own_evaluators.py"


def grade(value: str, **config: Any) -> jurist.Verdict:
    check = {"type": "python", "value": value, "config": config}
    rubric = jurist.Rubric.from_dict({"threshold": 0.5, "criteria": [{"name": "own", "check": check}]})
    return rubric.grade(
        "Please wait", input="Hello?", reference="Wait", context=["a page"], id="1", allow_commands=True
    )


def test_a_file_may_hold_evaluators_of_every_kind(own: pathlib.Path) -> None:
    verdict = grade("file://own_evaluators.py:Polite")
    assert (verdict.status, verdict.score) == ("pass", 1.0)
    assert verdict.grades[0].reason == "please for Hello?; Wait; ['a page']"
    assert grade("file://own_evaluators.py:Polite", word="thanks").status == "fail"
    assert grade("file://own_evaluators.py:half", share=0.6).score == 0.6
    assert grade("file://own_evaluators.py:slow").score == 1.0
    assert grade("file://own_evaluators.py").score == 0.75, "the contract of promptfoo holds as before"


def test_an_evaluator_without_a_score_is_an_error_and_no_number(own: pathlib.Path) -> None:
    verdict = grade("file://own_evaluators.py:unsure")
    assert (verdict.status, verdict.score) == ("error", None)
    assert "the evaluator gives no score: nobody knows" in (verdict.error or "")
    assert "unexpected keyword argument" in (grade("file://own_evaluators.py:Polite", wrong=1).error or "")


def test_registered_names_work_in_rubrics_and_in_suites(own: pathlib.Path) -> None:
    import own_evaluators

    evaluators.register_evaluator("polite", own_evaluators.Polite)
    evaluators.register_evaluator("half", own_evaluators.half)
    evaluators.register_evaluator("made", own_evaluators.make_polite)
    assert grade("evaluator:polite", word="wait").score == 1.0
    assert grade("evaluator:half", share=0.9).score == 0.9
    assert grade("evaluator:made", word="thanks").status == "fail"
    assert "no evaluator is registered as `nobody`" in (grade("evaluator:nobody").error or "")
    here = evaluators.build_evaluator("half", {"share": 0.9}).evaluate(outputs="Please wait")
    assert here == {"key": "half", "score": 0.9, "comment": "11 letters"}
    suite = own.parent / "suite.yaml"
    suite.write_text(
        "evals: [{name: greeting, response: Please wait, checks: [{type: python, value: 'evaluator:polite'}]}]"
    )
    done = run_jurist("eval", suite, "--allow-commands", "--reporter=json=run.json", "--quiet")
    assert done.returncode == 0, done.stderr
    assert json.loads(pathlib.Path("run.json").read_text())["results"][0]["verdict"]["status"] == "pass"


def test_what_cannot_be_found_by_others_works_only_here(own: pathlib.Path) -> None:
    evaluators.register_evaluator("local", lambda: None)
    assert "local" not in os.environ["JURIST_EVALUATORS"]
    assert "top level of a module" in (grade("evaluator:local").error or "")
    with pytest.raises(jurist.InputError, match="already"):
        evaluators.register_evaluator("local", lambda: None)
    with pytest.raises(jurist.InputError, match="no name of an evaluator"):
        evaluators.register_evaluator("two words", lambda: None)


def test_entry_points_of_packages_are_found_by_their_name(own: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = own.parent / "own_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: own-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[jurist.evaluators]\npacked = own_evaluators:Polite\n")
    monkeypatch.setenv("PYTHONPATH", str(own.parent))
    assert grade("evaluator:packed", word="wait").score == 1.0
    made: Any = evaluators.build_evaluator("packed", {"word": "wait"}).evaluate(outputs="wait")
    assert made.score == 1.0
    assert "packed" in [entry["name"] for entry in evaluators.list_evaluators()]


def test_suites_in_pytest_use_evaluators_of_conftest(pytester: pytest.Pytester, own: pathlib.Path) -> None:
    pytester.makepyfile(own_evaluators=OWN)
    pytester.makeconftest("""
        import own_evaluators
        from jurist.evaluators import register_evaluator
        register_evaluator("polite", own_evaluators.Polite)
    """)
    pytester.makepyfile(test_one="""
        RUBRIC = {"criteria": [{"name": "own", "check": {"type": "python", "value": "evaluator:polite"}}]}
        def test_fixture(jurist):
            jurist.assert_passes("Please wait", RUBRIC)
    """)
    suite = """
        evals:
          - {name: asks, response: Please wait, checks: [{type: python, value: "evaluator:polite"}]}
          - {name: orders, response: Wait, checks: [{type: python, value: "evaluator:polite"}]}
    """
    (pytester.path / "test_greetings.jurist.yaml").write_text(textwrap.dedent(suite))
    result = pytester.runpytest_subprocess("--jurist-allow-commands")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["*please for *"])
    without = pytester.runpytest_subprocess()
    without.assert_outcomes(failed=1, errors=2)
    without.stdout.fnmatch_lines(["*--allow-commands*"])
