-- Every edit of a listing is its next version. `updated_at` is null before the first edit.
ALTER TABLE listings ADD COLUMN version BIGINT NOT NULL DEFAULT 1;
ALTER TABLE listings ADD COLUMN updated_at BIGINT;

-- One row per edit: the version that it made, who made it (owner or operator), and the changed fields as JSON.
CREATE TABLE listing_history (
    listing_id TEXT COLLATE "C" NOT NULL,
    version    BIGINT NOT NULL,
    at         BIGINT NOT NULL,
    editor     TEXT COLLATE "C" NOT NULL,
    changes    TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (listing_id, version)
);
