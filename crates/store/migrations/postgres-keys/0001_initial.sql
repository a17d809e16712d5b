-- The keystore: a key per person, wrapped by a master key, which is wrapped by the instance's root secret.
-- Backups of the database leave it out: without it they say nothing about anybody.

-- id: tells this keystore from others; a database remembers which one is its own. moving: 1 while the keystore is moved
-- elsewhere, and takes no changes.
CREATE TABLE keystore (
    id     TEXT COLLATE "C" NOT NULL,
    moving BIGINT NOT NULL DEFAULT 0
);
INSERT INTO keystore (id) VALUES (replace(gen_random_uuid()::text, '-', ''));

-- A master key, once for every root secret that may open it. The newest wraps new keys.
CREATE TABLE masters (
    id         BYTEA NOT NULL,
    root       BYTEA NOT NULL,
    wrapped    BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (id, root)
);

-- id: by what a row of the database refers to a person, random; it means nothing once the key is destroyed.
CREATE TABLE keys (
    name    TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    id      BYTEA NOT NULL,
    master  BYTEA NOT NULL,
    wrapped BYTEA NOT NULL
);
CREATE INDEX keys_master ON keys (master);
CREATE UNIQUE INDEX keys_id ON keys (id);

-- Whose key was destroyed, so that a database that comes back from a backup forgets them too.
CREATE TABLE erasures (
    seq  BIGINT PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL,
    at   BIGINT NOT NULL
);
CREATE INDEX erasures_name ON erasures (name);
