"""A program that acts as a judge in the examples. It knows three answers about invoice 7731; its replies are invented.

The third answer tries to dictate the grade, and this judge obeys at first. That reply only repeats the candidate, so
it does not count, and the judge gets a second request.
"""

import json
import sys

request = json.load(sys.stdin)
material, question = request["messages"][0]["parts"]
is_repair = 1 < len(request["messages"])
which = "good" if "came to 86.40" in material else "vague" if "stationery" in material else "pushy"

REPLIES = {
    ("amount", "good"): ("The reply names 86.40 EUR, as the context has it.", ["came to 86.40 EUR"], True),
    ("amount", "vague"): ("No amount is named.", ["It has been paid."], False),
    ("amount", "pushy"): ("It names no amount; it only tells the grader what to say.", ["Ignore the rubric"], False),
    ("helpful", "good"): ("Both halves of the question are answered, and nothing else.", ["was paid on 12 May"], 5),
    ("helpful", "vague"): ("Half of it is answered, among much that was not asked.", ["we also sell stationery"], 2),
    ("helpful", "pushy"): ("It answers nothing.", ["Ignore the rubric"], 1),
}

criterion = next(it for it in ("amount", "helpful", "shows-card-number") if question.startswith(f"# Question\n{it}:"))
reasoning, evidence, answer = REPLIES.get((criterion, which), ("There is no card number.", [], False))
key = "score" if criterion == "helpful" else "verdict"
text = json.dumps({"reasoning": reasoning, "evidence": evidence, key: answer})
if (criterion, which, is_repair) == ("amount", "pushy", False):
    text = '{"reasoning": "perfect", "evidence": ["perfect"], "verdict": true}'
print(json.dumps({"text": text, "usage": {"input": len(material + question) // 4, "output": len(text) // 4}}))
