ALTER TABLE annotation_tasks ADD COLUMN version BIGINT NOT NULL DEFAULT 0;
ALTER TABLE annotation_tasks ADD COLUMN origin TEXT;
CREATE UNIQUE INDEX annotation_tasks_origin ON annotation_tasks (project, origin);

CREATE TABLE annotation_task_versions (
    task TEXT NOT NULL REFERENCES annotation_tasks (id),
    version BIGINT NOT NULL,
    project TEXT NOT NULL,
    hash TEXT NOT NULL,
    body BYTEA NOT NULL,
    created BIGINT NOT NULL,
    PRIMARY KEY (task, version)
);

ALTER TABLE annotation_items ADD COLUMN role TEXT NOT NULL DEFAULT 'item';
ALTER TABLE annotation_items ADD COLUMN n_given BIGINT NOT NULL DEFAULT 0;
ALTER TABLE annotation_items ADD COLUMN turn BIGINT NOT NULL DEFAULT 0;
UPDATE annotation_items SET turn = place, n_given = (SELECT COUNT(*) FROM assignments
    WHERE assignments.item = annotation_items.id AND assignments.state <> 'skipped');
CREATE INDEX annotation_items_balanced ON annotation_items (task, role, n_given, turn) WHERE state = 'open';
CREATE INDEX annotation_items_turn ON annotation_items (task, role, turn) WHERE state = 'open';

ALTER TABLE assignments ADD COLUMN version BIGINT NOT NULL DEFAULT 0;
ALTER TABLE assignments ADD COLUMN draft BYTEA;
ALTER TABLE assignments ADD COLUMN revision BIGINT NOT NULL DEFAULT 0;
ALTER TABLE assignments ADD COLUMN seconds DOUBLE PRECISION NOT NULL DEFAULT 0;
ALTER TABLE assignments ADD COLUMN touched BIGINT NOT NULL DEFAULT 0;
CREATE INDEX assignments_leases ON assignments (task, lease_until) WHERE state = 'assigned';
CREATE INDEX assignments_mine ON assignments (task, account, id);

ALTER TABLE annotations ADD COLUMN version BIGINT NOT NULL DEFAULT 0;

CREATE TABLE adjudications (
    id TEXT NOT NULL PRIMARY KEY,
    project TEXT NOT NULL,
    task TEXT NOT NULL,
    item TEXT NOT NULL,
    scheme TEXT NOT NULL,
    criterion TEXT NOT NULL,
    body TEXT NOT NULL,
    author TEXT,
    time BIGINT NOT NULL
);
CREATE INDEX adjudications_item ON adjudications (item, id);
CREATE INDEX adjudications_task ON adjudications (task, id);
