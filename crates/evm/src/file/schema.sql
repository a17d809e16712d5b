-- The chain's file. History is append-only; the state is that of the latest block.
-- The digest of this text marks the format. If only an encoding in a column changes, increase this number: 1.

CREATE TABLE chain (
    id    INTEGER NOT NULL      -- the chain id
) STRICT;

CREATE TABLE blocks (
    number  INTEGER PRIMARY KEY,
    hash    BLOB NOT NULL UNIQUE,
    header  BLOB NOT NULL       -- RLP
) STRICT;

-- `place` is the block number * 2^20 + the position in the block. `raw` is last: queries that do not select it do
-- not read its pages.
CREATE TABLE transactions (
    place    INTEGER PRIMARY KEY,
    hash     BLOB NOT NULL UNIQUE,
    receipt  BLOB NOT NULL,     -- RLP, with the logs
    sender   BLOB NOT NULL,
    raw      BLOB NOT NULL      -- as it was signed
) STRICT;

CREATE TABLE accounts (
    id         INTEGER PRIMARY KEY,
    address    BLOB NOT NULL UNIQUE,
    nonce      INTEGER NOT NULL,
    balance    BLOB NOT NULL,   -- numbers of 256 bits are stored big-endian, without leading zeros
    code_hash  BLOB             -- NULL: no code
) STRICT;

CREATE TABLE codes (
    hash  BLOB PRIMARY KEY,
    code  BLOB NOT NULL
) STRICT;

CREATE TABLE slots (
    account  INTEGER NOT NULL,
    key      BLOB NOT NULL,     -- 32 bytes
    value    BLOB NOT NULL,     -- never zero: such a slot has no row
    PRIMARY KEY (account, key)
) STRICT, WITHOUT ROWID;
