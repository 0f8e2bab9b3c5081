"""Refuses the words and phrases of scripts/prose.txt in texts that users read, and measures how readable they are.

Fences, inline code, links' addresses, comments and HTML are left out of Markdown.
Of sources (`strings GLOB` in the list) string literals and comments with three slashes are read.
With --figures a table of each file's sentence length and Flesch reading ease is printed;
--at COMMIT measures the files of an earlier commit instead, for comparison.
"""

import argparse
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


def read_strings(text):
    """String literals of a source file, and comments that become help (`///`), each on its line."""
    lines = []
    is_in_string = False
    for line in text.splitlines():
        comment = re.match(r"\s*///\s?(.*)", line)
        if comment and not is_in_string:
            lines.append(comment[1])
            continue
        parts = re.split(r'(?<!\\)"', line)
        first = 0 if is_in_string else 1
        lines.append(" ".join(parts[first::2]))
        is_in_string = is_in_string != (len(parts) % 2 == 0)
    # Names in braces are variables of format strings.
    return re.sub(r"`[^`\n]*`|\{\w[^{}\n]*\}", "CODE", "\n".join(lines))


def read_prose(text):
    """The prose of a Markdown page, line by line."""
    text = re.sub(r"^```.*?^```$", blank, text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"<!--.*?-->", blank, text, flags=re.DOTALL)
    text = re.sub(r"`[^`\n]*`", "CODE", text)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    return re.sub(r"<[^>\n]*>", "", text)


def find_faults(name, text, rules, allowed=()):
    for phrase in allowed:
        text = text.replace(phrase, "")
    prose = read_prose(text) if name.endswith(".md") else read_strings(text)
    for number, line in enumerate(prose.splitlines(), 1):
        for pattern, advice in rules:
            for match in pattern.finditer(line):
                yield f"{name}:{number}: “{match[0]}”; better: {advice}"


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
