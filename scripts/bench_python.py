"""How fast the Python package is, in one run beside other packages: import, checks, judge calls, memory, rewards.

usage: bench_python.py [--wheel FILE] [--imports N] [--checks N] [--calls N] [--groups N] [--only PACKAGE,…] [--folder FOLDER]
Each package is installed as PyPI has it, in an environment of its own in target/bench-python; one that cannot be
installed or does not run is named with the reason. A local server judges, in a process of its own, whose work does not
count. Prints tables as Markdown, and writes all figures to target/bench-python/figures.json.
"""

import argparse
import json
import os
import pathlib
import platform
import subprocess
import sys
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
WIDTH = 64
LATENCY_MS = 200

#: What is installed for each package. `trl` comes without its dependencies: its rewards need none of them, and torch
#: alone takes gigabytes. `ragas` can be imported with this version of langchain-community at most.
PEERS = {
    "autorubric": ["autorubric"],
    "deepeval": ["deepeval"],
    "autoevals": ["autoevals", "openai"],
    "ragas": ["ragas", "langchain-community==0.4.1", "rapidfuzz"],
    "agentevals": ["agentevals"],
    "trl": ["openai", "packaging"],
}
WITHOUT_DEPENDENCIES = {"trl": ["trl"]}

#: What a program imports that uses a package; some packages import nothing under their own name.
IMPORTS = {
    "autorubric": "autorubric, autorubric.graders",
    "deepeval": "deepeval.metrics",
    "ragas": "ragas.metrics",
    "agentevals": "agentevals.trajectory.llm, agentevals.trajectory.match",
    "trl": "trl.rewards",
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--wheel", help="the wheel of jurist; without it, the one in target/wheels")
    parser.add_argument("--checks", type=int, default=10_000)
    parser.add_argument("--calls", type=int, default=3_000)
    parser.add_argument("--groups", type=int, default=256)
    parser.add_argument("--imports", type=int, default=7, help="how often each package is imported; the best counts")
    parser.add_argument("--only", help="these packages alone, with commas")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "target/bench-python")
    given = parser.parse_args()
    wanted = given.only.split(",") if given.only else ["jurist", *PEERS]
    given.folder.mkdir(parents=True, exist_ok=True)
    pythons = install_packages(wanted, given)
    figures = {"machine": describe_machine(), "versions": {}, "import_ms": {}, "checks": {}, "judges": {}}
    for name, python in pythons.items():
        figures["versions"][name] = read_version(python, name)
        print(f"{name}: import and checks", file=sys.stderr)
        figures["import_ms"][name] = measure_import(python, name, given.imports)
        figures["checks"][name] = run_peer(python, name, "checks", given.checks)
    for label, latency in (("0 ms", 0), (f"{LATENCY_MS} ms x {WIDTH}", LATENCY_MS)):
        figures["judges"][label] = {}
        for name, python in pythons.items():
            print(f"{name}: judge calls, {label}", file=sys.stderr)
            with JudgeServer(latency) as server:
                figures["judges"][label][name] = run_peer(python, name, "judges", given.calls, WIDTH, server.url)
        if "jurist" in pythons:
            with JudgeServer(latency) as server:
                found = run_peer(pythons["jurist"], "command", "judges", given.calls, WIDTH, server.url)
                figures["judges"][label]["`jurist grade`"] = found
    if "jurist" in pythons:
        figures["rewards"] = measure_rewards(pythons["jurist"], given.groups)
    (given.folder / "figures.json").write_text(json.dumps(figures, indent=1))
    print_tables(figures, given)


def describe_machine():
    return f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"


def install_packages(wanted, given):
    """The interpreter of each package that can be installed."""
    pythons = {}
    uv = given.folder / "uv/bin/uv"
    if not uv.exists():
        subprocess.run([sys.executable, "-m", "venv", given.folder / "uv"], check=True)
        run_quietly([given.folder / "uv/bin/pip", "install", "uv==0.13.7"])
    for name in wanted:
        if name != "jurist" and name not in PEERS:
            sys.exit(f"no package `{name}` is known here; there are jurist, {', '.join(PEERS)}")
        python = given.folder / name / "bin/python"
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", "--without-pip", given.folder / name], check=True)
        install = [uv, "pip", "install", "--quiet", "--python", python]
        try:
            if name == "jurist":
                run_quietly([*install, "--reinstall", find_wheel(given.wheel)])
            else:
                # Wheels only: nothing is compiled, so none of it can take long.
                run_quietly([*install, "--no-build", *PEERS[name]])
                if name in WITHOUT_DEPENDENCIES:
                    run_quietly([*install, "--no-build", "--no-deps", *WITHOUT_DEPENDENCIES[name]])
        except (subprocess.CalledProcessError, OSError) as error:
            why = (getattr(error, "stderr", None) or str(error)).strip().splitlines()[-1:]
            print(f"SKIPPED {name}: it cannot be installed: {''.join(why)}", file=sys.stderr)
            continue
        pythons[name] = python
    return pythons


def run_quietly(command):
    subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True, timeout=1800)


def find_wheel(given):
    if given:
        return given
    wheels = sorted((ROOT / "target/wheels").glob("jurist-*.whl"), key=os.path.getmtime)
    if not wheels:
        raise OSError("there is no wheel in target/wheels; `make wheel` builds it")
    return wheels[-1]


def read_version(python, name):
    code = f"import importlib.metadata as m; print(m.version({name!r}))"
    return subprocess.run([python, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def measure_import(python, name, n_times):
    """Milliseconds that `import` adds to the start of the interpreter, the best of several."""
    env = {**os.environ, "DEEPEVAL_TELEMETRY_OPT_OUT": "1", "RAGAS_DO_NOT_TRACK": "true"}
    # The first run compiles the files of the package; otherwise every run would.
    env.pop("PYTHONDONTWRITEBYTECODE", None)

    def run(code):
        times = []
        for _ in range(n_times):
            started = time.perf_counter()
            subprocess.run([python, "-W", "ignore", "-c", code], check=True, capture_output=True, env=env)
            times.append(time.perf_counter() - started)
        return min(times)

    try:
        return 1000 * (run(f"import {IMPORTS.get(name, name)}") - run("pass"))
    except subprocess.CalledProcessError as error:
        print(f"SKIPPED {name}: it cannot be imported: {last_line(error.stderr)}", file=sys.stderr)
        return None


def last_line(text):
    return (text if isinstance(text, str) else text.decode()).strip().rpartition("\n")[2][:300]


def run_peer(python, name, task, *arguments):
    """The figures of one package at one task; None, with the reason on standard error, where it does not run."""
    command = [python, ROOT / "scripts/bench_python_peers.py", name, task, *arguments]
    env = {**os.environ, "JURIST_CACHE": "/nonexistent"}
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, env=env, cwd="/tmp")
    if done.returncode != 0:
        print(f"SKIPPED {name} {task}: {last_line(done.stderr)}", file=sys.stderr)
        return None
    return json.loads(done.stdout.strip().rpartition("\n")[2])


class JudgeServer:
    """A judge in a process of its own; ends with the block."""

    def __init__(self, latency_ms):
        command = [sys.executable, ROOT / "scripts/judge_server.py", str(latency_ms)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = self._process.stdout.readline().strip()

    def count(self):
        with urllib.request.urlopen(f"{self.url}/count", timeout=60) as reply:
            return json.load(reply)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.stdin.close()
        self._process.wait(60)


def measure_rewards(python, n_groups, size=8, n_criteria=6, width=256):
    """Groups of completions, a quarter of which fail a gate: time over the ideal, and calls that the gate saved."""
    with JudgeServer(LATENCY_MS) as server:
        found = run_peer(python, "jurist", "rewards", n_groups, size, n_criteria, width, server.url)
        calls = server.count()
    if found is None:
        return None
    without_gate = n_groups * size * n_criteria
    rounds = -(-calls // width)
    return {**found, "calls": calls, "saved": without_gate - calls, "ideal": rounds * LATENCY_MS / 1000, "width": width}


def print_tables(figures, given):
    versions = ", ".join(f"{name} {version}" for name, version in figures["versions"].items())
    print(f"Measured on {figures['machine']}: {versions}.\n")
    print("| | import ms | " + " | ".join(f"{label}: wall s | CPU ms a call | peak MB" for label in figures["judges"]) + " |")
    print("| --- " + "| ---: " * (1 + 3 * len(figures["judges"])) + "|")
    for name in dict.fromkeys([*figures["import_ms"], *(name for found in figures["judges"].values() for name in found)]):
        import_ms = figures["import_ms"].get(name)
        cells = ["—" if import_ms is None else f"{import_ms:.0f}"]
        for found in (by_name.get(name) for by_name in figures["judges"].values()):
            cells += ["—"] * 3 if found is None else [
                f"{found['seconds']:.2f}", f"{1000 * found['cpu'] / found['n']:.2f}", f"{found['peak_mb']:.0f}"]
        print(f"| {name} | " + " | ".join(cells) + " |")
    print_comparison(figures)
    kinds = sorted({kind for found in figures["checks"].values() for kind in found or {}})
    print(f"\nSeconds for {given.checks:,} checks:\n\n| | " + " | ".join(kinds) + " |\n| --- " + "| ---: " * len(kinds) + "|")
    for name, found in figures["checks"].items():
        cells = [f"{found[kind]['seconds']:.3f}" if found and kind in found else "—" for kind in kinds]
        print(f"| {name} | " + " | ".join(cells) + " |")
    rewards = figures.get("rewards")
    if rewards:
        over = 100 * (rewards["seconds"] / rewards["ideal"] - 1)
        print(f"\nRewards for {rewards['n']:,} completions: {rewards['seconds']:.2f} s, {over:.1f} % over the ideal "
              f"{rewards['ideal']:.2f} s ({rewards['width']} calls at a time); {rewards['calls']:,} calls, "
              f"{rewards['saved']:,} saved by a gate that failed.")


def print_comparison(figures):
    """What the library adds to the command, and what the other packages need more than it."""
    for label, by_name in figures["judges"].items():
        cpu = {name: found["cpu"] / found["n"] for name, found in by_name.items() if found is not None}
        own, command = cpu.pop("jurist", None), cpu.pop("`jurist grade`", None)
        if own is None:
            continue
        said = [] if command is None else [f"{own / command:.2f} times that of `jurist grade`"]
        if cpu:
            best = min(cpu, key=cpu.__getitem__)
            said.append(f"{best}, the next best, needs {cpu[best] / own:.1f} times as much")
        print(f"\nCPU time of a judge call, {label}: {1000 * own:.2f} ms, {', '.join(said)}.")


if __name__ == "__main__":
    main()
