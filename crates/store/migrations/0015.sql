-- The name that all trials of a case share. NULL in rows of earlier versions, where the name of the trial tells it.
ALTER TABLE run_results ADD COLUMN base TEXT;
