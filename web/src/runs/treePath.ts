// Questions of a decision tree in the words of its author.
import type { Canonical } from "../rubrics/canonical";

type Answered = { node: string; answer: string };

const asNode = (value: unknown): Canonical | undefined =>
  typeof value === "object" && value !== null ? (value as Canonical) : undefined;

/** The text of each question on a path; the id of the node where the rubric has no such question. */
export function questionsOfPath(rubric: Canonical | undefined, path: Answered[]): string[] {
  let node = asNode(rubric?.tree);
  return path.map(({ node: id, answer }) => {
    const text = typeof node?.ask === "string" ? node.ask : id;
    node = asNode(node?.[answer]) ?? asNode(asNode(node?.branches)?.[answer]);
    return text;
  });
}
