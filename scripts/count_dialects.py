"""Counts which files of another tool load, by the reason why the others do not.

    python3 scripts/count_dialects.py FOLDER [--tool promptfoo|agentv|potato] [--part NAME]... [--jurist COMMAND] [--list]
        [--convert]

FOLDER holds a copy of the tool's repository or any files of it; nothing in it is changed.
A variable of the environment that a file asks for is given a value, since its absence says nothing about the file.
--part keeps the files below folders whose name begins so, such as the agent and classification examples of Potato.
--convert also converts each file that loads and reads the result again: it must convert to the same text, and a suite
must have the same plan. The converted file stands beside the original for that long.
The last lines are the table of docs/dialects.md: refused files by reason, each file under its first reason.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys

KEYS = {
    "promptfoo": {"prompts", "providers", "targets", "tests", "scenarios", "redteam", "defaultTest"},
    "agentv": {"tests", "eval_cases", "evalcases", "assert", "assertions", "default_test"},
    "potato": {"annotation_schemes"},
}
SKIPPED = {"node_modules", "dist", ".git"}

# Why a file is refused, by what the message says; the first that fits counts. The state says how it is counted.
REASONS = [
    ("red-team", "red-team", r"red-team"),
    ("bound to a vendor", "providers, or settings of HTTP requests, that are not spoken", r"^cannot-be-run"),
    ("bound to a vendor", "tests or prompts of a service", r"tests cannot be read from (a Google|a Hugging|an address|Azure)|prompts that `"),
    ("bound to a vendor", "classification, search, moderation of other services",
     r"`(not-)?(moderation|classifier|guardrails|search-rubric|pi|perplexity|perplexity-score)` is not supported|is no moderation endpoint"),
    ("not of the tool", "assertion types that the tool does not have", r"assertion type `[^`]*` is not supported$"),
    ("not of the tool", "judges without an `id`, which the tool refuses", r"has settings and no `id`"),
    ("not of the tool", "files that the copy does not have", r"^unreadable: .*there is no such file"),
    ("refused", "images, sound, video or documents as variables", r"is not text|it is not text"),
    ("refused", "tests in workbooks", r"tests in workbooks are not supported"),
    ("refused", "functions that may change the tests (`extensions`)", r"this entry of `extensions` is not supported"),
    ("refused", "repositories that are fetched", r"`(environment|workspace)\.repos` is not supported"),
    ("refused", "spans of a text", r"annotation type `(span|span_link|error_span|extractive_qa|coreference)`"),
    ("refused", "rankings", r"annotation type `(ranking|bws|card_sort|conjoint)`"),
    ("refused", "questions about turns, steps or sessions", r"`(turn_level|turn_binding|session_level|target_field)`"),
    ("refused", "other annotation types", r"annotation type `"),
    ("refused", "what is made while people annotate", r"`(live_agent|live_coding_agent|agent_proxy|arena|solo_mode|sessions)`"),
]


def top_keys(path):
    """Keys at the top of a YAML file, without a YAML parser."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (UnicodeDecodeError, OSError):
        return set()
    return {match.group(1) for line in lines if (match := re.match(r"""["']?([A-Za-z_]\w*)["']?\s*:""", line))}


def find_files(folder, tool, parts=()):
    for path in sorted(folder.rglob("*.y*ml")):
        folders = path.relative_to(folder).parts[:-1]
        if parts and not any(name.startswith(part) for name in folders for part in parts):
            continue
        if SKIPPED.isdisjoint(path.parts) and path.is_file():
            keys = top_keys(path)
            wanted = KEYS[tool] & keys
            named = tool == "promptfoo" and path.name.startswith("promptfooconfig")
            # A list of tests or assertions has no keys at its top; a workflow of another tool has others.
            if named or (wanted and (tool != "promptfoo" or keys & {"prompts", "redteam", "scenarios"})):
                yield path


def check(jurist, path, environment):
    """Exit code and problems of a file; variables that it asks for are added to `environment`."""
    for _ in range(30):
        command = [jurist, "check", "--format", "json", "--allow-outside", path.name]
        done = subprocess.run(command, cwd=path.parent, env=environment, capture_output=True, text=True, timeout=60)
        problems = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        missing = {
            match.group(1)
            for problem in problems
            if (match := re.match(r"the variable `(\w+)` is not set", problem["message"]))
        }
        if not missing - environment.keys():
            return done.returncode, problems
        environment.update({name: "x" for name in missing})
    return done.returncode, problems


def read_plan(explained):
    """The cases of a plan; the name of the file and the lines of programs in it differ."""
    return tuple(line for line in explained.splitlines()[1:] if "--allow-commands" not in line)


def find_difference(jurist, path, tool, environment):
    """What a conversion changes; None if nothing."""

    def run(*arguments):
        command = [jurist, *arguments, "--allow-outside"]
        return subprocess.run(command, cwd=path.parent, env=environment, capture_output=True, text=True, timeout=60)

    first = run("convert", path.name)
    if first.returncode:
        return "cannot be converted: " + first.stderr.strip().split("\n")[0]
    copy = path.with_name(f"{path.stem}-converted-by-jurist.yaml")
    copy.write_text(first.stdout)
    try:
        second = run("convert", copy.name)
        if second.stdout != first.stdout:
            return "converts to another text the second time: " + second.stderr.strip().split("\n")[0]
        if tool != "potato":
            explained = [run("eval", name, "--explain") for name in (path.name, copy.name)]
            plans = [read_plan(done.stdout) for done in explained]
            # Two files that cannot be planned are not the same plan.
            for done, plan in zip(explained, plans):
                if not plan:
                    return "has no plan: " + done.stderr.strip().split("\n")[0]
            if plans[0] != plans[1]:
                return "has another plan"
    finally:
        copy.unlink()
    return None


def reason_of(problem):
    message = re.sub(r"\s+", " ", problem["message"])
    if problem["code"] == "cannot-be-run":
        # Each case of a file names its own target; what counts is the vendor.
        target = re.search(r"`([^`]*)` (?:is|needs)", message)
        message = "target " + (re.split("[:/]", target.group(1))[0] if target else message)
    return problem["code"] + ": " + message[:140]


def classify(code, errors, problems):
    """How a file is counted, and under which reason."""
    if not errors and not code:
        return ("warned" if problems else "silent"), None
    messages = [reason_of(problem) for problem in errors] or [f"exit code {code}"]
    # Where tests cannot be read, that nothing is left to grade says nothing new.
    messages = [message for message in messages if "there is nothing to grade" not in message] or messages
    found = [next((entry[:2] for entry in REASONS if re.search(entry[2], message)), None) for message in messages]
    # A file is only set aside if everything that is refused in it sets it aside.
    own = [entry for entry in found if entry is None or entry[0] == "refused"]
    state, reason = own[0] or ("refused", None) if own else found[0]
    return state, reason or messages[found.index(None)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--tool", choices=KEYS, default="promptfoo")
    parser.add_argument("--part", action="append", default=[], help="only folders whose name begins so")
    parser.add_argument("--jurist", default="jurist")
    parser.add_argument("--list", action="store_true", help="print each file with its first problem")
    parser.add_argument("--convert", action="store_true", help="compare each file that loads with its conversion")
    arguments = parser.parse_args()
    counts, reasons, warnings = collections.Counter(), collections.Counter(), collections.Counter()
    table = collections.Counter()
    n_same, changed = 0, []
    for path in list(find_files(arguments.folder, arguments.tool, arguments.part)):
        environment = dict(os.environ)
        code, problems = check(arguments.jurist, path, environment)
        errors = [problem for problem in problems if problem["severity"] == "error"]
        state, reason = classify(code, errors, problems)
        counts[state] += 1
        table.update([(state, reason)] if reason else [])
        reasons.update({reason_of(problem) for problem in errors} or ({f"exit code {code}"} if code else set()))
        warnings.update({reason_of(problem) for problem in problems if problem["severity"] == "warning"})
        if arguments.convert and state in ("silent", "warned"):
            difference = find_difference(arguments.jurist, path, arguments.tool, environment)
            if difference is None:
                n_same += 1
            else:
                changed.append(f"{path.relative_to(arguments.folder)}: {difference}")
        if arguments.list:
            first = (errors or problems or [{"code": "", "message": ""}])[0]
            print(state, path.relative_to(arguments.folder), reason_of(first), sep="\t")
    loaded, own = counts["silent"] + counts["warned"], sum(counts[key] for key in ("silent", "warned", "refused"))
    print(f"{sum(counts.values())} files: " + ", ".join(f"{n_files} {key}" for key, n_files in sorted(counts.items())))
    share = 100 * loaded / own if own else 0
    print(f"{loaded} of {own} ({share:.0f} %) load and can be run, aside from red-team files, those bound to a vendor")
    print("and those that the tool itself would not run")
    if arguments.convert:
        print(f"{n_same} of {loaded} are the same after they are converted and read again")
        print(*changed, sep="\n")
    for title, counted in (("files refused by reason", reasons), ("files warned about by reason", warnings)):
        print(f"\n{title}")
        for reason, n_files in counted.most_common():
            print(f"{n_files:5}  {reason}")
    print("\n| why | counted as | files |\n| --- | --- | --- |")
    for (state, reason), n_files in sorted(table.items(), key=lambda entry: (-entry[1], entry[0])):
        print(f"| {reason} | {state} | {n_files} |")


if __name__ == "__main__":
    sys.exit(main())
