//! The session of a tab, with any input from storage, other tabs and the service.

use std::collections::BTreeMap;

use chat_protocol::{Endpoint, Method, Value};
use chat_session::{Answer, Effect, Input, Page, Reports, Request, Session, Start, keys};

/// The time at which a tab starts: November 2023.
const START_MS: u64 = 1_700_000_000_000;
/// Maximum consecutive wake-ups at the same time before the session counts as spinning.
const MAX_WAKES_AT_ONCE: u32 = 50;

/// A tab with a simulated browser.
struct Tab {
    session: Session,
    now_ms: u64,
    wake_ms: Option<u64>,
    storage: BTreeMap<String, String>,
    requests: Vec<Request>,
}

impl Tab {
    fn open(storage: BTreeMap<String, String>) -> Self {
        let (session, effects) = Session::start(Start {
            now_ms: START_MS,
            seed: 7,
            stored: parsed(&storage),
            reports: Reports::Auto,
            visible: true,
            online: true,
            ..Start::default()
        });
        let mut tab = Self { session, now_ms: START_MS, wake_ms: None, storage, requests: Vec::new() };
        tab.carry_out(effects);
        tab
    }

    fn handle(&mut self, input: Input) {
        let effects = self.session.handle(self.now_ms, input);
        self.carry_out(effects);
    }

    /// Carries out the session's effects, and checks that a browser could do so.
    fn carry_out(&mut self, effects: Vec<Effect>) {
        assert!(effects.len() < 500, "{} effects at once", effects.len());
        for effect in effects {
            match effect {
                Effect::Request(request) => {
                    let is_post = request.endpoint.method() == Method::Post;
                    assert_eq!(
                        (request.body.is_some(), request.key.is_some()),
                        (is_post, is_post),
                        "{request:?}"
                    );
                    self.requests.push(request);
                    assert!(self.requests.len() < 20, "{} requests in flight", self.requests.len());
                }
                Effect::Cancel(id) => self.requests.retain(|request| request.id != id),
                Effect::WakeAt(at_ms) => self.wake_ms = Some(at_ms),
                Effect::Store(key, text) => {
                    assert!(key.starts_with(keys::PREFIX), "a key without the prefix: {key}");
                    match text {
                        Some(text) => {
                            assert!(read(&text) != Value::Null, "stored invalid JSON: {text}");
                            self.storage.insert(key, text);
                        }
                        None => _ = self.storage.remove(&key),
                    }
                }
                Effect::Broadcast(text) => {
                    assert!(read(&text) != Value::Null, "broadcast invalid JSON: {text}");
                }
                _ => {}
            }
        }
    }

    /// Advances the time, with every requested wake-up.
    fn wait(&mut self, ms: u64) {
        let end_ms = self.now_ms + ms;
        let mut wakes_at_once = 0;
        while let Some(at_ms) = self.wake_ms.filter(|at_ms| *at_ms <= end_ms) {
            wakes_at_once = if at_ms > self.now_ms { 0 } else { wakes_at_once + 1 };
            assert!(wakes_at_once < MAX_WAKES_AT_ONCE, "requests endless wake-ups at {at_ms}");
            self.now_ms = self.now_ms.max(at_ms);
            self.wake_ms = None;
            self.handle(Input::TimerFired);
        }
        self.now_ms = end_ms;
    }

    fn answer(&mut self, status: u16, retry_after_ms: Option<u64>, body: Value) {
        if !self.requests.is_empty() {
            let request = self.requests.remove(0);
            self.handle(Input::Answered(
                request.id,
                Answer { status, retry_after_ms, body, has_more: false },
            ));
        }
    }

    /// Hides and restores the page. Requests in flight are lost.
    fn restored(&mut self) {
        self.handle(Input::PageHidden);
        self.requests.clear();
        self.handle(Input::PageRestored(parsed(&self.storage)));
    }

    /// Executes a line of a script: an event and its arguments.
    fn play(&mut self, line: &str) {
        let (what, rest) = line.split_once(' ').unwrap_or((line, ""));
        let (first, body) = rest.split_once(' ').unwrap_or((rest, ""));
        match what {
            "tab" => {
                // A script cannot know the visitor id of this tab.
                let text = rest.replace("$visitor", self.session.visitor_id().as_str());
                self.handle(Input::TabMessage(read(&text)));
            }
            "wait" => self.wait(rest.parse().unwrap_or(1_000_u64).min(10 * 24 * 3_600_000)),
            "send" => self.handle(Input::Send { text: rest.to_owned(), page_path: "/".to_owned() }),
            "again" => self.handle(Input::AskAgain { page_path: "/".to_owned() }),
            "retry" => {
                let failed = self.session.entries().last().map(|entry| entry.key);
                if let Some(key) = failed {
                    self.handle(Input::Retry(key));
                }
            }
            "open" => self.handle(Input::Opened(true, Page::default())),
            "close" => self.handle(Input::Opened(false, Page::default())),
            "hide" => self.handle(Input::Visible(false)),
            "show" => self.handle(Input::Visible(true)),
            "offline" => self.handle(Input::Online(false)),
            "online" => self.handle(Input::Online(true)),
            "fail" => {
                if let Some(request) = self.requests.pop() {
                    self.handle(Input::Failed(request.id));
                }
            }
            "answer" => self.answer(first.parse().unwrap_or(200), None, read(body)),
            "later" => self.answer(429, first.parse().ok(), read(body)),
            "store" => _ = self.storage.insert([keys::PREFIX, first].concat(), body.to_owned()),
            "full" => self.handle(Input::PersistFailed),
            "back" => self.restored(),
            "reset" => self.handle(Input::Reset),
            "prove" => {
                let person = (!rest.is_empty()).then(|| rest.to_owned());
                self.handle(Input::Person(person, parsed(&self.storage)));
            }
            _ => {}
        }
    }

    /// Answers all requests, as a recovered service does, for 18 minutes.
    fn settle(&mut self) {
        for _ in 0..12 {
            while let Some(request) = self.requests.pop() {
                let data = match request.endpoint {
                    Endpoint::Send => {
                        r#"{"conversationId":"c1","message":{"id":"m1","role":"assistant","content":"Hi"}}"#
                    }
                    Endpoint::Messages => r#"{"items":[],"operatorOnline":false}"#,
                    _ => "{}",
                };
                let body = read(&format!(r#"{{"ok":true,"requestId":"r","data":{data}}}"#));
                let answer = Answer { status: 200, retry_after_ms: None, body, has_more: false };
                self.handle(Input::Answered(request.id, answer));
            }
            self.wait(90_000);
        }
    }
}

fn read(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

fn parsed(storage: &BTreeMap<String, String>) -> Vec<(String, Value)> {
    storage.iter().map(|(key, text)| (key.clone(), read(text))).collect()
}

/// Starts a session with stored state. Each line has a key without its prefix, a space and the stored text.
pub fn stored_state(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut storage = BTreeMap::new();
    for line in text.lines().take(200) {
        let (key, value) = line.split_once(' ').unwrap_or((line, ""));
        storage.insert([keys::PREFIX, key].concat(), value.to_owned());
    }
    let mut tab = Tab::open(storage);
    tab.handle(Input::Opened(true, Page::default()));
    tab.wait(5_000);
    tab.handle(Input::Send { text: "Are the mugs dishwasher safe?".to_owned(), page_path: "/".to_owned() });
    tab.wait(60_000);
    tab.restored();
    tab.settle();
    tab.handle(Input::Reset);
}

/// Plays events of other tabs, the service and the visitor, one on each line: see [`Tab::play`].
pub fn tab_messages(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut tab = Tab::open(BTreeMap::new());
    for line in text.lines().take(200) {
        tab.play(line);
    }
    tab.settle();
}
