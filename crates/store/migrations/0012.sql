-- Until when an alert is not notified again; an alert of the same cause that is raised in between takes it over.
ALTER TABLE alerts ADD COLUMN snoozed_until BIGINT;
