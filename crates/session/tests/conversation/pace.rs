//! The intervals of requests: polls when there may be something new, and silence otherwise.

use crate::conversation::fixture::{LEAD_MS, NOTHING, Tab};
use chat_protocol::Endpoint::{Config, Events, Messages, Presence, Send};
use chat_session::{Delivery, Input, Start};

#[test]
fn polls_nothing_without_a_conversation_or_while_hidden_or_offline() {
    let mut tab = Tab::open(vec![], 0);
    tab.answer(Config, r#"{"config":{}}"#);
    tab.set_open(true);
    tab.wait(600_000);
    assert_eq!((tab.count(Messages), tab.count(Presence)), (0, 0));
    tab.send("hello");
    tab.reply(1, "hi");
    for forbid in [Input::Visible(false), Input::Online(false)] {
        tab.feed(forbid);
        tab.open.retain(|request| request.endpoint == Events);
        let before = (tab.count(Messages), tab.count(Presence));
        tab.wait(600_000);
        assert_eq!((tab.count(Messages), tab.count(Presence)), before);
    }
}

#[test]
fn sends_no_requests_while_the_chat_is_switched_off() {
    let mut tab = Tab::in_conversation();
    tab.answer(Config, r#"{"config":{"enabled":false}}"#);
    let before = (tab.count(Messages), tab.count(Presence), tab.count(Events), tab.attempts().len());
    tab.open.clear();
    tab.send("anybody?");
    tab.wait(600_000);
    assert_eq!((tab.count(Messages), tab.count(Presence), tab.count(Events), tab.attempts().len()), before);
    tab.feed(Input::ReloadConfig);
    tab.answer(Config, r#"{"config":{"enabled":true}}"#);
    tab.wait(LEAD_MS);
    assert_eq!(tab.attempts().len(), before.3 + 1);
}

#[test]
fn does_not_request_a_config_the_page_already_has() {
    let config = Some(crate::conversation::fixture::json(r#"{"config":{"assistantName":"Clover"}}"#));
    let tab = Tab::start(Start { config, visible: true, online: true, ..Start::default() }, vec![], 0);
    assert_eq!(tab.count(Config), 0);
    assert_eq!(tab.session.config().and_then(|config| config.assistant_name.as_deref()), Some("Clover"));
}

#[test]
fn requests_the_config_again_after_a_failure() {
    let mut tab = Tab::open(vec![], 0);
    tab.refuse(Config, 503, "", None);
    tab.wait(19_900);
    assert_eq!(tab.count(Config), 1);
    tab.wait(8_200);
    assert_eq!(tab.count(Config), 2, "20 seconds, and up to 8 more");
    tab.answer(Config, r#"{"config":{"assistantName":"Clover"}}"#);
    tab.wait(600_000);
    assert_eq!(tab.count(Config), 2);
}

#[test]
fn backs_off_exponentially_after_failed_polls() {
    // The pauses of 40 visitors after each of these failed polls in a row.
    let mut failures = [2_400_u64, 4_000, 8_000, 16_000].map(|max_ms| (max_ms, Vec::new()));
    for seed in 0..40 {
        let mut tab = Tab::start(Start { seed, visible: true, online: true, ..Start::default() }, vec![], 0);
        tab.send("one");
        tab.reply(1, "first");
        tab.answer(Presence, r#"{"suggestedMessageIntervalMs":1000,"suggestedPresenceIntervalMs":300000}"#);
        for (_, pauses) in &mut failures {
            let since_ms = tab.now_ms;
            tab.fail(Messages);
            tab.wait_for(Messages);
            pauses.push(tab.now_ms - since_ms);
        }
    }
    for (max_ms, pauses) in failures {
        assert!(pauses.iter().all(|pause| *pause <= max_ms + 100), "{pauses:?}");
        assert!(pauses.iter().any(|pause| *pause > max_ms * 3 / 4), "almost {max_ms}: {pauses:?}");
    }
}

#[test]
fn a_retry_after_holds_every_endpoint() {
    let mut tab = Tab::in_conversation();
    tab.wait_for(Presence);
    tab.refuse(Presence, 429, "RATE_LIMITED", Some(120_000));
    tab.open.clear();
    let before = (tab.count(Messages), tab.count(Presence), tab.count(Events), tab.attempts().len());
    tab.send("are you there?");
    tab.wait(119_000);
    assert_eq!((tab.count(Messages), tab.count(Presence), tab.count(Events), tab.attempts().len()), before);
    tab.wait(2_000);
    assert_eq!(tab.attempts().len(), before.3 + 1);
    tab.refuse(Send, 429, "RATE_LIMITED", Some(u64::MAX));
    tab.wait(301_000);
    assert_eq!(tab.attempts().len(), before.3 + 2, "at most five minutes");
}

#[test]
fn polls_after_a_lost_response() {
    let mut tab = Tab::in_conversation();
    tab.wait_for(Messages);
    tab.answer_messages(&["a1 assistant first"]);
    tab.wait_for(Presence);
    tab.answer(
        Presence,
        r#"{"operatorOnline":false,"shouldPollMessages":false,"suggestedMessageIntervalMs":60000}"#,
    );
    tab.wait_for(Messages);
    tab.answer(Messages, r#"{"messages":[],"nextAfter":"a1"}"#);
    tab.wait(60_000);
    assert!(tab.waiting(Messages).is_none(), "the service has nothing to poll");
    tab.open.clear();
    tab.send("two");
    tab.fail(Send);
    tab.wait(2_500);
    assert!(tab.waiting(Messages).is_some());
}

#[test]
fn a_hidden_tab_cancels_its_polls() {
    let mut tab = Tab::in_conversation();
    assert!(tab.waiting(Messages).is_some() && tab.waiting(Presence).is_some());
    tab.feed(Input::Visible(false));
    assert!(tab.waiting(Messages).is_none() && tab.waiting(Presence).is_none());
}

#[test]
fn polls_only_presence_if_the_service_has_no_messages() {
    let mut tab = Tab::in_conversation();
    tab.answer(Messages, NOTHING);
    tab.answer(
        Presence,
        r#"{"shouldPollMessages":false,"suggestedMessageIntervalMs":1000,"suggestedPresenceIntervalMs":10000}"#,
    );
    let before = tab.count(Messages);
    tab.wait(8_000);
    assert_eq!(tab.count(Messages), before);
    tab.wait_for(Presence);
    tab.answer(Presence, r#"{"shouldPollMessages":true,"suggestedMessageIntervalMs":1000}"#);
    assert_eq!(tab.count(Messages), before + 1);
}

#[test]
fn polls_at_once_when_the_window_opens_or_the_tab_becomes_visible() {
    let mut tab = Tab::in_conversation();
    let slow = r#"{"shouldPollMessages":false,"suggestedMessageIntervalMs":60000}"#;
    tab.answer(Messages, NOTHING);
    tab.answer(Presence, slow);
    assert!(tab.waiting(Messages).is_none());
    tab.set_open(false);
    tab.feed(Input::Visible(true));
    tab.feed(Input::Online(true));
    assert!(tab.waiting(Messages).is_none(), "the state did not change");
    tab.set_open(true);
    assert!(tab.waiting(Messages).is_some());
    tab.answer(Messages, NOTHING);
    tab.answer(Presence, slow);
    tab.feed(Input::Online(false));
    tab.feed(Input::Online(true));
    assert!(tab.waiting(Messages).is_some());
    tab.answer(Messages, NOTHING);
    tab.feed(Input::Visible(false));
    tab.feed(Input::Visible(true));
    tab.wait(LEAD_MS);
    assert!(tab.waiting(Messages).is_some());
}

#[test]
fn polls_after_a_response_for_messages_before_the_reply() {
    let mut tab = Tab::in_conversation();
    tab.answer(Messages, NOTHING);
    tab.answer(Presence, r#"{"shouldPollMessages":false,"suggestedPresenceIntervalMs":300000}"#);
    tab.send("two");
    tab.reply(2, "second");
    assert!(tab.waiting(Messages).is_none(), "the response to the first attempt has the reply");
    tab.send("three");
    tab.refuse(Send, 503, "", Some(100));
    tab.wait_for(Send);
    assert!(tab.waiting(Messages).is_none(), "the service refused the message");
    tab.reply(3, "third");
    assert!(tab.waiting(Messages).is_some(), "an earlier attempt may have arrived");
    tab.answer(Messages, NOTHING);
    tab.send("four");
    tab.answer(Send, r#"{"conversationId":"c1","userMessageId":"u4"}"#);
    tab.answer(Messages, NOTHING);
    tab.send("five");
    tab.reply(5, "fifth");
    assert!(tab.waiting(Messages).is_some(), "an earlier reply was awaited");
}

#[test]
fn polls_again_if_the_poll_in_flight_began_too_early() {
    let mut tab = Tab::in_conversation();
    tab.answer(Messages, NOTHING);
    tab.answer(Presence, r#"{"shouldPollMessages":false,"suggestedPresenceIntervalMs":300000}"#);
    tab.send("two");
    tab.answer(Send, r#"{"conversationId":"c1","userMessageId":"u2"}"#);
    assert!(tab.waiting(Messages).is_some(), "a reply is awaited");
    tab.send("three");
    tab.reply(3, "third");
    for early in [true, false] {
        tab.answer(Messages, NOTHING);
        assert_eq!(tab.waiting(Messages).is_some(), early);
    }
    tab.send("four");
    for _ in 0..6 {
        tab.wait_for(Send);
        tab.fail(Send);
    }
    assert_eq!(tab.delivery("four"), Delivery::Failed);
    tab.answer(Messages, NOTHING);
    tab.wait(2_500);
    assert!(tab.waiting(Messages).is_some(), "the service may have accepted it since");
}
