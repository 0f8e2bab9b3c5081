// Search parameters of the pages in this folder.
import { type RawSearch, textParam } from "../api/searchParams";

/** `before` may be several, with commas between them. */
export type CompareSearch = { before?: string; after?: string };

export const readCompareSearch = (raw: RawSearch): CompareSearch => ({
  before: textParam(raw.before),
  after: textParam(raw.after),
});
