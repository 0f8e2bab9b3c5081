// Search parameters of the pages in this folder.
import { flagParam, type RawSearch, textParam } from "../api/searchParams";

export type ResultsSearch = { by?: string };

export const readResultsSearch = (raw: RawSearch): ResultsSearch => ({ by: textParam(raw.by) });

export type DisputesSearch = { item?: string; row?: string; only?: string; decided?: boolean };

export const readDisputesSearch = (raw: RawSearch): DisputesSearch => ({
  item: textParam(raw.item),
  row: textParam(raw.row),
  only: textParam(raw.only),
  decided: flagParam(raw.decided),
});

export type AgreementSearch = {
  pairs?: string;
  judge?: string;
  on?: string;
  all?: boolean;
  /** The item that is open. */
  item?: string;
};

export const readAgreementSearch = (raw: RawSearch): AgreementSearch => ({
  pairs: textParam(raw.pairs),
  judge: textParam(raw.judge),
  on: textParam(raw.on),
  all: flagParam(raw.all),
  item: textParam(raw.item),
});
