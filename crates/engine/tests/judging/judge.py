"""A judge as a program: reads the request, answers with a quarter."""

import json
import sys

request = json.load(sys.stdin)
assert "Names the capital." in request["messages"][0]["parts"][-1]
print(json.dumps({"text": json.dumps({"reasoning": "so", "score": 0.25})}))
