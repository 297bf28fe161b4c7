//! Failing cases that the random tests have found.

use crate::conversation::fixture::Tab;
use chat_protocol::Value;
use chat_session::{Delivery, Input, Page, Start, keys};

#[test]
fn ignores_a_message_whose_id_no_key_can_carry() {
    for name in ["", "m 1", "m\\u007f", "\u{e9}", &"m".repeat(33)] {
        let entries = format!(
            r#"[{{"letter":"{name}","role":"visitor","text":"lost","at":5,"delivery":"waiting"}},{{"letter":"m1","role":"visitor","text":"kept","at":6,"delivery":"waiting"}}]"#
        );
        let snapshot = format!(r#"{{"v":2,"revision":3,"conversationId":"c1","entries":{entries}}}"#);
        let tab = Tab::open(vec![("chat-widget:conversation".into(), snapshot)], 0);
        assert_eq!((tab.texts(), tab.attempts().len()), (vec!["kept"], 1), "{name:?}");
    }
}

#[test]
fn bounds_times_in_the_far_future() {
    let far = 1u64 << 53;
    let stored = vec![
        (
            "chat-widget:conversation".to_owned(),
            format!(
                r#"{{"v":2,"revision":3,"conversationId":"c1","replyDue":{far},"entries":[{{"role":"visitor","text":"one"}}]}}"#
            ),
        ),
        ("chat-widget:tracking".to_owned(), format!(r#"{{"v":2,"offUntil":{far}}}"#)),
    ];
    let mut tab = Tab::open(stored, 0);
    assert!(tab.session.awaits_reply());
    tab.wait(31_000);
    assert!(!tab.session.awaits_reply(), "no reply is awaited that long");
    tab.wait(24 * 60 * 60 * 1000);
    tab.feed(Input::Track("quiz_done".into(), Value::Null, Page::default()));
    assert_eq!(tab.count_stored(keys::EVENT), 1, "the service is asked again after a day");
}

#[test]
fn merges_a_message_that_a_snapshot_lists_twice() {
    let listed = r#"{"letter":"m1","role":"visitor","text":"twice","at":5,"delivery":"waiting"}"#;
    let conversation = |revision| {
        format!(r#"{{"v":2,"revision":{revision},"conversationId":"c1","entries":[{listed},{listed}]}}"#)
    };
    let stored = vec![("chat-widget:conversation".to_owned(), conversation(3))];
    let start = Start { visible: true, ..Start::default() };
    // More than a day later: the message counts as failed.
    let mut tab = Tab::start(start, stored, 100_000_000);
    let snapshot = conversation(9);
    tab.receive(&format!(r#""does":"keep","name":"conversation","revision":9,"value":{snapshot}"#));
    tab.feed(Input::Online(true));
    tab.wait(1_000);
    assert_eq!((tab.texts(), tab.attempts().len()), (vec!["twice"], 0));
    assert_eq!(tab.session.entries()[0].delivery, Delivery::Failed);
}
