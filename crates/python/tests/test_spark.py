"""The real engine, where it is installed: `pip install pyspark`."""

from __future__ import annotations

import json
from collections.abc import Callable
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


def make_judge() -> Callable[[Any], str]:
    """A function that travels to workers by value: they have no tests."""
    reply = json.dumps({"reasoning": "yes", "verdict": True})

    def say_yes(messages: Any) -> str:
        return reply

    return say_yes


def grade_here() -> list[str]:
    verdicts = jurist.Rubric.from_dict(RUBRIC).grade_many(ROWS, columns={"output": "answer"}, judge=make_judge())
    return [verdict.to_json() for verdict in verdicts]


def test_spark_gives_what_one_process_gives() -> None:
    pytest.importorskip("pyspark")
    from pyspark.sql import SparkSession

    from jurist import spark

    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    try:
        frame = session.createDataFrame(ROWS).repartition(4)
        graded = spark.grade(frame, RUBRIC, columns={"output": "answer"}, judge=make_judge())
        rows = {row["id"]: row["verdict"] for row in graded.collect()}
        assert [rows[row["id"]] for row in ROWS] == grade_here()
        with pytest.raises(jurist.InputError, match="no column `nope`"):
            spark.grade(frame, RUBRIC, columns={"output": "nope"})
    finally:
        session.stop()
