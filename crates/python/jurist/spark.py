"""Grading on Spark: `grade(frame, rubric, …)` adds the columns of verdicts to a frame.

All workers share one budget and one rate limit, which the program that starts the job holds: see `share_limits`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from jurist import tables
from jurist.errors import InputError, missing_package
from jurist.judging import JudgeOptions, ensure_known_options
from jurist.limits import ServedLimits, serve_limits
from jurist.rubric import Rubric, take_rubric

if TYPE_CHECKING:
    from typing_extensions import Unpack


def share_limits(
    session: Any,
    *,
    max_cost: float | None = None,
    requests_per_minute: float | None = None,
) -> ServedLimits:
    """Serve a budget and a rate limit to all workers of a Spark session; close the result when the job is over.

    Workers reach it at the address of the driver (`spark.driver.host`), at a port that the system chooses.
    """
    settings = session.sparkContext.getConf()
    host = settings.get("spark.driver.host", "127.0.0.1")
    bind = settings.get("spark.driver.bindAddress", host)
    return serve_limits(max_cost=max_cost, requests_per_minute=requests_per_minute, host=host, bind=bind)


def grade(
    frame: Any,
    rubric: Rubric | str | os.PathLike[str] | Mapping[str, Any],
    *,
    columns: Mapping[str, str] | None = None,
    prefix: str = "",
    **options: Unpack[JudgeOptions],
) -> Any:
    """Grade the rows of a frame where they are; gives the frame with `status`, `score`, `cost`, `error` and `verdict`.

    `verdict` is the JSON that `jurist grade` prints; `prefix` is added before the names of these columns. `limits` is a
    result of `share_limits`. A rubric that is a path is read on each worker. Spark grades when the result is used, and
    again each time it is used: write or cache it first.
    """
    ensure_known_options(options, "grade()")
    try:
        from pyspark.sql.types import DoubleType, StringType, StructField, StructType
    except ImportError:
        raise missing_package("pyspark", "spark") from None
    if options.get("max_cost") is not None:
        raise InputError(
            "`max_cost` would hold for each partition by itself; give it to `share_limits`, and its result as `limits`"
        )
    names = [field.name for field in frame.schema.fields]
    tables.ensure_free_names(names, prefix)
    tables.ensure_columns(columns or {}, names)
    # A wrong rubric is told here, and not by every worker.
    loaded = take_rubric(rubric)
    added = [
        StructField(prefix + name, DoubleType() if kind is float else StringType(), True)
        for name, kind in tables.ADDED_COLUMNS.items()
    ]

    def grade_partition(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        with loaded.grader(**options) as grader:
            for batch in batches:
                table = pyarrow.Table.from_batches([batch])
                verdicts = grader.grade_many(table, columns=columns)
                yield from tables.add_verdict_columns(table, verdicts, prefix).combine_chunks().to_batches()

    return frame.mapInArrow(grade_partition, StructType([*frame.schema.fields, *added]))


__all__ = ["grade", "share_limits"]
