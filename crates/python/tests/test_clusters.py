"""Ray and Spark, the real engines, with a scripted judge. `scripts/check-clusters` installs them and runs this file."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

import jurist

RUBRIC = {
    "criteria": [
        {"name": "short", "check": {"type": "length", "max": 10}},
        {"name": "nice", "description": "Is it nice?", "scale": "binary"},
    ]
}
ROWS = [{"id": str(n), "answer": f"Paris {n}" if n % 3 else f"Paris {n} is the capital of France"} for n in range(60)]
COLUMNS = {"output": "answer"}
JUDGE = "openai/gpt-4.1-mini"
#: 1,000 tokens in and 2,000 out, at the price of the model; about 0.007 are reserved for a call.
COST_OF_A_CALL = 0.0036


class ScriptedJudge:
    """Says that answers without a 7 are nice; kills the process that sends its request number `kill_at`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.forget()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                if outer.receive(self.client_address[1]):
                    return
                reply = outer.reply(body)
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(reply)))
                self.end_headers()
                self.wfile.write(reply)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.base_url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def forget(self) -> None:
        """Begin again, for the next test."""
        self.times: list[float] = []
        self.killed: list[int] = []
        self.kill_at: int | None = None

    def receive(self, port: int) -> bool:
        """Count a request; gives true where its sender was killed for it."""
        with self._lock:
            self.times.append(time.monotonic())
            if len(self.times) != self.kill_at:
                return False
            sender = find_sender(port)
            assert sender != os.getpid()
            os.kill(sender, signal.SIGKILL)
            self.killed.append(sender)
            return True

    def reply(self, body: dict[str, Any]) -> bytes:
        text = json.dumps(body["messages"])
        answer = json.dumps({"reasoning": "as scripted", "verdict": "Paris 7" not in text})
        message = {"role": "assistant", "content": answer}
        usage = {"prompt_tokens": 1000, "completion_tokens": 2000}
        choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
        return json.dumps({"choices": choices, "usage": usage}).encode()

    @property
    def billed(self) -> float:
        """Dollars of all requests that came here, the killed one included."""
        return len(self.times) * COST_OF_A_CALL

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def find_sender(port: int) -> int:
    """The process whose socket on this machine has this port."""
    inode = None
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in pathlib.Path(table).read_text().splitlines()[1:]:
            fields = line.split()
            if int(fields[1].rpartition(":")[2], 16) == port:
                inode = fields[9]
    assert inode is not None
    for descriptor in pathlib.Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if os.readlink(descriptor) == f"socket:[{inode}]":
                return int(descriptor.parts[2])
        except OSError:
            continue
    raise AssertionError(f"nobody has port {port}")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ScriptedJudge]:
    """One server for all tests: workers inherit its address when their engine starts, which takes long."""
    server = ScriptedJudge()
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("OPENAI_API_KEY", "none")
        # Spark starts `python3` by default, which may be another one.
        environment.setenv("PYSPARK_PYTHON", sys.executable)
        environment.setenv("OPENAI_BASE_URL", server.base_url)
        environment.setenv("JURIST_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield server
    server.close()


@pytest.fixture
def judge(server: ScriptedJudge, monkeypatch: pytest.MonkeyPatch) -> ScriptedJudge:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    server.forget()
    return server


@pytest.fixture(scope="module")
def ray_session(server: ScriptedJudge) -> Iterator[Any]:
    ray = pytest.importorskip("ray", reason="ray is not installed; run scripts/check-clusters")
    import ray.data

    # More than the machine may have: actors, tasks that read and the program itself each take one.
    ray.init(
        num_cpus=6,
        include_dashboard=False,
        logging_level="error",
        log_to_driver=False,
        object_store_memory=200_000_000,
    )
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield ray
    ray.shutdown()


@pytest.fixture(scope="module")
def spark_session(server: ScriptedJudge) -> Iterator[Any]:
    pytest.importorskip("pyspark", reason="pyspark is not installed; run scripts/check-clusters")
    from pyspark.sql import SparkSession

    # Two tasks at a time, each of which may fail three times.
    builder = SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
    session = builder.config("spark.sql.execution.arrow.maxRecordsPerBatch", "5").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(params=["ray", "spark"])
def grade_on_cluster(request: pytest.FixtureRequest) -> Callable[..., dict[str, dict[str, Any]]]:
    """Grades ROWS on an engine with two workers; gives rows by their id, which must be unique."""
    session = request.getfixturevalue(f"{request.param}_session")
    name = request.node.name

    def on_ray(limits: dict[str, Any], **options: Any) -> list[dict[str, Any]]:
        from jurist import ray as jurist_ray

        shared = jurist_ray.share_limits(name, **limits)
        dataset = session.data.from_items(ROWS).repartition(6)
        graded = jurist_ray.grade(dataset, RUBRIC, columns=COLUMNS, workers=2, batch_size=10, limits=shared, **options)
        rows: list[dict[str, Any]] = graded.take_all()
        return rows

    def on_spark(limits: dict[str, Any], **options: Any) -> list[dict[str, Any]]:
        from jurist import spark as jurist_spark

        frame = session.createDataFrame(ROWS).repartition(6)
        with jurist_spark.share_limits(session, **limits) as shared:
            graded = jurist_spark.grade(frame, RUBRIC, columns=COLUMNS, limits=shared, **options)
            return [row.asDict() for row in graded.collect()]

    run = on_ray if request.param == "ray" else on_spark

    def grade(limits: dict[str, Any]) -> dict[str, dict[str, Any]]:
        rows = run(limits, judge=JUDGE, cache="off")
        by_id = {row["id"]: row for row in rows}
        assert len(rows) == len(by_id) == len(ROWS), "every row is in the result once"
        return by_id

    return grade


def without_time(line: str) -> Any:
    """A verdict without what differs from one call to the next: how long the judge took, when, and what it cost."""
    volatile = ("duration_ms", "time", "spend", "from_cache", "attempts")

    def strip(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: strip(inner) for key, inner in value.items() if key not in volatile}
        return [strip(inner) for inner in value] if isinstance(value, list) else value

    return strip(json.loads(line))


def test_a_killed_worker_changes_nothing_and_no_row_is_lost_or_doubled(
    judge: ScriptedJudge, grade_on_cluster: Callable[..., dict[str, dict[str, Any]]]
) -> None:
    judge.kill_at = 15
    graded = grade_on_cluster(limits={"max_cost": 1.0})
    assert len(judge.killed) == 1, "a worker was killed while it waited for its judge"
    assert judge.billed <= 1.0
    here = jurist.Rubric.from_dict(RUBRIC).grade_many(ROWS, columns=COLUMNS, judge=JUDGE, cache="off")
    assert here.requests == len(ROWS)
    assert [without_time(graded[row["id"]]["verdict"]) for row in ROWS] == [
        without_time(verdict.to_json()) for verdict in here
    ]
    assert [graded[row["id"]]["score"] for row in ROWS] == [verdict.score for verdict in here]
    assert {row["status"] for row in graded.values()} == {"pass", "fail"}


def test_the_cap_holds_over_all_workers(
    judge: ScriptedJudge, grade_on_cluster: Callable[..., dict[str, dict[str, Any]]]
) -> None:
    judge.kill_at = 5
    # All rows would cost 0.216 dollars.
    cap = 0.2
    graded = grade_on_cluster(limits={"max_cost": cap})
    assert len(judge.killed) == 1
    assert judge.billed <= cap
    statuses = [row["status"] for row in graded.values()]
    assert set(statuses) == {"pass", "fail", "deferred"}, "calls of the killed worker count at their highest price"
    for row in graded.values():
        assert (row["score"] is None) == (row["status"] == "deferred")
        assert row["status"] != "deferred" or "over_budget" in row["error"]


def test_the_rate_holds_over_all_workers(
    judge: ScriptedJudge, grade_on_cluster: Callable[..., dict[str, dict[str, Any]]]
) -> None:
    graded = grade_on_cluster(limits={"requests_per_minute": 1200})
    assert {row["status"] for row in graded.values()} == {"pass", "fail"}
    # 20 in a second; the first and the last are 59 turns apart. A request may take a moment longer than the next one.
    assert 59 / 20 - 0.5 <= judge.times[-1] - judge.times[0]


def test_wrong_arguments_are_told_before_anything_runs(ray_session: Any) -> None:
    from jurist import ray as jurist_ray

    dataset = ray_session.data.from_items([{"answer": "Paris", "status": "old"}])
    with pytest.raises(jurist.InputError, match="no column `nope`"):
        jurist_ray.grade(dataset, RUBRIC, columns={"output": "nope"}, prefix="j_")
    with pytest.raises(jurist.InputError, match="column `status` already"):
        jurist_ray.grade(dataset, RUBRIC, columns=COLUMNS)
    with pytest.raises(jurist.InputError, match="share_limits"):
        jurist_ray.GradeBatch(RUBRIC, max_cost=1.0)
    with pytest.raises(jurist.InputError, match="no actor `nobody`"):
        jurist_ray.find_limits("nobody")
    first = jurist_ray.share_limits("one", max_cost=1.0)
    assert jurist_ray.find_limits("one").read() == first.read() | {"calls": 0}
    with pytest.raises(jurist.InputError, match="has `max_cost` 1.0, not 2.0"):
        jurist_ray.share_limits("one", max_cost=2.0)


def test_batches_of_every_format_are_graded(ray_session: Any, judge: ScriptedJudge) -> None:
    from jurist.ray import GradeBatch

    dataset = ray_session.data.from_items(ROWS[:6])
    for batch_format in ("numpy", "pandas", "pyarrow"):
        graded = dataset.map_batches(
            GradeBatch,
            fn_constructor_args=(RUBRIC,),
            fn_constructor_kwargs={"columns": COLUMNS, "judge": JUDGE, "cache": "off", "prefix": "j_"},
            batch_format=batch_format,
            concurrency=1,
        )
        rows = graded.take_all()
        assert {row["id"]: row["j_status"] for row in rows}["1"] == "pass", batch_format
        assert len(rows) == 6


def test_wrong_arguments_are_told_before_spark_runs(spark_session: Any) -> None:
    from jurist import spark as jurist_spark

    frame = spark_session.createDataFrame([{"answer": "Paris", "status": "old"}])
    with pytest.raises(jurist.InputError, match="no column `nope`"):
        jurist_spark.grade(frame, RUBRIC, columns={"output": "nope"}, prefix="j_")
    with pytest.raises(jurist.InputError, match="column `status` already"):
        jurist_spark.grade(frame, RUBRIC, columns=COLUMNS)
    with pytest.raises(jurist.InputError, match="share_limits"):
        jurist_spark.grade(frame, RUBRIC, columns=COLUMNS, prefix="j_", max_cost=1.0)
