"""Runs server, workers, annotators and a scripted judge under steady load with kills, measures, and verifies.

docs/soak.md says what is measured and when it counts as flat. Only Python's own library is needed.
"""

import argparse
import collections
import contextlib
import csv
import http.client
import http.server
import json
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.parse
from dataclasses import dataclass, field

import soak_chart
import soak_verdict
from simulate_month import CONFIG, JudgeHandler, fit_schema, read_text, write_completion

SAMPLE_SECONDS = 10
# The second half is without kills of these two, so that their memory can be followed.
STEADY = ["server", "worker"]
KILLED = "killed worker"
MONITOR = """
name: soak
agents: [support]
rubric: |
  Score how this ticket was handled:
  1. The right department (1-5)
  2. The tone of the customer's language (1-5)
  Output JSON: {"department": int, "tone": int, "reasoning": string}
judges: [scripted/lenient]
sample_rate: 1.0
pass_threshold: 4.0
"""
TASK = """
annotation_task_name: Soak
data_files: [data.jsonl]
item_properties: {id_key: id, text_key: text}
annotation_schemes:
  - annotation_type: rubric_eval
    name: quality
    scale: {min: 1, max: 5}
    criteria:
      - {name: correctness, weight: 3.0}
      - {name: efficiency, weight: 1.0}
"""
ITEMS_AT_A_TIME = 200
# What stands below it in docs/soak.md is written by --docs.
LAST_RUN = "## The last run\n"
PAGES = ["/", "/api/v1/session", "/api/v1/traces?limit=50", "/api/v1/monitors", "/api/v1/monitors/soak/estimates",
         "/api/v1/monitors/soak/trend", "/api/v1/alerts", "/api/v1/spend"]


# The judge, a process of its own, so that it does not slow down what measures latencies.


class SoakJudge(JudgeHandler):
    """Takes 20 to 200 ms, and reads its score from the answer that it is shown."""

    def do_GET(self):
        with self.server.guard:
            self.reply(200, self.server.n_calls)

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        prompt = "\n".join(read_text(message["content"]) for message in request["messages"])
        found = re.search(r"Answer to ticket (\w+): department worth (\d), tone worth (\d)", prompt)
        if not found or f"Question of ticket {found[1]}" not in prompt:
            return self.reply(400, {"error": {"message": "there is no whole ticket"}})
        with self.server.guard:
            self.server.n_calls[found[1]] += 1
            seconds = self.server.draw.uniform(0.02, 0.2)
        time.sleep(seconds)
        points = {"department": int(found[2]), "tone": int(found[3])}
        schema = request["response_format"]["json_schema"]["schema"]
        # Who asked may have been killed meanwhile.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.reply(200, write_completion(request, json.dumps(fit_schema(schema, points))))


def serve_judge(seed):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), SoakJudge)
    server.daemon_threads = True
    server.guard, server.n_calls, server.draw = threading.Lock(), collections.Counter(), random.Random(seed)
    print(server.server_address[1], flush=True)
    server.serve_forever()


# Processes.


class Process:
    """One process of the product, which can be killed and started again."""

    def __init__(self, name, command, folder, environment):
        self.name, self.command, self.environment = name, command, environment
        self.folder = folder
        self.n_starts = 0
        self.start()

    def start(self):
        self.n_starts += 1
        with open(self.folder / f"{self.name.replace(' ', '-')}.log", "a") as log:
            self.process = subprocess.Popen(self.command, cwd=self.folder, env=self.environment, stdout=log, stderr=log)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(40)
        except subprocess.TimeoutExpired:
            self.kill()

    def read_rss(self):
        """Bytes of memory, or None for a process that is not there."""
        with contextlib.suppress(OSError):
            for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
                if line.startswith("VmRSS:"):
                    return int(line.split()[1]) * 1024
        return None

    def count_handles(self):
        with contextlib.suppress(OSError):
            return len(os.listdir(f"/proc/{self.process.pid}/fd"))
        return None


class Client:
    """A connection that is kept, as browsers and exporters do, and made anew when the server was killed."""

    def __init__(self, port, cookie=""):
        self.port, self.cookie, self.connection, self.used = port, cookie, None, 0.0

    def ask(self, method, path, body=None):
        """Status, body and seconds; an OSError or HTTPException when nobody answers."""
        headers = {"content-type": "application/json", "origin": f"http://127.0.0.1:{self.port}"}
        if self.cookie:
            headers["cookie"] = self.cookie
        # The server closes a connection on which nothing was asked for 30 seconds.
        if time.monotonic() - self.used > 20:
            self.close()
        begun = time.perf_counter()
        try:
            if self.connection is None:
                self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
                self.connection.connect()
                self.connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = self.connection.getresponse()
            text = answer.read()
            self.used = time.monotonic()
        except (OSError, http.client.HTTPException):
            self.close()
            raise
        if cookie := answer.headers.get("set-cookie"):
            self.cookie = cookie.split(";")[0]
        return answer.status, text, time.perf_counter() - begun

    def close(self):
        if self.connection:
            self.connection.close()
        self.connection = None

    def need(self, method, path, body=None):
        """The answer as JSON; anything but success is the end."""
        status, text, _ = self.ask(method, path, body)
        if status != 200:
            sys.exit(f"FAILED: {method} {path} was answered {status}: {text[:500].decode(errors='replace')}")
        return json.loads(text)

    def list_pages(self, path):
        items, after = [], ""
        while True:
            page = self.need("GET", path + after)
            items += page["items"]
            if not page.get("next"):
                return items
            after = f"&after={urllib.parse.quote(page['next'])}"


# Load.


@dataclass
class Load:
    """What the load was told, shared by its threads."""

    port: int
    seed: int
    ends: float
    guard: threading.Lock = field(default_factory=threading.Lock)
    latencies: dict = field(default_factory=lambda: collections.defaultdict(list))
    # Score by trace id, of traces of which both halves were acknowledged.
    acknowledged: dict = field(default_factory=dict)
    # Person and item of answers that were acknowledged.
    answers: collections.Counter = field(default_factory=collections.Counter)
    # Requests that were sent again, by why.
    retries: collections.Counter = field(default_factory=collections.Counter)
    n_kills: collections.Counter = field(default_factory=collections.Counter)
    faults: list = field(default_factory=list)

    def goes_on(self):
        return time.monotonic() < self.ends and not self.faults

    def ask(self, client, kind, method, path, body=None):
        """Asks until somebody answers: what was not acknowledged is sent again, as exporters and pages do."""
        # The last request is still answered after the end.
        while time.monotonic() < self.ends + 60:
            try:
                status, text, seconds = client.ask(method, path, body)
            except (OSError, http.client.HTTPException) as error:
                status, text, seconds = None, type(error).__name__.encode(), None
            with self.guard:
                if seconds is not None:
                    self.latencies[kind].append(seconds)
                if status is None or status in (429, 503):
                    self.retries[status or text.decode()] += 1
                elif status != 200:
                    self.faults.append(f"{method} {path} was answered {status}: {text[:300]!r}")
            if status == 200:
                return text
            if status is not None and status not in (429, 503):
                return None
            time.sleep(0.2)
        return None


def pace(load, per_second):
    """Yields at a steady rate; what a stopped server delays is not caught up with."""
    due = time.monotonic()
    while load.goes_on():
        yield
        due = max(due + 1 / per_second, time.monotonic())
        time.sleep(max(0, due - time.monotonic()))


def send_traces(load, number, per_second):
    draw, client = random.Random(f"traces {load.seed} {number}"), Client(load.port)
    for _ in pace(load, per_second):
        trace_id, worth = f"{draw.getrandbits(128):032x}", (draw.randint(1, 5), draw.randint(1, 5))
        name, spans = f"T{trace_id[:12]}", [f"{draw.getrandbits(64):016x}" for _ in range(2)]
        now = time.time_ns()
        question = make_span(trace_id, spans[0], None, now, "gen_ai.input.messages", f"Question of ticket {name}: where is it?")
        said = f"Answer to ticket {name}: department worth {worth[0]}, tone worth {worth[1]}. " + "It is on its way. " * 40
        answer = make_span(trace_id, spans[1], spans[0], now + 10**9, "gen_ai.output.messages", said)
        # The root comes last, from another request, as with two processes.
        if all(load.ask(client, "ingest", "POST", "/v1/traces", make_export(span)) is not None for span in (answer, question)):
            with load.guard:
                load.acknowledged[trace_id] = sum((points - 1) / 4 for points in worth) / 2


def make_span(trace_id, span_id, parent, begin, key, text):
    role = "user" if key == "gen_ai.input.messages" else "assistant"
    message = json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])
    attributes = {key: message, "gen_ai.agent.name": "support"}
    if parent:
        attributes |= {"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-4o"}
    span = {"traceId": trace_id, "spanId": span_id, "name": "chat gpt-4o" if parent else "POST /tickets",
            "startTimeUnixNano": str(begin), "endTimeUnixNano": str(begin + 2 * 10**9),
            "attributes": [{"key": name, "value": {"stringValue": value}} for name, value in attributes.items()]}
    return span | ({"parentSpanId": parent} if parent else {})


def make_export(span):
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "support"}}]}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": [span]}]}]}


def read_pages(load, per_second):
    client, at = Client(load.port), 0
    for _ in pace(load, per_second):
        load.ask(client, "pages", "GET", PAGES[at % len(PAGES)])
        at += 1


def annotate(load, task, number, per_second):
    """One person: takes the next item, and answers it."""
    draw, client, person = random.Random(f"person {load.seed} {number}"), Client(load.port), f"person_{number:02}"
    load.ask(client, "annotate", "POST", "/api/v1/join/task", {"task": task, "name": person})
    for _ in pace(load, per_second):
        text = load.ask(client, "annotate", "POST", f"/api/v1/tasks/{task}/next", {})
        work = json.loads(text) if text is not None else {"done": True}
        if work.get("done"):
            continue
        ratings = {name: {"rating": {"kind": "scored", "value": draw.randint(1, 5)}} for name in ("correctness", "efficiency")}
        body = {"draft": {"quality": {"kind": "rubric", "criteria": ratings}}, "revision": work["revision"]}
        text = load.ask(client, "annotate", "POST", f"/api/v1/assignments/{work['assignment']}/submit", body)
        if text is not None:
            with load.guard:
                # Exports name an item by its row, work by an id of its own.
                load.answers[person, name_item(re.search(r"Item (\d+):", json.dumps(work["item"]))[1])] += 1


def supply_items(load, task, per_second):
    """Keeps items ahead of annotators, without giving all of them at the beginning."""
    client, n_rows = Client(load.port), ITEMS_AT_A_TIME
    for _ in pace(load, per_second / ITEMS_AT_A_TIME * 1.5):
        rows = [make_row(at) for at in range(n_rows, n_rows + ITEMS_AT_A_TIME)]
        load.ask(client, "items", "POST", f"/api/v1/tasks/{task}/items", {"rows": rows})
        n_rows += ITEMS_AT_A_TIME


def name_item(at):
    return f"item_{int(at):06}"


def make_row(at):
    return {"id": name_item(at), "text": f"Item {at}: " + "an answer to rate, as long as answers are. " * 10}


# The run.


def run_soak(options, folder):
    with contextlib.ExitStack() as stack:
        judge = stack.enter_context(subprocess.Popen(
            [sys.executable, __file__, "--role", "judge", "--seed", str(options.seed)], stdout=subprocess.PIPE, text=True))
        stack.callback(judge.terminate)
        judge_port = int(judge.stdout.readline())
        processes = start_processes(stack, options, folder, judge_port)
        client = Client(options.port)
        wait_until_ready(client, processes["server"])
        client.need("PUT", "/api/v1/monitors/soak", {"source": MONITOR})
        data = "".join(json.dumps(make_row(at)) + "\n" for at in range(ITEMS_AT_A_TIME))
        task = client.need("POST", "/api/v1/tasks", {"config": "task.yaml", "files": {"task.yaml": TASK, "data.jsonl": data}})["id"]
        load = Load(options.port, options.seed, time.monotonic() + options.minutes * 60)
        threads = start_load(load, options, task)
        measure(load, options, folder, processes)
        for thread in threads:
            thread.join()
        wait_until_decided(client, load)
        judged = Client(judge_port)
        return verify(load, client, task, judged.need("GET", "/")), list(load.faults)


def start_processes(stack, options, folder, judge_port):
    (folder / ".jurist").mkdir()
    (folder / ".jurist/config.yaml").write_text(CONFIG.format(judge_url=f"http://127.0.0.1:{judge_port}"))
    environment = {**os.environ, "SCRIPTED_KEY": "sk-scripted", "JURIST_LOG": "warn"}
    environment.pop("JURIST_STORE", None)
    common = ["--store", str(folder / "soak.db"), "--trust-settings", "--lease", "15"]
    serve = [options.jurist, "serve", "--address", f"127.0.0.1:{options.port}", "--workers", "0", *common]
    work = [options.jurist, "worker", "--workers", "2", *common]
    processes = {"server": Process("server", serve, folder, environment)}
    stack.callback(lambda: processes["server"].stop())
    # Workers open a database that the server has made.
    wait_until_ready(Client(options.port), processes["server"])
    for name in ["worker", KILLED]:
        processes[name] = Process(name, work, folder, environment)
        stack.callback(processes[name].stop)
    return processes


def wait_until_ready(client, server):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and server.process.poll() is None:
        with contextlib.suppress(OSError, http.client.HTTPException):
            if client.ask("GET", "/ready")[0] == 200:
                return
        time.sleep(0.1)
    sys.exit(f"FAILED: the server is not ready; see {server.folder}/server.log")


def start_load(load, options, task):
    jobs = [(send_traces, load, number, options.rate / 2) for number in range(2)]
    jobs += [(annotate, load, task, number, 1) for number in range(options.annotators)]
    jobs += [(read_pages, load, 2), (supply_items, load, task, 1)]
    threads = [threading.Thread(target=work, args=args, daemon=True) for work, *args in jobs]
    for thread in threads:
        thread.start()
    return threads


def plan_kills(options):
    """When which process is killed, in seconds: all of them in the first half, one worker to the end."""
    half, every = options.minutes * 30, options.kill_every
    draw = random.Random(f"kills {options.seed}")
    names, kills, at = [KILLED, "server", "worker"], [], every
    while at < options.minutes * 60 - every / 2:
        # The last kill of what is measured leaves a part of the first half to warm up again.
        is_early = at < half - every
        kills.append((at * draw.uniform(0.95, 1.05), names[len(kills) % 3] if is_early else KILLED))
        at += every
    return kills


def measure(load, options, folder, processes):
    """Samples and kills until the end; a row of samples.csv each ten seconds."""
    begun, kills, client = time.monotonic(), plan_kills(options), Client(options.port)
    due = SAMPLE_SECONDS
    killed = []
    with open(folder / "samples.csv", "w", newline="") as file:
        rows = csv.DictWriter(file, soak_verdict.COLUMNS)
        rows.writeheader()
        while load.goes_on() or due <= options.minutes * 60 <= time.monotonic() - begun:
            now = time.monotonic() - begun
            if kills and kills[0][0] <= now:
                name = kills.pop(0)[1]
                processes[name].kill()
                time.sleep(1)
                processes[name].start()
                killed.append(name)
                load.n_kills[name] += 1
            if due <= now:
                rows.writerow(take_sample(load, client, folder, processes, due, killed))
                file.flush()
                due, killed = due + SAMPLE_SECONDS, []
            dead = [name for name, process in processes.items() if process.process.poll() is not None]
            load.faults += [f"the {name} ended by itself; see {folder}" for name in dead]
            time.sleep(0.1)


def take_sample(load, client, folder, processes, seconds, killed):
    sample = {"seconds": seconds, "killed": "+".join(killed)}
    for name, process in processes.items():
        key = name.replace(" ", "_")
        sample[f"{key}_rss"], sample[f"{key}_handles"] = process.read_rss(), process.count_handles()
    for name in ["soak.db", "soak.db-wal"]:
        path = folder / name
        sample["database_bytes" if name == "soak.db" else "log_bytes"] = path.stat().st_size if path.exists() else 0
    with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
        status, text, _ = client.ask("GET", "/api/v1/jobs")
        counts = json.loads(text) if status == 200 else []
        for state in ["waiting", "leased", "dead"]:
            sample[f"jobs_{state}"] = sum(count["n"] for count in counts if count["state"] == state)
    with load.guard:
        latencies, load.latencies = load.latencies, collections.defaultdict(list)
        sample |= {"traces": len(load.acknowledged), "answers": sum(load.answers.values()), "retries": load.retries.total()}
    for kind in ["ingest", "pages", "annotate"]:
        for share in [50, 95, 99]:
            sample[f"{kind}_p{share}"] = soak_verdict.quantile(latencies[kind], share / 100)
    return sample


# What must hold.


def wait_until_decided(client, load):
    """Waits until every trace has its final state, and no job waits."""
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        states = {state["state"]: state["n"] for state in client.need("GET", "/api/v1/monitors/soak/estimates")["states"]}
        n_open = sum(states.get(state, 0) for state in ["sampled", "pending", "stale"])
        if n_open == 0 and len(load.acknowledged) <= sum(states.values()):
            return
        time.sleep(1)
    load.faults.append(f"not decided five minutes after the end: {states}")


def verify(load, client, task, n_calls):
    """What came of everything that was acknowledged, as counts with what they must be."""
    decisions = collections.Counter()
    wrong_states = collections.Counter()
    for decision in client.list_pages("/api/v1/monitors/soak/decisions?limit=200"):
        decisions[decision["trace"]] += 1
        if decision["state"] not in ("scored", "cached"):
            wrong_states[decision["state"]] += 1
    newest = {}
    for verdict in sorted(client.list_pages("/api/v1/verdicts?limit=200"), key=lambda verdict: verdict["time"]):
        newest[verdict["candidate"]] = verdict["score"]
    wrong = [trace for trace, score in load.acknowledged.items()
             if newest.get(trace) is None or abs(newest[trace] - score) > 1e-9]
    rows = read_answers(client, task)
    dead = client.need("GET", "/api/v1/jobs/dead")["items"]
    asked_again = sum(n - 1 for n in n_calls.values())
    return [
        soak_verdict.Count("traces acknowledged", len(load.acknowledged), None),
        soak_verdict.Count("acknowledged and without a decision", len(load.acknowledged.keys() - decisions.keys()), 0),
        soak_verdict.Count("decided more than once", sum(1 for n in decisions.values() if n > 1), 0),
        soak_verdict.Count(f"neither scored nor cached{list_counts(wrong_states)}", sum(wrong_states.values()), 0),
        soak_verdict.Count("scores other than the trace deserves", len(wrong), 0),
        soak_verdict.Count("answers acknowledged", len(load.answers), None),
        soak_verdict.Count("answers lost", len(load.answers.keys() - rows.keys()), 0),
        soak_verdict.Count("answers there twice", sum(1 for n in rows.values() if n > 1), 0),
        soak_verdict.Count("jobs given up", len(dead), 0),
        soak_verdict.Count("questions to the judge", sum(n_calls.values()), None),
        soak_verdict.Count("of them asked again after a kill", asked_again, None),
        soak_verdict.Count(f"requests sent again{list_counts(load.retries)}", load.retries.total(), None),
        soak_verdict.Count(f"kills{list_counts(load.n_kills)}", load.n_kills.total(), None),
    ]


def list_counts(counts):
    return f" ({', '.join(f'{name} {n}' for name, n in counts.most_common())})" if counts else ""


def read_answers(client, task):
    status, text, _ = client.ask("GET", f"/api/v1/tasks/{task}/export?format=csv")
    if status != 200:
        sys.exit(f"FAILED: the export was answered {status}: {text[:500]!r}")
    rows = list(csv.DictReader(text.decode().splitlines()))
    return collections.Counter((row["annotator"], row["id"]) for row in rows)


def read_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jurist", help="the binary")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--rate", type=float, default=5, help="traces a second")
    parser.add_argument("--annotators", type=int, default=4, help="people, each with an answer a second at most")
    parser.add_argument("--kill-every", type=float, help="seconds [default: a thirtieth of the run, at least 20]")
    parser.add_argument("--folder", default="target/soak", help="where the database and samples.csv go; emptied")
    parser.add_argument("--docs", action="store_true", help="put the report and the chart into docs/soak.md and docs/soak.svg")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--role", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.kill_every = options.kill_every or max(20, options.minutes * 2)
    return options


def choose_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def empty_folder(path):
    """A folder of an earlier run, or a new one; never one with other things in it."""
    folder = pathlib.Path(path).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    known = {"soak.db", "soak.db-wal", "soak.db-shm", "samples.csv", "soak.svg", "report.md", ".jurist", "config.yaml",
             "server.log", "worker.log", "killed-worker.log"}
    others = sorted(entry.name for entry in folder.rglob("*") if entry.name not in known)
    if others:
        sys.exit(f"FAILED: {folder} has files that no soak made, such as {others[0]}; give another --folder")
    for entry in folder.rglob("*"):
        if entry.is_file():
            entry.unlink()
    with contextlib.suppress(OSError):
        (folder / ".jurist").rmdir()
    return folder


def write_docs(report, chart):
    docs = pathlib.Path(__file__).resolve().parent.parent / "docs"
    (docs / "soak.svg").write_text(chart.read_text())
    before, heading, _ = (docs / "soak.md").read_text().partition(LAST_RUN)
    today = time.strftime("%Y-%m-%d", time.gmtime())
    (docs / "soak.md").write_text(f"{before}{heading}\n{today}: {report}\n![Memory, file handles, latencies, jobs and database over the run](soak.svg)\n")


def main():
    options = read_options()
    if options.role == "judge":
        return serve_judge(options.seed)
    # Being told to stop ends the children as well.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    options.jurist, options.port = str(pathlib.Path(options.jurist).resolve()), choose_port()
    if not os.access(options.jurist, os.X_OK):
        sys.exit(f"FAILED: there is no program {options.jurist}; `make soak` builds it")
    folder = empty_folder(options.folder)
    counts, faults = run_soak(options, folder)
    samples = soak_verdict.read_samples(folder / "samples.csv")
    trends = soak_verdict.measure_trends(samples, STEADY)
    report = soak_verdict.write_report(options, counts, trends)
    (folder / "report.md").write_text(report)
    (folder / "soak.svg").write_text(soak_chart.draw_chart(samples))
    if options.docs:
        write_docs(report, folder / "soak.svg")
    print(report)
    print(f"{folder} has samples.csv, report.md and soak.svg")
    faults += soak_verdict.find_faults(counts, trends, options.minutes)
    for fault in faults:
        print(f"FAILED: {fault}", file=sys.stderr)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
