from __future__ import annotations

import asyncio
import json
import os
import threading
from typing import Any

import pytest

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
