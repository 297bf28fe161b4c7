-- Replies that visitors get by e-mail because they have not seen them (decision 0067).

-- Whether replies are mailed, and after how long.
ALTER TABLE sites ADD COLUMN mail_replies BIGINT NOT NULL DEFAULT 0;
ALTER TABLE sites ADD COLUMN mail_replies_after_ms BIGINT NOT NULL DEFAULT 120000;

-- When it is looked whether the visitor has seen the last replies; NULL for never.
ALTER TABLE conversations ADD COLUMN mail_due_ms BIGINT;
-- The messages up to this number are in an e-mail, or will be in none.
ALTER TABLE conversations ADD COLUMN mailed_seq BIGINT NOT NULL DEFAULT 0;
CREATE INDEX conversations_mail_due ON conversations (mail_due_ms) WHERE mail_due_ms IS NOT NULL;

-- The e-mails with replies. Their words are not stored a second time.
CREATE TABLE reply_mails (
    no {{id}},
    -- The left part of the Message-ID.
    id TEXT NOT NULL UNIQUE,
    tenant_id TEXT NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    site_id TEXT NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
    conversation_no BIGINT NOT NULL REFERENCES conversations (no) ON DELETE CASCADE,
    -- A keyed hash of the recipient's address.
    address {{bytes}} NOT NULL,
    -- Whether the address was proved when the e-mail was made.
    proved BIGINT NOT NULL,
    -- The replies are those after first_seq - 1 and up to last_seq.
    first_seq BIGINT NOT NULL,
    last_seq BIGINT NOT NULL,
    -- sending, waiting (for another attempt), accepted, failed, or unknown: the node died, or the connection
    -- broke, before the SMTP server's answer was there.
    status TEXT NOT NULL,
    attempts BIGINT NOT NULL DEFAULT 1,
    -- The time of the next attempt. While a node sends the e-mail, the end of its lease.
    next_ms BIGINT NOT NULL,
    created_ms BIGINT NOT NULL,
    -- When the link was first opened.
    opened_ms BIGINT
);
CREATE INDEX reply_mails_due ON reply_mails (status, next_ms);
CREATE INDEX reply_mails_by_conversation ON reply_mails (conversation_no, no);
CREATE INDEX reply_mails_by_tenant ON reply_mails (tenant_id, created_ms);
CREATE INDEX reply_mails_by_site ON reply_mails (site_id, created_ms);

-- The addresses that want no e-mails of a site, as keyed hashes.
CREATE TABLE mail_stops (
    site_id TEXT NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
    address {{bytes}} NOT NULL,
    created_ms BIGINT NOT NULL,
    PRIMARY KEY (site_id, address)
);
