"""Grades the same outputs by promptfoo and by Jurist, and says where verdict or score differ.

    python3 scripts/compare_promptfoo.py [--jurist COMMAND]

promptfoo is installed once under target/peers-promptfoo; where that is not possible, the comparison is skipped, and says
so. Every case is deterministic and our own: no model is asked. Exit code 1 if a case differs that is not listed below.
"""

import argparse
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PEERS = ROOT / "target" / "peers-promptfoo"

# Cases in which the two differ, each with the reason.
KNOWN = {
    "code: object that fails with a score": "an answer that fails counts 0 here, so that no score contradicts its verdict",
}

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
    command = ["npm", "install", "promptfoo", "--no-audit", "--no-fund", "--omit=optional", "--ignore-scripts"]
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jurist", default=str(ROOT / "target" / "debug" / "jurist"))
    arguments = parser.parse_args()
    if not install():
        print("skipped: promptfoo cannot be installed here")
        return 0
    tests = [
        {"description": name, "providerOutput": output, "assert": assertions, **keys}
        for name, output, assertions, keys in all_cases()
    ]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        theirs, ours = run_promptfoo(tests, folder), run_jurist(arguments.jurist, tests, folder)
    different = [(test, their, our) for test, their, our in zip(tests, theirs, ours) if differs(their, our)]
    unlisted = [entry for entry in different if entry[0]["description"] not in KNOWN]
    for test, their, our in different:
        listed = KNOWN.get(test["description"], "NOT LISTED")
        shown = {key: our.get(key) for key in ("status", "score")}
        print(f"{test['description']}: promptfoo {json.dumps(their)}, Jurist {json.dumps(shown)}: {listed}")
    print(f"{len(tests)} cases: {len(tests) - len(different)} equal, {len(different)} differ, {len(unlisted)} of them not listed")
    return 1 if unlisted else 0


if __name__ == "__main__":
    sys.exit(main())
