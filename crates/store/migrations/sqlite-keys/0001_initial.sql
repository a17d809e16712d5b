-- The keystore: a key per person, wrapped by a master key, which is wrapped by the instance's root secret.
-- Backups of the database leave it out: without it they say nothing about anybody.

-- id: tells this keystore from others; a database remembers which one is its own. moving: 1 while the keystore is moved
-- elsewhere, and takes no changes.
CREATE TABLE keystore (
    id     TEXT NOT NULL,
    moving INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO keystore (id) VALUES (lower(hex(randomblob(16))));

-- A master key, once for every root secret that may open it. The newest wraps new keys.
CREATE TABLE masters (
    id         BLOB NOT NULL,
    root       BLOB NOT NULL,
    wrapped    BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (id, root)
) STRICT, WITHOUT ROWID;

-- id: by what a row of the database refers to a person, random; it means nothing once the key is destroyed.
CREATE TABLE keys (
    name    TEXT NOT NULL PRIMARY KEY,
    id      BLOB NOT NULL,
    master  BLOB NOT NULL,
    wrapped BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX keys_master ON keys (master);
CREATE UNIQUE INDEX keys_id ON keys (id);

-- Whose key was destroyed, so that a database that comes back from a backup forgets them too.
CREATE TABLE erasures (
    seq  INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    at   INTEGER NOT NULL
) STRICT;
CREATE INDEX erasures_name ON erasures (name);
