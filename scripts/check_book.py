"""Tries what the book shows: runs its commands, reads its files, follows its links.

A page is tried from top to bottom in an empty folder of its own (with a copy of `examples/` where it names that).

- A fence with `file=NAME` after the language is written to that file.
- A YAML or Python fence whose first line is `# NAME.yaml` or `# NAME.py` is written to that file as well.
- In a `console` fence, lines that begin with `$ ` are commands, `> ` continues one, and the rest is their output.
  `…` stands for anything within a line, and alone on a line for any number of lines.
  A fence that shows no output at all is run, and only its exit codes count.
- A command must succeed, unless `$ echo $?` follows it, or the fence says `exit=N` for its last command.
- A fence with the word `judge` gets a key and a model with scripted replies, one with `postgres` a database (book_services.py).
- Each command of a fence with the word `starts` runs until it has printed something; it must then end when it is told to.
- A fence in a comment (`<!-- … -->`) is run as well. It prepares what the page speaks of, such as a server with answers.
- `needs=REASON` after `console` says why a fence is not run; NOT_RUN has the reasons, and the report lists these fences.
  If the reason is a program, such as duckdb, the fence is run where that program is installed.
- A page that uses a program which this machine lacks (jq, curl, node) is not tried, and that is counted.
- `jurist …` in backticks, and commands that are not run, must have the subcommands and flags of the program.
- `jurist check` must find no error in any other YAML fence, except one whose language is followed by `other`.
- docs/settings.md must have every environment variable that the sources read or set.

A page may start a server on port 8000 (`--port 8000`, or `jurist serve` alone): here it gets a free port, in commands, files
and outputs alike. `--server https://jurist.example.org` is this server too. In commands, `jrk_…` is the variable TOKEN of the
shell, if it is set, and any other `…` is a word.

JURIST_BLESS=1 replaces the outputs that differ. What changes with each run (ids, times) is written as `…` then.
"""

import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import api_page
import environment_variables
import inline_commands
from book_services import SERVICES, find_free_port

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Their blocks are tried by other tests (published.rs, tidy.rs, the soak test), or describe how to build Jurist itself.
TRIED_ELSEWHERE = {"docs/published.md", "docs/cli.md", "docs/soak.md", "docs/dependencies.md", "docs/api.md",
                   "docs/api-objects.md", "docs/dialects.md"}
NOT_RUN = {
    "a-build-from-source": "need minutes of compiling; `make test` and scripts/dist build the same",
    "a-container-tool": "need Docker or Podman; scripts/check-dist carries out the container file without them",
    "a-release": "need a published release; scripts/check-dist installs all of its packages",
    "duckdb": "need the program duckdb",
    "packages": "need packages of PyPI or npm; scripts/check-otlp installs them and runs the examples",
    "the-source-tree": "build from the source tree, or take minutes",
}
SENTINEL = "\x1eexit"
SECONDS_PER_COMMAND = 60
# Long commands report their progress, and what is long depends on the machine.
PROGRESS = re.compile(r"\d+ (graded · |of \d+ · \d)")
VOLATILE = [
    (re.compile(r"/\S*?jurist-book-\w+"), "…"),
    (re.compile(r"\b(run|ant|alr|tsk|monv|job|tok|prj|mon|cmp|rsc)_[0-9a-z]{6,}(?:_?[0-9a-f]+)*"), r"\1_…"),
    (re.compile(r"\brubv_\w+"), "rubv_…"),
    (re.compile(r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z"), "…"),
    (re.compile(r"\b\d+(?:\.\d+)? (ms|s)\b"), r"… \1"),
]


@dataclass
class Fence:
    line: int
    language: str
    words: list[str]
    text: str

    def option(self, name):
        return next((word.partition("=")[2] for word in self.words if word.startswith(f"{name}=")), None)


@dataclass
class ShownCommand:
    command: str
    shown: str
    output: str = ""
    exit_code: int | None = None


@dataclass
class PageResult:
    page: str
    n_blocks: int = 0
    n_commands: int = 0
    n_compared: int = 0
    n_files: int = 0
    # The places of the blocks that were not run, by reason.
    skipped: dict[str, list[str]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    new_texts: list[tuple[str, str]] = field(default_factory=list)

    def skip(self, reason, fence):
        self.skipped.setdefault(reason, []).append(f"{self.page}:{fence.line}")


def list_pages():
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    names = [page.relative_to(ROOT).as_posix() for page in pages]
    return [name for name in names if name not in TRIED_ELSEWHERE]


def read_fences(text):
    fences, opened = [], None
    for number, line in enumerate(text.split("\n"), 1):
        fence = re.match(r"^( {0,4})(```+)\s*(.*)$", line)
        if opened is None and fence:
            words = fence[3].split()
            opened = (number, fence[1], words, [])
        elif opened is not None and fence and not fence[3]:
            start, _, words, lines = opened
            fences.append(Fence(start, words[0] if words else "", words[1:], "".join(f"{line}\n" for line in lines)))
            opened = None
        elif opened is not None:
            opened[3].append(line.removeprefix(opened[1]))
    return fences


def file_of(fence):
    if fence.option("file"):
        return fence.option("file")
    first = fence.text.split("\n", 1)[0]
    found = re.fullmatch(r"# (\.?[\w./-]+\.(?:ya?ml|py))", first) if fence.language in ("yaml", "python") else None
    return found and found[1]


def read_commands(text):
    commands = []
    for line in text.splitlines():
        if line.startswith("$ "):
            commands.append(ShownCommand(line[2:], ""))
        elif line.startswith("> ") and commands and not commands[-1].shown:
            commands[-1].command += "\n" + line[2:]
        elif commands:
            commands[-1].shown += line + "\n"
    return commands


def matches(shown, output):
    """Whether an output is the one that is shown, `…` standing for anything."""

    def tidy(text):
        return "".join(f"{line.rstrip()}\n" for line in text.strip("\n").split("\n"))

    pattern = ""
    for line in tidy(shown).splitlines():
        if line.strip() == "…":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*?".join(re.escape(part) for part in line.split("…")) + "\n"
    return re.fullmatch(pattern, tidy(output)) is not None


class Shell:
    """One bash for a page, so that variables and background programs stay; stdout and stderr as a terminal shows them."""

    def __init__(self, folder, program, path=None):
        self.port = find_free_port()
        home = folder / ".home"
        home.mkdir()
        # In this order: the free ports may have the same digits.
        self.replaced = {"8000": self.port, "8731": find_free_port(), "0.0.0.0:": "127.0.0.1:"}
        path = path or os.pathsep.join([str(program.parent), *os.environ.get("PATH", "/usr/bin:/bin").split(os.pathsep)])
        environment = {
            "PATH": path, "HOME": str(home), "JURIST_CACHE": str(home / "cache"), "NO_COLOR": "1", "LC_ALL": "C.UTF-8",
            "TZ": "UTC", "TMPDIR": str(home), "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "120",
        }
        self.process = subprocess.Popen(
            [shutil.which("bash") or "bash", "--norc"], cwd=folder, env=environment, text=True, encoding="utf-8", start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )

    def localise(self, text):
        for shown, here in self.replaced.items():
            text = text.replace(shown, here)
        return text

    def localise_command(self, command):
        command = command.replace("jrk_…", "${TOKEN:-jrk_example}").replace("…", "example")
        command = command.replace("--server https://jurist.example.org", "--server http://127.0.0.1:8000")
        if re.match(r"jurist serve\b", command) and not re.search(r"--(?:port|address)\b", command):
            command = command.replace("jurist serve", "jurist serve --port 8000", 1)
        if command.endswith(" &") and ">" not in command:
            command = command.removesuffix("&") + "> .home/background.log 2>&1 &"
        return self.localise(command)

    def start(self, command):
        """Of a program that runs until it is stopped: what it prints first, and how it ends."""
        log = ".home/started.log"
        return self.execute(f"(exec {self.localise_command(command)}\n) > {log} 2>&1 &\nSTARTED=$!\n"
                        f"until [ -s {log} ] || ! kill -0 $STARTED 2>&-; do sleep 0.1; done\n"
                        f"kill $STARTED 2>&-; wait $STARTED; ENDED=$?; cat {log}; rm {log}; (exit $ENDED)")

    def run(self, command):
        return self.execute(self.localise_command(command))

    def execute(self, command):
        if self.process.poll() is not None:
            return "(not run: an earlier command ended the shell)\n", -1
        # Background programs must not hold this pipe open or write into it.
        self.process.stdin.write(f"{{ {command}\n}} </dev/null\n__code=$?; printf '\\n{SENTINEL} %s\\n' $__code; (exit $__code)\n")
        self.process.stdin.flush()
        lines = []
        timer = signal_after(self.process, SECONDS_PER_COMMAND)
        try:
            for line in self.process.stdout:
                if PROGRESS.match(line):
                    continue
                if line.startswith(SENTINEL):
                    output = "".join(lines)
                    return output.removesuffix("\n").replace(self.port, "8000"), int(line.split()[1])
                lines.append(line)
        finally:
            timer.cancel()
        self.process.wait()
        return "".join(lines) + f"(stopped: it took more than {SECONDS_PER_COMMAND} s)\n", -1

    def close(self):
        try:
            os.killpg(self.process.pid, signal.SIGTERM)
        except ProcessLookupError:
            pass
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
        for pipe in (self.process.stdin, self.process.stdout):
            try:
                pipe.close()
            except BrokenPipeError:
                pass


def signal_after(process, seconds):
    def stop():
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    timer = threading.Timer(seconds, stop)
    timer.start()
    return timer


def list_missing_tools(fences):
    text = "".join(fence.text for fence in fences if fence.language == "console" and not fence.option("needs"))
    yaml = "".join(fence.text for fence in fences if fence.language == "yaml")
    used = [tool for tool in ("jq", "curl") if re.search(rf"\b{tool}\b", text)]
    used += ["node"] if "type: javascript" in yaml else []
    return [tool for tool in used if not shutil.which(tool)]


def try_page(page, program, path=None):
    """With a `path`, exactly these folders are searched for programs, instead of the program's own and those of this process."""
    text = (ROOT / page).read_text()
    result = PageResult(page)
    fences = read_fences(text)
    for tool in list_missing_tools(fences):
        for fence in fences:
            if fence.language == "console":
                result.skip(f"are on a page that needs the program {tool}", fence)
        return result
    folder = pathlib.Path(tempfile.mkdtemp(prefix="jurist-book-"))
    # A project of its own, whatever lies in the folders above.
    (folder / ".jurist").mkdir()
    if "examples/" in text:
        shutil.copytree(ROOT / "examples", folder / "examples")
    shell = Shell(folder, program, path)
    named = {word for fence in fences if fence.language == "console" for word in fence.words if word in SERVICES}
    services = {}
    try:
        for word in sorted(named):
            if not SERVICES[word].name_missing():
                services[word] = SERVICES[word](folder)
                shell.replaced |= services[word].replaced
        for fence in fences:
            name = file_of(fence)
            if name:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_text(shell.localise(fence.text))
                result.n_files += 1
            if fence.language == "console":
                try_commands(fence, shell, services, result)
            elif fence.language == "yaml" and "other" not in fence.words:
                check_yaml(fence, name, folder, shell, result)
    finally:
        shell.close()
        for service in services.values():
            service.stop()
        shutil.rmtree(folder, ignore_errors=True)
    return result


def try_commands(fence, shell, services, result):
    commands = read_commands(fence.text)
    if not commands:
        result.faults.append(f"{result.page}:{fence.line}: a console block without a line that begins with `$ `")
        return
    needed = fence.option("needs")
    if needed and needed not in NOT_RUN:
        result.faults.append(f"{result.page}:{fence.line}: check_book.py has no reason `{needed}`; it has {', '.join(NOT_RUN)}")
        return
    reason = find_reason_not_to_run(fence)
    if reason:
        result.skip(reason, fence)
        return
    variables = {name: value for word in fence.words if word in services for name, value in services[word].variables.items()}
    run = shell.start if "starts" in fence.words else shell.run
    if variables:
        shell.run("export " + " ".join(f"{name}={value}" for name, value in variables.items()))
    for shown in commands:
        shown.output, shown.exit_code = run(shown.command)
    if variables:
        shell.run(f"unset {' '.join(variables)}")
    result.n_blocks += 1
    result.n_commands += len(commands)
    check_exit_codes(fence, commands, result)
    if all(not shown.shown.strip() for shown in commands):
        return
    result.n_compared += len(commands)
    if all(matches(shown.shown, shown.output) for shown in commands):
        return
    new = "".join(write_command(shown) for shown in commands)
    result.new_texts.append((fence.text, new))
    result.faults.append(f"{result.page}:{fence.line}: the output is not the one that is shown; it is\n{new}")


def find_reason_not_to_run(fence):
    needed = fence.option("needs")
    if needed and not shutil.which(needed):
        return NOT_RUN[needed]
    missing = [SERVICES[word].name_missing() for word in fence.words if word in SERVICES]
    return next((f"need {name}" for name in missing if name), None)


def check_exit_codes(fence, commands, result):
    for number, shown in enumerate(commands):
        is_last = number + 1 == len(commands)
        if not is_last and commands[number + 1].command == "echo $?":
            continue
        wanted = int(fence.option("exit") or 0) if is_last else 0
        if shown.exit_code != wanted:
            fault = f"`{shown.command}` ends with {shown.exit_code} instead of {wanted}"
            result.faults.append(f"{result.page}:{fence.line}: {fault}\n{shown.output}")


def write_command(shown):
    output = shown.shown
    if not matches(shown.shown, shown.output):
        output = "".join(f"{line.rstrip()}\n" for line in shown.output.strip("\n").split("\n")) if shown.output.strip() else ""
        for pattern, replacement in VOLATILE:
            output = pattern.sub(replacement, output)
    command = shown.command.replace("\n", "\n> ")
    return f"$ {command}\n{output}"


def check_yaml(fence, name, folder, shell, result):
    first = fence.text.split("\n", 1)[0]
    if "broken" in first or "warns" in first or "broken" in (name or ""):
        return
    is_settings = ".jurist/config.yaml" in (name or first)
    target = name or (".jurist/config.yaml" if is_settings else "checked-block.yaml")
    if not name:
        (folder / target).parent.mkdir(exist_ok=True)
        (folder / target).write_text(fence.text)
    output, _ = shell.run(f"jurist check --format json {target}")
    if not name:
        (folder / target).unlink()
    errors = [line for line in output.splitlines() if '"severity":"error"' in line]
    # Files that a page only speaks of need not be there.
    errors = [line for line in errors if '"unreadable"' not in line and "there is no such file" not in line]
    if errors:
        result.faults.append(f"{result.page}:{fence.line}: this YAML is not in order:\n" + "\n".join(errors))
    result.n_files += not name


def bless(result):
    file = ROOT / result.page
    text = file.read_text()
    for old, new in result.new_texts:
        text = text.replace(f"\n{old}```", f"\n{new}```", 1)
    file.write_text(text)


def check_api_pages(is_blessing):
    faults = []
    for file, page in [(api_page.PAGE, api_page.make_page()), (api_page.OBJECTS_PAGE, api_page.make_objects_page())]:
        if file.exists() and file.read_text() == page:
            continue
        if is_blessing:
            file.write_text(page)
        faults.append(f"docs/{file.name} is not what schemas/openapi.json says; JURIST_BLESS=1 scripts/check-book writes it anew")
    return faults


def check_api_examples(program):
    if not shutil.which("curl"):
        print("SKIPPED the examples of docs/api.md: curl is missing", file=sys.stderr)
        return []
    folder = pathlib.Path(tempfile.mkdtemp(prefix="jurist-book-"))
    (folder / ".jurist").mkdir()
    shell = Shell(folder, program)
    try:
        shell.run("jurist serve --port 8000 > server.log 2>&1 &")
        shell.run("curl --silent --retry 20 --retry-all-errors --retry-delay 1 --output /dev/null http://127.0.0.1:8000/ready")
        faults, n_tried = api_page.try_examples(shell.port)
    finally:
        shell.close()
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{n_tried} examples of the HTTP API sent to a server")
    return faults


def check_inline_commands(pages, program):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="jurist-book-"))
    (folder / ".jurist").mkdir()
    reference = inline_commands.CommandReference(program, folder)
    try:
        return [fault for page in pages for fault in inline_commands.find_faults(page, (ROOT / page).read_text(), reference)]
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def check_links():
    """The generator refuses broken links and anchors; README.md and others at the root are checked here."""
    faults = []
    if shutil.which("node") and (ROOT / "web/node_modules/markdown-it").exists():
        built = subprocess.run(["node", "book/build.mjs"], cwd=ROOT / "web", capture_output=True, text=True)
        faults += built.stderr.splitlines() if built.returncode else []
        print(built.stdout, end="")
    else:
        print("SKIPPED links of the book: Node.js or its packages are missing", file=sys.stderr)
    for page in ROOT.glob("*.md"):
        for link in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text()):
            if not link.startswith(("http:", "https:", "mailto:")) and not (ROOT / link).exists():
                faults.append(f"{page.name}: `{link}` does not exist")
    return faults


def default_program():
    return ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "debug/jurist"


def main():
    parser = argparse.ArgumentParser(description="Tries every command, file and link of the book.")
    parser.add_argument("pages", nargs="*", help="such as docs/quickstart.md; all by default")
    parser.add_argument("--program", default=os.environ.get("JURIST", default_program()))
    arguments = parser.parse_args()
    program = pathlib.Path(arguments.program).resolve()
    if not program.exists():
        sys.exit(f"{program} is missing; build it, or name another in JURIST")
    pages = arguments.pages or list_pages()
    with ThreadPoolExecutor(max_workers=min(4, os.cpu_count() or 1)) as pool:
        results = list(pool.map(lambda page: try_page(page, program), pages))
    is_blessing = "JURIST_BLESS" in os.environ
    for result in results:
        if is_blessing:
            bless(result)
        for fault in result.faults:
            print(fault, file=sys.stderr)
    faults = check_inline_commands(pages, program)
    if not arguments.pages:
        faults += [*check_api_pages(is_blessing), *check_api_examples(program), *check_links()]
        faults += environment_variables.find_faults(ROOT)
    for fault in faults:
        print(fault, file=sys.stderr)
    report(results)
    sys.exit(1 if faults or any(result.faults for result in results) else 0)


def report(results):
    skipped = {}
    for result in results:
        for reason, places in result.skipped.items():
            skipped.setdefault(reason, []).extend(places)
    n_blocks, n_commands, n_compared, n_files = (
        sum(getattr(result, name) for result in results) for name in ("n_blocks", "n_commands", "n_compared", "n_files"))
    print(f"{len(results)} pages: {n_blocks} console blocks with {n_commands} commands run, {n_compared} outputs compared, "
          f"{n_files} files tried")
    print(f"{sum(map(len, skipped.values()))} console blocks not run:")
    for reason, places in sorted(skipped.items()):
        print(f"  {len(places)} {reason}: {', '.join(places)}")


if __name__ == "__main__":
    main()
