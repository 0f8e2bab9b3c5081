"""The `jurist` command."""

from __future__ import annotations

import os
import signal
import sys

from jurist import _native


def main() -> None:
    """Run the command with the arguments of this process, and end with its exit code."""
    # Checks in Python run with the interpreter, and so with the packages, of this environment.
    os.environ.setdefault("JURIST_PYTHON", sys.executable)
    # The command acts on Ctrl-C by itself; Python would only take a note of it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_native.run_command(["jurist", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
