-- Every edit of a listing is its next version. `updated_at` is null before the first edit.
ALTER TABLE listings ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
ALTER TABLE listings ADD COLUMN updated_at INTEGER;

-- One row per edit: the version that it made, who made it (owner or operator), and the changed fields as JSON.
CREATE TABLE listing_history (
    listing_id TEXT NOT NULL,
    version    INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    editor     TEXT NOT NULL,
    changes    TEXT NOT NULL,
    PRIMARY KEY (listing_id, version)
) STRICT;
