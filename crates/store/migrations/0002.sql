-- What a run was asked for, so that any worker can do a part of it.
CREATE TABLE submissions (
    run TEXT NOT NULL PRIMARY KEY REFERENCES runs (id),
    n_units BIGINT NOT NULL,
    body BYTEA NOT NULL
);
