module.exports = (scores) => ({ pass: true, score: 1, reason: "" });
