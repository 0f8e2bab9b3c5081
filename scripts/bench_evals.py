"""One suite through Jurist and its peers: what each adds to a slow model, and what it takes in memory.

usage: bench_evals.py URL CASES WIDTH PEERS JURIST    measures all that are installed in the folder PEERS
       bench_evals.py deepeval|inspect URL CASES WIDTH [shared]    is what it runs with their Python
"""
import json, os, pathlib, shutil, statistics, subprocess, sys, tempfile, threading, time

LATENCY = 0.2  # seconds that the model server at URL takes over an answer
CRITERIA = {"right": "The answer is right.", "complete": "The answer is complete.", "polite": "The answer is polite."}

def cases(n):
    fox = "The quick brown fox jumps over the lazy dog. " * 20
    return [(f"Question {it}?", f"Answer {it}: it is because it is so. {fox}") for it in range(n)]

# The server answers in the shape that is asked of it: each peer asks for what it can read.

def shape(**properties):
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}

def response_format(**properties):
    return {"type": "json_schema", "json_schema": {"name": "grade", "strict": True, "schema": shape(**properties)}}

# These two run in a process of their own, and give how many cases passed and how many calls went out.

def count_calls():
    """Counts requests, repeats included: the openai package sends them all through this class."""
    import httpx2
    calls, send = [], httpx2.AsyncClient.send
    def counted(*it, **named):
        calls.append(1)
        return send(*it, **named)
    httpx2.AsyncClient.send = counted
    return calls

def deepeval(url, n, width, shared=False):
    calls = count_calls()
    import openai
    from deepeval import evaluate
    from deepeval.evaluate import AsyncConfig, CacheConfig, DisplayConfig
    from deepeval.metrics import GEval
    from deepeval.models import LocalModel
    from deepeval.test_case import LLMTestCase, SingleTurnParams
    reply = response_format(reason={"type": "string"}, score={"type": "number", "maximum": 10})
    judge = LocalModel("judge", "none", f"{url}/v1", generation_kwargs={"response_format": reply})
    if shared:  # As shipped it makes a client, certificates and all, for every call.
        judge.kwargs["http_client"] = openai.DefaultAsyncHttpxClient()
    same = {"evaluation_params": [SingleTurnParams.INPUT, SingleTurnParams.ACTUAL_OUTPUT], "model": judge}
    metrics = [GEval(name=name, evaluation_steps=[text], **same) for name, text in CRITERIA.items()]
    result = evaluate(
        [LLMTestCase(input=question, actual_output=answer) for question, answer in cases(n)], metrics,
        # It counts cases, and the criteria of a case run at the same time.
        async_config=AsyncConfig(max_concurrent=-(-width // len(metrics))),
        display_config=DisplayConfig(show_indicator=False, print_results=False, inspect_after_run=False),
        cache_config=CacheConfig(write_cache=False, use_cache=False))
    return sum(it.success and len(it.metrics_data) == len(metrics) for it in result.test_results), len(calls)

def inspect(url, n, width):
    calls = count_calls()
    from inspect_ai import Task, eval
    from inspect_ai.dataset import Sample
    from inspect_ai.model import GenerateConfig, ModelOutput, ResponseSchema, get_model
    from inspect_ai.scorer import model_graded_qa
    from inspect_ai.solver import solver
    from inspect_ai.util import JSONSchema
    @solver
    def given():
        async def solve(state, generate):
            state.output = ModelOutput.from_content("mockllm/model", state.metadata["answer"])
            return state
        return solve
    grade = JSONSchema(**shape(reason={"type": "string"}, grade={"type": "string", "enum": ["C", "I"]}))
    reply = ResponseSchema(name="grade", json_schema=grade, strict=True)
    config = GenerateConfig(max_connections=width, response_schema=reply)
    judge = get_model("openai-api/bench/judge", base_url=f"{url}/v1", api_key="none", config=config)
    def grader(text):
        instructions = f"Grade C if this holds, else I: {text}"
        return model_graded_qa(instructions=instructions, grade_pattern='"grade":"([CI])"', model=judge)
    samples = [Sample(input=question, target="", metadata={"answer": answer}) for question, answer in cases(n)]
    task = Task(dataset=samples, solver=given(), scorer=[grader(text) for text in CRITERIA.values()])
    # The criteria of a case run one after another, so there are as many cases at once as calls.
    [log] = eval(task, model="mockllm/model", max_samples=width, display="none", log_dir="logs")
    assert log.status == "success", log.error
    return sum([it.value for it in sample.scores.values()] == ["C"] * 3 for sample in log.samples), len(calls)

# The rest measures, with the standard library only. A tool writes its suite and gives the command that runs it;
# what it has said afterwards is again how many cases passed and how many calls that took.

def suite_of_jurist(folder, url, n, width, program):
    rows = ({"id": at, "input": question, "output": answer} for at, (question, answer) in enumerate(cases(n)))
    (folder / "records.jsonl").write_text("".join(json.dumps(it) + "\n" for it in rows))
    suite = {
        "name": "bench",
        "rubrics": {"bench": {"criteria": [{"name": name, "description": text} for name, text in CRITERIA.items()]}},
        "evals": [{"name": "row", "data": "records.jsonl", "prompt": "{{ row.input }}", "response": "{{ row.output }}",
                   "rubric": {"ref": "bench"}}],
    }
    (folder / "suite.yaml").write_text(json.dumps(suite))
    return [*program, "eval", "suite.yaml", "--judge", "vllm/judge", "--base-url", f"{url}/v1", "--concurrency", width,
            "--no-cache", "--reporter", "ndjson"]

def said_by_jurist(folder, out):
    return out.count('"verdict":{"status":"pass"'), out.count('"grader":{"kind":"judge"')

def suite_of_promptfoo(folder, url, n, width, program):
    highest = {"score": {"type": "number", "maximum": 1}, "pass": {"type": "boolean"}}
    reply = response_format(reason={"type": "string"}, **highest)
    judge = {"id": "openai:chat:judge", "config": {"apiBaseUrl": f"{url}/v1", "apiKey": "none", "response_format": reply}}
    asserts = [{"type": "llm-rubric", "value": text} for text in CRITERIA.values()]
    suite = {
        "providers": ["echo"], "prompts": ["{{answer}}"],
        "defaultTest": {"options": {"provider": judge}, "assert": asserts},
        "tests": [{"vars": {"question": question, "answer": answer}} for question, answer in cases(n)],
    }
    (folder / "suite.json").write_text(json.dumps(suite))
    # Results into a file in place of its database. Its width is one of calls.
    return [*program, "eval", "-c", "suite.json", "-j", width, "--no-cache", "--no-table", "--no-progress-bar",
            "--no-share", "--no-write", "-o", "out.json"]

def said_by_promptfoo(folder, out):
    stats = json.loads((folder / "out.json").read_text())["results"]["stats"]
    return stats["successes"], stats["tokenUsage"]["assertions"]["numRequests"]

def said_by_python(folder, out):
    return json.loads(out.splitlines()[-1])

def family(pid):
    """A process and all that it started."""
    yield pid
    for children in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        for child in children.read_text().split():
            yield from family(int(child))

def memory(pid):
    """Bytes that it and all that it started have now; 0 where there is no /proc to say so, or it has just ended."""
    try:
        pages = sum(int(pathlib.Path(f"/proc/{it}/statm").read_text().split()[1]) for it in family(pid))
        return pages * os.sysconf("SC_PAGESIZE")
    except OSError:
        return 0

def watch(command, folder, env):
    """Runs it; gives what it printed, seconds, seconds of CPU and the most bytes it had."""
    with open(folder / "stdout", "w+") as out, open(folder / "stderr", "w+") as err:
        started = time.time()
        streams = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": err}
        process = subprocess.Popen(list(map(str, command)), cwd=folder, env=env, **streams)
        seen, ended = [], threading.Event()
        def look():
            while not ended.wait(0.1):
                seen.append(memory(process.pid))
        looking = threading.Thread(target=look)
        looking.start()
        _, status, use = os.wait4(process.pid, 0)
        wall = time.time() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        ended.set()
        looking.join()
        said, complaint = (it.seek(0) or it.read().strip() for it in (out, err))
    assert process.returncode == 0, f"exit status {process.returncode}: {(complaint or said)[-500:]}"
    own = use.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return said, wall, use.ru_utime + use.ru_stime, max([own, *seen])

def main(url, n, width, peers, jurist):
    n, width, peers = int(n), int(width), pathlib.Path(peers).resolve()
    bin, modules = peers / "venv/bin", peers / "node_modules/.bin"
    jurist = [pathlib.Path(jurist).resolve()]
    promptfoo = [modules / "node", modules / "promptfoo"]
    def python(*arguments):
        return [bin / "python", pathlib.Path(__file__).resolve(), arguments[0], url, n, width, *arguments[1:]]
    tools = {  # the program, a command made in a folder, what it said
        "jurist": (jurist, lambda it: suite_of_jurist(it, url, n, width, jurist), said_by_jurist),
        "promptfoo": (promptfoo, lambda it: suite_of_promptfoo(it, url, n, width, promptfoo), said_by_promptfoo),
        "deepeval, one client": ([bin / "deepeval"], lambda it: python("deepeval", "shared"), said_by_python),
        "deepeval as shipped": ([bin / "deepeval"], lambda it: python("deepeval"), said_by_python),
        "inspect": ([bin / "inspect"], lambda it: python("inspect"), said_by_python),
    }
    ideal = len(CRITERIA) * n * LATENCY / width
    load = f"{n:,} cases × {len(CRITERIA)} criteria, {LATENCY * 1000:.0f} ms a call, {width} calls at once"
    print(f"{load}: ideal is {ideal:.1f} s")
    print(f"{'':<22}{'calls':>7}{'wall s':>9}{'over ideal':>12}{'CPU s':>8}{'peak MB':>9}{'--version s':>13}", flush=True)
    for name, (program, command, said) in tools.items():
        if not program[-1].exists():
            print(f"{name:<22}skipped: not installed", flush=True)
            continue
        folder = pathlib.Path(tempfile.mkdtemp())
        env = {  # nothing is sent to anybody, and nothing is read or left outside the folder
            "PATH": os.environ["PATH"], "HOME": str(folder), "JURIST_CACHE": str(folder / "cache"),
            "PROMPTFOO_CONFIG_DIR": str(folder), "PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1",
            "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1",
            "DEEPEVAL_TELEMETRY_OPT_OUT": "1", "DEEPEVAL_DISABLE_DOTENV": "1", "DEEPEVAL_NO_INSPECT_PROMPT": "1",
        }
        try:
            start = statistics.median(watch([*program, "--version"], folder, env)[1] for _ in range(3))
            out, wall, cpu, peak = watch(command(folder), folder, env)
            passed, calls = said(folder, out)
            assert passed == n, f"{passed} of {n} cases passed"
            assert calls >= n * len(CRITERIA), f"only {calls} calls"
            over = f"{100 * (wall / ideal - 1):.1f} %"
            print(f"{name:<22}{calls:>7}{wall:>9.2f}{over:>12}{cpu:>8.1f}{peak / 2**20:>9.0f}{start:>13.3f}", flush=True)
        except Exception as error:
            if name == "jurist":
                raise
            print(f"{name:<22}not measured: {error}", flush=True)
        finally:
            shutil.rmtree(folder)

if sys.argv[1] in ("deepeval", "inspect"):
    tool, url, n, width, *shared = sys.argv[1:]
    print(json.dumps(globals()[tool](url, int(n), int(width), *shared)))
else:
    main(*sys.argv[1:])
