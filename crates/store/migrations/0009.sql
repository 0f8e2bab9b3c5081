-- A decision is about one revision of its trace; a trace that changed since is decided about anew.
ALTER TABLE decisions ADD COLUMN revision BIGINT NOT NULL DEFAULT 1;
DROP INDEX decisions_waiting;
CREATE INDEX decisions_waiting ON decisions (project, monitor, decided, trace)
    WHERE state IN ('sampled', 'stale', 'pending');

-- Traces of which nothing can be read or was ever said are not judged.
ALTER TABLE traces ADD COLUMN has_content BIGINT NOT NULL DEFAULT 1;
