-- Written for PostgreSQL; `migrate.rs` turns the types into those of SQLite.
-- Times are microseconds since 1970, money is billionths of a dollar, booleans are 0 and 1, JSON is text,
-- and every BYTEA is packed by `pack.rs`.
-- Tables that take thousands of rows a second have no foreign keys; `Store::check` looks for orphans.

CREATE TABLE projects (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    settings TEXT NOT NULL,
    monthly_cap BIGINT,
    created BIGINT NOT NULL,
    archived BIGINT
);

CREATE TABLE accounts (
    id TEXT NOT NULL PRIMARY KEY,
    email TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    password TEXT,
    is_admin BIGINT NOT NULL,
    created BIGINT NOT NULL,
    disabled BIGINT
);

CREATE TABLE members (
    project TEXT NOT NULL REFERENCES projects (id),
    account TEXT NOT NULL REFERENCES accounts (id),
    role TEXT NOT NULL,
    created BIGINT NOT NULL,
    PRIMARY KEY (project, account)
);
CREATE INDEX members_account ON members (account);

CREATE TABLE sessions (
    hash TEXT NOT NULL PRIMARY KEY,
    account TEXT NOT NULL REFERENCES accounts (id),
    created BIGINT NOT NULL,
    expires BIGINT NOT NULL,
    seen BIGINT NOT NULL
);
CREATE INDEX sessions_account ON sessions (account);
CREATE INDEX sessions_expires ON sessions (expires);

CREATE TABLE tokens (
    id TEXT NOT NULL PRIMARY KEY,
    project TEXT NOT NULL REFERENCES projects (id),
    name TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    scopes TEXT NOT NULL,
    author TEXT REFERENCES accounts (id),
    created BIGINT NOT NULL,
    expires BIGINT,
    used BIGINT,
    revoked BIGINT
);
CREATE INDEX tokens_project ON tokens (project, id);

CREATE TABLE agents (
    id TEXT NOT NULL PRIMARY KEY,
    project TEXT NOT NULL REFERENCES projects (id),
    name TEXT NOT NULL,
    settings TEXT NOT NULL,
    created BIGINT NOT NULL,
    seen BIGINT NOT NULL,
    UNIQUE (project, name)
);

CREATE TABLE rubrics (
    id TEXT NOT NULL PRIMARY KEY,
    project TEXT NOT NULL REFERENCES projects (id),
    name TEXT NOT NULL,
    newest TEXT,
    created BIGINT NOT NULL,
    archived BIGINT,
    UNIQUE (project, name)
);

CREATE TABLE rubric_versions (
    id TEXT NOT NULL PRIMARY KEY,
    project TEXT NOT NULL REFERENCES projects (id),
    rubric TEXT NOT NULL REFERENCES rubrics (id),
    hash TEXT NOT NULL,
    canonical TEXT NOT NULL,
    source TEXT,
    author TEXT REFERENCES accounts (id),
    created BIGINT NOT NULL,
    UNIQUE (rubric, hash)
);
CREATE INDEX rubric_versions_hash ON rubric_versions (project, hash);

CREATE TABLE traces (
    project TEXT NOT NULL,
    id TEXT NOT NULL,
    agent TEXT,
    session TEXT,
    state TEXT NOT NULL,
    has_end BIGINT NOT NULL,
    status TEXT,
    is_failed BIGINT NOT NULL,
    started BIGINT NOT NULL,
    updated BIGINT NOT NULL,
    finished BIGINT,
    n_pieces BIGINT NOT NULL,
    n_late BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    content_hash TEXT,
    n_steps BIGINT NOT NULL,
    cost BIGINT,
    tokens_in BIGINT NOT NULL,
    tokens_cached BIGINT NOT NULL,
    tokens_out BIGINT NOT NULL,
    duration BIGINT,
    probability DOUBLE PRECISION NOT NULL,
    metadata TEXT NOT NULL,
    PRIMARY KEY (project, id)
);
CREATE INDEX traces_started ON traces (project, started, id);
CREATE INDEX traces_agent ON traces (project, agent, started, id);
CREATE INDEX traces_session ON traces (project, session, started, id) WHERE session IS NOT NULL;
CREATE INDEX traces_kept ON traces (project, started) WHERE state = 'finished';
CREATE INDEX traces_waiting ON traces (updated) WHERE state IN ('open', 'reopened');

-- What arrives before a trace is whole, and afterwards.
CREATE TABLE pieces (
    project TEXT NOT NULL,
    trace TEXT NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    time BIGINT NOT NULL,
    received BIGINT NOT NULL,
    hash TEXT NOT NULL,
    body BYTEA,
    PRIMARY KEY (project, trace, id)
);

CREATE TABLE trace_contents (
    project TEXT NOT NULL,
    trace TEXT NOT NULL,
    revision BIGINT NOT NULL,
    hash TEXT NOT NULL,
    body BYTEA NOT NULL,
    created BIGINT NOT NULL,
    PRIMARY KEY (project, trace, revision)
);

-- Numbers only, so that they outlive the texts. The id is a hash of what makes a grade the same grade.
CREATE TABLE grades (
    id TEXT NOT NULL PRIMARY KEY,
    project TEXT NOT NULL,
    candidate TEXT NOT NULL,
    rubric_version TEXT NOT NULL,
    criterion TEXT NOT NULL,
    grader_kind TEXT NOT NULL,
    grader TEXT NOT NULL,
    configuration TEXT,
    attempt BIGINT NOT NULL,
    agent TEXT,
    outcome TEXT NOT NULL,
    unit DOUBLE PRECISION,
    is_passed BIGINT,
    probability DOUBLE PRECISION NOT NULL,
    cost BIGINT,
    time BIGINT NOT NULL
);
CREATE INDEX grades_candidate ON grades (project, candidate);
CREATE INDEX grades_time ON grades (project, time, id);
CREATE INDEX grades_series ON grades (project, rubric_version, criterion, time, id);

CREATE TABLE grade_details (
    grade TEXT NOT NULL PRIMARY KEY,
    project TEXT NOT NULL,
    candidate TEXT NOT NULL,
    body BYTEA NOT NULL
);
CREATE INDEX grade_details_candidate ON grade_details (project, candidate);

CREATE TABLE verdicts (
    id TEXT NOT NULL PRIMARY KEY,
    project TEXT NOT NULL,
    candidate TEXT NOT NULL,
    rubric_version TEXT NOT NULL,
    monitor TEXT,
    attempt BIGINT NOT NULL,
    agent TEXT,
    status TEXT NOT NULL,
    score DOUBLE PRECISION,
    probability DOUBLE PRECISION NOT NULL,
    cost BIGINT,
    time BIGINT NOT NULL,
    body BYTEA NOT NULL
);
CREATE INDEX verdicts_candidate ON verdicts (project, candidate, status);
CREATE INDEX verdicts_time ON verdicts (project, time, id);
CREATE INDEX verdicts_series ON verdicts (project, rubric_version, time, id);

-- Sums by day, kept in the transaction that adds grades: a chart over a million grades reads hundreds of rows.
CREATE TABLE grade_tallies (
    project TEXT NOT NULL,
    rubric_version TEXT NOT NULL,
    criterion TEXT NOT NULL,
    grader_kind TEXT NOT NULL,
    grader TEXT NOT NULL,
    agent TEXT NOT NULL,
    day BIGINT NOT NULL,
    n_scored BIGINT NOT NULL,
    n_passed BIGINT NOT NULL,
    n_judged BIGINT NOT NULL,
    n_not_applicable BIGINT NOT NULL,
    n_abstained BIGINT NOT NULL,
    n_failed BIGINT NOT NULL,
    n_deferred BIGINT NOT NULL,
    n_values BIGINT NOT NULL,
    x DOUBLE PRECISION NOT NULL,
    xx DOUBLE PRECISION NOT NULL,
    w DOUBLE PRECISION NOT NULL,
    wx DOUBLE PRECISION NOT NULL,
    ww DOUBLE PRECISION NOT NULL,
    wwx DOUBLE PRECISION NOT NULL,
    wwxx DOUBLE PRECISION NOT NULL,
    cost BIGINT NOT NULL,
    PRIMARY KEY (project, day, rubric_version, criterion, grader_kind, grader, agent)
);

CREATE TABLE verdict_tallies (
    project TEXT NOT NULL,
    rubric_version TEXT NOT NULL,
    agent TEXT NOT NULL,
    day BIGINT NOT NULL,
    n_pass BIGINT NOT NULL,
    n_fail BIGINT NOT NULL,
    n_error BIGINT NOT NULL,
    n_deferred BIGINT NOT NULL,
    n_values BIGINT NOT NULL,
    x DOUBLE PRECISION NOT NULL,
    xx DOUBLE PRECISION NOT NULL,
    w DOUBLE PRECISION NOT NULL,
    wx DOUBLE PRECISION NOT NULL,
    ww DOUBLE PRECISION NOT NULL,
    wwx DOUBLE PRECISION NOT NULL,
    wwxx DOUBLE PRECISION NOT NULL,
    w_pass DOUBLE PRECISION NOT NULL,
    w_fail DOUBLE PRECISION NOT NULL,
    cost BIGINT NOT NULL,
    PRIMARY KEY (project, day, rubric_version, agent)
);

CREATE TABLE runs (
    id TEXT NOT NULL PRIMARY KEY,
    project TEXT NOT NULL REFERENCES projects (id),
    format BIGINT NOT NULL,
    suite TEXT,
    seed TEXT NOT NULL,
    rubrics BYTEA NOT NULL,
    started BIGINT NOT NULL,
    ended BIGINT
);
CREATE INDEX runs_project ON runs (project, id);

CREATE TABLE run_results (
    run TEXT NOT NULL REFERENCES runs (id),
    place BIGINT NOT NULL,
    case_name TEXT NOT NULL,
    candidate TEXT NOT NULL,
    rubric TEXT NOT NULL,
    status TEXT NOT NULL,
    score DOUBLE PRECISION,
    cost BIGINT,
    body BYTEA NOT NULL,
    PRIMARY KEY (run, place)
);
CREATE INDEX run_results_summary ON run_results (run, status, score, cost);
CREATE INDEX run_results_case ON run_results (run, case_name);

-- What judges were asked and said, about a case of a run or about a trace.
CREATE TABLE exchanges (
    project TEXT NOT NULL,
    owner TEXT NOT NULL,
    part TEXT NOT NULL,
    id TEXT NOT NULL,
    time BIGINT NOT NULL,
    body BYTEA NOT NULL,
    PRIMARY KEY (project, owner, part, id)
);

CREATE TABLE jobs (
    id TEXT NOT NULL PRIMARY KEY,
    project TEXT,
    kind TEXT NOT NULL,
    payload TEXT NOT NULL,
    dedupe TEXT,
    priority BIGINT NOT NULL,
    state TEXT NOT NULL,
    ready BIGINT NOT NULL,
    attempts BIGINT NOT NULL,
    max_attempts BIGINT NOT NULL,
    leased_by TEXT,
    error TEXT,
    created BIGINT NOT NULL
);
CREATE UNIQUE INDEX jobs_dedupe ON jobs (kind, dedupe) WHERE dedupe IS NOT NULL AND state <> 'dead';
CREATE INDEX jobs_order ON jobs (priority DESC, ready, id) WHERE state <> 'dead';
CREATE INDEX jobs_ready ON jobs (ready) WHERE state <> 'dead';
CREATE INDEX jobs_dead ON jobs (id) WHERE state = 'dead';

CREATE TABLE spend_months (
    project TEXT NOT NULL,
    month TEXT NOT NULL,
    reserved BIGINT NOT NULL,
    settled BIGINT NOT NULL,
    PRIMARY KEY (project, month)
);

CREATE TABLE reservations (
    id TEXT NOT NULL PRIMARY KEY,
    project TEXT NOT NULL,
    month TEXT NOT NULL,
    amount BIGINT NOT NULL,
    purpose TEXT NOT NULL,
    time BIGINT NOT NULL
);
CREATE INDEX reservations_time ON reservations (time);

CREATE TABLE spend_ledger (
    reservation TEXT NOT NULL,
    kind TEXT NOT NULL,
    project TEXT NOT NULL,
    month TEXT NOT NULL,
    amount BIGINT NOT NULL,
    purpose TEXT NOT NULL,
    time BIGINT NOT NULL,
    PRIMARY KEY (reservation, kind)
);
CREATE INDEX spend_ledger_time ON spend_ledger (project, kind, time, reservation);

CREATE TABLE monitors (
    id TEXT NOT NULL PRIMARY KEY,
    project TEXT NOT NULL REFERENCES projects (id),
    name TEXT NOT NULL,
    newest TEXT,
    is_enabled BIGINT NOT NULL,
    created BIGINT NOT NULL,
    UNIQUE (project, name)
);

CREATE TABLE monitor_versions (
    id TEXT NOT NULL PRIMARY KEY,
    project TEXT NOT NULL REFERENCES projects (id),
    monitor TEXT NOT NULL REFERENCES monitors (id),
    rubric_version TEXT NOT NULL REFERENCES rubric_versions (id),
    agent TEXT,
    settings TEXT NOT NULL,
    author TEXT REFERENCES accounts (id),
    created BIGINT NOT NULL
);
CREATE INDEX monitor_versions_monitor ON monitor_versions (monitor, id);

CREATE TABLE decisions (
    project TEXT NOT NULL,
    trace TEXT NOT NULL,
    monitor TEXT NOT NULL,
    monitor_version TEXT NOT NULL,
    is_sampled BIGINT NOT NULL,
    probability DOUBLE PRECISION NOT NULL,
    reason TEXT NOT NULL,
    state TEXT NOT NULL,
    decided BIGINT NOT NULL,
    updated BIGINT NOT NULL,
    PRIMARY KEY (project, trace, monitor)
);
CREATE INDEX decisions_monitor ON decisions (project, monitor, decided, trace);

CREATE TABLE decision_events (
    id TEXT NOT NULL PRIMARY KEY,
    project TEXT NOT NULL,
    trace TEXT NOT NULL,
    monitor TEXT NOT NULL,
    state TEXT NOT NULL,
    note TEXT NOT NULL,
    time BIGINT NOT NULL
);
CREATE INDEX decision_events_trace ON decision_events (project, trace, monitor, id);

CREATE TABLE annotation_tasks (
    id TEXT NOT NULL PRIMARY KEY,
    project TEXT NOT NULL REFERENCES projects (id),
    name TEXT NOT NULL,
    rubric_version TEXT REFERENCES rubric_versions (id),
    settings TEXT NOT NULL,
    state TEXT NOT NULL,
    created BIGINT NOT NULL,
    updated BIGINT NOT NULL
);
CREATE INDEX annotation_tasks_project ON annotation_tasks (project, id);

CREATE TABLE annotation_items (
    id TEXT NOT NULL PRIMARY KEY,
    project TEXT NOT NULL,
    task TEXT NOT NULL REFERENCES annotation_tasks (id),
    place BIGINT NOT NULL,
    candidate TEXT NOT NULL,
    body BYTEA NOT NULL,
    n_wanted BIGINT NOT NULL,
    priority BIGINT NOT NULL,
    state TEXT NOT NULL,
    UNIQUE (task, place),
    UNIQUE (task, candidate)
);
CREATE INDEX annotation_items_open ON annotation_items (task, priority, place) WHERE state = 'open';

CREATE TABLE assignments (
    id TEXT NOT NULL PRIMARY KEY,
    project TEXT NOT NULL,
    task TEXT NOT NULL REFERENCES annotation_tasks (id),
    item TEXT NOT NULL REFERENCES annotation_items (id),
    account TEXT NOT NULL REFERENCES accounts (id),
    state TEXT NOT NULL,
    lease_until BIGINT NOT NULL,
    created BIGINT NOT NULL,
    updated BIGINT NOT NULL,
    UNIQUE (item, account)
);
CREATE INDEX assignments_account ON assignments (account, task, state);

CREATE TABLE annotations (
    id TEXT NOT NULL PRIMARY KEY,
    project TEXT NOT NULL,
    task TEXT NOT NULL REFERENCES annotation_tasks (id),
    item TEXT NOT NULL REFERENCES annotation_items (id),
    account TEXT NOT NULL REFERENCES accounts (id),
    revision BIGINT NOT NULL,
    body BYTEA NOT NULL,
    seconds DOUBLE PRECISION,
    time BIGINT NOT NULL,
    UNIQUE (item, account, revision)
);
CREATE INDEX annotations_task ON annotations (task, id);

CREATE TABLE labels (
    id TEXT NOT NULL PRIMARY KEY,
    project TEXT NOT NULL,
    candidate TEXT NOT NULL,
    rubric_version TEXT NOT NULL,
    criterion TEXT NOT NULL,
    value TEXT NOT NULL,
    unit DOUBLE PRECISION,
    origin TEXT NOT NULL,
    author TEXT,
    time BIGINT NOT NULL
);
CREATE INDEX labels_candidate ON labels (project, candidate, rubric_version, criterion, id);
CREATE INDEX labels_version ON labels (project, rubric_version, id);

CREATE TABLE alerts (
    id TEXT NOT NULL PRIMARY KEY,
    project TEXT NOT NULL REFERENCES projects (id),
    kind TEXT NOT NULL,
    dedupe TEXT NOT NULL,
    message TEXT NOT NULL,
    body TEXT NOT NULL,
    raised BIGINT NOT NULL,
    sent BIGINT,
    seen BIGINT,
    seen_by TEXT,
    UNIQUE (project, kind, dedupe)
);
CREATE INDEX alerts_project ON alerts (project, id);

CREATE TABLE audit (
    id TEXT NOT NULL PRIMARY KEY,
    project TEXT,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    target TEXT NOT NULL,
    body TEXT NOT NULL,
    time BIGINT NOT NULL
);
CREATE INDEX audit_project ON audit (project, id);

CREATE TABLE idempotency (
    project TEXT NOT NULL,
    dedupe TEXT NOT NULL,
    request TEXT NOT NULL,
    status BIGINT,
    response BYTEA,
    created BIGINT NOT NULL,
    PRIMARY KEY (project, dedupe)
);
CREATE INDEX idempotency_created ON idempotency (created);

CREATE TABLE cache (
    project TEXT NOT NULL,
    dedupe TEXT NOT NULL,
    body BYTEA NOT NULL,
    created BIGINT NOT NULL,
    used BIGINT NOT NULL,
    PRIMARY KEY (project, dedupe)
);
CREATE INDEX cache_used ON cache (used);
