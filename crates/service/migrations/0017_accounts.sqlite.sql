-- Accounts: the address and the credentials of a person, who may be an operator of several tenants. Foreign keys
-- are off during this step, because it replaces a table that others refer to (db/migrations.rs).

CREATE TABLE accounts (
    id TEXT PRIMARY KEY,
    -- In lower case. It never changes: operators have a copy of it.
    address TEXT NOT NULL,
    -- The time at which its mailbox has proved the address; NULL before. Without that, the account is an operator
    -- of one tenant only, and keeps the address from nobody.
    confirmed_ms BIGINT,
    -- An argon2id hash in PHC format. Accounts of the same address have the same salt.
    password TEXT NOT NULL,
    -- The secret of one-time passwords, encrypted; NULL without a second factor.
    totp_secret BLOB,
    -- The last accepted time step, so that a one-time password is accepted once.
    totp_step BIGINT NOT NULL DEFAULT 0,
    -- Hashes of the recovery codes that are left, as JSON.
    recovery_codes TEXT NOT NULL DEFAULT '[]',
    created_ms BIGINT NOT NULL,
    -- The time at which somebody last signed in; 0 before.
    signed_in_ms BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX accounts_by_address ON accounts (address);
CREATE UNIQUE INDEX accounts_confirmed ON accounts (address) WHERE confirmed_ms IS NOT NULL;

-- Which addresses were proved is not known. An account has the id of its operator, for which its secrets are
-- encrypted.
INSERT INTO accounts (id, address, password, totp_secret, totp_step, recovery_codes, created_ms)
    SELECT id, email, password, totp_secret, totp_step, recovery_codes, created_ms FROM operators;

CREATE TABLE new_operators (
    id TEXT PRIMARY KEY,
    tenant_id TEXT NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    -- That of the account.
    email TEXT NOT NULL,
    name TEXT NOT NULL,
    -- owner, admin or agent
    role TEXT NOT NULL,
    created_ms BIGINT NOT NULL,
    disabled_ms BIGINT,
    -- The time at which the account last signed in here; 0 before.
    signed_in_ms BIGINT NOT NULL DEFAULT 0,
    email_kinds TEXT NOT NULL DEFAULT '["unanswered","lead","hand_off"]',
    email_locale TEXT,
    availability TEXT NOT NULL DEFAULT 'automatic',
    preferences TEXT NOT NULL DEFAULT '{}',
    UNIQUE (tenant_id, email),
    UNIQUE (account_id, tenant_id)
);
INSERT INTO new_operators (id, tenant_id, account_id, email, name, role, created_ms, disabled_ms, email_kinds,
        email_locale, availability, preferences)
    SELECT id, tenant_id, id, email, name, role, created_ms, disabled_ms, email_kinds, email_locale, availability,
        preferences FROM operators;
DROP TABLE operators;
ALTER TABLE new_operators RENAME TO operators;

-- An account ends with its last operator.
CREATE TRIGGER operators_removed AFTER DELETE ON operators BEGIN
    DELETE FROM accounts WHERE id = old.account_id
        AND NOT EXISTS (SELECT 1 FROM operators WHERE account_id = old.account_id);
END;

-- Whether the link was sent by e-mail only, so that using it proves the mailbox. Those of before were also shown.
ALTER TABLE invitations ADD COLUMN mailed BIGINT NOT NULL DEFAULT 0;

-- The step fails, and nothing changes, if a reference leads nowhere: while foreign keys are off, nobody else looks.
CREATE TABLE lost (is_lost BIGINT CONSTRAINT "each reference leads to a row" CHECK (is_lost = 0));
INSERT INTO lost SELECT 1 FROM pragma_foreign_key_check;
DROP TABLE lost;

-- Each check of a link looks for the operators of an address, in all workspaces.
CREATE INDEX operators_by_email ON operators (email);
