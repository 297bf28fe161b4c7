-- The schema 2 of the sandbox.
CREATE TABLE conversations (
    position    INTEGER PRIMARY KEY AUTOINCREMENT,
    id          TEXT NOT NULL UNIQUE,
    created_at  TEXT NOT NULL,
    visitor     TEXT NOT NULL,
    locale      TEXT,
    source_page TEXT,
    notes       TEXT NOT NULL,
    unread      INTEGER NOT NULL DEFAULT 0,
    -- The position of the last message.
    last_message INTEGER NOT NULL DEFAULT 0,
    wants_person INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX conversations_by_message ON conversations (wants_person, last_message);

CREATE TABLE messages (
    position     INTEGER PRIMARY KEY AUTOINCREMENT,
    conversation TEXT NOT NULL,
    id           TEXT NOT NULL UNIQUE,
    role         TEXT NOT NULL,
    content      TEXT NOT NULL,
    created_at   TEXT NOT NULL,
    key          TEXT
);
CREATE INDEX messages_of ON messages (conversation, position);

CREATE TABLE events (
    position     INTEGER PRIMARY KEY AUTOINCREMENT,
    body         TEXT NOT NULL,
    visitor      TEXT,
    conversation TEXT,
    received_at  TEXT NOT NULL,
    key          TEXT
);
CREATE INDEX events_of_visitor ON events (visitor);
CREATE INDEX events_of_conversation ON events (conversation);

-- The response of each idempotency key. While status is NULL, the key is only bound to its request, of which the
-- SHA-256 hash is stored.
CREATE TABLE answers (
    scope      TEXT NOT NULL,
    key        TEXT NOT NULL,
    request    BLOB NOT NULL,
    status     INTEGER,
    request_id TEXT,
    body       BLOB,
    until_ms   INTEGER NOT NULL,
    PRIMARY KEY (scope, key)
);
CREATE INDEX answers_until ON answers (until_ms);

CREATE TABLE site (
    only_one          INTEGER PRIMARY KEY CHECK (only_one = 1),
    domain            TEXT NOT NULL,
    platform          TEXT,
    name              TEXT,
    primary_locale    TEXT,
    supported_locales TEXT NOT NULL,
    activated_at      TEXT NOT NULL
);

CREATE TABLE content (
    position    INTEGER PRIMARY KEY AUTOINCREMENT,
    external_id TEXT NOT NULL,
    type        TEXT NOT NULL,
    locale      TEXT NOT NULL,
    path        TEXT,
    title       TEXT NOT NULL,
    text        TEXT NOT NULL,
    body        TEXT NOT NULL,
    snapshot    TEXT NOT NULL,
    synced_at   TEXT NOT NULL,
    UNIQUE (type, external_id, locale)
);

-- Articles to be published, and overlays: the review-and-publish list.
CREATE TABLE reviews (
    position   INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT NOT NULL UNIQUE,
    kind       TEXT NOT NULL,
    status     TEXT NOT NULL,
    path       TEXT NOT NULL,
    locale     TEXT NOT NULL,
    title      TEXT NOT NULL,
    body       TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
);
CREATE INDEX reviews_by_page ON reviews (path, locale) WHERE kind = 'overlay';

CREATE TABLE jobs (
    position       INTEGER PRIMARY KEY AUTOINCREMENT,
    id             TEXT NOT NULL UNIQUE,
    type           TEXT NOT NULL,
    status         TEXT NOT NULL,
    title          TEXT NOT NULL,
    payload        TEXT NOT NULL,
    review         TEXT,
    attempts       INTEGER NOT NULL DEFAULT 0,
    max_attempts   INTEGER NOT NULL,
    claim_token    TEXT,
    lease_until_ms INTEGER,
    result         TEXT,
    error          TEXT,
    created_at     TEXT NOT NULL,
    updated_at     TEXT NOT NULL,
    completed_at   TEXT
);
CREATE INDEX jobs_by_status ON jobs (status, position);
