-- Traces are listed by what they cost, took or scored, and searched by what was asked. The score is that of the newest
-- verdict; what was asked is cut short, and goes with the rest of what a trace said.
ALTER TABLE traces ADD COLUMN title TEXT;
ALTER TABLE traces ADD COLUMN score DOUBLE PRECISION;
ALTER TABLE traces ADD COLUMN scored BIGINT;
UPDATE traces SET scored = (SELECT MAX(v.time) FROM verdicts v
    WHERE v.project = traces.project AND v.candidate = traces.id);
UPDATE traces SET score = (SELECT v.score FROM verdicts v
    WHERE v.project = traces.project AND v.candidate = traces.id AND v.time = traces.scored ORDER BY v.id LIMIT 1)
    WHERE scored IS NOT NULL;
CREATE INDEX traces_cost ON traces (project, cost, id) WHERE cost IS NOT NULL;
CREATE INDEX traces_duration ON traces (project, duration, id) WHERE duration IS NOT NULL;
CREATE INDEX traces_score ON traces (project, score, id) WHERE score IS NOT NULL;

-- The trend of one criterion among many.
CREATE INDEX monitor_scores_series ON monitor_scores (project, monitor, rubric_version, judge, criterion, decided, trace)
    WHERE rescore = '';
