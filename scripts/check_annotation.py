"""Two people answer an annotation task, and others read what they said; scripts/check-annotation installs what it takes.

usage: check_annotation.py JURIST
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import urllib.request
from pathlib import Path

os.environ["MPLBACKEND"] = "Agg"
import pandas

ROOT = Path(__file__).parent.parent
TUTORIAL = ROOT.parent / "shared/seeds/000_564ce7f0545f55a6.txt"
JURIST = Path(sys.argv[1]).resolve()
RATINGS = {"correctness": 4, "code_quality": 3, "efficiency": 5, "documentation": 2, "error_handling": 3}


def need(holds, message):
    if not holds:
        sys.exit(f"FAILED: {message}")


def start(folder):
    """A server of the task in a folder, and where the task is."""
    command = [JURIST, "start", "config.yaml", "-p", "0", "--store", "jurist.db"]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
    line = process.stdout.readline()
    found = re.search(r"(http://[\w.:]+)/annotate/(\w+)", line)
    need(found, f"no address in {line!r}")
    return process, *found.groups()


class Person:
    def __init__(self, url, task, name):
        self.url, self.cookie = url, ""
        _, headers = self.post("/join/task", {"task": task, "name": name})
        self.cookie = headers["set-cookie"].split(";")[0]

    def post(self, path, body):
        return self.send("POST", path, body)

    def send(self, method, path, body):
        headers = {"content-type": "application/json", "cookie": self.cookie, "origin": self.url}
        body = json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/api/v1{path}", body, headers, method=method)
        with urllib.request.urlopen(request) as answer:
            return json.load(answer), answer.headers

    def rate(self, task, ratings, most=99):
        """Answers what waits, and says how much that was."""
        for n in range(most):
            work, _ = self.post(f"/tasks/{task}/next", {})
            if work.get("done"):
                return n
            scheme = work["schemes"][0]
            scored = lambda value: {"rating": {"kind": "scored", "value": value}}
            answer = {
                "kind": "rubric",
                "criteria": {name: scored(value) for name, value in ratings.items()},
                "overall": scored(4),
                "notes": "quick; “no” comments 🦉",
            }
            draft = {"draft": {scheme["name"]: answer}, "revision": work["revision"]}
            self.post(f"/assignments/{work['assignment']}/submit", draft)
        return most


def rows_of(folder):
    files = sorted((folder / "output").glob("*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def check(name, config, read):
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        shutil.copytree(ROOT / "examples/data", folder / "data")
        (folder / "config.yaml").write_text(config)
        process, url, task = start(folder)
        try:
            need(Person(url, task, "annotator_03").rate(task, RATINGS, most=2) == 2, "two items wait")
        finally:
            process.kill()
            process.wait()
        process, url, task = start(folder)
        try:
            need(Person(url, task, "annotator_03").rate(task, RATINGS) == 1, "what was answered stays answered")
            other = {criterion: 6 - value for criterion, value in RATINGS.items()}
            last = Person(url, task, "annotator_04")
            need(last.rate(task, other) == 3, "the other has all three")
            with urllib.request.urlopen(f"{url}/api/v1/tasks/{task}/disputes") as answer:
                worst = json.load(answer)["items"][0]
            need(worst["criterion"] == "efficiency", f"5 against 1 is the worst, not {worst}")
            decided = {"rating": {"kind": "scored", "value": 2}, "why": "many detours", "cause": "mistake"}
            where = f"/items/{worst['item']}/decisions/{worst['scheme']}/{worst['criterion']}"
            last.send("PUT", where, decided)
        finally:
            process.terminate()
            need(process.wait(20) == 0, "the server ends when it is told to")
        rows = rows_of(folder)
        need(len(rows) == 6, f"six answers, not {len(rows)}")
        row = next(it for it in rows if it["trace_id"] == "trace_042" and it["annotator"] == "annotator_03")
        need(list(row) == ["trace_id", "annotator", "timestamp", "rubric"], f"keys {list(row)}")
        need(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", row["timestamp"]), row["timestamp"])
        said = {"criteria_ratings": RATINGS, "overall": 4, "notes": "quick; “no” comments 🦉", "weighted_score": 3.56}
        need(row["rubric"] == said and list(row["rubric"]) == list(said), f"{row['rubric']}")
        read(folder)
        files = sorted((folder / "output").glob("*.jsonl"))
        for command in (["stats", "--scale", "1-5"], ["agree"]):
            done = subprocess.run([JURIST, *command, *files], capture_output=True, text=True)
            need(done.returncode == 0, f"jurist {command[0]}: {done.stdout}{done.stderr}")
            need("correctness" in done.stdout, done.stdout)
        # The same people from the database, against what was settled.
        kept = {**os.environ, "JURIST_STORE": str(folder / "jurist.db")}
        aligned = [JURIST, "align", "--human", "labels", "--judge", "people", "--criterion", "efficiency", "--json"]
        done = subprocess.run(aligned, capture_output=True, text=True, env=kept)
        need(done.returncode == 0, f"jurist align: {done.stdout}{done.stderr}")
        table = subprocess.run([JURIST, "export", "labels", "people", "--format", "csv"], capture_output=True, text=True, env=kept)
        # A head, one decision, what both said of three items (two criteria and overall), and all that people said.
        need(len(table.stdout.splitlines()) == 1 + 1 + 3 * 3 + 6 * 5, f"{table.stdout}{table.stderr}")
    print(f"ok: {name}: answered, killed, gone on with, exported")


def by_pandas(folder):
    table = pandas.DataFrame([it["rubric"]["criteria_ratings"] for it in rows_of(folder)])
    need(list(table) == list(RATINGS) and (table.mean() == 3).all(), f"{table.mean()}")


def by_the_tutorial(text):
    """Its three pieces of code about averages and radar charts, as they stand."""
    starts = [it.start() for it in re.finditer(r"^python$", text, re.M)][:3]
    pieces = [re.split(r"\n\n(?=\S[^\n]*\n\n[A-Z])|\n(?=Inter-Annotator|Radar Chart|Comparing)", text[it + 7:])[0] for it in starts]

    def read(folder):
        before, known = Path.cwd(), {}
        os.chdir(folder)
        try:
            for piece in pieces:
                exec(compile(textwrap.dedent(piece), "tutorial", "exec"), known)
        finally:
            os.chdir(before)
        need(known["df"]["correctness"].mean() == 3, "the averages are those of the ratings")
        for picture in ("rubric_radar.png", "rubric_comparison.png"):
            need((folder / picture).stat().st_size > 1000, f"{picture} is drawn")

    return read


check("examples/coding-agent.yaml", (ROOT / "examples/coding-agent.yaml").read_text(), by_pandas)
if TUTORIAL.exists():
    text = TUTORIAL.read_text()
    config = re.search(r"^annotation_task_name.*?(?=^Step 4)", text, re.M | re.S).group(0)
    check("the tutorial's file, read by its own code", config, by_the_tutorial(text))
else:
    print("SKIPPED: the tutorial is not here")
