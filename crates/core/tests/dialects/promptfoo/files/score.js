const lowest = (scores, context) => {
  const score = Math.min(...Object.values(scores));
  return { pass: score >= (context.threshold ?? 0.5), score, reason: "the lowest" };
};

module.exports = { lowest };
