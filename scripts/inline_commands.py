"""Checks the commands that the book names without running them: `jurist …` in backticks, and console blocks with `needs=`.

The program's own help says which subcommands and flags there are. Prose leaves arguments out, so a missing file or a
missing value is no fault; a flag that another one requires is.
"""

import functools
import re
import shlex
import subprocess

# They would start a server, a worker or a call instead of ending.
NOT_STARTED = {"serve", "worker", "start", "mcp", "trust"}
SHELL_WORDS = re.compile(r"^(?:[|&;<]+|\d?>.*)$")


class CommandReference:
    def __init__(self, program, folder):
        self.program, self.folder = str(program), folder

    def run(self, words):
        try:
            return subprocess.run([self.program, *words], cwd=self.folder, capture_output=True, text=True, timeout=10,
                                  stdin=subprocess.DEVNULL, env={"HOME": str(self.folder), "NO_COLOR": "1"})
        except subprocess.TimeoutExpired:
            return None

    @functools.cache
    def read_help(self, *path):
        return self.run([*path, "--help"]).stdout

    def list_subcommands(self, *path):
        # The help of the program itself groups them under other titles.
        section = re.search(r"^Commands:\n(.*?)^\S", self.read_help(*path), re.DOTALL | re.MULTILINE)
        text = section[1] if section else self.read_help() if not path else ""
        return set(re.findall(r"^  ([a-z][a-z-]*)  ", text, re.MULTILINE))

    def find_fault(self, words):
        path = []
        while len(path) < len(words) and words[len(path)] in self.list_subcommands(*path):
            path.append(words[len(path)])
        help_text, rest = self.read_help(*path), words[len(path):]
        usage = re.search(r"^Usage: (.*)$", help_text, re.MULTILINE)[1]
        if rest and re.fullmatch(r"[a-z][a-z-]*", rest[0]) and "<COMMAND>" in usage:
            return f"there is no subcommand `{rest[0]}`"
        flags = {flag for line in re.findall(r"^ +(-.*)$", help_text, re.MULTILINE) for flag in re.findall(r"--?[\w-]+", line)}
        for word in rest:
            flag = re.match(r"--?[A-Za-z][\w-]*", word)
            if flag and flag[0] not in flags:
                return f"there is no flag `{flag[0]}`"
        if len(rest) < 2 or not path or path[0] in NOT_STARTED or path[-1] == "ping":
            return None
        return self.find_missing_flag(words, usage)

    def find_missing_flag(self, words, usage):
        ended = self.run(words)
        missing = re.search(r"required arguments were not provided:\n((?:  .*\n)+)", ended.stderr if ended else "")
        named = re.findall(r"--[\w-]+", missing[1]) if missing else []
        flag = next((flag for flag in named if flag not in usage), None)
        return flag and f"`{flag}` is missing"


def list_commands(text):
    """The words behind `jurist` of each command that a page names but does not run."""
    blocks = re.findall(r"^ *```console [^\n]*needs=.*?^ *```", text, re.DOTALL | re.MULTILINE)
    shown = [line for block in blocks for line in re.findall(r"^\$ (jurist .*?[^\\])$", block, re.DOTALL | re.MULTILINE)]
    prose = re.sub(r"^ *```.*?^ *```", "", text, flags=re.DOTALL | re.MULTILINE)
    for command in [*re.findall(r"(?<!`)`(jurist [^`\n]*)`(?!`)", prose), *shown]:
        words = shlex.split(command.replace("\\\n> ", ""), comments=True)[1:]
        end = next((place for place, word in enumerate(words) if SHELL_WORDS.match(word)), len(words))
        yield command, words[:end]


def find_faults(page, text, reference):
    found = ((command, reference.find_fault(words)) for command, words in list_commands(text))
    return [f"{page}: `{command}`: {fault}" for command, fault in found if fault]
