"""Grading on Ray Data: `grade(dataset, rubric, …)`, or `dataset.map_batches(GradeBatch, …)`.

All workers share one budget and one rate limit, which a named actor holds: see `share_limits`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from jurist import tables
from jurist.errors import InputError, missing_package
from jurist.judging import JudgeOptions, ensure_known_options
from jurist.limits import CallLedger, LimitsClient
from jurist.rubric import Rubric, take_rubric

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: Rows of one batch, where nothing else is said. A worker that is killed grades its batch again.
DEFAULT_BATCH = 64


class RayLimits(LimitsClient):
    """Money and rate that a named actor holds. It can be sent to other workers."""

    def __init__(self, actor: Any) -> None:
        super().__init__()
        self._actor = actor

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        answer: dict[str, Any] = _import_ray().get(self._actor.answer.remote(request))
        return answer


def share_limits(
    name: str,
    *,
    max_cost: float | None = None,
    requests_per_minute: float | None = None,
    detached: bool = False,
) -> RayLimits:
    """Start the named actor that holds the money and the rate of a job, or find the one that is there.

    Call it in the program that starts the job, and keep the result until the job is over: the actor ends with it,
    unless it is `detached`. Several jobs with the same name share the same limits.
    """
    ray = _import_ray()
    options: dict[str, Any] = {"name": name, "get_if_exists": True, "num_cpus": 0}
    if detached:
        options["lifetime"] = "detached"
    limits = RayLimits(ray.remote(CallLedger).options(**options).remote(max_cost, requests_per_minute))
    found = limits.read()
    wanted = CallLedger(max_cost, requests_per_minute).read()
    for key in ("max_cost", "requests_per_minute"):
        if found[key] != wanted[key]:
            raise InputError(f"the actor `{name}` is there already, and has `{key}` {found[key]}, not {wanted[key]}")
    return limits


def find_limits(name: str) -> RayLimits:
    """The limits that another program has started with `share_limits`."""
    ray = _import_ray()
    try:
        return RayLimits(ray.get_actor(name))
    except ValueError as error:
        raise InputError(f"no actor `{name}` holds limits here; start it with `share_limits`") from error


class GradeBatch:
    """Grades batches of rows: `dataset.map_batches(GradeBatch, fn_constructor_kwargs={"rubric": …}, concurrency=4)`.

    The result has the columns of the batch and `status`, `score`, `cost`, `error` and `verdict` (JSON), with `prefix`
    before their names. `limits` is a result of `share_limits` or `find_limits`. A rubric that is a path is read on
    each worker.
    """

    def __init__(
        self,
        rubric: Rubric | str | os.PathLike[str] | Mapping[str, Any],
        *,
        columns: Mapping[str, str] | None = None,
        prefix: str = "",
        **options: Unpack[JudgeOptions],
    ) -> None:
        ensure_known_options(options, "GradeBatch()")
        if options.get("max_cost") is not None:
            raise InputError(
                "`max_cost` would hold for each worker by itself; give it to `share_limits`, and its result as `limits`"
            )
        self._columns = columns
        self._prefix = prefix
        self._grader = take_rubric(rubric).grader(**options)

    def __call__(self, batch: Any) -> Any:
        table = _read_batch(batch)
        verdicts = self._grader.grade_many(table, columns=self._columns)
        return tables.add_verdict_columns(table, verdicts, self._prefix)


def grade(
    dataset: Any,
    rubric: Rubric | str | os.PathLike[str] | Mapping[str, Any],
    *,
    columns: Mapping[str, str] | None = None,
    prefix: str = "",
    workers: int = 2,
    batch_size: int = DEFAULT_BATCH,
    cpus: float = 1.0,
    **options: Unpack[JudgeOptions],
) -> Any:
    """Grade the rows of a Ray dataset with `workers` actors, each of which takes `cpus`; gives a dataset.

    `limits` is a result of `share_limits`; `concurrency` is the number of calls of each worker at the same time.
    """
    ensure_known_options(options, "grade()")
    if workers < 1:
        raise InputError(f"`workers` is {workers}; there is at least one")
    # A wrong rubric is told here, and not by every worker.
    loaded = take_rubric(rubric)
    schema = dataset.schema()
    if schema is not None:
        tables.ensure_free_names(schema.names, prefix)
        tables.ensure_columns(columns or {}, schema.names)
    arguments = {"columns": columns, "prefix": prefix, **options}
    return dataset.map_batches(
        GradeBatch,
        fn_constructor_args=(loaded,),
        fn_constructor_kwargs=arguments,
        batch_size=batch_size,
        batch_format="pyarrow",
        num_cpus=cpus,
        concurrency=workers,
    )


def _read_batch(batch: Any) -> Any:
    """A batch of any of Ray's formats as an Arrow table."""
    try:
        import pyarrow
    except ImportError:
        raise missing_package("pyarrow", "ray") from None
    if isinstance(batch, Mapping):
        columns = {name: values.tolist() if hasattr(values, "tolist") else values for name, values in batch.items()}
        return pyarrow.table(columns)
    if hasattr(batch, "schema"):
        return batch
    return pyarrow.Table.from_pandas(batch, preserve_index=False)


def _import_ray() -> Any:
    try:
        import ray
    except ImportError:
        raise missing_package("ray", "ray") from None
    return ray


__all__ = ["GradeBatch", "RayLimits", "find_limits", "grade", "share_limits"]
