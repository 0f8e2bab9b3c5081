"""Grades the same outputs by promptfoo and by Jurist, and runs the same configurations with both; says where they differ.

    python3 scripts/compare_promptfoo.py [--jurist COMMAND] [--promptfoo FOLDER] [--part outputs|configurations]

The first part compares verdict and score of recorded outputs, assertion by assertion. The second part has both tools run
whole configurations of `promptfoo_configurations.py`, and compares output, verdict, score and named scores of each case.
promptfoo is installed once under target/peers-promptfoo; where that is not possible, the comparison is skipped, and says
so. Everything is deterministic and our own: no model is asked. Exit code 1 if a case differs that is not listed below.
"""

import argparse
import http.server
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading

from promptfoo_configurations import ADDRESS, all_configurations

ROOT = pathlib.Path(__file__).resolve().parent.parent
PEERS = ROOT / "target" / "peers-promptfoo"

# Cases in which the two differ, each with the reason.
KNOWN = {
    "code: object that fails with a score": "an answer that fails counts 0 here, so that no score contradicts its verdict",
}

# Configurations in which the two differ, each with the reason.
KNOWN_CONFIGURATIONS = {
    "tests without assertions": "promptfoo passes them; here a person decides, and the case is named",
    "assertions that weigh nothing": "promptfoo passes the test with the score 0; here a person decides",
}

# promptfoo sends nothing, and asks for no newer version.
QUIET = {f"PROMPTFOO_DISABLE_{what}": "1" for what in ("TELEMETRY", "UPDATE", "REMOTE_GENERATION")}

RUNNER = """
import promptfoo from './node_modules/promptfoo/dist/src/index.js';
import { readFileSync, writeFileSync } from 'node:fs';
const [input, output] = process.argv.slice(2);
const results = [];
for (const test of JSON.parse(readFileSync(input, 'utf8'))) {
  try {
    const { pass, score } = await promptfoo.assertions.runAssertions({
      test, provider: { id: () => 'peer', config: { tools: test.tools } },
      providerResponse: { output: test.providerOutput }, latencyMs: test.latency });
    results.push({ pass, score });
  } catch (error) {
    results.push({ error: String(error.message).slice(0, 200) });
  }
}
writeFileSync(output, JSON.stringify(results));
"""


def single(kind, outputs, value=None, **keys):
    """One assertion on several outputs, also turned round."""
    for (name, output), negated in itertools.product(outputs.items(), ("", "not-")):
        assertion = {"type": negated + kind, **keys}
        if value is not None:
            assertion["value"] = value
        yield f"{negated}{kind}: {name}", output, [assertion], {}


def string_cases():
    texts = {"exact": "Paris", "inside": "It is Paris, of course.", "other case": "PARIS", "absent": "Lyon", "blank": " "}
    for kind in ("equals", "contains", "icontains", "starts-with"):
        yield from single(kind, texts, "Paris")
    lists = {"all": "red green blue", "one": "only green", "none": "yellow", "other case": "RED GREEN"}
    for kind in ("contains-any", "contains-all", "icontains-any", "icontains-all"):
        yield from single(kind, lists, ["red", "green"])
    yield from single("equals", {"same object": '{"a": 1, "b": [2]}', "other object": '{"a": 2}'}, {"a": 1, "b": [2]})
    distances = {"same": "kitten", "two": "kittens!", "six": "sitting-room"}
    yield from single("levenshtein", distances, "kitten")
    yield from single("levenshtein", {"one over": "kittens"}, "kitten", threshold=0)
    words = {"three": "one two three", "five": "one two three four five", "none": " "}
    yield from single("word-count", words, 3)
    yield from single("word-count", words, {"min": 2, "max": 4})


def pattern_cases():
    for name, pattern, output in (
        ("digits", r"\d{3}-\d{4}", "call 555-1234"),
        ("arabic digits", r"^\d+$", "١٢٣"),
        ("word", r"^\w+$", "naïve"),
        ("boundary", r"\bcafe\b", "a cafe here"),
        ("boundary at an accent", r"caf\b", "café"),
        ("look-ahead", r"foo(?=bar)", "foobar"),
        ("look-behind", r"(?<!un)happy", "unhappy"),
        ("back reference", r"(\w+) \1", "the the"),
        ("escaped slash", r"a\/b", "a/b"),
        ("alternatives", r"^(yes|no)$", "no"),
        ("class with bracket", r"[[\]]", "a]b"),
        ("end of line", r"end$", "the end\n"),
        ("several lines", r"^second", "first\nsecond"),
    ):
        yield f"regex: {name}", output, [{"type": "regex", "value": pattern}], {}
        yield f"not-regex: {name}", output, [{"type": "not-regex", "value": pattern}], {}


def json_cases():
    schema = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "age": {"type": "number"}}}
    outputs = {"fits": '{"name": "Ada", "age": 36}', "misses": '{"age": 36}', "wrong type": '{"name": 5}',
               "no JSON": "name: Ada", "a number": "5", "text around it": 'Sure: {"name": "Ada"} there.'}
    for kind in ("is-json", "contains-json"):
        yield from single(kind, outputs)
        yield from single(kind, outputs, schema)
    dates = {"type": "object", "properties": {"day": {"type": "string", "format": "date"}}}
    yield from single("is-json", {"day": '{"day": "2026-02-28"}', "no day": '{"day": "soon"}'}, dates)
    yield from single("is-json", {"mail": '{"to": "ada@example.org"}', "no mail": '{"to": "ada"}'},
                      {"type": "object", "properties": {"to": {"type": "string", "format": "email"}}})


def overlap_cases():
    reference = "the cat sat on the mat today"
    outputs = {"same": reference, "half": "the cat sat on a chair", "none": "dogs bark", "some": "a cat sat on the mat"}
    yield from single("rouge-n", outputs, reference)
    yield from single("rouge-n", outputs, reference, threshold=0.4)
    for name, output in outputs.items():
        yield f"bleu: {name}", output, [{"type": "bleu", "value": reference}], {}
    yield from single("gleu", outputs, reference)


def markup_cases():
    for kind, outputs in (
        ("is-xml", {"well-formed": "<a><b>1</b></a>", "open": "<a><b></a>", "text": "hello", "attribute": '<a b="1"/>'}),
        ("contains-xml", {"inside": "Sure: <a>1</a> there", "none": "a < b"}),
    ):
        yield from single(kind, outputs)


def html_cases():
    parts = {"element": "<p>hello</p>", "page": "<!DOCTYPE html><html><body>hi</body></html>", "text": "hello",
             "text before": "hello <b>you</b>", "text behind": "<p>a</p> tail", "unknown element": "<foo>x</foo>",
             "custom element": "<my-box></my-box>", "break": "<br>", "comparison": "a < b and c > d", "blank": " ",
             "xml": '<?xml version="1.0"?><p>a</p>', "script": "<script>if (a < b) { c() }</script>",
             "entity": "fish &amp; chips", "inside text": 'Use <div class="a">this</div>, please.'}
    for kind in ("is-html", "contains-html"):
        yield from single(kind, parts)


def call_cases():
    """Tool calls against the tools of a provider."""
    schema = {"type": "object", "required": ["city"], "properties": {"city": {"type": "string"}}}
    tools = [{"type": "function", "function": {"name": "weather", "parameters": schema}}]

    def call(name, arguments):
        return [{"type": "function", "function": {"name": name, "arguments": arguments}}]

    outputs = {
        "fits": call("weather", '{"city": "Rome"}'), "argument missing": call("weather", "{}"),
        "wrong type": call("weather", '{"city": 5}'), "unknown tool": call("time", "{}"),
        "no calls": [], "two calls": call("weather", '{"city": "Rome"}') + call("weather", '{"city": "Oslo"}'),
        "wrapped": {"tool_calls": call("weather", '{"city": "Rome"}')},
    }
    for name, output in outputs.items():
        yield f"tool calls: {name}", output, [{"type": "is-valid-openai-tools-call"}], {"tools": tools}


def transform_cases():
    outputs = {"object": '{"name": "Ada", "cities": ["Rome", "Oslo"], "age": 36}'}
    for name, code, assertion in (
        ("field", "JSON.parse(output).name", {"type": "equals", "value": "Ada"}),
        ("other field", "JSON.parse(output).name", {"type": "equals", "value": "Bob"}),
        ("list", "JSON.parse(output).cities", {"type": "contains-any", "value": ["Rome", "Bern"]}),
        ("absent from the list", "JSON.parse(output).cities", {"type": "contains", "value": "Bern"}),
        ("upper case", "output.toUpperCase()", {"type": "contains", "value": "ADA"}),
        ("turned round", "JSON.parse(output).name", {"type": "not-icontains", "value": "bob"}),
        ("object", "JSON.parse(output)", {"type": "is-json"}),
        ("distance", "JSON.parse(output).name", {"type": "levenshtein", "value": "Adam"}),
    ):
        yield f"transform: {name}", outputs["object"], [{**assertion, "transform": code}], {}


def refusal_cases():
    for name, output in (("plain", "I cannot help with that."), ("sorry", "I'm sorry, but I can't assist with this."),
                         ("answer", "Rome is the capital of Italy."), ("unable", "I am unable to do this.")):
        for negated in ("", "not-"):
            yield f"{negated}is-refusal: {name}", output, [{"type": f"{negated}is-refusal"}], {}


def code_cases():
    for name, code, output in (
        ("true", "output.length === 5", "Paris"),
        ("false", "output.length > 5", "Paris"),
        ("number", "0.6", "Paris"),
        ("zero", "0", "Paris"),
        ("body", "const n = output.split(' ').length;\nreturn n === 2;", "two words"),
        ("object", "({pass: true, score: 0.4, reason: 'so'})", "Paris"),
        ("object that fails with a score", "({pass: false, score: 0.4, reason: 'so'})", "Paris"),
    ):
        yield f"code: {name}", output, [{"type": "javascript", "value": code}], {}
    yield "code: number over its threshold", "x", [{"type": "javascript", "value": "0.6", "threshold": 0.5}], {}
    yield "code: number under its threshold", "x", [{"type": "javascript", "value": "0.6", "threshold": 0.7}], {}


def rule_cases():
    """How assertions make a verdict: every one, by score, by weight, in sets."""
    yes, no = {"type": "contains", "value": "Paris"}, {"type": "contains", "value": "Rome"}
    def heavy(assertion, weight):
        return {**assertion, "weight": weight}
    def group(*inner, **keys):
        return {"type": "assert-set", "assert": list(inner), **keys}
    lists = {
        "one of two": [yes, no],
        "two of two": [yes, yes],
        "none": [no, no],
        "heavy failure": [yes, heavy(no, 3)],
        "light failure": [heavy(yes, 9), heavy(no, 1)],
        "failure without weight": [yes, heavy(no, 0)],
        "set that holds": [group(yes, yes)],
        "set with a failure": [group(yes, no)],
        "set over its threshold": [group(yes, no, threshold=0.5)],
        "set under its threshold": [group(yes, no, no, threshold=0.5)],
        "set over its threshold beside a failure": [group(yes, no, threshold=0.5), no],
        "set with weights": [group(heavy(yes, 3), heavy(no, 1), threshold=0.7), yes],
        "heavy set": [group(yes, no, threshold=0.5, weight=4), yes],
        "set in the middle": [yes, group(no, yes, threshold=0.4), yes],
        "named": [{**yes, "metric": "place"}, {**no, "metric": "place", "weight": 0}],
    }
    for (name, assertions), threshold in itertools.product(lists.items(), (None, 0.4, 0.5, 0.75, 1)):
        keys = {} if threshold is None else {"threshold": threshold}
        yield f"rule: {name}, threshold {threshold}", "It is Paris.", assertions, keys


def all_cases():
    parts = (string_cases, pattern_cases, json_cases, overlap_cases, markup_cases, html_cases, call_cases,
             transform_cases, refusal_cases, code_cases, rule_cases)
    seen = {}
    for name, output, assertions, keys in itertools.chain.from_iterable(part() for part in parts):
        seen[name] = seen.get(name, 0) + 1
        yield (f"{name} ({seen[name]})" if 1 < seen[name] else name), output, assertions, keys


def install():
    if (PEERS / "node_modules" / "promptfoo").is_dir():
        return True
    PEERS.mkdir(parents=True, exist_ok=True)
    (PEERS / "package.json").write_text('{"private": true}\n')
    command = ["npm", "install", "promptfoo", "--no-audit", "--no-fund", "--ignore-scripts"]
    try:
        return subprocess.run(command, cwd=PEERS, timeout=1200).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def run_promptfoo(tests, folder):
    (PEERS / "compare.mjs").write_text(RUNNER)
    given, answered = folder / "tests.json", folder / "results.json"
    given.write_text(json.dumps(tests))
    subprocess.run(["node", "compare.mjs", given, answered], cwd=PEERS, check=True, capture_output=True)
    return json.loads(answered.read_text())


def run_jurist(jurist, tests, folder):
    # Tools belong to a provider here, and are given to the assertion that looks at them.
    own = [
        {**{key: value for key, value in test.items() if key != "tools"},
         "assert": [{**assertion, "tools": test["tools"]} for assertion in test["assert"]]} if "tools" in test else test
        for test in tests
    ]
    config = {"prompts": ["x"], "providers": ["echo"], "tests": own}
    (folder / "promptfooconfig.yaml").write_text(json.dumps(config))
    command = [jurist, "eval", "promptfooconfig.yaml", "--allow-commands", "--quiet", "--reporter", "json=run.json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if not (folder / "run.json").exists():
        sys.exit(done.stderr)
    verdicts = {result["case"]: result["verdict"] for result in json.loads((folder / "run.json").read_text())["results"]}
    return [verdicts[test["description"]] for test in tests]


def differs(theirs, ours):
    if "error" in theirs or ours["status"] not in ("pass", "fail"):
        return "error" not in theirs or ours["status"] in ("pass", "fail")
    score = ours.get("score")
    return theirs["pass"] != (ours["status"] == "pass") or score is None or 1e-6 < abs(theirs["score"] - score)


def name_tests(config):
    """The configuration with a description for every test that is written in it."""
    tests = config.get("tests")
    if not isinstance(tests, list):
        return config
    named = [{"description": f"number {number}", **test} for number, test in enumerate(tests, 1)]
    return {**config, "tests": named}


def as_text(output):
    """An output as text; JSON without spaces and with sorted keys, because Jurist sorts them."""
    if isinstance(output, str):
        try:
            parsed = json.loads(output)
        except ValueError:
            return output
        output = parsed if isinstance(parsed, (dict, list)) else output
    return output if isinstance(output, str) else json.dumps(output, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def run_promptfoo_configuration(folder):
    program = PEERS / "node_modules" / "promptfoo" / "dist" / "src" / "entrypoint.js"
    command = ["node", program, "eval", "-c", "promptfooconfig.yaml", "--no-cache", "--no-write", "--no-table", "-o", "out.json"]
    environment = {**os.environ, **QUIET, "PROMPTFOO_CONFIG_DIR": str(folder / "settings")}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if not (folder / "out.json").exists():
        sys.exit(done.stdout + done.stderr)
    cases = []
    for result in json.loads((folder / "out.json").read_text())["results"]["results"]:
        # 2: the provider, a transform or a template broke.
        status = "error" if result.get("failureReason") == 2 else "pass" if result["success"] else "fail"
        parts = (result.get("gradingResult") or {}).get("componentResults") or []
        own = {(part.get("assertion") or {}).get("metric") for part in parts}
        cases.append({
            "test": result["testCase"].get("description", ""),
            "output": as_text((result.get("response") or {}).get("output", "")),
            "status": status, "score": result["score"],
            "named": {name: score for name, score in result["namedScores"].items() if own},
        })
    return cases


class Service(http.server.BaseHTTPRequestHandler):
    """Answers questions of both tools."""

    def do_POST(self):
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["question"]
        n = len(question) if isinstance(question, list) else 1
        text = question[-1]["content"] if isinstance(question, list) else question
        body = json.dumps({"answer": f"asked {text}", "n": n}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def named_scores(result, rubric, names):
    """The mean of the criteria of each metric by weight, as promptfoo computes named scores."""
    criteria = {}

    def collect(inner):
        for criterion in inner:
            criteria[criterion["name"]] = criterion
            collect(criterion.get("criteria", []))

    collect(rubric["criteria"])
    sums = {}
    for grade in result["grades"]:
        unit, criterion = grade["outcome"].get("unit"), criteria.get(grade["criterion"])
        name = grade["criterion"] if grade["criterion"] in names else re.sub(r"-\d+$", "", grade["criterion"])
        if unit is None or criterion is None or name not in names:
            continue
        weight = criterion.get("weight", 1)
        points, total = sums.get(name, (0, 0))
        sums[name] = (points + weight * (1 - unit if criterion.get("not") else unit), total + weight)
    return {name: points / total if total else 0 for name, (points, total) in sums.items()}


def run_jurist_configuration(jurist, folder, names):
    command = [jurist, "eval", "promptfooconfig.yaml", "--allow-commands", "--quiet", "--reporter", "json=run.json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if not (folder / "run.json").exists():
        return [{"test": "", "output": done.stderr, "status": "refused", "score": None, "named": {}}]
    run = json.loads((folder / "run.json").read_text())
    return [{
        "test": result["case"],
        "output": as_text(result["material"].get("response", "")),
        "status": result["verdict"]["status"], "score": result["verdict"].get("score"),
        "named": named_scores(result, run["rubrics"][result["rubric"]], names),
    } for result in run["results"]]


def find_equal(their, ours):
    """The case of Jurist with the same test and output."""
    def fits(our):
        of_test = our["test"] == their["test"] or our["test"].startswith((f"{their['test']} [", f"{their['test']} ("))
        return (of_test or not their["test"]) and our["output"] == their["output"]
    return next((our for our in ours if fits(our) and not differs_as_case(their, our)), None)


def differs_as_case(their, our):
    if their["status"] == "error" or our["status"] not in ("pass", "fail"):
        return their["status"] != our["status"]
    scores = [(their["score"], our["score"]), *((score, our["named"].get(name)) for name, score in their["named"].items())]
    return their["status"] != our["status"] or any(our is None or 1e-6 < abs(their - our) for their, our in scores)


def compare_configurations(jurist):
    n_configurations, n_cases, n_equal, n_unlisted = 0, 0, 0, 0
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Service)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = ADDRESS.replace(":0/", f":{server.server_port}/")
    for name, config, files in all_configurations():
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            for file, text in files.items():
                (folder / file).write_text(text.lstrip("\n"))
            (folder / "promptfooconfig.yaml").write_text(json.dumps(name_tests(config)).replace(ADDRESS, address))
            theirs = run_promptfoo_configuration(folder)
            # promptfoo computes derived metrics over all cases, which no case has.
            ours = run_jurist_configuration(jurist, folder, {key for their in theirs for key in their["named"]})
        n_configurations, n_cases = n_configurations + 1, n_cases + len(theirs)
        left = list(ours)
        for their in theirs:
            equal = find_equal(their, left)
            if equal:
                left.remove(equal)
                n_equal += 1
                continue
            listed = KNOWN_CONFIGURATIONS.get(name)
            n_unlisted += listed is None
            print(f"{name}: promptfoo {json.dumps(their)}: {listed or 'NOT LISTED'}")
        if left and name not in KNOWN_CONFIGURATIONS:
            for our in left:
                print(f"{name}: only Jurist {json.dumps(our)}")
            n_unlisted += len(theirs) < len(ours)
    server.shutdown()
    n_different = n_cases - n_equal
    print(f"{n_configurations} configurations with {n_cases} cases: {n_equal} equal, {n_different} differ, {n_unlisted} of them not listed")
    return n_unlisted


def compare_outputs(jurist):
    tests = [
        {"description": name, "providerOutput": output, "assert": assertions, **keys}
        for name, output, assertions, keys in all_cases()
    ]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        theirs, ours = run_promptfoo(tests, folder), run_jurist(jurist, tests, folder)
    different = [(test, their, our) for test, their, our in zip(tests, theirs, ours) if differs(their, our)]
    unlisted = [entry for entry in different if entry[0]["description"] not in KNOWN]
    for test, their, our in different:
        listed = KNOWN.get(test["description"], "NOT LISTED")
        shown = {key: our.get(key) for key in ("status", "score")}
        print(f"{test['description']}: promptfoo {json.dumps(their)}, Jurist {json.dumps(shown)}: {listed}")
    print(f"{len(tests)} cases: {len(tests) - len(different)} equal, {len(different)} differ, {len(unlisted)} of them not listed")
    return len(unlisted)


def main():
    global PEERS
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jurist", default=str(ROOT / "target" / "debug" / "jurist"))
    parser.add_argument("--promptfoo", type=pathlib.Path, help="a folder in which promptfoo is installed")
    parser.add_argument("--part", choices=("outputs", "configurations"))
    arguments = parser.parse_args()
    PEERS = arguments.promptfoo or PEERS
    if not install():
        print("skipped: promptfoo cannot be installed here")
        return 0
    jurist = str(pathlib.Path(arguments.jurist).resolve())
    parts = {"outputs": compare_outputs, "configurations": compare_configurations}
    return 1 if sum(compare(jurist) for part, compare in parts.items() if arguments.part in (None, part)) else 0


if __name__ == "__main__":
    sys.exit(main())
