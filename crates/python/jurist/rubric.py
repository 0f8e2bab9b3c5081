"""Rubrics, and grading by them."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

from jurist import _native, tables
from jurist.errors import InputError, InputTypeError, Interrupted, JuristError, take_mapping, translate_error
from jurist.judging import DEFAULT_CONCURRENCY, JudgeOptions, PreparedJudge, ensure_known_options
from jurist.results import Verdict, Verdicts
from jurist.threads import start_thread

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: Is told how many rows are done, and how many there are.
ProgressFunction = Callable[[int, int], None]


class CandidateFields(TypedDict, total=False):
    """What is known of a candidate in addition to its output; None is the same as a missing field."""

    input: Any
    reference: Any
    context: Any
    trace: Any
    diff: str | None
    id: Any
    #: Further fields of the record, for rubrics that name them.
    fields: Mapping[str, Any] | None


class GradeArguments(CandidateFields, JudgeOptions, total=False):
    """Keyword arguments of `Rubric.grade` and `Rubric.agrade`."""


_FIELD_NAMES = tuple(CandidateFields.__annotations__)


class _GradeCall:
    """The arguments of one call, sorted into the record and the options of its judges."""

    def __init__(self, output: Any, given: Mapping[str, Any], where: str) -> None:
        options = {name: value for name, value in given.items() if name not in _FIELD_NAMES}
        ensure_known_options(options, where, ("output", *_FIELD_NAMES))
        self.options: JudgeOptions = options  # type: ignore[assignment]
        self.record = build_record(output, {name: given[name] for name in _FIELD_NAMES if name in given})


class JuristWarning(UserWarning):
    """A key of a rubric without effect, a field of rows that nothing uses, or a table without rows."""


@dataclass(frozen=True)
class _RubricSource:
    """Where a rubric was read, so that other processes can read it as well."""

    label: str
    #: None for a file.
    text: str | None
    name: str | None
    flags: list[str]

    def read(self, path: str | None = None) -> _native.NativeRubric:
        if self.text is None:
            return _native.NativeRubric.load(path or self.label, self.name, self.flags)
        return _native.NativeRubric.load_text(self.label, self.text, self.name, self.flags)


def _read_again(source: _RubricSource, version: str) -> Rubric:
    try:
        rubric = Rubric(source.read(), source)
    except _native.NativeError as error:
        raise translate_error(error) from None
    if rubric.version != version:
        raise InputError(f"`{source.label}` is another rubric here than in the process that sent it")
    return rubric


class Rubric:
    """What good looks like: criteria, and how they combine into a verdict.

    >>> rubric = Rubric.from_dict({"criteria": [{"name": "short", "check": {"type": "length", "max": 40}}]})
    >>> rubric.grade("Paris.").passed
    True
    """

    def __init__(self, native: _native.NativeRubric, source: _RubricSource) -> None:
        self._native = native
        self._source = source

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        name: str | None = None,
        *,
        dialect: str | None = None,
        allow_outside: bool = False,
    ) -> Rubric:
        """Read a rubric or suite of any dialect; `name` says which rubric, where the file holds several."""
        if not isinstance(path, (str, os.PathLike)):
            raise InputTypeError(f"`path` is a `{type(path).__name__}`; give the path of a file")
        flags = _loading_flags(dialect, allow_outside)
        return cls._read(_RubricSource(os.path.abspath(path), None, name, flags), os.fspath(path))

    @classmethod
    def from_yaml(cls, text: str, name: str | None = None, *, dialect: str | None = None) -> Rubric:
        """Read a rubric or suite from a text, YAML or JSON."""
        if not isinstance(text, str):
            raise InputTypeError(f"`text` is a `{type(text).__name__}`; give YAML or JSON as a text")
        flags = _loading_flags(dialect, False)
        return cls._read(_RubricSource("<text>", text, name, flags))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], name: str | None = None, *, dialect: str | None = None) -> Rubric:
        """Read a rubric or suite from a mapping with the keys that a file has.

        Lines of diagnostics are those of the mapping as JSON, indented by two spaces.
        """
        flags = _loading_flags(dialect, False)
        try:
            text = json.dumps(data, indent=2, ensure_ascii=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise InputError(f"the rubric cannot be written as JSON: {error}") from error
        return cls._read(_RubricSource("<dict>", text, name, flags))

    @classmethod
    def build(cls, *criteria: Mapping[str, Any], **keys: Any) -> Rubric:
        """Make a rubric of criteria, each a mapping or the result of `criterion`; `keys` are those of a file.

        >>> rubric = Rubric.build(criterion("short", check={"type": "length", "max": 40}), threshold=0.5)
        >>> rubric.pass_mark
        0.5
        """
        return cls.from_dict({**keys, "criteria": [take_mapping(one, "criteria") for one in criteria]})

    @classmethod
    def _read(cls, source: _RubricSource, path: str | None = None) -> Rubric:
        try:
            rubric = cls(source.read(path), source)
        except _native.NativeError as error:
            raise translate_error(error) from None
        except TypeError as error:
            raise InputTypeError(str(error)) from error
        for found in json.loads(rubric._native.warnings):
            text = f"{found['file']}:{found['line']}: {found['message']}"
            warnings.warn(text, JuristWarning, stacklevel=3)
        return rubric

    @property
    def version(self) -> str:
        """The hash of everything that decides a verdict."""
        return self._native.version

    @property
    def pass_mark(self) -> float:
        return self._native.pass_mark

    def to_dict(self) -> dict[str, Any]:
        """The rubric as data: criteria, scales, gates and the pass mark."""
        data: dict[str, Any] = json.loads(self._native.to_json())
        return data

    def __repr__(self) -> str:
        return f"<Rubric {self.version[:12]}>"

    def __reduce__(self) -> Any:
        # Another process reads the same text or file, with everything that the file names.
        return (_read_again, (self._source, self.version))

    def grader(self, **options: Unpack[JudgeOptions]) -> Grader:
        """Prepare to grade: judges, budget and connections are shared by everything that it grades."""
        ensure_known_options(options, "grader()")
        return self.prepare_grader(PreparedJudge(options), options)

    def prepare_grader(self, judge: PreparedJudge, options: JudgeOptions) -> Grader:
        """Prepare to grade with a judge that other graders may have as well."""
        return Grader(self._native.grader, judge, options)

    def grade(self, output: Any = None, **given: Unpack[GradeArguments]) -> Verdict:
        """Grade one candidate: `output`, and perhaps `input`, `reference`, `context`, `trace`, `diff` and `id`.

        `fields` are further fields of the record, for rubrics that name them; the others are `JudgeOptions`.

        >>> rubric = Rubric.build(criterion("same", check={"type": "exact_match"}))
        >>> rubric.grade("Paris", reference="Paris").status
        'pass'
        """
        call = _GradeCall(output, given, "grade()")
        with self.prepare_grader(PreparedJudge(call.options), call.options) as grader:
            return grader.grade_record(call.record)

    async def agrade(self, output: Any = None, **given: Unpack[GradeArguments]) -> Verdict:
        """The same as `grade`, for asynchronous programs; asynchronous judges run in the caller's event loop."""
        call = _GradeCall(output, given, "agrade()")
        return (await self._agrade_rows([call.record], call.options, None))[0]

    def grade_many(
        self,
        rows: Any,
        *,
        columns: Mapping[str, str] | None = None,
        progress: bool | ProgressFunction = False,
        **options: Unpack[JudgeOptions],
    ) -> Verdicts:
        """Grade many rows: dicts, a pandas or Polars frame, an Arrow table or a Hugging Face dataset.

        `columns` gives a field the name that the rows have for it, such as `{"output": "answer"}`. A row that cannot
        be read has the status `error`, and says why. On Ctrl-C, `Interrupted` holds what was graded until then; any
        other exception that ends the work, such as one of `progress`, has it as its attribute `verdicts`.
        A table without rows gives a `JuristWarning`.

        >>> rubric = Rubric.build(criterion("short", check={"type": "length", "max": 10}))
        >>> rows = [{"answer": "Paris"}, {"answer": "Paris is the capital of France"}]
        >>> [verdict.status for verdict in rubric.grade_many(rows, columns={"output": "answer"})]
        ['pass', 'fail']
        """
        ensure_known_options(options, "grade_many()", ("columns", "progress"))
        listed = _warn_if_empty(tables.read_rows(rows, columns))
        with self.prepare_grader(PreparedJudge(options), options) as grader:
            return grader.grade_rows(listed, "rows", progress, None)

    async def agrade_many(
        self,
        rows: Any,
        *,
        columns: Mapping[str, str] | None = None,
        progress: bool | ProgressFunction = False,
        **options: Unpack[JudgeOptions],
    ) -> Verdicts:
        """The same as `grade_many`, for asynchronous programs.

        If its task is cancelled, the `verdicts` of the `CancelledError` are what was graded until then.
        """
        ensure_known_options(options, "agrade_many()", ("columns", "progress"))
        return await self._agrade_rows(_warn_if_empty(tables.read_rows(rows, columns)), options, progress)

    async def _agrade_rows(
        self,
        rows: list[Any],
        options: JudgeOptions,
        progress: bool | ProgressFunction | None,
    ) -> Verdicts:
        import asyncio

        judge = PreparedJudge(options, asyncio.get_running_loop())
        # Each call of `agrade` has threads of its own, and there may be thousands of calls.
        judge.settings["n_threads"] = 1 if len(rows) == 1 else None
        stop = _native.InterruptSignal()

        def work() -> Verdicts:
            with self.prepare_grader(judge, options) as grader:
                return grader.grade_rows(rows, "rows" if progress is not None else "output", progress or False, stop)

        working = start_thread(work)
        try:
            return await asyncio.shield(working)
        except asyncio.CancelledError as error:
            stop.stop()
            await asyncio.wait((working,))
            if not working.cancelled() and working.exception() is None:
                keep_verdicts(error, working.result())
            raise


def criterion(name: str, description: str | None = None, **keys: Any) -> dict[str, Any]:
    """A criterion for `Rubric.build`; `keys` are those of a file, such as `weight`, `scale`, `required` or `check`.

    >>> criterion("polite", "Is the answer polite?", weight=2)
    {'name': 'polite', 'description': 'Is the answer polite?', 'weight': 2}
    """
    given = {} if description is None else {"description": description}
    return {"name": name, **given, **keys}


def build_record(output: Any, given: CandidateFields | Mapping[str, Any]) -> dict[str, Any]:
    """A record with the fields that have a value, and those of `fields`."""
    named = {"id": given.get("id"), "output": output, **{name: given.get(name) for name in _FIELD_NAMES}}
    fields = named.pop("fields")
    record = {name: value for name, value in named.items() if value is not None}
    for name, value in ({} if fields is None else take_mapping(fields, "fields")).items():
        if name in record:
            raise InputError(f"`{name}` is given twice: as an argument and in `fields`")
        record[name] = value
    return record


class Grader:
    """A rubric or an evaluator with its judges. Use it as a context manager, or call `close`."""

    def __init__(
        self,
        make: Callable[[_native.GradingSettings], _native.NativeGrader],
        judge: PreparedJudge,
        options: JudgeOptions,
    ) -> None:
        self._make = make
        self._judge = judge
        self._width = options.get("concurrency") or DEFAULT_CONCURRENCY
        self._process = os.getpid()
        self._native = self._prepare()

    def _prepare(self) -> _native.NativeGrader:
        try:
            return self._make(self._judge.settings)
        except _native.NativeError as error:
            raise translate_error(error) from None

    def _ready(self) -> _native.NativeGrader:
        # Threads and connections do not survive a fork.
        if self._process != os.getpid():
            self._native = self._prepare()
            self._process = os.getpid()
        return self._native

    def grade(self, output: Any = None, **given: Unpack[CandidateFields]) -> Verdict:
        """Grade one candidate; see `Rubric.grade`."""
        for name in given:
            if name not in _FIELD_NAMES:
                raise InputError(f"grade() of a grader knows no `{name}`; it knows {', '.join(_FIELD_NAMES)}")
        return self.grade_record(build_record(output, given))

    def grade_record(self, record: Mapping[str, Any]) -> Verdict:
        """Grade one record with the fields that a file of records may have; raises where it cannot be read."""
        return Verdict(self.grade_to_json(record), record)

    def grade_to_json(self, record: Mapping[str, Any]) -> str:
        graded = self._run([record], "output", None, None)
        if graded.interruption is not None:
            raise graded.interruption
        line = graded.lines[0]
        if line is None:
            raise InputError(graded.problems.get(0, "it was not graded"))
        return line

    def grade_many(
        self,
        rows: Any,
        *,
        columns: Mapping[str, str] | None = None,
        progress: bool | ProgressFunction = False,
    ) -> Verdicts:
        """Grade many rows; see `Rubric.grade_many`."""
        return self.grade_rows(tables.read_rows(rows, columns), "rows", progress, None)

    def grade_rows(
        self,
        rows: list[Any],
        label: str,
        progress: bool | ProgressFunction,
        stop: _native.InterruptSignal | None,
    ) -> Verdicts:
        if not (isinstance(progress, bool) or progress is None or callable(progress)):
            raise InputTypeError(f"`progress` is a `{type(progress).__name__}`; give True, False or a function")
        report = _ProgressLine() if progress is True else progress or None
        told = None if report is None else (lambda n_done: report(n_done, len(rows)))
        graded = self._run(rows, label, told, stop)
        verdicts = self._collect(rows, label, graded)
        ended = graded.interruption
        if report is not None and (ended is None or isinstance(ended, KeyboardInterrupt)):
            try:
                report(sum(line is not None for line in graded.lines) + len(graded.problems), len(rows))
            except BaseException as error:
                ended = ended or error
        if isinstance(report, _ProgressLine):
            report.close()
        if isinstance(ended, KeyboardInterrupt):
            raise Interrupted(verdicts) from ended
        if ended is not None:
            keep_verdicts(ended, verdicts)
            raise ended
        return verdicts

    def _run(
        self,
        rows: list[Any],
        label: str,
        report: Callable[[int], None] | None,
        stop: _native.InterruptSignal | None,
    ) -> _native.GradedRows:
        native = self._ready()
        try:
            graded = native.grade_rows(rows, label, self._width, report, stop)
            native.finish()
        except _native.NativeError as error:
            raise translate_error(error) from None
        except (TypeError, ValueError, OverflowError) as error:
            if isinstance(error, JuristError):
                raise
            # A single record is one of the caller's arguments, whose names the fields are.
            raise InputError(str(error).replace("`output.", "`")) from error
        for message in native.take_messages():
            warnings.warn(message, JuristWarning, stacklevel=5)
        return graded

    def _collect(self, rows: list[Any], label: str, graded: _native.GradedRows) -> Verdicts:
        verdicts: list[Verdict] = []
        for index, line in enumerate(graded.lines):
            row = rows[index]
            if line is None:
                place = f"{label}[{index}]"
                why = graded.problems.get(index, "not graded: the work was interrupted")
                status = "error" if index in graded.problems else "deferred"
                own = row.get("id", place) if isinstance(row, Mapping) else place
                line = json.dumps({"id": own, "status": status, "score": None, "error": why}, default=str)
            verdicts.append(Verdict(line, row if isinstance(row, Mapping) else None))
        cost = self.cost
        return Verdicts(verdicts, cost["dollars"], cost["requests"])

    @property
    def cost(self) -> dict[str, Any]:
        """Dollars (None: not known), requests, and replies from the cache or a recording, of all that was graded."""
        return self._native.cost()

    def close(self) -> None:
        self._judge.close()

    def __enter__(self) -> Grader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def keep_verdicts(error: BaseException, verdicts: Verdicts) -> None:
    """Let what was graded be reached at the exception that ended the work."""
    error.verdicts = verdicts  # type: ignore[attr-defined]


def _warn_if_empty(rows: list[Any]) -> list[Any]:
    """The same rows; a table without rows is probably a mistake."""
    if not rows:
        warnings.warn("no records: the table has no rows", JuristWarning, stacklevel=3)
    return rows


class _ProgressLine:
    """Says on a terminal or in a notebook how far the work is."""

    def __init__(self) -> None:
        self._shown = -1
        # A notebook is no terminal, but shows a line that is written again as one line.
        is_notebook = type(sys.stderr).__module__.startswith("ipykernel")
        self._is_shown = is_notebook or sys.stderr.isatty()

    def __call__(self, done: int, total: int) -> None:
        if self._is_shown and done != self._shown:
            self._shown = done
            sys.stderr.write(f"\r{done} of {total} graded")
            sys.stderr.flush()

    def close(self) -> None:
        if self._is_shown:
            sys.stderr.write("\n")


def _loading_flags(dialect: str | None, allow_outside: bool) -> list[str]:
    flags = [] if dialect is None else [f"--dialect={dialect}"]
    return [*flags, "--allow-outside"] if allow_outside else flags


def take_rubric(rubric: Rubric | str | os.PathLike[str] | Mapping[str, Any]) -> Rubric:
    """A rubric, the path of one, or one as a mapping."""
    if not isinstance(rubric, (Rubric, Mapping, str, os.PathLike)):
        raise InputTypeError(f"a rubric is a `Rubric`, a path, a text or a mapping, not a `{type(rubric).__name__}`")
    if isinstance(rubric, Rubric):
        return rubric
    if isinstance(rubric, Mapping):
        return Rubric.from_dict(rubric)
    if isinstance(rubric, str) and "\n" in rubric:
        return Rubric.from_yaml(rubric)
    return Rubric.load(rubric)


__all__ = ["Grader", "JuristWarning", "ProgressFunction", "Rubric", "criterion", "take_rubric"]
