"""Real engines, where they are installed: `pip install ray[data] pyspark`."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

import jurist

RUBRIC = {
    "criteria": [
        {"name": "short", "check": {"type": "length", "max": 10}},
        {"name": "nice", "description": "Is it nice?", "scale": "binary"},
    ]
}
ROWS = [{"id": str(n), "answer": "Paris" if n % 3 else "Paris is the capital of France"} for n in range(60)]


def say_yes(messages: Any) -> str:
    return json.dumps({"reasoning": "yes", "verdict": True})


def grade_here() -> list[str]:
    verdicts = jurist.Rubric.from_dict(RUBRIC).grade_many(ROWS, columns={"output": "answer"}, judge=say_yes)
    return [verdict.to_json() for verdict in verdicts]


def test_money_of_a_job_is_taken_and_given_back() -> None:
    from jurist.ray import SharedBudget

    budget = SharedBudget(10)
    assert (budget.take(6), budget.take(6), budget.take(6)) == (6, 4, 0)
    budget.give_back(3)
    assert (budget.left(), budget.take(6)) == (3, 3)


def test_ray_gives_what_one_process_gives() -> None:
    ray = pytest.importorskip("ray")
    import ray.data

    from jurist.ray import GradeBatch

    tests = str(pathlib.Path(__file__).parent)
    ray.init(num_cpus=2, include_dashboard=False, runtime_env={"env_vars": {"PYTHONPATH": tests}}, logging_level="error")
    try:
        graded = ray.data.from_items(ROWS).repartition(6).map_batches(
            GradeBatch,
            fn_constructor_kwargs={"rubric": RUBRIC, "columns": {"output": "answer"}, "judge": say_yes},
            concurrency=2,
        )
        rows = {row["id"]: row["verdict"] for row in graded.take_all()}
        assert [rows[row["id"]] for row in ROWS] == grade_here()
    finally:
        ray.shutdown()


def test_spark_gives_what_one_process_gives() -> None:
    pytest.importorskip("pyspark")
    from pyspark.sql import SparkSession

    from jurist import spark

    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    try:
        frame = session.createDataFrame(ROWS).repartition(4)
        graded = spark.grade(frame, RUBRIC, columns={"output": "answer"}, judge=say_yes)
        rows = {row["id"]: row["verdict"] for row in graded.collect()}
        assert [rows[row["id"]] for row in ROWS] == grade_here()
        with pytest.raises(jurist.InputError, match="no column `nope`"):
            spark.grade(frame, RUBRIC, columns={"output": "nope"})
    finally:
        session.stop()
