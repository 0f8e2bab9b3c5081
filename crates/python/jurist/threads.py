"""Threads of Python: for work that waits, and for functions that Rust calls."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from jurist.forks import renew_in_forks

if TYPE_CHECKING:
    import asyncio

_Result = TypeVar("_Result")

#: A thread that has had nothing to do for so many seconds ends.
_IDLE_SECONDS = 10.0

#: Seconds that the end of a program waits for threads of Rust at most, and seconds in which none may begin a call.
_LAST_WAIT = 2.0
_LAST_PAUSE = 0.02


def start_thread(work: Callable[[], _Result]) -> asyncio.Future[_Result]:
    """Start work in a thread of its own; gives a future of the running event loop.

    `asyncio.to_thread` has 32 threads at most, and six on a machine with two cores; others would wait for these.
    """
    import asyncio
    import contextvars
    from concurrent.futures import Future

    done: Future[_Result] = Future()
    context = contextvars.copy_context()

    def run() -> None:
        done.set_running_or_notify_cancel()
        try:
            result = context.run(work)
        except BaseException as error:
            done.set_exception(error)
        else:
            done.set_result(result)

    threading.Thread(target=run, name="jurist-work", daemon=True).start()
    return asyncio.wrap_future(done)


class _HandedCall:
    """A call that one thread hands to another."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self._work = work
        self._is_done = threading.Event()
        self._result: Any = None
        self._error: BaseException | None = None

    def run(self) -> None:
        try:
            self._result = self._work()
        except BaseException as error:
            self._error = error
        _PROGRAM_END.wake(self._is_done)

    def wait(self) -> Any:
        _PROGRAM_END.sleep(self._is_done)
        if self._error is not None:
            raise self._error
        return self._result


class CallingThreads:
    """Calls functions in threads of Python while threads of Rust wait for them.

    When the interpreter ends, it ends each thread that wants its lock. A thread of Rust does not survive that, and the
    program would crash where a judge answers after Ctrl-C. So threads of Rust only wait, and are not woken after that.
    """

    def __init__(self) -> None:
        self.renew_after_fork()
        renew_in_forks(self)

    def renew_after_fork(self) -> None:
        from queue import SimpleQueue

        self._calls: SimpleQueue[_HandedCall] = SimpleQueue()
        self._lock = threading.Lock()
        #: Threads without work, less the calls that none of them has taken yet.
        self._n_free = 0

    def call(self, work: Callable[[], Any]) -> Any:
        """What the function gives or raises."""
        _PROGRAM_END.enter()
        try:
            call = _HandedCall(work)
            self._hand(call)
            return call.wait()
        finally:
            _PROGRAM_END.leave()

    def _hand(self, call: _HandedCall) -> None:
        with self._lock:
            is_free = 0 < self._n_free
            self._n_free -= int(is_free)
        if is_free:
            self._calls.put(call)
        else:
            threading.Thread(target=self._work, args=(call,), name="jurist-call", daemon=True).start()

    def _work(self, call: _HandedCall | None) -> None:
        from queue import Empty

        while call is not None:
            call.run()
            # Nothing of a call may live as long as its thread.
            call = None
            with self._lock:
                self._n_free += 1
            try:
                call = self._calls.get(timeout=_IDLE_SECONDS)
            except Empty:
                with self._lock:
                    # Otherwise, a call that was put meanwhile counts on this thread.
                    if 0 < self._n_free:
                        self._n_free -= 1
                        return
                call = self._calls.get()


class _ProgramEnd:
    """Knows whether the program ends, and what threads of Rust do in Python until then."""

    def __init__(self) -> None:
        self.renew_after_fork()
        renew_in_forks(self)

    def renew_after_fork(self) -> None:
        self._lock = threading.Lock()
        self._has_come = False
        #: Calls so far, those that have not returned, and those of them that do not wait.
        self._n_calls = 0
        self._n_open = 0
        self._n_awake = 0

    def enter(self) -> None:
        with self._lock:
            self._n_calls += 1
            self._n_open += 1
            self._n_awake += 1
            has_come = self._has_come
        if has_come:
            self.sleep(threading.Event())

    def sleep(self, until: threading.Event) -> None:
        with self._lock:
            self._n_awake -= 1
        until.wait()

    def wake(self, sleeping: threading.Event) -> None:
        with self._lock:
            if not self._has_come:
                self._n_awake += 1
                sleeping.set()

    def leave(self) -> None:
        with self._lock:
            self._n_awake -= 1
            self._n_open -= 1

    def come(self) -> None:
        """Stop waking threads of Rust, and wait until every thread of Rust has returned or sleeps."""
        import time

        with self._lock:
            self._has_come = True
        deadline = time.monotonic() + _LAST_WAIT
        while 0 < self._n_open and time.monotonic() < deadline:
            n_calls = self._n_calls
            # Threads that are about to call something want the lock of the interpreter, and get it meanwhile.
            time.sleep(_LAST_PAUSE)
            if self._n_awake == 0 and n_calls == self._n_calls:
                return


_PROGRAM_END = _ProgramEnd()


def _register_program_end() -> None:
    import atexit

    atexit.register(_PROGRAM_END.come)


_register_program_end()
