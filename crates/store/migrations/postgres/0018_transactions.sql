-- The transactions of a contract, by block; those without one come first.
CREATE INDEX chain_batches_kind ON chain_batches
    (kind, coalesce(block, 9223372036854775807), (signer * 17592186044416 + nonce));
