-- Where a run comes from, as far as it is known. `commit` is a word of SQL.
ALTER TABLE runs ADD COLUMN branch TEXT;
ALTER TABLE runs ADD COLUMN commit_hash TEXT;
ALTER TABLE runs ADD COLUMN author TEXT;
ALTER TABLE runs ADD COLUMN ci_url TEXT;
CREATE INDEX runs_suite ON runs (project, suite, id);

CREATE TABLE run_tags (
    run TEXT NOT NULL REFERENCES runs (id),
    -- In the order in which they were given.
    place BIGINT NOT NULL,
    tag TEXT NOT NULL,
    PRIMARY KEY (run, place)
);
CREATE INDEX run_tags_tag ON run_tags (tag, run);
