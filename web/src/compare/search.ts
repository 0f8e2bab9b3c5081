// Search parameters of the pages in this folder.
import { oneOf, type RawSearch, textParam } from "../api/searchParams";
import type { ChangeFilter } from "./queries";

/** `before` may be several, with commas between them. */
export type CompareSearch = {
  before?: string;
  after?: string;
  /** Which cases are shown side by side. */
  show?: ChangeFilter;
  /** Part of a case's name. */
  find?: string;
};

export const readCompareSearch = (raw: RawSearch): CompareSearch => ({
  before: textParam(raw.before),
  after: textParam(raw.after),
  show: oneOf<ChangeFilter>("verdict", "worse", "better", "different-answer", "undecided", "all")(raw.show),
  find: textParam(raw.find),
});
