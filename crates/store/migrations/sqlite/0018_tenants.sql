-- Accounts and users have the same names, so a tenant says which of the two it is: `user:ada`, `account:acme`. So far an
-- account was only known by its use: a name is an account's if a user of another name belongs or belonged to it, or a key
-- is bound to it. Everything else is the user's own. Events keep what they say.
CREATE TABLE known_accounts (account TEXT NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID;
INSERT INTO known_accounts
    SELECT account FROM members WHERE account <> user_id
    UNION SELECT account FROM cases WHERE account <> user_id AND user_id <> ''
    UNION SELECT subject FROM api_keys WHERE scope = 1
    UNION SELECT subject FROM events WHERE kind = 'account.joined' AND NOT EXISTS
        (SELECT 1 FROM members WHERE members.user_id = events.subject AND members.account = events.subject);

UPDATE pipelines SET account =
    CASE WHEN account IN (SELECT account FROM known_accounts) THEN 'account:' ELSE 'user:' END || account;
-- A user who is named like an account has belonged to it, until a token says otherwise.
DELETE FROM members WHERE account = user_id AND account NOT IN (SELECT account FROM known_accounts);
DROP TABLE known_accounts;
UPDATE members SET account = 'account:' || account;

-- A case has a name that is unique for its tenant; its id is that of the row, and was its name so far. An erased person's
-- case has neither name nor tenant.
ALTER TABLE cases ADD COLUMN name TEXT;
UPDATE cases SET name = id, account = CASE WHEN account = user_id THEN 'user:' ELSE 'account:' END || account
    WHERE user_id <> '';
CREATE UNIQUE INDEX cases_name ON cases (account, name);

-- A ClientId stays with the tenant who chose it first, also after it has another one.
CREATE TABLE client_ids (
    client_id TEXT NOT NULL PRIMARY KEY,
    account   TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX client_ids_account ON client_ids (account);
INSERT INTO client_ids SELECT client_id, account FROM pipelines WHERE client_id IS NOT NULL;
