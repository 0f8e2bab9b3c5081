"""Counts which files of another tool load, by the reason why the others do not.

    python3 scripts/count_dialects.py FOLDER [--tool promptfoo|agentv|potato] [--jurist COMMAND] [--list]

FOLDER holds a copy of the tool's repository or any files of it; nothing in it is changed.
A variable of the environment that a file asks for is given a value, since its absence says nothing about the file.
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


def top_keys(path):
    """Keys at the top of a YAML file, without a YAML parser."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (UnicodeDecodeError, OSError):
        return set()
    return {match.group(1) for line in lines if (match := re.match(r"""["']?([A-Za-z_]\w*)["']?\s*:""", line))}


def find_files(folder, tool):
    for path in sorted(folder.rglob("*.y*ml")):
        if SKIPPED.isdisjoint(path.parts) and path.is_file():
            keys = top_keys(path)
            wanted = KEYS[tool] & keys
            named = tool == "promptfoo" and path.name.startswith("promptfooconfig")
            # A list of tests or assertions has no keys at its top; a workflow of another tool has others.
            if named or (wanted and (tool != "promptfoo" or keys & {"prompts", "redteam", "scenarios"})):
                yield path


def check(jurist, path, tool):
    environment = dict(os.environ)
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


def reason_of(problem):
    message = re.sub(r"\s+", " ", problem["message"])
    if problem["code"] == "cannot-be-run":
        # Each case of a file names its own target; what counts is the vendor.
        target = re.search(r"`([^`]*)` (?:is|needs)", message)
        message = "target " + (re.split("[:/]", target.group(1))[0] if target else message)
    return problem["code"] + ": " + message[:110]


def state_of(code, errors, problems):
    if any("red-team" in problem["message"] for problem in errors):
        return "red-team"
    if errors and all(problem["code"] == "cannot-be-run" for problem in errors):
        return "bound to a vendor"
    return "refused" if errors or code else "warned" if problems else "silent"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--tool", choices=KEYS, default="promptfoo")
    parser.add_argument("--jurist", default="jurist")
    parser.add_argument("--list", action="store_true", help="print each file with its first problem")
    arguments = parser.parse_args()
    counts, reasons, warnings = collections.Counter(), collections.Counter(), collections.Counter()
    for path in find_files(arguments.folder, arguments.tool):
        code, problems = check(arguments.jurist, path, arguments.tool)
        errors = [problem for problem in problems if problem["severity"] == "error"]
        state = state_of(code, errors, problems)
        counts[state] += 1
        reasons.update({reason_of(problem) for problem in errors} or ({f"exit code {code}"} if code else set()))
        warnings.update({reason_of(problem) for problem in problems if problem["severity"] == "warning"})
        if arguments.list:
            first = (errors or problems or [{"code": "", "message": ""}])[0]
            print(state, path.relative_to(arguments.folder), reason_of(first), sep="\t")
    loaded, own = counts["silent"] + counts["warned"], sum(counts[key] for key in ("silent", "warned", "refused"))
    print(f"{sum(counts.values())} files: " + ", ".join(f"{n_files} {key}" for key, n_files in sorted(counts.items())))
    print(f"{loaded} of {own} load and can be run, red-team files and those bound to a vendor aside")
    for title, counted in (("files refused by reason", reasons), ("files warned about by reason", warnings)):
        print(f"\n{title}")
        for reason, n_files in counted.most_common():
            print(f"{n_files:5}  {reason}")


if __name__ == "__main__":
    sys.exit(main())
