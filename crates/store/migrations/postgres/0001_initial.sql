-- Everything that Portico keeps. `seq` is the order of creation: lists are read and paged in it.
-- Text is compared byte by byte (COLLATE "C"), so that order and cursors agree with SQLite.
-- Money is in ten-thousandths, coordinates in billionths of a degree, time in microseconds.

CREATE EXTENSION IF NOT EXISTS pg_trgm;

CREATE TABLE listings (
    seq            BIGINT PRIMARY KEY,
    id             TEXT COLLATE "C" NOT NULL UNIQUE,
    user_id        TEXT COLLATE "C" NOT NULL,
    street         TEXT COLLATE "C" NOT NULL,
    city           TEXT COLLATE "C" NOT NULL,
    city_fold      TEXT COLLATE "C" NOT NULL,
    state          TEXT COLLATE "C" NOT NULL,
    postal         TEXT COLLATE "C" NOT NULL,
    country        TEXT COLLATE "C" NOT NULL,
    rent           BIGINT,
    property_value BIGINT,
    bedrooms       BIGINT,
    bathrooms      BIGINT,
    latitude       BIGINT,
    longitude      BIGINT,
    morton         BIGINT,
    walkthrough    TEXT COLLATE "C",
    created_at     BIGINT NOT NULL,
    search_fold    TEXT COLLATE "C" NOT NULL
);
CREATE INDEX listings_search ON listings USING gin (search_fold gin_trgm_ops);
CREATE INDEX listings_user ON listings (user_id, seq);
CREATE INDEX listings_city ON listings (city_fold, seq);
CREATE INDEX listings_postal ON listings (postal, seq);
CREATE INDEX listings_rent ON listings (rent, seq) WHERE rent IS NOT NULL;
CREATE INDEX listings_bedrooms ON listings (bedrooms, coalesce(rent, -1), seq) WHERE bedrooms IS NOT NULL;
CREATE INDEX listings_bathrooms ON listings (bathrooms, coalesce(rent, -1), seq) WHERE bathrooms IS NOT NULL;
CREATE INDEX listings_place ON listings (morton, seq) WHERE morton IS NOT NULL;

CREATE TABLE saved_listings (
    seq        BIGINT PRIMARY KEY,
    user_id    TEXT COLLATE "C" NOT NULL,
    listing_id TEXT COLLATE "C" NOT NULL,
    UNIQUE (user_id, listing_id)
);
CREATE INDEX saved_listings_user ON saved_listings (user_id, seq);

CREATE TABLE applications (
    seq        BIGINT PRIMARY KEY,
    user_id    TEXT COLLATE "C" NOT NULL,
    listing_id TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    UNIQUE (user_id, listing_id)
);
CREATE INDEX applications_user ON applications (user_id, seq);
CREATE INDEX applications_listing ON applications (listing_id, seq);

CREATE TABLE requirements (
    listing_id   BIGINT NOT NULL,
    applicant_id BIGINT NOT NULL,
    met          TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (listing_id, applicant_id)
);

CREATE TABLE pipelines (
    account             TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    client_id           TEXT COLLATE "C" UNIQUE,
    eviction            BIGINT,
    income              BIGINT,
    soft_credit         BIGINT,
    criminal_background BIGINT,
    country             TEXT COLLATE "C"
);

CREATE TABLE templates (
    seq         BIGINT PRIMARY KEY,
    id          TEXT COLLATE "C" NOT NULL UNIQUE,
    name        TEXT COLLATE "C" NOT NULL,
    description TEXT COLLATE "C",
    risk        TEXT COLLATE "C" NOT NULL,
    items       TEXT COLLATE "C" NOT NULL,
    active      BIGINT NOT NULL,
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL
);
CREATE INDEX templates_active ON templates (seq) WHERE active = 1;
CREATE INDEX templates_risk ON templates (risk, seq) WHERE active = 1;

CREATE TABLE portfolios (
    seq         BIGINT PRIMARY KEY,
    id          TEXT COLLATE "C" NOT NULL UNIQUE,
    user_id     TEXT COLLATE "C" NOT NULL,
    name        TEXT COLLATE "C",
    description TEXT COLLATE "C",
    risk        TEXT COLLATE "C" NOT NULL,
    items       TEXT COLLATE "C" NOT NULL,
    based_on    TEXT COLLATE "C",
    custom      BIGINT NOT NULL,
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL
);
CREATE INDEX portfolios_user ON portfolios (user_id, seq);

CREATE TABLE devices (
    seq        BIGINT PRIMARY KEY,
    id         TEXT COLLATE "C" NOT NULL UNIQUE,
    user_id    TEXT COLLATE "C" NOT NULL,
    network    TEXT COLLATE "C" NOT NULL,
    identifier TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (network, identifier)
);
CREATE INDEX devices_user ON devices (user_id, seq);
CREATE INDEX devices_network ON devices (network, seq);

-- A key's secret is kept only as its SHA-256. scope: 0 operator, 1 account, 2 user.
CREATE TABLE api_keys (
    seq        BIGINT PRIMARY KEY,
    id         TEXT COLLATE "C" NOT NULL UNIQUE,
    digest     BYTEA NOT NULL,
    name       TEXT COLLATE "C" NOT NULL,
    scope      BIGINT NOT NULL,
    subject    TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    revoked_at BIGINT
);
CREATE INDEX api_keys_subject ON api_keys (scope, subject, seq);

-- Which account a user belongs to, as the user's own token has said. No row: the account of the same name.
CREATE TABLE members (
    user_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    account TEXT COLLATE "C" NOT NULL
);

-- Totals, kept in the transaction that changes them. Hot ones are spread over shards and summed on read.
CREATE TABLE counters (
    scope TEXT COLLATE "C" NOT NULL,
    name  TEXT COLLATE "C" NOT NULL,
    shard BIGINT NOT NULL,
    n     BIGINT NOT NULL,
    PRIMARY KEY (scope, name, shard)
);

-- One row per change, nothing personal in it.
CREATE TABLE events (
    seq     BIGINT PRIMARY KEY,
    kind    TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    account TEXT COLLATE "C",
    at      BIGINT NOT NULL
);

-- First answers to requests with an Idempotency-Key, sealed; scope and fingerprint are keyed digests.
CREATE TABLE idempotency (
    scope       BYTEA NOT NULL PRIMARY KEY,
    fingerprint BYTEA NOT NULL,
    answer      BYTEA,
    created_at  BIGINT NOT NULL
);
CREATE INDEX idempotency_age ON idempotency (created_at);
