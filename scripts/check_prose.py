"""Refuses the words and phrases of scripts/prose.txt in texts that users read, and measures how readable they are.

Fences, inline code, links' addresses, comments and HTML are left out of Markdown.
Of sources (`strings GLOB` in the list) string literals are read: in Rust also comments with three slashes, in Python
also docstrings, in TypeScript also text between tags. Of other files (YAML, JSON, plain text) everything is read.
With --figures a table of each file's sentence length and Flesch reading ease is printed;
--at COMMIT measures the files of an earlier commit instead, for comparison.
"""

import argparse
import ast
import fnmatch
import pathlib
import re
import subprocess
import sys
from dataclasses import dataclass, field

ROOT = pathlib.Path(__file__).resolve().parent.parent


@dataclass
class WordList:
    files: list[str] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    exceptions: list[str] = field(default_factory=list)
    allowed: list[str] = field(default_factory=list)
    rules: list[tuple[re.Pattern, str]] = field(default_factory=list)


@dataclass
class Readability:
    n_words: int
    n_sentences: int
    n_syllables: int

    @property
    def words_per_sentence(self):
        return self.n_words / max(1, self.n_sentences)

    @property
    def flesch(self):
        """Flesch reading ease: 60 to 70 is plain English, under 30 is very difficult."""
        return 206.835 - 1.015 * self.words_per_sentence - 84.6 * self.n_syllables / max(1, self.n_words)


def read_word_list(path):
    words = WordList()
    for number, line in enumerate(path.read_text().splitlines(), 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        if text.startswith("files "):
            words.files.append(text[6:])
        elif text.startswith("strings "):
            words.sources.append(text[8:])
        elif text.startswith("except "):
            words.exceptions.append(text[7:])
        elif text.startswith("allow "):
            words.allowed.append(text[6:])
        elif " => " in text:
            pattern, advice = text.split(" => ", 1)
            words.rules.append((re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE), advice))
        else:
            sys.exit(f"{path.name}:{number}: cannot read `{text}`; write `PATTERN => ADVICE`, or `files`, `strings`, `allow` or `except`")
    return words


def list_files(words):
    found = sorted({path for glob in [*words.files, *words.sources] for path in ROOT.glob(glob)})
    names = [path.relative_to(ROOT).as_posix() for path in found]
    return [name for name in names if not any(fnmatch.fnmatch(name, glob) for glob in words.exceptions)]


def blank(match):
    """As many lines as before, so that line numbers stay right."""
    return "\n" * match[0].count("\n")


def place_on_lines(text, pieces):
    """Pieces of a text, each with its start, on the lines that they have in the text; nothing else."""
    lines = [""] * (text.count("\n") + 1)
    first, end = 0, 0
    for start, piece in pieces:
        first, end = first + text.count("\n", end, start), start
        for offset, line in enumerate(piece.split("\n")):
            lines[first + offset] += f" {line}"
    return "\n".join(lines)


# Comments, character literals, raw strings and strings of Rust, whichever begins first.
RUST_TOKEN = re.compile(
    r"""//(?P<comment>[^\n]*)|/\*.*?\*/|'(?:\\u\{\w+\}|\\.|[^\\'\n])'"""
    r"""|\br(?P<hashes>\#*)"(?P<raw>.*?)"(?P=hashes)|"(?P<string>(?:\\.|[^"\\])*)\"""",
    re.DOTALL,
)


def read_strings(text):
    """String literals of a Rust file, and comments that become help (`///`), each on its line."""
    pieces = []
    for found in RUST_TOKEN.finditer(text):
        is_help = (found["comment"] or "").startswith("/")
        pieces.append((found.start(), found["comment"][1:] if is_help else found["raw"] or found["string"] or ""))
    # Names in braces are variables of format strings.
    return re.sub(r"`[^`\n]*`|\{\w[^{}\n]*\}", "CODE", place_on_lines(text, pieces))


def read_python_strings(text):
    """String literals and docstrings of a Python file, each on its line."""
    lines = [""] * (text.count("\n") + 1)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            for offset, line in enumerate(node.value.split("\n")):
                # An escaped newline makes a text longer than its lines in the file.
                lines[min(node.lineno + offset, node.end_lineno) - 1] += f" {line}"
    return re.sub(r"`[^`\n]*`", "CODE", "\n".join(lines))


# Attributes and properties whose literals are shown: one word is a text in them, and elsewhere the name of a thing.
SHOWN = r"\b(?:label|title|head|caption|button|hint|placeholder|does|doing|aria-label)"
PAGE_TEXT = re.compile(
    rf"""(?P<shown>{SHOWN}(?:=|:\s))?(?:"(?P<literal>[^"\n]*)"|`(?P<template>[^`]*)`)"""
    r"""|(?:(?<!=)>|\})(?P<element>[^<>{}=;]*)(?=[<{])"""
)


def read_page_texts(text):
    """Texts of a page in TypeScript, each on its line: literals of several words, shown words, and text between tags."""
    text = re.sub(r"/\*.*?\*/", blank, text, flags=re.DOTALL)
    text = re.sub(r"(?<!:)//.*", "", text)
    pieces = []
    for found in PAGE_TEXT.finditer(text):
        piece = found["literal"] or found["template"] or found["element"] or ""
        is_shown = found["shown"] or found["element"] or " " in piece.strip()
        pieces.append((found.start(), piece if is_shown else ""))
    return re.sub(r"\$\{[^}]*\}", "CODE", place_on_lines(text, pieces))


def read_prose(text):
    """The prose of a Markdown page, line by line."""
    text = re.sub(r"^```.*?^```$", blank, text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"<!--.*?-->", blank, text, flags=re.DOTALL)
    text = re.sub(r"`[^`\n]*`", "CODE", text)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    return re.sub(r"<[^>\n]*>", "", text)


def read_html(text):
    """The texts of an HTML template, each on its line."""
    text = re.sub(r"<(style|script)\b.*?</\1>|<!--.*?-->|\{#.*?#\}", blank, text, flags=re.DOTALL)
    text = re.sub(r"\{[{%].*?[%}]\}", " CODE ", text)
    return re.sub(r"<[^>]*>", lambda tag: blank(tag) or " ", text)


def read_plain(text):
    """A file without a reader of its own, such as YAML and JSON: everything outside backticks."""
    return re.sub(r"`[^`\n]*`", "CODE", text)


READERS = {
    ".md": read_prose, ".html": read_html, ".rs": read_strings, ".py": read_python_strings,
    ".ts": read_page_texts, ".tsx": read_page_texts,
}


def find_faults(name, text, rules, allowed=()):
    for phrase in allowed:
        text = text.replace(phrase, "")
    prose = READERS.get(pathlib.PurePath(name).suffix, read_plain)(text)
    matches = [(match, advice) for pattern, advice in rules for match in pattern.finditer(prose)]
    for match, advice in sorted(matches, key=lambda matched: matched[0].start()):
        yield f"{name}:{prose.count(chr(10), 0, match.start()) + 1}: “{match[0]}”; better: {advice}"


def count_syllables(word):
    groups = len(re.findall(r"[aeiouy]+", word.lower()))
    is_silent = word.lower().endswith("e") and not word.lower().endswith(("le", "ee")) and 1 < groups
    return max(1, groups - is_silent)


def measure(text):
    """Sentences of paragraphs and lists; tables and headings are no sentences."""
    lines = [line for line in read_prose(text).splitlines() if not re.match(r"\s*(\||#|---)", line)]
    prose = re.sub(r"[*_\[\]]", "", "\n".join(lines)).replace("CODE", "code")
    sentences = [part for part in re.split(r"(?<=[.!?:])\s+|\n\s*\n|\n\s*[-\d]+\.?\s", prose) if re.search(r"[A-Za-z]{2}", part)]
    tokens = re.findall(r"[A-Za-z][A-Za-z'’-]*", prose)
    return Readability(len(tokens), len(sentences), sum(map(count_syllables, tokens)))


def read_at(commit, name):
    if commit is None:
        return (ROOT / name).read_text()
    shown = subprocess.run(["git", "show", f"{commit}:{name}"], cwd=ROOT, capture_output=True, text=True)
    return shown.stdout if shown.returncode == 0 else None


def print_figures(names, commit):
    measured = [(name, measure(text)) for name in names if (text := read_at(commit, name))]
    print(f"{'file':<42}{'words':>8}{'words a sentence':>18}{'Flesch':>8}")
    total = Readability(0, 0, 0)
    for name, figures in measured:
        print(f"{name:<42}{figures.n_words:>8}{figures.words_per_sentence:>18.1f}{figures.flesch:>8.0f}")
        total.n_words += figures.n_words
        total.n_sentences += figures.n_sentences
        total.n_syllables += figures.n_syllables
    print(f"{'all':<42}{total.n_words:>8}{total.words_per_sentence:>18.1f}{total.flesch:>8.0f}")


def main():
    parser = argparse.ArgumentParser(description="Checks the words of texts that users read.")
    parser.add_argument("files", nargs="*", help="files to check; those of the word list by default")
    parser.add_argument("--words", type=pathlib.Path, default=ROOT / "scripts/prose.txt")
    parser.add_argument("--figures", action="store_true", help="print how readable each file is")
    parser.add_argument("--at", metavar="COMMIT", help="measure the files of this commit")
    arguments = parser.parse_args()
    words = read_word_list(arguments.words)
    names = arguments.files or list_files(words)
    if arguments.figures:
        print_figures([name for name in names if name.endswith(".md")], arguments.at)
    faults = [fault for name in names if (text := read_at(arguments.at, name)) for fault in find_faults(name, text, words.rules, words.allowed)]
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"{len(names)} files, {len(words.rules)} rules: {len(faults) or 'no'} words or phrases to replace")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
