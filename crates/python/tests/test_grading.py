from __future__ import annotations

import asyncio
import json
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import pytest
from conftest import EXAMPLES, check_in_forked_process, run_jurist

import jurist
from jurist import Rubric

JUDGED = {"criteria": [{"name": "polite", "description": "Is it polite?", "scale": "binary"}]}
CHECKED = {"criteria": [{"name": "short", "check": {"type": "length", "max": 10}}]}


def say_yes(messages: list[dict[str, str]]) -> str:
    return json.dumps({"reasoning": "it does", "verdict": True})


@pytest.mark.parametrize("rubric", ["judged.yaml", "checks.yaml"])
def test_a_verdict_is_the_line_of_the_command_byte_for_byte(rubric: str) -> None:
    questions = EXAMPLES / "questions.jsonl"
    rows = [json.loads(line) for line in questions.read_text().splitlines()]
    options: dict[str, Any] = {"replay": EXAMPLES / "calls.jsonl"}
    command = run_jurist("grade", questions, "--rubric", EXAMPLES / rubric, "--replay", EXAMPLES / "calls.jsonl")
    if command.returncode == 2:
        pytest.skip(f"{rubric} is not one rubric: {command.stderr}")
    assert command.returncode in (0, 1, 3), command.stderr
    verdicts = Rubric.load(EXAMPLES / rubric).grade_many(rows, **options)
    assert "".join(verdict.to_json() + "\n" for verdict in verdicts) == command.stdout
    one = Rubric.load(EXAMPLES / rubric).grader(**options).grade_record(rows[0])
    assert one == verdicts[0]


def test_the_keywords_are_the_fields_of_a_record() -> None:
    row = json.loads((EXAMPLES / "questions.jsonl").read_text().splitlines()[0])
    rubric = Rubric.load(EXAMPLES / "judged.yaml")
    by_row = rubric.grade_many([row], replay=EXAMPLES / "calls.jsonl")[0]
    by_keyword = rubric.grade(**row, replay=EXAMPLES / "calls.jsonl")
    assert by_keyword.to_json() == by_row.to_json()
    assert by_row.status in ("pass", "fail")
    found = [evidence for grade in by_row.grades for evidence in grade.evidence if evidence.found]
    assert found and "<mark>" in by_row._repr_html_()
    assert by_row.to_dict()["grades"][0]["criterion"] == by_row.grades[0].criterion


def judge_with_quote(quote: str) -> Any:
    return lambda messages: json.dumps({"reasoning": "so it is", "evidence": [quote], "verdict": True})


def test_a_notebook_shows_quotes_of_every_part_of_a_candidate() -> None:
    rubric = Rubric.from_dict({**JUDGED, "require_evidence": True})
    trace = [{"role": "user", "content": "?"}, {"role": "assistant", "content": "I say dear <friend>"}]
    verdict = rubric.grade(trace, judge=judge_with_quote("dear <friend>"))
    for html in (verdict._repr_html_(), verdict.grade("polite")._repr_html_()):
        assert "<mark>dear &lt;friend&gt;</mark> (trace." in html
    diff = "--- a\n+++ b\n@@ -1 +1 @@\n-cold\n+dear friend\n"
    html = rubric.grade(diff=diff, judge=judge_with_quote("dear friend"))._repr_html_()
    assert "+<mark>dear friend</mark>" in html
    html = rubric.grade("Hello", judge=judge_with_quote("dear friend"))._repr_html_()
    assert "gates failed: polite" in html and "dear friend (not found in the candidate)" in html
    html = rubric.grade("dear friend " * 10_000, judge=judge_with_quote("dear friend"))._repr_html_()
    assert len(html) < 30_000 and " …</pre>" in html


def test_rubrics_come_from_files_texts_and_mappings(tmp_path: pathlib.Path) -> None:
    (tmp_path / "r.yaml").write_text("criteria:\n- name: short\n  check: {type: length, max: 10}\n")
    rubrics = [
        Rubric.load("r.yaml"),
        Rubric.from_yaml((tmp_path / "r.yaml").read_text()),
        Rubric.from_dict(CHECKED),
        Rubric.build(jurist.criterion("short", check={"type": "length", "max": 10})),
    ]
    assert len({rubric.version for rubric in rubrics}) == 1
    assert [rubric.grade("Paris").passed for rubric in rubrics] == [True] * 4
    assert rubrics[0].grade("Paris is the capital of France").passed is False


def test_a_check_that_finds_nothing_to_look_at_abstains() -> None:
    check = {"type": "trajectory:tool-used", "value": "rm"}
    never = {"criteria": [{"name": "never", "not": True, "required": True, "check": check}]}
    verdict = Rubric.from_dict(never).grade("42")
    assert (verdict.status, verdict.passed, verdict.grade("never").status) == ("error", None, "abstained")
    assert verdict.error == "never: there is no trace to look at"


def test_a_wrong_rubric_says_every_problem_with_its_line() -> None:
    with pytest.raises(jurist.RubricError) as caught:
        Rubric.from_yaml("criteria:\n- name: a\n  check: {type: lenght}\n- name: b\n  wieght: 2\n  description: B?\n")
    lines = [(found.line, found.severity) for found in caught.value.diagnostics]
    assert (3, "error") in lines and (5, "error") in lines
    assert "did you mean `length`?" in str(caught.value)
    with pytest.raises(jurist.RubricError, match="nowhere.yaml"):
        Rubric.load("nowhere.yaml")


def test_a_function_judges() -> None:
    seen: list[list[dict[str, str]]] = []

    def judge(messages: list[dict[str, str]]) -> str:
        seen.append(messages)
        return say_yes(messages)

    verdict = Rubric.from_dict(JUDGED).grade("Thank you!", judge=judge)
    assert verdict.passed, verdict.scorecard()
    assert [message["role"] for message in seen[0]] == ["system", "user"]
    assert "Thank you!" in seen[0][1]["content"]
    assert verdict.grades[0].grader.startswith("python/")


def test_a_function_gets_what_it_asks_for_and_tells_what_it_used() -> None:
    def judge(messages: Any, schema: Any, max_tokens: int) -> dict[str, Any]:
        assert schema["type"] == "object" and 0 < max_tokens
        return {"text": say_yes(messages), "usage": {"input": 70, "output": 3}}

    verdict = Rubric.from_dict(JUDGED).grade("Thank you!", judge=judge)
    assert verdict.passed, verdict.scorecard()
    assert verdict.to_dict()["spend"]["tokens_in"] == 70
    assert verdict.cost is None, "nobody knows its price"


def test_an_asynchronous_function_judges_in_the_callers_loop() -> None:
    loops: list[asyncio.AbstractEventLoop] = []

    async def judge(messages: Any) -> str:
        loops.append(asyncio.get_running_loop())
        await asyncio.sleep(0)
        return say_yes(messages)

    rubric = Rubric.from_dict(JUDGED)
    assert rubric.grade("Thank you!", judge=judge).passed

    async def grade() -> None:
        assert (await rubric.agrade("Thank you!", judge=judge)).passed
        assert loops[-1] is asyncio.get_running_loop()
        many = await rubric.agrade_many([{"output": "a"}, {"output": "b"}], judge=judge)
        assert [verdict.passed for verdict in many] == [True, True]

    asyncio.run(grade())


def test_a_function_that_raises_or_hangs_is_an_error_and_never_a_score() -> None:
    def broken(messages: Any) -> str:
        raise RuntimeError("no luck")

    rubric = Rubric.from_dict(JUDGED)
    verdict = rubric.grade("Thank you!", judge=broken)
    assert (verdict.status, verdict.score, verdict.passed) == ("error", None, None)
    assert "RuntimeError: no luck" in (verdict.error or "")

    release = threading.Event()

    def hanging(messages: Any) -> str:
        release.wait(60)
        return say_yes(messages)

    verdict = rubric.grade("Thank you!", judge=hanging, timeout=0.05)
    release.set()
    assert verdict.status == "error" and "0.05 s" in (verdict.error or "")

    verdict = rubric.grade("Thank you!", judge=lambda messages: 7)  # type: ignore[arg-type, return-value]
    assert verdict.status == "error" and "must return a text" in (verdict.error or "")


def test_several_draws_vote() -> None:
    draws: list[int] = []

    def judge(messages: Any, draw: int) -> str:
        draws.append(draw)
        return say_yes(messages)

    verdict = Rubric.from_dict(JUDGED).grade("Thank you!", judge=judge, n=3)
    assert sorted(draws) == [0, 1, 2] and verdict.passed
    assert len(verdict.to_dict()["opinions"]) == 3


def test_recorded_calls_can_be_replayed(tmp_path: pathlib.Path) -> None:
    rubric = Rubric.from_dict(JUDGED)
    first = rubric.grade("Thank you!", judge=say_yes, record=tmp_path / "calls.jsonl")
    again = rubric.grade("Thank you!", replay=tmp_path / "calls.jsonl")
    assert again.passed and first.grades[0].reason == again.grades[0].reason


def test_what_is_wrong_is_an_exception_of_our_own() -> None:
    rubric = Rubric.from_dict(JUDGED)
    with pytest.raises(jurist.InputError, match="did you mean `judge`"):
        rubric.grade("a", jugde="gpt-5")  # type: ignore[call-arg]
    with pytest.raises(jurist.InputError, match="not a known model"):
        rubric.grade("a", judge="gpt5")
    with pytest.raises(jurist.InputError, match="an amount of dollars"):
        rubric.grade("a", judge="gpt-5", max_cost=-1)
    with pytest.raises(jurist.InputError, match="`set`"):
        rubric.grade({1, 2}, judge=say_yes)
    with pytest.raises(jurist.InputError, match="output"):
        rubric.grade(input="only a question", judge=say_yes)
    with pytest.raises(jurist.InputError, match="not a `str`"):
        rubric.grade_many("rows", judge=say_yes)
    with pytest.raises(jurist.InputError, match="no column `answer`"):
        rubric.grade_many([{"output": "a"}], columns={"output": "answer"}, judge=say_yes)
    verdict = Rubric.from_dict(CHECKED).grade("a")
    with pytest.raises(jurist.InputError, match="no grade is about `shrot`; there are `short`"):
        verdict.grade("shrot")
    with pytest.raises(TypeError, match="passed"):
        bool(verdict)


def test_without_a_judge_nothing_is_scored() -> None:
    verdict = Rubric.from_dict(JUDGED).grade("Thank you!")
    assert (verdict.status, verdict.score) == ("deferred", None)
    assert "no_key" in (verdict.error or "") or "judge" in (verdict.error or "")


def test_a_row_that_cannot_be_read_says_why_and_the_others_are_graded() -> None:
    rows = [{"output": "Paris"}, {"id": "x", "question": "?"}, {"output": "Rome"}]
    verdicts = Rubric.from_dict(CHECKED).grade_many(rows)
    assert [verdict.status for verdict in verdicts] == ["pass", "error", "pass"]
    assert verdicts[1].id == "x" and verdicts[1].score is None and "output" in (verdicts[1].error or "")
    assert verdicts.pass_rate == 1.0
    with pytest.warns(jurist.JuristWarning, match="no records"):
        assert len(Rubric.from_dict(CHECKED).grade_many([])) == 0


def test_fields_that_nothing_uses_are_warned_about() -> None:
    with pytest.warns(jurist.JuristWarning, match="nothing uses the field `outptu`"):
        Rubric.from_dict(CHECKED).grade_many([{"output": "a", "outptu": "b"}, {"output": "c"}])


def test_many_rows_are_graded_at_the_same_time_and_progress_is_told() -> None:
    barrier = threading.Barrier(8, timeout=60)

    def judge(messages: Any) -> str:
        barrier.wait()
        return say_yes(messages)

    told: list[tuple[int, int]] = []
    verdicts = Rubric.from_dict(JUDGED).grade_many(
        [{"id": n, "output": f"answer {n}"} for n in range(16)],
        judge=judge,
        concurrency=8,
        progress=lambda done, total: told.append((done, total)),
    )
    assert [verdict.id for verdict in verdicts] == list(range(16))
    assert verdicts.pass_rate == 1.0 and told[-1] == (16, 16)


def test_a_budget_stops_the_work(scripted_server: Any) -> None:
    server = scripted_server(say_yes)
    pathlib.Path(".jurist").mkdir()
    pathlib.Path(".jurist/config.yaml").write_text(
        "prices:\n  compatible/scripted: {input: 1000, output: 1000}\n"
    )
    rows = [{"id": n, "output": f"answer {n}"} for n in range(5)]

    def grade(max_cost: float) -> jurist.Verdicts:
        return Rubric.from_dict(JUDGED).grade_many(
            rows, judge="scripted", base_url=server.base_url, max_cost=max_cost, trust_settings=True
        )

    verdicts = grade(0.001)
    assert [verdict.status for verdict in verdicts] == ["deferred"] * 5
    assert "over_budget" in (verdicts[0].error or "")
    assert (verdicts.cost, verdicts.requests, server.requests) == (0.0, 0, [])
    verdicts = grade(100)
    assert verdicts.pass_rate == 1.0 and verdicts.cost == pytest.approx(5 * 0.015)
    assert sum(verdict.cost or 0 for verdict in verdicts) == pytest.approx(verdicts.cost)


def test_ctrl_c_keeps_what_was_graded() -> None:
    started = threading.Event()
    release = threading.Event()

    def judge(messages: Any) -> str:
        if "answer 0" in messages[1]["content"]:
            return say_yes(messages)
        started.set()
        release.wait(60)
        return say_yes(messages)

    def interrupt() -> None:
        started.wait(60)
        os.kill(os.getpid(), signal.SIGINT)

    # A process that a shell starts in the background ignores the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Thread(target=interrupt).start()
        with pytest.raises(jurist.Interrupted) as caught:
            Rubric.from_dict(JUDGED).grade_many(
                [{"output": f"answer {n}"} for n in range(3)], judge=judge, concurrency=1
            )
    finally:
        release.set()
        signal.signal(signal.SIGINT, before)
    assert isinstance(caught.value, KeyboardInterrupt)
    assert [verdict.status for verdict in caught.value.verdicts] == ["pass", "deferred", "deferred"]


ENDING = '''
import asyncio, os, signal, sys, threading, time
import jurist

class Late:
    def __del__(self, sleep=time.sleep):
        sleep(1)

late = Late()
started = threading.Semaphore(0)

def interrupt():
    for _ in range(32):
        started.acquire()
    os.kill(os.getpid(), signal.SIGINT)

def judge(messages):
    started.release()
    time.sleep(0.5)
    return "{}"

async def judge_later(messages):
    started.release()
    await asyncio.sleep(0.5)
    return "{}"

signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Thread(target=interrupt).start()
rubric = jurist.Rubric.from_dict({"criteria": [{"name": "good", "description": "Is it good?"}]})
try:
    rubric.grade_many([{"output": str(n)} for n in range(32)], judge={"now": judge, "later": judge_later}[sys.argv[1]])
except jurist.Interrupted as interrupted:
    print(len(interrupted.verdicts))
'''


@pytest.mark.parametrize("kind", ["now", "later"])
def test_a_program_ends_while_its_judges_answer(kind: str) -> None:
    # The interpreter takes a second to end, in which threads that want its lock end as well.
    command = [sys.executable, "-c", ENDING, kind]
    pipe = subprocess.PIPE
    running = [subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) for _ in range(3)]
    for process in running:
        printed, errors = process.communicate(timeout=300)
        assert (process.returncode, printed) == (0, "32\n"), errors


def test_what_ends_the_work_keeps_what_was_graded() -> None:
    release = threading.Event()

    def judge(messages: Any) -> str:
        if "answer 0" not in messages[1]["content"]:
            release.wait(60)
        return say_yes(messages)

    def stop_after_one(done: int, total: int) -> None:
        if done:
            raise ValueError("enough")

    rows = [{"output": f"answer {n}"} for n in range(3)]
    with pytest.raises(ValueError, match="enough") as raised:
        Rubric.from_dict(JUDGED).grade_many(rows, judge=judge, concurrency=1, progress=stop_after_one)
    release.set()
    kept: Any = raised.value
    assert [verdict.status for verdict in kept.verdicts] == ["pass", "deferred", "deferred"]
    with pytest.raises(ZeroDivisionError) as last:
        Rubric.from_dict(CHECKED).grade_many(rows, progress=lambda done, total: 1 // (total - done))
    kept = last.value
    assert len(kept.verdicts.graded) == 3


def test_a_cancelled_task_keeps_what_was_graded() -> None:
    release = threading.Event()

    async def grade() -> None:
        entered = asyncio.Event()

        async def judge(messages: Any) -> str:
            if "answer 0" not in messages[1]["content"]:
                entered.set()
                await asyncio.to_thread(release.wait, 60)
            return say_yes(messages)

        rows = [{"output": f"answer {n}"} for n in range(3)]
        task = asyncio.create_task(Rubric.from_dict(JUDGED).agrade_many(rows, judge=judge, concurrency=1))
        await asyncio.wait_for(entered.wait(), 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError) as cancelled:
            await task
        release.set()
        kept: Any = cancelled.value
        assert [verdict.status for verdict in kept.verdicts] == ["pass", "deferred", "deferred"]

    asyncio.run(grade())


def test_any_number_of_asynchronous_calls_wait_at_the_same_time() -> None:
    barrier = threading.Barrier(40, timeout=300)

    def judge(messages: Any) -> str:
        barrier.wait()
        return say_yes(messages)

    async def grade() -> list[jurist.Verdict]:
        rubric = Rubric.from_dict(JUDGED)
        return await asyncio.gather(*(rubric.agrade(f"answer {n}", judge=judge) for n in range(40)))

    assert [verdict.passed for verdict in asyncio.run(grade())] == [True] * 40


def count_threads_of_rust() -> int:
    count = 0
    for path in pathlib.Path("/proc/self/task").glob("*/comm"):
        try:
            count += path.read_text().startswith("tokio")
        except OSError:
            continue
    return count


@pytest.mark.skipif(not pathlib.Path("/proc/self/task").exists(), reason="this system does not list its threads")
def test_a_call_of_agrade_has_one_thread_that_works() -> None:
    barrier = threading.Barrier(20, timeout=300)
    counts: list[int] = []

    def judge(messages: Any) -> str:
        if barrier.wait() == 0:
            counts.append(count_threads_of_rust())
        barrier.wait()
        return say_yes(messages)

    async def grade() -> None:
        rubric = Rubric.from_dict(JUDGED)
        await asyncio.gather(*(rubric.agrade(f"answer {n}", judge=judge) for n in range(20)))

    before = count_threads_of_rust()
    asyncio.run(grade())
    assert counts[0] - before <= 65, "one that works, one that waits for the judge, and one that read files"


def test_other_threads_run_meanwhile() -> None:
    entered = threading.Event()
    proceed = threading.Event()

    def judge(messages: Any) -> str:
        entered.set()
        assert proceed.wait(60)
        return say_yes(messages)

    result: list[jurist.Verdict] = []
    worker = threading.Thread(target=lambda: result.append(Rubric.from_dict(JUDGED).grade("x", judge=judge)))
    worker.start()
    assert entered.wait(60)
    assert Rubric.from_dict(CHECKED).grade("Paris").passed, "another thread grades meanwhile"
    proceed.set()
    worker.join(60)
    assert result[0].passed


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_grades_with_what_its_parent_prepared() -> None:
    grader = Rubric.from_dict(JUDGED).grader(judge=say_yes)
    assert grader.grade("before").passed
    check_in_forked_process(lambda: grader.grade("after").passed)
    assert grader.grade("in the parent again").passed


def test_cancelling_a_task_ends_its_work() -> None:
    release = threading.Event()

    async def grade() -> None:
        entered = asyncio.Event()

        async def judge(messages: Any) -> str:
            entered.set()
            await asyncio.to_thread(release.wait, 60)
            return say_yes(messages)

        task = asyncio.create_task(Rubric.from_dict(JUDGED).agrade("x", judge=judge))
        await asyncio.wait_for(entered.wait(), 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        release.set()

    asyncio.run(grade())


def test_verdicts_travel_between_processes() -> None:
    verdict = Rubric.from_dict(CHECKED).grade("Paris", id="one")
    assert pickle.loads(pickle.dumps(verdict)) == verdict
    assert repr(verdict) == "<Verdict 'one': pass, score=1.000>"


def test_the_command_is_in_the_wheel() -> None:
    assert run_jurist("--version").stdout.strip() == f"jurist {jurist.__version__}"
    wrong = run_jurist("grade", "nowhere.jsonl")
    assert wrong.returncode == 2 and "nowhere.jsonl" in wrong.stderr
    assert run_jurist("no-such-command").returncode == 2


def test_runs_of_agents_and_diffs_are_graded() -> None:
    called = {"id": "1", "type": "function", "function": {"name": "search", "arguments": '{"q": "a"}'}}
    trace = [{"role": "user", "content": "?"}, {"role": "assistant", "content": "", "tool_calls": [called]}]
    used = {"criteria": [{"name": "used", "check": {"type": "tool_use", "expected_tool": "search"}}]}
    assert Rubric.from_dict(used).grade(trace=trace).passed
    assert Rubric.from_dict(used).grade(trace).passed, "an output may be a conversation"
    verdict = Rubric.from_dict(JUDGED).grade(diff="--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n", judge=say_yes)
    assert verdict.passed


def test_values_of_other_libraries_become_plain() -> None:
    import dataclasses
    import datetime

    numpy = pytest.importorskip("numpy")

    @dataclasses.dataclass
    class Place:
        name: str

    rubric = Rubric.from_dict({"criteria": [{"name": "same", "check": {"type": "exact_match"}}]})
    rows = [
        {"output": numpy.float64(1.5), "reference": "1.5"},
        {"output": "2026-01-02", "reference": datetime.date(2026, 1, 2)},
        {"output": Place("Paris"), "reference": {"name": "Paris"}},
    ]
    assert [verdict.passed for verdict in rubric.grade_many(rows)] == [True, True, True]
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(jurist.InputError, match="nested"):
        rubric.grade(endless)
    with pytest.raises(jurist.InputError, match="finite"):
        rubric.grade(float("inf"))


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"timeout": -1}, jurist.InputError), ({"timeout": float("nan")}, jurist.InputError),
        ({"timeout": 1e300}, jurist.InputError), ({"timeout": "3"}, jurist.InputTypeError),
        ({"n": "3"}, jurist.InputTypeError), ({"n": 0}, jurist.InputError), ({"judge": 3}, jurist.InputTypeError),
        ({"concurrency": 0}, jurist.InputError), ({"record": 3}, jurist.InputTypeError),
        ({"replay": 3}, jurist.InputTypeError), ({"base_url": 3}, jurist.InputTypeError),
        ({"cache": ["off"]}, jurist.InputTypeError), ({"allow_commands": "no"}, jurist.InputTypeError),
        ({"limits": 3}, jurist.InputTypeError), ({"fields": 3}, jurist.InputTypeError),
    ],
    ids=str,
)
def test_wrong_options_are_errors_of_this_package(options: dict[str, Any], kind: type[Exception]) -> None:
    with pytest.raises(kind):
        Rubric.from_dict(JUDGED).grade("a", **{"judge": say_yes, **options})


def test_values_of_wrong_types_are_errors_of_this_package() -> None:
    untyped: Any = Rubric
    for call in (
        lambda: untyped.load(None), lambda: untyped.from_yaml(3), lambda: untyped.from_yaml("a", name=3),
        lambda: Rubric.from_dict(CHECKED).grade_many([{"output": "a"}], progress=3),  # type: ignore[arg-type]
        lambda: Rubric.from_dict(CHECKED).grade_many(3), lambda: untyped.build("short"),
        lambda: untyped.from_dict(CHECKED).grade_many([{"output": "a"}], columns=["output"]),
    ):
        with pytest.raises(jurist.InputTypeError) as raised:
            call()
        assert isinstance(raised.value, TypeError)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_an_asynchronous_judge_answers_after_a_fork() -> None:
    async def judge(messages: Any) -> str:
        await asyncio.sleep(0)
        return say_yes(messages)

    grader = Rubric.from_dict(JUDGED).grader(judge=judge)
    assert grader.grade("in the parent").passed
    # As if another thread had it when the process forked.
    with grader._judge._lock:
        check_in_forked_process(lambda: grader.grade("in the child").passed)
    loop = grader._judge._own_loop
    assert loop is not None
    grader.close()
    deadline = time.monotonic() + 60
    while not loop.is_closed() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert loop.is_closed()


def test_values_that_are_no_json_are_named() -> None:
    rubric = Rubric.from_dict(CHECKED)
    with pytest.raises(jurist.InputError, match="^`output` is a `bytes`"):
        rubric.grade(b"Paris")
    with pytest.raises(jurist.InputError, match="too large"):
        rubric.grade(10**400)
    nested: Any = {}
    for _ in range(100_000):
        nested = {"a": nested}
    with pytest.raises(jurist.InputError, match="cannot be written as JSON"):
        Rubric.from_dict(nested)


def test_a_notebook_shows_the_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    import io
    import sys

    class OutStream(io.StringIO):
        __module__ = "ipykernel.iostream"

    stream = OutStream()
    monkeypatch.setattr(sys, "stderr", stream)
    Rubric.from_dict(CHECKED).grade_many([{"output": "a"}, {"output": "b"}], progress=True)
    assert stream.getvalue().endswith("2 of 2 graded\n")


def test_without_a_judge_the_key_is_missing_and_not_a_price() -> None:
    error = Rubric.from_dict(JUDGED).grade("x", max_cost=5).error
    assert error is not None and "no judge is set" in error and "over budget" not in error
