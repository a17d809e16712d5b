-- Everything that Portico keeps.
-- `seq` is the order of creation: lists are read and paged in it. Money is in ten-thousandths, time in microseconds since
-- 1970. A tenant is `user:<id>` or `account:<name>`. What is sealed opens only with the key of the person or of the instance.

-- ---- This database ----

-- Tells this database from others, so that no derived file of another one is taken for its own.
CREATE TABLE instance (id TEXT NOT NULL) STRICT;
INSERT INTO instance VALUES (lower(hex(randomblob(16))));

-- The profile that the first server ran with, the keystore with the keys of its people, and how far calendar time is ahead
-- of the machine's clock (only a sandbox moves it).
CREATE TABLE deployment (
    id          INTEGER PRIMARY KEY CHECK (id = 1),
    profile     TEXT,
    keystore    TEXT,
    clock_ahead INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO deployment (id) VALUES (1);

-- Written by the readiness check, to prove that a write works.
CREATE TABLE write_probe (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    at INTEGER NOT NULL
) STRICT;
INSERT INTO write_probe (id, at) VALUES (1, 0);

-- ---- Homes ----

-- A listing is one JSON document; the other columns are those that the database itself looks up. Everything else is found
-- through the search index (sqlite/search_index.rs), which reads on from the last `revision` that it holds: the listing's
-- place in the order of changes. Every edit is the next version. `updated_at` is null before the first edit.
CREATE TABLE listings (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT NOT NULL UNIQUE,
    user_id    TEXT NOT NULL,
    document   TEXT NOT NULL,
    revision   INTEGER NOT NULL UNIQUE,
    version    INTEGER NOT NULL DEFAULT 1,
    created_at INTEGER NOT NULL,
    updated_at INTEGER
) STRICT;
CREATE INDEX listings_user ON listings (user_id, seq);

-- One row per edit: the version that it made, who made it (owner or operator), and the changed fields as JSON.
CREATE TABLE listing_history (
    listing_id TEXT NOT NULL,
    version    INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    editor     TEXT NOT NULL,
    changes    TEXT NOT NULL,
    PRIMARY KEY (listing_id, version)
) STRICT;

CREATE TABLE saved_listings (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id    TEXT NOT NULL,
    listing_id TEXT NOT NULL,
    UNIQUE (user_id, listing_id)
) STRICT;
CREATE INDEX saved_listings_user ON saved_listings (user_id, seq);

CREATE TABLE requirements (
    listing_id   INTEGER NOT NULL,
    applicant_id INTEGER NOT NULL,
    met          TEXT NOT NULL,
    PRIMARY KEY (listing_id, applicant_id)
) STRICT, WITHOUT ROWID;

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
    seq             INTEGER PRIMARY KEY AUTOINCREMENT,
    id              TEXT NOT NULL UNIQUE,
    person          BLOB NOT NULL,
    listing         INTEGER NOT NULL,
    status          TEXT NOT NULL,
    version         INTEGER NOT NULL,
    generation      INTEGER NOT NULL,
    computed        INTEGER NOT NULL,
    owner           BLOB NOT NULL,
    terms           BLOB NOT NULL,
    disclosed_at    INTEGER,
    withheld        INTEGER NOT NULL DEFAULT 0,
    complete        INTEGER NOT NULL DEFAULT 0,
    ended           INTEGER NOT NULL DEFAULT 0,
    chain_key       BLOB NOT NULL,
    salt            BLOB,
    document        BLOB NOT NULL,
    created_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX applications_person ON applications (person, seq);
CREATE INDEX applications_listing ON applications (listing, seq);
CREATE INDEX applications_due ON applications (seq) WHERE generation > computed;
CREATE UNIQUE INDEX applications_open ON applications (person, listing) WHERE status = 'submitted';

-- ---- Screening ----

-- account: the tenant.
CREATE TABLE pipelines (
    account             TEXT NOT NULL PRIMARY KEY,
    client_id           TEXT UNIQUE,
    eviction            INTEGER,
    income              INTEGER,
    soft_credit         INTEGER,
    criminal_background INTEGER,
    country             TEXT
) STRICT;

-- A ClientId stays with the tenant who chose it first, also after it has another one.
CREATE TABLE client_ids (
    client_id TEXT NOT NULL PRIMARY KEY,
    account   TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX client_ids_account ON client_ids (account);

-- One soulbound token for each case. name: unique for its tenant (`account`); the case of an erased person has neither.
-- secret: the sealed key of the name's commitment. wished_wallet: the sealed address of the wallet that the case names.
-- is_generated: the token is generated. is_verified: a verification came of it.
CREATE TABLE cases (
    id            TEXT NOT NULL PRIMARY KEY,
    account       TEXT NOT NULL,
    name          TEXT,
    user_id       TEXT NOT NULL,
    token         BLOB NOT NULL UNIQUE,
    holder        BLOB NOT NULL,
    custody       INTEGER,
    wished_wallet BLOB,
    secret        BLOB,
    is_generated  INTEGER NOT NULL,
    is_verified   INTEGER NOT NULL,
    created_at    INTEGER NOT NULL,
    revoked_at    INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX cases_user ON cases (user_id, created_at);
CREATE UNIQUE INDEX cases_name ON cases (account, name);

-- The last message that a wallet was asked to sign for a token. nonce: a keyed digest. message: which wallet is to sign
-- what, sealed with the person's key.
CREATE TABLE wallet_claims (
    token      BLOB NOT NULL PRIMARY KEY,
    user_id    TEXT NOT NULL,
    nonce      BLOB NOT NULL,
    message    BLOB NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX wallet_claims_user ON wallet_claims (user_id);
CREATE INDEX wallet_claims_expiry ON wallet_claims (expires_at);

-- One row a check: the reference under which a bureau is asked, and its finding, once there is one. inputs: a digest of what
-- the check was asked with, sealed with the person's key.
CREATE TABLE checks (
    case_id     TEXT NOT NULL,
    kind        TEXT NOT NULL,
    inputs      BLOB NOT NULL,
    reference   TEXT NOT NULL,
    bureau      TEXT NOT NULL,
    finding     BLOB,
    started_at  INTEGER NOT NULL,
    finished_at INTEGER,
    PRIMARY KEY (case_id, kind)
) STRICT, WITHOUT ROWID;

-- inputs: what the applicant sent, for as long as it is kept. findings: values, for as long as they are valid.
-- outcome: which checks were passed, and what a notice of adverse action needs.
CREATE TABLE verifications (
    seq             INTEGER PRIMARY KEY AUTOINCREMENT,
    id              TEXT NOT NULL UNIQUE,
    user_id         TEXT NOT NULL,
    case_id         TEXT NOT NULL,
    created_at      INTEGER NOT NULL,
    expires_at      INTEGER NOT NULL,
    consented_at    INTEGER,
    consent_version TEXT,
    inputs          BLOB,
    findings        BLOB,
    outcome         BLOB NOT NULL
) STRICT;
CREATE INDEX verifications_user ON verifications (user_id, seq);
CREATE INDEX verifications_inputs ON verifications (created_at) WHERE inputs IS NOT NULL;
CREATE INDEX verifications_findings ON verifications (expires_at) WHERE findings IS NOT NULL;

-- Names that were tried and did not match, or are being tried.
CREATE TABLE name_guesses (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    verification TEXT NOT NULL,
    caller       TEXT NOT NULL,
    at           INTEGER NOT NULL
) STRICT;
CREATE INDEX name_guesses_of ON name_guesses (verification, caller, at);
CREATE INDEX name_guesses_at ON name_guesses (at);

-- All erasures of the keystore up to `seq` are applied to this database.
CREATE TABLE erasures (
    id  INTEGER PRIMARY KEY CHECK (id = 1),
    seq INTEGER NOT NULL
) STRICT;
INSERT INTO erasures (id, seq) VALUES (1, 0);

-- Those that are applied beyond that. subject: a digest of the user's id, until the erasure is so old that nothing which
-- began before it can still be written.
CREATE TABLE erasures_applied (
    seq     INTEGER PRIMARY KEY,
    subject BLOB
) STRICT;
CREATE INDEX erasures_applied_subject ON erasures_applied (subject, seq);

-- ---- Portfolios ----

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

-- One row per edit of a user's portfolio, with the changed fields as JSON.
CREATE TABLE portfolio_history (
    portfolio_id TEXT NOT NULL,
    number       INTEGER NOT NULL,
    at           INTEGER NOT NULL,
    changes      TEXT NOT NULL,
    PRIMARY KEY (portfolio_id, number)
) STRICT, WITHOUT ROWID;

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

-- ---- People and access ----

-- A key's secret is kept only as its SHA-256. scope: 0 operator, 1 account, 2 user. last_used_at: to about a minute.
CREATE TABLE api_keys (
    seq          INTEGER PRIMARY KEY AUTOINCREMENT,
    id           TEXT NOT NULL UNIQUE,
    digest       BLOB NOT NULL,
    name         TEXT NOT NULL,
    scope        INTEGER NOT NULL,
    subject      TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,
    last_used_at INTEGER,
    revoked_at   INTEGER
) STRICT;
CREATE INDEX api_keys_subject ON api_keys (scope, subject, seq);

-- The tenant of a user, as the user's own token has said. No row: the user is a tenant of their own.
CREATE TABLE members (
    user_id TEXT NOT NULL PRIMARY KEY,
    account TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What was used of the daily budgets. A payer is a keyed digest of a person or an account; rows of past days are deleted.
-- day: since 1970, in UTC.
CREATE TABLE budgets (
    name  TEXT NOT NULL,
    payer BLOB NOT NULL,
    day   INTEGER NOT NULL,
    used  INTEGER NOT NULL,
    PRIMARY KEY (name, payer, day)
) STRICT, WITHOUT ROWID;

-- First replies to requests with an Idempotency-Key, sealed; scope and fingerprint are keyed digests.
CREATE TABLE idempotency (
    scope       BLOB NOT NULL PRIMARY KEY,
    fingerprint BLOB NOT NULL,
    answer      BLOB,
    created_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_age ON idempotency (created_at);

-- ---- Chain ----

-- The chain that this database belongs to: one row, written when the contracts are first used.
CREATE TABLE chain (
    id        INTEGER PRIMARY KEY CHECK (id = 1),
    chain_id  INTEGER NOT NULL,
    genesis   BLOB NOT NULL,
    contracts BLOB NOT NULL
) STRICT;

-- Who signs. A holder may sign only under its own epoch; taking over raises it.
CREATE TABLE chain_signers (
    id         INTEGER PRIMARY KEY,
    address    BLOB NOT NULL UNIQUE,
    epoch      INTEGER NOT NULL,
    beat       INTEGER NOT NULL,
    next_nonce INTEGER NOT NULL
) STRICT;

-- The desired state of every item. It outlives what it is about: deleting and creating again is the next version.
-- signer and nonce: the batch that carries this version; null: it waits. max_batch: the largest batch it may be in.
-- The rows are in the order in which they come, not in that of their random keys, which would change two pages for each.
CREATE TABLE chain_items (
    kind      INTEGER NOT NULL,
    key       BLOB NOT NULL,
    version   INTEGER NOT NULL,
    payload   BLOB NOT NULL,
    deleted   INTEGER NOT NULL,
    salt      BLOB,
    signer    INTEGER,
    nonce     INTEGER,
    max_batch INTEGER NOT NULL,
    reverts   INTEGER NOT NULL,
    rejected  INTEGER NOT NULL,
    wanted_at INTEGER NOT NULL,
    due_at    INTEGER NOT NULL,
    UNIQUE (kind, key)
) STRICT;
-- Items of reverted batches come last, so that they do not hold up the others. due_at: by the machine's
-- clock, unlike wanted_at, which a sandbox can move ahead; 0: at once.
CREATE INDEX chain_items_waiting ON chain_items (max_batch DESC, wanted_at) WHERE signer IS NULL AND rejected = 0;
CREATE INDEX chain_items_rejected ON chain_items (kind) WHERE rejected = 1;

-- One contract call at one nonce. state: 0 signed, 1 mined, 2 final, 3 reverted, 4 taken by somebody else.
-- payers: whose items it carries, as digests of 32 bytes, each with a number of 8; null: nobody's.
CREATE TABLE chain_batches (
    signer     INTEGER NOT NULL,
    nonce      INTEGER NOT NULL,
    kind       INTEGER NOT NULL,
    items      INTEGER NOT NULL,
    state      INTEGER NOT NULL,
    block      INTEGER,
    block_hash BLOB,
    mined      BLOB,
    payers     BLOB,
    PRIMARY KEY (signer, nonce)
) STRICT, WITHOUT ROWID;
CREATE INDEX chain_batches_open ON chain_batches (signer, nonce) WHERE state < 2;
-- The transactions of a contract, by block; those without one come first.
CREATE INDEX chain_batches_kind ON chain_batches
    (kind, coalesce(block, 9223372036854775807), (signer * 17592186044416 + nonce));

-- Every transaction that was ever signed for a batch. The transaction itself is kept until the batch is final.
CREATE TABLE chain_attempts (
    hash    BLOB NOT NULL PRIMARY KEY,
    signer  INTEGER NOT NULL,
    nonce   INTEGER NOT NULL,
    raw     BLOB,
    max_fee INTEGER NOT NULL,
    tip     INTEGER NOT NULL,
    at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX chain_attempts_batch ON chain_attempts (signer, nonce, at);

-- ---- Operation ----

-- The audit log: every entry's hash covers the one before.
CREATE TABLE audit (
    seq     INTEGER NOT NULL PRIMARY KEY,
    at      INTEGER NOT NULL,
    actor   TEXT NOT NULL,
    action  TEXT NOT NULL,
    subject TEXT NOT NULL,
    detail  TEXT NOT NULL,
    hash    BLOB NOT NULL
) STRICT;
-- keyed: whether the hashes are keyed, as they are once a server has run. The key is in the keystore.
CREATE TABLE audit_head (
    id    INTEGER PRIMARY KEY CHECK (id = 1),
    log   BLOB NOT NULL,
    seq   INTEGER NOT NULL,
    hash  BLOB NOT NULL,
    keyed INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO audit_head (id, log, seq, hash) VALUES (1, randomblob(32), 0, zeroblob(32));
-- Entries of commands that did not know the key, until a server takes them over.
CREATE TABLE audit_waiting (
    seq     INTEGER PRIMARY KEY,
    at      INTEGER NOT NULL,
    actor   TEXT NOT NULL,
    action  TEXT NOT NULL,
    subject TEXT NOT NULL,
    detail  TEXT NOT NULL
) STRICT;

-- One row per change, nothing personal in it.
CREATE TABLE events (
    seq     INTEGER PRIMARY KEY,
    kind    TEXT NOT NULL,
    subject TEXT NOT NULL,
    account TEXT,
    at      INTEGER NOT NULL
) STRICT;

-- Totals, kept in the transaction that changes them. Hot ones are spread over shards and summed on read.
CREATE TABLE counters (
    scope TEXT NOT NULL,
    name  TEXT NOT NULL,
    shard INTEGER NOT NULL,
    n     INTEGER NOT NULL,
    PRIMARY KEY (scope, name, shard)
) STRICT, WITHOUT ROWID;
