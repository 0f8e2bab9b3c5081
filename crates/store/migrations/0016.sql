-- What annotators ask with every item is counted as items and assignments change, and read from indexes.
-- Number of open items with the role `item`.
ALTER TABLE annotation_tasks ADD COLUMN n_open BIGINT NOT NULL DEFAULT 0;
-- Number of assignments of the item that are submitted.
ALTER TABLE annotation_items ADD COLUMN n_submitted BIGINT NOT NULL DEFAULT 0;
-- Role of the item, and whether it is open.
ALTER TABLE assignments ADD COLUMN item_role TEXT NOT NULL DEFAULT 'item';
ALTER TABLE assignments ADD COLUMN is_item_open BIGINT NOT NULL DEFAULT 1;

UPDATE annotation_tasks SET n_open = (SELECT COUNT(*) FROM annotation_items
    WHERE annotation_items.task = annotation_tasks.id AND annotation_items.role = 'item'
    AND annotation_items.state = 'open');
UPDATE annotation_items SET n_submitted = (SELECT COUNT(*) FROM assignments
    WHERE assignments.item = annotation_items.id AND assignments.state = 'submitted');
UPDATE assignments SET
    item_role = (SELECT role FROM annotation_items WHERE annotation_items.id = assignments.item),
    is_item_open = (SELECT CASE WHEN annotation_items.state = 'open' THEN 1 ELSE 0 END FROM annotation_items
        WHERE annotation_items.id = assignments.item);

DROP INDEX assignments_account;
CREATE INDEX assignments_own ON assignments (account, task, state, item_role, is_item_open);
CREATE INDEX annotation_items_counts ON annotation_items (task, role, n_submitted, state, n_wanted);
-- Items for all annotators have no count to compare, and are not read in search of one.
DROP INDEX annotation_items_balanced;
CREATE INDEX annotation_items_wanted ON annotation_items (task, role, n_given, turn)
    WHERE state = 'open' AND n_wanted > 0;
