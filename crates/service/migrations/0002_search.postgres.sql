-- Full-text search. The service splits texts into terms, in any language, and writes them as tsvector.
CREATE TABLE message_terms (
    no BIGINT PRIMARY KEY REFERENCES messages (no) ON DELETE CASCADE,
    terms TSVECTOR NOT NULL
);
CREATE INDEX message_terms_index ON message_terms USING GIN (terms);
CREATE TABLE content_terms (
    no BIGINT PRIMARY KEY REFERENCES content (no) ON DELETE CASCADE,
    terms TSVECTOR NOT NULL
);
CREATE INDEX content_terms_index ON content_terms USING GIN (terms);
CREATE TABLE answer_terms (
    no BIGINT PRIMARY KEY REFERENCES answers (no) ON DELETE CASCADE,
    terms TSVECTOR NOT NULL
);
CREATE INDEX answer_terms_index ON answer_terms USING GIN (terms);
