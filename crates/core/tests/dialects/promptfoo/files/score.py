def func(scores, context):
    mean = sum(scores.values()) / len(scores)
    return {"pass": mean >= context.get("threshold", 0.5), "score": mean, "reason": "the mean"}
