-- The ends of the scale that the scores of all rubrics of the run share: lists of runs show it without reading rubrics.
-- NULL if they share none, and in rows of earlier versions.
ALTER TABLE runs ADD COLUMN scale_min DOUBLE PRECISION;
ALTER TABLE runs ADD COLUMN scale_max DOUBLE PRECISION;
