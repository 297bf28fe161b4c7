-- What happened to a conversation, as a fact. The text of `content` is English.

-- Of an activity: opened, waiting, closed, assigned, unassigned, ai_paused, ai_resumed, snoozed, snooze_ended, labeled,
-- labels_removed, blocked, unblocked or took_over; NULL for notes.
ALTER TABLE notes ADD COLUMN event TEXT;
-- To whom it was assigned, until when it was snoozed, or the names of its labels.
ALTER TABLE notes ADD COLUMN detail TEXT;

UPDATE notes SET event = CASE content
        WHEN 'open' THEN 'opened'
        WHEN 'waiting' THEN 'waiting'
        WHEN 'closed' THEN 'closed'
        WHEN 'unassigned' THEN 'unassigned'
        WHEN 'AI paused' THEN 'ai_paused'
        WHEN 'AI resumed' THEN 'ai_resumed'
        WHEN 'snooze ended' THEN 'snooze_ended'
        WHEN 'labels removed' THEN 'labels_removed'
        WHEN 'visitor blocked' THEN 'blocked'
        WHEN 'visitor unblocked' THEN 'unblocked'
        WHEN 'took over' THEN 'took_over'
    END
    WHERE kind = 'activity';
UPDATE notes SET event = 'assigned', detail = substr(content, 13)
    WHERE kind = 'activity' AND substr(content, 1, 12) = 'assigned to ';
UPDATE notes SET event = 'snoozed', detail = substr(content, 15)
    WHERE kind = 'activity' AND substr(content, 1, 14) = 'snoozed until ';
UPDATE notes SET event = 'labeled', detail = substr(content, 9)
    WHERE kind = 'activity' AND substr(content, 1, 8) = 'labels: ';
