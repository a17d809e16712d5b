-- Whether the entries of the audit log are keyed. The key is in the keystore.
ALTER TABLE audit_head ADD COLUMN keyed BIGINT NOT NULL DEFAULT 0;
-- Entries of commands that did not know the key, until a server takes them over.
CREATE TABLE audit_waiting (
    seq     BIGINT PRIMARY KEY,
    at      BIGINT NOT NULL,
    actor   TEXT NOT NULL,
    action  TEXT NOT NULL,
    subject TEXT NOT NULL,
    detail  TEXT NOT NULL
);
-- A digest of a check's inputs, sealed with the person's key. It replaces the tag of 16 bits, which could be the same for
-- other inputs; what is NULL is from before, and the check starts again.
ALTER TABLE checks ADD COLUMN inputs BYTEA;
UPDATE checks SET tag = 0;
