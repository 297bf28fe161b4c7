-- Counts the bytes of each site, in the transactions that change its rows, so that no writer can forget it
-- (decision 0048). Texts that are also searched count twice. The constants stand for the other columns, the
-- indexes and the pages.

-- A site has any number of rows, whose sum counts: transactions only add some, so that none waits for the lock
-- of another one. The service merges them.
CREATE TABLE storage (
    -- Without a reference: rows that are removed with their site are counted after the site is gone.
    site_id TEXT NOT NULL,
    bytes BIGINT NOT NULL
);
CREATE INDEX storage_by_site ON storage (site_id);

INSERT INTO storage (site_id, bytes)
    SELECT site_id, sum(bytes) FROM (
        SELECT site_id, 200 + octet_length(event) AS bytes FROM events
        UNION ALL
        SELECT site_id, 1024 + octet_length(profile) AS bytes FROM visitors
        UNION ALL
        SELECT site_id, 2048 + 2 * octet_length(profile) AS bytes FROM conversations
        UNION ALL
        SELECT site_id, 400 + octet_length(item) + 2 * octet_length(text) AS bytes FROM content
        UNION ALL
        SELECT site_id, 2048 AS bytes FROM idempotency
        UNION ALL
        SELECT c.site_id, 300 + 2 * octet_length(m.content) AS bytes FROM messages m
            JOIN conversations c ON c.no = m.conversation_no
    ) AS counted GROUP BY site_id;

CREATE FUNCTION count_events() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO storage (site_id, bytes)
        SELECT site_id, sum(200 + octet_length(event)) * CASE WHEN TG_OP = 'DELETE' THEN -1 ELSE 1 END
        FROM changed GROUP BY site_id;
    RETURN NULL;
END $$;
CREATE TRIGGER events_added AFTER INSERT ON events REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_events();
CREATE TRIGGER events_removed AFTER DELETE ON events REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_events();

CREATE FUNCTION count_visitors() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO storage (site_id, bytes)
        SELECT site_id, sum(1024 + octet_length(profile)) * CASE WHEN TG_OP = 'DELETE' THEN -1 ELSE 1 END
        FROM changed GROUP BY site_id;
    RETURN NULL;
END $$;
CREATE TRIGGER visitors_added AFTER INSERT ON visitors REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_visitors();
CREATE TRIGGER visitors_removed AFTER DELETE ON visitors REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_visitors();
CREATE FUNCTION count_change_of_visitors() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO storage (site_id, bytes)
        VALUES (new.site_id, octet_length(new.profile) - octet_length(old.profile));
    RETURN NULL;
END $$;
CREATE TRIGGER visitors_changed AFTER UPDATE OF profile ON visitors FOR EACH ROW
    WHEN (octet_length(old.profile) <> octet_length(new.profile))
    EXECUTE FUNCTION count_change_of_visitors();

CREATE FUNCTION count_conversations() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO storage (site_id, bytes)
        SELECT site_id, sum(2048 + 2 * octet_length(profile)) * CASE WHEN TG_OP = 'DELETE' THEN -1 ELSE 1 END
        FROM changed GROUP BY site_id;
    RETURN NULL;
END $$;
CREATE TRIGGER conversations_added AFTER INSERT ON conversations REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_conversations();
CREATE TRIGGER conversations_removed AFTER DELETE ON conversations REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_conversations();
CREATE FUNCTION count_change_of_conversations() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO storage (site_id, bytes)
        VALUES (new.site_id, 2 * (octet_length(new.profile) - octet_length(old.profile)));
    RETURN NULL;
END $$;
CREATE TRIGGER conversations_changed AFTER UPDATE OF profile ON conversations FOR EACH ROW
    WHEN (octet_length(old.profile) <> octet_length(new.profile))
    EXECUTE FUNCTION count_change_of_conversations();

CREATE FUNCTION count_content() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO storage (site_id, bytes)
        SELECT site_id, sum(400 + octet_length(item) + 2 * octet_length(text))
            * CASE WHEN TG_OP = 'DELETE' THEN -1 ELSE 1 END
        FROM changed GROUP BY site_id;
    RETURN NULL;
END $$;
CREATE TRIGGER content_added AFTER INSERT ON content REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_content();
CREATE TRIGGER content_removed AFTER DELETE ON content REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_content();
CREATE FUNCTION count_change_of_content() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO storage (site_id, bytes)
        VALUES (new.site_id, octet_length(new.item) - octet_length(old.item)
            + 2 * (octet_length(new.text) - octet_length(old.text)));
    RETURN NULL;
END $$;
CREATE TRIGGER content_changed AFTER UPDATE OF item, text ON content FOR EACH ROW
    WHEN (octet_length(old.item) <> octet_length(new.item) OR octet_length(old.text) <> octet_length(new.text))
    EXECUTE FUNCTION count_change_of_content();

CREATE FUNCTION count_idempotency() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO storage (site_id, bytes)
        SELECT site_id, sum(2048) * CASE WHEN TG_OP = 'DELETE' THEN -1 ELSE 1 END
        FROM changed GROUP BY site_id;
    RETURN NULL;
END $$;
CREATE TRIGGER idempotency_added AFTER INSERT ON idempotency REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_idempotency();
CREATE TRIGGER idempotency_removed AFTER DELETE ON idempotency REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_idempotency();

-- A message that goes with its conversation finds no site any more. Whoever removes a conversation removes
-- its messages first.
CREATE FUNCTION count_messages() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO storage (site_id, bytes)
        SELECT c.site_id, sum(300 + 2 * octet_length(m.content)) * CASE WHEN TG_OP = 'DELETE' THEN -1 ELSE 1 END
        FROM changed m JOIN conversations c ON c.no = m.conversation_no GROUP BY c.site_id;
    RETURN NULL;
END $$;
CREATE TRIGGER messages_added AFTER INSERT ON messages REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_messages();
CREATE TRIGGER messages_removed AFTER DELETE ON messages REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_messages();
