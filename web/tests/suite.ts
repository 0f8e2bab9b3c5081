// The suite that tests grade: invented, and large enough to have every kind of verdict.
export function suite(nCases: number, judge: string) {
  const evals = Array.from({ length: nCases }, (_, n) => oneCase(n));
  return {
    name: "support desk",
    judge: { model: "llamacpp/invented", base_url: judge, timeout: 60 },
    rubrics: { answer: ANSWER },
    evals,
  };
}

const ANSWER = {
  threshold: 0.7,
  criteria: [
    { name: "answers", description: "The reply says where the order is.", scale: "binary", weight: 2 },
    {
      name: "correct",
      description: "What it says agrees with the context.",
      scale: "binary",
      required: true,
    },
    {
      name: "tone",
      description: "How friendly is the reply?",
      scale: { likert: { min: 1, max: 5 } },
      levels: { 1: "Rude.", 3: "Neutral.", 5: "Warm and personal." },
    },
  ],
};

function oneCase(n: number) {
  if (n % 8 === 6) {
    return {
      name: `status as JSON, order ${5000 + n}`,
      prompt: `Give the status of order ${5000 + n} as JSON.`,
      response:
        n % 16 === 6 ? `{"order": ${5000 + n}, "status": "shipped"}` : `Order ${5000 + n} is shipped.`,
      checks: [
        { type: "is-json", required: true },
        { type: "contains", value: "shipped" },
      ],
    };
  }
  if (n % 8 === 7) {
    return {
      name: `apology ${n}`,
      prompt: "My parcel came broken, and it was a birthday present!",
      response: "Oh no, what a way for a birthday to begin. A new one leaves today, and this one is on us.",
      rubric: {
        criteria: [
          { name: "empathy", description: "The customer feels understood.", by: "human", scale: "binary" },
        ],
      },
      ...(n % 16 === 7
        ? { labels: { empathy: { value: true, by: "ana", reason: "It names what went wrong." } } }
        : {}),
    };
  }
  return {
    name: `where is order ${n}`,
    prompt: `Where is my order ${n}?`,
    context: `Order ${n} left on Monday and arrives on Thursday.`,
    response: `Your order ${n} left on Monday and should be with you on Thursday. Sorry for the wait!`,
    rubric: { ref: "answer" },
  };
}
