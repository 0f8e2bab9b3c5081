"""A custom check: it reads the case as JSON from standard input and writes the result as JSON to standard output."""

import json
import re
import sys

case = json.load(sys.stdin)
times = re.findall(r"\b\d{1,2}:\d{2}\b", case["output"])
expected = case["expected_output"][0]["content"]
checks = [
    {"text": "names the expected time", "pass": expected in times, "reason": ", ".join(times) or "no time"},
    {"text": "names no other time", "pass": len(times) <= case["config"]["most"], "reason": f"{len(times)} in all"},
]
passed = sum(check["pass"] for check in checks)
print(json.dumps({"pass": passed == len(checks), "score": passed / len(checks), "checks": checks}))
