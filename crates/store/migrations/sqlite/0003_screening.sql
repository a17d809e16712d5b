-- Cases, the checks of a case, and what came of them. Whatever says something about a person is sealed with
-- that person's own key, which is not kept here.

-- One soulbound token for each case. secret: the sealed key of the name's commitment. done: a verification came of it.
CREATE TABLE cases (
    id         TEXT NOT NULL PRIMARY KEY,
    account    TEXT NOT NULL,
    user_id    TEXT NOT NULL,
    token      BLOB NOT NULL UNIQUE,
    holder     BLOB NOT NULL,
    custody    INTEGER,
    secret     BLOB,
    made       INTEGER NOT NULL,
    done       INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX cases_user ON cases (user_id, created_at);

-- One row a check: the reference under which a bureau is asked, and its finding, once there is one.
CREATE TABLE checks (
    case_id     TEXT NOT NULL,
    kind        TEXT NOT NULL,
    tag         INTEGER NOT NULL,
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

-- Names that were tried and did not fit, or are being tried.
CREATE TABLE name_guesses (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    verification TEXT NOT NULL,
    caller       TEXT NOT NULL,
    at           INTEGER NOT NULL
) STRICT;
CREATE INDEX name_guesses_of ON name_guesses (verification, caller, at);
CREATE INDEX name_guesses_at ON name_guesses (at);

-- Flags that are to be computed anew. A row that is renewed while it is worked on stays.
CREATE TABLE attestations (
    user_id    TEXT NOT NULL,
    listing_id TEXT NOT NULL,
    generation INTEGER NOT NULL,
    PRIMARY KEY (user_id, listing_id)
) STRICT, WITHOUT ROWID;

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
CREATE TABLE audit_head (
    id   INTEGER PRIMARY KEY CHECK (id = 1),
    log  BLOB NOT NULL,
    seq  INTEGER NOT NULL,
    hash BLOB NOT NULL
) STRICT;
INSERT INTO audit_head (id, log, seq, hash) VALUES (1, randomblob(32), 0, zeroblob(32));

-- How many of the keystore's erasures this database has followed.
CREATE TABLE erasures (
    id  INTEGER PRIMARY KEY CHECK (id = 1),
    seq INTEGER NOT NULL
) STRICT;
INSERT INTO erasures (id, seq) VALUES (1, 0);
