-- Money is set aside call by call: for what, for whom, and which job holds it.
ALTER TABLE reservations ADD COLUMN subject TEXT;
ALTER TABLE reservations ADD COLUMN model TEXT;
ALTER TABLE reservations ADD COLUMN job TEXT;
ALTER TABLE reservations ADD COLUMN worker TEXT;
ALTER TABLE reservations ADD COLUMN attempt BIGINT;
ALTER TABLE spend_ledger ADD COLUMN subject TEXT;
ALTER TABLE spend_ledger ADD COLUMN model TEXT;

CREATE TABLE spend_subjects (
    project TEXT NOT NULL,
    subject TEXT NOT NULL,
    month TEXT NOT NULL,
    reserved BIGINT NOT NULL,
    settled BIGINT NOT NULL,
    PRIMARY KEY (project, subject, month)
);

-- The cap as it was set; `monthly_cap` is the same in dollars. Nobody could set one so far, so all get the usual one.
ALTER TABLE projects ADD COLUMN cap TEXT;
UPDATE projects SET cap = '{"amount":50.0,"currency":"GBP","rate":1.25}', monthly_cap = 62500000000
    WHERE monthly_cap IS NULL;

-- Nothing was ever raised before; a cause can come again once it was over.
DROP TABLE alerts;
CREATE TABLE alerts (
    id TEXT NOT NULL PRIMARY KEY,
    project TEXT NOT NULL REFERENCES projects (id),
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    message TEXT NOT NULL,
    facts TEXT NOT NULL,
    raised BIGINT NOT NULL,
    resolved BIGINT,
    sent BIGINT,
    seen BIGINT,
    seen_by TEXT
);
CREATE INDEX alerts_project ON alerts (project, id);
CREATE UNIQUE INDEX alerts_open ON alerts (project, kind, subject) WHERE resolved IS NULL;
