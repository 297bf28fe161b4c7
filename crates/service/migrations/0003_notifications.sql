-- Webhooks and e-mails: what the queues need.

ALTER TABLE webhooks ADD COLUMN disabled_reason TEXT;
-- The secret before the last rotation, encrypted. Requests are signed with both until previous_until_ms.
ALTER TABLE webhooks ADD COLUMN previous_secret {{bytes}};
ALTER TABLE webhooks ADD COLUMN previous_until_ms BIGINT NOT NULL DEFAULT 0;
-- The time since which no delivery has succeeded; NULL while they succeed.
ALTER TABLE webhooks ADD COLUMN failing_since_ms BIGINT;
-- The receiver has asked for no requests before this time.
ALTER TABLE webhooks ADD COLUMN paused_until_ms BIGINT NOT NULL DEFAULT 0;

-- The id of the event, the same for all webhooks.
ALTER TABLE deliveries ADD COLUMN event_id TEXT NOT NULL DEFAULT '';
-- The conversation whose words the body contains; NULL for events of no conversation.
ALTER TABLE deliveries ADD COLUMN conversation_id TEXT;
-- The number of attempts before the last replay, which begins the schedule of retries again.
ALTER TABLE deliveries ADD COLUMN earlier_attempts BIGINT NOT NULL DEFAULT 0;
CREATE INDEX deliveries_pending ON deliveries (webhook_id, next_ms) WHERE status = 'pending';
CREATE INDEX deliveries_by_conversation ON deliveries (conversation_id) WHERE conversation_id IS NOT NULL;
DROP INDEX deliveries_due;

-- The kinds of notifications that the operator receives by e-mail.
ALTER TABLE operators ADD COLUMN email_kinds TEXT NOT NULL DEFAULT '["unanswered","lead","hand_off"]';

-- E-mails that wait for the SMTP server. One that was handed over is deleted.
CREATE TABLE emails (
    no {{id}},
    -- The left part of the Message-ID, the same at each attempt.
    id TEXT NOT NULL UNIQUE,
    -- NULL for e-mails of no tenant in particular.
    tenant_id TEXT REFERENCES tenants (id) ON DELETE CASCADE,
    recipient TEXT NOT NULL,
    -- Subject and text, encrypted, because they may contain a one-time link; NULL for notifications, whose
    -- text is written when they are sent.
    content {{bytes}},
    -- pending or failed
    status TEXT NOT NULL DEFAULT 'pending',
    attempts BIGINT NOT NULL DEFAULT 0,
    -- The time of the next attempt. While a node sends the e-mail, the end of its lease.
    next_ms BIGINT NOT NULL,
    created_ms BIGINT NOT NULL,
    error TEXT
);
CREATE INDEX emails_due ON emails (status, next_ms);
CREATE INDEX emails_by_tenant ON emails (tenant_id);

-- The notifications that an e-mail tells about.
CREATE TABLE email_notifications (
    email_no BIGINT NOT NULL REFERENCES emails (no) ON DELETE CASCADE,
    notification_no BIGINT NOT NULL REFERENCES notifications (no) ON DELETE CASCADE,
    PRIMARY KEY (email_no, notification_no)
);
CREATE INDEX email_notifications_by_notification ON email_notifications (notification_no);
