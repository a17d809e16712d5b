-- Items in the order in which they come, found by a slim index. Each of them is at a random place by its key: in a
-- tree of whole rows a new one changed about two pages.
CREATE TABLE chain_items_by_arrival (
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
    UNIQUE (kind, key)
) STRICT;
INSERT INTO chain_items_by_arrival
    (kind, key, version, payload, gone, salt, signer, nonce, share, reverts, failed, wanted_at)
SELECT kind, key, version, payload, gone, salt, signer, nonce, share, reverts, failed, wanted_at
FROM chain_items ORDER BY kind, key;
DROP TABLE chain_items;
ALTER TABLE chain_items_by_arrival RENAME TO chain_items;
CREATE INDEX chain_items_waiting ON chain_items (wanted_at) WHERE signer IS NULL AND failed = 0;
