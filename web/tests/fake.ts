// The server's doors for annotating, invented: enough of them to try the pages, kept in memory.
import type { BrowserContext, Route } from "@playwright/test";
import { missing } from "../src/annotate/rules";
import type {
  Agreement,
  Decision,
  Dispute,
  Draft,
  Item,
  Person,
  Scheme,
  Settings,
  Work,
} from "../src/annotate/types";
import { rubricTask } from "../workbench/fixtures";

type Assignment = {
  id: string;
  item: Item;
  who: string;
  draft: Draft;
  revision: number;
  state: Work["state"];
};

const SETTINGS: Settings = {
  annotators_per_item: 2,
  stale_minutes: 60,
  back_navigation: true,
  shows_score: true,
  shows_descriptions: true,
  training: [],
  gold: [],
  attention: [],
};

export type Made = {
  name: string;
  items: Item[];
  schemes: Scheme[];
  settings?: Partial<Settings>;
  code?: string;
};

export class Fake {
  private readonly all: Assignment[] = [];
  private readonly decisions = new Map<string, Decision>();
  settings: Settings;
  state: "open" | "closed" = "open";
  /** Said after the next submission. */
  pace?: string;
  agreement?: Agreement;
  people?: Person[];
  joined: unknown[] = [];

  constructor(private readonly made: Made) {
    this.settings = { ...SETTINGS, ...made.settings };
  }

  /** Answers for one person of this browser. */
  async attach(context: BrowserContext, who: string) {
    await context.route(/\/api\/v1\/(tasks|assignments|items|join\/task)\b/, (route) =>
      this.answer(route, who),
    );
  }

  /** What somebody answered before. */
  add(who: string, item: Item, draft: unknown) {
    const id = `asg_${this.all.length + 1}`;
    this.all.push({ id, item, who, draft: draft as Draft, revision: 1, state: "submitted" });
  }

  submitted(who: string): Draft[] {
    return this.all.filter((it) => it.who === who && it.state === "submitted").map((it) => it.draft);
  }

  draftsOf(who: string): Draft[] {
    return this.all.filter((it) => it.who === who).map((it) => it.draft);
  }

  private async answer(route: Route, who: string) {
    const request = route.request();
    const path = decodeURIComponent(new URL(request.url()).pathname.replace("/api/v1", ""));
    const [, kind, id = "", what = "", ...rest] = path.split("/");
    const body = request.postDataJSON();
    const json = (found: unknown, status = 200) => route.fulfill({ status, json: found });
    if (kind === "join") this.joined.push(body);
    if (kind === "join") return json({ project: "default", task: "tsk_1" });
    if (kind === "tasks" && !id) return json({ items: [this.line(who)] });
    if (kind === "tasks") {
      if (request.method() === "PATCH") {
        this.state = body.state ?? this.state;
        this.settings = { ...this.settings, ...body.settings };
      }
      if (!what) return json(this.full(who));
      if (what === "next") return json(this.next(who));
      if (what === "links") return json({ url: "/join#task=abc", crowd_url: "/annotate/abc?PROLIFIC_PID=" });
      if (what === "people") return json({ items: this.people ?? [] });
      if (what === "disputes") return json({ items: this.disputes() });
      if (what === "agreement")
        return json(this.agreement ?? { criteria: [], pairs: [], people: [], judge: [] });
    }
    if (kind === "items" && what === "answers") return json(this.answers(id));
    if (kind === "items") {
      const [scheme = "", criterion = ""] = rest;
      const made = { ...body, scheme, criterion, by: who, time: new Date().toISOString() };
      this.decisions.set(`${id} ${scheme}/${criterion}`, made);
      return json(made);
    }
    const found = this.all.find((it) => it.id === id && it.who === who);
    if (!found) return json({ title: "Not found", status: 404, detail: "there is no such assignment" }, 404);
    if (!what) return json(this.work(found));
    if (what === "skip") {
      this.all.splice(this.all.indexOf(found), 1, { ...found, state: "submitted", draft: {} });
      return json({});
    }
    if (body.revision < found.revision) {
      const newer = { draft: found.draft, revision: found.revision };
      return json({ title: "Conflict", status: 409, detail: "something newer is there", newer }, 409);
    }
    found.draft = body.draft;
    found.revision += 1;
    if (what === "draft") return json({ revision: found.revision, saved: new Date().toISOString() });
    const open = this.made.schemes.flatMap((it) => missing(it, found.draft));
    if (open.length > 0) return json({ title: "Cannot be done", status: 422, detail: "not complete" }, 422);
    found.state = "submitted";
    const known = this.settings.training?.find((it) => it.item === found.item.id);
    const pace = this.pace;
    this.pace = undefined;
    if (!known) return json({ next: true, pace });
    const rows = [
      { scheme: "agent_quality", row: "correctness", expected: "5 Excellent", given: "4 Good", ok: false },
    ];
    return json({ next: true, pace, feedback: { right: false, rows, why: known.why } });
  }

  private mine(who: string): Assignment[] {
    return this.all.filter((it) => it.who === who);
  }

  private progress(who: string) {
    const done = this.mine(who).filter((it) => it.state === "submitted").length;
    return { done, left: this.made.items.length - done };
  }

  private line(who: string) {
    const n_submitted = this.all.filter((it) => it.state === "submitted").length;
    const n_items = this.made.items.length;
    return {
      id: "tsk_1",
      name: this.made.name,
      description: "Read what the agent did, then say how well it did it.",
      state: this.state,
      created: "2026-03-01T10:00:00Z",
      progress: { n_items, n_done: Math.floor(n_submitted / 4), n_wanted: 4 * n_items, n_submitted },
      mine: this.progress(who),
      may: { annotate: true, manage: true },
    };
  }

  private full(who: string) {
    return { ...this.line(who), schemes: this.made.schemes, settings: this.settings };
  }

  private next(who: string) {
    const open = this.mine(who).find((it) => it.state === "assigned");
    if (open) return this.work(open);
    const item = this.made.items.find((it) => !this.mine(who).some((one) => one.item === it));
    if (!item) return { done: true, why: "finished", code: this.made.code };
    const made: Assignment = {
      id: `asg_${this.all.length + 1}`,
      item: { ...item, training: this.settings.training?.some((it) => it.item === item.id) || undefined },
      who,
      draft: {},
      revision: 0,
      state: "assigned",
    };
    made.item = Object.assign(item, made.item);
    this.all.push(made);
    return this.work(made);
  }

  private work(it: Assignment): Work {
    const mine = this.mine(it.who);
    const at = mine.indexOf(it);
    return {
      assignment: it.id,
      task: { id: "tsk_1", name: this.made.name },
      item: it.item,
      schemes: this.made.schemes,
      draft: it.draft,
      revision: it.revision,
      state: it.state,
      progress: this.progress(it.who),
      before: mine[at - 1]?.id,
      after: mine[at + 1]?.id,
      settings: this.settings,
    };
  }

  private disputes(): Dispute[] {
    const done = this.all.filter((it) => it.state === "submitted");
    return this.made.items.flatMap((item) =>
      this.made.schemes.flatMap((scheme) =>
        scheme.kind !== "rubric"
          ? []
          : scheme.criteria.flatMap((criterion): Dispute[] => {
              const ratings = done
                .filter((it) => it.item.id === item.id)
                .flatMap((it) => {
                  const answer = it.draft[scheme.name];
                  const rated = answer?.kind === "rubric" ? answer.criteria[criterion.name] : undefined;
                  return rated ? [{ account: it.who, name: it.who, ...rated }] : [];
                });
              const values = ratings.map((it) =>
                it.rating?.kind === "scored" ? Number(it.rating.value) : 0,
              );
              const disagreement = (Math.max(...values) - Math.min(...values)) / 4;
              if (ratings.length < 2 || disagreement === 0) return [];
              const decided = this.decisions.get(`${item.id} ${scheme.name}/${criterion.name}`);
              const { label, points } = criterion;
              return [
                {
                  item: item.id,
                  candidate: item.id,
                  title: item.task ?? "",
                  label,
                  points,
                  scheme: scheme.name,
                  criterion: criterion.name,
                  disagreement,
                  ratings,
                  decided,
                },
              ];
            }),
      ),
    );
  }

  private answers(id: string) {
    const item = this.made.items.find((it) => it.id === id);
    const answers = this.all
      .filter((it) => it.item.id === id && it.state === "submitted")
      .map((it) => ({
        account: it.who,
        name: it.who,
        draft: it.draft,
        seconds: 40,
        time: "2026-03-01T10:00:00Z",
      }));
    return { item, schemes: this.made.schemes, answers, decisions: [] };
  }
}

/** A task with people, disputes and agreement in it, to look at. */
export function annotated(): Fake {
  const { item, schemes } = rubricTask;
  const texts = [
    "Fix page_count() for a remainder.",
    "Keep the order of equal keys.",
    "Read CSV with quoted commas.",
  ];
  const items = texts.map((task, at) => ({ ...item, id: `item ${at + 1}`, task }));
  const fake = new Fake({ name: "Quality of coding agents", items, schemes });
  const names = ["Ben", "Carla", "Dimitri Aleksandrovich", "Edda"];
  const criteria = ["correctness", "code_quality", "efficiency", "documentation", "error_handling"];
  const labels = ["Correctness", "Code Quality", "Efficiency", "Documentation", "Error Handling"];
  names.slice(0, 3).forEach((who, nth) => {
    items.forEach((it, at) => {
      const rated = criteria.map((name, place) => {
        const value = 1 + ((nth * 3 + at * 2 + place * (nth + 1)) % 5);
        const comment =
          (nth + place) % 2 === 0
            ? "The page after the last full one is counted, and a size under one is refused."
            : undefined;
        const quote = {
          part: "trace.4.reasoning",
          quote: "Integer division drops the remainder.",
          start: 0,
          end: 37,
        };
        const evidence = nth === 1 ? [quote] : undefined;
        return [name, { rating: { kind: "scored", value }, comment, evidence }];
      });
      fake.add(who, it, { agent_quality: { kind: "rubric", criteria: Object.fromEntries(rated) } });
    });
  });
  fake.people = names.map((name, at) => ({
    account: name,
    name,
    n_done: 40 - 9 * at,
    median_seconds: [74, 61, 9, 103][at],
    too_fast: at === 2 ? 17 : 0,
    gold: { right: [6, 5, 2, 4][at] ?? 0, all: 6 },
    attention: { right: at === 2 ? 1 : 3, all: 3 },
    training: { right: 4, all: 5 },
    drift: at === 1 ? null : { first: 0.52 + 0.05 * at, second: 0.55 + 0.11 * at },
    last: new Date(Date.now() - at * 5_000_000).toISOString(),
    warnings: at === 2 ? ["faster than people read", "missed 2 attention checks"] : [],
  }));
  const values = [0.84, 0.71, 0.43, -0.06, undefined];
  fake.agreement = {
    criteria: criteria.map((criterion, at) => {
      const value = values[at];
      return {
        scheme: "agent_quality",
        criterion,
        label: labels[at] ?? "",
        value,
        interval: value === undefined ? undefined : [value - 0.12, Math.min(1, value + 0.09)],
        undefined:
          value === undefined
            ? "everybody gave the same answer, so chance cannot be told from agreement"
            : undefined,
        n_items: 40,
        n_pairs: 118,
      };
    }),
    pairs: criteria.flatMap((criterion, place) =>
      names.flatMap((a, at) =>
        names.slice(at + 1).map((b, nth) => ({
          a,
          b,
          criterion,
          value: 0.9 - 0.13 * nth - 0.2 * at - 0.04 * place,
          n: 31 - nth,
        })),
      ),
    ),
    people: criteria.flatMap((criterion, place) =>
      names.map((name, at) => ({
        name,
        criterion,
        leave_out: (values[place] ?? 0) + (at === 2 ? 0.12 : -0.02 * at),
      })),
    ),
    judge: [
      {
        criterion: "correctness",
        judge: "openai/gpt-5-mini",
        kappa: 0.62,
        interval: [0.48, 0.74],
        confusion: {
          labels: ["1", "2", "3", "4", "5"],
          counts: [
            [4, 1, 0, 0, 0],
            [1, 5, 2, 0, 0],
            [0, 2, 6, 3, 1],
            [0, 0, 2, 9, 4],
            [1, 0, 0, 2, 11],
          ],
        },
        disagreements: [
          {
            item: "item 9",
            candidate: "trace_042",
            judge: "1",
            people: ["5", "5", "4"],
            reason: "The tests were not run, so it cannot be known whether the fix works.",
          },
          {
            item: "item 3",
            candidate: "trace_017",
            judge: "5",
            people: ["3", "2"],
            reason: "All edge cases are covered.",
          },
        ],
      },
    ],
  };
  return fake;
}
