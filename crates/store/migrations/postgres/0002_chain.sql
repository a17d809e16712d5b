-- What is wanted on the chain, and how far it has come.

-- The chain that this database belongs to: one row, written when the contracts are first used.
CREATE TABLE chain (
    id        BIGINT PRIMARY KEY CHECK (id = 1),
    chain_id  BIGINT NOT NULL,
    genesis   BYTEA NOT NULL,
    contracts BYTEA NOT NULL
);

-- Who signs. A holder may sign only under its own epoch; whoever takes over raises it.
CREATE TABLE chain_signers (
    id         BIGINT PRIMARY KEY,
    address    BYTEA NOT NULL UNIQUE,
    epoch      BIGINT NOT NULL,
    beat       BIGINT NOT NULL,
    next_nonce BIGINT NOT NULL
);

-- The wanted state of every item. It outlives what it is about: deleting and creating again is the next version.
-- signer and nonce say which batch carries this version; none: it waits. share: the largest batch it may be in.
CREATE TABLE chain_items (
    kind      BIGINT NOT NULL,
    key       BYTEA NOT NULL,
    version   BIGINT NOT NULL,
    payload   BYTEA NOT NULL,
    gone      BIGINT NOT NULL,
    salt      BYTEA,
    signer    BIGINT,
    nonce     BIGINT,
    share     BIGINT NOT NULL,
    reverts   BIGINT NOT NULL,
    failed    BIGINT NOT NULL,
    wanted_at BIGINT NOT NULL,
    PRIMARY KEY (kind, key)
);
CREATE INDEX chain_items_waiting ON chain_items (wanted_at) WHERE signer IS NULL AND failed = 0;

-- One contract call at one nonce. state: 0 signed, 1 mined, 2 final, 3 reverted, 4 taken by somebody else.
CREATE TABLE chain_batches (
    signer     BIGINT NOT NULL,
    nonce      BIGINT NOT NULL,
    kind       BIGINT NOT NULL,
    items      BIGINT NOT NULL,
    state      BIGINT NOT NULL,
    block      BIGINT,
    block_hash BYTEA,
    mined      BYTEA,
    PRIMARY KEY (signer, nonce)
);
CREATE INDEX chain_batches_open ON chain_batches (signer, nonce) WHERE state < 2;

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

-- By what random reference the chain knows an applicant.
CREATE TABLE chain_references (
    user_id   TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    reference BYTEA NOT NULL UNIQUE
);
