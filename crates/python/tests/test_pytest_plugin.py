from __future__ import annotations

import pytest

SUITE = """
evals:
  - name: capital
    tags: [smoke]
    input: Capital of France?
    response: Paris
    checks: [{type: length, max: 10}]
  - name: long
    response: Paris is the capital of France
    checks: [{type: length, max: 10}]
  - name: judged
    response: Paris
    rubric: Is it nice?
  - name: rows
    data: rows.jsonl
    response: "{{ row.answer }}"
    checks: [{type: length, max: 10}]
"""

TESTS = '''
import json
from jurist import Rubric

SHORT = Rubric.from_dict({"criteria": [{"name": "short", "check": {"type": "length", "max": 10}}]})
NICE = Rubric.from_dict({"criteria": [{"name": "nice", "description": "Is it nice?", "scale": "binary"}]})

def say_yes(messages):
    return json.dumps({"reasoning": "yes", "verdict": True})

def break_down(messages):
    raise OSError("gone")

def test_short(jurist):
    assert jurist.assert_passes("Paris", SHORT).score == 1.0

def test_long(jurist):
    jurist.assert_passes("Paris is the capital of France", SHORT)

def test_nice(jurist):
    assert jurist.check("Paris", NICE, judge=say_yes).passed

def test_broken(jurist):
    jurist.assert_passes("Paris", NICE, judge=break_down)

def test_nobody(jurist):
    jurist.assert_passes("Paris", NICE)
'''


@pytest.fixture(autouse=True)
def rows(pytester: pytest.Pytester) -> None:
    pytester.mkdir("evals")
    for folder in (pytester.path, pytester.path / "evals"):
        (folder / "rows.jsonl").write_text('{"answer": "Rome"}\n{"answer": "Athens"}\n')


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["one process", "xdist"])
def test_the_fixture_fails_skips_and_breaks_as_it_should(pytester: pytest.Pytester, workers: list[str]) -> None:
    pytester.makepyfile(TESTS)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", *workers)
    result.assert_outcomes(passed=2, failed=1, errors=1, skipped=1)
    result.stdout.fnmatch_lines(["*the rubric is not met*", "*short: scored 30*", "*30 characters*"])
    result.stdout.fnmatch_lines(["*2 of 3 pass (*95 % interval), 1 errors, 1 not graded*"])


def test_calls_of_each_test_are_recorded_and_replayed(pytester: pytest.Pytester) -> None:
    path = pytester.makepyfile(TESTS)
    result = pytester.runpytest_subprocess("-k", "nice", "--jurist-record", "calls")
    result.assert_outcomes(passed=1, deselected=4)
    path.write_text(path.read_text().replace("judge=say_yes", "").replace("NICE, ).passed", "NICE).passed"))
    result = pytester.runpytest_subprocess("-k", "nice", "--jurist-replay", "calls")
    result.assert_outcomes(passed=1, deselected=4)


def test_suites_are_tests_with_their_tags_as_markers(pytester: pytest.Pytester) -> None:
    (pytester.path / "test_places.jurist.yaml").write_text(SUITE)
    result = pytester.runpytest_subprocess("-v", "-rs")
    result.assert_outcomes(passed=2, failed=1, skipped=1)
    result.stdout.fnmatch_lines(["*places.jurist.yaml::capital PASSED*", "*30 characters*", "*no judge is set*"])
    result = pytester.runpytest_subprocess("-m", "smoke")
    result.assert_outcomes(passed=1, deselected=3)


def test_folders_of_suites_are_collected_where_the_settings_say_so(pytester: pytest.Pytester) -> None:
    (pytester.path / "evals/places.yaml").write_text(SUITE)
    (pytester.path / "evals/broken.yaml").write_text("evals: [{name: x, respone: y}]")
    pytester.makeini("[pytest]\njurist_suites = evals\n")
    result = pytester.runpytest_subprocess("--continue-on-collection-errors")
    result.assert_outcomes(passed=2, failed=1, skipped=1, errors=1)
    result.stdout.fnmatch_lines(["*did you mean `response`*"])


def test_a_judge_of_the_command_line_replaces_that_of_files(pytester: pytest.Pytester) -> None:
    (pytester.path / "test_places.jurist.yaml").write_text(SUITE)
    result = pytester.runpytest_subprocess("-k", "judged", "--jurist-judge", "nosuchmodel")
    result.assert_outcomes(errors=1, deselected=3)
    result.stdout.fnmatch_lines(["*`nosuchmodel` is not a known model*"])

