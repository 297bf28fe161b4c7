-- Identity that the site proves. Ids that begin with `verified:` are those of proved visitors.

-- The secret of the tokens that prove who a visitor is, encrypted, and the one before.
ALTER TABLE sites ADD COLUMN visitor_secret {{bytes}};
ALTER TABLE sites ADD COLUMN visitor_secret_ms BIGINT;
ALTER TABLE sites ADD COLUMN old_visitor_secret {{bytes}};
ALTER TABLE sites ADD COLUMN old_visitor_secret_until_ms BIGINT;

-- The names of the fields of the profile that the site has proved, as JSON.
ALTER TABLE conversations ADD COLUMN verified TEXT NOT NULL DEFAULT '[]';

-- Whoever claimed such an id before is not verified. Renaming the visitors could collide with other claims.
UPDATE conversations SET visitor_no = NULL
    WHERE visitor_no IN (SELECT no FROM visitors WHERE substr(id, 1, 9) = 'verified:');
DELETE FROM visitors WHERE substr(id, 1, 9) = 'verified:';
UPDATE events SET visitor_id = 'claimed:' || visitor_id WHERE substr(visitor_id, 1, 9) = 'verified:';
UPDATE conversations SET profile = replace(profile, '"visitorId":"verified:', '"visitorId":"claimed:verified:')
    WHERE profile LIKE '%"visitorId":"verified:%';
-- These were mixed from what several conversations claimed. Each conversation keeps its own. Blocks stay: an
-- operator decided them, and nobody else can end them.
UPDATE visitors SET profile = '{}', edited = '[]' WHERE profile <> '{}' OR edited <> '[]';
