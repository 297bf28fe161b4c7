-- Page heads that can be dismissed and undone, jobs that wait before their next attempt, versions of articles.

-- Whether the site shows the entry now, as far as it has reported.
ALTER TABLE reviews ADD COLUMN live BIGINT NOT NULL DEFAULT 0;
UPDATE reviews SET live = 1 WHERE status = 'published';
-- Whether the queued job takes the entry's page head back.
ALTER TABLE reviews ADD COLUMN undoing BIGINT NOT NULL DEFAULT 0;
-- The suggestions so far were not compared with the heads of their pages. The next sync makes better ones.
DELETE FROM reviews WHERE kind = 'overlay' AND status = 'draft';

-- When the job may be claimed again after a failure.
ALTER TABLE jobs ADD COLUMN not_before_ms BIGINT NOT NULL DEFAULT 0;
CREATE INDEX jobs_by_expiry ON jobs (lease_until_ms) WHERE status = 'running';

-- The versions of an article that the site has shown, oldest first.
CREATE TABLE review_versions (
    no {{id}},
    review_id TEXT NOT NULL REFERENCES reviews (id) ON DELETE CASCADE,
    title TEXT NOT NULL,
    path TEXT NOT NULL,
    locale TEXT NOT NULL,
    body TEXT NOT NULL,
    published_ms BIGINT NOT NULL
);
CREATE INDEX review_versions_by_review ON review_versions (review_id, no);
INSERT INTO review_versions (review_id, title, path, locale, body, published_ms)
    SELECT id, title, path, locale, body, updated_ms FROM reviews WHERE kind = 'article' AND status = 'published';
