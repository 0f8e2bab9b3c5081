"""Who judges: options of grading, and Python functions as judges."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

from jurist import _native
from jurist.errors import InputError, InputTypeError, translate_error
from jurist.forks import renew_in_forks
from jurist.threads import CallingThreads

if TYPE_CHECKING:
    import asyncio

    from jurist.limits import CallLimits

#: Messages in (`[{"role": …, "content": …}]`), text out; may be asynchronous. A function that has parameters called
#: `schema`, `temperature`, `max_tokens` or `draw` gets those as well. Instead of a text it may return
#: `{"text": …, "usage": {"input": …, "output": …}}`.
JudgeFunction: TypeAlias = Callable[..., "str | Mapping[str, Any] | Awaitable[str | Mapping[str, Any]]"]


class JudgeOptions(TypedDict, total=False):
    """Options of everything that grades; each means what the flag of the `jurist` command means."""

    judge: str | JudgeFunction | None
    #: Ask the judge so many times, and let the answers vote.
    n: int | None
    base_url: str | None
    #: Dollars.
    max_cost: float | None
    #: Calls to one vendor at the same time.
    concurrency: int | None
    #: `use`, `refresh` or `off`.
    cache: str | None
    record: str | os.PathLike[str] | None
    replay: str | os.PathLike[str] | None
    seed: int | None
    #: Seconds for one call.
    timeout: float | None
    allow_commands: bool
    trust_settings: bool
    #: Money and rate of calls that several processes share; see `jurist.limits`.
    limits: CallLimits | None


_KNOWN = tuple(JudgeOptions.__annotations__)
_CACHING = {"use": [], "refresh": ["--refresh"], "off": ["--no-cache"]}

#: Rows at work at the same time, where nothing else is said: as many as the command has.
DEFAULT_CONCURRENCY = 32


#: The longest limit of a call, in seconds; about thirty years.
_MAX_TIMEOUT = 1e9


def ensure_known_options(options: Mapping[str, Any], where: str, others: Sequence[str] = ()) -> None:
    """Raise an error for an option that nothing knows; `others` are parameters that are not options of judges."""
    for name in options:
        if name not in _KNOWN:
            raise unknown_option(name, where, [*others, *_KNOWN])


def unknown_option(name: str, where: str, known: Sequence[str]) -> InputError:
    """The error for an option that nothing knows, with the one that was probably meant."""
    import difflib

    close = difflib.get_close_matches(name, known, 1)
    hint = f"did you mean `{close[0]}`?" if close else f"it knows {', '.join(known)}"
    return InputError(f"{where} knows no `{name}`; {hint}")


#: Options that are no numbers, with the types that they can have and words for those.
_TYPES: dict[str, tuple[tuple[type, ...], str]] = {
    "base_url": ((str,), "a text"),
    "cache": ((str,), "a text"),
    "record": ((str, os.PathLike), "a path"),
    "replay": ((str, os.PathLike), "a path"),
    "allow_commands": ((bool,), "True or False"),
    "trust_settings": ((bool,), "True or False"),
}


def _ensure_types(options: JudgeOptions) -> None:
    """Raise an error for options of other types than they can have."""
    for name, (types, words) in _TYPES.items():
        given = options.get(name)
        if given is not None and not isinstance(given, types):
            raise InputTypeError(f"`{name}` is a `{type(given).__name__}`; give {words}")
    limits = options.get("limits")
    if limits is not None and not callable(getattr(limits, "reserve_call", None)):
        raise InputTypeError(f"`limits` is a `{type(limits).__name__}`; give limits as in `jurist.limits`")


def _ensure_numbers(options: JudgeOptions) -> None:
    """Raise an error for numbers that the Rust part cannot take."""
    for name in ("n", "concurrency"):
        count = options.get(name)
        if count is None:
            continue
        if not isinstance(count, int) or isinstance(count, bool):
            raise InputTypeError(f"`{name}` is a `{type(count).__name__}`; give a whole number")
        if not 1 <= count < 2**31:
            raise InputError(f"`{name}` is {count}; give a number of at least 1")
    timeout = options.get("timeout")
    if timeout is not None:
        if not isinstance(timeout, (int, float)) or isinstance(timeout, bool):
            raise InputTypeError(f"`timeout` is a `{type(timeout).__name__}`; give a number of seconds")
        # NaN is in no interval.
        if not 0 < timeout <= _MAX_TIMEOUT:
            raise InputError(f"`timeout` is {timeout}; give seconds, more than 0 and at most {_MAX_TIMEOUT:.0f}")


class PreparedJudge:
    """Settings for the Rust part, and the event loop in which asynchronous judges run."""

    def __init__(self, options: JudgeOptions, loop: asyncio.AbstractEventLoop | None = None) -> None:
        judge = options.get("judge")
        self._loop = loop
        self.renew_after_fork()
        renew_in_forks(self)
        judges: dict[str, Callable[[str], Any]] = {}
        if callable(judge):
            name = f"python/{getattr(judge, '__qualname__', type(judge).__qualname__)}"
            judges[name] = self._wrap(judge)
            named: str | None = name
        elif judge is None or isinstance(judge, str):
            named = judge
        else:
            raise InputTypeError(f"`judge` is a `{type(judge).__name__}`; give the name of a model or a function")
        _ensure_types(options)
        _ensure_numbers(options)
        self.settings: _native.GradingSettings = {
            "flags": _build_flags(options, named),
            "judges": judges,
            "n": options.get("n"),
            "timeout": options.get("timeout"),
            "session": None,
            "limits": _hand_over_limits(options.get("limits")),
            "n_threads": None,
        }

    def renew_after_fork(self) -> None:
        self._own_loop: asyncio.AbstractEventLoop | None = None
        self._lock = threading.Lock()

    def share_calls(self) -> None:
        """Let all graders of this judge share one budget, cache, rate limit and recording."""
        settings = self.settings
        try:
            settings["session"] = _native.NativeSession(
                settings["flags"], bool(settings["judges"]), settings["limits"]
            )
        except _native.NativeError as error:
            raise translate_error(error) from None

    def _wrap(self, function: JudgeFunction) -> Callable[[str], Any]:
        import inspect

        extra = _extra_parameters(function)
        threads = CallingThreads()

        def ask(text: str) -> Any:
            request = json.loads(text)
            kept = {name: request[name] for name in extra}
            reply = function(request["messages"], **kept)
            if inspect.isawaitable(reply):
                return self._wait(reply)
            return reply

        return lambda text: threads.call(lambda: ask(text))

    def _wait(self, reply: Awaitable[Any]) -> Any:
        import asyncio

        async def wait() -> Any:
            return await reply

        coroutine: Coroutine[Any, Any, Any] = wait()
        return asyncio.run_coroutine_threadsafe(coroutine, self._running_loop()).result()

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        """The caller's event loop, or one of our own where the caller is not asynchronous."""
        import asyncio

        if self._loop is not None:
            return self._loop
        with self._lock:
            if self._own_loop is None:
                self._own_loop = asyncio.new_event_loop()
                arguments = (self._own_loop,)
                threading.Thread(target=_run_loop, args=arguments, name="jurist-judge", daemon=True).start()
            return self._own_loop

    def close(self) -> None:
        """End and close the event loop, if there is one of our own."""
        with self._lock:
            if self._own_loop is not None:
                self._own_loop.call_soon_threadsafe(self._own_loop.stop)
                self._own_loop = None


class _HandedLimits:
    """Limits that are asked in threads of Python."""

    def __init__(self, limits: CallLimits) -> None:
        self._limits = limits
        self._threads = CallingThreads()

    def reserve_call(self, model: str, most: int | None) -> dict[str, Any]:
        answer: dict[str, Any] = self._threads.call(lambda: self._limits.reserve_call(model, most))
        return answer

    def settle_call(self, reservation: Any, cost: int | None) -> None:
        self._threads.call(lambda: self._limits.settle_call(reservation, cost))

    def may_fit(self, most: int) -> bool:
        return bool(self._threads.call(lambda: self._limits.may_fit(most)))


def _hand_over_limits(limits: CallLimits | None) -> CallLimits | None:
    return None if limits is None else _HandedLimits(limits)


def _run_loop(loop: asyncio.AbstractEventLoop) -> None:
    """Run a loop until it is stopped, cancel what still waits in it, and close it."""
    import asyncio

    async def cancel_waiting() -> None:
        waiting = asyncio.all_tasks() - {asyncio.current_task()}
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        await loop.shutdown_asyncgens()

    try:
        loop.run_forever()
        loop.run_until_complete(cancel_waiting())
    finally:
        loop.close()


def _extra_parameters(function: JudgeFunction) -> list[str]:
    import inspect

    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return []
    return [name for name in ("schema", "temperature", "max_tokens", "draw") if name in parameters]


def _build_flags(options: JudgeOptions, judge: str | None) -> list[str]:
    flags: list[str] = []
    values: dict[str, Any] = {
        "--judge": judge,
        "--base-url": options.get("base_url"),
        "--max-cost": options.get("max_cost"),
        "--concurrency": options.get("concurrency"),
        "--record": options.get("record"),
        "--replay": options.get("replay"),
        "--seed": options.get("seed"),
    }
    for flag, value in values.items():
        if value is not None:
            flags.append(f"{flag}={os.fspath(value) if isinstance(value, os.PathLike) else value}")
    caching = options.get("cache") or "use"
    if caching not in _CACHING:
        raise InputError(f"`cache` is `{caching}`; it can be use, refresh or off")
    flags.extend(_CACHING[caching])
    for name in ("allow_commands", "trust_settings"):
        if options.get(name):
            flags.append("--" + name.replace("_", "-"))
    return flags
