-- Minutes that a visitor waits for a person, where people answer first, before the AI answers; none: it does not.
ALTER TABLE sites ADD COLUMN ai_after_minutes BIGINT;
-- The time at which the AI answers the visitor, unless a person does before.
ALTER TABLE conversations ADD COLUMN ai_due_ms BIGINT;
CREATE INDEX conversations_ai_due ON conversations (tenant_id, ai_due_ms) WHERE ai_due_ms IS NOT NULL;
-- The conversations that tell how long visitors wait for a person.
CREATE INDEX conversations_person_response ON conversations (site_id, created_ms)
    WHERE first_person_response_ms IS NOT NULL;
