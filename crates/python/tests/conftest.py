"""Shared by all tests: examples of the project, the command of the wheel, a scripted server."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "examples"
SHARED = ROOT.parent / "shared"

pytest_plugins = ["pytester"]

#: Plugins of other checks in the same environment, which take longer to import than most tests.
WITHOUT_OTHER_PLUGINS = "-p no:schemathesis -p no:hypothesispytest"


@pytest.fixture(autouse=True)
def quiet_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    """No key, no cache and no settings of the machine decide a test."""
    for name in list(os.environ):
        if name.endswith("_API_KEY") or name.startswith("JURIST_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("JURIST_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def pytester(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    # The original fixture deletes the variable, so it cannot be set outside.
    monkeypatch.setenv("PYTEST_ADDOPTS", WITHOUT_OTHER_PLUGINS)
    return pytester


def run_jurist(*arguments: str | os.PathLike[str], **options: Any) -> subprocess.CompletedProcess[str]:
    """The command that the wheel gives."""
    command = [sys.executable, "-m", "jurist", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, **options)


def check_in_forked_process(holds: Callable[[], bool]) -> None:
    child = os.fork()
    if child == 0:
        code = 1
        # An exception must not go on in the tests of the child.
        try:
            code = 0 if holds() else 1
        finally:
            os._exit(code)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            assert os.waitstatus_to_exitcode(status) == 0
            break
        time.sleep(0.01)
    else:
        os.kill(child, signal.SIGKILL)
        pytest.fail("the forked process hangs")


class ScriptedServer:
    """Answers chat completions with what a function makes of the messages."""

    def __init__(self, answer: Callable[[list[dict[str, Any]]], str]) -> None:
        self.requests: list[dict[str, Any]] = []
        self.usage = {"prompt_tokens": 10, "completion_tokens": 5}
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                outer.requests.append(body)
                message = {"role": "assistant", "content": answer(body["messages"])}
                choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
                reply = json.dumps({"choices": choices, "usage": outer.usage}).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(reply)))
                self.end_headers()
                self.wfile.write(reply)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.base_url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def scripted_server() -> Iterator[Callable[[Callable[[list[dict[str, Any]]], str]], ScriptedServer]]:
    servers: list[ScriptedServer] = []

    def start(answer: Callable[[list[dict[str, Any]]], str]) -> ScriptedServer:
        servers.append(ScriptedServer(answer))
        return servers[-1]

    yield start
    for server in servers:
        server.close()
