-- The text by which operators find conversations and notes, folded by the service; NULL until the service has made it.
ALTER TABLE conversations ADD COLUMN search_text TEXT;
ALTER TABLE notes ADD COLUMN search_text TEXT;
CREATE INDEX conversations_without_search_text ON conversations (no) WHERE search_text IS NULL;
CREATE INDEX notes_without_search_text ON notes (no) WHERE search_text IS NULL;
ALTER TABLE conversations DROP COLUMN visitor_text;
