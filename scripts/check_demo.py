"""Starts the demo and asks its API for everything that its pages are meant to show."""

import json
import os
import re
import signal
import subprocess
import sys
import urllib.parse
import urllib.request

environment = {**os.environ, "JURIST_PROGRAMS": os.path.abspath(sys.argv[1])}
demo = subprocess.Popen(
    ["scripts/demo", "0"], env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True
)
said = []


def address():
    for line in demo.stdout:
        said.append(line)
        if found := re.search(r"Jurist serves (http://\S+)", re.sub(r"\x1b\[\d*m", "", line)):
            return found[1]
    sys.exit("the demo ended without an address:\n" + "".join(said))


def ask(path):
    request = urllib.request.Request(f"{url}/api/v1{path}", headers={"Jurist-Project": "Demo-invented"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


try:
    url = address()
    session = ask("/session")
    assert session["projects"][0]["name"] == "Demo-invented", "the pages do not open on the demo"

    agents = {it["name"] for it in ask("/agents")}
    assert agents == {"invented-support", "invented-coder"}, agents
    traces = ask("/traces?limit=200")["items"]
    assert len(traces) == 200
    assert all(it["metadata"]["invented"] for it in traces), "a trace does not say that it is invented"

    for monitor, n_versions in {"support desk": 2, "code review": 1}.items():
        path = f"/monitors/{urllib.parse.quote(monitor)}"
        current = [it for it in ask(f"{path}/estimates")["judges"] if it["is_current"]]
        whole = next(it for it in current[0]["criteria"] if it["criterion"] is None)
        assert 0.4 < whole["score"]["mean"] < 0.95, whole
        assert all(judge.startswith("invented/") for it in current for judge in it["judge"].split(" + ")), current
        assert len({it["rubric_version"] for it in ask(f"{path}/trend")}) == n_versions, monitor
    by_judge = {it["judge"] for it in ask("/monitors/code%20review/estimates")["judges"]}
    assert "invented/judge-a + invented/judge-b" in by_judge, by_judge
    assert ask("/monitors/code%20review/decisions?disputed=true")["items"], "no judges disagree"

    alerts = ask("/alerts")["items"]
    assert {it["kind"] for it in alerts} == {"score_drop"}, alerts
    # Of the monitor as a whole, and of the agent and criterion that it comes from.
    assert {(it["agent"], it["criterion"]) for it in alerts} == {(None, None), ("invented-support", "correct")}, alerts
    assert any("support desk fell" in it["message"] for it in alerts), alerts
    assert 0 < ask("/spend")["spent"] < 62.5

    task = next(it for it in ask("/tasks")["items"] if "(invented)" in it["name"])
    agreement = ask(f"/tasks/{task['id']}/agreement")
    assert len(agreement["criteria"]) == 4 and all(it["value"] is not None for it in agreement["criteria"])
    assert any(it["kappa"] is not None and it["disagreements"] for it in agreement["judge"]), agreement["judge"]
    people = ask(f"/tasks/{task['id']}/people")["items"]
    assert [it["n_done"] for it in people] == [24, 24, 16] and any(it["warnings"] for it in people), people
    disputes = ask(f"/tasks/{task['id']}/disputes?limit=200")["items"]
    assert any(it["decided"] for it in disputes) and any(not it["decided"] for it in disputes)
    assert not any(it["title"] == it["candidate"] for it in disputes), "a dispute does not say what it is about"

    judged, second, first = ask("/runs")["items"]
    assert (judged["suite"], judged["n_pass"], judged["n_fail"], judged["n_error"]) == ("support desk", 4, 1, 0), judged
    assert first["suite"] == second["suite"] == "two ways to ask" and first["n_pass"] < second["n_pass"], (first, second)
    compared = ask(f"/runs/{second['id']}/comparison?before={first['id']}")["comparisons"][0]
    assert compared["score"]["is_shown"] and compared["changed"], compared
    matrix = ask(f"/runs/{second['id']}/matrix")
    assert (len(matrix["rows"]), len(matrix["columns"])) == (2, 2), matrix
    assert ask(f"/runs/{first['id']}/flaky")["n_cases"] == 40

    ranks = ask("/ranking")
    order = [it.split("=")[1] for it in ranks["sides"]]
    assert len(order) == 3 and order.index("2.0") < order.index("1.4"), order
    assert 0.5 < ranks["position"]["interval"][0], "the judges like what they see first"
finally:
    os.killpg(demo.pid, signal.SIGTERM)
    demo.wait()
print("the demo shows what it should")
