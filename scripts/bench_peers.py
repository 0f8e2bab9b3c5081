"""Deterministic checks of Python packages, timed on the very inputs Jurist was timed on.

usage: bench_peers.py INPUTS.jsonl, where a line is
{"name": "contains", "params": {"value": "x"}, "output": "…", "reference": null, "jurist_per_second": 3.5e6}
"""
import asyncio, copy, gc, importlib.metadata, inspect, json, os, platform, re, statistics, sys, time, warnings

# Before any of their imports: nothing is sent or written, and a model that is never called needs no real key.
os.environ |= {
    "OPIK_TRACK_DISABLE": "true", "OPIK_ANALYTICS_ENABLE": "false", "OPIK_SENTRY_ENABLE": "false",
    "DEEPEVAL_TELEMETRY_OPT_OUT": "1", "DEEPEVAL_DISABLE_DOTENV": "1",
    "LANGSMITH_TRACING": "false", "RAGAS_DO_NOT_TRACK": "true", "OPENAI_API_KEY": "none",
}
warnings.simplefilter("ignore")
SECONDS = 0.5  # the least a measurement takes

# A package is a function that imports it and gives, for each check it has, how to set it up for an output,
# a reference and a value (needle, pattern or schema). Setting up is not timed, and neither are the objects
# a package wants in place of JSON: what is timed is the check alone, which favours the package.

def plain_python():
    return {
        "contains": lambda o, r, v: lambda: v in o,
        "exact_match": lambda o, r, v: lambda: o == r,
        "regex": lambda o, r, v: lambda search=re.compile(v).search: search(o) is not None,
        "trajectory_strict": lambda o, r, v: lambda: texts(o) == texts(r) or calls(o) == calls(r),
        "trajectory_unordered": lambda o, r, v: lambda: sorted(texts(o)) == sorted(texts(r)) or paired(calls(o), calls(r)),
    }

def texts(messages):
    return [(it["function"]["name"], it["function"]["arguments"]) for message in messages for it in message["tool_calls"]]

def calls(messages):
    return [(name, json.loads(arguments)) for name, arguments in texts(messages)]

def paired(ours, theirs):
    return len(ours) == len(theirs) and all(call in theirs and not theirs.remove(call) for call in ours)

def rapidfuzz():
    from rapidfuzz.distance.Levenshtein import normalized_similarity
    return {"edit_distance": lambda o, r, v: lambda: normalized_similarity(o, r)}

def jsonschema_rs():
    from jsonschema_rs import validator_for
    return {"json_schema": lambda o, r, v: lambda valid=validator_for(v).is_valid: valid(json.loads(o))}

def jsonschema():
    from jsonschema import Draft202012Validator
    return {"json_schema": lambda o, r, v: lambda valid=Draft202012Validator(v).is_valid: valid(json.loads(o))}

def agentevals():
    from agentevals.trajectory.match import create_trajectory_match_evaluator
    return trajectories(create_trajectory_match_evaluator)

def trajectories(create):
    def mode(name):
        return lambda o, r, v: lambda it=create(trajectory_match_mode=name): it(outputs=o, reference_outputs=r)["score"]
    return {"trajectory_strict": mode("strict"), "trajectory_unordered": mode("unordered")}

def autoevals():
    from autoevals import ExactMatch, Levenshtein, ValidJSON
    return {
        "exact_match": lambda o, r, v: lambda it=ExactMatch(): it.eval(o, r).score,
        "edit_distance": lambda o, r, v: lambda it=Levenshtein(): it.eval(o, r).score,
        # A schema given to the constructor is not looked at; one in place of the reference is.
        "json_schema": lambda o, r, v: lambda it=ValidJSON(): it.eval(o, v).score,
    }

def deepeval():
    from deepeval.metrics import ExactMatchMetric, PatternMatchMetric, ToolCorrectnessMetric
    from deepeval.test_case import LLMTestCase, ToolCall, ToolCallParams
    def measure(metric, **fields):
        case = LLMTestCase(input="", **fields)
        return lambda: metric.measure(case, _show_indicator=False)
    def tools(messages):
        return [ToolCall(name=name, input_parameters=arguments) for name, arguments in calls(messages)]
    def correctness(**order):
        order |= {"evaluation_params": [ToolCallParams.INPUT_PARAMETERS], "strict_mode": True, "async_mode": False}
        return lambda o, r, v: measure(ToolCorrectnessMetric(**order), tools_called=tools(o), expected_tools=tools(r))
    return {
        "exact_match": lambda o, r, v: measure(ExactMatchMetric(), actual_output=o, expected_output=r),
        # It wants the whole text to match.
        "regex": lambda o, r, v: measure(PatternMatchMetric(f"(?s:.*)(?:{v})(?s:.*)"), actual_output=o),
        "trajectory_strict": correctness(should_exact_match=True),
        "trajectory_unordered": correctness(),
    }

def inspect_ai():
    from inspect_ai.model import ModelName, ModelOutput
    from inspect_ai.scorer import Target, includes, match, pattern
    from inspect_ai.solver import TaskState
    def score(scorer, text, target):
        output, target = ModelOutput.from_content("none/none", text), Target([target])
        state = TaskState(ModelName("none/none"), sample_id=1, epoch=1, input="", messages=[], output=output)
        async def run():
            return (await scorer(state, target)).value == "C"
        return run
    return {
        "contains": lambda o, r, v: score(includes(ignore_case=False), o, v),
        "exact_match": lambda o, r, v: score(match("exact", ignore_case=False), o, r),
        # What is found has to be the target, so the target is what will be found.
        "regex": lambda o, r, v: score(pattern(v, ignore_case=False), o, (re.search(v, o) or [""])[0]),
    }

def openevals():
    from openevals.exact import exact_match
    from openevals.string.levenshtein import levenshtein_distance
    from openevals.trajectory.match import create_trajectory_match_evaluator
    return trajectories(create_trajectory_match_evaluator) | {
        "exact_match": lambda o, r, v: lambda: exact_match(outputs=o, reference_outputs=r)["score"],
        "edit_distance": lambda o, r, v: lambda: levenshtein_distance(outputs=o, reference_outputs=r)["score"],
    }

def opik():
    from opik.evaluation.metrics import Contains, Equals, LevenshteinRatio, RegexMatch
    same = {"case_sensitive": True, "track": False}
    return {
        "contains": lambda o, r, v: lambda it=Contains(**same): it.score(o, v).value,
        "exact_match": lambda o, r, v: lambda it=Equals(**same): it.score(o, r).value,
        "regex": lambda o, r, v: lambda it=RegexMatch(v, track=False): it.score(o).value,
        "edit_distance": lambda o, r, v: lambda it=LevenshteinRatio(**same): it.score(o, r).value,
    }

def pydantic_evals():
    from pydantic_evals.evaluators import Contains, EqualsExpected, EvaluatorContext
    def context(o, r):
        rest = dict(name=None, inputs=None, metadata=None, duration=0.0, attributes={}, metrics={}, _span_tree=None)
        return EvaluatorContext(output=o, expected_output=r, **rest)
    return {
        "contains": lambda o, r, v: lambda it=Contains(v), on=context(o, r): it.evaluate(on).value,
        "exact_match": lambda o, r, v: lambda it=EqualsExpected(), on=context(o, r): it.evaluate(on),
    }

def ragas():
    from ragas.messages import AIMessage, ToolCall
    from ragas.metrics.collections import ExactMatch, NonLLMStringSimilarity, StringPresence, ToolCallAccuracy
    def score(metric, **fields):
        async def run():
            return (await metric.ascore(**fields)).value
        return run
    def tools(messages):
        return [ToolCall(name=name, args=arguments) for name, arguments in calls(messages)]
    def accuracy(o, r, in_order):
        said = [AIMessage(content="", tool_calls=[call]) for call in tools(o)]
        return score(ToolCallAccuracy(strict_order=in_order), user_input=said, reference_tool_calls=tools(r))
    return {
        "contains": lambda o, r, v: score(StringPresence(), response=o, reference=v),
        "exact_match": lambda o, r, v: score(ExactMatch(), response=o, reference=r),
        "edit_distance": lambda o, r, v: score(NonLLMStringSimilarity(), response=o, reference=r),
        "trajectory_strict": lambda o, r, v: accuracy(o, r, True),
        "trajectory_unordered": lambda o, r, v: accuracy(o, r, False),
    }

BARE = [plain_python, rapidfuzz, jsonschema_rs, jsonschema]  # what good Python would use in place of a grader
PEERS = [agentevals, autoevals, deepeval, inspect_ai, openevals, opik, pydantic_evals, ragas]
APART = {  # where a package answers another question than the check does
    "opik edit_distance": "insertions and deletions only, which is less work",
    "deepeval trajectory_unordered": "does not see calls beyond the expected ones",
    "ragas trajectory_strict": "compares arguments as texts, does not see those beyond the expected ones",
    "ragas trajectory_unordered": "as for trajectory_strict",
}
not_measured = {
    "promptfoo": "not a Python package",
    "deepeval json_schema": "takes a pydantic class, not a JSON Schema",
    "pydantic-evals trajectory_*": "reads OpenTelemetry spans, compares names only",
}

def other(name, o, r, v, passes):
    """The same output with the other answer: who is right about both has looked."""
    if name in ("contains", "regex"):
        return o, r, "\0" if passes else o[100:110]
    if name == "json_schema":
        return o, r, {"type": "null"} if passes else {}
    if name.startswith("trajectory") and passes:
        r = copy.deepcopy(r)
        r[-1]["tool_calls"][0]["function"]["arguments"] = '{"no": "such"}'
        return o, r, v
    return o, "no" if passes else o, v

async def answer(check):
    result = check()
    return float(await result if inspect.isawaitable(result) else result)

async def cpu_seconds(check, n):
    start = time.process_time()
    if inspect.iscoroutinefunction(check):
        for _ in range(n): await check()
    else:
        for _ in range(n): check()
    return time.process_time() - start

async def per_second(check):
    n = 1
    while (took := await cpu_seconds(check, n)) < SECONDS / 5:
        n *= 4
    n = max(1, round(n * SECONDS * 1.1 / took))
    return n / statistics.median([await cpu_seconds(check, n) for _ in range(3)])

async def measure(packages, name, case):
    """Of the peers and of the bare libraries that have this check: items per second and label, fastest first."""
    right = next(packages[it][name] for it in BARE if name in packages[it])
    cases = [case, other(name, *case, passes=await answer(right(*case)) == 1)]
    found = {False: [], True: []}
    for package in (it for it in packages if name in packages[it]):
        label, check = package.__name__.replace("_", "-"), packages[package][name]
        apart = f"{label} {name}" in APART
        try:
            for it in cases:
                said, expected = await answer(check(*it)), await answer(right(*it))
                agrees = (said == 1) == (expected == 1) if apart else abs(said - expected) < 1e-9
                assert agrees, f"says {said} where {expected} is right"
            found[package in BARE].append((await per_second(check(*case)), label + "*" * apart))
        except Exception as error:
            not_measured[f"{label} {name}"] = str(error)
    return [sorted(it, reverse=True) for it in found.values()]

def short(number):
    unit, letter = (1e6, " M") if number >= 1e6 else (1e3, " k") if number >= 1e3 else (1, "  ")
    return f"{number / unit:.1f}{letter}"

async def main():
    packages = {}
    for package in BARE + PEERS:
        try:
            packages[package] = package()
        except Exception as error:
            not_measured[package.__name__] = f"{type(error).__name__}: {error}"
    gc.freeze()  # so that what one package has loaded does not slow the others
    rows = [("check", "jurist", "best peer", "", "jurist is", "best plain", "", "jurist is", "others")]
    for line in map(json.loads, open(sys.argv[1], encoding="utf-8")):
        name, params, jurist = line["name"], line["params"], line["jurist_per_second"]
        value = next((params[it] for it in ("value", "pattern", "schema") if it in params), None)
        found = await measure(packages, name, (line["output"], line["reference"], value))
        best = []
        for kind in found:
            best += [kind[0][1], short(kind[0][0]), f"{jurist / kind[0][0]:.3g} ×"] if kind else "–––"
        others = ", ".join(f"{label} {short(speed).strip()}" for kind in found for speed, label in kind[1:])
        rows.append((name, short(jurist), *best, others))
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        cells = zip("<><>><>><", row, widths)
        print("  ".join(f"{it:{side}{width}}" for side, it, width in cells).rstrip())
    print("\nItems per second of CPU time on one thread, medians of three, taken in one run on this machine;")
    print("objects that a package takes in place of JSON are made beforehand.")
    for what, why in APART.items():
        print(f"* {what}: another measure ({why})")
    for what, why in not_measured.items():
        print(f"{what}: not measured ({why.splitlines()[0]})")
    names = [it.__name__.replace("_", "-") for it in packages if it is not plain_python]
    print(f"Python {platform.python_version()},", ", ".join(f"{it} {importlib.metadata.version(it)}" for it in names))

asyncio.run(main())
