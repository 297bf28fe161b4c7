-- Who answers the visitors of a site first: ai_first, people_first or people_only.
ALTER TABLE sites ADD COLUMN answering TEXT NOT NULL DEFAULT 'ai_first';
