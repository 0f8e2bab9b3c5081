"""What can go wrong. Every exception of this package is a `JuristError` or an `Interrupted`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jurist import _native

if TYPE_CHECKING:
    from jurist.results import Verdicts


class JuristError(Exception):
    """Something that the caller gave is wrong; the message is the one of the `jurist` command."""


class InputError(JuristError, ValueError):
    """A value cannot be graded, or an argument is wrong."""


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
