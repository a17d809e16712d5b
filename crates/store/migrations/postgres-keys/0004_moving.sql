-- 1: the keystore is being moved elsewhere, and takes no changes.
ALTER TABLE keystore ADD COLUMN moving BIGINT NOT NULL DEFAULT 0;
