"""Finds the environment variables that the program, the Python package and the npm package read or set.

docs/settings.md must have each of them between backticks. In sources, a variable is a string literal of capital letters
with an underscore, or a literal of capital letters that is given to a function which reads or sets variables.
Every literal of capital letters in the file of the environment is one as well.
Variables that only dependencies read (PGHOST, SSL_CERT_FILE, NO_COLOR) cannot be found in this way.
"""

import re

PAGE = "docs/settings.md"
SOURCES = ["crates/*/src/**/*.rs", "crates/*/src/**/*.py", "crates/*/src/**/*.mjs", "crates/python/jurist/*.py", "packaging/npm/*.js"]
# Functions of the sources that take the name of a variable.
READERS = "variable|var|var_os|env|envs|env_remove|get|getenv|setdefault|is_true"
LITERAL = re.compile(r"""["']([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)["']""")
ARGUMENT = re.compile(rf"""\b(?:{READERS})\)?\(\s*["']([A-Z][A-Z0-9]+)["']""")
ENVIRONMENT_FILE = "crates/engine/src/environment.rs"
OF_ENVIRONMENT_FILE = re.compile(r'"([A-Z][A-Z0-9]+)"')
OF_NODE = re.compile(r"\bprocess\.env\.([A-Z][A-Z0-9_]*)")

NOT_ON_THE_PAGE = {
    # Read while Jurist is compiled.
    "CARGO_PKG_VERSION", "OUT_DIR",
    "JURIST_BUILD_COMMIT", "JURIST_BUILD_OPTIMISATION", "JURIST_BUILD_PROFILE", "JURIST_BUILD_TARGET",
    # Set for Git alone, so that no settings and no prompt interfere.
    "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_DIR", "GIT_INDEX_FILE", "GIT_NO_LAZY_FETCH",
    "GIT_OPTIONAL_LOCKS", "GIT_TERMINAL_PROMPT", "GIT_WORK_TREE",
    # Endings of names that are secret.
    "ACCESS_KEY_ID", "WEBHOOK_URL",
    # Words of protocols.
    "API_KEY_INVALID", "IMAGE_SAFETY", "MAX_TOKENS", "PROHIBITED_CONTENT", "SPAN_KIND_CLIENT", "SPAN_KIND_CONSUMER",
    "SPAN_KIND_INTERNAL", "SPAN_KIND_PRODUCER", "SPAN_KIND_SERVER", "SPAN_KIND_UNSPECIFIED", "STATUS_CODE_ERROR",
    "STATUS_CODE_OK", "STATUS_CODE_UNSET",
}


def read_product(path):
    """A source without its comments and tests."""
    text = re.split(r"^#\[cfg\(test\)\]\n(?:#\[.*\n)*mod \w+ \{", path.read_text(), maxsplit=1, flags=re.MULTILINE)[0]
    return "\n".join(line for line in text.split("\n") if not line.lstrip().startswith(("//", "# ")))


def is_of_tests(path):
    return path.name in ("tests.rs", "testing.rs") or "testing" in path.parts or "tests" in path.parts


def find_variables(text):
    return {name for pattern in (LITERAL, ARGUMENT, OF_NODE) for name in pattern.findall(text)}


def find_faults(root):
    paths = sorted({path for glob in SOURCES for path in root.glob(glob)})
    places = {}
    for path in paths:
        if not is_of_tests(path.relative_to(root)):
            place, text = path.relative_to(root).as_posix(), read_product(path)
            names = find_variables(text) | set(OF_ENVIRONMENT_FILE.findall(text) if place == ENVIRONMENT_FILE else [])
            for name in names:
                places.setdefault(name, place)
    documented = set(re.findall(r"`([A-Z][A-Z0-9_]*)`", (root / PAGE).read_text()))
    faults = [f"{place}: the variable {name} is not in {PAGE}" for name, place in sorted(places.items())
              if name not in documented | NOT_ON_THE_PAGE]
    return faults + [f"environment_variables.py: no source has {name} any more" for name in sorted(NOT_ON_THE_PAGE - set(places))]
