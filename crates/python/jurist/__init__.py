"""Jurist: one rubric, every judge. Grades what AI agents and language models produce."""

from __future__ import annotations

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
