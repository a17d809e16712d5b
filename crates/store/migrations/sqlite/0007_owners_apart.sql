-- An owner's listings beside each other are in the search index now (store/sqlite/indexer.rs): here a new listing changed
-- a page of its own among those of all owners, more than everything else that it changed together.
DROP INDEX listings_user;
-- Listings that were deleted. The search index drops them some time later; whoever reads it looks here first.
CREATE TABLE listings_gone (
    n       INTEGER PRIMARY KEY,
    seq     INTEGER NOT NULL UNIQUE,
    user_id TEXT NOT NULL
) STRICT;
CREATE TRIGGER listings_deleted AFTER DELETE ON listings BEGIN
    INSERT INTO listings_gone (seq, user_id) VALUES (old.seq, old.user_id);
END;
