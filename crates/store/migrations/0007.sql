-- What was spent, day by day and by what for, from the index alone.
CREATE INDEX spend_ledger_days ON spend_ledger (project, kind, time, purpose, subject, model, amount);
DROP INDEX spend_ledger_time;
