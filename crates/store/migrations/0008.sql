-- What each day has cost and what for, so that a month is read and not added up.
CREATE TABLE spend_days (
    project TEXT NOT NULL REFERENCES projects (id),
    day BIGINT NOT NULL,
    purpose TEXT NOT NULL,
    subject TEXT NOT NULL,
    model TEXT NOT NULL,
    settled BIGINT NOT NULL,
    assumed BIGINT NOT NULL,
    n BIGINT NOT NULL,
    PRIMARY KEY (project, day, purpose, subject, model)
);
INSERT INTO spend_days (project, day, purpose, subject, model, settled, assumed, n)
SELECT project, time / 86400000000 * 86400000000, purpose, COALESCE(subject, ''), COALESCE(model, ''),
    CAST(SUM(amount) AS BIGINT), CAST(SUM(CASE WHEN kind = 'assume' THEN amount ELSE 0 END) AS BIGINT), COUNT(*)
FROM spend_ledger WHERE kind IN ('settle', 'assume')
GROUP BY project, time / 86400000000 * 86400000000, purpose, COALESCE(subject, ''), COALESCE(model, '');
CREATE INDEX spend_ledger_months ON spend_ledger (project, month);
DROP INDEX spend_ledger_days;
