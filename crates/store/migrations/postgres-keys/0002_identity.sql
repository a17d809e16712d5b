-- Tells this keystore from others: a database remembers which one is its own.
CREATE TABLE keystore (id TEXT COLLATE "C" NOT NULL);
INSERT INTO keystore VALUES (replace(gen_random_uuid()::text, '-', ''));
-- Whether somebody's erasures were applied is asked before they get a new key.
CREATE INDEX erasures_name ON erasures (name);
