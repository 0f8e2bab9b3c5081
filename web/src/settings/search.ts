// Search parameters of the pages in this folder.
import { type RawSearch, textParam } from "../api/searchParams";

export type AuditSearch = { actor?: string; action?: string };

export const readAuditSearch = (raw: RawSearch): AuditSearch => ({
  actor: textParam(raw.actor),
  action: textParam(raw.action),
});
