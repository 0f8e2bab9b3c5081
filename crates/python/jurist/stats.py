"""Statistics of grades: agreement, corrected estimates, comparisons, power, ranking.

Every function gives what `jurist stats compute` prints, as a dict. Arrays may be lists, NumPy arrays or columns of
tables (pandas, Polars, Arrow). A whole table is a list of its columns, such as one column of ratings for each rater;
counts, wins and 2×2 tables keep their rows. What cannot be computed from the data raises
`Undefined`, and is never a number.

>>> cohen_kappa(["a", "b", "a"], ["a", "b", "a"])["kappa"]
1.0
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from jurist import _native
from jurist.errors import InputError, JuristError, take_text
from jurist.tables import to_plain, to_plain_rows

#: Inputs whose first index is a row; for all others, a table is the list of its columns.
_BY_ROWS = ("counts", "table", "wins", "ties")


class Undefined(JuristError, ArithmeticError):
    """The data do not say this; the message says why."""


def compute(name: str, *args: Any, **inputs: Any) -> Any:
    """Any statistic by name, with the inputs that `jurist stats compute` takes.

    >>> compute("proportion_ci", k=84, n=200)["wilson"][0] > 0.35
    True
    """
    take_text(name, "name")
    if args and inputs:
        raise InputError("give arguments by name or by position, not both")
    problem: dict[str, Any]
    if args:
        problem = {"fn": name, "args": [to_plain(value) for value in args]}
    else:
        plain = {key: to_plain_rows(value) if key in _BY_ROWS else to_plain(value) for key, value in inputs.items()}
        problem = {"family": name, "input": plain}
    try:
        answer = json.loads(_native.solve_statistics_problem(problem))
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(_name_argument(str(error))) from error
    if "undefined" in answer:
        raise Undefined(answer["undefined"])
    if "error" in answer:
        raise InputError(answer["error"])
    return answer["result"]


def _name_argument(message: str) -> str:
    """A message about a value of the problem, with the name that the caller knows."""
    return message.replace("`problem.input.", "`").replace("`problem.args", "`args")


def krippendorff_alpha(ratings: Any, level: str = "ordinal") -> dict[str, Any]:
    """Agreement of any number of raters; rows are raters, columns are items, None is a missing rating."""
    return _compute("krippendorff_alpha", ratings=ratings, level=level)


def cohen_kappa(rater1: Any, rater2: Any, weights: str = "none", categories: Any = None) -> dict[str, Any]:
    """Agreement of two raters beyond chance; weights are `none`, `linear` or `quadratic`."""
    return _compute("cohen_kappa", rater1=rater1, rater2=rater2, weights=weights, categories=categories)


def fleiss_kappa(counts: Any, method: str = "fleiss") -> dict[str, Any]:
    """Agreement of many raters from counts: rows are items, columns are categories."""
    return _compute("fleiss_kappa", counts=counts, method=method)


def gwet_ac(ratings: Any, weights: str = "identity") -> dict[str, Any]:
    """Gwet's agreement coefficients; with weights it is AC2."""
    return _compute("gwet_ac1" if weights == "identity" else "gwet_ac2", ratings=ratings, weights=weights)


def correlation(x: Any, y: Any) -> dict[str, Any]:
    """Pearson, Spearman and Kendall, each with its interval or p-value."""
    return _compute("correlation", x=x, y=y)


def proportion_interval(successes: int, n: int, confidence: float = 0.95) -> dict[str, Any]:
    """Intervals of a share, such as a pass rate."""
    return _compute("proportion_ci", k=successes, n=n, conf=confidence)


def mean_interval(values: Any, confidence: float = 0.95) -> dict[str, Any]:
    """The mean and its interval."""
    return _compute("mean_ci", x=values, conf=confidence)


def compare_paired(a: Any, b: Any, seed: int = 0) -> dict[str, Any]:
    """Whether paired scores differ: a permutation test by sign flips, and a bootstrap interval."""
    return {
        "permutation": _compute("paired_permutation", a=a, b=b, seed=seed),
        "bootstrap": _compute("paired_bootstrap", a=a, b=b, seed=seed),
    }


def mcnemar(table: Sequence[Sequence[int]]) -> dict[str, Any]:
    """Whether two systems pass unequally often: [[both pass, only A], [only B, both fail]]."""
    return _compute("mcnemar", table=table)


def alignment(truth: Any, predicted: Any) -> dict[str, Any]:
    """How well a judge's verdicts match those of people: accuracy, precision, recall and so on."""
    return _compute("classification", truth=truth, predicted=predicted)


def calibration(scores: Any, labels: Any, bins: int | None = None) -> dict[str, Any]:
    """Calibration: whether a judge's scores are probabilities."""
    return _compute("calibration", scores=scores, labels=labels, bins=bins)


def ppi_mean(labels: Any, judged: Any, judged_unlabeled: Any, alpha: float = 0.05) -> dict[str, Any]:
    """A mean from few human labels and many scores of a judge (PPI++), with its interval."""
    return _compute("ppi", Y=labels, Yhat=judged, Yhat_unlabeled=judged_unlabeled, alpha=alpha)


def rogan_gladen(*, tp: int, fn: int, tn: int, fp: int, judge_pass: int, n_judged: int) -> dict[str, Any]:
    """A pass rate corrected for the errors that a judge makes against labels."""
    return _compute("rogan_gladen", tp=tp, fn=fn, tn=tn, fp=fp, judge_pass=judge_pass, n_judged=n_judged)


def power(**inputs: Any) -> dict[str, Any]:
    """How many cases a comparison needs, such as `p1=0.7, p2=0.75, power=0.8, unpaired=True`."""
    return _compute("power", **inputs)


def rank(wins: Any, **inputs: Any) -> dict[str, Any]:
    """Strengths from comparisons (Bradley–Terry): `wins[i][j]` is how often i beat j."""
    return _compute("bradley_terry", wins=wins, **inputs)


def pass_k(trials: Sequence[Mapping[str, int]], k: Sequence[int]) -> dict[str, Any]:
    """pass@k and pass^k from `[{"n": trials, "c": successes}, …]`."""
    return _compute("pass_k", trials_per_task=trials, k=list(k))


def drift(values: Any, alpha: float = 0.05, **inputs: Any) -> dict[str, Any]:
    """A confidence sequence of a running mean, which may be looked at after every value."""
    return _compute("confidence_sequence", x=values, alpha=alpha, **inputs)


def _compute(name: str, **inputs: Any) -> dict[str, Any]:
    result: dict[str, Any] = compute(name, **{key: value for key, value in inputs.items() if value is not None})
    return result
