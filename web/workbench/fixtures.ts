// Invented tasks, to work on components and to test them.
import type { Item, Scheme } from "../src/annotate/types";

type Trace = NonNullable<Item["trace"]>;

export type Task = { title: string; item: Item; schemes: Scheme[] };

const LABELS = ["Poor", "Below average", "Average", "Good", "Excellent"];

const points = (texts: string[]) => texts.map((text, at) => ({ value: at + 1, label: LABELS[at], text }));

const codingTrace: Trace = {
  steps: [
    {
      role: "user",
      text: "The last page of a listing is missing when the item count is not a multiple of the page size. Fix page_count().",
    },
    {
      role: "assistant",
      reasoning: "Find the function first, then whoever calls it.",
      tool_calls: [
        {
          name: "bash",
          id: "c1",
          arguments: { command: "grep -rn 'def page_count' src && pytest -q tests/test_paging.py" },
        },
      ],
    },
    {
      role: "tool",
      results: [
        {
          call: "c1",
          name: "bash",
          error: true,
          text: "src/paging.py:12:def page_count(items, size):\n....F.\nFAILED tests/test_paging.py::test_remainder - assert 2 == 3",
        },
      ],
    },
    {
      role: "assistant",
      reasoning: "Integer division drops the remainder. Negating twice rounds up without floats.",
      tool_calls: [
        {
          name: "str_replace",
          id: "c2",
          arguments: {
            path: "src/paging.py",
            old_str: "def page_count(items, size):\n    return items // size",
            new_str:
              'def page_count(items, size):\n    """How many pages hold so many items."""\n    if size < 1:\n        raise ValueError(f"a page holds at least one item, not {size}")\n    return -(-items // size)',
          },
        },
      ],
    },
    { role: "tool", results: [{ call: "c2", name: "str_replace", text: "1 block replaced" }] },
    {
      role: "assistant",
      reasoning: "Check that the tests agree.",
      tool_calls: [{ name: "bash", id: "c3", arguments: { command: "pytest -q" } }],
    },
    { role: "tool", results: [{ call: "c3", name: "bash", text: "6 passed in 0.12s" }] },
    {
      role: "assistant",
      text: "page_count() now rounds up, so the last, shorter page is counted. A page size under one is refused. I did not add a test for that.",
    },
  ],
  files: [
    {
      path: "src/paging.py",
      kind: "modified",
      added: 4,
      removed: 1,
      hunks: [
        {
          old_start: 10,
          new_start: 10,
          lines: [
            " ",
            " ",
            " def page_count(items, size):",
            "-    return items // size",
            '+    """How many pages hold so many items."""',
            "+    if size < 1:",
            '+        raise ValueError(f"a page holds at least one item, not {size}")',
            "+    return -(-items // size)",
          ],
        },
      ],
    },
  ],
};

const rubric: Scheme = {
  kind: "rubric",
  name: "agent_quality",
  description: "Rate the agent's performance on each criterion",
  required: true,
  shows_score: true,
  criteria: [
    {
      name: "correctness",
      label: "Correctness",
      description: "Does the code solve the stated problem?",
      weight: 3,
      may_skip: true,
      points: points([
        "Code does not address the problem or introduces new bugs",
        "Partially addresses the problem with significant functional errors",
        "Solves the main problem but fails on edge cases or has minor bugs",
        "Solves the problem correctly with only trivial issues remaining",
        "Fully correct solution that handles all edge cases",
      ]),
    },
    {
      name: "code_quality",
      label: "Code Quality",
      description: "Is the code clean, readable, and idiomatic?",
      weight: 2,
      may_skip: true,
      points: points([
        "Unreadable, no consistent style, no structure",
        "Somewhat readable but significant style or design issues",
        "Acceptable quality, follows basic language conventions",
        "Clean, well-structured code with good naming",
        "Excellent, idiomatic, well-documented, easy to maintain",
      ]),
    },
    {
      name: "efficiency",
      label: "Efficiency",
      description: "Does the agent take a reasonable number of steps?",
      weight: 1.5,
      may_skip: true,
      points: points([
        "Extremely circuitous path, many wasted steps",
        "Significant inefficiency, repeated work or unnecessary exploration",
        "Some wasted effort but generally reasonable approach",
        "Efficient approach with only minor unnecessary steps",
        "Optimal or near-optimal path to the solution",
      ]),
    },
    {
      name: "documentation",
      label: "Documentation",
      description: "Are changes explained with comments or commit messages?",
      weight: 1,
      may_skip: true,
      points: points([
        "No explanation of changes, no comments",
        "Minimal explanation that misses key details",
        "Adequate explanation of what was changed",
        "Good explanation of what and why",
        "Thorough explanation with context, rationale, and caveats",
      ]),
    },
    {
      name: "error_handling",
      label: "Error Handling",
      description: "Does the code handle edge cases and errors gracefully?",
      weight: 1.5,
      may_skip: true,
      points: points([
        "No error handling, will crash on unexpected input",
        "Minimal error handling, many failure modes unaddressed",
        "Basic error handling for common cases",
        "Good error handling with informative error messages",
        "Comprehensive error handling with graceful degradation",
      ]),
    },
  ],
  overall: {
    name: "overall",
    label: "Overall Quality",
    description: "Your holistic assessment of the agent's performance",
    weight: 0,
    may_skip: false,
    points: points([
      "Completely unacceptable output",
      "Below expectations, would not use",
      "Acceptable but needs improvement",
      "Good, meets expectations",
      "Excellent, exceeds expectations",
    ]),
  },
  notes: {
    label: "Additional Notes",
    placeholder: "Any additional observations about the agent's performance...",
  },
};

const trajectory: Scheme = {
  kind: "trajectory",
  name: "step_eval",
  description: "Mark each step of the agent",
  required: true,
  steps: [2, 4, 6, 8],
  marks: ["correct", "incorrect"],
  errors: [
    { category: "reasoning", types: ["logical_error", "incorrect_assumption"] },
    { category: "action", types: ["wrong_tool", "wrong_arguments", "premature_termination"] },
  ],
  severities: [
    { name: "minor", weight: -1 },
    { name: "major", weight: -5 },
    { name: "critical", weight: -10 },
  ],
  initial: 100,
};

const codingItem: Item = {
  id: "trace_042",
  task: "Fix page_count() so that the last page of a listing is counted when the item count is not a multiple of the page size.",
  trace: codingTrace,
};

export const rubricTask: Task = {
  title: "Coding Agent Rubric Evaluation",
  item: codingItem,
  schemes: [rubric],
};

/** Steps first, then the whole. */
export const codingTask: Task = { ...rubricTask, schemes: [trajectory, rubric] };

export const pairTask: Task = {
  title: "Which answer helps more?",
  item: {
    id: "pair_7",
    task: "How do I remove a file from git without deleting it from disk?",
    candidates: [
      {
        label: "Answer A",
        text: "Use `git rm --cached path/to/file`, then commit. The file stays where it is.\n\nAdd it to .gitignore so that it is not added again.",
      },
      {
        label: "Answer B",
        text: "You can delete it and restore it from the bin.\n<img src=x onerror=\"document.title='broken'\"> <b>not bold</b>",
      },
    ],
  },
  schemes: [
    {
      kind: "pairwise",
      name: "better",
      description: "Which answer is better?",
      required: true,
      labels: ["Answer A", "Answer B"],
      tie_label: "Equally good",
    },
    {
      kind: "choice",
      name: "why",
      description: "What decided it?",
      required: false,
      many: true,
      dropdown: false,
      labels: ["correctness", "completeness", "tone", "length"],
    },
  ],
};

export const plainTask: Task = {
  title: "One reply",
  item: {
    id: "reply_1",
    task: "A customer asks where their parcel is.",
    text: "مرحبا! طردك في الطريق 🚚 وسيصل يوم الخميس.\n<script>document.title = 'broken'</script>",
  },
  schemes: [
    {
      kind: "choice",
      name: "language",
      description: "Which language is it?",
      required: true,
      many: false,
      dropdown: false,
      labels: ["Arabic", "English", "another"],
    },
    {
      kind: "choice",
      name: "topic",
      description: "What is it about?",
      required: true,
      many: false,
      dropdown: true,
      labels: ["delivery", "refund", "something else"],
    },
    {
      kind: "likert",
      name: "friendly",
      description: "How friendly is it?",
      required: true,
      size: 7,
      min_label: "not at all",
      max_label: "very",
    },
    {
      kind: "text",
      name: "remarks",
      description: "What would you have written?",
      required: false,
      multiline: true,
      placeholder: "In your own words",
    },
  ],
};

/** Questions of every plain kind, of which two depend on an answer. */
export const branchingTask: Task = {
  title: "Answers from documents",
  item: { id: "answer_1", task: "When does the museum open?", text: "It opens at nine." },
  schemes: [
    {
      kind: "choice",
      name: "grounded",
      description: "Is it in the documents?",
      required: true,
      many: false,
      dropdown: false,
      labels: ["yes", "no", "partly"],
    },
    {
      kind: "choice",
      name: "faults",
      description: "What is wrong?",
      required: false,
      many: true,
      dropdown: false,
      labels: ["invented", "outdated", "incomplete"],
      shown_when: { conditions: [{ question: "grounded", test: "is", values: ["No", "partly"] }] },
    },
    {
      kind: "text",
      name: "which",
      description: "What was invented?",
      required: true,
      multiline: false,
      shown_when: { conditions: [{ question: "faults", test: "is", values: ["invented"] }] },
    },
    {
      kind: "likert",
      name: "clear",
      description: "How clear is it?",
      required: true,
      size: 5,
      min_label: "not at all",
      max_label: "very",
    },
    {
      kind: "slider",
      name: "effort",
      description: "How much effort was it to check?",
      required: true,
      min: 0,
      max: 100,
      step: 5,
      start: 20,
      min_label: "none",
      max_label: "a lot",
    },
  ],
};

/** What a judge said, to be checked by a person. */
export const verifyTask: Task = {
  title: "Check the judge",
  item: rubricTask.item,
  schemes: [
    {
      kind: "verify",
      name: "judge",
      description: "Is what the judge said right?",
      required: true,
      claims: [
        {
          id: "c1",
          criterion: "remainder",
          label: "The remainder is counted",
          text: "page_count() counts the last, shorter page.",
          said: { kind: "scored", value: true },
          reason: "Negating twice rounds up, so 7 items on pages of 3 give 3 pages.",
          evidence: [
            {
              part: "trace.4.reasoning",
              quote: "Negating twice rounds up without floats.",
              start: 38,
              end: 78,
            },
          ],
          points: [{ value: false }, { value: true }],
        },
        {
          id: "c2",
          criterion: "tests",
          label: "A test was added",
          said: { kind: "scored", value: true },
          reason: "The suite passes.",
          points: [{ value: false }, { value: true }],
        },
        {
          id: "c3",
          criterion: "clarity",
          label: "How clear is the summary?",
          said: { kind: "scored", value: 4 },
          reason: "It says what changed and what was left out.",
          points: points(["Unclear", "Vague", "Understandable", "Clear", "Clear and complete"]),
        },
      ],
    },
  ],
};

/** Longer than anybody reads, to see that it scrolls. */
export const longTask: Task = {
  ...rubricTask,
  item: {
    id: "long",
    task: "Five thousand steps.",
    trace: {
      steps: Array.from({ length: 5000 }, (_, at) => {
        const n = at + 1;
        if (n % 2 === 0)
          return {
            role: "tool" as const,
            results: [{ name: "bash", text: `line of step ${n}\n`.repeat((n % 40) + 1).trimEnd() }],
          };
        return {
          role: "assistant" as const,
          reasoning: n === 4321 ? "Here is the needle." : `Thought number ${n}. `.repeat((n % 7) + 1).trim(),
          tool_calls: [{ name: "bash", arguments: { command: `sed -n ${n}p src/file_${n % 13}.py` } }],
        };
      }),
    },
  },
};

export const tasks: Record<string, Task> = {
  rubric: rubricTask,
  both: codingTask,
  pair: pairTask,
  plain: plainTask,
  branching: branchingTask,
  verify: verifyTask,
  long: longTask,
};
