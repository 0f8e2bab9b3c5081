"""Evaluators by name, with one contract: `evaluate(outputs=…, reference_outputs=…, inputs=…, context=…)`.

The names and parameters are those of Potato's evaluators, so that a program changes only its import.
Checks are decided by code. Evaluators with a `config` ask a judge: `config` is the name of a model, a Python function,
or a mapping with `ai_support` as Potato's tasks have it.
"""

from __future__ import annotations

import json
import math
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, Protocol, TypeAlias

from jurist import _native
from jurist.errors import (
    EvaluatorError,
    InputError,
    InputTypeError,
    JuristError,
    take_mapping,
    take_text,
    translate_error,
)
from jurist.judging import JudgeFunction, JudgeOptions, PreparedJudge, ensure_known_options, unknown_option
from jurist.rubric import Grader, Rubric

#: Who judges: the name of a model, a function, or a mapping with `ai_support`.
JudgeConfig: TypeAlias = "str | JudgeFunction | Mapping[str, Any] | None"

#: Names that a check can have.
_NAME = re.compile(r"[\w.\-]+")

#: How the comment on an output or a reference begins that is in no known format.
_UNKNOWN_FORMATS = ("this is not a trace in a known format", "the reference cannot be read")

#: The value of an argument that was not given; None is a value like any other.
NOT_GIVEN: Any = object()


@dataclass(frozen=True)
class EvaluationResult:
    """What an evaluator says. `score` is None where there is no honest number, and `comment` then says why.

    `error` is set where a judge or a check failed.

    >>> EvaluationResult(score=1.0, value=True, comment="equal").error is None
    True
    """

    score: float | None
    value: Any
    comment: str
    metadata: dict[str, Any] = field(default_factory=lambda: {})
    error: str | None = None
    key: str = ""


class SupportsEvaluate(Protocol):
    """The contract that every evaluator has, and that one's own may have."""

    def evaluate(
        self,
        *,
        outputs: Any = NOT_GIVEN,
        reference_outputs: Any = NOT_GIVEN,
        inputs: Any = NOT_GIVEN,
        context: Any = NOT_GIVEN,
    ) -> EvaluationResult: ...


class Evaluator:
    """An evaluator of the catalogue, by name and parameters.

    >>> Evaluator("length", {"max": 10}).evaluate(outputs="Paris").score
    1.0
    """

    name = ""

    def __init__(
        self, name: str, params: Mapping[str, Any], config: JudgeConfig = None, **options: Any
    ) -> None:
        ensure_known_options(options, type(self).__name__, self._own_options())
        self.name = name
        self.params = {key: value for key, value in params.items() if value is not None}
        judging: JudgeOptions = {**options}  # type: ignore[typeddict-item]
        sent = dict(self.params)
        if isinstance(config, Mapping):
            sent["config"] = dict(config)
        elif config is not None:
            judging["judge"] = config
        self._grader = Grader(
            lambda settings: _native.make_evaluator(name, sent, settings), PreparedJudge(judging), judging
        )

    def evaluate(
        self,
        *,
        outputs: Any = NOT_GIVEN,
        reference_outputs: Any = NOT_GIVEN,
        inputs: Any = NOT_GIVEN,
        context: Any = NOT_GIVEN,
        **others: NoReturn,
    ) -> EvaluationResult:
        """Evaluate one output; raises `InputError` where its shape is not understood."""
        _ensure_no_others(others)
        record = _build_record(outputs, reference_outputs, inputs, context)
        return _read_result(self.name, json.loads(self._grader.grade_to_json(record)), self._questions())

    def _questions(self) -> dict[str, str]:
        return {}

    @classmethod
    def _own_options(cls) -> list[str]:
        """Parameters of the class in addition to those of judges, for messages."""
        return _own_parameters(cls)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"


def _own_parameters(made: type) -> list[str]:
    """Parameters of a class that it names itself."""
    import inspect

    return [name for name in inspect.signature(made).parameters if name not in ("options", "others")]


def _ensure_no_other_parameters(made: type, name: str, others: Mapping[str, Any]) -> None:
    """Raise the error of the command for a parameter that an evaluator does not have."""
    for other in others:
        known = ", ".join(_own_parameters(made)) or "none"
        raise InputError(f"`{name}` has no parameter `{other}`; it has {known}")


def _ensure_no_others(others: Mapping[str, Any]) -> None:
    """Raise an error for an argument that `evaluate` does not have."""
    for name in others:
        raise unknown_option(name, "evaluate()", ("outputs", "reference_outputs", "inputs", "context"))


def _build_record(outputs: Any, reference_outputs: Any, inputs: Any, context: Any) -> dict[str, Any]:
    given = {"outputs": outputs, "reference_outputs": reference_outputs, "inputs": inputs, "context": context}
    return {name: _plain(value) for name, value in given.items() if value is not NOT_GIVEN}


def _plain(value: Any) -> Any:
    """An object of another library with its turns, such as a trace, as the list of its turns."""
    if not isinstance(value, (str, bytes, Mapping, list, tuple)) and hasattr(value, "turns"):
        return value.turns
    return value


def _read_result(name: str, line: Mapping[str, Any], questions: Mapping[str, str]) -> EvaluationResult:
    comment = line.get("comment") or ""
    if line.get("score") is None and comment.startswith(_UNKNOWN_FORMATS):
        raise InputError(comment)
    metadata = dict(line.get("metadata") or {})
    if "steps" in line:
        metadata.update(_judged_metadata(name, line, questions))
    error = line.get("error") or line.get("failure")
    said = f"{error['failure']}: {error['detail']}" if isinstance(error, Mapping) else error
    if error is None and line.get("score") is None and line.get("status") in ("error", "deferred"):
        said = "; ".join(_open_questions(line)) or str(line["status"])
    return EvaluationResult(
        score=line.get("score"),
        value=line.get("value"),
        comment=line.get("comment") or said or "",
        metadata=metadata,
        error=said,
        key=name,
    )


def _open_questions(line: Mapping[str, Any]) -> Iterator[str]:
    for grade in line.get("grades") or []:
        outcome = grade["outcome"]
        if outcome["kind"] != "scored":
            yield f"{grade['criterion']}: {outcome.get('detail') or outcome.get('why') or outcome['kind']}"


def _judged_metadata(name: str, line: Mapping[str, Any], questions: Mapping[str, str]) -> dict[str, Any]:
    grades = line.get("grades") or []
    metadata: dict[str, Any] = {}
    if line.get("steps"):
        reasons = {grade["criterion"]: grade.get("reason", "") for grade in grades}
        metadata["path"] = [
            {
                "node": _node_name(step["node"]),
                "question": questions.get(_node_name(step["node"]), ""),
                "choice": step["answer"],
                "reasoning": reasons.get(step["node"], ""),
            }
            for step in line["steps"]
        ]
    points = [point for grade in grades for point in grade.get("points") or []]
    if name == "groundedness":
        metadata["claims"] = [{"claim": point["text"], "supported": point["holds"]} for point in points]
        metadata["total"] = len(points)
    if name == "agent_as_judge":
        metadata["verdicts"] = [
            {
                "requirement": point["text"],
                "satisfied": point["holds"],
                "evidence": "; ".join(evidence["quote"] for evidence in point.get("evidence") or []),
            }
            for point in points
        ]
    return metadata


def _node_name(node: str) -> str:
    """A node's own name; results name the tree before it."""
    return node.partition(".")[2] or node


class TrajectoryMatchEvaluator(Evaluator):
    """Compares the tool calls of a run with those of a reference.

    >>> call = {"type": "function", "id": "1", "function": {"name": "search", "arguments": "{}"}}
    >>> run = [{"role": "assistant", "content": "", "tool_calls": [call]}]
    >>> TrajectoryMatchEvaluator(mode="unordered").evaluate(outputs=run, reference_outputs=run).score
    1.0
    """

    def __init__(
        self,
        mode: str = "strict",
        tool_args_match_mode: str = "exact",
        tool_args_match_overrides: Mapping[str, Any] | None = None,
        **others: NoReturn,
    ) -> None:
        _ensure_no_other_parameters(TrajectoryMatchEvaluator, "trajectory_match", others)
        overrides = None
        if tool_args_match_overrides is not None:
            overrides = take_mapping(tool_args_match_overrides, "tool_args_match_overrides")
        params = {
            "mode": mode,
            "tool_args_match_mode": tool_args_match_mode,
            "tool_args_match_overrides": overrides,
        }
        super().__init__("trajectory_match", params)


class ToolUseEvaluator(Evaluator):
    """Tells whether a tool was called, perhaps with these arguments.

    >>> call = {"type": "function", "id": "1", "function": {"name": "search", "arguments": '{"q": "a"}'}}
    >>> run = [{"role": "assistant", "content": "", "tool_calls": [call]}]
    >>> ToolUseEvaluator("search", {"q": "a"}).evaluate(outputs=run).score
    1.0
    """

    def __init__(
        self,
        expected_tool: str,
        expected_args: Mapping[str, Any] | None = None,
        args_match_mode: str | None = None,
        **others: NoReturn,
    ) -> None:
        _ensure_no_other_parameters(ToolUseEvaluator, "tool_use", others)
        args = None if expected_args is None else take_mapping(expected_args, "expected_args")
        params = {"expected_tool": expected_tool, "expected_args": args, "args_match_mode": args_match_mode}
        super().__init__("tool_use", params)


class ToolCallAccuracyEvaluator(Evaluator):
    """The share of the reference's tool calls that the run made.

    >>> call = {"type": "function", "id": "1", "function": {"name": "search", "arguments": "{}"}}
    >>> run = [{"role": "assistant", "content": "", "tool_calls": [call]}]
    >>> ToolCallAccuracyEvaluator().evaluate(outputs=run, reference_outputs=run).score
    1.0
    """

    def __init__(self, args_match_mode: str = "exact", **others: NoReturn) -> None:
        _ensure_no_other_parameters(ToolCallAccuracyEvaluator, "tool_call_accuracy", others)
        super().__init__("tool_call_accuracy", {"args_match_mode": args_match_mode})


class GraphTrajectoryEvaluator(Evaluator):
    """Compares the nodes that ran with those of a reference.

    >>> GraphTrajectoryEvaluator().evaluate(outputs=3)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    jurist.errors.InputError: this is not a trace in a known format: ...
    """

    def __init__(self, mode: str = "strict", **others: NoReturn) -> None:
        _ensure_no_other_parameters(GraphTrajectoryEvaluator, "graph_trajectory", others)
        super().__init__("graph_trajectory", {"mode": mode})


class ExactMatch(Evaluator):
    """Tells whether the output is the reference.

    >>> ExactMatch(case_sensitive=False).evaluate(outputs="HI", reference_outputs="hi").score
    1.0
    """

    def __init__(self, case_sensitive: bool = True, strip: bool = True, **others: NoReturn) -> None:
        _ensure_no_other_parameters(ExactMatch, "exact_match", others)
        super().__init__("exact_match", {"case_sensitive": case_sensitive, "strip": strip})


class Contains(Evaluator):
    """Tells whether a text is in the output; without `substring`, the reference.

    >>> Contains("error").evaluate(outputs="an Error").value
    True
    """

    def __init__(
        self, substring: str | None = None, case_sensitive: bool = False, **others: NoReturn
    ) -> None:
        _ensure_no_other_parameters(Contains, "contains", others)
        super().__init__("contains", {"substring": substring, "case_sensitive": case_sensitive})


class RegexMatch(Evaluator):
    """Tells whether a pattern matches somewhere; `flags` are those of `re`.

    >>> RegexMatch("^a.c$", re.IGNORECASE).evaluate(outputs="ABC").score
    1.0
    """

    def __init__(self, pattern: str, flags: int = 0, **others: NoReturn) -> None:
        _ensure_no_other_parameters(RegexMatch, "regex_match", others)
        if not isinstance(flags, int):
            raise InputTypeError(f"`flags` is a `{type(flags).__name__}`; give flags of `re`")
        super().__init__("regex_match", {"pattern": pattern, "flags": int(flags)})


class EditDistance(Evaluator):
    """How near the output is to the reference: 1 - distance / length of the longer one.

    >>> EditDistance().evaluate(outputs="abcd", reference_outputs="abce").score
    0.75
    """

    def __init__(self, **others: NoReturn) -> None:
        _ensure_no_other_parameters(EditDistance, "edit_distance", others)
        super().__init__("edit_distance", {})


class JSONValid(Evaluator):
    """Tells whether the output is JSON.

    >>> JSONValid().evaluate(outputs="{").score
    0.0
    """

    def __init__(self, **others: NoReturn) -> None:
        _ensure_no_other_parameters(JSONValid, "json_valid", others)
        super().__init__("json_valid", {})


class JSONSchemaMatch(Evaluator):
    """Tells whether the output is JSON of a schema.

    >>> JSONSchemaMatch({"type": "object", "required": ["a"]}).evaluate(outputs='{"a": 1}').score
    1.0
    """

    def __init__(self, schema: Mapping[str, Any], **others: NoReturn) -> None:
        _ensure_no_other_parameters(JSONSchemaMatch, "json_schema_match", others)
        super().__init__("json_schema_match", {"schema": take_mapping(schema, "schema")})


class EmbeddingDistance:
    """How near the output is in meaning to the reference.

    With `embed_fn` (texts in, vectors out) nothing else is needed; otherwise embeddings come from the model that
    `model` names, as `jurist grade --check embedding_similarity` finds it.

    >>> vectors = {"cat": [1.0, 0.0], "dog": [0.0, 1.0]}
    >>> distance = EmbeddingDistance(embed_fn=lambda texts: [vectors[text] for text in texts])
    >>> distance.evaluate(outputs="cat", reference_outputs="cat").score
    1.0
    """

    name = "embedding_distance"

    def __init__(
        self,
        embed_fn: Callable[[list[str]], Sequence[Sequence[float]]] | None = None,
        model: str | None = None,
        **others: NoReturn,
    ) -> None:
        _ensure_no_other_parameters(EmbeddingDistance, self.name, others)
        if embed_fn is not None and not callable(embed_fn):
            raise InputTypeError(f"`embed_fn` is a `{type(embed_fn).__name__}`; give a function")
        self._embed = embed_fn
        self._params = {} if model is None else {"model": model}
        self._evaluator = None if embed_fn else Evaluator("embedding_similarity", self._params)

    def evaluate(
        self,
        *,
        outputs: Any = NOT_GIVEN,
        reference_outputs: Any = NOT_GIVEN,
        inputs: Any = NOT_GIVEN,
        context: Any = NOT_GIVEN,
        **others: NoReturn,
    ) -> EvaluationResult:
        """Compare one output with its reference."""
        _ensure_no_others(others)
        if self._evaluator is not None:
            return self._evaluator.evaluate(
                outputs=outputs, reference_outputs=reference_outputs, inputs=inputs, context=context
            )
        record = _build_record(outputs, reference_outputs, inputs, context)
        assert self._embed is not None
        try:
            line = _native.compare_embeddings(self._params, record, self._embed_texts)
        except _native.NativeError as error:
            raise translate_error(error) from None
        return _read_result(self.name, json.loads(line), {})

    def _embed_texts(self, texts: list[str]) -> list[list[float]]:
        assert self._embed is not None
        try:
            vectors = [[float(value) for value in vector] for vector in self._embed(texts)]
        except JuristError:
            raise
        except Exception as error:
            raise EvaluatorError(f"`embed_fn` raised {_describe_exception(error)}") from error
        lengths = {len(vector) for vector in vectors}
        if 0 in lengths or 1 < len(lengths):
            found = " and ".join(map(str, sorted(lengths)))
            raise InputError(f"`embed_fn` gave vectors of {found} numbers; give vectors of one length, which is not 0")
        if not all(math.isfinite(value) for vector in vectors for value in vector):
            raise InputError("`embed_fn` gave a vector with a value that is not a finite number")
        return vectors


def _describe_exception(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


class LLMTrajectoryJudge(Evaluator):
    """A judge grades a run without a reference: pass or fail, or with `continuous` a score from 0 to 1.

    >>> judge = lambda messages: '{"reasoning": "short", "score": 0.75}'
    >>> LLMTrajectoryJudge(judge, continuous=True).evaluate(inputs="Say hello.", outputs="Hello!").score
    0.75
    """

    def __init__(
        self,
        config: JudgeConfig = None,
        continuous: bool = False,
        prompt: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__("llm_trajectory_judge", {"continuous": continuous, "prompt": prompt}, config, **options)


class AgentAsJudgeEvaluator(Evaluator):
    """A judge decides about each requirement, with evidence; the score is the share that is met.

    >>> judge = lambda messages: '{"verdicts": [{"requirement": 1, "satisfied": true, "evidence": "Hello"}]}'
    >>> AgentAsJudgeEvaluator(judge, ["It greets."]).evaluate(outputs="Hello!").score
    1.0
    """

    def __init__(self, config: JudgeConfig = None, requirements: Sequence[str] | None = None, **options: Any) -> None:
        if requirements is not None and (isinstance(requirements, str) or not isinstance(requirements, Iterable)):
            raise InputTypeError(f"`requirements` is a `{type(requirements).__name__}`; give a list of texts")
        given = None if requirements is None else list(requirements)
        super().__init__("agent_as_judge", {"requirements": given}, config, **options)


class RubricDagEvaluator(Evaluator):
    """A judge walks through a tree of questions to a leaf with a fixed score.

    >>> leaf = {"yes": {"score": 1.0, "label": "good"}, "no": {"score": 0.0, "label": "bad"}}
    >>> dag = {"root": "a", "nodes": {"a": {"question": "Good?", "choices": ["yes", "no"], "branches": leaf}}}
    >>> RubricDagEvaluator(lambda messages: '{"reasoning": "r", "choice": "yes"}', dag).evaluate(outputs="Hi").value
    'good'
    """

    def __init__(self, config: JudgeConfig, dag: Mapping[str, Any], **options: Any) -> None:
        self._dag = take_mapping(dag, "dag")
        super().__init__("rubric_dag", {"dag": dict(self._dag)}, config, **options)

    def _questions(self) -> dict[str, str]:
        nodes = self._dag.get("nodes", {})
        return {name: node.get("question", "") for name, node in nodes.items()}


def _read_preset(name: str) -> dict[str, Any]:
    """A tree of the presets that `jurist presets` lists, as `make_rubric_dag` takes it."""
    graph = Rubric.from_dict({"preset": name}).to_dict()["graph"]
    nodes: dict[str, Any] = {}
    for node_name, node in graph["nodes"].items():
        branches = {choice: _read_branch(target) for choice, target in node["branches"].items()}
        nodes[node_name] = {"question": node["ask"], "choices": node["choices"], "branches": branches}
    return {"key": name, "root": graph["root"], "nodes": nodes}


def _read_branch(target: Any) -> Any:
    return target if isinstance(target, str) else {"score": target["score"], "label": target.get("reason", "")}


#: Trees by name; add your own.
RUBRIC_PRESETS: dict[str, Mapping[str, Any]] = {}


def make_rubric_dag(
    config: JudgeConfig = None,
    preset: str | None = None,
    dag: Mapping[str, Any] | None = None,
    **options: Any,
) -> RubricDagEvaluator:
    """A tree of questions: one of `RUBRIC_PRESETS` by name, or one's own."""
    if (preset is None) == (dag is None):
        raise InputError("give either `preset` or `dag`")
    if dag is None:
        assert preset is not None
        if preset not in RUBRIC_PRESETS:
            raise InputError(f"there is no preset `{preset}`; there are {', '.join(RUBRIC_PRESETS)}")
        dag = RUBRIC_PRESETS[preset]
    return RubricDagEvaluator(config, dag, **options)


def rag_triad(config: JudgeConfig = None, **options: Any) -> dict[str, Evaluator]:
    """`context_relevance`, `groundedness` and `answer_relevance`, none of which needs a reference."""
    names = ("context_relevance", "groundedness", "answer_relevance")
    return {name: Evaluator(name, {}, config, **options) for name in names}


class _AgentevalsAdapter:
    """Graph trajectories; nothing has to be installed for them."""

    @staticmethod
    def is_available() -> bool:
        return True

    @staticmethod
    def graph_trajectory_strict_match() -> Evaluator:
        return GraphTrajectoryEvaluator("strict")

    @staticmethod
    def graph_trajectory_unordered_match() -> Evaluator:
        return GraphTrajectoryEvaluator("unordered")


agentevals_adapter = _AgentevalsAdapter()

#: The group of entry points under which packages declare their evaluators.
ENTRY_POINT_GROUP = "jurist.evaluators"

_OWN: dict[str, Callable[..., Any]] = {}


def register_evaluator(name: str, make: Callable[..., Any]) -> None:
    """Give one's own evaluator a name, for `build_evaluator` and for rubrics and suites.

    `make` is a class whose objects have `evaluate`, a function that makes such an object from its parameters, or a
    function that evaluates by itself: it then has a parameter `outputs`. A check names it as
    `{type: python, value: "evaluator:NAME", config: {…}}`; it runs in a process of its own, with `allow_commands`, so
    it must be at the top level of a module other than the program itself. A package declares its evaluators as entry
    points of the group `jurist.evaluators`, which need no call of this function.

    >>> class Polite:
    ...     def __init__(self, word="please"):
    ...         self.word = word
    ...     def evaluate(self, *, outputs, **_):
    ...         said = self.word in outputs
    ...         return EvaluationResult(score=float(said), value=said, comment=f"looked for {self.word}")
    >>> register_evaluator("polite", Polite)
    >>> build_evaluator("polite", {"word": "thank"}).evaluate(outputs="thank you").score
    1.0
    """
    take_text(name, "name")
    if not callable(make):
        raise InputError(f"`{name}` is a `{type(make).__name__}`; register a class or a function")
    if _NAME.fullmatch(name) is None:
        raise InputError(f"`{name}` is no name of an evaluator; use letters, digits, `_`, `-` and `.`")
    if name in _OWN or any(entry["name"] == name for entry in json.loads(_native.list_evaluators())):
        raise InputError(f"there is an evaluator `{name}` already")
    _OWN[name] = make
    _announce_evaluator(name, make)


def _announce_evaluator(name: str, make: Callable[..., Any]) -> None:
    """Tell processes that run checks where to find an evaluator, and which interpreter has its packages."""
    module, member = getattr(make, "__module__", None), getattr(make, "__qualname__", "<locals>")
    file = getattr(sys.modules.get(module or ""), "__file__", None)
    # The program itself cannot be imported without being run again.
    if module in (None, "__main__") or file is None or "<" in member:
        return
    known = json.loads(os.environ.get("JURIST_EVALUATORS") or "{}")
    os.environ["JURIST_EVALUATORS"] = json.dumps({**known, name: [os.path.abspath(file), module, member]})
    os.environ.setdefault("JURIST_PYTHON", sys.executable)


def _find_own_evaluator(name: str) -> Callable[..., Any] | None:
    if name in _OWN:
        return _OWN[name]
    import importlib.metadata

    for point in importlib.metadata.entry_points(group=ENTRY_POINT_GROUP):
        if point.name == name:
            found: Callable[..., Any] = point.load()
            return found
    return None


class _FunctionEvaluator:
    """A function with the contract of `evaluate`, and parameters of its own."""

    def __init__(self, function: Callable[..., Any], params: Mapping[str, Any]) -> None:
        self._function = function
        self._params = dict(params)

    def __repr__(self) -> str:
        return repr(self._function)

    def evaluate(
        self,
        *,
        outputs: Any = NOT_GIVEN,
        reference_outputs: Any = NOT_GIVEN,
        inputs: Any = NOT_GIVEN,
        context: Any = NOT_GIVEN,
    ) -> EvaluationResult:
        given = {"outputs": outputs, "reference_outputs": reference_outputs, "inputs": inputs, "context": context}
        known = {name: value for name, value in given.items() if value is not NOT_GIVEN}
        result: EvaluationResult = self._function(**known, **self._params)
        return result


class _OwnEvaluator:
    """An evaluator of the caller; what it raises becomes an `EvaluatorError`. Its other attributes are its own."""

    def __init__(self, evaluator: SupportsEvaluate, name: str) -> None:
        self._evaluator = evaluator
        self._name = name

    def evaluate(self, **given: Any) -> EvaluationResult:
        try:
            return self._evaluator.evaluate(**given)
        except JuristError:
            raise
        except Exception as error:
            raise EvaluatorError(f"the evaluator `{self._name}` raised {_describe_exception(error)}") from error

    def __getattr__(self, name: str) -> Any:
        if name in ("_evaluator", "_name"):
            raise AttributeError(name)
        return getattr(self._evaluator, name)

    def __repr__(self) -> str:
        return repr(self._evaluator)


def _make_own_evaluator(make: Callable[..., Any], params: Mapping[str, Any]) -> SupportsEvaluate:
    import inspect

    name = getattr(make, "__name__", type(make).__name__)
    if not inspect.isclass(make) and "outputs" in inspect.signature(make).parameters:
        return _OwnEvaluator(_FunctionEvaluator(make, params), name)
    build: Any = make
    try:
        made: SupportsEvaluate = build(**params)
    except JuristError:
        raise
    except Exception as error:
        raise EvaluatorError(f"`{name}` raised {_describe_exception(error)}") from error
    return _OwnEvaluator(made, type(made).__name__)


def build_evaluator(
    name: str,
    params: Mapping[str, Any] | None = None,
    config: JudgeConfig = None,
) -> SupportsEvaluate:
    """An evaluator by name; `list_evaluators` lists them."""
    take_text(name, "name")
    given = {} if params is None else take_mapping(params, "params")
    if name in _OWN:
        return _make_own_evaluator(_OWN[name], given)
    config = given.pop("config", config)
    if name == "rubric_dag":
        return make_rubric_dag(config, **given)
    if name == EmbeddingDistance.name:
        return EmbeddingDistance(**given)
    if not any(entry["name"] == name for entry in json.loads(_native.list_evaluators())):
        declared = _find_own_evaluator(name)
        if declared is not None:
            return _make_own_evaluator(declared, given)
    return Evaluator(name, given, config)


def list_evaluators() -> list[dict[str, Any]]:
    """All evaluators: name, description, kind (`check`, `recipe` or `own`) and parameters."""
    entries: list[dict[str, Any]] = json.loads(_native.list_evaluators())
    tree = {
        "name": "rubric_dag",
        "kind": "recipe",
        "description": "a judge walks through a tree of questions to a fixed score",
        "params": ["dag", "preset"],
    }
    own = [
        {"name": name, "kind": "own", "description": (make.__doc__ or "").strip(), "params": []}
        for name, make in _OWN.items()
    ]
    import importlib.metadata

    declared = [
        {"name": point.name, "kind": "own", "description": f"declared by {point.value}", "params": []}
        for point in importlib.metadata.entry_points(group=ENTRY_POINT_GROUP)
        if point.name not in _OWN
    ]
    return [*entries, tree, *own, *declared]


RUBRIC_PRESETS["answer_quality"] = _read_preset("answer_quality")
