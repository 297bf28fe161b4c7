-- What ends by itself is found by its time, and e-mails have a language.

CREATE INDEX deliveries_by_end ON deliveries (finished_ms) WHERE finished_ms IS NOT NULL;
CREATE INDEX jobs_by_end ON jobs (completed_ms) WHERE completed_ms IS NOT NULL;
CREATE INDEX audit_by_time ON audit (at_ms);

-- The language tag of the operator's e-mails; NULL is the language of the site.
ALTER TABLE operators ADD COLUMN email_locale TEXT;
