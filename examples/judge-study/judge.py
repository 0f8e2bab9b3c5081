"""A program that replaces a model, so that the tutorial runs without a key. It counts polite words."""

import json
import re
import sys

request = json.load(sys.stdin)
material = request["messages"][0]["parts"][0]
reply = re.search(r'name="response">\n(.*?)\n</data', material, re.S)[1].lower()
polite = sum(reply.count(word) for word in ("sorry", "thank", "please", "gladly", "of course", "!"))
score = min(5, 2 + polite) if 4 < len(reply.split()) or polite else 1
reasoning = f"The reply has {polite} polite words among {len(reply.split())} words."
print(json.dumps({"text": json.dumps({"reasoning": reasoning, "score": score})}))
