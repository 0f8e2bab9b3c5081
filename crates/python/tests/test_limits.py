from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import pickle
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from conftest import check_in_forked_process

import jurist
from jurist.limits import CallLedger, LocalLimits, RemoteLimits, serve_limits

JUDGED = {"criteria": [{"name": "nice", "description": "Is it nice?", "scale": "binary"}]}
DOLLAR = 1_000_000_000


class ManualClock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def say_yes(messages: Any) -> str:
    return json.dumps({"reasoning": "yes", "verdict": True})


def reserve(ledger: CallLedger, name: str, most: int | None, holder: str = "a") -> dict[str, Any]:
    return ledger.answer({"do": "reserve", "holder": holder, "reservation": name, "most": most})


def settle(ledger: CallLedger, name: str, cost: int | None, holder: str = "a") -> None:
    ledger.answer({"do": "settle", "holder": holder, "reservation": name, "cost": cost})


def test_money_is_reserved_before_a_call_and_settled_after_it() -> None:
    ledger = CallLedger(max_cost=1.0)
    assert reserve(ledger, "1", DOLLAR * 6 // 10) == {"wait": 0.0}
    assert reserve(ledger, "2", DOLLAR * 6 // 10) == {"busy": True}, "the first call may cost less than it reserved"
    settle(ledger, "1", DOLLAR // 10)
    assert reserve(ledger, "2", DOLLAR * 6 // 10) == {"wait": 0.0}
    assert ledger.read() | {"calls": None} == {
        "spent": 0.1, "reserved": 0.6, "max_cost": 1.0, "requests_per_minute": None, "calls": None, "unpriced": 0
    }
    settle(ledger, "2", DOLLAR * 6 // 10)
    refused = reserve(ledger, "3", DOLLAR // 2)
    assert refused == {"refused": "$0.7 of the job's $1 are spent, and one more call may cost up to $0.5"}
    assert reserve(ledger, "4", None) == {"unpriced": True}


def test_a_message_that_is_sent_twice_counts_once() -> None:
    ledger = CallLedger(max_cost=1.0)
    for _ in range(3):
        reserve(ledger, "1", DOLLAR // 2)
    assert ledger.read()["reserved"] == 0.5
    for _ in range(3):
        settle(ledger, "1", DOLLAR // 4)
    assert (ledger.read()["spent"], ledger.read()["reserved"], ledger.read()["calls"]) == (0.25, 0.0, 1)


def test_reservations_of_a_silent_worker_count_as_spent_until_it_is_heard_again() -> None:
    clock = ManualClock()
    ledger = CallLedger(max_cost=1.0, silence=30, clock=clock)
    reserve(ledger, "1", DOLLAR * 6 // 10, holder="killed")
    reserve(ledger, "2", DOLLAR * 3 // 10, holder="alive")
    clock.now += 29
    ledger.answer({"do": "renew", "holder": "alive"})
    clock.now += 2
    assert (ledger.read()["spent"], ledger.read()["reserved"]) == (0.6, 0.3)
    assert "refused" in reserve(ledger, "3", DOLLAR // 2, holder="alive"), "nobody waits for a worker that is dead"
    settle(ledger, "1", DOLLAR // 10, holder="killed")
    assert ledger.read()["spent"] == 0.1, "it was slow, and not dead"


def test_calls_are_spread_over_the_minute() -> None:
    clock = ManualClock()
    ledger = CallLedger(requests_per_minute=120, clock=clock)
    waits = [reserve(ledger, str(n), None, holder=str(n % 3))["wait"] for n in range(4)]
    assert waits == [0.0, 0.5, 1.0, 1.5]
    clock.now += 10
    assert reserve(ledger, "later", None)["wait"] == 0.0, "what was not used is not saved up"
    assert reserve(ledger, "latest", None)["wait"] == 0.5


@pytest.mark.parametrize("wrong", [{"max_cost": -1}, {"max_cost": float("nan")}, {"requests_per_minute": 0}])
def test_wrong_limits_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(jurist.InputError, match=next(iter(wrong))):
        CallLedger(**wrong)


def test_a_served_ledger_answers_only_those_with_its_token() -> None:
    with serve_limits(max_cost=1.0) as limits:
        worker: RemoteLimits = pickle.loads(pickle.dumps(limits))
        assert type(worker) is RemoteLimits
        answer = worker.reserve_call("m", DOLLAR // 2)
        assert limits.read()["reserved"] == 0.5
        worker.settle_call(answer["reservation"], DOLLAR // 10)
        assert limits.read() | {"calls": 1} == worker.read() and worker.read()["spent"] == 0.1
        assert worker.may_fit(DOLLAR // 2) and not worker.may_fit(DOLLAR)
        stranger = RemoteLimits(worker._host, worker._port, "guess")
        with pytest.raises(jurist.JuristError, match="token"):
            stranger.read()
        with pytest.raises(jurist.JuristError, match="whole number"):
            worker.ask({"do": "reserve", "holder": "x", "reservation": "y", "most": -5})


def test_graders_with_the_same_limits_share_the_cap(scripted_server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    server = scripted_server(say_yes)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    # At the price of gpt-4.1-mini each call costs 0.0036 dollars, and may cost 0.007: twelve fit.
    server.usage = {"prompt_tokens": 1000, "completion_tokens": 2000}
    ledger = CallLedger(max_cost=0.05)
    rows = [{"id": n, "output": f"answer {n}"} for n in range(40)]
    found: list[jurist.Verdict] = []

    def grade(part: list[dict[str, Any]]) -> None:
        limits = LocalLimits(ledger)
        rubric = jurist.Rubric.from_dict(JUDGED)
        found.extend(rubric.grade_many(part, judge="openai/gpt-4.1-mini", limits=limits, cache="off"))

    threads = [threading.Thread(target=grade, args=(rows[start::4],)) for start in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    state = ledger.read()
    assert state["reserved"] == 0
    assert len(server.requests) == state["calls"] == 12
    assert state["spent"] == pytest.approx(12 * 0.0036) and state["spent"] <= 0.05
    assert sorted(verdict.status for verdict in found) == ["deferred"] * 28 + ["pass"] * 12
    assert all("over_budget" in (verdict.error or "") for verdict in found if verdict.status == "deferred")


def test_a_model_without_a_price_is_refused_under_a_cap() -> None:
    rubric = jurist.Rubric.from_dict(JUDGED)
    limits = LocalLimits(CallLedger(max_cost=1.0))
    verdict = rubric.grade("Paris", judge=say_yes, limits=limits)
    assert verdict.status == "deferred" and "no known price" in (verdict.error or "")
    unlimited = CallLedger(requests_per_minute=100_000)
    assert rubric.grade("Paris", judge=say_yes, limits=LocalLimits(unlimited)).passed
    assert (unlimited.read()["calls"], unlimited.read()["unpriced"], unlimited.read()["reserved"]) == (1, 1, 0)


def test_rewards_take_their_turn_as_well() -> None:
    ledger = CallLedger(requests_per_minute=100_000)
    reward = jurist.reward(JUDGED, judge=say_yes, limits=LocalLimits(ledger))
    assert reward(completions=["Paris", "Rome"]) == [1.0, 1.0]
    assert (ledger.read()["calls"], ledger.read()["reserved"]) == (2, 0)


def wait_until(holds: Callable[[], bool]) -> None:
    give_up = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < give_up
        time.sleep(0.02)


def test_a_call_that_is_cancelled_leaves_no_open_reservation() -> None:
    ledger = CallLedger(requests_per_minute=100_000)

    async def hang(messages: Any) -> str:
        await asyncio.sleep(300)
        return ""

    async def cancel() -> None:
        rubric = jurist.Rubric.from_dict(JUDGED)
        task = asyncio.create_task(rubric.agrade("Paris", judge=hang, limits=LocalLimits(ledger)))
        await asyncio.to_thread(wait_until, lambda: len(ledger._open) == 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.to_thread(wait_until, lambda: not ledger._open)

    asyncio.run(cancel())
    assert ledger.read()["calls"] == 1


class BrokenLimits:
    def reserve_call(self, model: str, most: int | None) -> dict[str, Any]:
        raise OSError("the ledger is gone")

    def settle_call(self, reservation: Any, cost: int | None) -> None: ...
    def may_fit(self, most: int) -> bool:
        return True


def test_without_its_ledger_no_call_is_made() -> None:
    def judge(messages: Any) -> str:
        raise AssertionError("a call without a reservation")

    verdict = jurist.Rubric.from_dict(JUDGED).grade("Paris", judge=judge, limits=BrokenLimits())
    assert verdict.passed is None and "the ledger is gone" in (verdict.error or "")


def _grade_elsewhere(rubric: jurist.Rubric, limits: Any, answers: Any) -> None:
    answers.put(rubric.grade("Paris", judge=say_yes, limits=limits).to_json())


def test_rubrics_and_limits_travel_to_other_processes() -> None:
    rubric = jurist.Rubric.from_dict(JUDGED)
    assert pickle.loads(pickle.dumps(rubric)).version == rubric.version
    context = multiprocessing.get_context("spawn")
    answers: Any = context.Queue()
    with serve_limits(requests_per_minute=100_000) as limits:
        process = context.Process(target=_grade_elsewhere, args=(rubric, limits, answers))
        process.start()
        assert json.loads(answers.get(timeout=240))["status"] == "pass"
        process.join()
        assert limits.read()["calls"] == 1


def test_a_rubric_that_has_changed_on_the_way_is_refused(tmp_path: Any) -> None:
    path = tmp_path / "r.yaml"
    path.write_text(json.dumps(JUDGED))
    sent = pickle.dumps(jurist.Rubric.load(path))
    path.write_text(json.dumps({"criteria": [{"name": "nice", "description": "Is it?", "scale": "binary"}]}))
    with pytest.raises(jurist.InputError, match="another rubric here"):
        pickle.loads(sent)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_worker_does_not_wait_for_locks_of_its_parent() -> None:
    with serve_limits(max_cost=1.0) as limits:
        limits.read()
        with limits._lock, limits._messages:
            check_in_forked_process(lambda: limits.read()["max_cost"] == 1.0)
        assert limits.read()["max_cost"] == 1.0
    local = LocalLimits(CallLedger(max_cost=1.0))
    with local._ledger._lock:
        check_in_forked_process(lambda: local.read()["max_cost"] == 1.0)
