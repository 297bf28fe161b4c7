-- Web Push: the browsers of operators that are told while no console is open.

CREATE TABLE push_devices (
    id TEXT PRIMARY KEY,
    operator_id TEXT NOT NULL REFERENCES operators (id) ON DELETE CASCADE,
    -- The session of the browser, with which the device ends. A browser has one.
    session_id TEXT NOT NULL UNIQUE REFERENCES operator_sessions (id) ON DELETE CASCADE,
    -- SHA-256 of the endpoint: a browser that signs in again keeps its endpoint.
    endpoint_hash {{bytes}} NOT NULL,
    -- Endpoint and keys, encrypted: whoever knows the endpoint can send to it.
    subscription {{bytes}} NOT NULL,
    -- The language tag of the console; NULL is the language of the operator's e-mails.
    locale TEXT,
    created_ms BIGINT NOT NULL,
    -- The time of the last accepted push.
    used_ms BIGINT,
    -- The number of refused pushes since then.
    failures BIGINT NOT NULL DEFAULT 0,
    -- The push service has asked for no requests before this time.
    paused_until_ms BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX push_devices_by_operator ON push_devices (operator_id);

-- What devices are told: one row for each conversation, because a push replaces the earlier one of its
-- conversation. Rows are kept for a day, so that no e-mail tells the same.
CREATE TABLE pushes (
    no {{id}},
    device_id TEXT NOT NULL REFERENCES push_devices (id) ON DELETE CASCADE,
    conversation_id TEXT NOT NULL,
    -- message or wants_person
    cause TEXT NOT NULL,
    -- The number of events. The result of an attempt counts for the one that it told about.
    version BIGINT NOT NULL DEFAULT 1,
    -- The number of attempts for this event.
    attempts BIGINT NOT NULL DEFAULT 0,
    -- The time of the next attempt, or the end of the sending node's lease; NULL when nothing is to be sent.
    next_ms BIGINT,
    -- The time of the last event.
    queued_ms BIGINT NOT NULL,
    -- The time at which the push service last accepted a push.
    sent_ms BIGINT,
    UNIQUE (device_id, conversation_id)
);
CREATE INDEX pushes_due ON pushes (next_ms) WHERE next_ms IS NOT NULL;
CREATE INDEX pushes_by_conversation ON pushes (conversation_id);
CREATE INDEX pushes_by_time ON pushes (queued_ms);
