-- Tells this keystore from others: a database remembers which one is its own.
CREATE TABLE keystore (id TEXT NOT NULL) STRICT;
INSERT INTO keystore VALUES (lower(hex(randomblob(16))));
-- Whether somebody's erasures were applied is asked before they get a new key.
CREATE INDEX erasures_name ON erasures (name);
