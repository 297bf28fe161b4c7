-- Accounts: the address and the credentials of a person, who may be an operator of several tenants.

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
    totp_secret BYTEA,
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

-- The address of an operator is that of the account.
ALTER TABLE operators DROP CONSTRAINT operators_email_key;
ALTER TABLE operators ADD COLUMN account_id TEXT;
-- The time at which the account last signed in here; 0 before.
ALTER TABLE operators ADD COLUMN signed_in_ms BIGINT NOT NULL DEFAULT 0;
UPDATE operators SET account_id = id;
ALTER TABLE operators ALTER COLUMN account_id SET NOT NULL;
ALTER TABLE operators ADD CONSTRAINT operators_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts (id);
ALTER TABLE operators ADD CONSTRAINT operators_tenant_id_email_key UNIQUE (tenant_id, email);
ALTER TABLE operators ADD CONSTRAINT operators_account_id_tenant_id_key UNIQUE (account_id, tenant_id);
ALTER TABLE operators DROP COLUMN password, DROP COLUMN totp_secret, DROP COLUMN totp_step,
    DROP COLUMN recovery_codes;
DROP INDEX operators_by_tenant;

-- An account ends with its last operator. The lock lets one of two that are removed at once be the last one.
CREATE FUNCTION remove_account() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    PERFORM 1 FROM accounts WHERE id = old.account_id FOR UPDATE;
    DELETE FROM accounts WHERE id = old.account_id
        AND NOT EXISTS (SELECT 1 FROM operators WHERE account_id = old.account_id);
    RETURN NULL;
END $$;
CREATE TRIGGER operators_removed AFTER DELETE ON operators FOR EACH ROW EXECUTE FUNCTION remove_account();

-- Whether the link was sent by e-mail only, so that using it proves the mailbox. Those of before were also shown.
ALTER TABLE invitations ADD COLUMN mailed BIGINT NOT NULL DEFAULT 0;

-- Each check of a link looks for the operators of an address, in all workspaces.
CREATE INDEX operators_by_email ON operators (email);
