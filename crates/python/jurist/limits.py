"""Limits that several processes share: money, and the rate of calls.

A `CallLedger` holds the money of a job. Before each call to a model, the highest cost of the call is reserved there;
after it, the real cost is settled. So the cap holds over all workers, also if a worker is killed: its open reservations
count as spent. `jurist.ray` and `jurist.spark` carry the ledger to their workers; `serve_limits` does it for processes
of any other kind.

>>> ledger = CallLedger(max_cost=0.01)
>>> limits = LocalLimits(ledger)
>>> answer = limits.reserve_call("a-model", 4_000_000)
>>> limits.settle_call(answer["reservation"], 1_000_000)
>>> ledger.read()["spent"]
0.001
"""

from __future__ import annotations

import hmac
import itertools
import json
import secrets
import socket
import socketserver
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from jurist.errors import InputError, JuristError
from jurist.forks import renew_in_forks

#: Billionths of a dollar; sums of whole numbers are exact.
_NANOS = 1_000_000_000

#: A worker that is silent for so many seconds counts as dead, unless something else is said.
DEFAULT_SILENCE = 30.0

#: Waits, in seconds, while money is reserved for calls of others, which usually cost less than they reserve.
_FIRST_WAIT = 0.05
_LONGEST_WAIT = 1.0

#: Bytes of a message between a worker and the server of a ledger; real ones have about 200.
_MAX_MESSAGE = 65_536

#: Seconds for one message, and for all tries to reach the server of a ledger.
_MESSAGE_TIMEOUT = 30.0
_REACH_TIMEOUT = 60.0


class CallLimits(Protocol):
    """Who is asked before and after each call to a model; amounts are billionths of a dollar.

    `reserve_call` waits for its turn. It gives `{"reservation": …}`, or `{"refused": why}`, or `{"unpriced": True}`
    for a model without a known price under a cap.
    """

    def reserve_call(self, model: str, most: int | None) -> dict[str, Any]: ...
    def settle_call(self, reservation: Any, cost: int | None) -> None: ...
    def may_fit(self, most: int) -> bool: ...


@dataclass
class _OpenReservation:
    holder: str
    most: int


class CallLedger:
    """Money and rate of all calls of a job: what is spent, what is reserved, and when the next call is due."""

    def __init__(
        self,
        max_cost: float | None = None,
        requests_per_minute: float | None = None,
        *,
        silence: float = DEFAULT_SILENCE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if max_cost is not None and not 0 <= max_cost < float("inf"):
            raise InputError(f"`max_cost` is {max_cost}; it is an amount of dollars")
        if requests_per_minute is not None and not 0 < requests_per_minute < float("inf"):
            raise InputError(f"`requests_per_minute` is {requests_per_minute}; it is more than 0")
        self._cap = None if max_cost is None else round(max_cost * _NANOS)
        self._interval = None if requests_per_minute is None else 60 / requests_per_minute
        self._silence = silence
        self._clock = clock
        self.renew_after_fork()
        renew_in_forks(self)
        self._spent = 0
        self._n_calls = 0
        self._n_unpriced = 0
        self._open: dict[str, _OpenReservation] = {}
        #: Reservations of workers that fell silent, which count as spent until they are settled.
        self._assumed: dict[str, int] = {}
        self._heard: dict[str, float] = {}
        self._next_due = clock()

    def renew_after_fork(self) -> None:
        self._lock = threading.Lock()

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Answer one message of a worker."""
        action, holder = request.get("do"), str(request.get("holder"))
        with self._lock:
            now = self._clock()
            self._heard[holder] = now
            self._close_silent_holders(now)
            if action == "reserve":
                return self._reserve(holder, str(request["reservation"]), _read_amount(request, "most"), now)
            if action == "settle":
                self._settle(str(request["reservation"]), _read_amount(request, "cost"))
                return {}
            if action == "may_fit":
                most = _read_amount(request, "most") or 0
                return {"fits": self._cap is None or self._spent + most <= self._cap}
            if action == "renew":
                return {}
            if action == "read":
                return self._describe()
        raise InputError(f"a ledger does not know `{action}`")

    def read(self) -> dict[str, Any]:
        """Dollars `spent` and `reserved`, `max_cost`, and the number of `calls` and of those without a price."""
        with self._lock:
            self._close_silent_holders(self._clock())
            return self._describe()

    def _describe(self) -> dict[str, Any]:
        return {
            "spent": self._spent / _NANOS,
            "reserved": self._reserved() / _NANOS,
            "max_cost": None if self._cap is None else self._cap / _NANOS,
            "requests_per_minute": None if self._interval is None else 60 / self._interval,
            "calls": self._n_calls,
            "unpriced": self._n_unpriced,
        }

    def _reserved(self) -> int:
        return sum(reservation.most for reservation in self._open.values())

    def _reserve(self, holder: str, reservation: str, most: int | None, now: float) -> dict[str, Any]:
        # A message that was sent twice, because its answer was lost, reserves once.
        if reservation in self._open:
            return {"wait": 0.0}
        if self._cap is not None:
            if most is None:
                return {"unpriced": True}
            reserved = self._reserved()
            if self._cap < self._spent + reserved + most:
                if reserved == 0 or self._cap < self._spent + most:
                    return {"refused": self._refusal(most)}
                return {"busy": True}
        self._open[reservation] = _OpenReservation(holder, most or 0)
        self._n_calls += 1
        wait = 0.0
        if self._interval is not None:
            due = max(now, self._next_due)
            self._next_due = due + self._interval
            wait = due - now
        return {"wait": wait}

    def _refusal(self, most: int) -> str:
        spent, cap = self._spent / _NANOS, (self._cap or 0) / _NANOS
        return f"${spent:.6g} of the job's ${cap:.6g} are spent, and one more call may cost up to ${most / _NANOS:.6g}"

    def _settle(self, reservation: str, cost: int | None) -> None:
        found = self._open.pop(reservation, None)
        assumed = self._assumed.pop(reservation, None)
        if found is None and assumed is None:
            return
        if assumed is not None:
            self._spent -= assumed
        if cost is None:
            self._n_unpriced += 1
        self._spent += cost or 0

    def _close_silent_holders(self, now: float) -> None:
        silent = {holder for holder, heard in self._heard.items() if self._silence < now - heard}
        if not silent:
            return
        for holder in silent:
            del self._heard[holder]
        for name, reservation in list(self._open.items()):
            if reservation.holder in silent:
                del self._open[name]
                # The call may have been made.
                self._assumed[name] = reservation.most
                self._spent += reservation.most


def _read_amount(request: Mapping[str, Any], name: str) -> int | None:
    amount = request.get(name)
    if amount is None:
        return None
    if isinstance(amount, bool) or not isinstance(amount, int) or amount < 0:
        raise InputError(f"`{name}` is {amount!r}; it is a whole number of billionths of a dollar")
    return amount


class LimitsClient:
    """A worker's side of a ledger; `ask` carries a message to it. It can be sent to another process."""

    def __init__(self) -> None:
        self.renew_after_fork()
        renew_in_forks(self)

    def renew_after_fork(self) -> None:
        self._holder = uuid.uuid4().hex
        self._numbers = itertools.count()
        self._open: set[str] = set()
        self._lock = threading.Lock()
        self._beating: threading.Thread | None = None

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        raise NotImplementedError

    def reserve_call(self, model: str, most: int | None) -> dict[str, Any]:
        """Reserve the highest cost of a call, and wait until the call is due."""
        reservation = f"{self._holder}-{next(self._numbers)}"
        request = {"do": "reserve", "holder": self._holder, "reservation": reservation, "most": most}
        pause = _FIRST_WAIT
        while True:
            answer = self.ask(request)
            if "wait" in answer:
                break
            if "busy" not in answer:
                return answer
            time.sleep(pause)
            pause = min(_LONGEST_WAIT, pause * 2)
        self._keep_alive(reservation)
        time.sleep(answer["wait"])
        return {"reservation": reservation}

    def settle_call(self, reservation: str, cost: int | None) -> None:
        """Replace a reservation by the real cost."""
        self.ask({"do": "settle", "holder": self._holder, "reservation": reservation, "cost": cost})
        with self._lock:
            self._open.discard(reservation)

    def may_fit(self, most: int) -> bool:
        """Whether a call of this cost can be paid, now or after other calls are settled."""
        return bool(self.ask({"do": "may_fit", "holder": self._holder, "most": most})["fits"])

    def read(self) -> dict[str, Any]:
        """Dollars `spent` and `reserved` over all workers, the limits, and the number of `calls`."""
        return self.ask({"do": "read", "holder": self._holder})

    def _keep_alive(self, reservation: str) -> None:
        """Let the ledger hear of this worker while it has open calls."""
        with self._lock:
            self._open.add(reservation)
            if self._beating is None:
                self._beating = threading.Thread(target=self._beat, name="jurist-limits", daemon=True)
                self._beating.start()

    def _beat(self) -> None:
        while True:
            time.sleep(DEFAULT_SILENCE / 6)
            with self._lock:
                if not self._open:
                    self._beating = None
                    return
            try:
                self.ask({"do": "renew", "holder": self._holder})
            except Exception:
                # The next call to the ledger says what is wrong.
                continue

    def __getstate__(self) -> dict[str, Any]:
        own = ("_holder", "_numbers", "_open", "_lock", "_beating")
        return {name: value for name, value in self.__dict__.items() if name not in own}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.renew_after_fork()
        renew_in_forks(self)


class LocalLimits(LimitsClient):
    """A ledger of this process, for several graders or threads."""

    def __init__(self, ledger: CallLedger) -> None:
        super().__init__()
        self._ledger = ledger

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        return self._ledger.answer(request)

    def __reduce__(self) -> Any:
        raise TypeError("a ledger of this process cannot be sent to another one; use `serve_limits`")


class RemoteLimits(LimitsClient):
    """A ledger that another process serves with `serve_limits`."""

    def __init__(self, host: str, port: int, token: str) -> None:
        super().__init__()
        self._host = host
        self._port = port
        self._token = token

    def renew_after_fork(self) -> None:
        super().renew_after_fork()
        self._connection: socket.socket | None = None
        self._messages = threading.Lock()

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        line = json.dumps({**request, "token": self._token}).encode() + b"\n"
        give_up = time.monotonic() + _REACH_TIMEOUT
        with self._messages:
            while True:
                try:
                    answer = self._exchange(line)
                    break
                except OSError as error:
                    self._disconnect()
                    if give_up < time.monotonic():
                        place = f"{self._host}:{self._port}"
                        raise JuristError(f"the limits of the job at {place} cannot be reached: {error}") from error
                    time.sleep(_FIRST_WAIT)
        if "error" in answer:
            raise JuristError(f"the limits of the job: {answer['error']}")
        return answer

    def _exchange(self, line: bytes) -> dict[str, Any]:
        if self._connection is None:
            self._connection = socket.create_connection((self._host, self._port), _MESSAGE_TIMEOUT)
        self._connection.sendall(line)
        received = b""
        while not received.endswith(b"\n"):
            chunk = self._connection.recv(_MAX_MESSAGE)
            if not chunk or _MAX_MESSAGE < len(received):
                raise ConnectionError("the connection was closed")
            received += chunk
        answer: dict[str, Any] = json.loads(received)
        return answer

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name not in ("_connection", "_messages")}


class _LedgerHandler(socketserver.StreamRequestHandler):
    timeout = 600

    def handle(self) -> None:
        while True:
            try:
                line = self.rfile.readline(_MAX_MESSAGE)
            except OSError:
                return
            if not line.endswith(b"\n"):
                return
            answer = self._answer(line)
            try:
                self.wfile.write(json.dumps(answer).encode() + b"\n")
            except OSError:
                return
            if "error" in answer:
                return

    def _answer(self, line: bytes) -> dict[str, Any]:
        try:
            request = json.loads(line)
            given = str(request.pop("token", "")).encode()
        except (ValueError, AttributeError, RecursionError):
            return {"error": "a message is one line of JSON"}
        assert isinstance(self.server, _LedgerServer)
        if not hmac.compare_digest(given, self.server.token.encode()):
            return {"error": "the token is not that of this job"}
        try:
            return self.server.ledger.answer(request)
        except (InputError, KeyError) as error:
            return {"error": str(error)}


class _LedgerServer(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, address: tuple[str, int], ledger: CallLedger, token: str) -> None:
        self.ledger = ledger
        self.token = token
        super().__init__(address, _LedgerHandler)


class ServedLimits(RemoteLimits):
    """A ledger that this process serves to others. Close it, or use it as a context manager, when the job is over."""

    def __init__(self, ledger: CallLedger, host: str, bind: str) -> None:
        token = secrets.token_hex(16)
        self._server: _LedgerServer | None = _LedgerServer((bind, 0), ledger, token)
        thread = threading.Thread(target=self._server.serve_forever, name="jurist-ledger", daemon=True)
        thread.start()
        super().__init__(host, self._server.server_address[1], token)

    def close(self) -> None:
        """End the service; calls that are made after this are refused."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def __enter__(self) -> ServedLimits:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        return (RemoteLimits, (self._host, self._port, self._token))


def serve_limits(
    *,
    max_cost: float | None = None,
    requests_per_minute: float | None = None,
    host: str = "127.0.0.1",
    bind: str | None = None,
) -> ServedLimits:
    """Serve a ledger to other processes, which get the result as `limits=`; `host` is the address that they use.

    Messages hold names of models and amounts, are not encrypted, and need a token that travels with the object.

    >>> import pickle
    >>> with serve_limits(max_cost=2.0, requests_per_minute=600) as limits:
    ...     worker = pickle.loads(pickle.dumps(limits))
    ...     worker.read()["max_cost"]
    2.0
    """
    ledger = CallLedger(max_cost, requests_per_minute)
    return ServedLimits(ledger, host, host if bind is None else bind)


__all__ = [
    "CallLedger",
    "CallLimits",
    "LimitsClient",
    "LocalLimits",
    "RemoteLimits",
    "ServedLimits",
    "serve_limits",
]
