// What the figures of an agent's cost mean.

export const AGENT_COST =
  "What the agent itself spent, as its trace says. What judging it costs stands under Budget.";

export const DERIVED_COST =
  "The trace does not say its cost. This is computed from the tokens of its model calls and the prices of the models.";
