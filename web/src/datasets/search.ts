// Search parameters of the pages in this folder.
import { flagParam, numberParam, oneOf, type RawSearch, textParam } from "../api/searchParams";

export type DatasetsSearch = { archived?: boolean };

export const readDatasetsSearch = (raw: RawSearch): DatasetsSearch => ({ archived: flagParam(raw.archived) });

export type DatasetTab = "changes";

export type DatasetSearch = {
  /** Cases by default. */
  view?: DatasetTab;
  /** The newest by default. */
  version?: number;
  split?: "dev" | "test";
  search?: string;
  /** The version that changes are compared with; the one before by default. */
  from?: number;
  /** The key of the case that is open. */
  case?: string;
};

export const readDatasetSearch = (raw: RawSearch): DatasetSearch => ({
  view: oneOf<DatasetTab>("changes")(raw.view),
  version: numberParam(raw.version),
  split: oneOf("dev", "test")(raw.split),
  search: textParam(raw.search),
  from: numberParam(raw.from),
  case: textParam(raw.case),
});
