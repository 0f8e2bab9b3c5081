-- What monitors decide about each trace, and what their estimates are made of.
ALTER TABLE monitors ADD COLUMN paused TEXT;
ALTER TABLE monitors ADD COLUMN removed BIGINT;

ALTER TABLE decisions ADD COLUMN stratum TEXT NOT NULL DEFAULT 'other';
ALTER TABLE decisions ADD COLUMN upstream DOUBLE PRECISION NOT NULL DEFAULT 1;
ALTER TABLE decisions ADD COLUMN agent TEXT;
ALTER TABLE decisions ADD COLUMN spread DOUBLE PRECISION;
ALTER TABLE decisions ADD COLUMN is_disputed BIGINT NOT NULL DEFAULT 0;
CREATE INDEX decisions_disputed ON decisions (project, monitor, decided, trace) WHERE is_disputed = 1;
CREATE INDEX decisions_waiting ON decisions (project, monitor, decided, trace) WHERE state IN ('sampled', 'pending');

-- Monitors look at what finishes from now on; what is there is for whoever asks for it.
ALTER TABLE traces ADD COLUMN is_considered BIGINT NOT NULL DEFAULT 0;
UPDATE traces SET is_considered = 1 WHERE state NOT IN ('open', 'reopened');
CREATE INDEX traces_unconsidered ON traces (finished) WHERE state = 'finished' AND is_considered = 0;

-- One number of one judge, or of all together, for a trace: for a criterion, or for the whole where that is empty.
-- Without a number the judge broke, which may heal; a number never changes.
CREATE TABLE monitor_scores (
    project TEXT NOT NULL,
    monitor TEXT NOT NULL,
    trace TEXT NOT NULL,
    monitor_version TEXT NOT NULL,
    rubric_version TEXT NOT NULL,
    judge TEXT NOT NULL,
    criterion TEXT NOT NULL,
    rescore TEXT NOT NULL,
    stratum TEXT NOT NULL,
    agent TEXT,
    probability DOUBLE PRECISION NOT NULL,
    unit DOUBLE PRECISION,
    is_passed BIGINT,
    decided BIGINT NOT NULL,
    time BIGINT NOT NULL,
    PRIMARY KEY (project, monitor, trace, rubric_version, judge, criterion, rescore)
);
CREATE INDEX monitor_scores_decided ON monitor_scores (project, monitor, decided);

-- Sums by day, kept in the transaction that changes what they sum up: estimates over a million traces read hundreds
-- of rows.
CREATE TABLE decision_tallies (
    project TEXT NOT NULL,
    monitor TEXT NOT NULL,
    day BIGINT NOT NULL,
    monitor_version TEXT NOT NULL,
    agent TEXT NOT NULL,
    stratum TEXT NOT NULL,
    state TEXT NOT NULL,
    n BIGINT NOT NULL,
    population DOUBLE PRECISION NOT NULL,
    population_variance DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (project, monitor, day, monitor_version, agent, stratum, state)
);

CREATE TABLE score_tallies (
    project TEXT NOT NULL,
    monitor TEXT NOT NULL,
    day BIGINT NOT NULL,
    monitor_version TEXT NOT NULL,
    rubric_version TEXT NOT NULL,
    rescore TEXT NOT NULL,
    judge TEXT NOT NULL,
    criterion TEXT NOT NULL,
    agent TEXT NOT NULL,
    stratum TEXT NOT NULL,
    n_errors BIGINT NOT NULL,
    n BIGINT NOT NULL,
    x DOUBLE PRECISION NOT NULL,
    w DOUBLE PRECISION NOT NULL,
    wx DOUBLE PRECISION NOT NULL,
    wxx DOUBLE PRECISION NOT NULL,
    ww DOUBLE PRECISION NOT NULL,
    wwx DOUBLE PRECISION NOT NULL,
    wwxx DOUBLE PRECISION NOT NULL,
    n_judged BIGINT NOT NULL,
    n_passed BIGINT NOT NULL,
    p_w DOUBLE PRECISION NOT NULL,
    p_wx DOUBLE PRECISION NOT NULL,
    p_ww DOUBLE PRECISION NOT NULL,
    p_wwx DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (project, monitor, day, monitor_version, rubric_version, rescore, judge, criterion, agent, stratum)
);

-- Traces of earlier versions that are judged again by a newer one, each with a share of its probability.
CREATE TABLE rescores (
    id TEXT NOT NULL PRIMARY KEY,
    project TEXT NOT NULL REFERENCES projects (id),
    monitor TEXT NOT NULL REFERENCES monitors (id),
    monitor_version TEXT NOT NULL REFERENCES monitor_versions (id),
    rubric_version TEXT NOT NULL REFERENCES rubric_versions (id),
    since BIGINT NOT NULL,
    until BIGINT NOT NULL,
    share DOUBLE PRECISION NOT NULL,
    n_traces BIGINT NOT NULL,
    author TEXT REFERENCES accounts (id),
    created BIGINT NOT NULL
);
CREATE INDEX rescores_monitor ON rescores (project, monitor, id);

-- Two traces of the same task side by side. Without a winner it is a tie, or was not judged.
CREATE TABLE contests (
    id TEXT NOT NULL PRIMARY KEY,
    project TEXT NOT NULL,
    monitor TEXT NOT NULL,
    series TEXT NOT NULL,
    side_a TEXT NOT NULL,
    side_b TEXT NOT NULL,
    rubric_version TEXT NOT NULL,
    judge TEXT NOT NULL,
    trace_a TEXT NOT NULL,
    trace_b TEXT NOT NULL,
    first TEXT NOT NULL,
    outcome TEXT NOT NULL,
    reason TEXT NOT NULL,
    cost BIGINT,
    time BIGINT NOT NULL
);
CREATE INDEX contests_series ON contests (project, monitor, series, id);
