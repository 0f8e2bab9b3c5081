"""An evaluator of one's own: a class with `evaluate`. `config` of the check becomes the arguments of the class."""


class Mentions:
    """Tells which share of these words the output has."""

    def __init__(self, words):
        self.words = words

    def evaluate(self, *, outputs, reference_outputs=None, inputs=None, context=None):
        found = [word for word in self.words if word.lower() in outputs.lower()]
        missing = [word for word in self.words if word not in found]
        comment = f"missing: {', '.join(missing)}" if missing else "nothing is missing"
        return {"score": len(found) / len(self.words), "comment": comment}
