-- The rules by which entries are published automatically.

-- The rules as JSON, in their order. `publishing` is what happens to page heads that no rule matches.
ALTER TABLE sites ADD COLUMN publishing_rules TEXT NOT NULL DEFAULT '[]';
-- Changes with the rules, so that nobody overwrites rules that they have not seen.
ALTER TABLE sites ADD COLUMN publishing_version BIGINT NOT NULL DEFAULT 0;
-- Maximum automatic publications of an hour.
ALTER TABLE sites ADD COLUMN publishing_limit BIGINT NOT NULL DEFAULT 100;
-- Sites that publish automatically had no limit so far.
UPDATE sites SET publishing_limit = 10000 WHERE publishing = 'automatic';

-- Why the entry waits for a person, as JSON; NULL where no rule has decided.
ALTER TABLE reviews ADD COLUMN decision TEXT;

-- Whether a rule has queued the job.
ALTER TABLE jobs ADD COLUMN automatic BIGINT NOT NULL DEFAULT 0;
-- The name of the rule or of the operator; NULL where neither is known.
ALTER TABLE jobs ADD COLUMN decided_by TEXT;
CREATE INDEX jobs_by_rules ON jobs (site_id, created_ms) WHERE automatic = 1;

-- The page of an entry.
CREATE INDEX content_by_location ON content (site_id, location);
