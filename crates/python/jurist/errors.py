"""What can go wrong. Every exception of this package is a `JuristError`, an `Interrupted` or a `RewardAbort`.

Every warning is a `jurist.JuristWarning`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jurist import _native

if TYPE_CHECKING:
    from jurist.results import Verdicts


class JuristError(Exception):
    """Something that the caller gave is wrong; the message is the one of the `jurist` command."""


class InputError(JuristError, ValueError):
    """A value cannot be graded, or an argument is wrong."""


class InputTypeError(InputError, TypeError):
    """A value or an argument has a type that is not accepted here."""


class EvaluatorError(JuristError):
    """An evaluator or a function of the caller raised an exception, which is the `__cause__`."""


class MissingPackage(JuristError, ImportError):
    """An optional package is not installed."""


@dataclass(frozen=True)
class Diagnostic:
    """One problem of a rubric, with its place in the file."""

    message: str
    severity: str
    code: str
    file: str
    line: int | None
    column: int | None
    help: str | None
    excerpt: str | None = None

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Diagnostic:
        return cls(
            message=data["message"],
            severity=data["severity"],
            code=data["code"],
            file=data["file"],
            line=data.get("line"),
            column=data.get("column"),
            help=data.get("help"),
            excerpt=data.get("excerpt"),
        )


def take_mapping(value: Any, name: str) -> dict[str, Any]:
    """A copy of a mapping that the caller gave as an argument."""
    if not isinstance(value, Mapping):
        raise InputTypeError(f"`{name}` is a `{type(value).__name__}`; give a mapping")
    return dict(value)


def take_text(value: Any, name: str) -> str:
    """A text that the caller gave as an argument."""
    if not isinstance(value, str):
        raise InputTypeError(f"`{name}` is a `{type(value).__name__}`; give a text")
    return value


class RubricError(JuristError, ValueError):
    """A rubric is wrong. `diagnostics` lists every problem with its line."""

    def __init__(self, message: str, diagnostics: list[Diagnostic]) -> None:
        super().__init__(message)
        self.diagnostics = diagnostics


class Interrupted(KeyboardInterrupt):
    """Ctrl-C was pressed. `verdicts` holds everything that was graded until then."""

    def __init__(self, verdicts: Verdicts) -> None:
        super().__init__(f"interrupted after {len(verdicts.graded)} of {len(verdicts)} rows")
        self.verdicts = verdicts


def translate_error(error: _native.NativeError) -> JuristError:
    """An error of the Rust part as an exception of this package."""
    if isinstance(error, _native.NativeRubricError):
        message, diagnostics = error.args
        return RubricError(message, [Diagnostic.from_dict(item) for item in json.loads(diagnostics)])
    return InputError(str(error))


def missing_package(name: str, extra: str) -> MissingPackage:
    return MissingPackage(f"this needs the package `{name}`; install it with `pip install 'jurist[{extra}]'`")
