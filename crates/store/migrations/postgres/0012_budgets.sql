-- What was used of the daily budgets. A payer is a keyed digest of a person or an account; rows of past days are deleted.
CREATE TABLE budgets (
    name  TEXT COLLATE "C" NOT NULL,
    payer BYTEA NOT NULL,
    -- Since 1970, in UTC.
    day   BIGINT NOT NULL,
    used  BIGINT NOT NULL,
    PRIMARY KEY (name, payer, day)
);

-- Whose items a batch carries: digests of 32 bytes, each with a number of 8. NULL: nobody's.
ALTER TABLE chain_batches ADD COLUMN payers BYTEA;
