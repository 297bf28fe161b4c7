-- Times are milliseconds since 1970 (…_ms). Booleans are 0 or 1. Lists and objects are JSON.
-- `no` numbers the rows inside of the service; `id` is what others see.

CREATE TABLE tenants (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    created_ms BIGINT NOT NULL,
    disabled_ms BIGINT
);

CREATE TABLE sites (
    id TEXT PRIMARY KEY,
    tenant_id TEXT NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    domain TEXT,
    platform TEXT,
    primary_locale TEXT,
    supported_locales TEXT NOT NULL DEFAULT '[]',
    -- Origins of the pages that may use the proxy paths of the service itself.
    allowed_origins TEXT NOT NULL DEFAULT '[]',
    chat_enabled BIGINT NOT NULL DEFAULT 1,
    widget_enabled BIGINT NOT NULL DEFAULT 1,
    tracking_enabled BIGINT NOT NULL DEFAULT 1,
    assistant_name TEXT,
    -- Welcome messages by locale; that of '' is for all others.
    welcome TEXT NOT NULL DEFAULT '{}',
    avatar_url TEXT,
    publishing TEXT NOT NULL DEFAULT 'semi_automatic',
    -- Maximum AI replies in a calendar month (UTC); NULL is no maximum.
    monthly_ai_replies BIGINT,
    -- Whether messages are refused once they are used up.
    quota_refuses BIGINT NOT NULL DEFAULT 0,
    ai_base TEXT,
    ai_model TEXT,
    -- The key of the AI endpoint, encrypted.
    ai_key {{bytes}},
    ai_timeout_ms BIGINT NOT NULL DEFAULT 30000,
    -- The time that the AI stays silent after a message of an operator.
    ai_pause_ms BIGINT NOT NULL DEFAULT 600000,
    -- Days after which closed and silent conversations are deleted; NULL keeps them.
    retention_days BIGINT,
    created_ms BIGINT NOT NULL,
    activated_ms BIGINT,
    disabled_ms BIGINT,
    -- Set when the site is deleted: nothing shows it any more, and its data is removed little by little.
    deleted_ms BIGINT
);
CREATE INDEX sites_by_tenant ON sites (tenant_id);

CREATE TABLE site_tokens (
    -- The public part of the token, by which it is found.
    id TEXT PRIMARY KEY,
    site_id TEXT NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
    name TEXT NOT NULL DEFAULT '',
    -- SHA-256 of the whole token.
    hash {{bytes}} NOT NULL,
    created_ms BIGINT NOT NULL,
    expires_ms BIGINT,
    revoked_ms BIGINT,
    last_used_ms BIGINT
);
CREATE INDEX site_tokens_by_site ON site_tokens (site_id);

CREATE TABLE licenses (
    id TEXT PRIMARY KEY,
    hash {{bytes}} NOT NULL UNIQUE,
    tenant_id TEXT NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    -- The site that is activated; NULL creates one.
    site_id TEXT REFERENCES sites (id) ON DELETE CASCADE,
    created_ms BIGINT NOT NULL,
    expires_ms BIGINT NOT NULL,
    used_ms BIGINT,
    revoked_ms BIGINT
);
CREATE INDEX licenses_by_tenant ON licenses (tenant_id);
CREATE INDEX licenses_by_site ON licenses (site_id);

CREATE TABLE operators (
    id TEXT PRIMARY KEY,
    tenant_id TEXT NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    -- In lower case.
    email TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    -- owner, admin or agent
    role TEXT NOT NULL,
    -- An argon2id hash in PHC format.
    password TEXT NOT NULL,
    -- The secret of one-time passwords, encrypted; NULL without a second factor.
    totp_secret {{bytes}},
    -- The last accepted time step, so that a one-time password is accepted once.
    totp_step BIGINT NOT NULL DEFAULT 0,
    -- Hashes of the recovery codes that are left, as JSON.
    recovery_codes TEXT NOT NULL DEFAULT '[]',
    created_ms BIGINT NOT NULL,
    disabled_ms BIGINT
);
CREATE INDEX operators_by_tenant ON operators (tenant_id);

CREATE TABLE operator_sessions (
    id TEXT PRIMARY KEY,
    -- SHA-256 of the cookie's value.
    hash {{bytes}} NOT NULL UNIQUE,
    operator_id TEXT NOT NULL REFERENCES operators (id) ON DELETE CASCADE,
    created_ms BIGINT NOT NULL,
    seen_ms BIGINT NOT NULL,
    expires_ms BIGINT NOT NULL,
    address TEXT NOT NULL,
    user_agent TEXT NOT NULL
);
CREATE INDEX operator_sessions_by_operator ON operator_sessions (operator_id);

-- One-time links: for the first owner, for invited people, and for new passwords.
CREATE TABLE invitations (
    id TEXT PRIMARY KEY,
    hash {{bytes}} NOT NULL UNIQUE,
    tenant_id TEXT NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    -- The operator whose password is set anew; NULL creates one.
    operator_id TEXT REFERENCES operators (id) ON DELETE CASCADE,
    email TEXT,
    role TEXT NOT NULL,
    invited_by TEXT NOT NULL,
    created_ms BIGINT NOT NULL,
    expires_ms BIGINT NOT NULL,
    used_ms BIGINT
);
CREATE INDEX invitations_by_tenant ON invitations (tenant_id);
CREATE INDEX invitations_by_operator ON invitations (operator_id);

-- Consoles. An open one that was not seen for a while is gone; a closed one says when somebody was last there.
CREATE TABLE consoles (
    id TEXT PRIMARY KEY,
    tenant_id TEXT NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    operator_id TEXT NOT NULL,
    seen_ms BIGINT NOT NULL,
    open BIGINT NOT NULL
);
CREATE INDEX consoles_by_tenant ON consoles (tenant_id);

CREATE TABLE audit (
    no {{id}},
    tenant_id TEXT NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    at_ms BIGINT NOT NULL,
    -- The operator's id, 'command' for the command line, or 'service'.
    actor_id TEXT NOT NULL,
    actor TEXT NOT NULL,
    -- Such as site.update or operator.login.
    action TEXT NOT NULL,
    target TEXT NOT NULL,
    detail TEXT NOT NULL DEFAULT '{}',
    address TEXT NOT NULL DEFAULT ''
);
CREATE INDEX audit_by_tenant ON audit (tenant_id, no);

CREATE TABLE visitors (
    no {{id}},
    site_id TEXT NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
    -- The visitor id of the widget (2.8).
    id TEXT NOT NULL,
    customer_id TEXT,
    -- The visitor's profile (2.8).
    profile TEXT NOT NULL DEFAULT '{}',
    first_seen_ms BIGINT NOT NULL,
    last_seen_ms BIGINT NOT NULL,
    page_views BIGINT NOT NULL DEFAULT 0,
    last_path TEXT,
    UNIQUE (site_id, id)
);
CREATE INDEX visitors_by_time ON visitors (site_id, last_seen_ms);

CREATE TABLE conversations (
    no {{id}},
    id TEXT NOT NULL UNIQUE,
    site_id TEXT NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
    visitor_no BIGINT REFERENCES visitors (no) ON DELETE SET NULL,
    -- open, waiting (for a person) or closed
    status TEXT NOT NULL,
    assignee_id TEXT REFERENCES operators (id) ON DELETE SET NULL,
    -- The AI does not answer before this time; 0 when it is not paused.
    ai_paused_until_ms BIGINT NOT NULL DEFAULT 0,
    locale TEXT,
    source_page TEXT,
    -- The profile that this conversation's messages carried.
    profile TEXT NOT NULL DEFAULT '{}',
    -- What is known about the lead.
    notes TEXT NOT NULL DEFAULT '{}',
    score BIGINT NOT NULL DEFAULT 0,
    -- Messages of the visitor that no operator has read.
    unread BIGINT NOT NULL DEFAULT 0,
    -- The number of the last message.
    last_seq BIGINT NOT NULL DEFAULT 0,
    created_ms BIGINT NOT NULL,
    -- The time of the last message.
    updated_ms BIGINT NOT NULL,
    closed_ms BIGINT,
    -- The time since which the visitor has waited for an answer; NULL when nobody waits.
    waiting_since_ms BIGINT
);
CREATE INDEX conversations_by_update ON conversations (site_id, status, updated_ms);
CREATE INDEX conversations_by_visitor ON conversations (visitor_no);
CREATE INDEX conversations_by_assignee ON conversations (assignee_id);

CREATE TABLE messages (
    no {{id}},
    conversation_no BIGINT NOT NULL REFERENCES conversations (no) ON DELETE CASCADE,
    -- Numbers the messages of a conversation without gaps, from 1.
    seq BIGINT NOT NULL,
    -- visitor, assistant, operator or system
    role TEXT NOT NULL,
    content TEXT NOT NULL,
    operator_id TEXT,
    operator_name TEXT,
    created_ms BIGINT NOT NULL,
    -- The idempotency key that the message was sent with.
    key TEXT,
    -- The visitor's message that the AI answers, by its number.
    reply_to BIGINT,
    -- The knowledge that an answer of the AI is based on.
    sources TEXT,
    UNIQUE (conversation_no, seq)
);

-- What operators write to each other, and what happened. Visitors never see it.
CREATE TABLE notes (
    no {{id}},
    id TEXT NOT NULL UNIQUE,
    conversation_no BIGINT NOT NULL REFERENCES conversations (no) ON DELETE CASCADE,
    -- note, or activity such as assigned and closed
    kind TEXT NOT NULL,
    content TEXT NOT NULL,
    operator_id TEXT,
    operator_name TEXT,
    -- The number of the message that it follows.
    after_seq BIGINT NOT NULL,
    created_ms BIGINT NOT NULL
);
CREATE INDEX notes_by_conversation ON notes (conversation_no, no);

CREATE TABLE events (
    no {{id}},
    site_id TEXT NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
    visitor_id TEXT,
    conversation_id TEXT,
    type TEXT NOT NULL,
    path TEXT,
    event TEXT NOT NULL,
    key TEXT,
    received_ms BIGINT NOT NULL
);
CREATE INDEX events_by_visitor ON events (site_id, visitor_id, no);
CREATE INDEX events_by_time ON events (site_id, received_ms);
CREATE INDEX events_by_conversation ON events (site_id, conversation_id) WHERE conversation_id IS NOT NULL;

CREATE TABLE idempotency (
    -- '' for activations, which have no site yet.
    site_id TEXT NOT NULL,
    scope TEXT NOT NULL,
    key TEXT NOT NULL,
    -- SHA-256 of the request.
    request {{bytes}} NOT NULL,
    -- NULL until the request is answered.
    status BIGINT,
    request_id TEXT,
    body {{bytes}},
    -- Where a request that was interrupted goes on, as JSON.
    progress TEXT,
    -- Until then a node works on the request.
    lease_until_ms BIGINT NOT NULL DEFAULT 0,
    expires_ms BIGINT NOT NULL,
    PRIMARY KEY (site_id, scope, key)
);
CREATE INDEX idempotency_by_expiry ON idempotency (expires_ms);

CREATE TABLE content (
    no {{id}},
    site_id TEXT NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
    type TEXT NOT NULL,
    external_id TEXT NOT NULL,
    locale TEXT NOT NULL,
    location TEXT,
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    item TEXT NOT NULL,
    snapshot TEXT NOT NULL,
    synced_ms BIGINT NOT NULL,
    UNIQUE (site_id, type, external_id, locale)
);

-- The site's own questions and answers.
CREATE TABLE answers (
    no {{id}},
    id TEXT NOT NULL UNIQUE,
    site_id TEXT NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
    locale TEXT NOT NULL DEFAULT '',
    question TEXT NOT NULL,
    answer TEXT NOT NULL,
    created_ms BIGINT NOT NULL,
    updated_ms BIGINT NOT NULL
);
CREATE INDEX answers_by_site ON answers (site_id);

CREATE TABLE reviews (
    no {{id}},
    id TEXT NOT NULL UNIQUE,
    site_id TEXT NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    status TEXT NOT NULL,
    path TEXT NOT NULL,
    locale TEXT NOT NULL,
    title TEXT NOT NULL,
    body TEXT NOT NULL,
    created_ms BIGINT NOT NULL,
    updated_ms BIGINT NOT NULL
);
CREATE INDEX reviews_by_site ON reviews (site_id, kind, path);

CREATE TABLE jobs (
    no {{id}},
    id TEXT NOT NULL UNIQUE,
    site_id TEXT NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
    type TEXT NOT NULL,
    status TEXT NOT NULL,
    title TEXT NOT NULL,
    attempts BIGINT NOT NULL DEFAULT 0,
    max_attempts BIGINT NOT NULL,
    claim_token TEXT,
    lease_until_ms BIGINT,
    payload TEXT NOT NULL,
    -- The review that the job carries out.
    review_id TEXT,
    created_ms BIGINT NOT NULL,
    updated_ms BIGINT NOT NULL,
    completed_ms BIGINT,
    result TEXT,
    error TEXT
);
CREATE INDEX jobs_by_status ON jobs (site_id, status, no);
CREATE INDEX jobs_by_lease ON jobs (site_id, status, lease_until_ms);

CREATE TABLE ai_usage (
    site_id TEXT NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
    -- Such as 2026-11, in UTC.
    month TEXT NOT NULL,
    replies BIGINT NOT NULL,
    PRIMARY KEY (site_id, month)
);

CREATE TABLE webhooks (
    id TEXT PRIMARY KEY,
    tenant_id TEXT NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    -- NULL: the events of all sites.
    site_id TEXT REFERENCES sites (id) ON DELETE CASCADE,
    url TEXT NOT NULL,
    -- The secret of the signature, encrypted.
    secret {{bytes}} NOT NULL,
    -- The names of the events; an empty list is all of them.
    events TEXT NOT NULL DEFAULT '[]',
    created_ms BIGINT NOT NULL,
    disabled_ms BIGINT
);
CREATE INDEX webhooks_by_tenant ON webhooks (tenant_id);

CREATE TABLE deliveries (
    no {{id}},
    id TEXT NOT NULL UNIQUE,
    webhook_id TEXT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    event TEXT NOT NULL,
    body TEXT NOT NULL,
    -- pending, delivered or failed
    status TEXT NOT NULL,
    attempts BIGINT NOT NULL DEFAULT 0,
    next_ms BIGINT NOT NULL,
    -- Until then a node delivers it.
    lease_until_ms BIGINT NOT NULL DEFAULT 0,
    created_ms BIGINT NOT NULL,
    finished_ms BIGINT
);
CREATE INDEX deliveries_by_webhook ON deliveries (webhook_id, no);
CREATE INDEX deliveries_due ON deliveries (status, next_ms);

CREATE TABLE delivery_attempts (
    delivery_no BIGINT NOT NULL REFERENCES deliveries (no) ON DELETE CASCADE,
    attempt BIGINT NOT NULL,
    at_ms BIGINT NOT NULL,
    -- The HTTP status; NULL without a response.
    status BIGINT,
    error TEXT,
    duration_ms BIGINT NOT NULL,
    PRIMARY KEY (delivery_no, attempt)
);

-- What people are told by e-mail. Notifications of one conversation that are due make one e-mail.
CREATE TABLE notifications (
    no {{id}},
    tenant_id TEXT NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    site_id TEXT NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
    conversation_id TEXT NOT NULL,
    -- unanswered, lead or hand_off
    kind TEXT NOT NULL,
    created_ms BIGINT NOT NULL,
    due_ms BIGINT NOT NULL,
    -- Until then a node sends it.
    lease_until_ms BIGINT NOT NULL DEFAULT 0,
    attempts BIGINT NOT NULL DEFAULT 0,
    sent_ms BIGINT,
    error TEXT
);
CREATE INDEX notifications_due ON notifications (sent_ms, due_ms);
CREATE INDEX notifications_by_conversation ON notifications (conversation_id, kind);

-- What a rate limit has counted, for all nodes.
CREATE TABLE rate_counters (
    key TEXT NOT NULL,
    window_ends_ms BIGINT NOT NULL,
    used BIGINT NOT NULL,
    PRIMARY KEY (key, window_ends_ms)
);

-- Values of the service itself.
CREATE TABLE service_values (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
);
