-- The keystore: a key per person, wrapped by a master key, which is wrapped by the instance's root secret.
-- Backups of the database leave it out: without it they say nothing about anybody.

-- A master key, once for every root secret that may open it. The newest wraps new keys.
CREATE TABLE masters (
    id         BLOB NOT NULL,
    root       BLOB NOT NULL,
    wrapped    BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (id, root)
) STRICT, WITHOUT ROWID;

CREATE TABLE keys (
    name    TEXT NOT NULL PRIMARY KEY,
    master  BLOB NOT NULL,
    wrapped BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX keys_master ON keys (master);

-- Whose key was destroyed, so that a database that comes back from a backup forgets them too.
CREATE TABLE erasures (
    seq  INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    at   INTEGER NOT NULL
) STRICT;
