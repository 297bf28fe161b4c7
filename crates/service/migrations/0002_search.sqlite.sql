-- Full-text search. The service splits texts into terms, in any language; rowid is `no` of the table.
CREATE VIRTUAL TABLE message_terms USING fts5 (terms, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 0');
CREATE VIRTUAL TABLE content_terms USING fts5 (title, terms, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 0');
CREATE VIRTUAL TABLE answer_terms USING fts5 (question, terms, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 0');
-- A deleted row, also one that is deleted with its site, leaves nothing to find.
CREATE TRIGGER messages_deleted AFTER DELETE ON messages BEGIN DELETE FROM message_terms WHERE rowid = old.no; END;
CREATE TRIGGER content_deleted AFTER DELETE ON content BEGIN DELETE FROM content_terms WHERE rowid = old.no; END;
CREATE TRIGGER answers_deleted AFTER DELETE ON answers BEGIN DELETE FROM answer_terms WHERE rowid = old.no; END;
