"""Rubrics as rewards for training with reinforcement learning."""

from __future__ import annotations

import json
import os
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from jurist import _native
from jurist.errors import InputError, InputTypeError, JuristError, take_mapping
from jurist.forks import renew_in_forks
from jurist.judging import JudgeOptions, PreparedJudge, ensure_known_options, unknown_option
from jurist.results import Verdict, Verdicts
from jurist.rubric import Grader, Rubric, take_rubric
from jurist.tables import to_plain
from jurist.threads import start_thread

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: Names that data sets have for the right answer, in the order in which they are looked for.
REFERENCE_COLUMNS = ("reference", "answer", "ground_truth", "solution", "target", "expected")

#: Rubrics of rows that are kept with their connections.
_MAX_GRADERS = 1024

#: Checks that programs, services or models decide.
_SLOW_CHECKS = ("script", "python", "javascript", "webhook", "similar", "embedding_similarity")

#: Characters of a prompt from which on a vendor's prompt cache pays off.
_WORTH_CACHING = 8_000

#: Rubrics of rows that are at work at the same time.
_MAX_THREADS = 64


#: Further arguments that verl gives to every function.
_VERL_EXTRAS = ("reward_router_address", "reward_model_tokenizer")

#: Parameters of `compute_score`, for one completion and for a batch.
_VERL_NAMES = ("data_source", "solution_str", "ground_truth", "extra_info")
_VERL_BATCH_NAMES = ("data_sources", "solution_strs", "ground_truths", "extra_infos")


class RewardError(JuristError):
    """There is no reward, because a judge failed or was not asked."""


class RewardAbort(BaseException):
    """There is no reward, and the caller would take every `Exception` for a reward of 0, so this is not one."""


class Reward:
    """Gives a score from 0 to 1 to each completion, and None where a judge failed.

    Call it as TRL calls a reward function. `compute_score` is for verl, `as_verifiers` and `as_openenv` for those.
    A failed gate makes the reward 0. `max_cost` holds for everything that one object grades.
    """

    def __init__(
        self,
        rubric: Rubric | None,
        rubric_column: str | None,
        columns: Mapping[str, str],
        extra_columns: Sequence[str],
        max_chars: int | None,
        max_repetition: float | None,
        options: JudgeOptions,
    ) -> None:
        self.__name__ = "jurist_reward"
        self._rubric = rubric
        self._rubric_column = rubric_column
        self._columns = dict(columns)
        self._extra_columns = list(extra_columns)
        self._max_chars = max_chars
        self._max_repetition = max_repetition
        self._options = options
        self._start(_SharedCalls(options))
        #: Verdicts of the last call, for logging; None where a guard decided.
        self.last_verdicts: list[Verdict | None] = []

    def _start(self, calls: _SharedCalls | None) -> None:
        self._calls = calls
        self.renew_after_fork()
        renew_in_forks(self)

    def renew_after_fork(self) -> None:
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        own = ("_calls", "_lock", "last_verdicts")
        return {name: value for name, value in self.__dict__.items() if name not in own}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._start(None)
        self.last_verdicts = []

    def __call__(
        self, prompts: Sequence[Any] | None = None, completions: Sequence[Any] | None = None, **columns: Any
    ) -> list[float | None]:
        """TRL's signature: lists of prompts and completions, and the columns of the data set as further lists."""
        if completions is None:
            raise InputError("`completions` is missing")
        completions = _take_list(completions, "completions")
        n_rows = len(completions)
        if prompts is not None:
            prompts = _take_list(prompts, "prompts")
            if len(prompts) != n_rows:
                raise InputError(f"there are {len(prompts)} prompts for {n_rows} completions")
        lists = _read_columns(columns, n_rows)
        rows = [
            self._build_row(
                None if prompts is None else prompts[index],
                completions[index],
                {name: value[index] for name, value in lists.items()},
            )
            for index in range(n_rows)
        ]
        verdicts = self._grade(rows)
        self._log(columns, verdicts)
        return _to_rewards(verdicts)

    def _build_row(self, prompt: Any, completion: Any, columns: Mapping[str, Any]) -> _RewardRow:
        record: dict[str, Any] = _read_completion(completion)
        if prompt is not None:
            record["input"] = _read_prompt(prompt)
        for field, column in self._columns.items():
            if column not in columns:
                raise InputError(f"the data have no column `{column}` for `{field}`; they have {', '.join(columns)}")
            record[field] = columns[column]
        if "reference" not in self._columns:
            found = next((name for name in REFERENCE_COLUMNS if columns.get(name) is not None), None)
            if found is not None:
                record["reference"] = columns[found]
        if "context" not in self._columns and columns.get("context") is not None:
            record["context"] = columns["context"]
        for name in self._extra_columns:
            if name not in columns:
                raise InputError(f"the data have no column `{name}`; they have {', '.join(columns)}")
            record[name] = columns[name]
        rubric = None
        if self._rubric_column is not None:
            rubric = columns.get(self._rubric_column)
            if rubric is None:
                raise InputError(f"the data have no column `{self._rubric_column}` with a rubric for each row")
        return _RewardRow(record, rubric)

    def _grade(self, rows: Sequence[_RewardRow]) -> list[Verdict | None]:
        verdicts: list[Verdict | None] = [None] * len(rows)
        by_rubric: dict[str, list[int]] = {}
        for index, row in enumerate(rows):
            if not self._is_guarded(row.record):
                by_rubric.setdefault(_rubric_key(row.rubric), []).append(index)

        # Only the main thread learns of Ctrl-C; graders of other threads are told to stop.
        is_main = len(by_rubric) == 1 and threading.current_thread() is threading.main_thread()
        stop = None if is_main else _native.InterruptSignal()
        is_over = threading.Event()

        def grade_group(key: str) -> None:
            indices = by_rubric[key]
            graders = self._graders(key, rows[indices[0]].rubric)
            if graders.gates is not None:
                gated = _grade_records(graders.gates, [rows[index].record for index in indices], stop)
                for index, verdict in zip(indices, gated, strict=True):
                    verdicts[index] = verdict
                open_rows = zip(indices, gated, strict=True)
                indices = [index for index, verdict in open_rows if not verdict.failed_gates]
            for batch in _put_leaders_first(rows, indices):
                if is_over.is_set():
                    return
                graded = _grade_records(graders.all_criteria, [rows[index].record for index in batch], stop)
                for index, verdict in zip(batch, graded, strict=True):
                    verdicts[index] = verdict

        if len(by_rubric) == 1:
            grade_group(next(iter(by_rubric)))
        elif by_rubric:
            from concurrent.futures import ThreadPoolExecutor

            with ThreadPoolExecutor(min(len(by_rubric), _MAX_THREADS)) as threads:
                try:
                    list(threads.map(grade_group, by_rubric))
                except BaseException:
                    # The end of the block waits for the other threads.
                    is_over.set()
                    if stop is not None:
                        stop.stop()
                    raise
        self.last_verdicts = verdicts
        return verdicts

    def _graders(self, key: str, rubric: Any) -> _RubricGraders:
        with self._lock:
            # Threads and connections neither survive a fork nor are sent to another process.
            if self._calls is None or self._calls.process != os.getpid():
                self._calls = _SharedCalls(self._options)
            graders = self._calls.graders
            found = graders.get(key)
            if found is None:
                chosen = self._rubric if rubric is None else take_rubric(rubric)
                if chosen is None:
                    raise InputError("there is no rubric")
                found = _RubricGraders(chosen, self._calls.judge, self._options)
                graders[key] = found
                if _MAX_GRADERS < len(graders):
                    graders.popitem(last=False)
            graders.move_to_end(key)
            return found

    def _is_guarded(self, record: Mapping[str, Any]) -> bool:
        """Whether a completion is so long or repeats itself so much that no judge is asked."""
        text = record.get("output")
        if not isinstance(text, str):
            return False
        if self._max_chars is not None and self._max_chars < len(text):
            return True
        return self._max_repetition is not None and self._max_repetition < measure_repetition(text)

    def _log(self, columns: Mapping[str, Any], verdicts: Sequence[Verdict | None]) -> None:
        """Means of each criterion for TRL's log, where it gives a function for that."""
        log = columns.get("log_metric")
        if not callable(log):
            return
        for criterion, scores in _criterion_scores(verdicts).items():
            known = [score for score in scores if score is not None]
            if known:
                log(f"jurist/{criterion}", sum(known) / len(known))

    def criterion_scores(self) -> dict[str, list[float | None]]:
        """Scores of each criterion in the last call, in the order of the completions."""
        return _criterion_scores(self.last_verdicts)

    @property
    def rubric_version(self) -> str | None:
        """The version of the rubric; None where each row has its own."""
        return None if self._rubric is None else self._rubric.version

    @property
    def cost(self) -> float | None:
        """Dollars of everything that was graded; None where a price is not known."""
        # All graders share their calls, so each knows the cost of all.
        for graders in self._calls.graders.values() if self._calls is not None else ():
            cost: float | None = graders.all_criteria.cost["dollars"]
            if cost != 0:
                return cost
        return 0.0

    def score_one(self, completion: Any, prompt: Any = None, **columns: Any) -> float:
        """The reward of one completion; raises `RewardError` where there is none."""
        return self._score_row(self._build_row(prompt, completion, columns))

    def _score_row(self, row: _RewardRow) -> float:
        verdicts = self._grade([row])
        reward = _to_rewards(verdicts)[0]
        if reward is None:
            raise RewardError(f"no reward: {_describe_error(verdicts[0])}")
        return reward

    def compute_score(
        self,
        data_source: Any = None,
        solution_str: str | None = None,
        ground_truth: Any = None,
        extra_info: Mapping[str, Any] | None = None,
        **others: Any,
    ) -> float | list[float]:
        """verl's signature: one completion gives a number; the plural arguments of its batch manager give a list.

        verl has no value for "unknown", so a judge that failed raises `RewardError`.

        >>> exact = reward({"criteria": [{"name": "same", "check": {"type": "exact_match"}}]})
        >>> exact.compute_score("math", "42", "42")
        1.0
        >>> exact.compute_score(solution_strs=["42", "41"], ground_truths=["42", "42"])
        [1.0, 0.0]
        """
        for name in others:
            if name not in (*_VERL_BATCH_NAMES, *_VERL_EXTRAS):
                raise unknown_option(name, "compute_score()", [*_VERL_NAMES, *_VERL_BATCH_NAMES, *_VERL_EXTRAS])
        if any(name in others for name in _VERL_BATCH_NAMES):
            if any(given is not None for given in (data_source, solution_str, ground_truth, extra_info)):
                raise InputError("give arguments for one completion or for a batch, not both")
            return self._compute_scores({name: others.get(name) for name in _VERL_BATCH_NAMES})
        if solution_str is None:
            raise InputError("`solution_str` is missing")
        columns = _read_extra_info(extra_info)
        prompt = columns.pop("prompt", columns.pop("question", None))
        if ground_truth is not None:
            columns["ground_truth"] = ground_truth
        return self._score_row(self._build_row(prompt, solution_str, columns))

    async def acompute_score(
        self,
        data_source: Any = None,
        solution_str: str | None = None,
        ground_truth: Any = None,
        extra_info: Mapping[str, Any] | None = None,
        **others: Any,
    ) -> float | list[float]:
        """The same as `compute_score`, for verl's asynchronous functions, any number of which are at work at once."""
        return await start_thread(
            lambda: self.compute_score(data_source, solution_str, ground_truth, extra_info, **others)
        )

    def _compute_scores(self, batch: Mapping[str, Any]) -> list[float]:
        """Rewards of a batch as verl gives it."""
        if batch["solution_strs"] is None:
            raise InputError("`solution_strs` is missing")
        completions = _take_list(batch["solution_strs"], "solution_strs")
        n_rows = len(completions)
        given = {name: value for name, value in batch.items() if value is not None}
        lists = _read_columns(given, n_rows)
        for name in given:
            if name not in lists:
                raise InputTypeError(f"`{name}` is a `{type(given[name]).__name__}`; give a list")
        rows: list[_RewardRow] = []
        for index, completion in enumerate(completions):
            columns = _read_extra_info(lists["extra_infos"][index]) if "extra_infos" in lists else {}
            if "ground_truths" in lists:
                columns["ground_truth"] = lists["ground_truths"][index]
            prompt = columns.pop("prompt", columns.pop("question", None))
            rows.append(self._build_row(prompt, completion, columns))
        return self._score_rows(rows)

    def _score_rows(self, rows: Sequence[_RewardRow]) -> list[float]:
        """The rewards, all of which are numbers; raises `RewardError` where one is missing."""
        verdicts = self._grade(rows)
        rewards = _to_rewards(verdicts)
        missing = [index for index, one in enumerate(rewards) if one is None]
        if missing:
            why = _describe_error(verdicts[missing[0]])
            raise RewardError(f"no reward for {len(missing)} of {len(rewards)} completions: {why}")
        return [one for one in rewards if one is not None]

    def as_verifiers(self, *, group: bool = False) -> Callable[..., Any]:
        """A function for `verifiers.Rubric(funcs=[…])` of verifiers 0.1; with `group`, one for a group of rollouts.

        That class makes every `Exception` a reward of 0. So where there is no reward, `RewardAbort` ends the run; it
        is no `Exception`. `info` may be a mapping or JSON, and its keys are columns, such as `rubric_column`.
        """
        async def jurist_reward(completion: Any, prompt: Any = None, answer: Any = None, info: Any = None) -> float:
            def score() -> float:
                columns = _read_extra_info(info)
                if answer is not None:
                    columns["answer"] = answer
                return self._score_row(self._build_row(prompt, completion, columns))

            return await start_thread(lambda: _abort_without_reward(score))

        async def jurist_group_reward(
            completions: list[Any],
            prompts: list[Any] | None = None,
            answers: list[Any] | None = None,
            infos: list[Any] | None = None,
            info: Any = None,
        ) -> list[float]:
            def score() -> list[float]:
                n_rows = len(completions)
                shared = [info] * n_rows if infos is None else infos
                for name, listed in (("prompts", prompts), ("answers", answers), ("infos", shared)):
                    if listed is not None and len(listed) != n_rows:
                        raise InputError(f"`{name}` has {len(listed)} values for {n_rows} completions")
                rows: list[_RewardRow] = []
                for index in range(n_rows):
                    columns = _read_extra_info(shared[index])
                    if answers is not None:
                        columns["answer"] = answers[index]
                    prompt = None if prompts is None else prompts[index]
                    rows.append(self._build_row(prompt, completions[index], columns))
                return self._score_rows(rows)

            return await start_thread(lambda: _abort_without_reward(score))

        return jurist_group_reward if group else jurist_reward

    def as_openenv(self) -> OpenEnvRubric:
        """A rubric for OpenEnv environments: called with an action and an observation.

        If the package `openenv` is installed, it is an object of OpenEnv's own class as well.
        """
        try:
            from openenv.core.rubrics import Rubric as OpenEnvBase
        except ImportError:
            return OpenEnvRubric(self)
        made: OpenEnvRubric = _make_openenv_class(OpenEnvBase)(self)
        return made


def _abort_without_reward(score: Callable[[], Any]) -> Any:
    """What a function gives; anything that it raises is raised as one that `except Exception` does not catch."""
    try:
        return score()
    except Exception as error:
        raise RewardAbort(str(error)) from error


def _make_openenv_class(base: Any) -> Any:
    """Our rubric as a subclass of OpenEnv's, which calls hooks and keeps the score."""

    class JuristOpenEnvRubric(OpenEnvRubric, base):  # type: ignore[misc]
        __call__ = base.__call__

        def __init__(self, reward: Reward) -> None:
            base.__init__(self)
            OpenEnvRubric.__init__(self, reward)

    return JuristOpenEnvRubric


class OpenEnvRubric:
    """OpenEnv's contract: `rubric(action, observation)` gives a number."""

    def __init__(self, reward: Reward) -> None:
        self._reward = reward
        self.last_score: float | None = None

    def state_dict(self) -> dict[str, Any]:
        """The version of the rubric, by which a checkpoint is compared."""
        return {"rubric_version": self._reward.rubric_version}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Raise an error where a checkpoint was made with another rubric."""
        stored = state.get("rubric_version")
        if stored is not None and stored != self._reward.rubric_version:
            raise InputError(f"the checkpoint has rubric {stored[:12]}, which is another one")

    def reset(self) -> None:
        """Forget the last score."""
        self.last_score = None

    def forward(self, action: Any, observation: Any) -> float:
        self.last_score = self._reward.score_one(_text_of(action), _text_of(observation))
        return self.last_score

    def __call__(self, action: Any, observation: Any) -> float:
        return self.forward(action, observation)


class _SharedCalls:
    """Graders of one process, by their rubric, with the calls that they share."""

    def __init__(self, options: JudgeOptions) -> None:
        self.process = os.getpid()
        self.judge = PreparedJudge(options)
        self.judge.share_calls()
        self.graders: OrderedDict[str, _RubricGraders] = OrderedDict()


class _RubricGraders:
    """A rubric's grader, and one for the gates that code decides, which are tried before anybody is asked."""

    def __init__(self, rubric: Rubric, judge: PreparedJudge, options: JudgeOptions) -> None:
        self.all_criteria = rubric.prepare_grader(judge, options)
        self.gates: Grader | None = None
        criteria = rubric.to_dict().get("criteria") or []
        gates = [criterion for criterion in criteria if _is_code_gate(criterion)]
        if gates and len(gates) < len(criteria):
            self.gates = Rubric.from_dict({"threshold": rubric.pass_mark, "criteria": gates}).grader()


def _is_code_gate(criterion: Mapping[str, Any]) -> bool:
    """Whether code alone decides this criterion, and a failure of it fails the verdict."""
    check = criterion.get("check")
    is_local = isinstance(check, Mapping) and check.get("type") not in _SLOW_CHECKS
    is_gate = any(criterion.get(key) for key in ("required", "guard", "min_score"))
    return is_local and is_gate and not criterion.get("requires") and not criterion.get("when")


class _RewardRow:
    def __init__(self, record: dict[str, Any], rubric: Any) -> None:
        self.record = record
        self.rubric = rubric


def reward(
    rubric: Rubric | str | os.PathLike[str] | Mapping[str, Any] | None = None,
    *,
    rubric_column: str | None = None,
    columns: Mapping[str, str] | None = None,
    extra_columns: Sequence[str] = (),
    max_chars: int | None = None,
    max_repetition: float | None = None,
    **options: Unpack[JudgeOptions],
) -> Reward:
    """A rubric as a reward function.

    `rubric_column` names a column that holds a rubric for each row. `columns` gives fields of records the names that
    the data have for them; without it, `reference` is looked for under its usual names. Completions with more than
    `max_chars` characters, or of which more than the share `max_repetition` repeats itself, get 0 without a judge.

    >>> short = reward({"criteria": [{"name": "short", "check": {"type": "length", "max": 10}}]})
    >>> short(prompts=["Capital of France?"] * 2, completions=["Paris", "It is the city of Paris"])
    [1.0, 0.0]
    >>> short.criterion_scores()
    {'short': [1.0, 0.0]}
    """
    own = ("rubric_column", "columns", "extra_columns", "max_chars", "max_repetition")
    ensure_known_options(options, "reward()", own)
    if (rubric is None) == (rubric_column is None):
        raise InputError("give either `rubric` or `rubric_column`")
    if isinstance(extra_columns, str) or not isinstance(extra_columns, Sequence):
        raise InputTypeError(f"`extra_columns` is a `{type(extra_columns).__name__}`; give a list of names")
    for name, limit in (("max_chars", max_chars), ("max_repetition", max_repetition)):
        if limit is not None and (isinstance(limit, bool) or not isinstance(limit, (int, float))):
            raise InputTypeError(f"`{name}` is a `{type(limit).__name__}`; give a number")
    taken = None if rubric is None else take_rubric(rubric)
    fields = {} if columns is None else take_mapping(columns, "columns")
    return Reward(taken, rubric_column, fields, extra_columns, max_chars, max_repetition, options)


def measure_repetition(text: str, size: int = 4) -> float:
    """The share of runs of four words that stand in the text before."""
    words = text.split()
    runs = [tuple(words[start : start + size]) for start in range(len(words) - size + 1)]
    if not runs:
        return 0.0
    return 1 - len(Counter(runs)) / len(runs)


def _to_reward(verdict: Verdict) -> float | None:
    if verdict.passed is None:
        return None
    return 0.0 if verdict.failed_gates else verdict.score


def _describe_error(verdict: Verdict | None) -> str | None:
    return None if verdict is None else verdict.error


def _to_rewards(verdicts: Sequence[Verdict | None]) -> list[float | None]:
    return [0.0 if verdict is None else _to_reward(verdict) for verdict in verdicts]


def _criterion_scores(verdicts: Sequence[Verdict | None]) -> dict[str, list[float | None]]:
    names: dict[str, None] = {}
    for verdict in verdicts:
        if verdict is not None:
            names.update((grade.criterion, None) for grade in verdict.grades)
    return {name: [_criterion_score(verdict, name) for verdict in verdicts] for name in names}


def _criterion_score(verdict: Verdict | None, name: str) -> float | None:
    if verdict is None:
        return None
    return next((grade.score for grade in verdict.grades if grade.criterion == name), None)


def _rubric_key(rubric: Any) -> str:
    return rubric if isinstance(rubric, str) else json.dumps(rubric, sort_keys=True, default=str)


def _put_leaders_first(rows: Sequence[_RewardRow], indices: Sequence[int]) -> list[list[int]]:
    """One completion of each group with a long prompt, and the others, which find it in the prompt cache of a vendor.

    The judge's prompt shows what a group shares before the completion.
    """
    leaders: dict[str, int] = {}
    for index in indices:
        record = rows[index].record
        shared = json.dumps([record.get(name) for name in ("input", "context", "reference")], default=str)
        if _WORTH_CACHING <= len(shared):
            leaders.setdefault(shared, index)
    first = set(leaders.values())
    others = [index for index in indices if index not in first]
    return [batch for batch in (list(leaders.values()), others) if batch]


def _grade_records(
    grader: Grader, records: list[dict[str, Any]], stop: _native.InterruptSignal | None
) -> Verdicts:
    return grader.grade_rows(records, "completions", False, stop)


def _read_columns(values: Mapping[str, Any], n_rows: int) -> dict[str, list[Any]]:
    """Those values that are columns, as lists; a column of another length is an error."""
    for name, value in values.items():
        if isinstance(value, (str, bytes, bytearray)):
            kind = type(value).__name__
            raise InputTypeError(f"the column `{name}` is a `{kind}`; give a list with one value for each row")
    lists = {name: _read_list(value) for name, value in values.items()}
    found = {name: value for name, value in lists.items() if value is not None}
    for name, value in found.items():
        if len(value) != n_rows:
            raise InputError(f"the column `{name}` has {len(value)} values for {n_rows} completions")
    return found


def _read_list(value: Any) -> list[Any] | None:
    """Any sized sequence that is no text, such as an array or a column of a table, as a list."""
    if isinstance(value, (list, tuple)):
        return list(value)
    is_text = isinstance(value, (str, bytes, bytearray, Mapping, type))
    if is_text or not hasattr(value, "__len__") or not hasattr(value, "__getitem__"):
        return None
    plain = to_plain(value)
    return list(plain) if isinstance(plain, (list, tuple, Sequence)) else None


def _take_list(value: Any, name: str) -> list[Any]:
    listed = _read_list(value)
    if listed is None:
        raise InputTypeError(f"`{name}` is a `{type(value).__name__}`; give a list with one value for each row")
    return listed


def _read_extra_info(info: Any) -> dict[str, Any]:
    """Further columns of a row: a mapping, or one as JSON."""
    if isinstance(info, str) and info:
        try:
            info = json.loads(info)
        except ValueError as error:
            raise InputError(f"the information on a row is not JSON: {error}") from error
    if info is None or info == "":
        return {}
    if not isinstance(info, Mapping):
        raise InputTypeError(f"the information on a row is a `{type(info).__name__}`; give a mapping or JSON")
    return dict(info)


def _read_messages(value: Any, name: str) -> list[dict[str, Any]]:
    """Messages as dicts; those of other libraries are objects with `model_dump`."""
    listed = [value] if isinstance(value, Mapping) else _read_list(value)
    if listed is None:
        raise InputTypeError(f"a {name} is a `{type(value).__name__}`; give a text or a list of messages")
    messages: list[dict[str, Any]] = []
    for message in listed:
        dump = getattr(message, "model_dump", None)
        plain = message if dump is None else dump(exclude_none=True)
        if not isinstance(plain, Mapping):
            raise InputTypeError(f"a message of a {name} is a `{type(message).__name__}`; give a mapping")
        messages.append(dict(plain))
    return messages


def _read_prompt(prompt: Any) -> Any:
    """The last message of the user, or a text as it is."""
    if isinstance(prompt, str):
        return prompt
    messages = _read_messages(prompt, "prompt")
    users = [message for message in messages if message.get("role") == "user"]
    return users[-1].get("content") if users else json.dumps(messages, default=str)


def _read_completion(completion: Any) -> dict[str, Any]:
    """A text, one message, or a run of several messages with their tool calls."""
    if isinstance(completion, str):
        return {"output": completion}
    messages = _read_messages(completion, "completion")
    if len(messages) == 1 and isinstance(messages[0].get("content"), str) and not messages[0].get("tool_calls"):
        return {"output": messages[0]["content"]}
    return {"output": messages}


def _text_of(value: Any) -> Any:
    for name in ("message", "text", "content", "prompt"):
        inner = value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
        if isinstance(inner, str):
            return inner
    return value if isinstance(value, str) else str(value)


__all__ = ["OpenEnvRubric", "Reward", "RewardAbort", "RewardError", "measure_repetition", "reward"]
