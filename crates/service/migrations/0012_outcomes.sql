-- What became of the messages that the AI answered.

-- Of a visitor's message: answered, small_talk, could_not_answer, refused or failed; NULL if no AI answered it, or
-- before this was recorded.
ALTER TABLE messages ADD COLUMN outcome TEXT;

-- What an earlier version answered from a source is known by the source.
UPDATE messages SET outcome = 'answered'
    WHERE role = 'visitor' AND EXISTS (SELECT 1 FROM messages a WHERE a.conversation_no = messages.conversation_no
        AND a.reply_to = messages.seq AND a.sources IS NOT NULL);
UPDATE conversations SET answered_by_ai = CASE WHEN EXISTS
    (SELECT 1 FROM messages m WHERE m.conversation_no = conversations.no AND m.role = 'assistant'
        AND m.sources IS NOT NULL) THEN 1 ELSE 0 END;

-- For reports and the list of unanswered messages.
CREATE INDEX messages_unanswered ON messages (conversation_no, no) WHERE outcome IN ('could_not_answer', 'failed');
