"""Who judges: options of grading, and Python functions as judges."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

from jurist import _native
from jurist.errors import InputError, translate_error

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


def ensure_known_options(options: Mapping[str, Any], where: str) -> None:
    """Raise an error for an option that nothing knows."""
    for name in options:
        if name not in _KNOWN:
            import difflib

            close = difflib.get_close_matches(name, _KNOWN, 1)
            hint = f"did you mean `{close[0]}`?" if close else f"it knows {', '.join(_KNOWN)}"
            raise InputError(f"{where} knows no `{name}`; {hint}")


class PreparedJudge:
    """Settings for the Rust part, and the event loop in which asynchronous judges run."""

    def __init__(self, options: JudgeOptions, loop: asyncio.AbstractEventLoop | None = None) -> None:
        judge = options.get("judge")
        self._loop = loop
        self._own_loop: asyncio.AbstractEventLoop | None = None
        self._lock = threading.Lock()
        judges: dict[str, Callable[[str], Any]] = {}
        if callable(judge):
            name = f"python/{getattr(judge, '__qualname__', type(judge).__qualname__)}"
            judges[name] = self._wrap(judge)
            named: str | None = name
        elif judge is None or isinstance(judge, str):
            named = judge
        else:
            raise InputError(f"`judge` is a `{type(judge).__name__}`; give the name of a model or a function")
        n = options.get("n")
        if n is not None and n < 1:
            raise InputError(f"`n` is {n}; a judge is asked at least once")
        self.settings: _native.GradingSettings = {
            "flags": _build_flags(options, named),
            "judges": judges,
            "n": n,
            "timeout": options.get("timeout"),
            "session": None,
            "limits": options.get("limits"),
        }

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

        def answer(text: str) -> Any:
            request = json.loads(text)
            kept = {name: request[name] for name in extra}
            reply = function(request["messages"], **kept)
            if inspect.isawaitable(reply):
                return self._wait(reply)
            return reply

        return answer

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
                thread = threading.Thread(target=self._own_loop.run_forever, name="jurist-judge", daemon=True)
                thread.start()
            return self._own_loop

    def close(self) -> None:
        """End the event loop, if there is one of our own."""
        with self._lock:
            if self._own_loop is not None:
                self._own_loop.call_soon_threadsafe(self._own_loop.stop)
                self._own_loop = None


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
