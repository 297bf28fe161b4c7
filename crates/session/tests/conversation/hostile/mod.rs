//! Hostile input from storage, other tabs and the service: no panic, no lost message, bounded memory.
//!
//! `PROPTEST_CASES` sets the number of cases.

mod json;
mod regressions;

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::conversation::fixture::{Tab, json as parsed};
use chat_protocol::Endpoint::{Config, Events, Messages, Presence, Send};
use chat_protocol::{Endpoint, IdempotencyKey, Value};
use chat_session::{Answer, Delivery, Input, Page, Reports, Start, keys};
use json::{Mutation, any_mutations, any_value, mutated, with_replaced_bytes};
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// The storage of a real browser, and the messages between its tabs.
struct Real {
    storage: Vec<(String, String)>,
    broadcasts: Vec<Value>,
}

static REAL: LazyLock<Real> = LazyLock::new(|| {
    let mut tab = Tab::in_conversation();
    tab.wait_for(Presence);
    tab.answer(Presence, r#"{"operatorOnline":true,"suggestedMessageIntervalMs":2000}"#);
    tab.feed(Input::Contact(
        chat_protocol::VisitorProfile { email: Some("ann@example.com".into()), ..Default::default() },
        Page::default(),
    ));
    tab.send("failed");
    tab.refuse(Send, 400, "INVALID_REQUEST", None);
    tab.send("two");
    tab.refuse(Send, 429, "RATE_LIMITED", Some(60_000));
    tab.send("three");
    tab.feed(Input::Track("quiz_done".into(), Value::Null, Page::default()));
    tab.receive(r#""does":"ask","revision":0"#);
    tab.feed(Input::PageHidden);
    Real { storage: tab.storage, broadcasts: tab.broadcasts.iter().map(|text| parsed(text)).collect() }
});

/// Real responses of the service, by endpoint.
const RESPONSES: &[(Endpoint, &str)] = &[
    (
        Send,
        r#"{"ok":true,"data":{"conversationId":"c1","userMessageId":"u9","message":{"id":"a9","role":"assistant","content":"hi","createdAt":"2026-01-01T00:00:00Z"},"aiStatus":"ok","lead":{"score":3}}}"#,
    ),
    (
        Messages,
        r#"{"ok":true,"data":{"conversationId":"c1","messages":[{"id":"u2","role":"visitor","content":"two"},{"id":"o1","role":"operator","content":"Anna"},{"role":"assistant","content":"second","createdAt":"2026-01-01T00:00:00Z"}],"nextAfter":"o1"}}"#,
    ),
    (
        Presence,
        r#"{"ok":true,"data":{"operatorOnline":true,"shouldPollMessages":true,"suggestedPresenceIntervalMs":9000,"suggestedMessageIntervalMs":2000}}"#,
    ),
    (Events, r#"{"ok":true,"data":{"accepted":1,"rejected":0,"tracking":"enabled"}}"#),
    (
        Config,
        r#"{"ok":true,"data":{"config":{"enabled":true,"widgetEnabled":true,"assistantName":"Clover","welcomeMessage":"Hello"},"locale":"en"}}"#,
    ),
    (Send, r#"{"ok":false,"error":{"code":"RATE_LIMITED","message":"no"},"requestId":"r"}"#),
];

/// Something that happens to a session.
#[derive(Clone, Debug)]
enum Step {
    Waits(u64),
    Receives(Value),
    ReceivesReal(Index, Vec<Mutation>),
    /// The oldest request gets a response.
    Answered(u16, Option<u64>, Index, Vec<Mutation>),
    Lost,
    Sends,
    RetriesAll,
    Online(bool),
    Visible(bool),
    Opened(bool),
    Leaves,
    Restored(Vec<Mutation>),
    PersistFails,
    Resets,
    Proves(Option<&'static str>),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let status = select(vec![0u16, 200, 204, 302, 400, 401, 402, 404, 409, 429, 500, 503, 599]);
    let edges = select(vec![0u64, 1, 1_000, 300_000, 86_400_000, 1 << 53, u64::MAX - 1, u64::MAX]);
    let wait = prop_oneof![6 => 0..5_000u64, 3 => 0..400_000u64];
    let step = prop_oneof![
        4 => wait.prop_map(Step::Waits),
        3 => any_value().prop_map(Step::Receives),
        6 => (any::<Index>(), any_mutations()).prop_map(|(index, mutations)| Step::ReceivesReal(index, mutations)),
        8 => (status, prop::option::of(edges), any::<Index>(), any_mutations())
            .prop_map(|(status, retry, answer, mutations)| Step::Answered(status, retry, answer, mutations)),
        1 => Just(Step::Lost),
        3 => Just(Step::Sends),
        2 => Just(Step::RetriesAll),
        1 => any::<bool>().prop_map(Step::Online),
        1 => any::<bool>().prop_map(Step::Visible),
        1 => any::<bool>().prop_map(Step::Opened),
        1 => Just(Step::Leaves),
        2 => any_mutations().prop_map(Step::Restored),
        1 => Just(Step::PersistFails),
        1 => Just(Step::Resets),
        2 => select(vec![None, Some("ada"), Some("bob")]).prop_map(Step::Proves),
    ];
    prop::collection::vec(step, 0..40)
}

/// Returns real storage with mutated values, and further ones.
fn mutated_storage(mutations: &[Mutation], more: &[(String, Value)]) -> Vec<(String, String)> {
    let real =
        REAL.storage.iter().map(|(key, text)| (key.clone(), mutated(&parsed(text), mutations).to_json()));
    real.chain(more.iter().map(|(name, value)| ([keys::PREFIX, name].concat(), value.to_json()))).collect()
}

/// Returns names of keys, among them those of the session.
fn names() -> impl Strategy<Value = String> {
    let own = [keys::VISITOR, keys::CONVERSATION, keys::SEEN, keys::CONTACT, keys::CONFIG, keys::TRACKING];
    prop_oneof![
        4 => select(own.map(str::to_owned).to_vec()),
        2 => "(outbox|event|batch):[!-~]{0,40}",
        2 => "(outbox:m[0-9a-f]{1,9}|conversation|visitor)@verified:(ada|bob)",
        1 => any::<String>(),
    ]
}

fn tab_with(storage: Vec<(String, String)>, online: bool) -> Tab {
    let start = Start { reports: Reports::Auto, visible: true, online, seed: 7, ..Start::default() };
    Tab::start(start, storage, 1_000_000)
}

/// Performs a step. Returns the number of bytes that the session received.
fn perform(tab: &mut Tab, step: &Step) -> usize {
    let receive = |tab: &mut Tab, message: Value| {
        let bytes = message.to_json().len();
        tab.feed(Input::TabMessage(message));
        bytes
    };
    match step {
        Step::Waits(ms) => tab.wait(*ms),
        Step::Receives(message) => return receive(tab, message.clone()),
        Step::ReceivesReal(index, mutations) => {
            let mut message = mutated(index.get(&REAL.broadcasts), mutations);
            // Mostly a message of the same visitor.
            if let Value::Object(members) = &mut message
                && mutations.len() < 4
            {
                let visitor = tab.session.visitor_id().as_str().into();
                members
                    .iter_mut()
                    .filter(|(name, _)| name == "visitor")
                    .for_each(|member| member.1.clone_from(&visitor));
            }
            return receive(tab, message);
        }
        Step::Answered(status, retry_after_ms, answer, mutations) => {
            let Some(request) = (!tab.open.is_empty()).then(|| tab.open.remove(0)) else { return 0 };
            let fitting: Vec<_> =
                RESPONSES.iter().filter(|(endpoint, _)| *endpoint == request.endpoint).collect();
            let body = mutated(&parsed(answer.get(&fitting).1), mutations);
            let bytes = body.to_json().len();
            let answer = Answer { status: *status, retry_after_ms: *retry_after_ms, body, has_more: false };
            tab.feed(Input::Answered(request.id, answer));
            return bytes;
        }
        Step::Lost => {
            if !tab.open.is_empty() {
                let request = tab.open.remove(0);
                tab.feed(Input::Failed(request.id));
            }
        }
        Step::Sends => tab.feed(Input::Send { text: "said".into(), page_path: "/".into() }),
        Step::RetriesAll => {
            let entries: Vec<_> = tab.session.entries().iter().map(|entry| entry.key).collect();
            for key in entries {
                tab.feed(Input::Retry(key));
            }
        }
        Step::Online(online) => tab.feed(Input::Online(*online)),
        Step::Visible(visible) => tab.feed(Input::Visible(*visible)),
        Step::Opened(open) => tab.set_open(*open),
        Step::Leaves => tab.feed(Input::PageHidden),
        Step::Restored(mutations) => {
            let stored = mutated_storage(mutations, &[]);
            tab.feed(Input::PageRestored(crate::conversation::fixture::parsed(&stored)));
            return stored.iter().map(|(_, text)| text.len()).sum();
        }
        Step::PersistFails => tab.feed(Input::PersistFailed),
        Step::Resets => tab.feed(Input::Reset),
        Step::Proves(person) => tab.prove(*person),
    }
    // The text that the visitor sends.
    "said".len()
}

/// Asserts what must hold after every step.
fn assert_invariants(tab: &Tab) {
    // A page that was left, or lost the lead, repeats the same request.
    let sends = tab.open.iter().filter(|request| request.endpoint == Send);
    let keys: HashSet<_> =
        sends.filter_map(|request| request.key.as_ref()).map(IdempotencyKey::as_str).collect();
    assert!(keys.len() <= 3, "one message in flight, and those from before it lost the lead: {keys:?}");
    assert!(tab.session.is_verified() || tab.count_stored("conversation@verified:") == 0);
    let mut shown: Vec<u32> = tab.session.entries().iter().map(|entry| entry.key.get()).collect();
    shown.sort_unstable();
    shown.dedup();
    assert_eq!(shown.len(), tab.session.entries().len(), "each entry has a unique key");
    assert!(tab.session.unread() as usize <= shown.len());
}

/// Asserts that memory and storage are bounded by what the session received. A text counts a few times: as an
/// entry, as a pending message, and in a frozen request.
fn assert_bounded(tab: &Tab, bytes_in: usize) {
    let shown: usize = tab.session.entries().iter().map(|entry| entry.text.len()).sum();
    let stored: usize = tab.storage.iter().map(|(_, text)| text.len()).sum();
    assert!(shown <= 2 * bytes_in + 10_000, "{shown} bytes are shown of {bytes_in} received");
    assert!(stored <= 8 * bytes_in + 100_000, "{stored} bytes are stored of {bytes_in} received");
}

fn run(mut tab: Tab, steps: &[Step]) {
    let mut bytes_in: usize = tab.storage.iter().map(|(_, text)| text.len()).sum();
    assert_invariants(&tab);
    for step in steps {
        bytes_in += perform(&mut tab, step);
        assert_invariants(&tab);
    }
    assert_bounded(&tab, bytes_in);
    assert_invariants(&tab.reload());
}

/// Returns pending messages, as an earlier page stored them.
fn pending() -> Vec<(String, String)> {
    let mut tab = Tab::open(vec![], 0);
    tab.feed(Input::Online(false));
    for text in ["one", "two", "three"] {
        tab.send(text);
    }
    let is_pending = |key: &str| key.ends_with(keys::VISITOR) || key.contains(keys::OUTBOX);
    tab.storage.into_iter().filter(|(key, _)| is_pending(key)).collect()
}

proptest! {
    #[test]
    fn survives_any_stored_state(
        mutations in any_mutations(),
        more in prop::collection::vec((names(), any_value()), 0..6),
        online in any::<bool>(),
        steps in steps(),
    ) {
        run(tab_with(mutated_storage(&mutations, &more), online), &steps);
    }

    #[test]
    fn survives_any_stored_bytes(
        edits in prop::collection::vec((any::<Index>(), any::<u8>()), 1..12),
        texts in prop::collection::vec((names(), any::<String>()), 0..4),
        steps in steps(),
    ) {
        let real = REAL.storage.iter().map(|(key, text)| (key.clone(), with_replaced_bytes(text, &edits)));
        let more = texts.into_iter().map(|(name, text)| ([keys::PREFIX, &name].concat(), text));
        run(tab_with(real.chain(more).collect(), true), &steps);
    }

    #[test]
    fn survives_any_tab_message_and_any_response(steps in steps()) {
        run(Tab::in_conversation(), &steps);
    }

    #[test]
    fn keeps_stored_messages_despite_other_values_and_tab_messages(
        more in prop::collection::vec((names(), any_value()), 0..8),
        messages in prop::collection::vec(any_value(), 0..8),
    ) {
        let valid = pending();
        let others = more.iter().filter(|(name, _)| valid.iter().all(|(key, _)| !key.ends_with(name.as_str())));
        let others = others.map(|(name, value)| ([keys::PREFIX, name].concat(), value.to_json()));
        let mut tab = tab_with(valid.iter().cloned().chain(others).collect(), false);
        for message in messages {
            tab.feed(Input::TabMessage(message));
        }
        for mut tab in [Tab::start(Start { visible: true, ..Start::default() }, tab.storage.clone(), 2_000_000), tab] {
            for text in ["one", "two", "three"] {
                let shown = tab.session.entries().iter().filter(|entry| &*entry.text == text);
                let shown: Vec<_> = shown.map(|entry| entry.delivery).collect();
                prop_assert_eq!(shown, [Delivery::Waiting]);
            }
            let outbox = valid.iter().filter(|(key, _)| key.contains(keys::OUTBOX));
            for (key, _) in outbox {
                prop_assert!(tab.storage.iter().any(|(name, _)| name == key), "{} was removed", key);
            }
            // The messages are sent once the tab is online, unless the chat is switched off.
            tab.feed(Input::Online(true));
            tab.wait(400_000);
            prop_assert!(!tab.attempts().is_empty() || !tab.session.is_on());
        }
    }

    #[test]
    fn waits_for_any_retry_after_up_to_five_minutes(retry_after_ms in any::<u64>(), short_ms in 0..400_000u64) {
        for retry_after_ms in [retry_after_ms, short_ms] {
            let mut tab = Tab::in_conversation_sending("two");
            let refused_ms = tab.now_ms;
            tab.refuse(Send, 503, "UNAVAILABLE", Some(retry_after_ms));
            tab.wait_for(Send);
            let waited_ms = tab.now_ms - refused_ms;
            let min_ms = retry_after_ms.min(300_000);
            prop_assert!((min_ms..=min_ms + 600).contains(&waited_ms), "{} ms of {}", waited_ms, retry_after_ms);
        }
    }
}
