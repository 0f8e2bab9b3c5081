"""The pytest plugin: the fixture `jurist`, suites as tests, and a summary with cost and pass rate."""

from __future__ import annotations

import argparse
import glob
import hashlib
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from jurist.results import Verdict
    from jurist.rubric import Rubric

#: The name under which results travel with a report, also from workers of xdist.
_PROPERTY = "jurist"


#: Markers that decide whether and how pytest runs a test; a tag of such a name is `tag_skip` and so on.
_OWN_MARKERS = ("skip", "skipif", "xfail", "parametrize", "usefixtures", "filterwarnings", "tryfirst", "trylast")

#: Endings of files that can be suites.
_SUFFIXES = (".yaml", ".yml")


class BrokenJudge(Exception):
    """A judge failed, so the test says nothing about the candidate."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("jurist", "rubrics and judges")
    group.addoption("--jurist-judge", metavar="MODEL", help="the judge's model, in place of the one of files")
    group.addoption("--jurist-replay", metavar="PATH", help="answer calls from this recording, or folder of them")
    group.addoption("--jurist-record", metavar="FOLDER", help="write the calls of each test to a file in this folder")
    group.addoption("--jurist-max-cost", metavar="DOLLARS", type=_read_dollars, help="spend at most this much, split evenly between the workers of xdist")
    group.addoption("--jurist-allow-commands", action="store_true", help="let suites start programs and Python code")
    suites_help = "folders or patterns (evals/*.yaml) whose YAML files are suites of Jurist"
    parser.addini("jurist_suites", suites_help, type="args", default=[])


def _read_dollars(text: str) -> float:
    try:
        dollars = float(text)
    except ValueError:
        dollars = math.nan
    if not 0 <= dollars < math.inf:
        raise argparse.ArgumentTypeError(f"`{text}` is not an amount of dollars of at least 0")
    return dollars


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_SESSION] = _Session(config)
    # Workers of xdist would repeat the warning.
    if not hasattr(config, "workerinput"):
        _warn_about_suites(config)
    config.addinivalue_line("markers", "jurist_suite: a case of a suite of Jurist")


def _warn_about_suites(config: pytest.Config) -> None:
    for entry in config.getini("jurist_suites"):
        if not any(_has_suites(path) for path in _list_matches(config, entry)):
            text = f"`jurist_suites = {entry}` matches no YAML file in {config.rootpath}"
            config.issue_config_time_warning(pytest.PytestConfigWarning(text), stacklevel=2)


def _list_matches(config: pytest.Config, entry: str) -> list[pathlib.Path]:
    """Files and folders of an entry of `jurist_suites`, which is a path or a pattern."""
    found = glob.glob(entry, root_dir=config.rootpath, recursive=True)
    return [config.rootpath / path for path in found]


def _has_suites(path: pathlib.Path) -> bool:
    if path.is_file():
        return path.suffix in _SUFFIXES
    return any(file.suffix in _SUFFIXES for file in path.rglob("*.y*ml"))


class _Session:
    """What all tests of this process share."""

    def __init__(self, config: pytest.Config) -> None:
        self.judge: str | None = config.getoption("--jurist-judge")
        self.replay: str | None = config.getoption("--jurist-replay")
        self.record: str | None = config.getoption("--jurist-record")
        self.max_cost: float | None = config.getoption("--jurist-max-cost")
        worker: Mapping[str, Any] | None = getattr(config, "workerinput", None)
        if self.max_cost is not None and worker is not None:
            # Workers of xdist do not know what others spent, so each has its part.
            self.max_cost /= worker["workercount"]
        self.suites = [path for entry in config.getini("jurist_suites") for path in _list_matches(config, entry)]
        self.allow_commands = bool(config.getoption("--jurist-allow-commands"))
        self.spent = 0.0

    def options(self, name: str) -> dict[str, Any]:
        """Options of grading for a test."""
        options: dict[str, Any] = {"allow_commands": True} if self.allow_commands else {}
        if self.judge is not None:
            options["judge"] = self.judge
        if self.max_cost is not None:
            options["max_cost"] = max(0.0, self.max_cost - self.spent)
        if self.replay is not None:
            path = pathlib.Path(self.replay)
            options["replay"] = path / f"{_file_name(name)}.jsonl" if path.is_dir() else path
        if self.record is not None:
            os.makedirs(self.record, exist_ok=True)
            options["record"] = pathlib.Path(self.record) / f"{_file_name(name)}.jsonl"
        return options


_SESSION = pytest.StashKey[_Session]()


def _file_name(name: str) -> str:
    kept = "".join(letter if letter.isalnum() else "-" for letter in name)[-80:]
    return f"{kept}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


class JuristFixture:
    """Grades in tests: `check` gives a verdict, `assert_passes` fails the test with the scorecard."""

    def __init__(self, session: _Session, item: pytest.Item) -> None:
        self._session = session
        self._item = item
        self._n_calls = 0

    def check(
        self, output: Any, rubric: Rubric | str | os.PathLike[str] | Mapping[str, Any], **given: Any
    ) -> Verdict:
        """Grade one output; `given` are the arguments of `Rubric.grade`. Raises `BrokenJudge` where a judge failed."""
        from jurist.rubric import take_rubric

        self._n_calls += 1
        options = self._session.options(f"{self._item.nodeid}#{self._n_calls}")
        verdict = take_rubric(rubric).grade(output, **{**options, **given})
        self._session.spent += verdict.cost or 0.0
        _note_result(self._item, verdict.status, verdict.cost)
        if verdict.status == "error":
            raise BrokenJudge(f"no verdict: {verdict.error}\n{verdict.scorecard()}")
        return verdict

    def assert_passes(
        self, output: Any, rubric: Rubric | str | os.PathLike[str] | Mapping[str, Any], **given: Any
    ) -> Verdict:
        """Fail the test unless the output passes; a case that no judge could grade is skipped with the reason."""
        __tracebackhide__ = True
        verdict = self.check(output, rubric, **given)
        if verdict.status == "deferred":
            pytest.skip(f"not graded: {verdict.error}")
        if not verdict.passed:
            pytest.fail(f"the rubric is not met\n{verdict.scorecard()}", pytrace=False)
        return verdict


@pytest.fixture
def jurist(request: pytest.FixtureRequest) -> JuristFixture:
    """Grades outputs by rubrics; see `JuristFixture`."""
    return JuristFixture(request.config.stash[_SESSION], request.node)


def _note_result(item: pytest.Item, status: str | None, cost: float | None) -> None:
    item.user_properties.append((_PROPERTY, json.dumps({"status": status, "cost": cost})))


def pytest_collect_file(file_path: pathlib.Path, parent: pytest.Collector) -> SuiteFile | None:
    name = file_path.name
    if name.startswith("test_") and name.endswith((".jurist.yaml", ".jurist.yml")):
        return SuiteFile.from_parent(parent, path=file_path)
    is_named = any(file_path.is_relative_to(path) for path in parent.config.stash[_SESSION].suites)
    if is_named and file_path.suffix in _SUFFIXES:
        return SuiteFile.from_parent(parent, path=file_path)
    return None


def _run_jurist(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "jurist", *arguments]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=False)


class SuiteFile(pytest.File):
    """A suite; each of its evals is a test."""

    def collect(self) -> Iterator[pytest.Item]:
        done = _run_jurist("convert", str(self.path), "--to", "json")
        if done.returncode != 0:
            raise self.CollectError(done.stderr)
        cases = json.loads(done.stdout).get("evals") or []
        names = {case["name"] for case in cases}
        for case in cases:
            item = SuiteCase.from_parent(self, name=case["name"])
            item.other_names = names - {case["name"]}
            item.add_marker("jurist_suite")
            for tag in case.get("tags") or []:
                marker = _marker_name(str(tag))
                # With `--strict-markers`, only known markers may be used.
                self.config.addinivalue_line("markers", f"{marker}: a tag of a suite of Jurist")
                item.add_marker(marker)
            yield item


def _marker_name(tag: str) -> str:
    """A tag as the name of a marker, which cannot begin with an underscore and does nothing to the test."""
    name = "".join(letter if letter.isalnum() else "_" for letter in tag).lstrip("_") or "tag"
    return f"tag_{name}" if name in _OWN_MARKERS else name


class FailedCase(Exception):
    """A case of a suite did not pass."""


class SuiteCase(pytest.Item):
    """One eval of a suite, which may be several cases: rows of its data, prompts, trials."""

    #: Names of the other evals of the suite.
    other_names: set[str]

    def runtest(self) -> None:
        from jurist.results import read_cost

        session = self.config.stash[_SESSION]
        with tempfile.TemporaryDirectory() as folder:
            report = pathlib.Path(folder) / "run.json"
            flags = [f"--reporter=json={report}", f"--only={self.name}", *self._flags()]
            done = _run_jurist("eval", str(self.path), "--quiet", *flags)
            if not report.exists():
                raise BrokenJudge(done.stderr or done.stdout)
            cases = json.loads(report.read_text(encoding="utf-8"))["results"]
        for case in cases:
            cost = read_cost(case.get("spend"))
            session.spent += cost or 0.0
            # What another eval cost is spent here, and its verdict is that of another test.
            _note_result(self, _case_status(case) if self._is_own(case) else None, cost)
        own = [case for case in cases if self._is_own(case)]
        if not own:
            raise BrokenJudge(f"no case of `{self.name}` was run: {done.stderr}")
        self._judge(own)

    def _flags(self) -> list[str]:
        options = self.config.stash[_SESSION].options(self.nodeid)
        allowed = ["--allow-commands"] if options.pop("allow_commands", False) else []
        return [*allowed, *(f"--{name.replace('_', '-')}={value}" for name, value in options.items())]

    def _is_own(self, case: Mapping[str, Any]) -> bool:
        # `--only` also runs evals whose outputs this one uses. Cases of a template have other names than the template.
        written = (case.get("parts") or {}).get("written", case["case"])
        return written == self.name or ("{{" in self.name and written not in self.other_names)

    def _judge(self, cases: list[dict[str, Any]]) -> None:
        texts = {status: [_describe_case(case) for case in cases if _case_status(case) == status]
                 for status in ("error", "fail", "deferred")}
        if texts["error"]:
            raise BrokenJudge("\n".join(texts["error"]))
        if texts["fail"]:
            raise FailedCase("\n".join(texts["fail"]))
        if texts["deferred"]:
            pytest.skip("not graded: " + "; ".join(texts["deferred"]))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> str:
        return str(excinfo.value)

    def reportinfo(self) -> tuple[pathlib.Path, int | None, str]:
        return self.path, None, self.name


def _case_status(case: Mapping[str, Any]) -> str:
    return str(case["verdict"]["status"])


def _describe_case(case: Mapping[str, Any]) -> str:
    from jurist.results import read_grade

    lines = [f"{case['case']}: {_case_status(case)}"]
    for grade in map(read_grade, case.get("grades") or []):
        answer = grade.status if grade.value is None else grade.value
        lines.append(f"  {grade.criterion}: {answer}" + (f" ({grade.reason})" if grade.reason else ""))
    return "\n".join(lines)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    outcome: Any = yield
    if call.excinfo is not None and call.excinfo.errisinstance(BrokenJudge):
        outcome.get_result().user_properties.append((_PROPERTY, "broken"))


def _is_broken(report: Any) -> bool:
    properties = [tuple(one) for one in getattr(report, "user_properties", [])]
    return bool(getattr(report, "failed", False)) and (_PROPERTY, "broken") in properties


def pytest_report_teststatus(report: Any) -> tuple[str, str, str] | None:
    """A judge that failed is an error of the test, not a failure of what it tests."""
    return ("error", "E", "ERROR") if _is_broken(report) else None


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_logreport(report: Any) -> Iterator[None]:
    """JUnit's file has an `<error>` only for what fails before or after the call of a test."""
    is_broken = report.when == "call" and _is_broken(report)
    if is_broken:
        report.when = "setup"
    yield
    if is_broken:
        report.when = "call"


def pytest_terminal_summary(terminalreporter: Any) -> None:
    results: list[dict[str, Any]] = []
    seen: set[str] = set()
    for reports in terminalreporter.stats.values():
        for report in reports:
            # A worker of xdist sends a broken judge as it is written to JUnit's file.
            is_call = getattr(report, "when", None) == "call" or _is_broken(report)
            if is_call and report.nodeid not in seen:
                seen.add(report.nodeid)
                own = [value for name, value in report.user_properties if name == _PROPERTY and value != "broken"]
                results.extend(json.loads(value) for value in own)
    if results:
        terminalreporter.section("jurist")
        terminalreporter.write_line(_summarize(results))


def _summarize(results: list[dict[str, Any]]) -> str:
    from jurist import stats

    counts = {status: sum(result["status"] == status for result in results)
              for status in ("pass", "fail", "error", "deferred")}
    n_graded = counts["pass"] + counts["fail"]
    rate = "no verdict"
    if n_graded:
        low, high = stats.proportion_interval(counts["pass"], n_graded)["wilson"]
        rate = f"{counts['pass']} of {n_graded} pass ({100 * low:.0f} to {100 * high:.0f} %, 95 % interval)"
    unknown = any(result["cost"] is None for result in results)
    cost = sum(result["cost"] or 0.0 for result in results)
    spent = f"at least ${cost:.4f}, a price is not known" if unknown else f"${cost:.4f}"
    return f"{rate}, {counts['error']} errors, {counts['deferred']} not graded · {spent}"
