-- What this database belongs to: the profile that its first server ran with, and the keystore with the keys of its people.
CREATE TABLE deployment (
    id       BIGINT PRIMARY KEY CHECK (id = 1),
    profile  TEXT COLLATE "C",
    keystore TEXT COLLATE "C"
);
INSERT INTO deployment (id) VALUES (1);

-- The keystore's erasures that were applied here, beyond the one up to which all are (`erasures`).
CREATE TABLE erasures_applied (seq BIGINT PRIMARY KEY);

-- Written by the readiness check, to prove that a write works.
CREATE TABLE write_probe (
    id BIGINT PRIMARY KEY CHECK (id = 1),
    at BIGINT NOT NULL
);
INSERT INTO write_probe (id, at) VALUES (1, 0);
