-- Everything that Portico keeps.
-- Text is compared byte by byte (COLLATE "C"), so that order and cursors agree with SQLite.
-- `seq` is the order of creation: lists are read and paged in it. Money is in ten-thousandths, time in microseconds since
-- 1970. A tenant is `user:<id>` or `account:<name>`. What is sealed opens only with the key of the person or of the instance.

-- ---- This database ----

CREATE EXTENSION IF NOT EXISTS pg_trgm;

-- Creation numbers, in the order in which they are drawn, whatever the replicas' clocks say. A transaction draws a block of
-- them. They begin with the time, so that those of a database that is made anew are larger.
CREATE SEQUENCE creation_numbers AS BIGINT INCREMENT BY 1024;
SELECT setval('creation_numbers', (extract(epoch FROM clock_timestamp()) * 1000000)::BIGINT * 2048);

-- The profile that the first server ran with, the keystore with the keys of its people, and how far calendar time is ahead
-- of the machine's clock (only a sandbox moves it).
CREATE TABLE deployment (
    id          BIGINT PRIMARY KEY CHECK (id = 1),
    profile     TEXT COLLATE "C",
    keystore    TEXT COLLATE "C",
    clock_ahead BIGINT NOT NULL DEFAULT 0
);
INSERT INTO deployment (id) VALUES (1);

-- Written by the readiness check, to prove that a write works.
CREATE TABLE write_probe (
    id BIGINT PRIMARY KEY CHECK (id = 1),
    at BIGINT NOT NULL
);
INSERT INTO write_probe (id, at) VALUES (1, 0);

-- ---- Homes ----

-- A listing is one JSON document; the other columns are those that searches use. Every edit is the next version.
-- `updated_at` is null before the first edit.
CREATE TABLE listings (
    seq         BIGINT PRIMARY KEY,
    id          TEXT COLLATE "C" NOT NULL UNIQUE,
    user_id     TEXT COLLATE "C" NOT NULL,
    document    TEXT COLLATE "C" NOT NULL,
    version     BIGINT NOT NULL DEFAULT 1,
    city_fold   TEXT COLLATE "C" NOT NULL,
    postal      TEXT COLLATE "C" NOT NULL,
    rent        BIGINT,
    bedrooms    BIGINT,
    bathrooms   BIGINT,
    morton      BIGINT,
    search_fold TEXT COLLATE "C" NOT NULL,
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT
);
CREATE INDEX listings_search ON listings USING gin (search_fold gin_trgm_ops);
CREATE INDEX listings_user ON listings (user_id, seq);
CREATE INDEX listings_city ON listings (city_fold, seq);
CREATE INDEX listings_postal ON listings (postal, seq);
CREATE INDEX listings_bedrooms ON listings (bedrooms, coalesce(rent, -1), seq) WHERE bedrooms IS NOT NULL;
CREATE INDEX listings_bathrooms ON listings (bathrooms, coalesce(rent, -1), seq) WHERE bathrooms IS NOT NULL;
-- Listings in order of rent and of size, those without one last.
CREATE INDEX listings_rent ON listings ((coalesce(rent, 9223372036854775807)), seq);
CREATE INDEX listings_size ON listings ((coalesce(-bedrooms, 1)), seq);
-- Clusters of a map are counted from this index alone: with what a search on the map filters by.
CREATE INDEX listings_place ON listings (morton, seq) INCLUDE (rent, bedrooms, bathrooms);

-- One row per edit: the version that it made, who made it (owner or operator), and the changed fields as JSON.
CREATE TABLE listing_history (
    listing_id TEXT COLLATE "C" NOT NULL,
    version    BIGINT NOT NULL,
    at         BIGINT NOT NULL,
    editor     TEXT COLLATE "C" NOT NULL,
    changes    TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (listing_id, version)
);

CREATE TABLE saved_listings (
    seq        BIGINT PRIMARY KEY,
    user_id    TEXT COLLATE "C" NOT NULL,
    listing_id TEXT COLLATE "C" NOT NULL,
    UNIQUE (user_id, listing_id)
);
CREATE INDEX saved_listings_user ON saved_listings (user_id, seq);

CREATE TABLE requirements (
    listing_id   BIGINT NOT NULL,
    applicant_id BIGINT NOT NULL,
    met          TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (listing_id, applicant_id)
);

-- ---- Applications ----

-- `person` is the id of the applicant's key in the keystore, `listing` the creation number of the listing; everything else
-- is sealed with the applicant's key in `document`. So no copy of this table tells who applied to what once that key is
-- destroyed.
--
-- `owner` and `terms` are digests under the applicant's key: of the account that owns the listing, and of that account with
-- the terms. `disclosed_at` is when the account last learned something about these terms, `withheld` whether it learns
-- nothing because too many different ones were asked for. Report and flags are computed while `generation` is above
-- `computed`; `complete`: only the applicant changes the report any more; `ended`: nothing is shared after the decision.
-- `chain_key` is the key of the flags' record, random bytes; `salt` opens it, sealed; null: there is no record.
CREATE TABLE applications (
    seq             BIGINT PRIMARY KEY,
    id              TEXT COLLATE "C" NOT NULL UNIQUE,
    person          BYTEA NOT NULL,
    listing         BIGINT NOT NULL,
    status          TEXT COLLATE "C" NOT NULL,
    version         BIGINT NOT NULL,
    generation      BIGINT NOT NULL,
    computed        BIGINT NOT NULL,
    owner           BYTEA NOT NULL,
    terms           BYTEA NOT NULL,
    disclosed_at    BIGINT,
    withheld        BIGINT NOT NULL DEFAULT 0,
    complete        BIGINT NOT NULL DEFAULT 0,
    ended           BIGINT NOT NULL DEFAULT 0,
    chain_key       BYTEA NOT NULL,
    salt            BYTEA,
    document        BYTEA NOT NULL,
    created_at      BIGINT NOT NULL
);
CREATE INDEX applications_person ON applications (person, seq);
CREATE INDEX applications_listing ON applications (listing, seq);
CREATE INDEX applications_due ON applications (seq) WHERE generation > computed;
CREATE UNIQUE INDEX applications_open ON applications (person, listing) WHERE status = 'submitted';

-- ---- Screening ----

-- account: the tenant.
CREATE TABLE pipelines (
    account             TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    client_id           TEXT COLLATE "C" UNIQUE,
    eviction            BIGINT,
    income              BIGINT,
    soft_credit         BIGINT,
    criminal_background BIGINT,
    country             TEXT COLLATE "C"
);

-- A ClientId stays with the tenant who chose it first, also after it has another one.
CREATE TABLE client_ids (
    client_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    account   TEXT COLLATE "C" NOT NULL
);
CREATE INDEX client_ids_account ON client_ids (account);

-- One soulbound token for each case. name: unique for its tenant (`account`); the case of an erased person has neither.
-- secret: the sealed key of the name's commitment. wished_wallet: the sealed address of the wallet that the case names.
-- is_generated: the token is generated. is_verified: a verification came of it.
CREATE TABLE cases (
    id            TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    account       TEXT COLLATE "C" NOT NULL,
    name          TEXT COLLATE "C",
    user_id       TEXT COLLATE "C" NOT NULL,
    token         BYTEA NOT NULL UNIQUE,
    holder        BYTEA NOT NULL,
    custody       BIGINT,
    wished_wallet BYTEA,
    secret        BYTEA,
    is_generated  BIGINT NOT NULL,
    is_verified   BIGINT NOT NULL,
    created_at    BIGINT NOT NULL,
    revoked_at    BIGINT
);
CREATE INDEX cases_user ON cases (user_id, created_at);
CREATE UNIQUE INDEX cases_name ON cases (account, name);

-- The last message that a wallet was asked to sign for a token. nonce: a keyed digest. message: which wallet is to sign
-- what, sealed with the person's key.
CREATE TABLE wallet_claims (
    token      BYTEA NOT NULL PRIMARY KEY,
    user_id    TEXT COLLATE "C" NOT NULL,
    nonce      BYTEA NOT NULL,
    message    BYTEA NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX wallet_claims_user ON wallet_claims (user_id);
CREATE INDEX wallet_claims_expiry ON wallet_claims (expires_at);

-- One row a check: the reference under which a bureau is asked, and its finding, once there is one. inputs: a digest of what
-- the check was asked with, sealed with the person's key.
CREATE TABLE checks (
    case_id     TEXT COLLATE "C" NOT NULL,
    kind        TEXT COLLATE "C" NOT NULL,
    inputs      BYTEA NOT NULL,
    reference   TEXT COLLATE "C" NOT NULL,
    bureau      TEXT COLLATE "C" NOT NULL,
    finding     BYTEA,
    started_at  BIGINT NOT NULL,
    finished_at BIGINT,
    PRIMARY KEY (case_id, kind)
);

-- inputs: what the applicant sent, for as long as it is kept. findings: values, for as long as they are valid.
-- outcome: which checks were passed, and what a notice of adverse action needs.
CREATE TABLE verifications (
    seq             BIGINT PRIMARY KEY,
    id              TEXT COLLATE "C" NOT NULL UNIQUE,
    user_id         TEXT COLLATE "C" NOT NULL,
    case_id         TEXT COLLATE "C" NOT NULL,
    created_at      BIGINT NOT NULL,
    expires_at      BIGINT NOT NULL,
    consented_at    BIGINT,
    consent_version TEXT COLLATE "C",
    inputs          BYTEA,
    findings        BYTEA,
    outcome         BYTEA NOT NULL
);
CREATE INDEX verifications_user ON verifications (user_id, seq);
CREATE INDEX verifications_inputs ON verifications (created_at) WHERE inputs IS NOT NULL;
CREATE INDEX verifications_findings ON verifications (expires_at) WHERE findings IS NOT NULL;

-- Names that were tried and did not match, or are being tried.
CREATE TABLE name_guesses (
    id           BIGINT PRIMARY KEY,
    verification TEXT COLLATE "C" NOT NULL,
    caller       TEXT COLLATE "C" NOT NULL,
    at           BIGINT NOT NULL
);
CREATE INDEX name_guesses_of ON name_guesses (verification, caller, at);
CREATE INDEX name_guesses_at ON name_guesses (at);

-- All erasures of the keystore up to `seq` are applied to this database.
CREATE TABLE erasures (
    id  BIGINT PRIMARY KEY CHECK (id = 1),
    seq BIGINT NOT NULL
);
INSERT INTO erasures (id, seq) VALUES (1, 0);

-- Those that are applied beyond that. subject: a digest of the user's id, until the erasure is so old that nothing which
-- began before it can still be written.
CREATE TABLE erasures_applied (
    seq     BIGINT PRIMARY KEY,
    subject BYTEA
);
CREATE INDEX erasures_applied_subject ON erasures_applied (subject, seq);

-- ---- Portfolios ----

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

-- One row per edit of a user's portfolio, with the changed fields as JSON.
CREATE TABLE portfolio_history (
    portfolio_id TEXT COLLATE "C" NOT NULL,
    number       BIGINT NOT NULL,
    at           BIGINT NOT NULL,
    changes      TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (portfolio_id, number)
);

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

-- ---- People and access ----

-- A key's secret is kept only as its SHA-256. scope: 0 operator, 1 account, 2 user. last_used_at: to about a minute.
CREATE TABLE api_keys (
    seq          BIGINT PRIMARY KEY,
    id           TEXT COLLATE "C" NOT NULL UNIQUE,
    digest       BYTEA NOT NULL,
    name         TEXT COLLATE "C" NOT NULL,
    scope        BIGINT NOT NULL,
    subject      TEXT COLLATE "C" NOT NULL,
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT,
    last_used_at BIGINT,
    revoked_at   BIGINT
);
CREATE INDEX api_keys_subject ON api_keys (scope, subject, seq);

-- The tenant of a user, as the user's own token has said. No row: the user is a tenant of their own.
CREATE TABLE members (
    user_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    account TEXT COLLATE "C" NOT NULL
);

-- What was used of the daily budgets. A payer is a keyed digest of a person or an account; rows of past days are deleted.
-- day: since 1970, in UTC.
CREATE TABLE budgets (
    name  TEXT COLLATE "C" NOT NULL,
    payer BYTEA NOT NULL,
    day   BIGINT NOT NULL,
    used  BIGINT NOT NULL,
    PRIMARY KEY (name, payer, day)
);

-- First replies to requests with an Idempotency-Key, sealed; scope and fingerprint are keyed digests.
CREATE TABLE idempotency (
    scope       BYTEA NOT NULL PRIMARY KEY,
    fingerprint BYTEA NOT NULL,
    answer      BYTEA,
    created_at  BIGINT NOT NULL
);
CREATE INDEX idempotency_age ON idempotency (created_at);

-- ---- Chain ----

-- The chain that this database belongs to: one row, written when the contracts are first used.
CREATE TABLE chain (
    id        BIGINT PRIMARY KEY CHECK (id = 1),
    chain_id  BIGINT NOT NULL,
    genesis   BYTEA NOT NULL,
    contracts BYTEA NOT NULL
);

-- Who signs. A holder may sign only under its own epoch; taking over raises it.
CREATE TABLE chain_signers (
    id         BIGINT PRIMARY KEY,
    address    BYTEA NOT NULL UNIQUE,
    epoch      BIGINT NOT NULL,
    beat       BIGINT NOT NULL,
    next_nonce BIGINT NOT NULL
);

-- The desired state of every item. It outlives what it is about: deleting and creating again is the next version.
-- signer and nonce: the batch that carries this version; null: it waits. max_batch: the largest batch it may be in.
CREATE TABLE chain_items (
    kind      BIGINT NOT NULL,
    key       BYTEA NOT NULL,
    version   BIGINT NOT NULL,
    payload   BYTEA NOT NULL,
    deleted   BIGINT NOT NULL,
    salt      BYTEA,
    signer    BIGINT,
    nonce     BIGINT,
    max_batch BIGINT NOT NULL,
    reverts   BIGINT NOT NULL,
    rejected  BIGINT NOT NULL,
    wanted_at BIGINT NOT NULL,
    due_at    BIGINT NOT NULL,
    PRIMARY KEY (kind, key)
);
-- Items of reverted batches come last, so that they do not hold up the others. due_at: by the machine's
-- clock, unlike wanted_at, which a sandbox can move ahead; 0: at once.
CREATE INDEX chain_items_waiting ON chain_items (max_batch DESC, wanted_at) WHERE signer IS NULL AND rejected = 0;
CREATE INDEX chain_items_rejected ON chain_items (kind) WHERE rejected = 1;

-- One contract call at one nonce. state: 0 signed, 1 mined, 2 final, 3 reverted, 4 taken by somebody else.
-- payers: whose items it carries, as digests of 32 bytes, each with a number of 8; null: nobody's.
CREATE TABLE chain_batches (
    signer     BIGINT NOT NULL,
    nonce      BIGINT NOT NULL,
    kind       BIGINT NOT NULL,
    items      BIGINT NOT NULL,
    state      BIGINT NOT NULL,
    block      BIGINT,
    block_hash BYTEA,
    mined      BYTEA,
    payers     BYTEA,
    PRIMARY KEY (signer, nonce)
);
CREATE INDEX chain_batches_open ON chain_batches (signer, nonce) WHERE state < 2;
-- The transactions of a contract, by block; those without one come first.
CREATE INDEX chain_batches_kind ON chain_batches
    (kind, coalesce(block, 9223372036854775807), (signer * 17592186044416 + nonce));

-- Every transaction that was ever signed for a batch. The transaction itself is kept until the batch is final.
CREATE TABLE chain_attempts (
    hash    BYTEA NOT NULL PRIMARY KEY,
    signer  BIGINT NOT NULL,
    nonce   BIGINT NOT NULL,
    raw     BYTEA,
    max_fee BIGINT NOT NULL,
    tip     BIGINT NOT NULL,
    at      BIGINT NOT NULL
);
CREATE INDEX chain_attempts_batch ON chain_attempts (signer, nonce, at);

-- ---- Operation ----

-- The audit log: every entry's hash covers the one before.
CREATE TABLE audit (
    seq     BIGINT NOT NULL PRIMARY KEY,
    at      BIGINT NOT NULL,
    actor   TEXT COLLATE "C" NOT NULL,
    action  TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    detail  TEXT COLLATE "C" NOT NULL,
    hash    BYTEA NOT NULL
);
-- keyed: whether the hashes are keyed, as they are once a server has run. The key is in the keystore.
CREATE TABLE audit_head (
    id    BIGINT PRIMARY KEY CHECK (id = 1),
    log   BYTEA NOT NULL,
    seq   BIGINT NOT NULL,
    hash  BYTEA NOT NULL,
    keyed BIGINT NOT NULL DEFAULT 0
);
INSERT INTO audit_head (id, log, seq, hash) VALUES (1,
    decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'), 0, decode(repeat('00', 32), 'hex'));
-- Entries of commands that did not know the key, until a server takes them over.
CREATE TABLE audit_waiting (
    seq     BIGINT PRIMARY KEY,
    at      BIGINT NOT NULL,
    actor   TEXT COLLATE "C" NOT NULL,
    action  TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    detail  TEXT COLLATE "C" NOT NULL
);

-- One row per change, nothing personal in it.
CREATE TABLE events (
    seq     BIGINT PRIMARY KEY,
    kind    TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    account TEXT COLLATE "C",
    at      BIGINT NOT NULL
);

-- Totals, kept in the transaction that changes them. Hot ones are spread over shards and summed on read.
CREATE TABLE counters (
    scope TEXT COLLATE "C" NOT NULL,
    name  TEXT COLLATE "C" NOT NULL,
    shard BIGINT NOT NULL,
    n     BIGINT NOT NULL,
    PRIMARY KEY (scope, name, shard)
);
