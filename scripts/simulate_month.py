"""Simulates a month of traffic against `jurist serve`, and compares the monitor's figures with the truth.

Each trace comes from two processes of OpenTelemetry's SDK: the front makes the root span with the question, the back
makes the model call with the answer. Both have a BatchSpanProcessor with default settings, offset by half an interval.
scripts/simulate-month installs what it takes.
"""

import argparse
import contextlib
import http.server
import json
import math
import os
import random
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

ROLES = ["front", "back"]
AGENTS = {"support": 4.3, "billing": 3.6, "returns": 2.9}  # with their mean quality on 1 to 5
CRITERIA = ["department", "tone"]
JUDGES = {"lenient": "scripted/lenient", "strict": "scripted/strict"}
PANEL = "scripted/lenient + scripted/strict"
MONTH = 30 * 86_400
# Under 512 spans in 5 seconds: a full batch would be sent early, and both halves of a trace at the same time.
TRACES_PER_SECOND = 80
OFFSET = 2.5  # seconds: half of the interval of a batch processor
EXPENSIVE_TOKENS, CHEAP_TOKENS = 4_000, 200
PASS_MARK = 0.75  # 4 on a scale of 1 to 5

MONITOR = """
name: month
agents: [{agents}]
rubric: |
  Score how this ticket was handled:
  1. The right department (1-5)
  2. The tone of the customer's language (1-5)
  Output JSON: {{"department": int, "tone": int, "reasoning": string}}
judges: [{judges}]
sample_rate: {sample_rate}
expensive: {{above: 0.005, sample_rate: {expensive_rate}}}
pass_threshold: 4.0
"""

CONFIG = """
vendors:
  scripted: {{base_url: "{judge_url}/v1", key: SCRIPTED_KEY}}
prices:
  scripted/lenient: {{input: 0.1, output: 0.4}}
  scripted/strict: {{input: 0.1, output: 0.4}}
"""


@dataclass
class Ticket:
    """One trace of the month, and what its judges have to say about it."""

    number: int
    trace_id: int
    agent: str
    begins: float  # seconds since the month began
    has_content: bool
    is_failed: bool
    is_expensive: bool
    worth: dict[str, int]
    is_strict_failing: bool  # whether the strict judge fails on it

    @property
    def name(self):
        return f"T{self.number:05}"

    @property
    def hex_id(self):
        return f"{self.trace_id:032x}"

    def points(self, judge, criterion):
        """What a judge answers on 1 to 5; the strict one gives a point less."""
        points = self.worth[criterion]
        return max(1, points - 1) if judge == "strict" else points

    def score(self, judges, criterion):
        """The mean of judges on 0 to 1, for a criterion or, with None, for all of them."""
        criteria = [criterion] if criterion else CRITERIA
        return statistics.fmean((self.points(judge, name) - 1) / 4 for judge in judges for name in criteria)

    def passes(self, judges, criterion):
        return self.score(judges, criterion) >= PASS_MARK - 1e-9


def plan_month(seed, n_traces):
    """Every trace of the month, in the order of time. All three processes make the same plan."""
    draw = random.Random(f"month {seed}")
    # Drawn apart from everything else, so that failing has nothing to do with quality.
    failing = set(random.Random(f"failing {seed}").sample(range(n_traces), n_traces // 3))
    tickets = []
    for number, begins in enumerate(sorted(draw.uniform(0, MONTH) for _ in range(n_traces))):
        agent = draw.choices(list(AGENTS), [5, 3, 2])[0]
        is_failed, is_expensive = draw.random() < 0.05, draw.random() < 0.1
        quality = AGENTS[agent] - 1.5 * is_failed + 0.7 * is_expensive
        if agent == "billing":
            quality -= 0.8 * begins / MONTH  # it gets worse from day to day
        worth = {
            "department": rate_on_scale(draw.gauss(quality, 1.0)),
            "tone": rate_on_scale(draw.gauss(quality - 0.4, 0.8)),
        }
        has_content = draw.random() >= 0.1
        trace_id = draw.getrandbits(128)
        tickets.append(Ticket(number, trace_id, agent, begins, has_content, is_failed and has_content,
                              is_expensive, worth, number in failing))
    return tickets


def rate_on_scale(quality):
    return min(5, max(1, round(quality)))


# The two processes that send spans.


def send_spans(options):
    """What the front or the back does, until its half of the month is sent."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.sdk.trace.id_generator import IdGenerator

    sent_at = {}

    class TimedExporter(OTLPSpanExporter):
        """Notes when each trace was sent."""

        def export(self, spans):
            result = super().export(spans)
            sent_at.update({f"{span.context.trace_id:032x}": time.time() for span in spans})
            return result

    class PlannedIds(IdGenerator):
        """Trace ids of the plan, since they decide what is sampled."""

        def __init__(self):
            self.trace_id = 0
            self.draw = random.Random(f"{options.role} {options.first_seed}")

        def generate_trace_id(self):
            return self.trace_id

        def generate_span_id(self):
            return self.draw.getrandbits(64) or 1

    wait_for_begin(options)
    processor = BatchSpanProcessor(TimedExporter(endpoint=f"{options.server}/v1/traces"))
    ids = PlannedIds()

    def make_tracer(service):
        provider = TracerProvider(resource=Resource.create({"service.name": service}), id_generator=ids,
                                  shutdown_on_exit=False)
        provider.add_span_processor(processor)
        return provider.get_tracer("month")

    tickets = plan_month(options.first_seed, options.traces)
    if options.role == "front":
        send_questions(tickets, options, {agent: make_tracer(agent) for agent in AGENTS}, ids)
    else:
        send_answers(tickets, options, make_tracer("models"))
    time.sleep(6)  # So that the last batch goes by schedule as well, and not because the process ends.
    processor.shutdown()
    Path(options.folder, f"{options.role}.json").write_text(json.dumps(sent_at))


def wait_for_begin(options):
    """Waits until both processes have started, and in the back half an interval more."""
    folder = Path(options.folder)
    (folder / f"{options.role}.ready").touch()
    while not all((folder / f"{role}.ready").exists() for role in ROLES):
        time.sleep(0.01)
    time.sleep(OFFSET if options.role == "back" else 0)


def send_questions(tickets, options, tracers, ids):
    """Makes root spans, and hands each one's context to the back, as an HTTP request would."""
    from opentelemetry import trace
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    begun = time.monotonic()
    for at, ticket in enumerate(tickets):
        time.sleep(max(0, begun + at / TRACES_PER_SECOND - time.monotonic()))
        ids.trace_id = ticket.trace_id
        begins = options.month_begin + ticket.begins
        if ticket.has_content:
            # No `gen_ai.operation.name`: messages of an `invoke_agent` span are not read, since they repeat those of
            # the calls below it, and here the question stands nowhere else.
            name = "POST /tickets"
            attributes = {
                "gen_ai.agent.name": ticket.agent,
                "gen_ai.input.messages": write_message("user", f"Question of ticket {ticket.name}: where is it?"),
            }
        else:
            name, attributes = "GET /health", {"http.request.method": "GET", "url.path": "/health"}
        span = tracers[ticket.agent].start_span(name, attributes=attributes, start_time=int(begins * 1e9))
        if ticket.is_failed:
            span.set_status(trace.Status(trace.StatusCode.ERROR, "the ticket could not be closed"))
        carrier = {}
        TraceContextTextMapPropagator().inject(carrier, trace.set_span_in_context(span))
        span.end(int((begins + 4) * 1e9))
        print(carrier["traceparent"], ticket.number, flush=True)
    sys.stdout.close()  # So that the back ends as well.


def send_answers(tickets, options, tracer):
    """Makes the model call of each trace that the front hands over."""
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    for line in sys.stdin:
        traceparent, number = line.split()
        ticket = tickets[int(number)]
        parent = TraceContextTextMapPropagator().extract({"traceparent": traceparent})
        begins = options.month_begin + ticket.begins + 1
        if ticket.has_content:
            worth = ", ".join(f"{name} worth {points}" for name, points in ticket.worth.items())
            name = "chat gpt-4o"
            attributes = {
                "gen_ai.operation.name": "chat",
                "gen_ai.request.model": "gpt-4o",
                "gen_ai.usage.input_tokens": 100,
                "gen_ai.usage.output_tokens": EXPENSIVE_TOKENS if ticket.is_expensive else CHEAP_TOKENS,
                "gen_ai.output.messages": write_message("assistant", f"Answer to ticket {ticket.name}: {worth}."),
            }
        else:
            name, attributes = "GET /ready", {"http.request.method": "GET", "url.path": "/ready"}
        span = tracer.start_span(name, parent, attributes=attributes, start_time=int(begins * 1e9))
        span.end(int((begins + 2) * 1e9))


def write_message(role, text):
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])


# The judge.


class ScriptedJudge(http.server.ThreadingHTTPServer):
    """Speaks the chat completions protocol of OpenAI, and reads its score from the answer that it is shown."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, tickets, failure):
        super().__init__(("127.0.0.1", 0), JudgeHandler)
        self.failure = failure
        self.tickets = {ticket.name: ticket for ticket in tickets}
        self.n_calls = {judge: 0 for judge in JUDGES}
        self.half = set()  # names of tickets of which a judge saw only the question, or only the answer
        self.unreadable = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"


class JudgeHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def setup(self):
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def log_message(self, *_):
        pass

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        prompt = "\n".join(read_text(message["content"]) for message in request["messages"])
        judge = request["model"].rsplit("/")[-1]
        asked = re.search(r"Question of ticket (T\d+)", prompt)
        answered = re.search(r"Answer to ticket (T\d+): department worth (\d), tone worth (\d)", prompt)
        self.server.n_calls[judge] += 1
        if not asked and not answered:
            self.server.unreadable.append(prompt)
            return self.reply(400, {"error": {"message": "there is no ticket"}})
        ticket = self.server.tickets[(asked or answered)[1]]
        if not asked or not answered:
            self.server.half.add(ticket.name)
        if judge == "strict" and ticket.is_strict_failing:
            if self.server.failure == "status-500":
                return self.reply(500, {"error": {"message": "the server had an error", "type": "server_error"}})
            return self.reply(200, write_completion(request, "I would rather talk about the weather."))
        worth = dict(zip(CRITERIA, map(int, answered.groups()[1:]))) if answered else dict.fromkeys(CRITERIA, 1)
        less = 1 if judge == "strict" else 0
        points = {name: max(1, worth[name] - less) for name in CRITERIA}
        schema = request["response_format"]["json_schema"]["schema"]
        self.reply(200, write_completion(request, json.dumps(fit_schema(schema, points))))

    def reply(self, status, body):
        body = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def read_text(content):
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


def write_completion(request, text):
    message = {"role": "assistant", "content": text, "refusal": None}
    return {"id": "chatcmpl-1", "object": "chat.completion", "model": request["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 400, "completion_tokens": 60, "total_tokens": 460}}


def fit_schema(schema, points, criterion=None):
    """A reply of the shape that was asked for, with these points for each criterion."""
    kind = schema.get("type")
    if "anyOf" in schema:
        return fit_schema(schema["anyOf"][0], points, criterion)
    if kind == "object":
        return {key: criterion if key == "id" and criterion else fit_schema(value, points, criterion)
                for key, value in schema["properties"].items()}
    if kind == "array":
        names = schema["items"].get("properties", {}).get("id", {}).get("enum")
        return [fit_schema(schema["items"], points, name) for name in names or []]
    if "enum" in schema:
        return schema["enum"][0]
    if kind in ("integer", "number"):
        return points[criterion]
    return False if kind == "boolean" else "So the ticket says of itself."


# The month itself.


@dataclass
class Month:
    """The results of one seed."""

    seed: int
    tickets: list[Ticket]
    comparisons: list["Comparison"] = field(default_factory=list)
    counts: list[tuple[str, object, object]] = field(default_factory=list)  # what, counted, and what it must be
    remarks: list[str] = field(default_factory=list)

    @property
    def wrong_counts(self):
        return [what for what, counted, wanted in self.counts if wanted is not None and counted != wanted]


@dataclass
class Comparison:
    """A figure of the monitor beside the truth."""

    series: str
    agent: str
    figure: str
    truth: float
    estimate: float
    low: float
    high: float
    naive: float
    error_rate: float

    @property
    def key(self):
        return self.series, self.agent, self.figure

    @property
    def covers(self):
        return self.low - 1e-9 <= self.truth <= self.high + 1e-9


def simulate_month(options, seed):
    tickets = plan_month(seed, options.traces)
    month = Month(seed, tickets)
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="simulate-month-")))
        judge = ScriptedJudge(tickets, options.failure)
        stack.callback(judge.server_close)
        stack.callback(judge.shutdown)
        server = start_server(stack, options, folder, judge)
        source = MONITOR.format(agents=", ".join(AGENTS), judges=", ".join(JUDGES.values()),
                                sample_rate=options.sample_rate, expensive_rate=min(1, 2 * options.sample_rate))
        ask(f"{server}/api/v1/monitors/month", {"source": source})
        sent = send_month(stack, options, folder, server, seed)
        wait_until_settled(server, len(tickets), folder)
        compare_figures(month, server)
        count_states(month, server, judge)
        apart = [abs(sent["front"][ticket.hex_id] - sent["back"][ticket.hex_id]) for ticket in tickets]
        first = sum(sent["front"][ticket.hex_id] < sent["back"][ticket.hex_id] for ticket in tickets)
        month.remarks.append(f"halves of a trace arrived {min(apart):.1f} to {max(apart):.1f} s apart, median "
                             f"{statistics.median(apart):.1f} s; the root span first in {first / len(tickets):.0%}")
    return month


def start_process(stack, command, **more):
    """A process that ends with the stack."""
    process = subprocess.Popen(command, **more)

    def stop():
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    stack.callback(stop)
    return process


def start_server(stack, options, folder, judge):
    (folder / ".jurist").mkdir()
    (folder / ".jurist/config.yaml").write_text(CONFIG.format(judge_url=judge.url))
    environment = {**os.environ, "SCRIPTED_KEY": "sk-scripted", "JURIST_LOG": "warn"}
    environment.pop("JURIST_STORE", None)
    command = [options.jurist, "serve", "--address", "127.0.0.1:0", "--store", f"{folder}/.jurist/jurist.db",
               "--workers", "16", "--trust-settings"]
    if options.settle is not None:
        command += ["--settle", str(options.settle)]
    log = stack.enter_context(open(folder / "log", "w"))
    process = start_process(stack, command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=log, text=True)
    found = re.search(r"http://[\w.:]+", process.stdout.readline())
    if not found:
        sys.exit(f"FAILED: the server did not start\n{(folder / 'log').read_text()}")
    return found[0]


def send_month(stack, options, folder, server, seed):
    """Runs the front and the back, and returns when each sent which trace."""
    month_begin = time.time() - MONTH - 3600

    def command(role):
        return [sys.executable, __file__, "--role", role, "--server", server, "--folder", str(folder),
                "--month-begin", str(month_begin), "--traces", str(options.traces), "--first-seed", str(seed)]

    front = start_process(stack, command("front"), stdout=subprocess.PIPE)
    back = start_process(stack, command("back"), stdin=front.stdout)
    front.stdout.close()
    for process in [front, back]:
        if process.wait() != 0:
            sys.exit("FAILED: spans could not be sent")
    return {role: json.loads((folder / f"{role}.json").read_text()) for role in ROLES}


def ask(url, body=None):
    method = "GET" if body is None else "PUT"
    content = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, content, {"content-type": "application/json"}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        sys.exit(f"FAILED: {error.code} for {url}: {error.read().decode()}")


def read_states(server):
    found = ask(f"{server}/api/v1/monitors/month/estimates")
    return {state["state"]: state["n"] for state in found["states"]}


def wait_until_settled(server, n_traces, folder):
    """Waits until every trace has had its final state for three seconds."""
    deadline, calm_since = time.monotonic() + 600, None
    while time.monotonic() < deadline:
        states = read_states(server)
        open_states = sum(states.get(state, 0) for state in ["sampled", "pending", "stale"])
        if sum(states.values()) < n_traces or open_states:
            calm_since = None
        elif calm_since is None:
            calm_since = time.monotonic()
        elif time.monotonic() - calm_since > 3:
            return
        time.sleep(0.5)
    sys.exit(f"FAILED: not settled after ten minutes: {states}\n{(folder / 'log').read_text()[-2000:]}")


def compare_figures(month, server):
    """Overall, by criterion, and as share that passes: of the panel also by agent, of its members in all."""
    for agent in [None, *AGENTS]:
        query = f"?agent={agent}" if agent else ""
        found = ask(f"{server}/api/v1/monitors/month/estimates{query}")
        named = {PANEL: ("panel", list(JUDGES))} | {model: (judge, [judge]) for judge, model in JUDGES.items()}
        tickets = [ticket for ticket in month.tickets if ticket.has_content and agent in (None, ticket.agent)]
        for judge in found["judges"]:
            series, members = named[judge["judge"]]
            if agent and series != "panel":
                continue
            for criterion in judge["criteria"]:
                name = criterion.get("criterion")
                score, pass_rate = criterion["score"], criterion["pass_rate"]
                if not score:
                    sys.exit(f"FAILED: {series} is not estimable: {criterion}")
                truth = statistics.fmean(ticket.score(members, name) for ticket in tickets)
                figures = [(name or "overall", truth, score)]
                if name is None:
                    passing = statistics.fmean(ticket.passes(members, name) for ticket in tickets)
                    figures.append(("pass rate", passing, pass_rate))
                for figure, true_value, view in figures:
                    month.comparisons.append(Comparison(series, agent or "all", figure, true_value, view["mean"],
                                                        *view["interval"], view["naive"], view["error_rate"]))
                if agent is None and name is None:
                    month.counts.append((f"population of {series}", round(score["population"]), len(tickets)))


def count_states(month, server, judge):
    """What became of every trace, and whether each score is the one of the whole trace."""
    states = read_states(server)
    by_id = {ticket.hex_id: ticket for ticket in month.tickets}
    decisions = list_pages(f"{server}/api/v1/monitors/month/decisions?limit=200")
    expected = {"failed": lambda it: it.is_failed, "expensive": lambda it: it.is_expensive and not it.is_failed}
    judged = [by_id[it["trace"]] for it in decisions if it["state"] in ("scored", "cached", "judge_error")]
    n_failing = sum(ticket.is_strict_failing for ticket in judged)
    verdicts = sorted(list_pages(f"{server}/api/v1/verdicts?limit=200"), key=lambda it: it["time"])
    # Earlier verdicts on a trace that changed stay as attempts of their own.
    newest = {it["candidate"]: it["score"] for it in verdicts}
    wrong = [trace for trace, score in newest.items() if score is not None and is_wrong(score, by_id[trace])]
    n_content = sum(ticket.has_content for ticket in month.tickets)
    month.counts += [
        ("traces", len(decisions), len(month.tickets)),
        ("nothing_to_judge", states.get("nothing_to_judge", 0), len(month.tickets) - n_content),
        *[(f"stratum {name}", sum(it["stratum"] == name for it in decisions),
           sum(ticket.has_content and holds(ticket) for ticket in month.tickets)) for name, holds in expected.items()],
        *[(f"agent {agent}", sum(it["agent"] == agent for it in decisions),
           sum(ticket.agent == agent for ticket in month.tickets)) for agent in AGENTS],
        ("sampled_out", states.get("sampled_out", 0), None),
        ("scored", states.get("scored", 0) + states.get("cached", 0), len(judged) - n_failing),
        ("judge_error", states.get("judge_error", 0), n_failing),
        ("stale, sampled or pending", sum(states.get(it, 0) for it in ["stale", "sampled", "pending"]), 0),
        ("overloaded or over_budget", states.get("overloaded", 0) + states.get("over_budget", 0), 0),
        ("judged on half of a trace", len(judge.half), 0),
        ("scores that are not those of the whole trace", len(wrong), 0),
        ("empty traces that a judge was asked about", len(judge.unreadable), 0),
    ]
    n_content_failing = sum(ticket.is_strict_failing for ticket in month.tickets if ticket.has_content)
    panel = next(it for it in month.comparisons if it.key == ("panel", "all", "overall"))
    month.remarks += [
        f"error rate of the panel {panel.error_rate:.2%}; a member fails on {n_failing / len(judged):.2%} of the "
        f"traces that were judged, and would on {n_content_failing / n_content:.2%} of all traces with content",
        "calls: " + ", ".join(f"{n} of {name}" for name, n in judge.n_calls.items()),
    ]


def list_pages(url):
    items, after = [], ""
    while True:
        page = ask(url + after)
        items += page["items"]
        if not page.get("next"):
            return items
        after = f"&after={page['next']}"


def is_wrong(score, ticket):
    """Whether the score of the panel is another than the whole trace gets."""
    return abs(score - ticket.score(list(JUDGES), None)) > 1e-9


# What is printed.


def print_month(month):
    print(f"\nseed {month.seed}: {len(month.tickets)} traces of 30 days")
    print_table(["", "counted", "must be"],
                [[what, counted, "" if wanted is None else wanted] for what, counted, wanted in month.counts])
    for remark in month.remarks:
        print(remark)
    print()
    rows = [[it.series, it.agent, it.figure, f"{it.truth:.3f}", f"{it.estimate:.3f}",
             f"[{it.low:.3f}, {it.high:.3f}]", f"{it.naive:.3f}", "yes" if it.covers else "NO"]
            for it in month.comparisons]
    print_table(["series", "agents", "figure", "truth", "estimate", "95 % interval", "plain mean", "covers"], rows)
    sys.stdout.flush()


def print_coverage(months):
    """Over all seeds, how often each interval covers the truth."""
    rows, n_all, n_covering = [], 0, 0
    for key in [it.key for it in months[0].comparisons]:
        own = [it for month in months for it in month.comparisons if it.key == key]
        covering = sum(it.covers for it in own)
        n_all, n_covering = n_all + len(own), n_covering + covering
        rows.append([*key, f"{statistics.fmean(it.truth for it in own):.3f}",
                     f"{statistics.fmean(it.estimate - it.truth for it in own):+.4f}",
                     f"{statistics.fmean(it.high - it.low for it in own) / 2:.3f}",
                     f"{statistics.fmean(it.naive - it.truth for it in own):+.3f}",
                     f"{covering} of {len(own)}"])
    print(f"\n{len(months)} months, seeds {months[0].seed} to {months[-1].seed}")
    head = ["series", "agents", "figure", "truth", "mean error", "half width", "plain mean off by", "covers"]
    print_table(head, rows)
    print(f"all intervals: {n_covering} of {n_all} cover the truth, {n_covering / n_all:.1%}")


def print_table(head, rows):
    rows = [[str(cell) for cell in row] for row in [head, *rows]]
    widths = [max(len(row[at]) for row in rows) for at in range(len(head))]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in rows]
    lines.insert(1, "| " + " | ".join("-" * max(3, width) for width in widths) + " |")
    print("\n".join(lines))


def most_misses(n_intervals):
    """So many of these intervals may miss: more have a chance of 5 % or less if each misses with 5 %."""
    def chance_of_at_least(misses):
        return sum(math.comb(n_intervals, n) * 0.05**n * 0.95 ** (n_intervals - n)
                   for n in range(misses, n_intervals + 1))

    # The chance of one miss of one interval is 5 % but for rounding.
    return max(k for k in range(n_intervals + 1) if k == 0 or chance_of_at_least(k) > 0.05 + 1e-9)


def find_faults(months):
    """Why this is a failure, in words."""
    faults = [f"seed {month.seed}: {', '.join(month.wrong_counts)}" for month in months if month.wrong_counts]
    for figure in ["overall", *CRITERIA]:
        own = [it for month in months for it in month.comparisons if it.key == ("panel", "all", figure)]
        misses = sum(not it.covers for it in own)
        if misses > most_misses(len(own)):
            faults.append(f"{misses} of {len(own)} intervals of a whole month miss the truth: {figure}")
    return faults


def read_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jurist", help="the binary")
    parser.add_argument("--traces", type=int, default=3000)
    parser.add_argument("--seeds", type=int, default=1, help="how many months are simulated, one after the other")
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--sample-rate", type=float, default=0.3)
    parser.add_argument("--settle", type=int, help="as `jurist serve --settle` [default: that of the server]")
    parser.add_argument("--failure", choices=["nonsense", "status-500"], default="nonsense",
                        help="what the strict judge replies where it fails")
    for internal in ["--role", "--server", "--folder"]:
        parser.add_argument(internal, help=argparse.SUPPRESS)
    parser.add_argument("--month-begin", type=float, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.jurist:
        options.jurist = str(Path(options.jurist).resolve())
    return options


def main():
    options = read_options()
    if options.role:
        return send_spans(options)
    # Being told to stop ends the children and removes the folder, as Ctrl-C does.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    months = []
    for seed in range(options.first_seed, options.first_seed + options.seeds):
        begun = time.monotonic()
        months.append(simulate_month(options, seed))
        print_month(months[-1])
        print(f"took {time.monotonic() - begun:.0f} s", flush=True)
    if len(months) > 1:
        print_coverage(months)
    faults = find_faults(months)
    for fault in faults:
        print(f"FAILED: {fault}", file=sys.stderr)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
