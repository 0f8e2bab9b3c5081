// Search parameters of the pages in this folder.
import { flagParam, type RawSearch } from "../api/searchParams";

export type BudgetSearch = { month?: string };

export const readBudgetSearch = (raw: RawSearch): BudgetSearch => ({
  month: /^\d{4}-\d{2}$/.test(String(raw.month)) ? String(raw.month) : undefined,
});

export type AlertsSearch = { all?: boolean };

export const readAlertsSearch = (raw: RawSearch): AlertsSearch => ({ all: flagParam(raw.all) });
