-- Whether a case of a run passes, as people see it: one row per person and case.
CREATE TABLE run_labels (
    run TEXT NOT NULL REFERENCES runs (id),
    place BIGINT NOT NULL,
    -- An account; empty on a server without accounts.
    author TEXT NOT NULL,
    is_passed BIGINT NOT NULL,
    comment TEXT NOT NULL,
    time BIGINT NOT NULL,
    PRIMARY KEY (run, place, author)
);
