"""Grading on Spark: `grade(frame, rubric, …)` adds the columns of verdicts to a frame."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from jurist.errors import InputError, missing_package
from jurist.judging import JudgeOptions, ensure_known_options
from jurist.rubric import Rubric, take_rubric

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: Columns that are added: their names and Spark's types.
ADDED_COLUMNS = (
    ("status", "string"), ("score", "double"), ("cost", "double"), ("error", "string"), ("verdict", "string")
)


def grade(
    frame: Any,
    rubric: Rubric | str | os.PathLike[str] | Mapping[str, Any],
    *,
    columns: Mapping[str, str] | None = None,
    **options: Unpack[JudgeOptions],
) -> Any:
    """Grade the rows of a frame where they are; gives the frame with columns `status`, `score`, `cost`, `error` and
    `verdict` (JSON).

    `max_cost` holds for each partition. A partition that Spark runs again asks its judges again, unless their replies
    are in a cache that all workers see (`JURIST_CACHE`).
    """
    ensure_known_options(options, "grade()")
    try:
        from pyspark.sql.types import StructType
    except ImportError:
        raise missing_package("pyspark", "spark") from None
    names = [field.name for field in frame.schema.fields]
    taken = [name for name, _ in ADDED_COLUMNS if name in names]
    if taken:
        raise InputError(f"the frame has a column `{taken[0]}` already; rename it first")
    for field, column in (columns or {}).items():
        if column not in names:
            raise InputError(f"the frame has no column `{column}` for `{field}`; it has {', '.join(names)}")
    # A rubric travels as text; workers read it again.
    text = json.dumps(take_rubric(rubric).to_dict())
    schema = StructType(list(frame.schema.fields))
    for name, kind in ADDED_COLUMNS:
        schema = schema.add(name, kind, True)

    def grade_partition(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        with Rubric.from_yaml(text).grader(**options) as grader:
            for batch in batches:
                verdicts = grader.grade_many(batch.to_pylist(), columns=columns)
                added = {
                    "status": [verdict.status for verdict in verdicts],
                    "score": [verdict.score for verdict in verdicts],
                    "cost": [verdict.cost for verdict in verdicts],
                    "error": [verdict.error for verdict in verdicts],
                    "verdict": [verdict.to_json() for verdict in verdicts],
                }
                arrays = list(batch.columns)
                for name, kind in ADDED_COLUMNS:
                    arrow = pyarrow.float64() if kind == "double" else pyarrow.string()
                    arrays.append(pyarrow.array(added[name], type=arrow))
                yield pyarrow.RecordBatch.from_arrays(arrays, names=[*batch.schema.names, *added])

    return frame.mapInArrow(grade_partition, schema)
