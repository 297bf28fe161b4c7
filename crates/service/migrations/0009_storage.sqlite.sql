-- Counts the bytes of each site, in the transactions that change its rows, so that no writer can forget it
-- (decision 0048). Texts that are also searched count twice. The constants stand for the other columns, the
-- indexes and the pages.

CREATE TABLE storage (
    -- Without a reference: rows that are removed with their site are counted after the site is gone.
    site_id TEXT NOT NULL PRIMARY KEY,
    bytes BIGINT NOT NULL
);

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

CREATE TRIGGER events_added AFTER INSERT ON events BEGIN
    INSERT INTO storage (site_id, bytes) VALUES (new.site_id, 200 + octet_length(new.event))
    ON CONFLICT (site_id) DO UPDATE SET bytes = storage.bytes + excluded.bytes;
END;
CREATE TRIGGER events_removed AFTER DELETE ON events BEGIN
    INSERT INTO storage (site_id, bytes) VALUES (old.site_id, -(200 + octet_length(old.event)))
    ON CONFLICT (site_id) DO UPDATE SET bytes = storage.bytes + excluded.bytes;
END;

CREATE TRIGGER visitors_added AFTER INSERT ON visitors BEGIN
    INSERT INTO storage (site_id, bytes) VALUES (new.site_id, 1024 + octet_length(new.profile))
    ON CONFLICT (site_id) DO UPDATE SET bytes = storage.bytes + excluded.bytes;
END;
CREATE TRIGGER visitors_removed AFTER DELETE ON visitors BEGIN
    INSERT INTO storage (site_id, bytes) VALUES (old.site_id, -(1024 + octet_length(old.profile)))
    ON CONFLICT (site_id) DO UPDATE SET bytes = storage.bytes + excluded.bytes;
END;
CREATE TRIGGER visitors_changed AFTER UPDATE OF profile ON visitors
    WHEN octet_length(old.profile) <> octet_length(new.profile) BEGIN
    INSERT INTO storage (site_id, bytes)
        VALUES (new.site_id, octet_length(new.profile) - octet_length(old.profile))
    ON CONFLICT (site_id) DO UPDATE SET bytes = storage.bytes + excluded.bytes;
END;

CREATE TRIGGER conversations_added AFTER INSERT ON conversations BEGIN
    INSERT INTO storage (site_id, bytes) VALUES (new.site_id, 2048 + 2 * octet_length(new.profile))
    ON CONFLICT (site_id) DO UPDATE SET bytes = storage.bytes + excluded.bytes;
END;
CREATE TRIGGER conversations_removed AFTER DELETE ON conversations BEGIN
    INSERT INTO storage (site_id, bytes) VALUES (old.site_id, -(2048 + 2 * octet_length(old.profile)))
    ON CONFLICT (site_id) DO UPDATE SET bytes = storage.bytes + excluded.bytes;
END;
CREATE TRIGGER conversations_changed AFTER UPDATE OF profile ON conversations
    WHEN octet_length(old.profile) <> octet_length(new.profile) BEGIN
    INSERT INTO storage (site_id, bytes)
        VALUES (new.site_id, 2 * (octet_length(new.profile) - octet_length(old.profile)))
    ON CONFLICT (site_id) DO UPDATE SET bytes = storage.bytes + excluded.bytes;
END;

CREATE TRIGGER content_added AFTER INSERT ON content BEGIN
    INSERT INTO storage (site_id, bytes)
        VALUES (new.site_id, 400 + octet_length(new.item) + 2 * octet_length(new.text))
    ON CONFLICT (site_id) DO UPDATE SET bytes = storage.bytes + excluded.bytes;
END;
CREATE TRIGGER content_removed AFTER DELETE ON content BEGIN
    INSERT INTO storage (site_id, bytes)
        VALUES (old.site_id, -(400 + octet_length(old.item) + 2 * octet_length(old.text)))
    ON CONFLICT (site_id) DO UPDATE SET bytes = storage.bytes + excluded.bytes;
END;
CREATE TRIGGER content_changed AFTER UPDATE OF item, text ON content
    WHEN octet_length(old.item) <> octet_length(new.item) OR octet_length(old.text) <> octet_length(new.text) BEGIN
    INSERT INTO storage (site_id, bytes)
        VALUES (new.site_id, octet_length(new.item) - octet_length(old.item)
            + 2 * (octet_length(new.text) - octet_length(old.text)))
    ON CONFLICT (site_id) DO UPDATE SET bytes = storage.bytes + excluded.bytes;
END;

CREATE TRIGGER idempotency_added AFTER INSERT ON idempotency BEGIN
    INSERT INTO storage (site_id, bytes) VALUES (new.site_id, 2048)
    ON CONFLICT (site_id) DO UPDATE SET bytes = storage.bytes + excluded.bytes;
END;
CREATE TRIGGER idempotency_removed AFTER DELETE ON idempotency BEGIN
    INSERT INTO storage (site_id, bytes) VALUES (old.site_id, -2048)
    ON CONFLICT (site_id) DO UPDATE SET bytes = storage.bytes + excluded.bytes;
END;

-- A message that goes with its conversation finds no site any more. Whoever removes a conversation removes
-- its messages first.
CREATE TRIGGER messages_added AFTER INSERT ON messages BEGIN
    INSERT INTO storage (site_id, bytes)
        SELECT site_id, 300 + 2 * octet_length(new.content) FROM conversations WHERE no = new.conversation_no
    ON CONFLICT (site_id) DO UPDATE SET bytes = storage.bytes + excluded.bytes;
END;
CREATE TRIGGER messages_removed AFTER DELETE ON messages BEGIN
    INSERT INTO storage (site_id, bytes)
        SELECT site_id, -(300 + 2 * octet_length(old.content)) FROM conversations WHERE no = old.conversation_no
    ON CONFLICT (site_id) DO UPDATE SET bytes = storage.bytes + excluded.bytes;
END;
