-- When a page with the chat of a site was first and last seen.
ALTER TABLE sites ADD COLUMN page_first_seen_ms BIGINT;
ALTER TABLE sites ADD COLUMN page_last_seen_ms BIGINT;
-- The last origins whose pages were refused, with their counts and times, as JSON.
ALTER TABLE sites ADD COLUMN refused_origins TEXT NOT NULL DEFAULT '[]';
