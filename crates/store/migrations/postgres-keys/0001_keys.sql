-- The keystore: a key per person, wrapped by a master key, which is wrapped by the instance's root secret.
-- Backups of the database leave it out: without it they say nothing about anybody.

-- A master key, once for every root secret that may open it. The newest wraps new keys.
CREATE TABLE masters (
    id         BYTEA NOT NULL,
    root       BYTEA NOT NULL,
    wrapped    BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (id, root)
);

CREATE TABLE keys (
    name    TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    master  BYTEA NOT NULL,
    wrapped BYTEA NOT NULL
);
CREATE INDEX keys_master ON keys (master);

-- Whose key was destroyed, so that a database that comes back from a backup forgets them too.
CREATE TABLE erasures (
    seq  BIGINT PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL,
    at   BIGINT NOT NULL
);
