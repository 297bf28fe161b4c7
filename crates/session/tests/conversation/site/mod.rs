//! A session with a clock of its own, and a network that answers as a test says.

pub mod browser;

use chat_protocol::{Endpoint, Value, failure, success};
use chat_session::{
    Answer, Delivery, Effect, Entry, EntryKey, Input, Page, Reports, Request, Session, SessionEvent, Start,
    Stored, keys,
};

/// One tab: a session, the time, and what its effects have done.
pub struct Tab {
    pub session: Session,
    pub now_ms: u64,
    /// Requests that wait for an answer, the oldest first.
    pub open: Vec<Request>,
    /// Every request so far.
    pub sent: Vec<Request>,
    pub storage: Vec<(String, String)>,
    pub emitted: Vec<SessionEvent>,
    /// What it told the other tabs.
    pub posts: Vec<String>,
    /// What it kept or forgot since somebody looked.
    pub stores: Vec<(String, Option<String>)>,
    /// It hears nothing of the others.
    pub deaf: bool,
    /// It is stopped: what it is told waits in `unheard`, and its timers do not run.
    pub stopped: bool,
    pub unheard: Vec<Value>,
    /// When it is to be woken next.
    pub wake_ms: Option<u64>,
    /// How often it was woken.
    pub wakes: usize,
}

/// A tab that nobody objects to leads after so long.
pub const LEAD_MS: u64 = 300;

/// A history in which there is nothing new.
pub const NOTHING: &str = r#"{"messages":[]}"#;

/// JSON text as a value.
pub fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

/// What a session is given of a storage.
pub fn parsed(storage: &[(String, String)]) -> Stored {
    let parse = |text: &str| serde_json::from_str(text).unwrap_or_default();
    storage.iter().map(|(key, text)| (key.clone(), parse(text))).collect()
}

impl Tab {
    /// A first visit, or a later one that finds `storage`.
    pub fn open(storage: Vec<(String, String)>, now_ms: u64) -> Self {
        Self::start(
            Start {
                reports: Reports::Auto,
                visible: true,
                online: true,
                seed: (42 + now_ms).into(),
                ..Start::default()
            },
            storage,
            now_ms,
        )
    }

    /// A conversation in an open window: "one", and its answer "first".
    pub fn in_conversation() -> Self {
        let mut tab = Self::open(vec![], 0);
        tab.look(true);
        tab.say("one");
        tab.reply(1, "first");
        tab
    }

    pub fn start(start: Start, storage: Vec<(String, String)>, now_ms: u64) -> Self {
        let mut tab = Self::begin(start, storage, now_ms);
        tab.wait(LEAD_MS);
        tab
    }

    /// The same, before any time has passed.
    pub fn begin(start: Start, storage: Vec<(String, String)>, now_ms: u64) -> Self {
        let stored = parsed(&storage);
        let (session, effects) = Session::start(Start { now_ms, stored, ..start });
        let mut tab = Self {
            session,
            now_ms,
            open: Vec::new(),
            sent: Vec::new(),
            storage,
            emitted: Vec::new(),
            posts: Vec::new(),
            stores: Vec::new(),
            deaf: false,
            stopped: false,
            unheard: Vec::new(),
            wake_ms: None,
            wakes: 0,
        };
        tab.carry_out(effects);
        tab
    }

    /// The same browser, on the next page.
    pub fn reload(self) -> Self {
        Self::open(self.storage, self.now_ms + 10)
    }

    pub fn feed(&mut self, input: Input) {
        let effects = self.session.handle(self.now_ms, input);
        self.carry_out(effects);
    }

    fn carry_out(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Request(request) => {
                    self.open.push(request.clone());
                    self.sent.push(request);
                }
                Effect::Cancel(id) => self.open.retain(|request| request.id != id),
                Effect::Broadcast(text) => self.posts.push(text),
                Effect::WakeAt(at_ms) => {
                    assert!(at_ms > self.now_ms, "a session is not to be woken without end");
                    self.wake_ms = Some(at_ms);
                }
                Effect::Store(key, text) => {
                    self.stores.push((key.clone(), text.clone()));
                    self.storage.retain(|(kept, _)| *kept != key);
                    self.storage.extend(text.map(|text| (key, text)));
                }
                Effect::Show => {}
                Effect::Emit(event) => self.emitted.push(event),
            }
        }
    }

    /// Lets time pass, with every wake-up that is asked for on the way; not one that asks for the next without end.
    pub fn wait(&mut self, ms: u64) {
        let until = self.now_ms + ms;
        let most = self.wakes as u64 + 50 + ms / 50;
        while let Some(at_ms) = self.wake_ms.filter(|at_ms| *at_ms <= until) {
            self.now_ms = at_ms.max(self.now_ms);
            self.wake_ms = None;
            self.wakes += 1;
            assert!(self.wakes as u64 <= most, "woken more than {} times in {ms} ms", 50 + ms / 50);
            self.feed(Input::TimerFired);
        }
        self.now_ms = until;
    }

    /// Lets time pass until this is asked for.
    pub fn wait_for(&mut self, endpoint: Endpoint) -> Request {
        for _ in 0..60_000 {
            if let Some(request) = self.waiting(endpoint) {
                return request.clone();
            }
            self.wait(100);
        }
        panic!("nothing asks for {endpoint:?}");
    }

    pub fn say(&mut self, text: &str) {
        self.feed(Input::Send { text: text.into(), page_path: "/rooms".into() });
        if !self.session.leads() {
            self.wait(LEAD_MS);
        }
    }

    pub fn look(&mut self, open: bool) {
        self.feed(Input::Opened(open, Page::default()));
    }

    /// Another tab tells something: the fields of what it says, beside its name and the visitor.
    pub fn hear(&mut self, fields: &str) {
        let visitor = self.session.visitor_id().to_string();
        self.hear_of(&visitor, fields);
    }

    /// A tab with this visitor tells something.
    pub fn hear_of(&mut self, visitor: &str, fields: &str) {
        let message = format!(r#"{{"visitor":"{visitor}","tab":"other",{fields}}}"#);
        self.feed(Input::TabMessage(json(&message)));
    }

    /// What it does with what it told since somebody looked: `ask`, `lead` and so on.
    pub fn take_deeds(&mut self) -> Vec<String> {
        let does = |post: &String| json(post).get("does").and_then(Value::as_text).map(str::to_owned);
        std::mem::take(&mut self.posts).iter().filter_map(does).collect()
    }

    /// Another tab says that it kept this under this name; null says that it forgot it.
    pub fn hear_kept(&mut self, name: &str, value: &str) {
        self.hear(&format!(r#""does":"keep","name":"{name}","value":{value}"#));
    }

    /// What is kept under this name.
    pub fn kept(&self, name: &str) -> Option<&str> {
        let kept = self.storage.iter().find(|(key, _)| key.strip_prefix(keys::PREFIX) == Some(name));
        kept.map(|(_, text)| text.as_str())
    }

    /// What is kept of a message that is not delivered: its name, and the text.
    pub fn letter(&self, text: &str) -> (String, String) {
        let says = format!(r#""text":"{text}""#);
        let kept =
            self.storage.iter().filter_map(|(key, kept)| Some((key.strip_prefix(keys::PREFIX)?, kept)));
        let mut letters = kept.filter(|(name, kept)| name.starts_with(keys::OUTBOX) && kept.contains(&says));
        let (name, kept) = letters.next().expect(text);
        (name.to_owned(), kept.clone())
    }

    /// The request of this kind that waits for an answer.
    pub fn waiting(&self, endpoint: Endpoint) -> Option<&Request> {
        self.open.iter().find(|request| request.endpoint == endpoint)
    }

    fn take(&mut self, endpoint: Endpoint) -> Request {
        let index = self.open.iter().position(|request| request.endpoint == endpoint);
        self.open
            .remove(index.unwrap_or_else(|| panic!("nothing asks for {endpoint:?}; open: {:?}", self.open)))
    }

    pub fn answer_with(&mut self, endpoint: Endpoint, answer: Answer) {
        let request = self.take(endpoint);
        self.feed(Input::Answered(request.id, answer));
    }

    /// The service answers with this data.
    pub fn answer(&mut self, endpoint: Endpoint, data: &str) {
        let body = success(json(data), "r");
        self.answer_with(endpoint, Answer { status: 200, retry_after_ms: None, body });
    }

    /// The service refuses.
    pub fn refuse(&mut self, endpoint: Endpoint, status: u16, code: &str, retry_after_ms: Option<u64>) {
        let body = failure(&code.to_owned().into(), "no", "r");
        self.answer_with(endpoint, Answer { status, retry_after_ms, body });
    }

    pub fn lose(&mut self, endpoint: Endpoint) {
        let request = self.take(endpoint);
        self.feed(Input::Failed(request.id));
    }

    /// The service takes the message that is on its way, and replies.
    pub fn reply(&mut self, number: u32, reply: &str) {
        self.answer(
            Endpoint::Send,
            &format!(
                r#"{{"conversationId":"c1","userMessageId":"u{number}","message":{{"id":"a{number}","role":"assistant","content":"{reply}"}}}}"#
            ),
        );
    }

    pub fn texts(&self) -> Vec<&str> {
        self.session.entries().iter().map(|entry| &*entry.text).collect()
    }

    pub fn last(&self) -> &Entry {
        self.session.entries().last().expect("a message")
    }

    fn entry(&self, text: &str) -> &Entry {
        self.session.entries().iter().find(|entry| &*entry.text == text).expect(text)
    }

    pub fn delivery(&self, text: &str) -> Delivery {
        self.entry(text).delivery
    }

    pub fn key(&self, text: &str) -> EntryKey {
        self.entry(text).key
    }

    /// What the page was told to have been delivered, or to have come in.
    pub fn told(&self) -> Vec<&str> {
        let told = self.emitted.iter().filter_map(|event| match event {
            SessionEvent::Message(entry) => Some(&*entry.text),
            _ => None,
        });
        told.collect()
    }

    /// How many of the names in storage begin like this.
    pub fn stored_as(&self, name: &str) -> usize {
        let begins = |key: &str| key.strip_prefix(keys::PREFIX).is_some_and(|key| key.starts_with(name));
        self.storage.iter().filter(|(key, _)| begins(key)).count()
    }

    /// All attempts at sending a message.
    pub fn attempts(&self) -> Vec<&Request> {
        self.sent.iter().filter(|request| request.endpoint == Endpoint::Send).collect()
    }

    pub fn count(&self, endpoint: Endpoint) -> usize {
        self.sent.iter().filter(|request| request.endpoint == endpoint).count()
    }
}
