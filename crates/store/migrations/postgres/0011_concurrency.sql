-- Whose erasure was applied: a digest of the user's name, until the erasure is so old that nothing which began before
-- it can still be written.
ALTER TABLE erasures_applied ADD COLUMN subject BYTEA;
CREATE INDEX erasures_applied_subject ON erasures_applied (subject, seq);

-- Creation numbers, in the order in which they are drawn, whatever the replicas' clocks say. A transaction draws a
-- block of them. It begins after all numbers that were made from a clock; the day is for replicas of an older version.
CREATE SEQUENCE creation_numbers AS BIGINT INCREMENT BY 1024;
SELECT setval('creation_numbers', ((extract(epoch FROM clock_timestamp()) + 86400) * 1000000)::BIGINT * 2048);

-- Items that the chain has refused are counted as they are, not as they ever were.
CREATE INDEX chain_items_failed ON chain_items (kind) WHERE failed = 1;
DELETE FROM counters WHERE scope = 'chain' AND name = 'failed';
