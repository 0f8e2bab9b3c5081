"""Reads reports as their consumers do; scripts/check-reports installs what it takes.

usage: check_reports.py SCHEMAS REPORT...

A report's name tells its format: *.junit.xml, *.sarif, *gitlab*.json, *otel*.json, *github*.txt,
*.tap, *.md, *.csv, *.ndjson, and *.json for the run itself. Where the run is among them, all must
count as many failed cases as it does: what broke or waits is failed in none.
"""

import collections
import csv
import io
import json
import pathlib
import re
import sys

SCHEMAS = pathlib.Path(sys.argv[1])


class Wrong(Exception):
    """What a consumer would stumble over."""


def need(holds, message):
    if not holds:
        raise Wrong(message)


def exact(path):
    """With the line breaks that are there."""
    return path.read_bytes().decode("utf-8")


def validate(schema, value, message):
    import jsonschema

    checker = jsonschema.validators.validator_for(schema)
    checker.check_schema(schema)
    errors = sorted(checker(schema, format_checker=checker.FORMAT_CHECKER).iter_errors(value), key=str)
    need(not errors, message + "".join(f"\n    {it.json_path}: {it.message[:300]}" for it in errors[:5]))


def junit(path):
    """Jenkins' junit-10.xsd, then junitparser, then junit2html."""
    import junitparser
    import xmlschema
    from junit2htmlreport import parser as junit2html

    schema = xmlschema.XMLSchema(str(SCHEMAS / "junit-10.xsd"))
    errors = list(schema.iter_errors(str(path)))
    need(not errors, "".join(f"\n    {it.path}: {it.reason}" for it in errors[:5]))
    suites = junitparser.JUnitXml.fromfile(str(path))
    cases = [case for suite in suites for case in suite]
    kinds = collections.Counter(type(it).__name__ for case in cases for it in case.result)
    need(len(cases) == suites.tests, f"{len(cases)} cases where {suites.tests} were announced")
    need((kinds["Failure"], kinds["Error"]) == (suites.failures, suites.errors), f"its counts are not {kinds}")
    need(all("[[PROPERTY|status=" in (it.system_out or "") for it in cases), "a case without its figures")
    marks = [it for case in cases for it in re.findall(r"\[\[(?!PROPERTY\|)", case.system_out)]
    need(not marks, "a mark that nobody meant")
    page = junit2html.Junit(str(path)).html()
    need(all(word in page for word in ("score=", "pass_mark=")), "junit2html's page lacks figures")
    need("<script>alert" not in page, "junit2html's page runs a candidate's script")
    return kinds["Failure"]


def sarif(path):
    """The schema of OASIS for 2.1.0."""
    log = json.loads(path.read_text("utf-8"))
    validate(json.loads((SCHEMAS / "sarif-2.1.0.json").read_text("utf-8")), log, "against SARIF's schema:")
    failed = set()
    for run in log["runs"]:
        rules = run["tool"]["driver"]["rules"]
        for result in run["results"]:
            need(rules[result["ruleIndex"]]["id"] == result["ruleId"], "a result points at another rule")
            need(not re.search(r"\]\(", result["message"]["text"]), "a message with a link")
            failed.add(result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"])
        prints = [result["partialFingerprints"]["jurist/v1"] for result in run["results"]]
        need(len(set(prints)) == len(prints), "two results with one fingerprint")
    return len(failed)


# No package carries GitLab's schema. This is what its documentation asks of a code quality report;
# GitLab's own validator (app/validators/json_schemas/codeclimate.json) asks for less.
GITLAB = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "array",
    "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "properties": {
            "description": {"type": "string", "minLength": 1},
            "check_name": {"type": "string", "minLength": 1},
            "fingerprint": {"type": "string", "minLength": 1},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "type": "object",
                "required": ["path"],
                "properties": {
                    "path": {"type": "string", "minLength": 1, "not": {"pattern": r"^\./"}},
                    "lines": {"required": ["begin"], "properties": {"begin": {"type": "integer", "minimum": 1}}},
                    "positions": {"required": ["begin"]},
                },
                "anyOf": [{"required": ["lines"]}, {"required": ["positions"]}],
            },
        },
    },
}


def gitlab(path):
    """GitLab's documented constraints, as a JSON Schema above."""
    issues = json.loads(path.read_text("utf-8"))
    need(not path.read_bytes().startswith(b"\xef\xbb\xbf"), "a byte order mark, which GitLab refuses")
    validate(GITLAB, issues, "against GitLab's format:")
    prints = [it["fingerprint"] for it in issues]
    need(len(set(prints)) == len(prints), "two issues with one fingerprint, of which GitLab shows one")


def otel(path):
    """OpenTelemetry's own protocol buffers."""
    from google.protobuf import json_format
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

    text = path.read_text("utf-8")
    need(text.count("\n") == 1 and text.endswith("\n"), "more than a line, which the file receiver takes apart")
    # Protocol buffers read bytes as base64, OTLP writes the two ids as hex.
    plain = re.sub(r'"(traceId|spanId)":"([0-9a-f]+)"', lambda it: f'"{it[1]}":"{base64(it[2])}"', text)
    request = json_format.Parse(plain, ExportLogsServiceRequest())
    failed = 0
    uids = set()
    for record in (r for logs in request.resource_logs for scope in logs.scope_logs for r in scope.log_records):
        need(record.event_name == "gen_ai.evaluation.result", f"an event named {record.event_name}")
        need(len(record.trace_id) in (0, 16) and record.time_unix_nano > 0, "an id or a time that is none")
        found = {it.key: it.value for it in record.attributes}
        need(len(found) == len(record.attributes), "an attribute that is given twice")
        need("gen_ai.evaluation.name" in found, "an evaluation without a name")
        score = "gen_ai.evaluation.score.value"
        need(not ("error.type" in found and score in found), "an error with a score")
        need(score not in found or found[score].WhichOneof("value") == "double_value", "a score that is no double")
        uids.add(found["log.record.uid"].string_value)
        name, label = (found.get(f"gen_ai.evaluation.{it}") for it in ("name", "score.label"))
        failed += name.string_value == "verdict" and label is not None and label.string_value == "fail"
    need(len(uids) == sum(len(s.log_records) for r in request.resource_logs for s in r.scope_logs), "an id twice")
    return failed


def base64(digits):
    import base64 as codec

    return codec.b64encode(bytes.fromhex(digits)).decode()


def github(path):
    """The rules of GitHub's runner: a command is a line that starts with `::`, as no package reads them."""
    kinds, n_failed = collections.Counter(), 0
    for line in re.split(r"\r\n|\r|\n", exact(path))[:-1]:
        command = re.fullmatch(r"::(error|warning|notice) ([^:]*)::(.*)", line)
        need(command, f"not a command: {line[:100]!r}")
        for pair in command[2].split(","):
            need(re.fullmatch(r"(title|file)=[^:,]*", pair), f"not a property: {pair[:100]!r}")
        need(not re.search(r"%(?!25|0D|0A|3A|2C)", command[2] + command[3]), "a `%` that is not escaped")
        kinds[command[1]] += 1
        # Cases with a grader error are errors as well.
        n_failed += command[1] == "error" and bool(re.search(r"(^|%0A)verdict fail(,|$)", command[3]))
    need(kinds["notice"], "no line that sums it up")
    return n_failed


def tap(path):
    """tap.py, with the YAML under each line."""
    from tap.parser import Parser

    text = path.read_text("utf-8")
    lines = [it for it in Parser().parse_text(text)]
    unknown = [it for it in lines if it.category == "unknown"]
    need(not unknown, f"a line that is not TAP: {str(unknown[:1])[:200]}")
    need(not [it for it in lines if it.category == "bail"], "it bails out")
    # tap.py does not mind either, npm's tap-parser does.
    need(not re.search("[\u2028\u2029]|^(not )?ok .*\\{\\s*$", text, re.M), "a line that is not one everywhere")
    plan = next(it for it in lines if it.category == "plan")
    tests = [it for it in lines if it.category == "test"]
    need(len(tests) == plan.expected_tests, f"{len(tests)} tests where {plan.expected_tests} were planned")
    for test in tests:
        need(test.yaml_block and {"status", "score", "pass_mark"} <= test.yaml_block.keys(), f"{test}: no YAML")
    return sum(not it.ok and not it.todo and not it.skip for it in tests)


def markdown(path):
    """markdown-it with GitHub's extensions."""
    from markdown_it import MarkdownIt

    page = MarkdownIt("gfm-like", {"linkify": False}).render(path.read_text("utf-8"))
    # The one line in bold is our own: what was not graded, right below the heading.
    page = re.sub(r"(</h1>\s*<p>)<strong>([^<]|<code>[^<]*</code>)*</strong>", r"\1", page, count=1)
    tags = collections.Counter(re.findall(r"<(\w+)", page))
    allowed = {"h1", "h2", "p", "code", "table", "thead", "tbody", "tr", "th", "td", "ul", "li", "details", "summary"}
    need(set(tags) <= allowed, f"markup that nobody wrote: {sorted(set(tags) - allowed)}")
    need((tags["table"], tags["h1"]) == (1, 1), "not one table under one heading")
    need(tags["h2"] == tags["tr"] - 1, f"{tags['h2']} sections for {tags['tr'] - 1} cases")
    rows = re.findall(r"<tr>\n<td>.*</td>\n<td>(pass|fail|error|deferred)</td>", page)
    need(len(rows) == tags["tr"] - 1, "a row whose second cell is no status")
    return len(re.findall(r"<h2>.*: fail</h2>", page))


def comment(path):
    """A comment of a pull request: markdown-it with GitHub's extensions."""
    from markdown_it import MarkdownIt

    page = MarkdownIt("gfm-like", {"linkify": False}).render(path.read_text("utf-8"))
    tags = collections.Counter(re.findall(r"<(\w+)", page))
    allowed = {"h2", "h3", "p", "strong", "code", "table", "thead", "tbody", "tr", "th", "td", "ul", "li", "ins", "del"}
    allowed |= {"details", "summary", "sub"}
    need(set(tags) <= allowed, f"markup that nobody wrote: {sorted(set(tags) - allowed)}")
    need((tags["table"], tags["h2"]) == (1, 1), "not one table under one heading")
    return len(re.findall(r"<li>.*: fail$", page, re.M))


def table(path):
    """Python's csv, and what a spreadsheet would run."""
    rows = list(csv.DictReader(io.StringIO(exact(path), newline=""), strict=True))
    need(rows and all(None not in it and None not in it.values() for it in rows), "a row of another length")
    for row in rows:
        for key, cell in row.items():
            is_number = re.fullmatch(r"[+-]?[0-9.]+(e[+-]?[0-9]+)?", cell)
            need(is_number or not re.match(r"[=+\-@\t\r\n]", cell), f"{key}: a formula: {cell[:60]!r}")
    return len({it["case"] for it in rows if it["status"] == "fail"})


def ndjson(path):
    """A case of the contract a line."""
    return sum(json.loads(it)["verdict"]["status"] == "fail" for it in path.read_text("utf-8").split("\n")[:-1])


def whole(path):
    """The run."""
    return sum(it["verdict"]["status"] == "fail" for it in json.loads(path.read_text("utf-8"))["results"])


# The first pattern that the name matches decides.
FORMATS = [
    (r"\.xml$", junit),
    (r"\.sarif(\.json)?$", sarif),
    (r"gitlab.*\.json$", gitlab),
    (r"otel.*\.json$", otel),
    (r"github.*\.txt$", github),
    (r"\.tap$", tap),
    (r"comment\.md$", comment),
    (r"\.md$", markdown),
    (r"\.csv$", table),
    (r"\.ndjson$", ndjson),
    (r"\.json$", whole),
]


def main():
    failed, broken = {}, 0
    for path in map(pathlib.Path, sys.argv[2:]):
        if path.suffix == ".html":
            print(f"skip  {path.name}: a page for people")
            continue
        check = next((it for pattern, it in FORMATS if re.search(pattern, path.name)), None)
        try:
            need(check, "its name tells no format; see the head of check_reports.py")
            count = check(path)
            if count is not None:
                failed[path.name] = count
            print(f"ok    {path.name}: {check.__doc__}")
        except Exception as error:  # a consumer that stops at a report is the finding
            broken += 1
            print(f"WRONG {path.name}: {type(error).__name__}: {error}")
    if len(set(failed.values())) > 1:
        broken += 1
        print(f"WRONG they do not agree on how many cases failed: {failed}")
    if broken:
        sys.exit(f"{broken} wrong")


main()
