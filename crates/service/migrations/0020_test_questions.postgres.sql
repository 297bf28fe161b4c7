-- The questions by which an owner tests the assistant of a site (decision 0062).

-- The certainty, in thousandths, from which on the built-in assistant answers with a source.
ALTER TABLE sites ADD COLUMN answer_threshold BIGINT NOT NULL DEFAULT 500;

CREATE TABLE test_questions (
    no {{id}},
    id TEXT NOT NULL UNIQUE,
    site_id TEXT NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
    question TEXT NOT NULL,
    locale TEXT NOT NULL,
    -- page, words or no_answer.
    expects TEXT NOT NULL,
    expected TEXT NOT NULL,
    -- Results of a run belong to the question as it was then.
    version BIGINT NOT NULL DEFAULT 1
);
CREATE INDEX test_questions_by_site ON test_questions (site_id, no);

-- The last run of a site, and the one before.
CREATE TABLE test_runs (
    no {{id}},
    site_id TEXT NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
    ended_ms BIGINT NOT NULL,
    -- The threshold in thousandths.
    threshold BIGINT NOT NULL,
    -- 1 if the site had an AI endpoint, so that only the passages were tested.
    only_passages BIGINT NOT NULL,
    -- The results, by question, as JSON.
    results TEXT NOT NULL
);
CREATE INDEX test_runs_by_site ON test_runs (site_id, no);

-- The sites that have had test questions, and when these are asked.
CREATE TABLE test_sets (
    site_id TEXT NOT NULL PRIMARY KEY REFERENCES sites (id) ON DELETE CASCADE,
    -- When the questions are asked next; NULL for never.
    due_ms BIGINT,
    -- The first change of the knowledge since the last run.
    changed_ms BIGINT,
    -- When a worker last took it, by which tenants take turns.
    turn_ms BIGINT NOT NULL DEFAULT 0,
    lease TEXT,
    lease_until_ms BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX test_sets_due ON test_sets (due_ms) WHERE due_ms IS NOT NULL;

-- The sites with test questions whose knowledge has changed. Rows are only added, so that a sync waits for no
-- lock; the service removes them. Without a reference: rows that are removed with their site are noted after
-- the site is gone.
CREATE TABLE knowledge_changes (site_id TEXT NOT NULL);
CREATE INDEX knowledge_changes_by_site ON knowledge_changes (site_id);

CREATE FUNCTION note_knowledge_of(site TEXT) RETURNS VOID LANGUAGE sql AS $$
    INSERT INTO knowledge_changes (site_id) SELECT site
        WHERE EXISTS (SELECT 1 FROM test_sets s WHERE s.site_id = site)
            AND NOT EXISTS (SELECT 1 FROM knowledge_changes k WHERE k.site_id = site)
$$;
CREATE FUNCTION note_added_knowledge() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    PERFORM note_knowledge_of(new.site_id);
    RETURN NULL;
END $$;
CREATE FUNCTION note_removed_knowledge() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    PERFORM note_knowledge_of(old.site_id);
    RETURN NULL;
END $$;
CREATE FUNCTION note_changed_ai() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    PERFORM note_knowledge_of(new.id);
    RETURN NULL;
END $$;
CREATE TRIGGER content_noted_when_added AFTER INSERT ON content
    FOR EACH ROW EXECUTE FUNCTION note_added_knowledge();
CREATE TRIGGER content_noted_when_removed AFTER DELETE ON content
    FOR EACH ROW EXECUTE FUNCTION note_removed_knowledge();
CREATE TRIGGER content_noted_when_changed AFTER UPDATE OF title, location, text ON content FOR EACH ROW
    WHEN (old.title IS DISTINCT FROM new.title OR old.location IS DISTINCT FROM new.location
        OR old.text IS DISTINCT FROM new.text)
    EXECUTE FUNCTION note_added_knowledge();
CREATE TRIGGER answers_noted_when_added AFTER INSERT ON answers
    FOR EACH ROW EXECUTE FUNCTION note_added_knowledge();
CREATE TRIGGER answers_noted_when_removed AFTER DELETE ON answers
    FOR EACH ROW EXECUTE FUNCTION note_removed_knowledge();
CREATE TRIGGER answers_noted_when_changed AFTER UPDATE OF question, answer, locale ON answers
    FOR EACH ROW EXECUTE FUNCTION note_added_knowledge();
CREATE TRIGGER ai_noted_when_changed AFTER UPDATE OF ai_base, ai_options, answer_threshold ON sites FOR EACH ROW
    WHEN (old.ai_base IS DISTINCT FROM new.ai_base OR old.ai_options IS DISTINCT FROM new.ai_options
        OR old.answer_threshold <> new.answer_threshold)
    EXECUTE FUNCTION note_changed_ai();
