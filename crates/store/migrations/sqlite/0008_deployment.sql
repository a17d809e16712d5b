-- What this database belongs to: the profile that its first server ran with, and the keystore with the keys of its people.
CREATE TABLE deployment (
    id       INTEGER PRIMARY KEY CHECK (id = 1),
    profile  TEXT,
    keystore TEXT
) STRICT;
INSERT INTO deployment (id) VALUES (1);

-- The keystore's erasures that were applied here, beyond the one up to which all are (`erasures`).
CREATE TABLE erasures_applied (seq INTEGER PRIMARY KEY) STRICT;

-- Written by the readiness check, to prove that a write works.
CREATE TABLE write_probe (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    at INTEGER NOT NULL
) STRICT;
INSERT INTO write_probe (id, at) VALUES (1, 0);
