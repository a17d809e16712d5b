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
    seq          BIGINT PRIMARY KEY,
    id           TEXT COLLATE "C" NOT NULL UNIQUE,
    person       BYTEA NOT NULL,
    listing      BIGINT NOT NULL,
    status       TEXT COLLATE "C" NOT NULL,
    version      BIGINT NOT NULL,
    generation   BIGINT NOT NULL,
    settled      BIGINT NOT NULL,
    owner        BYTEA NOT NULL,
    terms        BYTEA NOT NULL,
    disclosed_at BIGINT,
    flags_expire_at BIGINT,
    withheld     BIGINT NOT NULL DEFAULT 0,
    document     BYTEA NOT NULL,
    created_at   BIGINT NOT NULL
);
CREATE INDEX applications_person ON applications (person, seq);
CREATE INDEX applications_listing ON applications (listing, seq);
CREATE INDEX applications_due ON applications (seq) WHERE generation > settled;
CREATE INDEX applications_expiring ON applications (flags_expire_at) WHERE flags_expire_at IS NOT NULL;
CREATE UNIQUE INDEX applications_open ON applications (person, listing) WHERE status = 'submitted';

DROP TABLE attestations;
DROP TABLE chain_references;

-- The version of the contract that holds flags: those of 1 have no expiry.
ALTER TABLE chain ADD COLUMN checks_version BIGINT NOT NULL DEFAULT 1;

-- Items that must be alone in their transaction come last, so that they do not hold up the others.
DROP INDEX chain_items_waiting;
CREATE INDEX chain_items_waiting ON chain_items (share DESC, wanted_at) WHERE signer IS NULL AND failed = 0;
