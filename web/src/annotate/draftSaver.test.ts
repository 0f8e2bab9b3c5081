import { expect, test, vi } from "vitest";
import { Problem, ServerGone } from "../api/client";
import { DraftSaver, isSameDraft, leftover, PAUSE, type Saved } from "./draftSaver";
import type { Saving } from "./queries";
import type { Draft } from "./types";

const said = (text: string): Draft => ({ why: { kind: "text", text } });

/** A storage of this test alone. */
function storage() {
  const all = new Map<string, string>();
  return {
    getItem: (key: string) => all.get(key) ?? null,
    setItem: (key: string, value: string) => void all.set(key, value),
    removeItem: (key: string) => void all.delete(key),
    key: (at: number) => [...all.keys()][at] ?? null,
    get length() {
      return all.size;
    },
  };
}

/** A tab before a server that answers as it is told to; timers fire when the test says so. */
function tab(answers: (number | Error)[], kept = storage()) {
  const told: Saved["kind"][] = [];
  const sent: Saving[] = [];
  const timers: { ms: number; then: () => void }[] = [];
  const keeping = new DraftSaver("asg_1", {}, 0, {
    save: async (saving) => {
      sent.push(saving);
      const answer = answers.shift() ?? saving.revision + 1;
      if (answer instanceof Error) throw answer;
      return { revision: answer };
    },
    onSaved: (it) => told.push(it.kind),
    storage: kept,
    tab: "this",
    after: (ms, then) => {
      timers.push({ ms, then });
      return timers.length as never;
    },
  });
  const fire = async () => {
    timers.at(-1)?.then();
    await vi.waitFor(() => expect(told.at(-1)).not.toBe("saving"));
  };
  return { keeping, told, sent, timers, fire, kept };
}

test("it is saved after a pause, and then kept here no longer", async () => {
  const { keeping, told, sent, timers, fire, kept } = tab([]);
  keeping.change(said("a"));
  keeping.change(said("ab"));
  expect(kept.length).toBe(1);
  expect(timers.at(-1)?.ms).toBe(PAUSE);
  await fire();
  expect(sent).toEqual([{ draft: said("ab"), revision: 0 }]);
  expect(told).toEqual(["saving", "saving", "saved"]);
  expect(kept.length).toBe(0);
});

test("while the server is away it is tried again, later each time, and stays here", async () => {
  const { keeping, told, timers, fire, kept } = tab([new ServerGone(), new ServerGone(), 1]);
  keeping.change(said("a"));
  await fire();
  timers.at(-1)?.then();
  await vi.waitFor(() => expect(timers).toHaveLength(3));
  expect(timers.map((it) => it.ms)).toEqual([PAUSE, 1000, 2000]);
  expect(kept.length).toBe(1);
  timers.at(-1)?.then();
  await vi.waitFor(() => expect(told.at(-1)).toBe("saved"));
  expect(kept.length).toBe(0);
});

test("what the server will not take is kept here, and not sent again", async () => {
  const { keeping, told, timers, fire, kept } = tab([new Problem(404, "Not found", "it was given back")]);
  keeping.change(said("a"));
  await fire();
  keeping.change(said("b"));
  expect(told.at(-1)).toBe("refused");
  expect(timers).toHaveLength(1);
  expect(kept.getItem("jurist.draft.asg_1.this")).toContain('"b"');
});

test("what is typed once it is submitted belongs to no item, and leaves nothing behind", () => {
  const { keeping, kept, timers } = tab([]);
  keeping.change(said("a"));
  keeping.finish();
  keeping.change(said("ab"));
  expect(kept.length).toBe(0);
  expect(timers).toHaveLength(1);
});

const conflict = (draft: Draft) => new Problem(409, "Conflict", "newer", { newer: { draft, revision: 7 } });

test("of two versions one's own can be kept: it is sent over the other", async () => {
  const { keeping, told, sent, fire } = tab([conflict(said("theirs")), 8]);
  keeping.change(said("mine"));
  await fire();
  expect(told.at(-1)).toBe("twofold");
  keeping.keepMine({ draft: said("theirs"), revision: 7 });
  await vi.waitFor(() => expect(told.at(-1)).toBe("saved"));
  expect(sent.at(-1)).toEqual({ draft: said("mine"), revision: 7 });
});

test("two versions that say the same are one", async () => {
  const { keeping, told, fire } = tab([conflict({ why: { text: "mine", kind: "text" } })]);
  keeping.change(said("mine"));
  await fire();
  expect(told.at(-1)).toBe("saved");
  expect(await keeping.settled()).toEqual({ draft: said("mine"), revision: 7 });
});

test("what a dead tab left comes back once; where the server went on, it is the older one", () => {
  const kept = storage();
  tab([], kept).keeping.change(said("left"));
  expect(leftover(kept, "asg_2", { draft: {}, revision: 0 })).toBeUndefined();
  expect(leftover(kept, "asg_1", { draft: {}, revision: 0 })).toMatchObject({
    draft: said("left"),
    isOlder: false,
  });
  expect(leftover(kept, "asg_1", { draft: said("new"), revision: 3 })?.isOlder).toBe(true);
  expect(leftover(kept, "asg_1", { draft: said("left"), revision: 1 })).toBeUndefined();
  expect(kept.length).toBe(0);
});

test("what is not there says the same as nothing", () => {
  expect(isSameDraft({ a: { x: undefined, y: [1] } }, { a: { y: [1] } })).toBe(true);
  expect(isSameDraft({ a: [1, 2] }, { a: [2, 1] })).toBe(false);
  expect(isSameDraft({ a: {} }, { a: [] })).toBe(false);
});
