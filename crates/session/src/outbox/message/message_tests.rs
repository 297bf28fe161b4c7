//! A pending message by itself: its states, its request, and how it is stored.

use chat_protocol::{VisitorProfile, limits};

use super::*;

fn pending(id: &str) -> PendingMessage {
    PendingMessage::new(id.into(), EntryKey::default(), "hi".into(), "/".into(), 5)
}

fn body(pending: &PendingMessage, locale: &str) -> SendMessage {
    SendMessage {
        conversation_id: None,
        message: pending.text.clone(),
        locale: Some(locale.into()),
        source_page: Some(pending.page_path.clone()),
        visitor: VisitorProfile::default(),
    }
}

fn start(pending: &mut PendingMessage) -> SendRequest {
    pending.start(7, &VisitorId::from("v1"), |pending| body(pending, "en"))
}

#[test]
fn every_attempt_sends_the_same_key_and_body() {
    let mut pending = pending("m1");
    let first = start(&mut pending);
    pending.page_path = "/elsewhere".into();
    pending.back_off(10);
    let second = pending.start(20, &VisitorId::from("v2"), |pending| body(pending, "de"));
    assert_eq!((&second.key, &second.body), (&first.key, &first.body));
    assert_eq!((first.key.as_str(), first.attempts, second.attempts), ("chat-v1-m1", 1, 2));
}

#[test]
fn a_stored_message_has_the_same_key_body_and_attempts() {
    let mut pending = pending("m1");
    start(&mut pending);
    pending.back_off(90);
    let stored: Value =
        serde_json::from_str(&pending.to_stored(&VisitorId::from("v1")).to_string()).expect("JSON");
    let back = PendingMessage::from_stored("m1", &stored).expect("usable");
    assert_eq!((back.state, back.text, back.written_ms), (pending.state, pending.text, 5));
}

#[test]
fn a_failed_message_is_stored_as_failed_with_and_without_a_request() {
    for is_attempted in [false, true] {
        let mut pending = pending("m1");
        if is_attempted {
            start(&mut pending);
        }
        pending.fail();
        let back = PendingMessage::from_stored("m1", &pending.to_stored(&VisitorId::from("v1")));
        let back = back.expect("usable");
        assert!(back.is_failed());
        assert_eq!(back.is_attempted(), is_attempted);
    }
}

#[test]
fn a_message_that_expired_without_an_attempt_cannot_have_arrived() {
    let mut expired = pending("m1");
    expired.fail();
    expired.apply_remote_failure();
    let mut stored = expired.to_stored(&VisitorId::from("v1"));
    let back = PendingMessage::from_stored("m1", &stored).expect("usable");
    assert!(back.is_failed() && !expired.may_have_arrived() && !back.may_have_arrived());
    // An earlier version did not store whether the message has expired.
    stored = serde_json::from_str(r#"{"text":"hi","failed":true}"#).expect("JSON");
    let back = PendingMessage::from_stored("m1", &stored).expect("usable");
    assert!(back.is_failed() && back.may_have_arrived());
    expired.queue();
    start(&mut expired);
    expired.fail();
    assert!(expired.may_have_arrived(), "the visitor has retried it");
}

#[test]
fn stores_an_attempt_in_flight_as_repeatable_at_once() {
    let mut pending = pending("m1");
    start(&mut pending);
    let back = PendingMessage::from_stored("m1", &pending.to_stored(&VisitorId::from("v1")));
    let back = back.expect("usable");
    assert!(!back.is_in_flight() && back.is_attempted());
    assert_eq!((back.not_before_ms(), back.attempts()), (0, 1));
}

#[test]
fn the_shown_delivery_follows_from_the_state() {
    let mut pending = pending("m1");
    assert_eq!(pending.state.delivery(), Delivery::Waiting);
    start(&mut pending);
    assert_eq!(pending.state.delivery(), Delivery::Sending);
    pending.doubt();
    assert_eq!(pending.state.delivery(), Delivery::Sending);
    pending.back_off(10);
    assert_eq!((pending.state.delivery(), pending.not_before_ms()), (Delivery::Sending, 10));
    pending.queue();
    assert_eq!((pending.state.delivery(), pending.not_before_ms()), (Delivery::Waiting, 0));
    pending.fail();
    assert_eq!(pending.state.delivery(), Delivery::Failed);
    assert!(pending.is_attempted(), "the request survives every change of the state");
}

#[test]
fn a_message_that_was_never_sent_can_neither_back_off_nor_be_in_doubt() {
    let mut pending = pending("m1");
    pending.back_off(10);
    assert_eq!(pending.state, DeliveryState::Queued(None));
    pending.doubt();
    assert_eq!(pending.state, DeliveryState::Queued(None));
}

#[test]
fn only_ids_that_a_header_can_carry_are_read() {
    let stored = pending("m1").to_stored(&VisitorId::from("v1"));
    let longest = "m".repeat(32);
    for (id, usable) in [("m", true), (&*longest, true), (&*(longest.clone() + "m"), false)] {
        assert_eq!(PendingMessage::from_stored(id, &stored).is_some(), usable, "{id}");
    }
    for id in ["", "m 1", "m\n", "é"] {
        assert!(PendingMessage::from_stored(id, &stored).is_none(), "{id:?}");
    }
}

#[test]
fn a_message_is_stale_after_a_day_and_exhausted_after_six_attempts() {
    let mut pending = pending("m1");
    assert!(!pending.is_stale(5 + MAX_QUEUE_AGE_MS) && pending.is_stale(6 + MAX_QUEUE_AGE_MS));
    for _ in 0..5 {
        start(&mut pending);
    }
    assert!(!pending.is_exhausted());
    start(&mut pending);
    assert!(pending.is_exhausted());
    pending.reset_attempts();
    assert!(!pending.is_exhausted());
}

#[test]
fn unusable_stored_messages_are_ignored() {
    for text in
        ["null", "[]", "{}", r#"{"text":""}"#, r#"{"text":7}"#, r#"{"text":"a","key":"short","body":"{}"}"#]
    {
        let stored: Value = serde_json::from_str(text).expect("JSON");
        assert!(PendingMessage::from_stored("m1", &stored).is_none(), "{text}");
    }
}

#[test]
fn any_visitor_id_makes_a_key_that_the_contract_accepts() {
    for visitor in ["", "ключ", "a b\r\nX: y", &"v".repeat(500)] {
        let key = key(&VisitorId::from(visitor), &new_id(&mut Random::new(1)), 7);
        assert!(limits::KEY_LENGTH.contains(&key.as_str().len()));
    }
    let table = &crate::clients_table()["idempotencyKey"];
    let longest = table["maxVisitorIdLength"].as_u64().expect("a number");
    for (length, expected_len) in [(longest, longest), (longest + 1, longest)] {
        let visitor = "v".repeat(usize::try_from(length).expect("small"));
        let key = key(&VisitorId::from(&*visitor), "m1", 0);
        let expected = format!("chat-{}-m1", "v".repeat(usize::try_from(expected_len).expect("small")));
        assert_eq!(key.as_str(), expected);
    }
}

#[test]
fn a_message_that_becomes_another_request_has_another_key() {
    let mut pending = pending("m1");
    let first = start(&mut pending);
    pending.start_over();
    assert!(!pending.is_attempted());
    pending.start_over();
    assert_eq!(first.key.as_str(), "chat-v1-m1");
    assert_eq!(start(&mut pending).key.as_str(), "chat-v1-m1-2");
}

#[test]
fn a_request_names_its_conversation_or_begins_one() {
    let mut first = pending("m1");
    assert!(!start(&mut first).names_conversation());
    let mut second = pending("m2");
    let named = second.start(7, &VisitorId::from("v1"), |pending| SendMessage {
        conversation_id: Some("c1".into()),
        ..body(pending, "en")
    });
    assert!(named.names_conversation());
}

#[test]
fn a_restored_message_keeps_the_time_at_which_it_was_written() {
    let pending = PendingMessage::new("m1".into(), EntryKey::default(), "hi".into(), "/".into(), 77);
    assert_eq!((pending.written_ms(), pending.id(), pending.page_path()), (77, "m1", "/"));
    let back = PendingMessage::from_stored("m1", &pending.to_stored(&VisitorId::from("v1"))).expect("usable");
    assert_eq!(back.written_ms(), 77);
}
