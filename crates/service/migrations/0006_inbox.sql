-- The inbox: what its lists, its reports and the operators' presence need.

-- The tenant of the site, so that a page of a list is read from one index.
ALTER TABLE conversations ADD COLUMN tenant_id TEXT NOT NULL DEFAULT '';
-- The conversation is put aside until then; 0 when it is not.
ALTER TABLE conversations ADD COLUMN snoozed_until_ms BIGINT NOT NULL DEFAULT 0;
-- Whether messages of the visitor are refused.
ALTER TABLE conversations ADD COLUMN blocked BIGINT NOT NULL DEFAULT 0;
-- The names of the fields of the profile that an operator wrote, as JSON.
ALTER TABLE conversations ADD COLUMN edited TEXT NOT NULL DEFAULT '[]';
-- The visitor's name and contact details in lower case, for searches.
ALTER TABLE conversations ADD COLUMN visitor_text TEXT NOT NULL DEFAULT '';
-- The number of the last message that is not the visitor's; 0 without one.
ALTER TABLE conversations ADD COLUMN last_reply_seq BIGINT NOT NULL DEFAULT 0;
-- The visitor's widget has polled past the messages up to this number.
ALTER TABLE conversations ADD COLUMN seen_seq BIGINT NOT NULL DEFAULT 0;
-- For reports.
ALTER TABLE conversations ADD COLUMN is_lead BIGINT NOT NULL DEFAULT 0;
ALTER TABLE conversations ADD COLUMN answered_by_ai BIGINT NOT NULL DEFAULT 0;
ALTER TABLE conversations ADD COLUMN answered_by_person BIGINT NOT NULL DEFAULT 0;
-- The time until the first answer of anybody.
ALTER TABLE conversations ADD COLUMN first_response_ms BIGINT;
-- The time at which the visitor first asked for a person.
ALTER TABLE conversations ADD COLUMN person_asked_ms BIGINT;
-- The time from then until the first answer of a person.
ALTER TABLE conversations ADD COLUMN first_person_response_ms BIGINT;
-- The time at which the visitor asked for a person, or an operator took over.
ALTER TABLE conversations ADD COLUMN handed_off_ms BIGINT;
-- The order of the lists, descending: those that wait for a person first, the longest waiting at the top,
-- then by the last message.
ALTER TABLE conversations ADD COLUMN sort_key BIGINT GENERATED ALWAYS AS
    (CASE WHEN status = 'waiting' THEN 8000000000000000 - coalesce(waiting_since_ms, updated_ms) ELSE updated_ms END)
    {{generated}};

-- The idempotency key, by which the console that has sent the note knows it again.
ALTER TABLE notes ADD COLUMN key TEXT;

ALTER TABLE visitors ADD COLUMN blocked BIGINT NOT NULL DEFAULT 0;
ALTER TABLE visitors ADD COLUMN edited TEXT NOT NULL DEFAULT '[]';

-- automatic, away or offline: what operators say about themselves.
ALTER TABLE operators ADD COLUMN availability TEXT NOT NULL DEFAULT 'automatic';
-- The settings of the operator's console, as JSON.
ALTER TABLE operators ADD COLUMN preferences TEXT NOT NULL DEFAULT '{}';
-- Whether nobody has touched the keyboard or the pointer for a while.
ALTER TABLE consoles ADD COLUMN idle BIGINT NOT NULL DEFAULT 0;

UPDATE conversations SET
    tenant_id = coalesce((SELECT s.tenant_id FROM sites s WHERE s.id = conversations.site_id), ''),
    -- The values of the profile without the names of its members.
    visitor_text = replace(replace(replace(replace(replace(replace(replace(replace(replace(lower(profile),
        '"visitorid":', ''), '"name":', ''), '"email":', ''), '"phone":', ''), '"company":', ''), '"wechat":', ''),
        '"whatsapp":', ''), '"country":', ''), 'null', ''),
    is_lead = CASE WHEN profile LIKE '%"email":"_%@%' OR profile LIKE '%"phone":"_%' OR notes LIKE '%"email":"%'
        OR notes LIKE '%"phone":"%' THEN 1 ELSE 0 END,
    answered_by_ai = CASE WHEN EXISTS
        (SELECT 1 FROM messages m WHERE m.conversation_no = conversations.no AND m.role = 'assistant')
        THEN 1 ELSE 0 END,
    answered_by_person = CASE WHEN EXISTS
        (SELECT 1 FROM messages m WHERE m.conversation_no = conversations.no AND m.role = 'operator')
        THEN 1 ELSE 0 END,
    last_reply_seq = coalesce((SELECT max(m.seq) FROM messages m
        WHERE m.conversation_no = conversations.no AND m.role <> 'visitor'), 0),
    first_response_ms = (SELECT min(m.created_ms) FROM messages m
        WHERE m.conversation_no = conversations.no AND m.role IN ('assistant', 'operator')) - created_ms,
    handed_off_ms = CASE WHEN notes LIKE '%"wants_person":true%' OR EXISTS
        (SELECT 1 FROM messages m WHERE m.conversation_no = conversations.no AND m.role = 'operator')
        THEN created_ms END;

CREATE INDEX conversations_inbox ON conversations (tenant_id, sort_key, no);
CREATE INDEX conversations_open ON conversations (tenant_id, sort_key, no) WHERE status <> 'closed';
CREATE INDEX conversations_unassigned ON conversations (tenant_id, sort_key, no)
    WHERE status <> 'closed' AND assignee_id IS NULL;
CREATE INDEX conversations_assigned ON conversations (tenant_id, assignee_id, sort_key, no)
    WHERE status <> 'closed' AND assignee_id IS NOT NULL;
CREATE INDEX conversations_closed ON conversations (tenant_id, sort_key, no) WHERE status = 'closed';
CREATE INDEX conversations_snoozed ON conversations (tenant_id, sort_key, no) WHERE snoozed_until_ms > 0;
CREATE INDEX conversations_by_start ON conversations (tenant_id, created_ms, no);

CREATE TABLE labels (
    id TEXT PRIMARY KEY,
    tenant_id TEXT NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    -- The name in lower case.
    name_key TEXT NOT NULL,
    color TEXT NOT NULL,
    UNIQUE (tenant_id, name_key)
);
CREATE TABLE conversation_labels (
    conversation_no BIGINT NOT NULL REFERENCES conversations (no) ON DELETE CASCADE,
    label_id TEXT NOT NULL REFERENCES labels (id) ON DELETE CASCADE,
    PRIMARY KEY (conversation_no, label_id)
);
CREATE INDEX conversation_labels_by_label ON conversation_labels (label_id, conversation_no);

CREATE TABLE canned_replies (
    id TEXT PRIMARY KEY,
    tenant_id TEXT NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    shortcut TEXT NOT NULL,
    -- The shortcut in lower case.
    shortcut_key TEXT NOT NULL,
    content TEXT NOT NULL,
    -- A BCP 47 tag; NULL for all languages.
    locale TEXT,
    UNIQUE (tenant_id, shortcut_key)
);
