-- Cases, the checks of a case, and what came of them. Whatever says something about a person is sealed with
-- that person's own key, which is not kept here.

-- One soulbound token for each case. secret: the sealed key of the name's commitment. done: a verification came of it.
CREATE TABLE cases (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    account    TEXT COLLATE "C" NOT NULL,
    user_id    TEXT COLLATE "C" NOT NULL,
    token      BYTEA NOT NULL UNIQUE,
    holder     BYTEA NOT NULL,
    custody    BIGINT,
    secret     BYTEA,
    made       BIGINT NOT NULL,
    done       BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    revoked_at BIGINT
);
CREATE INDEX cases_user ON cases (user_id, created_at);

-- One row a check: the reference under which a bureau is asked, and its finding, once there is one.
CREATE TABLE checks (
    case_id     TEXT COLLATE "C" NOT NULL,
    kind        TEXT COLLATE "C" NOT NULL,
    tag         BIGINT NOT NULL,
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

-- Names that were tried and did not fit, or are being tried.
CREATE TABLE name_guesses (
    id           BIGINT PRIMARY KEY,
    verification TEXT COLLATE "C" NOT NULL,
    caller       TEXT COLLATE "C" NOT NULL,
    at           BIGINT NOT NULL
);
CREATE INDEX name_guesses_of ON name_guesses (verification, caller, at);
CREATE INDEX name_guesses_at ON name_guesses (at);

-- Flags that are to be computed anew. A row that is renewed while it is worked on stays.
CREATE TABLE attestations (
    user_id    TEXT COLLATE "C" NOT NULL,
    listing_id TEXT COLLATE "C" NOT NULL,
    generation BIGINT NOT NULL,
    PRIMARY KEY (user_id, listing_id)
);

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
CREATE TABLE audit_head (
    id   BIGINT PRIMARY KEY CHECK (id = 1),
    log  BYTEA NOT NULL,
    seq  BIGINT NOT NULL,
    hash BYTEA NOT NULL
);
INSERT INTO audit_head (id, log, seq, hash) VALUES (1, decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'), 0,
    decode(repeat('00', 32), 'hex'));

-- How many of the keystore's erasures this database has followed.
CREATE TABLE erasures (
    id  BIGINT PRIMARY KEY CHECK (id = 1),
    seq BIGINT NOT NULL
);
INSERT INTO erasures (id, seq) VALUES (1, 0);
