-- Wallets that are to hold a token, once their owner has proven control of them.

-- The sealed address of the wallet that a case names.
ALTER TABLE cases ADD COLUMN wished_wallet BLOB;

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
