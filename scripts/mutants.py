"""Mutation testing: changes one expression at a time in the code that decides scores, money, access, plans and judges'
replies, runs the tests of that part, and counts the changes that no test notices.

    scripts/mutants [PART...]      PART is score, money, plan, reply, spend or auth; all of them by default
    scripts/mutants --list         the changes, without trying them
    scripts/mutants --keep         go on with the build and the results of the last time

cargo-mutants says which changes there are. It would compile each of them: hours for a thousand. Here all changes are
compiled into one copy of the workspace, each behind a switch, and a run of the tests chooses one through JURIST_MUTANT.
A change that does not compile leaves the copy and is counted apart. The tests of a part run in stages, those closest to
the code first; a change that passes one stage goes to the next. Results are in target/mutants; docs/mutants.md explains
the changes that are not noticed.
"""

import argparse
import collections
import concurrent.futures
import fnmatch
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import tree_sitter
import tree_sitter_rust

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "target" / "mutants"
TREE = FOLDER / "tree"
# Percent of the changes that compile.
REQUIRED = 90
# A change that makes a loop endless is noticed by the clock: after so many seconds in unit tests and in other tests.
SECONDS_OF_UNIT_TESTS = 60
SECONDS_OF_TESTS = 300

# Tests of other modules that use these parts.
USERS = ["judge::", "run::", "annotate::", "suite::"]
CORE = ("jurist-core", "lib")
STORE = ("jurist-store", "suite")
SERVER = ("jurist-server", "suite")
SERVER_UNITS = ("jurist-server", "lib")

# Part: its files, and the stages in which its tests run: a test binary and what it is called with.
PARTS = {
    "score": (["crates/core/src/score/**"], [(CORE, ["score::"]), (CORE, USERS)]),
    "money": (["crates/core/src/money/**"], [(CORE, ["money::"]), (CORE, USERS)]),
    "plan": (["crates/core/src/plan.rs", "crates/core/src/plan/**"], [(CORE, ["plan::"]), (CORE, USERS)]),
    "reply": (["crates/core/src/judge/reply.rs"], [(CORE, ["judge::"]), (CORE, USERS)]),
    "spend": (["crates/store/src/spend.rs"], [(STORE, ["money::"])]),
    "auth": (
        ["crates/server/src/auth/**", "crates/server/src/credential/**"],
        [
            (SERVER_UNITS, ["auth::", "credential::"]),
            (SERVER, ["auth::", "shut_out::", "place::"]),
            (SERVER, ["people::", "access::"]),
        ],
    ),
}

SWITCH = """
/// Whether the change of this number is the one to try.
#[doc(hidden)]
pub fn mutant(number: u32) -> bool {
    static CHOSEN: std::sync::LazyLock<u32> =
        std::sync::LazyLock::new(|| std::env::var("JURIST_MUTANT").ok().and_then(|it| it.parse().ok()).unwrap_or(0));
    *CHOSEN == number
}
"""

COMPARISONS = {"==", "!=", "<", "<=", ">", ">="}


class Mutant:
    """One change, as cargo-mutants describes it."""

    def __init__(self, number, part, described, source):
        self.number = number
        self.part = part
        self.file = described["file"]
        self.name = described["name"]
        self.genre = described["genre"]
        self.replacement = described["replacement"]
        self.start = offset_of(source, described["span"]["start"])


def offset_of(source, position):
    """The byte at a line and a column, which count from one, and columns in characters."""
    lines = source.split(b"\n")
    before = sum(len(line) + 1 for line in lines[: position["line"] - 1])
    line = lines[position["line"] - 1].decode()
    return before + len(line[: position["column"] - 1].encode())


def list_mutants(parts):
    """The changes of these parts, numbered from one."""
    files = {pattern: part for part in parts for pattern in PARTS[part][0]}
    packages = {binary[0] for part in parts for binary, _ in PARTS[part][1][:1]}
    command = ["cargo", "mutants", "--list", "--json"]
    command += [argument for package in sorted(packages) for argument in ("--package", package)]
    command += [argument for pattern in files for argument in ("--file", pattern)]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    sources, mutants = {}, []
    for described in json.loads(listed):
        name = described["file"]
        part = next(part for pattern, part in files.items() if fnmatch.fnmatch(name, pattern))
        source = sources.setdefault(name, (ROOT / name).read_bytes())
        mutants.append(Mutant(len(mutants) + 1, part, described, source))
    return mutants


class Instrument:
    """Writes the source of a file with its changes behind switches."""

    def __init__(self, source, mutants):
        self.source = source
        self.at = collections.defaultdict(list)
        for mutant in mutants:
            # A function that returns `impl Trait` has one type, so it cannot return two behind a switch.
            if mutant.genre != "FnValue" or "-> impl " not in mutant.name:
                self.at[mutant.genre, mutant.start].append(mutant)
        self.used = set()
        self.parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_rust.language()))

    def write(self):
        tree = self.parser.parse(self.source)
        return self.render(tree.root_node).encode()

    def text(self, node):
        return self.source[node.start_byte : node.end_byte].decode()

    def take(self, genre, start):
        found = self.at.get((genre, start), [])
        self.used.update(mutant.number for mutant in found)
        return found

    def render_children(self, node):
        """The text of a node with the changes of its children."""
        out, position = [], node.start_byte
        for child in node.children:
            out.append(self.source[position : child.start_byte].decode())
            out.append(self.render(child))
            position = child.end_byte
        out.append(self.source[position : node.end_byte].decode())
        return "".join(out)

    def render(self, node):
        kind = node.type
        if kind == "binary_expression":
            changed = self.render_binary(node)
        elif kind == "compound_assignment_expr":
            changed = self.render_assignment(node)
        elif kind == "unary_expression":
            changed = self.render_unary(node)
        elif kind == "match_pattern":
            changed = self.render_arm(node)
        elif kind in ("field_initializer", "shorthand_field_initializer"):
            changed = self.render_field(node)
        else:
            changed = None
        text = changed if changed is not None else self.render_children(node)
        if kind == "block" and node.parent.type == "function_item" and node.named_child_count:
            text = self.render_body(node, text)
        return text

    def render_body(self, node, text):
        """A function that answers at once."""
        statements = [child for child in node.named_children if "comment" not in child.type]
        if not statements:
            return text
        returns = "".join(
            switch(mutant, f"return {mutant.replacement};")
            for mutant in self.take("FnValue", statements[0].start_byte)
        )
        return "{ " + returns + text[1:] if returns else text

    def render_binary(self, node):
        operator = node.child_by_field_name("operator")
        mutants = self.take("BinaryOperator", operator.start_byte)
        if not mutants:
            return None
        sign = self.text(operator)
        left = self.render(node.child_by_field_name("left"))
        right = self.render(node.child_by_field_name("right"))
        if sign in ("&&", "||"):
            (mutant,) = mutants
            changed = switch(mutant, f"left {mutant.replacement} {right}")
            return mark(mutants, f"({{ let left: bool = {left}; {changed} else {{ left {sign} {right} }} }})")
        if sign in COMPARISONS:
            left, right = f"&({left})", f"&({right})"
        changes = " else ".join(switch(mutant, f"left {mutant.replacement} right") for mutant in mutants)
        return mark(mutants, f"({{ let (left, right) = ({left}, {right}); {changes} else {{ left {sign} right }} }})")

    def render_assignment(self, node):
        operator = node.child_by_field_name("operator")
        mutants = self.take("BinaryOperator", operator.start_byte)
        if not mutants:
            return None
        sign = self.text(operator)
        left = self.text(node.child_by_field_name("left"))
        right = self.render(node.child_by_field_name("right"))
        changes = " else ".join(switch(mutant, f"{left} {mutant.replacement} {right}") for mutant in mutants)
        return mark(mutants, f"({{ {changes} else {{ {left} {sign} {right} }} }})")

    def render_unary(self, node):
        mutants = self.take("UnaryOperator", node.start_byte)
        if not mutants:
            return None
        (mutant,) = mutants
        sign = self.text(node.children[0])
        operand = self.render(node.children[-1])
        changed = switch(mutant, "operand")
        return mark(mutants, f"({{ let operand = {operand}; {changed} else {{ {sign}operand }} }})")

    def render_arm(self, node):
        """An arm that never matches, or one whose condition always or never holds."""
        condition = node.child_by_field_name("condition")
        if condition is None:
            arms = [arm for arm in node.parent.parent.named_children if arm.type == "match_arm"]
            if not any(self.text(arm.child_by_field_name("pattern")).strip() == "_" for arm in arms):
                # Without this arm the match would not be exhaustive.
                return None
            mutants = self.take("MatchArm", node.start_byte) or self.take("MatchArm", node.parent.start_byte)
            if not mutants:
                return None
            never = " && ".join(f"!crate::mutant({mutant.number})" for mutant in mutants)
            return self.render_children(node) + mark(mutants, f" if {never} ")
        mutants = self.take("MatchArmGuard", condition.start_byte)
        if not mutants:
            return None
        text = f"({self.render(condition)})"
        for mutant in mutants:
            if mutant.replacement == "true":
                text = f"(crate::mutant({mutant.number}) || {text})"
            else:
                text = f"(!crate::mutant({mutant.number}) && {text})"
        before = self.source[node.start_byte : condition.start_byte].decode()
        return before + mark(mutants, text)

    def render_field(self, node):
        """A field that keeps the value of the base."""
        mutants = self.take("StructField", node.start_byte)
        base = next((it for it in node.parent.named_children if it.type == "base_field_initializer"), None)
        if not mutants or base is None:
            return None
        (mutant,) = mutants
        value = node.child_by_field_name("value")
        name = self.text(node.child_by_field_name("field") or node.named_children[0])
        value = self.render(value) if value else name
        base = self.text(base).removeprefix("..")
        struct = self.text(node.parent.parent.child_by_field_name("name"))
        changed = switch(mutant, f"let base: {struct} = {base}; base.{name}")
        return f"{name}: " + mark(mutants, f"({changed} else {{ {value} }})")


def switch(mutant, code):
    return f"if crate::mutant({mutant.number}) {{ /*change {mutant.number}*/ {code} /*end {mutant.number}*/ }}"


def mark(mutants, code):
    """Code between comments that say which changes it belongs to: what the compiler refuses is found by them."""
    numbers = ",".join(str(mutant.number) for mutant in mutants)
    return f"/*place {numbers}*/{code}/*end {numbers}*/"


def write_tree(mutants):
    """Copies the workspace to target/mutants/tree with all changes. Returns the numbers of those that have a place."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True).stdout
    by_file = collections.defaultdict(list)
    for mutant in mutants:
        by_file[mutant.file].append(mutant)
    crates = {name.split("/src/")[0] + "/src/lib.rs" for name in by_file}
    placed = set()
    for name in filter(None, listed.decode().split("\0")):
        target = TREE / name
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            code = (ROOT / name).read_bytes()
        except FileNotFoundError:
            continue
        if name in by_file:
            instrument = Instrument(code, by_file[name])
            code = instrument.write()
            placed |= instrument.used
        if name in crates:
            code += SWITCH.encode()
        # The compiler looks at the time: a file that is the same stays.
        if not target.exists() or target.read_bytes() != code:
            target.write_bytes(code)
            shutil.copymode(ROOT / name, target)
    # Built pages are no part of the repository.
    for name in ("dist", "dist-workbench", "dist-book"):
        if (ROOT / "web" / name).exists() and not (TREE / "web" / name).exists():
            shutil.copytree(ROOT / "web" / name, TREE / "web" / name)
    return placed


def cargo(arguments):
    """Runs cargo in the copy, with warnings off and the dependencies that are already built."""
    wrapper = FOLDER / "rustc"
    wrapper.write_text('#!/bin/sh\nexec "$@" --cap-lints allow\n')
    wrapper.chmod(0o755)
    environment = os.environ | {"RUSTC_WORKSPACE_WRAPPER": str(wrapper), "CARGO_TARGET_DIR": str(ROOT / "target")}
    command = ["nice", "cargo", *arguments, "--locked", "--message-format=json"]
    done = subprocess.run(command, cwd=TREE, env=environment, stdout=subprocess.PIPE, text=True)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def numbers_at(code, start):
    """The changes whose place holds this byte: those of the innermost place."""
    open_places = []
    for comment in re.finditer(rb"/\*(change|place|end) ([0-9,]+)\*/", code):
        if comment.start() > start:
            break
        if comment[1] == b"end":
            open_places.pop()
        else:
            open_places.append({int(number) for number in comment[2].split(b",")})
    return open_places[-1] if open_places else set()


def refused_by(messages):
    """The numbers of the changes in which the compiler found an error."""
    refused, elsewhere = set(), []
    for message in messages:
        if message.get("reason") != "compiler-message" or message["message"]["level"] != "error":
            continue
        spans = message["message"]["spans"]
        found = set()
        # Other spans show where a type comes from, which is right.
        for span in [span for span in spans if span["is_primary"]] or spans:
            path = TREE / span["file_name"]
            if path.exists():
                found |= numbers_at(path.read_bytes(), span["byte_start"])
        refused |= found
        if not found and spans:
            elsewhere.append(message["message"]["rendered"])
    return refused, elsewhere


def build(mutants, parts):
    """Compiles the copy. Returns the test binaries and the changes that are in them."""
    saved = FOLDER / "refused.json"
    refused = set(json.loads(saved.read_text())) if saved.exists() else set()
    binaries = {binary for part in parts for binary, _ in PARTS[part][1]}
    packages = sorted({package for package, _ in binaries})
    # With the features that `make test` has, dependencies are not compiled again.
    arguments = ["--package", *packages] if len(packages) == 1 else ["--workspace"]
    for target in sorted({target for _, target in binaries}):
        arguments += ["--lib"] if target == "lib" else ["--test", target]
    left = list(mutants)
    while True:
        left = [mutant for mutant in left if mutant.name not in refused]
        placed = write_tree(left)
        left = [mutant for mutant in left if mutant.number in placed]
        print(f"compiling {len(left)} of {len(mutants)} changes", flush=True)
        code, messages = cargo(["test", "--no-run", *arguments])
        if not code:
            break
        numbers, elsewhere = refused_by(messages)
        if not numbers:
            sys.exit("the copy does not compile:\n" + "\n".join(elsewhere[:3]))
        refused |= {mutant.name for mutant in left if mutant.number in numbers}
        saved.write_text(json.dumps(sorted(refused), indent=1))
    executables = {}
    for message in messages:
        if message.get("reason") == "compiler-artifact" and message.get("executable"):
            folder = pathlib.Path(message["manifest_path"]).parent
            package = message["package_id"].split("#")[0].split("/")[-1]
            target = "lib" if "lib" in message["target"]["kind"] else message["target"]["name"]
            executables["jurist-" + package, target] = (message["executable"], folder)
    return executables, left


def find_noticing_stage(executables, part, number):
    """Runs the tests of a part with one change. Returns which stage noticed it, or None."""
    for stage, (binary, arguments) in enumerate(PARTS[part][1], 1):
        executable, folder = executables[binary]
        environment = os.environ | {"JURIST_MUTANT": str(number), "CARGO_MANIFEST_DIR": str(folder)}
        command = [executable, "--quiet", *arguments]
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=SECONDS_OF_UNIT_TESTS if binary[1] == "lib" else SECONDS_OF_TESTS,
            )
        except subprocess.TimeoutExpired:
            return f"stage {stage}, by the clock"
        if done.returncode:
            return f"stage {stage}"
    return None


def try_all(executables, mutants, results, jobs):
    """Tries each change that has no result yet and keeps the results as they come."""
    started, todo = time.monotonic(), [mutant for mutant in mutants if mutant.name not in results]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        runs = {pool.submit(find_noticing_stage, executables, mutant.part, mutant.number): mutant for mutant in todo}
        for n_done, run in enumerate(concurrent.futures.as_completed(runs), 1):
            mutant = runs[run]
            results[mutant.name] = run.result()
            (FOLDER / "results.json").write_text(json.dumps(results, indent=1))
            if results[mutant.name] is None:
                print(f"not noticed: {mutant.name}", flush=True)
            if n_done % 50 == 0:
                print(f"{n_done} of {len(todo)} tried in {time.monotonic() - started:.0f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    parts = arguments.parts or list(PARTS)
    unknown = [part for part in parts if part not in PARTS]
    if unknown:
        sys.exit(f"no part is called `{unknown[0]}`; there are {', '.join(PARTS)}")
    mutants = list_mutants(parts)
    if arguments.list:
        for mutant in mutants:
            print(f"{mutant.part}: {mutant.name}")
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    if not arguments.keep:
        for name in ("refused.json", "results.json"):
            (FOLDER / name).unlink(missing_ok=True)
    executables, left = build(mutants, parts)
    for part in parts:
        if find_noticing_stage(executables, part, 0):
            sys.exit(f"the tests of {part} fail without a change")
    saved = FOLDER / "results.json"
    before = json.loads(saved.read_text()) if saved.exists() else {}
    results = {name: stage for name, stage in before.items() if stage}
    try_all(executables, left, results, arguments.jobs)
    failed = False
    for part in parts:
        all_of_part = [mutant for mutant in mutants if mutant.part == part]
        tried = [mutant for mutant in left if mutant.part == part]
        missed = [mutant for mutant in tried if results[mutant.name] is None]
        share = 100 * (1 - len(missed) / len(tried)) if tried else 0
        failed |= share < REQUIRED
        print(
            f"{part}: {len(tried) - len(missed)} of {len(tried)} changes noticed ({share:.1f} %); "
            f"{len(all_of_part) - len(tried)} do not compile behind a switch"
        )
        for mutant in missed:
            print(f"    not noticed: {mutant.name}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
