-- What is wanted on the chain, and how far it has come.

-- The chain that this database belongs to: one row, written when the contracts are first used.
CREATE TABLE chain (
    id        INTEGER PRIMARY KEY CHECK (id = 1),
    chain_id  INTEGER NOT NULL,
    genesis   BLOB NOT NULL,
    contracts BLOB NOT NULL
) STRICT;

-- Who signs. A holder may sign only under its own epoch; whoever takes over raises it.
CREATE TABLE chain_signers (
    id         INTEGER PRIMARY KEY,
    address    BLOB NOT NULL UNIQUE,
    epoch      INTEGER NOT NULL,
    beat       INTEGER NOT NULL,
    next_nonce INTEGER NOT NULL
) STRICT;

-- The wanted state of every item. It outlives what it is about: deleting and creating again is the next version.
-- signer and nonce say which batch carries this version; none: it waits. share: the largest batch it may be in.
CREATE TABLE chain_items (
    kind      INTEGER NOT NULL,
    key       BLOB NOT NULL,
    version   INTEGER NOT NULL,
    payload   BLOB NOT NULL,
    gone      INTEGER NOT NULL,
    salt      BLOB,
    signer    INTEGER,
    nonce     INTEGER,
    share     INTEGER NOT NULL,
    reverts   INTEGER NOT NULL,
    failed    INTEGER NOT NULL,
    wanted_at INTEGER NOT NULL,
    PRIMARY KEY (kind, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX chain_items_waiting ON chain_items (wanted_at) WHERE signer IS NULL AND failed = 0;

-- One contract call at one nonce. state: 0 signed, 1 mined, 2 final, 3 reverted, 4 taken by somebody else.
CREATE TABLE chain_batches (
    signer     INTEGER NOT NULL,
    nonce      INTEGER NOT NULL,
    kind       INTEGER NOT NULL,
    items      INTEGER NOT NULL,
    state      INTEGER NOT NULL,
    block      INTEGER,
    block_hash BLOB,
    mined      BLOB,
    PRIMARY KEY (signer, nonce)
) STRICT, WITHOUT ROWID;
CREATE INDEX chain_batches_open ON chain_batches (signer, nonce) WHERE state < 2;

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

-- By what random reference the chain knows an applicant.
CREATE TABLE chain_references (
    user_id   TEXT NOT NULL PRIMARY KEY,
    reference BLOB NOT NULL UNIQUE
) STRICT, WITHOUT ROWID;
