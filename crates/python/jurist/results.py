"""Verdicts and grades as typed objects over the JSON that the `jurist` command prints."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

from jurist import _scorecard
from jurist.errors import InputError

if TYPE_CHECKING:
    import datasets
    import pandas
    import polars
    import pyarrow


@dataclass(frozen=True)
class Evidence:
    """A quote that a judge gave, and its position in the candidate."""

    quote: str
    #: The part of the candidate, such as `response`; None for a quote that was not found.
    part: str | None
    #: Bytes of that part in UTF-8.
    start: int | None
    end: int | None

    @property
    def found(self) -> bool:
        return self.part is not None


@dataclass(frozen=True)
class Grade:
    """One grader's answer to one criterion."""

    criterion: str
    #: `scored`, `not_applicable`, `abstained`, `failed` or `deferred`; only `scored` enters a score.
    status: str
    #: On 0 to 1; None where there is no honest number.
    score: float | None
    #: The answer on the criterion's own scale.
    value: Any
    reason: str
    evidence: tuple[Evidence, ...]
    #: The model, check or person.
    grader: str
    data: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """The grade as the command prints it."""
        return dict(self.data)

    def _repr_html_(self) -> str:
        return _scorecard.render_grade(self)


def read_grade(data: Mapping[str, Any]) -> Grade:
    outcome = data.get("outcome")
    if outcome is None:
        return _read_check_grade(data)
    detail = outcome.get("detail") or outcome.get("why") or ""
    return Grade(
        criterion=data["criterion"],
        status=outcome["kind"],
        score=outcome.get("unit"),
        value=outcome.get("value"),
        reason=data.get("reason") or detail,
        evidence=tuple(_read_evidence(item) for item in data.get("evidence", [])),
        grader=data["grader"]["name"],
        data=data,
    )


def _read_check_grade(data: Mapping[str, Any]) -> Grade:
    score = data.get("score")
    broke = data.get("error") is not None
    return Grade(
        criterion=data["criterion"],
        status="failed" if broke else "abstained" if score is None else "scored",
        score=score,
        value=data.get("value"),
        reason=data.get("comment") or "",
        evidence=(),
        grader="check",
        data=data,
    )


def _read_evidence(data: Mapping[str, Any]) -> Evidence:
    found = data.get("found") or {}
    return Evidence(data["quote"], found.get("in"), found.get("start"), found.get("end"))


class Verdict:
    """What the rubric says about one candidate.

    >>> from jurist import Rubric, criterion
    >>> verdict = Rubric.build(criterion("short", check={"type": "length", "max": 10})).grade("Paris", id="one")
    >>> verdict
    <Verdict 'one': pass, score=1.000>
    >>> verdict.grade("short").value, verdict.cost, verdict.error
    (5, 0.0, None)
    """

    def __init__(self, line: str, record: Mapping[str, Any] | None = None) -> None:
        self._line = line
        self._record = record

    @cached_property
    def _data(self) -> dict[str, Any]:
        data: dict[str, Any] = json.loads(self._line)
        return data

    @property
    def id(self) -> Any:
        return self._data.get("id")

    @property
    def status(self) -> str:
        """`pass`, `fail`, `error` (a grader failed) or `deferred` (a grader was not asked)."""
        status: str = self._data["status"]
        return status

    @property
    def score(self) -> float | None:
        """On 0 to 1; None where no score can be computed."""
        score: float | None = self._data.get("score")
        return score

    @property
    def passed(self) -> bool | None:
        """True or False; None where there is no verdict."""
        return {"pass": True, "fail": False}.get(self.status)

    @cached_property
    def grades(self) -> list[Grade]:
        """Grades of all judges."""
        opinions = self._data.get("opinions") or [self._data]
        return [read_grade(grade) for opinion in opinions for grade in opinion.get("grades") or []]

    def grade(self, criterion: str) -> Grade:
        """The first grade of a criterion."""
        for grade in self.grades:
            if grade.criterion == criterion:
                return grade
        known = ", ".join(f"`{name}`" for name in sorted({grade.criterion for grade in self.grades}))
        raise InputError(f"no grade is about `{criterion}`; there are {known or 'none'}")

    @property
    def failed_gates(self) -> list[dict[str, Any]]:
        opinions = self._data.get("opinions") or [self._data]
        return [gate for one in opinions for gate in (one.get("verdict") or {}).get("failed_gates", [])]

    @property
    def error(self) -> str | None:
        """Why there is no verdict; None where there is one."""
        if self.passed is not None:
            return None
        own: str | None = self._data.get("error")
        if own is not None:
            return own
        broken = [grade for grade in self.grades if grade.status in ("failed", "deferred", "abstained")]
        return "; ".join(f"{grade.criterion}: {_explain(grade)}" for grade in broken) or self.status

    @property
    def cost(self) -> float | None:
        """Dollars that were paid; None where the price is not known."""
        return read_cost(self._data.get("spend"))

    def to_dict(self) -> dict[str, Any]:
        """The verdict as the command prints it, as a dict of its own."""
        data: dict[str, Any] = json.loads(self._line)
        return data

    def to_json(self) -> str:
        """The line that `jurist grade` prints."""
        return self._line

    def scorecard(self) -> str:
        """The verdict as a few lines of text."""
        return _scorecard.render_text(self)

    def _repr_html_(self) -> str:
        return _scorecard.render_html(self, self._record)

    def __repr__(self) -> str:
        score = "" if self.score is None else f", score={self.score:.3f}"
        return f"<Verdict {self.id!r}: {self.status}{score}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Verdict) and other._line == self._line

    def __hash__(self) -> int:
        return hash(self._line)

    def __bool__(self) -> bool:
        raise TypeError("a verdict is not just true or false; use `.passed` or `.status`")

    def __reduce__(self) -> tuple[Any, ...]:
        return (Verdict, (self._line, self._record))


def read_cost(spend: Mapping[str, Any] | None) -> float | None:
    """Dollars of a `spend` of the command: 0 where no model was asked, None where a price is not known.

    >>> read_cost({"tokens_in": 0, "tokens_out": 0}), read_cost({"tokens_in": 9, "tokens_out": 1})
    (0.0, None)
    """
    if not spend or spend.get("from_cache"):
        return 0.0
    cost = spend.get("cost")
    if cost is None and not spend.get("tokens_in") and not spend.get("tokens_out"):
        return 0.0
    return None if cost is None else float(cost)


def _explain(grade: Grade) -> str:
    outcome = grade.data.get("outcome") or {}
    said = outcome.get("detail") or grade.reason or grade.status
    return f"{outcome['why']}: {said}" if grade.status == "deferred" else str(said)


class Verdicts(Sequence[Verdict]):
    """Verdicts of many rows, in the order of the rows.

    >>> from jurist import Rubric, criterion
    >>> rubric = Rubric.build(criterion("short", check={"type": "length", "max": 10}))
    >>> verdicts = rubric.grade_many([{"id": 1, "output": "Paris"}, {"id": 2, "output": "Paris, France"}])
    >>> verdicts, verdicts.pass_rate
    (<Verdicts: 1 pass, 1 fail>, 0.5)
    >>> verdicts.to_rows()[0]["short.score"]
    1.0
    """

    def __init__(self, verdicts: Sequence[Verdict], cost: float | None = 0.0, requests: int = 0) -> None:
        self._verdicts = list(verdicts)
        #: Dollars that were paid for all of them; None where a price is not known.
        self.cost = cost
        #: Calls that were sent to models.
        self.requests = requests

    @overload
    def __getitem__(self, index: int) -> Verdict: ...
    @overload
    def __getitem__(self, index: slice) -> Verdicts: ...
    def __getitem__(self, index: int | slice) -> Verdict | Verdicts:
        if isinstance(index, slice):
            return Verdicts(self._verdicts[index], None)
        return self._verdicts[index]

    def __len__(self) -> int:
        return len(self._verdicts)

    def __iter__(self) -> Iterator[Verdict]:
        return iter(self._verdicts)

    @property
    def graded(self) -> list[Verdict]:
        """Those that have a verdict: pass or fail."""
        return [verdict for verdict in self if verdict.passed is not None]

    @property
    def pass_rate(self) -> float | None:
        """The share that passed of those with a verdict; None where there is none."""
        graded = self.graded
        return sum(verdict.status == "pass" for verdict in graded) / len(graded) if graded else None

    def to_dicts(self) -> list[dict[str, Any]]:
        return [verdict.to_dict() for verdict in self]

    def to_rows(self) -> list[dict[str, Any]]:
        """Flat rows: id, status, score, cost, error, and a score and a reason for each criterion."""
        criteria: dict[str, None] = {}
        for verdict in self:
            criteria.update((grade.criterion, None) for grade in verdict.grades)
        return [_flatten(verdict, criteria) for verdict in self]

    def to_pandas(self) -> pandas.DataFrame:
        from jurist import tables

        return tables.to_pandas(self.to_rows())

    def to_polars(self) -> polars.DataFrame:
        from jurist import tables

        return tables.to_polars(self.to_rows())

    def to_arrow(self) -> pyarrow.Table:
        from jurist import tables

        return tables.to_arrow(self.to_rows())

    def to_dataset(self) -> datasets.Dataset:
        """A Hugging Face dataset of the same table."""
        from jurist import tables

        return tables.to_dataset(self.to_rows())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The table for any library that reads Arrow streams, such as `pyarrow.table(verdicts)`."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def _repr_html_(self) -> str:
        return _scorecard.render_table(self)

    def __repr__(self) -> str:
        counts = {status: 0 for status in ("pass", "fail", "error", "deferred")}
        for verdict in self:
            counts[verdict.status] += 1
        said = ", ".join(f"{n} {status}" for status, n in counts.items() if n)
        return f"<Verdicts: {said or 'none'}>"


def _flatten(verdict: Verdict, criteria: Mapping[str, None]) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": None if verdict.id is None else str(verdict.id),
        "status": verdict.status,
        "score": verdict.score,
        "cost": verdict.cost,
        "error": verdict.error,
    }
    by_name: dict[str, Grade] = {}
    for grade in verdict.grades:
        by_name.setdefault(grade.criterion, grade)
    for criterion in criteria:
        found = by_name.get(criterion)
        row[f"{criterion}.score"] = None if found is None else found.score
        row[f"{criterion}.reason"] = None if found is None else found.reason
    return row
