-- An application is a row of its own. `person` is the id of the applicant's key in the keystore, `listing` the creation
-- number of the listing (0: it was unknown or deleted); everything else about it is sealed with the applicant's key in
-- `document`. So no copy of this table tells who applied to what once that key is destroyed.
--
-- `owner` and `terms` are digests under the applicant's key: of the account that owns the listing, and of that account
-- with the terms. `disclosed_at` is when the account last learned something about these terms,
-- `withheld` whether it learns nothing because it has asked by too many different ones.
-- Flags are computed while `generation` is above `settled`. `flags_expire_at`: when the flags on the chain expire; none:
-- there are none.
DROP INDEX applications_user;
DROP INDEX applications_listing;
ALTER TABLE applications RENAME TO former_applications;

CREATE TABLE applications (
    seq          INTEGER PRIMARY KEY AUTOINCREMENT,
    id           TEXT NOT NULL UNIQUE,
    person       BLOB NOT NULL,
    listing      INTEGER NOT NULL,
    status       TEXT NOT NULL,
    version      INTEGER NOT NULL,
    generation   INTEGER NOT NULL,
    settled      INTEGER NOT NULL,
    owner        BLOB NOT NULL,
    terms        BLOB NOT NULL,
    disclosed_at INTEGER,
    flags_expire_at INTEGER,
    withheld     INTEGER NOT NULL DEFAULT 0,
    document     BLOB NOT NULL,
    created_at   INTEGER NOT NULL
) STRICT;
CREATE INDEX applications_person ON applications (person, seq);
CREATE INDEX applications_listing ON applications (listing, seq);
CREATE INDEX applications_due ON applications (seq) WHERE generation > settled;
CREATE INDEX applications_expiring ON applications (flags_expire_at) WHERE flags_expire_at IS NOT NULL;
CREATE UNIQUE INDEX applications_open ON applications (person, listing) WHERE status = 'submitted';

DROP TABLE attestations;
DROP TABLE chain_references;

-- The version of the contract that holds flags: those of 1 have no expiry.
ALTER TABLE chain ADD COLUMN checks_version INTEGER NOT NULL DEFAULT 1;

-- Items that must be alone in their transaction come last, so that they do not hold up the others.
DROP INDEX chain_items_waiting;
CREATE INDEX chain_items_waiting ON chain_items (share DESC, wanted_at) WHERE signer IS NULL AND failed = 0;
