CREATE TABLE datasets (
    id TEXT NOT NULL PRIMARY KEY,
    project TEXT NOT NULL REFERENCES projects (id),
    name TEXT NOT NULL,
    description TEXT,
    test_share DOUBLE PRECISION NOT NULL,
    -- Number of the newest version; 0 before the first.
    version BIGINT NOT NULL,
    -- Place of the next case.
    next_place BIGINT NOT NULL,
    author TEXT REFERENCES accounts (id),
    created BIGINT NOT NULL,
    archived BIGINT,
    UNIQUE (project, name)
);

CREATE TABLE dataset_versions (
    dataset TEXT NOT NULL REFERENCES datasets (id),
    number BIGINT NOT NULL,
    note TEXT,
    n_cases BIGINT NOT NULL,
    n_test BIGINT NOT NULL,
    n_added BIGINT NOT NULL,
    n_changed BIGINT NOT NULL,
    n_removed BIGINT NOT NULL,
    author TEXT REFERENCES accounts (id),
    created BIGINT NOT NULL,
    PRIMARY KEY (dataset, number)
);

-- A case is in all versions from `added_in` on, up to the one before `removed_in`. A changed case is two rows. A case
-- whose trace was erased has neither body nor hash nor title. The body is last: SQLite reads a row from its front.
CREATE TABLE dataset_cases (
    dataset TEXT NOT NULL REFERENCES datasets (id),
    -- In the order in which cases were added.
    place BIGINT NOT NULL,
    project TEXT NOT NULL,
    key TEXT NOT NULL,
    task TEXT NOT NULL,
    split TEXT NOT NULL,
    title TEXT,
    trace TEXT,
    rubric_version TEXT REFERENCES rubric_versions (id),
    added_in BIGINT NOT NULL,
    removed_in BIGINT,
    hash TEXT,
    body BYTEA,
    PRIMARY KEY (dataset, place)
);
CREATE UNIQUE INDEX dataset_cases_key ON dataset_cases (dataset, key, added_in);
CREATE INDEX dataset_cases_added ON dataset_cases (dataset, added_in);
CREATE INDEX dataset_cases_removed ON dataset_cases (dataset, removed_in) WHERE removed_in IS NOT NULL;
CREATE INDEX dataset_cases_trace ON dataset_cases (project, trace) WHERE trace IS NOT NULL;
