from __future__ import annotations

import asyncio
import json
import os
import pickle
import signal
import threading
from typing import Any

import pytest
from conftest import check_in_forked_process

import jurist

SHORT = {"criteria": [{"name": "short", "check": {"type": "length", "max": 10}}]}
NICE = {
    "criteria": [
        {"name": "short", "check": {"type": "length", "max": 10}, "required": True},
        {"name": "nice", "description": "Is it nice?", "scale": "binary"},
    ]
}


class CountingJudge:
    def __init__(self) -> None:
        self.n_calls = 0

    def __call__(self, messages: list[dict[str, str]]) -> str:
        self.n_calls += 1
        text = messages[-1]["content"]
        if "broken" in text:
            raise OSError("gone")
        return json.dumps({"reasoning": "so it is", "verdict": "ugly" not in text})


def test_trl_gets_a_list_with_none_where_the_judge_broke() -> None:
    judge = CountingJudge()
    reward = jurist.reward(NICE, judge=judge)
    completions = ["lovely", "ugly", "broken", "much longer than ten letters"]
    prompts = ["Say something."] * 4
    rewards = reward(prompts=prompts, completions=completions, trainer_state=None, completion_ids=[[1]] * 4)
    assert rewards == [1.0, 0.5, None, 0.0]
    assert judge.n_calls == 3, "no judge is asked about what a failed gate has decided"
    assert reward.criterion_scores()["nice"][:3] == [1.0, 0.0, None]
    assert reward.__name__ == "jurist_reward"


def test_conversations_and_columns_are_read() -> None:
    logged: dict[str, float] = {}
    exact = {"criteria": [{"name": "same", "check": {"type": "exact_match"}}]}
    reward = jurist.reward(exact)
    messages = [[{"role": "assistant", "content": "Paris"}], [{"role": "assistant", "content": "Rome"}]]
    prompts = [[{"role": "system", "content": "x"}, {"role": "user", "content": "Capital?"}]] * 2
    rewards = reward(prompts, messages, answer=["Paris", "Paris"], log_metric=logged.__setitem__)
    assert rewards == [1.0, 0.0]
    assert logged == {"jurist/same": 0.5}
    assert jurist.reward(exact, columns={"reference": "gold"})(prompts, messages, gold=["a", "Rome"]) == [0.0, 1.0]
    with pytest.raises(jurist.InputError, match="no column `gold`"):
        jurist.reward(exact, columns={"reference": "gold"})(prompts, messages, answer=["a", "b"])


def test_each_row_may_bring_its_rubric() -> None:
    judge = CountingJudge()
    reward = jurist.reward(rubric_column="rubric", judge=judge, max_chars=50, max_repetition=0.5)
    rubrics = [SHORT, json.dumps(SHORT, indent=1), NICE, NICE, NICE]
    completions = ["Paris", "Paris is the capital", "lovely", "x" * 51, "no no no no no no no no no no"]
    assert reward(completions=completions, rubric=rubrics) == [1.0, 0.0, 1.0, 0.0, 0.0]
    assert judge.n_calls == 1, "guards cost nothing"
    with pytest.raises(jurist.InputError, match="either"):
        jurist.reward()


def test_rubrics_of_rows_are_graded_at_the_same_time() -> None:
    barrier = threading.Barrier(4, timeout=60)

    def judge(messages: Any) -> str:
        barrier.wait()
        return json.dumps({"reasoning": "yes", "verdict": True})

    rubrics = [{"criteria": [{"name": f"c{n}", "description": "Good?", "scale": "binary"}]} for n in range(4)]
    reward = jurist.reward(rubric_column="rubric", judge=judge)
    assert reward(completions=["a", "b", "c", "d"], rubric=rubrics) == [1.0] * 4


def test_ctrl_c_ends_rewards_with_rubrics_of_rows_at_once() -> None:
    entered = threading.Barrier(5, timeout=60)
    release = threading.Event()

    def judge(messages: Any) -> str:
        entered.wait()
        release.wait(300)
        return "{}"

    def interrupt() -> None:
        entered.wait()
        os.kill(os.getpid(), signal.SIGINT)

    rubrics = [{"criteria": [{"name": f"c{n}", "description": "Good?", "scale": "binary"}]} for n in range(4)]
    reward = jurist.reward(rubric_column="rubric", judge=judge)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    late = threading.Timer(200, release.set)
    late.start()
    try:
        threading.Thread(target=interrupt).start()
        with pytest.raises(KeyboardInterrupt):
            reward(completions=["a", "b", "c", "d"], rubric=rubrics)
        assert not release.is_set(), "nobody waits for the judges"
    finally:
        late.cancel()
        release.set()
        signal.signal(signal.SIGINT, before)


def test_one_completion_of_a_group_fills_the_prompt_cache_for_the_others() -> None:
    seen: list[str] = []

    def judge(messages: list[dict[str, str]]) -> str:
        seen.append(messages[-1]["content"])
        return json.dumps({"reasoning": "yes", "verdict": True})

    def order(prompts: list[str]) -> list[str]:
        seen.clear()
        completions = [f"answer {n}" for n in range(len(prompts))]
        assert jurist.reward(NICE, judge=judge)(prompts=prompts, completions=completions) == [1.0] * len(prompts)
        return [next(name for name in completions if f"\n{name}\n" in text) for text in seen]

    long = [name * 4000 for name in ("one ", "two ")]
    answers = order([long[0]] * 4 + [long[1]] * 4)
    assert set(answers[:2]) == {"answer 0", "answer 4"} and len(set(answers)) == 8
    assert len(order(["short"] * 4)) == 4
    shared = os.path.commonprefix(seen)
    assert "short" in shared, "prompts of a group begin with the same text"


def test_any_number_of_rollouts_are_graded_at_the_same_time() -> None:
    barrier = threading.Barrier(40, timeout=300)

    def judge(messages: Any) -> str:
        barrier.wait()
        return json.dumps({"reasoning": "yes", "verdict": True})

    reward = jurist.reward(NICE, judge=judge, concurrency=40)
    rollout = reward.as_verifiers()

    async def grade_rollouts() -> list[float]:
        return await asyncio.gather(*(rollout(completion=f"a{n}") for n in range(40)))

    async def grade_solutions() -> list[Any]:
        return await asyncio.gather(*(reward.acompute_score("math", f"a{n}", "42") for n in range(40)))

    assert asyncio.run(grade_rollouts()) == [1.0] * 40
    assert asyncio.iscoroutinefunction(reward.acompute_score), "as verl asks whether a function is asynchronous"
    assert asyncio.run(grade_solutions()) == [1.0] * 40


def test_other_trainers() -> None:
    judge = CountingJudge()
    reward = jurist.reward(NICE, judge=judge)
    assert reward.compute_score("math", "lovely", "42", {"question": "?"}) == 1.0
    with pytest.raises(jurist.RewardError, match="gone"):
        reward.compute_score("math", "broken", "42")
    assert asyncio.run(reward.as_verifiers()(completion="ugly", prompt="?", answer="x")) == 0.5
    group = reward.as_verifiers(group=True)
    assert asyncio.run(group(completions=["lovely", "ugly"], prompts=["?", "?"], answers=["", ""])) == [1.0, 0.5]
    rubric = reward.as_openenv()
    assert rubric({"message": "lovely"}, {"prompt": "?"}) == 1.0 and rubric.last_score == 1.0


def test_a_budget_holds_for_all_that_a_reward_grades(scripted_server: Any) -> None:
    server = scripted_server(lambda messages: json.dumps({"reasoning": "yes", "verdict": True}))
    os.makedirs(".jurist")
    with open(".jurist/config.yaml", "w") as file:
        file.write("prices:\n  compatible/scripted: {input: 1000, output: 1000}\n")
    rubrics = [{"criteria": [{"name": f"c{n}", "description": "Good?", "scale": "binary"}]} for n in range(2)]
    reward = jurist.reward(
        rubric_column="rubric", judge="scripted", base_url=server.base_url, max_cost=100, trust_settings=True
    )
    assert reward(completions=["a", "b"], rubric=rubrics) == [1.0, 1.0]
    assert reward.cost == pytest.approx(2 * 0.015)


SAME = {"criteria": [{"name": "same", "check": {"type": "exact_match"}}]}


def test_the_batch_manager_of_verl_gets_a_list() -> None:
    numpy = pytest.importorskip("numpy")
    reward = jurist.reward(SAME)
    batch: dict[str, Any] = {
        "data_sources": numpy.array(["math"] * 2), "solution_strs": ["42", "41"], "ground_truths": ["42", "42"],
        "extra_infos": numpy.array([{"question": "?"}, None], dtype=object),
    }
    extras = {"reward_router_address": None, "reward_model_tokenizer": None}
    assert reward.compute_score(**batch, **extras) == [1.0, 0.0]
    with pytest.raises(jurist.InputError, match="`solution_str` is missing"):
        reward.compute_score("math", ground_truth="42")
    with pytest.raises(jurist.InputError, match="did you mean `solution_str"):
        reward.compute_score("math", "42", "42", solution_string="42")
    with pytest.raises(jurist.InputError, match="not both"):
        reward.compute_score("math", **batch)
    with pytest.raises(jurist.InputError, match="`ground_truths` has 1 values for 2"):
        reward.compute_score(**{**batch, "ground_truths": ["42"]})
    with pytest.raises(jurist.RewardError, match="1 of 2 completions.*gone"):
        jurist.reward(NICE, judge=CountingJudge()).compute_score(solution_strs=["lovely", "broken"])


@pytest.mark.parametrize("kind", ["numpy", "pandas", "polars", "pyarrow", "tuple"])
def test_columns_may_be_arrays(kind: str) -> None:
    package: Any = None if kind == "tuple" else pytest.importorskip(kind)
    make = tuple if kind == "tuple" else package.Series if kind in ("pandas", "polars") else package.array
    reward = jurist.reward(SAME)
    assert reward(prompts=make(["?", "?"]), completions=make(["a", "b"]), answer=make(["a", "a"])) == [1.0, 0.0]
    with pytest.raises(jurist.InputError, match="`answer` has 1 values for 2 completions"):
        reward(completions=["a", "b"], answer=make(["a"]))


@pytest.mark.parametrize("completions", ["abc", [None], [3], [["x"]], 3])
def test_completions_of_wrong_types_are_refused(completions: Any) -> None:
    with pytest.raises(jurist.InputError):
        jurist.reward(SAME)(completions=completions)


@pytest.mark.parametrize(
    "options",
    [{"columns": ["output"]}, {"extra_columns": "answer"}, {"max_chars": "9"}, {"max_repetition": True}],
    ids=str,
)
def test_wrong_options_of_a_reward_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(jurist.InputTypeError, match=next(iter(options))):
        jurist.reward(SAME, **options)


def test_a_rubric_of_a_row_is_a_rubric() -> None:
    with pytest.raises(jurist.InputTypeError, match="a rubric is"):
        jurist.reward(rubric_column="rubric")(completions=["a"], rubric=[[1]])


def test_verifiers_gets_no_zero_for_a_broken_judge() -> None:
    reward = jurist.reward(NICE, judge=CountingJudge())
    with pytest.raises(jurist.RewardAbort, match="gone"):
        asyncio.run(reward.as_verifiers()(completion="broken"))
    with pytest.raises(jurist.RewardAbort, match="1 of 2"):
        asyncio.run(reward.as_verifiers(group=True)(completions=["lovely", "broken"]))
    assert not issubclass(jurist.RewardAbort, Exception)
    by_row = jurist.reward(rubric_column="rubric")
    infos = [{"rubric": SHORT}, json.dumps({"rubric": SHORT})]
    group = by_row.as_verifiers(group=True)
    assert asyncio.run(group(completions=["Paris", "Paris, France"], infos=infos)) == [1.0, 0.0]
    assert asyncio.run(group(completions=["Paris"], info=infos[1])) == [1.0]
    assert asyncio.run(by_row.as_verifiers()(completion="Paris", info=infos[1])) == 1.0


@pytest.mark.parametrize("group", [False, True], ids=["rollout", "group"])
def test_verifiers_itself_ends_without_a_reward(group: bool) -> None:
    verifiers = pytest.importorskip("verifiers", reason="`verifiers` is not installed; scripts/check-python does it")
    if not hasattr(verifiers, "Rubric"):
        pytest.skip(f"verifiers {verifiers.__version__} has no `Rubric`")
    reward = jurist.reward(NICE, judge=CountingJudge())
    rubric = verifiers.Rubric(funcs=[reward.as_verifiers(group=group)])

    def rollout(text: str) -> Any:
        completion = [{"role": "assistant", "content": text}]
        return {"prompt": "?", "completion": completion, "answer": "", "info": "{}", "task": "", "trajectory": []}

    states = [rollout("lovely"), rollout("ugly")]
    asyncio.run(rubric.score_group(states))
    assert [state["reward"] for state in states] == [1.0, 0.5]
    with pytest.raises(jurist.RewardAbort, match="gone"):
        asyncio.run(rubric.score_group([rollout("lovely"), rollout("broken")]))


def test_an_environment_of_openenv_gets_its_own_class() -> None:
    rubrics = pytest.importorskip("openenv.core.rubrics", reason="`openenv` is not installed; scripts/check-python does it")
    rubric: Any = jurist.reward(SHORT).as_openenv()
    seen: list[float] = []
    rubric.register_forward_hook(lambda rubric, action, observation, result: seen.append(result))
    assert isinstance(rubric, rubrics.Rubric)
    assert rubric({"message": "Paris"}, {"prompt": "?"}) == 1.0 == rubric.last_score and seen == [1.0]
    rubric.load_state_dict(rubric.state_dict())
    with pytest.raises(jurist.InputError, match="another one"):
        rubric.load_state_dict({"rubric_version": "0"})
    rubric.reset()
    assert rubric.last_score is None


def test_a_gate_has_the_pass_mark_of_its_rubric() -> None:
    criteria = [{"name": "words", "check": {"type": "edit_distance"}, "required": True}, NICE["criteria"][1]]
    reward = jurist.reward({"threshold": 0.3, "criteria": criteria}, judge=CountingJudge())
    rewards = reward(completions=["abcd"], answer=["abxy"])
    assert rewards == [pytest.approx(0.75)], "0.5 is less than the default pass mark, and more than this one"


@pytest.mark.parametrize("column", ["Paris", b"Paris"])
def test_a_text_is_no_column(column: Any) -> None:
    with pytest.raises(jurist.InputTypeError, match="the column `answer` is a `(str|bytes)`; give a list"):
        jurist.reward(SAME)(completions=["Paris", "Rome"], answer=column)


def test_information_on_a_row_may_have_any_keys() -> None:
    reward = jurist.reward(SAME)
    info = {"completion": "x", "prompt": "y", "completions": ["z"], "answer": "Paris", "self": 1}
    rollout = reward.as_verifiers()
    assert asyncio.run(rollout(completion="Paris", prompt="?", answer="Paris", info=info)) == 1.0
    assert asyncio.run(rollout(completion="Paris", info=info)) == 1.0, "the answer is that of `info`"
    assert reward.compute_score("math", "42", "42", {"completion": "x", "prompt": "y"}) == 1.0
    assert reward.compute_score("math", "42", None, {"answer": "42"}) == 1.0


def test_a_reward_describes_the_error_of_its_own_call(monkeypatch: pytest.MonkeyPatch) -> None:
    # As if another thread had graded between a call and the look at its verdicts.
    others = property(lambda reward: [], lambda reward, verdicts: None)
    monkeypatch.setattr(jurist.Reward, "last_verdicts", others, raising=False)
    reward = jurist.reward(NICE, judge=CountingJudge())
    with pytest.raises(jurist.RewardError, match="gone"):
        reward.score_one("broken")
    with pytest.raises(jurist.RewardError, match="gone"):
        reward.compute_score(solution_strs=["lovely", "broken"])


def test_a_reward_travels_to_another_process() -> None:
    reward = jurist.reward(SAME)
    assert reward.score_one("Paris", answer="Paris") == 1.0
    for copy in (pickle.loads(pickle.dumps(reward)), pickle.loads(pickle.dumps(reward.compute_score)).__self__):
        assert copy.cost == 0.0 and copy.last_verdicts == []
        assert copy.compute_score("math", "42", "41") == 0.0
        assert (copy.cost, copy.rubric_version) == (0.0, reward.rubric_version)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_does_not_wait_for_a_lock_of_its_parent() -> None:
    reward = jurist.reward(SHORT)
    with reward._lock:
        check_in_forked_process(lambda: reward.score_one("Paris") == 1.0)
    assert reward.score_one("Paris") == 1.0
