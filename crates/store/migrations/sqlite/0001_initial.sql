-- Everything that Portico keeps. `seq` is the order of creation: lists are read and paged in it.
-- Money is in ten-thousandths, coordinates in billionths of a degree, time in microseconds.

-- Tells this database from others, so that no derived file of another one is taken for its own.
CREATE TABLE instance (id TEXT NOT NULL) STRICT;
INSERT INTO instance VALUES (lower(hex(randomblob(16))));

CREATE TABLE listings (
    seq            INTEGER PRIMARY KEY AUTOINCREMENT,
    id             TEXT NOT NULL UNIQUE,
    user_id        TEXT NOT NULL,
    street         TEXT NOT NULL,
    city           TEXT NOT NULL,
    city_fold      TEXT NOT NULL,
    state          TEXT NOT NULL,
    postal         TEXT NOT NULL,
    country        TEXT NOT NULL,
    rent           INTEGER,
    property_value INTEGER,
    bedrooms       INTEGER,
    bathrooms      INTEGER,
    latitude       INTEGER,
    longitude      INTEGER,
    morton         INTEGER,
    walkthrough    TEXT,
    created_at     INTEGER NOT NULL
) STRICT;
CREATE INDEX listings_user ON listings (user_id, seq);
-- By city, postal code, rent, rooms, place and text listings are found through the search index (sqlite/indexer.rs).

CREATE TABLE saved_listings (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id    TEXT NOT NULL,
    listing_id TEXT NOT NULL,
    UNIQUE (user_id, listing_id)
) STRICT;
CREATE INDEX saved_listings_user ON saved_listings (user_id, seq);

CREATE TABLE applications (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id    TEXT NOT NULL,
    listing_id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    UNIQUE (user_id, listing_id)
) STRICT;
CREATE INDEX applications_user ON applications (user_id, seq);
CREATE INDEX applications_listing ON applications (listing_id, seq);

CREATE TABLE requirements (
    listing_id   INTEGER NOT NULL,
    applicant_id INTEGER NOT NULL,
    met          TEXT NOT NULL,
    PRIMARY KEY (listing_id, applicant_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE pipelines (
    account             TEXT NOT NULL PRIMARY KEY,
    client_id           TEXT UNIQUE,
    eviction            INTEGER,
    income              INTEGER,
    soft_credit         INTEGER,
    criminal_background INTEGER,
    country             TEXT
) STRICT;

CREATE TABLE templates (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    id          TEXT NOT NULL UNIQUE,
    name        TEXT NOT NULL,
    description TEXT,
    risk        TEXT NOT NULL,
    items       TEXT NOT NULL,
    active      INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL
) STRICT;
CREATE INDEX templates_active ON templates (seq) WHERE active = 1;
CREATE INDEX templates_risk ON templates (risk, seq) WHERE active = 1;

CREATE TABLE portfolios (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    id          TEXT NOT NULL UNIQUE,
    user_id     TEXT NOT NULL,
    name        TEXT,
    description TEXT,
    risk        TEXT NOT NULL,
    items       TEXT NOT NULL,
    based_on    TEXT,
    custom      INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL
) STRICT;
CREATE INDEX portfolios_user ON portfolios (user_id, seq);

CREATE TABLE devices (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT NOT NULL UNIQUE,
    user_id    TEXT NOT NULL,
    network    TEXT NOT NULL,
    identifier TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (network, identifier)
) STRICT;
CREATE INDEX devices_user ON devices (user_id, seq);
CREATE INDEX devices_network ON devices (network, seq);

-- A key's secret is kept only as its SHA-256. scope: 0 operator, 1 account, 2 user.
CREATE TABLE api_keys (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT NOT NULL UNIQUE,
    digest     BLOB NOT NULL,
    name       TEXT NOT NULL,
    scope      INTEGER NOT NULL,
    subject    TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
) STRICT;
CREATE INDEX api_keys_subject ON api_keys (scope, subject, seq);

-- Which account a user belongs to, as the user's own token has said. No row: the account of the same name.
CREATE TABLE members (
    user_id TEXT NOT NULL PRIMARY KEY,
    account TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Totals, kept in the transaction that changes them. Hot ones are spread over shards and summed on read.
CREATE TABLE counters (
    scope TEXT NOT NULL,
    name  TEXT NOT NULL,
    shard INTEGER NOT NULL,
    n     INTEGER NOT NULL,
    PRIMARY KEY (scope, name, shard)
) STRICT, WITHOUT ROWID;

-- One row per change, nothing personal in it.
CREATE TABLE events (
    seq     INTEGER PRIMARY KEY,
    kind    TEXT NOT NULL,
    subject TEXT NOT NULL,
    account TEXT,
    at      INTEGER NOT NULL
) STRICT;

-- First answers to requests with an Idempotency-Key, sealed; scope and fingerprint are keyed digests.
CREATE TABLE idempotency (
    scope       BLOB NOT NULL PRIMARY KEY,
    fingerprint BLOB NOT NULL,
    answer      BLOB,
    created_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_age ON idempotency (created_at);
