"""Jurist: one rubric, every judge. Grades what AI agents and language models produce."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jurist._native import VERSION as __version__
from jurist.errors import (
    Diagnostic,
    EvaluatorError,
    InputError,
    InputTypeError,
    Interrupted,
    JuristError,
    MissingPackage,
    RubricError,
)
from jurist.judging import JudgeFunction, JudgeOptions
from jurist.results import Evidence, Grade, Verdict, Verdicts
from jurist.rewards import Reward, RewardAbort, RewardError, reward
from jurist.rubric import Grader, JuristWarning, Rubric, criterion

if TYPE_CHECKING:
    # For a type checker, the alias makes a module public.
    from jurist import evaluators as evaluators
    from jurist import limits as limits
    from jurist import ray as ray
    from jurist import spark as spark
    from jurist import stats as stats

#: Modules that are imported when a program first uses them, as in `jurist.stats.rank(…)`.
_LAZY_MODULES = ("evaluators", "limits", "ray", "spark", "stats")

__all__ = [
    "Diagnostic",
    "EvaluatorError",
    "Evidence",
    "Grade",
    "Grader",
    "InputError",
    "InputTypeError",
    "Interrupted",
    "JudgeFunction",
    "JudgeOptions",
    "JuristError",
    "JuristWarning",
    "MissingPackage",
    "Reward",
    "RewardAbort",
    "RewardError",
    "Rubric",
    "RubricError",
    "Verdict",
    "Verdicts",
    "__version__",
    "criterion",
    "reward",
]

# For a type checker, such a function would give the package every attribute, also a misspelt one.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name not in _LAZY_MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        return import_module(f"jurist.{name}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY_MODULES})
