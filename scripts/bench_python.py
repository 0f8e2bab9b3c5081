"""How fast the Python package is: import, checks, judge calls, rewards. Run it with the Python that has the wheel.

usage: bench_python.py   (prints a line of JSON for each figure)
"""

import asyncio
import json
import os
import subprocess
import sys
import time

import jurist
from jurist import evaluators


def report(name, **figures):
    print(json.dumps({"name": name, **{key: round(value, 4) for key, value in figures.items()}}), flush=True)


def measure_import():
    def run(code):
        times = []
        for _ in range(7):
            started = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            times.append(time.perf_counter() - started)
        return min(times)

    report("import", ms=1000 * (run("import jurist") - run("pass")))


def measure_checks(n_rows=10_000):
    rows = [{"id": n, "output": f"Paris is capital number {n}", "reference": "Paris is the capital"} for n in range(n_rows)]
    kinds = {"contains": {"value": "Paris"}, "regex": {"value": "c.p"}, "length": {"max": 20}, "exact_match": {},
             "edit_distance": {}, "is-json": {}}
    for kind, params in kinds.items():
        rubric = jurist.Rubric.from_dict({"criteria": [{"name": "c", "check": {"type": kind, **params}}]})
        started, cpu = time.perf_counter(), time.process_time()
        verdicts = rubric.grade_many(rows)
        report(f"grade_many {kind}", seconds=time.perf_counter() - started, cpu=time.process_time() - cpu,
               rows=len(verdicts))
    one = evaluators.ExactMatch()
    started = time.perf_counter()
    for row in rows:
        one.evaluate(outputs=row["output"], reference_outputs=row["reference"])
    report("ExactMatch().evaluate, one by one", seconds=time.perf_counter() - started, rows=n_rows)


JUDGED = {"criteria": [{"name": "nice", "description": "Is it nice?", "scale": "binary"}]}
YES = json.dumps({"reasoning": "yes", "verdict": True})


def measure_judges(n_calls=3_000):
    rows = [{"id": n, "output": f"answer {n}"} for n in range(n_calls)]
    rubric = jurist.Rubric.from_dict(JUDGED)

    async def wait(messages):
        await asyncio.sleep(0.2)
        return YES

    for name, judge, concurrency in (("0 ms, function", lambda messages: YES, 64), ("200 ms x 64, async", wait, 64)):
        started, cpu = time.perf_counter(), time.process_time()
        verdicts = rubric.grade_many(rows, judge=judge, concurrency=concurrency)
        assert verdicts.pass_rate == 1.0
        seconds = time.perf_counter() - started
        report(f"judge {name}", seconds=seconds, cpu=time.process_time() - cpu, ms_cpu_per_call=1000 * (time.process_time() - cpu) / n_calls)


def measure_rewards(n_groups=256, size=8, n_criteria=6, latency=0.05, concurrency=256):
    criteria = [{"name": f"c{n}", "description": f"Criterion {n}?", "scale": "binary"} for n in range(n_criteria)]
    n_calls = 0

    async def judge(messages):
        nonlocal n_calls
        n_calls += 1
        await asyncio.sleep(latency)
        return YES

    reward = jurist.reward({"criteria": criteria}, judge=judge, concurrency=concurrency)
    prompts = [f"prompt {n // size}" for n in range(n_groups * size)]
    completions = [f"completion {n}" for n in range(n_groups * size)]
    started = time.perf_counter()
    rewards = reward(prompts=prompts, completions=completions)
    assert rewards == [1.0] * (n_groups * size)
    seconds = time.perf_counter() - started
    report("rewards", seconds=seconds, calls=n_calls, ideal=n_calls * latency / concurrency)


def measure_one_by_one(n_rows=200):
    rubric = jurist.Rubric.from_dict(JUDGED)
    started = time.perf_counter()
    for n in range(n_rows):
        rubric.grade(f"answer {n}", judge=lambda messages: YES)
    report("Rubric.grade one by one", ms=1000 * (time.perf_counter() - started) / n_rows)
    with rubric.grader(judge=lambda messages: YES) as grader:
        started = time.perf_counter()
        for n in range(n_rows):
            grader.grade(f"answer {n}")
        report("Grader.grade one by one", ms=1000 * (time.perf_counter() - started) / n_rows)


if __name__ == "__main__":
    os.environ["JURIST_CACHE"] = "/nonexistent"
    measure_import()
    measure_checks()
    measure_judges()
    measure_one_by_one()
    measure_rewards()
