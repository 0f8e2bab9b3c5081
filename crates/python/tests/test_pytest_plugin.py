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


def test_an_eval_has_only_its_own_results(pytester: pytest.Pytester) -> None:
    (pytester.path / "test_a.jurist.yaml").write_text("""
evals:
  - {name: capital, response: Paris, checks: [{type: length, max: 10}]}
  - {name: capital city, response: Paris is the capital, checks: [{type: length, max: 10}]}
  - {name: "capital [old]", response: Paris was the capital, checks: [{type: length, max: 10}]}
  - {name: "of {{ row.answer }}", data: rows.jsonl, response: "{{ row.answer }}", checks: [{type: length, max: 10}]}
""")
    result = pytester.runpytest_subprocess("-v")
    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines(["*::capital PASSED*", "*::capital city FAILED*"])
    result.stdout.fnmatch_lines(["*3 of 5 pass*0 errors*$0.0000*"])
    result.stdout.no_fnmatch_line("*price is not known*")


def test_suites_may_be_named_by_a_pattern_and_tags_are_known_markers(pytester: pytest.Pytester) -> None:
    (pytester.path / "evals/places.yaml").write_text(SUITE.replace("[smoke]", "[smoke, _hidden]"))
    (pytester.path / "evals/notes.txt").write_text("no suite")
    pytester.makeini("[pytest]\njurist_suites = evals/*.yaml nowhere/*.yaml evals/*.txt\n")
    result = pytester.runpytest_subprocess("--strict-markers", "-m", "smoke")
    result.assert_outcomes(passed=1, deselected=3, warnings=2)
    result.stdout.fnmatch_lines(["*`jurist_suites = nowhere/[*].yaml` matches no YAML file*"])


def test_a_broken_judge_is_an_error_in_the_file_for_ci(pytester: pytest.Pytester) -> None:
    import xml.etree.ElementTree

    pytester.makepyfile(TESTS)
    result = pytester.runpytest_subprocess("--junitxml=out.xml")
    result.assert_outcomes(passed=2, failed=1, errors=1, skipped=1)
    suite = xml.etree.ElementTree.parse(pytester.path / "out.xml").getroot()[0]
    assert (suite.get("errors"), suite.get("failures"), suite.get("tests")) == ("1", "1", "5")
    broken = next(case for case in suite.iter("testcase") if case.get("name") == "test_broken")
    assert broken.find("error") is not None and broken.find("failure") is None


@pytest.mark.parametrize(("workers", "share"), [([], "6.0"), (["-n", "2"], "3.0")], ids=["one process", "xdist"])
def test_workers_share_the_limit_of_cost(pytester: pytest.Pytester, workers: list[str], share: str) -> None:
    pytester.makepyfile(f"def test_it(jurist):\n    assert jurist._session.max_cost == {share}\n")
    pytester.runpytest_subprocess("--jurist-max-cost=6", *workers).assert_outcomes(passed=1)


@pytest.mark.parametrize("amount", ["-1", "nan", "much"])
def test_a_limit_of_cost_is_an_amount(pytester: pytest.Pytester, amount: str) -> None:
    result = pytester.runpytest_subprocess(f"--jurist-max-cost={amount}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*`{amount}` is not an amount of dollars*"])


STORED_OUTPUT = """
evals:
  - name: "answer [draft]"
    store_output_as: draft
    response: Paris is the capital
    checks: [{type: length, max: 10}]
  - {name: answer, response: "{{ outputs.draft }}", checks: [{type: contains, value: Paris}]}
"""


def test_an_eval_whose_output_is_used_is_another_test_and_its_cost_counts(pytester: pytest.Pytester) -> None:
    (pytester.path / "test_a.jurist.yaml").write_text(STORED_OUTPUT)
    # As if each case had cost a dollar.
    pytester.makeconftest("""
import json
from jurist import pytest_plugin

run = pytest_plugin._run_jurist

def run_with_cost(*arguments):
    done = run(*arguments)
    for path in (one.removeprefix("--reporter=json=") for one in arguments if one.startswith("--reporter=json=")):
        report = json.load(open(path, encoding="utf-8"))
        for case in report["results"]:
            case["spend"] = {"cost": 1.0}
        json.dump(report, open(path, "w", encoding="utf-8"))
    return done

pytest_plugin._run_jurist = run_with_cost

def pytest_sessionfinish(session):
    print("spent", session.config.stash[pytest_plugin._SESSION].spent)
""")
    result = pytester.runpytest_subprocess("-v", "-s")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*::answer PASSED*spent 3.0*", "*1 of 2 pass*$3.0000*"])


def test_a_tag_is_no_marker_of_pytest(pytester: pytest.Pytester) -> None:
    (pytester.path / "test_places.jurist.yaml").write_text(SUITE.replace("[smoke]", "[skip, xfail]"))
    result = pytester.runpytest_subprocess("-m", "tag_skip and tag_xfail")
    result.assert_outcomes(passed=1, deselected=3)


def test_the_folder_of_the_settings_may_have_letters_of_patterns(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = pytester.mkdir("[project]")
    (project / "evals").mkdir()
    (project / "evals/places.yaml").write_text(SUITE.partition("  - name: long")[0])
    (project / "pytest.ini").write_text("[pytest]\njurist_suites = evals/*.yaml\n")
    monkeypatch.chdir(project)
    pytester.runpytest_subprocess("evals").assert_outcomes(passed=1)


def test_suites_are_utf_8_whatever_the_locale_is(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.setenv("PYTHONUTF8", "0")
    monkeypatch.setenv("PYTHONCOERCECLOCALE", "0")
    suite = SUITE.partition("  - name: long")[0].replace("Paris", "Zürich")
    (pytester.path / "test_places.jurist.yaml").write_text(suite, encoding="utf-8")
    pytester.runpytest_subprocess().assert_outcomes(passed=1)
