-- Whose erasure was applied: a digest of the user's name, until the erasure is so old that nothing which began before
-- it can still be written.
ALTER TABLE erasures_applied ADD COLUMN subject BLOB;
CREATE INDEX erasures_applied_subject ON erasures_applied (subject, seq);

-- Items that the chain has refused are counted as they are, not as they ever were.
CREATE INDEX chain_items_failed ON chain_items (kind) WHERE failed = 1;
DELETE FROM counters WHERE scope = 'chain' AND name = 'failed';
