// Datasets, as the server describes them.
import type { Schemas } from "../api/client";

export type Dataset = Schemas["DatasetView"];
export type DatasetVersion = Schemas["DatasetVersionView"];
export type DatasetCase = Schemas["DatasetCaseView"];
export type DatasetCaseInFull = Schemas["DatasetCaseInFull"];
/** What became of one case between two versions. */
export type DatasetChange = Schemas["CaseDifferenceView"];
/** What a request for a version changed. */
export type WrittenVersion = Schemas["DatasetVersionReceipt"];

type Request = Schemas["NewDatasetVersion"];

/** What a new version adds and removes. The generated types do not describe records and filters. */
export type DatasetEntry = Partial<Omit<Request, "records" | "trace_filter">> & {
  records?: Record<string, unknown>[];
  trace_filter?: Record<string, unknown>;
};
