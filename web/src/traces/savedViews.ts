// Views of the list of traces: a name, a filter and an order. They are stored in this browser; their addresses can be shared.
import { readTracesSearch, type TracesSearch } from "./search";

export type SavedView = { name: string; search: TracesSearch };

/** Views that every project has. */
export const STANDARD_VIEWS: SavedView[] = [
  { name: "All traces", search: {} },
  { name: "Failed verdicts", search: { verdict: "fail" } },
  { name: "Lowest scores", search: { sort: "score" } },
  { name: "Judge errors", search: { verdict: "error" } },
  { name: "Failed runs of agents", search: { failed: true } },
  { name: "Most expensive", search: { sort: "-cost" } },
  { name: "Slowest", search: { sort: "-duration" } },
];

const MOST_VIEWS = 50;
export const LONGEST_NAME = 60;

const storageKey = (project: string): string => `jurist.trace-views.${project}`;

/** The stored views. What another version or another program wrote there is left out. */
export function readViews(project: string, storage: Storage = localStorage): SavedView[] {
  try {
    const stored: unknown = JSON.parse(storage.getItem(storageKey(project)) ?? "[]");
    if (!Array.isArray(stored)) return [];
    return stored
      .filter((it) => typeof it?.name === "string" && it.name.trim() !== "" && typeof it.search === "object")
      .slice(0, MOST_VIEWS)
      .map((it) => ({
        name: it.name.slice(0, LONGEST_NAME),
        search: compact(readTracesSearch(it.search ?? {})),
      }));
  } catch {
    return [];
  }
}

/** Stores a view; one of the same name is replaced. */
export function saveView(project: string, view: SavedView, storage: Storage = localStorage): SavedView[] {
  const name = view.name.trim().slice(0, LONGEST_NAME);
  const others = readViews(project, storage).filter((it) => it.name !== name);
  return writeViews(project, [...others, { name, search: compact(view.search) }].slice(-MOST_VIEWS), storage);
}

export function deleteView(project: string, name: string, storage: Storage = localStorage): SavedView[] {
  const rest = readViews(project, storage).filter((it) => it.name !== name);
  return writeViews(project, rest, storage);
}

function writeViews(project: string, views: SavedView[], storage: Storage): SavedView[] {
  storage.setItem(storageKey(project), JSON.stringify(views));
  return views;
}

/** Only what is set, so that two equal filters are equal. */
function compact(search: TracesSearch): TracesSearch {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined));
}

export const isSameView = (one: TracesSearch, other: TracesSearch): boolean =>
  JSON.stringify(Object.entries(compact(one)).sort()) ===
  JSON.stringify(Object.entries(compact(other)).sort());
