"""Grading on Ray Data: `dataset.map_batches(GradeBatch, …)`.

A named actor holds the money of all workers, so that `max_cost` holds for the whole job.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from jurist.errors import InputError, missing_package
from jurist.judging import JudgeOptions, ensure_known_options
from jurist.rubric import take_rubric

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from jurist.rubric import Rubric


class SharedBudget:
    """Money that workers take in portions and give back; an actor of it is made by `share_budget`."""

    def __init__(self, max_cost: float) -> None:
        self._left = max_cost

    def take(self, wanted: float) -> float:
        taken = min(wanted, self._left)
        self._left -= taken
        return taken

    def give_back(self, unused: float) -> None:
        self._left += unused

    def left(self) -> float:
        return self._left


def share_budget(name: str, max_cost: float) -> Any:
    """Start the actor that holds the money of a job, or find the one that is there."""
    ray = _import_ray()
    return ray.remote(SharedBudget).options(name=name, get_if_exists=True, num_cpus=0).remote(max_cost)


class GradeBatch:
    """Grades batches of rows: `dataset.map_batches(GradeBatch, fn_constructor_kwargs={…}, concurrency=4)`.

    `budget` names an actor of `share_budget`; each batch takes `batch_cost` dollars of it, and gives back what it did
    not spend. Columns of the result are those of the batch and `status`, `score`, `cost`, `error` and `verdict`.
    """

    def __init__(
        self,
        rubric: str | os.PathLike[str] | Mapping[str, Any],
        *,
        columns: Mapping[str, str] | None = None,
        budget: str | None = None,
        batch_cost: float | None = None,
        **options: Unpack[JudgeOptions],
    ) -> None:
        ensure_known_options(options, "GradeBatch()")
        if (budget is None) != (batch_cost is None):
            raise InputError("give `budget` and `batch_cost` together")
        if budget is not None and options.get("max_cost") is not None:
            raise InputError("`max_cost` is the budget's; give it to `share_budget`")
        self._rubric: Rubric = take_rubric(rubric)
        self._columns = columns
        self._batch_cost = batch_cost
        self._options = options
        self._budget = None if budget is None else _import_ray().get_actor(budget)
        self._grader = None if budget is not None else self._rubric.grader(**options)

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        names = list(batch)
        rows = [dict(zip(names, values, strict=True)) for values in zip(*batch.values(), strict=True)]
        verdicts = self._grade([{name: _plain(value) for name, value in row.items()} for row in rows])
        return {
            **batch,
            "status": [verdict.status for verdict in verdicts],
            "score": [float("nan") if verdict.score is None else verdict.score for verdict in verdicts],
            "cost": [float("nan") if verdict.cost is None else verdict.cost for verdict in verdicts],
            "error": [verdict.error or "" for verdict in verdicts],
            "verdict": [verdict.to_json() for verdict in verdicts],
        }

    def _grade(self, rows: list[dict[str, Any]]) -> Any:
        if self._grader is not None:
            return self._grader.grade_many(rows, columns=self._columns)
        ray = _import_ray()
        assert self._budget is not None and self._batch_cost is not None
        taken: float = ray.get(self._budget.take.remote(self._batch_cost))
        options: JudgeOptions = {**self._options, "max_cost": taken}
        verdicts = self._rubric.grade_many(rows, columns=self._columns, **options)
        # A price that is not known may have used up everything that was taken.
        unused = 0.0 if verdicts.cost is None else max(0.0, taken - verdicts.cost)
        ray.get(self._budget.give_back.remote(unused))
        return verdicts


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") and not isinstance(value, (str, bytes)) else value


def _import_ray() -> Any:
    try:
        import ray
    except ImportError:
        raise missing_package("ray", "ray") from None
    return ray
