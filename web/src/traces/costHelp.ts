// Explanations of an agent's cost.

export const AGENT_COST =
  "What the agent itself spent, according to its trace. The cost of judging is shown under Budget.";

export const DERIVED_COST =
  "The trace has no cost. This value is computed from the tokens of its model calls and the prices of the models.";
