//! The session itself: what it knows, how it begins, and what it decides to do next.

use chat_protocol::{
    ChatConfig, ConversationId, Endpoint, IdempotencyKey, Presence, SendMessage, Value, VisitorEvent,
    VisitorId, VisitorProfile,
};

use crate::event_queue::EventQueue;
use crate::outbox::{self, Letter, Outbox, check_message};
use crate::pace::Pace;
use crate::random::Random;
use crate::stored::{self, keys};
use crate::timeline::{Delivery, Entry, EntryKey, Timeline};
use crate::{Effect, Input, News, Notice, Page, Request, RequestId, Start};

/// How long an answer is waited for. Milliseconds. An AI may think; the rest is quick or broken.
const SEND_TIMEOUT_MS: u32 = 30_000;
const READ_TIMEOUT_MS: u32 = 15_000;

/// One visitor's conversation with one site, in one tab.
#[derive(Debug)]
pub struct Session {
    pub(crate) random: Random,
    pub(crate) visitor: VisitorProfile,
    visitor_id: VisitorId,
    customer_id: Option<String>,
    locale: Option<String>,
    reports: bool,
    pub(crate) conversation: Option<ConversationId>,
    pub(crate) timeline: Timeline,
    /// What was said before this page has been read: what comes now is new.
    pub(crate) history_read: bool,
    pub(crate) outbox: Outbox,
    /// The message that is on its way.
    pub(crate) sending: Option<EntryKey>,
    /// A message that the service may have taken under another body: the next read tells.
    pub(crate) in_doubt: Option<EntryKey>,
    /// The reply to the last message is still to be read, until this time.
    pub(crate) reply_due_ms: Option<u64>,
    pub(crate) events: EventQueue,
    pub(crate) config: Option<ChatConfig>,
    config_wanted: bool,
    pub(crate) presence: Option<Presence>,
    pub(crate) pace: Pace,
    pub(crate) notice: Option<Notice>,
    pub(crate) unread: u32,
    pub(crate) open: bool,
    pub(crate) visible: bool,
    online: bool,
    flights: Vec<(RequestId, Endpoint)>,
    last_request: u32,
    wake_ms: Option<u64>,
    changed: bool,
    effects: Vec<Effect>,
}

impl Session {
    /// Begins, or goes on where this browser left off. Gives what is to be done first.
    pub fn start(start: Start) -> (Self, Vec<Effect>) {
        let Start { now_ms, seed, stored, config, visitor, customer_id, locale, reports, visible, online } =
            start;
        let mut random = Random::new(seed);
        let kept = stored::visitor(&stored);
        let visitor_id = match visitor.visitor_id.clone().filter(|id| !id.as_str().is_empty()).or(kept) {
            Some(id) => id,
            None => stored::new_visitor(&mut random),
        };
        // One that was kept is good for a start, and asked for again.
        let config_wanted = config.is_none();
        let known_config = config.or_else(|| stored::config(&stored).cloned());
        let mut session = Self {
            random,
            visitor,
            visitor_id,
            customer_id,
            locale,
            reports,
            conversation: stored::conversation(&stored),
            timeline: Timeline::default(),
            history_read: false,
            outbox: Outbox::new(),
            sending: None,
            in_doubt: None,
            reply_due_ms: None,
            events: EventQueue::default(),
            config: known_config.and_then(|data| ChatConfig::try_from(data).ok()),
            config_wanted,
            presence: None,
            pace: Pace::default(),
            notice: None,
            unread: 0,
            open: false,
            visible,
            online,
            flights: Vec::new(),
            last_request: 0,
            wake_ms: None,
            changed: true,
            effects: Vec::new(),
        };
        session.store(keys::VISITOR, Some(stored::visitor_text(&session.visitor_id)));
        session.restore_letters(&stored, now_ms);
        session.pace.hurry(now_ms);
        let effects = session.decide(now_ms);
        (session, effects)
    }

    /// Takes in what happened at `now_ms`, and gives what is to be done about it, in order.
    pub fn handle(&mut self, now_ms: u64, input: Input) -> Vec<Effect> {
        match input {
            Input::Send { text, page_path } => self.write(now_ms, text, page_path),
            Input::Retry(key) => self.retry(now_ms, key),
            Input::Answered(id, answer) => {
                if let Some(endpoint) = self.land(id) {
                    self.answered(now_ms, endpoint, answer);
                }
            }
            Input::Failed(id, failure) => {
                if let Some(endpoint) = self.land(id) {
                    self.unanswered(now_ms, endpoint, failure);
                }
            }
            Input::Woke => self.wake_ms = None,
            Input::Visible(visible) => {
                if visible && !self.visible {
                    self.pace.hurry(now_ms);
                }
                self.visible = visible;
                self.seen();
            }
            Input::Online(online) => {
                if online && !self.online {
                    self.pace.hurry(now_ms);
                    self.outbox.iter_mut().for_each(|letter| letter.not_before_ms = 0);
                }
                self.online = online;
                self.changed = true;
            }
            Input::Opened(open, page) => self.opened(now_ms, open, page),
            Input::Viewed(page) => self.report(now_ms, "page_view", page),
            Input::Left if self.is_on() => self.send_events(now_ms, true),
            Input::Left => {}
            Input::ReloadConfig => self.config_wanted = true,
        }
        self.decide(now_ms)
    }

    /// The messages, in order.
    pub fn entries(&self) -> &[Entry] {
        self.timeline.entries()
    }

    /// The chat's config, once it is known.
    pub fn config(&self) -> Option<&ChatConfig> {
        self.config.as_ref()
    }

    /// Whether a reply is on its way.
    pub fn awaits_reply(&self) -> bool {
        self.sending.is_some() || self.reply_due_ms.is_some()
    }

    /// Whether a person is there; unknown until the service has said so.
    pub fn operator_online(&self) -> Option<bool> {
        self.presence.as_ref().map(|presence| presence.operator_online)
    }

    /// Whether the browser has a network.
    pub fn online(&self) -> bool {
        self.online
    }

    /// What keeps the conversation from going on as usual.
    pub fn notice(&self) -> Option<Notice> {
        self.notice
    }

    /// How many messages came in while nobody looked.
    pub fn unread(&self) -> u32 {
        self.unread
    }

    /// The visitor's id, stable over time (2.8).
    pub fn visitor_id(&self) -> &VisitorId {
        &self.visitor_id
    }

    /// The conversation, once the service has begun one.
    pub fn conversation_id(&self) -> Option<&ConversationId> {
        self.conversation.as_ref()
    }

    fn write(&mut self, now_ms: u64, text: String, page_path: String) {
        if check_message(&text).is_err() {
            return;
        }
        let entry = self.timeline.write(&text, now_ms, Delivery::Waiting);
        let letter = Letter::new(outbox::name(&mut self.random), entry, text, page_path, now_ms);
        self.store_letter(&letter);
        self.outbox.push(letter);
        self.pace.touch(now_ms);
        self.changed = true;
    }

    fn retry(&mut self, now_ms: u64, key: EntryKey) {
        let Some(index) = self.outbox.iter().position(|letter| letter.entry == key && letter.failed) else {
            return;
        };
        let mut letter = self.outbox.remove(index);
        letter.failed = false;
        letter.attempts = 0;
        letter.not_before_ms = now_ms;
        letter.written_ms = now_ms;
        self.store_letter(&letter);
        self.outbox.push(letter);
        self.timeline.set_delivery(key, Delivery::Waiting);
        self.timeline.move_to_end(key);
        self.notice = None;
        self.changed = true;
    }

    fn opened(&mut self, now_ms: u64, open: bool, page: Page) {
        if open == self.open {
            return;
        }
        self.open = open;
        if open {
            self.pace.hurry(now_ms);
            if self.notice == Some(Notice::Quota) {
                self.notice = None;
            }
        }
        self.tell(News::Opened(open));
        self.seen();
        self.changed = true;
        self.report(now_ms, if open { "chat_opened" } else { "chat_closed" }, page);
    }

    /// Tells the service what happened on the page, when the site and the visitor's browser let it.
    fn report(&mut self, now_ms: u64, event_type: &str, page: Page) {
        if !self.reports {
            return;
        }
        let event = VisitorEvent {
            event_type: event_type.to_owned(),
            visitor_id: None,
            customer_id: None,
            channel: None,
            path: Some(page.path),
            url: Some(page.url),
            title: Some(page.title),
            referrer: Some(page.referrer).filter(|referrer| !referrer.is_empty()),
            event_data: Value::Null,
            created_at: Some(page.now_iso),
        };
        self.track(now_ms, event);
    }

    fn track(&mut self, now_ms: u64, mut event: VisitorEvent) {
        event.visitor_id = Some(self.visitor_id.clone());
        event.customer_id = event.customer_id.or_else(|| self.customer_id.clone());
        event.channel.get_or_insert_with(|| "webchat".to_owned());
        if let (Some(id), "chat_opened" | "chat_closed") = (&self.conversation, event.event_type.as_str()) {
            event.event_data = Value::object([("conversationId", id.into())]);
        }
        self.events.push(now_ms, &event);
    }

    /// What came in has been seen, when somebody looks.
    fn seen(&mut self) {
        if self.open && self.visible && self.unread > 0 {
            self.unread = 0;
            self.changed = true;
            self.tell(News::Unread(0));
        }
    }

    /// Starts what is due, and asks to be woken for what is due next.
    fn decide(&mut self, now_ms: u64) -> Vec<Effect> {
        if self.reply_due_ms.is_some_and(|until| now_ms >= until) {
            self.reply_due_ms = None;
            // A person who is there takes the time that a person takes.
            if self.operator_online() != Some(true) {
                self.notice = Some(Notice::NoReply);
            }
            self.changed = true;
        }
        if self.online {
            if self.config_wanted && !self.is_flying(Endpoint::Config) {
                self.config_wanted = false;
                let query = self.locale.iter().map(|locale| ("locale", locale.clone())).collect();
                self.ask(Endpoint::Config, query);
            }
            if self.is_on() {
                self.send_letter(now_ms);
            }
            if self.may_poll() {
                self.poll(now_ms);
            }
            if self.is_on() && self.events.due_ms().is_some_and(|due| now_ms >= due) {
                self.send_events(now_ms, false);
            }
        }
        self.plan_wake(now_ms);
        if std::mem::take(&mut self.changed) {
            self.effects.push(Effect::Show);
        }
        std::mem::take(&mut self.effects)
    }

    /// The site wants the chat, as far as is known. A chat that is switched off asks for nothing more.
    pub fn is_on(&self) -> bool {
        self.config.as_ref().is_none_or(ChatConfig::shows_widget)
    }

    /// No conversation, no polling; nor for a tab that nobody sees, or without a network.
    fn may_poll(&self) -> bool {
        self.is_on() && self.online && self.visible && self.conversation.is_some()
    }

    fn poll(&mut self, now_ms: u64) {
        let Some(conversation) = &self.conversation else {
            return;
        };
        let conversation = conversation.to_string();
        if now_ms >= self.pace.next_presence_ms && !self.is_flying(Endpoint::Presence) {
            self.ask(Endpoint::Presence, vec![("conversationId", conversation.clone())]);
        }
        if self.reads_messages()
            && now_ms >= self.pace.next_messages_ms
            && !self.is_flying(Endpoint::Messages)
        {
            let after = self.timeline.cursor().map(|id| ("after", id.to_string()));
            let query = [("conversationId", conversation)].into_iter().chain(after).collect();
            self.ask(Endpoint::Messages, query);
        }
    }

    /// The service may say that there is nothing to poll for; history and a reply that is due are read all the same.
    fn reads_messages(&self) -> bool {
        self.timeline.cursor().is_none()
            || self.reply_due_ms.is_some()
            || self.in_doubt.is_some()
            || self.presence.as_ref().is_none_or(|presence| presence.should_poll_messages)
    }

    fn send_letter(&mut self, now_ms: u64) {
        if self.sending.is_some() || self.in_doubt.is_some() {
            return;
        }
        let Some(index) = self.outbox.iter().position(|letter| !letter.failed) else {
            return;
        };
        if now_ms < self.outbox[index].not_before_ms {
            return;
        }
        let mut profile = self.visitor.clone();
        profile.visitor_id = Some(self.visitor_id.clone());
        let (conversation_id, locale) = (self.conversation.clone(), self.locale.clone());
        let letter = &mut self.outbox[index];
        let frozen = letter
            .freeze(&self.visitor_id, |letter| SendMessage {
                conversation_id,
                message: letter.text.clone(),
                locale,
                source_page: Some(letter.page_path.clone()).filter(|path| !path.is_empty()),
                visitor: profile,
            })
            .clone();
        letter.attempts += 1;
        let letter = letter.clone();
        self.store_letter(&letter);
        self.sending = Some(letter.entry);
        self.timeline.set_delivery(letter.entry, Delivery::Sending);
        self.changed = true;
        self.request(Endpoint::Send, Vec::new(), Some((frozen.body, frozen.key)), SEND_TIMEOUT_MS, false);
    }

    fn send_events(&mut self, now_ms: u64, keepalive: bool) {
        if self.is_flying(Endpoint::Events) {
            return;
        }
        let Some(batch) = self.events.next_batch(&mut self.random) else {
            return;
        };
        let body = Some((batch.body.clone(), batch.key.clone()));
        // Until the answer is there, nothing is due.
        self.events.not_before_ms = now_ms + u64::from(READ_TIMEOUT_MS);
        self.request(Endpoint::Events, Vec::new(), body, READ_TIMEOUT_MS, keepalive);
    }

    fn ask(&mut self, endpoint: Endpoint, query: Vec<(&'static str, String)>) {
        self.request(endpoint, query, None, READ_TIMEOUT_MS, false);
    }

    fn request(
        &mut self,
        endpoint: Endpoint,
        query: Vec<(&'static str, String)>,
        body: Option<(String, IdempotencyKey)>,
        timeout_ms: u32,
        keepalive: bool,
    ) {
        self.last_request += 1;
        let id = RequestId(self.last_request);
        self.flights.push((id, endpoint));
        let (body, key) = body.unzip();
        self.effects.push(Effect::Request(Request { id, endpoint, query, body, key, timeout_ms, keepalive }));
    }

    /// Which request this answer belongs to; `None` for one that nobody waits for any more.
    fn land(&mut self, id: RequestId) -> Option<Endpoint> {
        let index = self.flights.iter().position(|(flight, _)| *flight == id)?;
        Some(self.flights.swap_remove(index).1)
    }

    fn is_flying(&self, endpoint: Endpoint) -> bool {
        self.flights.iter().any(|(_, flight)| *flight == endpoint)
    }

    fn plan_wake(&mut self, now_ms: u64) {
        let mut due = vec![self.reply_due_ms];
        if self.online && self.is_on() {
            due.push(self.events.due_ms());
            if self.sending.is_none() && self.in_doubt.is_none() {
                due.push(self.outbox.iter().find(|letter| !letter.failed).map(|letter| letter.not_before_ms));
            }
        }
        if self.may_poll() {
            if !self.is_flying(Endpoint::Presence) {
                due.push(Some(self.pace.next_presence_ms));
            }
            if self.reads_messages() && !self.is_flying(Endpoint::Messages) {
                due.push(Some(self.pace.next_messages_ms));
            }
        }
        let next = due.into_iter().flatten().min().map(|due| due.max(now_ms + 1));
        if let Some(at) = next
            && self.wake_ms != next
        {
            self.wake_ms = next;
            self.effects.push(Effect::WakeAt(at));
        }
    }

    fn restore_letters(&mut self, stored: &stored::Stored, now_ms: u64) {
        let mut letters: Vec<Letter> = Vec::new();
        for (name, value) in stored::letters(stored) {
            // The entry is written below, when the order is known.
            let read = Letter::from_stored(name, value);
            match read {
                Some(letter) => {
                    let before =
                        |other: &Letter| (other.written_ms, &other.name) <= (letter.written_ms, &letter.name);
                    letters.insert(letters.partition_point(before), letter);
                }
                None => self.effects.push(Effect::Store(format!("{}{name}", keys::OUTBOX), None)),
            }
        }
        for mut letter in letters {
            letter.failed |= letter.is_stale(now_ms);
            let delivery = if letter.failed { Delivery::Failed } else { Delivery::Waiting };
            letter.entry = self.timeline.write(&letter.text, letter.written_ms, delivery);
            self.outbox.push(letter);
        }
    }

    pub(crate) fn store_letter(&mut self, letter: &Letter) {
        self.store(&format!("{}{}", keys::OUTBOX, letter.name), Some(letter.to_stored().to_string()));
    }

    pub(crate) fn drop_letter(&mut self, entry: EntryKey) {
        if let Some(index) = self.outbox.iter().position(|letter| letter.entry == entry) {
            let letter = self.outbox.remove(index);
            self.store(&format!("{}{}", keys::OUTBOX, letter.name), None);
        }
    }

    pub(crate) fn store(&mut self, key: &str, text: Option<String>) {
        self.effects.push(Effect::Store(key.to_owned(), text));
    }

    pub(crate) fn tell(&mut self, news: News) {
        self.effects.push(Effect::Tell(news));
    }

    pub(crate) fn show(&mut self) {
        self.changed = true;
    }
}
