-- A listing is one JSON document. The columns beside it are those that the database itself looks up; everything else is
-- found through the search index (sqlite/search_index.rs). `revision` is the listing's place in the order of changes: the
-- search index reads on from the last revision that it holds.
CREATE TABLE listing_documents (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT NOT NULL UNIQUE,
    user_id    TEXT NOT NULL,
    document   TEXT NOT NULL,
    revision   INTEGER NOT NULL UNIQUE,
    created_at INTEGER NOT NULL
) STRICT;

-- `json_patch` leaves members without a value out.
INSERT INTO listing_documents (seq, id, user_id, document, revision, created_at)
SELECT seq, id, user_id, json_patch('{}', json_object(
    'id', id, 'user', user_id, 'street', street, 'city', city, 'state', state, 'postal', postal, 'country', country,
    'rent', rent / 10000.0, 'property_value', property_value / 10000.0, 'bedrooms', bedrooms, 'bathrooms', bathrooms,
    'place', json(iif(latitude IS NULL, NULL,
        json_object('latitude', latitude / 1000000000.0, 'longitude', longitude / 1000000000.0))),
    'walkthrough', walkthrough)), seq, created_at
FROM listings ORDER BY seq;

-- The order goes on where it was, also if the last listing was deleted.
INSERT INTO sqlite_sequence (name, seq)
    SELECT 'listing_documents', 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'listing_documents');
UPDATE sqlite_sequence SET seq = coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'listings'), 0)
    WHERE name = 'listing_documents';

DROP TABLE listings;
DROP TABLE listings_gone;
ALTER TABLE listing_documents RENAME TO listings;
CREATE INDEX listings_user ON listings (user_id, seq);
