//! What a session makes of the service's answers, and of their absence.

use chat_protocol::{
    AiStatus, ChatConfig, Endpoint, ErrorCode, History, Presence, Role, SendResult, ServiceError, Tracking,
    Value, open,
};

use crate::back_off::wait_ms;
use crate::outbox::Frozen;
use crate::stored::{self, keys};
use crate::timeline::{Delivery, Entry, EntryKey};
use crate::{Answer, Failure, News, Notice, Session};

/// A reply that did not come with its answer is looked for this long. Milliseconds.
const REPLY_WITHIN_MS: u64 = 30_000;
/// …and so often.
const REPLY_EVERY_MS: u64 = 2_000;

/// What to do about an attempt that was not taken.
enum Verdict {
    /// The same again, later.
    TryAgain,
    /// Look whether an earlier attempt was taken.
    InDoubt,
    /// The service does not know the conversation.
    NoConversation,
    /// Nothing that a repetition would change.
    GiveUp,
}

impl Verdict {
    fn of(error: &ServiceError) -> Self {
        match (error.status, &error.code) {
            (409, ErrorCode::IdempotencyConflict) => Self::InDoubt,
            (404, ErrorCode::NotFound) => Self::NoConversation,
            // A page that is no envelope, with a status of success, is a network in between: a log-in page, a cache.
            (200..=299 | 408 | 409 | 425 | 429 | 500..=599, _) => Self::TryAgain,
            _ => Self::GiveUp,
        }
    }
}

impl Session {
    pub(crate) fn answered(&mut self, now_ms: u64, endpoint: Endpoint, answer: Answer) {
        let Answer { status, retry_after_ms, body } = answer;
        match endpoint {
            Endpoint::Send => match usable::<SendResult>(status, body) {
                Ok(result) => self.delivered(now_ms, result),
                Err(error) => self.not_delivered(now_ms, &error, retry_after_ms),
            },
            Endpoint::Messages => match usable::<History>(status, body) {
                Ok(history) => self.messages_read(now_ms, history),
                Err(error) => self.not_read(now_ms, endpoint, &error, retry_after_ms),
            },
            Endpoint::Presence => match usable::<Presence>(status, body) {
                Ok(presence) => self.presence_read(now_ms, presence),
                Err(error) => self.not_read(now_ms, endpoint, &error, retry_after_ms),
            },
            Endpoint::Config => {
                let data = open(status, body);
                match data.and_then(|data| Ok((ChatConfig::try_from(data.clone())?, data))) {
                    Ok((config, data)) => {
                        self.store(keys::CONFIG, Some(stored::config_text(data)));
                        self.config = Some(config);
                        self.show();
                    }
                    Err(error) => self.tell_error(endpoint, &error),
                }
            }
            Endpoint::Events => match usable::<Tracking>(status, body) {
                Ok(tracking) if tracking.enabled => self.events.done(now_ms),
                Ok(_) => self.events.disable(),
                Err(error) if matches!(Verdict::of(&error), Verdict::TryAgain) => {
                    let wait = wait_ms(1, retry_after_ms, &mut self.random);
                    self.events.failed(now_ms, wait.max(REPLY_EVERY_MS));
                }
                Err(_) => self.events.done(now_ms),
            },
        }
    }

    pub(crate) fn unanswered(&mut self, now_ms: u64, endpoint: Endpoint, failure: Failure) {
        let (code, message) = match failure {
            Failure::Network => ("NETWORK", "no connection to the proxy"),
            Failure::TimedOut => ("TIMEOUT", "the proxy did not answer in time"),
        };
        let error = ServiceError {
            status: 0,
            code: ErrorCode::Other(code.to_owned()),
            message: message.to_owned(),
            request_id: None,
        };
        match endpoint {
            Endpoint::Send => {
                self.tell_error(endpoint, &error);
                self.try_later(now_ms, None);
            }
            Endpoint::Messages | Endpoint::Presence => self.not_read(now_ms, endpoint, &error, None),
            Endpoint::Config => self.tell_error(endpoint, &error),
            Endpoint::Events => {
                let wait = wait_ms(3, None, &mut self.random);
                self.events.failed(now_ms, wait.max(REPLY_EVERY_MS));
            }
        }
    }

    fn delivered(&mut self, now_ms: u64, result: SendResult) {
        let Some(entry) = self.sending.take() else { return };
        self.timeline.deliver(entry, result.user_message_id);
        self.drop_letter(entry);
        if let Some(delivered) = self.entries().iter().find(|known| known.key == entry).cloned() {
            self.tell(News::Message(delivered));
        }
        // What began here has no history that is not known.
        self.history_read |= self.conversation.is_none();
        if self.conversation.as_ref() != Some(&result.conversation_id) {
            self.store(keys::CONVERSATION, Some(stored::conversation_text(&result.conversation_id)));
            self.conversation = Some(result.conversation_id);
        }
        self.notice = match result.ai_status {
            AiStatus::QuotaInsufficient => Some(Notice::Quota),
            _ if result.blocked || result.ai_status == AiStatus::Blocked => Some(Notice::Blocked),
            _ => None,
        };
        let reply = result.message.filter(|message| !message.content.trim().is_empty());
        match reply {
            Some(message) => {
                let new = self.timeline.reply(entry, message);
                self.arrived(new.as_slice(), true);
                self.pace.touch(now_ms);
            }
            None if self.notice.is_none() => {
                self.reply_due_ms = Some(now_ms + REPLY_WITHIN_MS);
                self.pace.hurry(now_ms);
            }
            None => {}
        }
        self.tell(News::Lead(result.lead));
        self.show();
    }

    fn not_delivered(&mut self, now_ms: u64, error: &ServiceError, retry_after_ms: Option<u64>) {
        self.tell_error(Endpoint::Send, error);
        match Verdict::of(error) {
            Verdict::TryAgain => self.try_later(now_ms, retry_after_ms),
            Verdict::InDoubt if self.conversation.is_some() => {
                self.in_doubt = self.sending.take();
                self.timeline.rewind();
                self.pace.hurry(now_ms);
            }
            Verdict::NoConversation if self.sends_into_conversation() => self.begin_anew(now_ms),
            Verdict::InDoubt | Verdict::NoConversation | Verdict::GiveUp => {
                if error.status == 402 || error.code == ErrorCode::InsufficientQuota {
                    self.notice = Some(Notice::Quota);
                }
                if let Some(entry) = self.sending.take() {
                    self.give_up(entry);
                }
            }
        }
        self.show();
    }

    /// Whether the message on its way belongs to a conversation, be it known here or already forgotten.
    fn sends_into_conversation(&self) -> bool {
        let letter = self.outbox.iter().find(|letter| Some(letter.entry) == self.sending);
        letter.and_then(|letter| letter.frozen.as_ref()).is_some_and(Frozen::names_conversation)
    }

    /// The conversation is gone. The message was refused with it, so it is another request now: it starts a new one.
    fn begin_anew(&mut self, now_ms: u64) {
        self.forget_conversation();
        let Some(entry) = self.sending.take() else { return };
        let Some(letter) = self.outbox.iter_mut().find(|letter| letter.entry == entry) else {
            return;
        };
        let old_name = std::mem::replace(&mut letter.name, crate::outbox::name(&mut self.random));
        letter.frozen = None;
        letter.not_before_ms = now_ms;
        let letter = letter.clone();
        self.store(&format!("{}{old_name}", keys::OUTBOX), None);
        self.store_letter(&letter);
        self.timeline.set_delivery(entry, Delivery::Waiting);
    }

    fn forget_conversation(&mut self) {
        self.conversation = None;
        self.presence = None;
        self.reply_due_ms = None;
        self.timeline.rewind();
        self.store(keys::CONVERSATION, None);
    }

    /// Another attempt after a while, or none when there were enough.
    fn try_later(&mut self, now_ms: u64, retry_after_ms: Option<u64>) {
        let Some(entry) = self.sending.take() else { return };
        let Some(letter) = self.outbox.iter_mut().find(|letter| letter.entry == entry) else {
            return;
        };
        if letter.gives_up() {
            self.give_up(entry);
        } else {
            letter.not_before_ms = now_ms + wait_ms(letter.attempts, retry_after_ms, &mut self.random);
        }
        self.show();
    }

    fn give_up(&mut self, entry: EntryKey) {
        if let Some(letter) = self.outbox.iter_mut().find(|letter| letter.entry == entry) {
            letter.failed = true;
            let letter = letter.clone();
            self.store_letter(&letter);
        }
        self.timeline.set_delivery(entry, Delivery::Failed);
        self.show();
    }

    fn messages_read(&mut self, now_ms: u64, history: History) {
        let first = !std::mem::replace(&mut self.history_read, true);
        // In a history that is read for the first time, an older message may say the same as one under way.
        let under_way = self.outbox.iter().filter(|letter| !first && letter.frozen.is_some());
        let attempted: Vec<EntryKey> = under_way.map(|letter| letter.entry).collect();
        let new = self.timeline.merge(history.messages, history.next_after, &attempted);
        if let Some(entry) = self.in_doubt.take() {
            let taken = self.entries().iter().any(|known| known.key == entry && known.id.is_some());
            if taken {
                self.timeline.deliver(entry, None);
                self.drop_letter(entry);
            } else {
                self.give_up(entry);
            }
        }
        self.pace.failures = 0;
        if !new.is_empty() {
            self.pace.touch(now_ms);
            self.arrived(&new, !first);
        }
        if self.reply_due_ms.is_some() {
            self.pace.next_messages_ms = now_ms + self.random.jitter(REPLY_EVERY_MS);
        } else {
            self.pace.messages_read(now_ms, self.presence.as_ref(), self.open, &mut self.random);
        }
    }

    /// Messages of the others came in. `live` is false for a history that is loaded.
    fn arrived(&mut self, new: &[Entry], live: bool) {
        let others: Vec<&Entry> = new.iter().filter(|entry| entry.author != Role::Visitor).collect();
        self.show();
        if others.is_empty() || !live {
            return;
        }
        self.reply_due_ms = None;
        if self.notice == Some(Notice::NoReply) {
            self.notice = None;
        }
        for entry in &others {
            self.tell(News::Message((*entry).clone()));
        }
        if !(self.open && self.visible) {
            self.unread = self.unread.saturating_add(u32::try_from(others.len()).unwrap_or(u32::MAX));
            self.tell(News::Unread(self.unread));
        }
    }

    fn presence_read(&mut self, now_ms: u64, presence: Presence) {
        let was = self.presence.as_ref().map(|before| before.operator_online);
        if was != Some(presence.operator_online) {
            self.tell(News::Presence(presence.operator_online));
            self.show();
        }
        self.pace.presence_read(now_ms, Some(&presence), self.open, &mut self.random);
        let hint = presence.message_interval_ms;
        let other_hint = self.presence.as_ref().is_none_or(|before| before.message_interval_ms != hint);
        self.presence = Some(presence);
        // A reply that is looked for has a pace of its own.
        if other_hint && self.pace.failures == 0 && self.reply_due_ms.is_none() {
            self.pace.messages_read(now_ms, self.presence.as_ref(), self.open, &mut self.random);
        }
    }

    fn not_read(
        &mut self,
        now_ms: u64,
        endpoint: Endpoint,
        error: &ServiceError,
        retry_after_ms: Option<u64>,
    ) {
        self.tell_error(endpoint, error);
        if matches!(Verdict::of(error), Verdict::NoConversation) {
            self.forget_conversation();
            if let Some(entry) = self.in_doubt.take() {
                self.give_up(entry);
            }
            self.show();
            return;
        }
        self.pace.failures += 1;
        let hint = wait_ms(self.pace.failures + 2, retry_after_ms, &mut self.random);
        self.pace.hold(now_ms, hint.max(REPLY_EVERY_MS));
    }

    fn tell_error(&mut self, endpoint: Endpoint, error: &ServiceError) {
        let code = error.code.as_str().to_owned();
        self.tell(News::Error { code, message: format!("{} {}", endpoint.path(), error) });
    }
}

fn usable<T: TryFrom<Value, Error = chat_protocol::Unusable>>(
    status: u16,
    body: Value,
) -> Result<T, ServiceError> {
    Ok(T::try_from(open(status, body)?)?)
}
