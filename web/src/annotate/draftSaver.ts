// Saves drafts: in the browser at once, on the server a moment later.
import { Problem } from "../api/client";
import type { Saving } from "./queries";
import type { Draft } from "./types";

/** The state of a draft. */
export type Saved =
  | { kind: "saved" }
  | { kind: "saving" }
  /** No connection; retried automatically. */
  | { kind: "waiting" }
  /** The server refused the draft; retrying would not help. */
  | { kind: "refused"; why: string }
  /** Another tab or computer saved a different draft. */
  | { kind: "twofold"; theirs: Saving };

type Timer = ReturnType<typeof setTimeout>;

export type Outside = {
  save: (saving: Saving, isLeaving: boolean) => Promise<{ revision: number }>;
  onSaved: (saved: Saved) => void;
  storage: Pick<Storage, "getItem" | "setItem" | "removeItem" | "key" | "length">;
  /** Identifies the tab. */
  tab: string;
  after?: (ms: number, then: () => void) => Timer;
};

/** Milliseconds without input until a draft is saved. */
export const PAUSE = 600;
const [SOONEST, LATEST] = [1000, 30_000];

/** Saves the draft of one assignment in one tab. */
export class DraftSaver {
  private saved: Saved = { kind: "saved" };
  private timer: Timer | undefined;
  private running: Promise<void> | undefined;
  private failures = 0;
  private isClosed = false;

  constructor(
    private readonly assignment: string,
    private draft: Draft,
    private revision: number,
    private readonly outside: Outside,
  ) {}

  /** Called when an answer changes. */
  change(draft: Draft) {
    if (this.isClosed) return;
    this.draft = draft;
    this.remember();
    if (this.saved.kind === "twofold" || this.saved.kind === "refused") return;
    this.tell({ kind: "saving" });
    this.soon(PAUSE);
  }

  /** Saves now, because the page is about to close or the network is back. */
  flush(isLeaving = false) {
    if (this.saved.kind !== "saving" && this.saved.kind !== "waiting") return;
    clearTimeout(this.timer);
    void this.send(isLeaving);
  }

  /** The draft to submit, after a running save has finished. */
  async settled(): Promise<Saving> {
    clearTimeout(this.timer);
    await this.running;
    clearTimeout(this.timer);
    return { draft: this.draft, revision: this.revision };
  }

  /** Called after submitting: removes the copy in the browser. */
  finish() {
    this.close();
    this.saved = { kind: "saved" };
    forget(this.outside.storage, keyOf(this.assignment, this.outside.tab));
  }

  /** Keeps the version of this tab; it replaces the other. */
  keepMine(theirs: Saving) {
    this.revision = theirs.revision;
    this.tell({ kind: "saving" });
    void this.send(false);
  }

  /** Uses the other version. */
  takeTheirs(theirs: Saving) {
    this.draft = theirs.draft;
    this.revision = theirs.revision;
    forget(this.outside.storage, keyOf(this.assignment, this.outside.tab));
    this.tell({ kind: "saved" });
  }

  /** The server has a newer draft. */
  meet(theirs: Saving) {
    if (isSameDraft(theirs.draft, this.draft)) {
      this.takeTheirs({ draft: this.draft, revision: theirs.revision });
    } else this.tell({ kind: "twofold", theirs });
  }

  close() {
    this.isClosed = true;
    clearTimeout(this.timer);
  }

  private soon(ms: number) {
    clearTimeout(this.timer);
    const after = this.outside.after ?? ((wait, then) => setTimeout(then, wait));
    this.timer = after(ms, () => void this.send(false));
  }

  private async send(isLeaving: boolean) {
    await this.running;
    if (this.isClosed && !isLeaving) return;
    this.running = this.sendOnce(isLeaving).finally(() => {
      this.running = undefined;
    });
    await this.running;
  }

  private async sendOnce(isLeaving: boolean) {
    const { draft, revision } = this;
    try {
      const answer = await this.outside.save({ draft, revision }, isLeaving);
      this.revision = answer.revision;
      this.failures = 0;
      if (this.draft !== draft) {
        this.remember();
        return this.soon(PAUSE);
      }
      forget(this.outside.storage, keyOf(this.assignment, this.outside.tab));
      this.tell({ kind: "saved" });
    } catch (error) {
      const newer = newerOf(error);
      if (newer) return this.meet(newer);
      if (error instanceof Problem && error.status < 500 && error.status !== 429) {
        return this.tell({ kind: "refused", why: error.message });
      }
      this.tell({ kind: "waiting" });
      this.soon(Math.min(LATEST, SOONEST * 2 ** this.failures));
      this.failures += 1;
    }
  }

  private remember() {
    const kept: Kept = { draft: this.draft, revision: this.revision, time: Date.now() };
    try {
      this.outside.storage.setItem(keyOf(this.assignment, this.outside.tab), JSON.stringify(kept));
    } catch {
      // The storage is full; the server still gets the draft.
    }
  }

  private tell(saved: Saved) {
    this.saved = saved;
    if (!this.isClosed) this.outside.onSaved(saved);
  }
}

/** The newer draft of the server, where it refused an older one. */
export function newerOf(error: unknown): Saving | undefined {
  if (!(error instanceof Problem) || error.status !== 409) return undefined;
  return error.more.newer as Saving | undefined;
}

type Kept = Saving & { time: number };

/** `key` is its place in the storage. */
export type Leftover = Kept & { key: string; isOlder: boolean };

const PREFIX = "jurist.draft.";
const keyOf = (assignment: string, tab: string): string => `${PREFIX}${assignment}.${tab}`;

/**
 * What this machine still holds that the server never got, of tabs that were closed or died.
 * Where the server has gone on meanwhile, both are there to choose from.
 */
export function leftover(
  storage: Outside["storage"],
  assignment: string,
  server: Saving,
): Leftover | undefined {
  const all: (Kept & { key: string })[] = [];
  const keys = Array.from({ length: storage.length }, (_, at) => storage.key(at) ?? "");
  for (const key of keys.filter((it) => it.startsWith(`${PREFIX}${assignment}.`))) {
    try {
      const kept = JSON.parse(storage.getItem(key) ?? "") as Kept;
      if (isSameDraft(kept.draft, server.draft)) forget(storage, key);
      else all.push({ ...kept, key });
    } catch {
      forget(storage, key);
    }
  }
  const newest = all.sort((a, b) => b.time - a.time)[0];
  return newest && { ...newest, isOlder: newest.revision < server.revision };
}

/** Removes a stored draft. */
export function forget(storage: Outside["storage"], key: string) {
  try {
    storage.removeItem(key);
  } catch {
    // There is no storage, so there is nothing to remove.
  }
}

/** Whether two drafts are equal; the order of keys and absent values do not matter. */
export function isSameDraft(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) {
    return (a ?? undefined) === (b ?? undefined);
  }
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  const of = (it: object, name: string) => (it as Record<string, unknown>)[name];
  return [...names].every((name) => isSameDraft(of(a, name), of(b, name)));
}
