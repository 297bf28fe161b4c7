//! What tabs tell each other may come late, twice or not at all.

use crate::site::Tab;
use crate::site::browser::Browser;
use chat_protocol::Endpoint::Send;
use chat_session::{Delivery, Input, keys};

#[test]
fn a_letter_that_is_heard_again_gives_no_further_attempts() {
    for attempted in [false, true] {
        let mut tab = Tab::open(vec![], 0);
        tab.feed(Input::Online(false));
        tab.say("hello");
        if attempted {
            tab.feed(Input::Online(true));
        }
        let (name, early) = tab.letter("hello");
        tab.feed(Input::Online(true));
        for _ in 0..5 {
            tab.lose(Send);
            tab.wait_for(Send);
        }
        tab.hear_kept(&name, &early);
        tab.lose(Send);
        assert_eq!((tab.attempts().len(), tab.delivery("hello")), (6, Delivery::Failed));
    }
}

#[test]
fn the_next_leader_knows_how_often_a_message_was_tried() {
    let mut browser = Browser::in_conversation();
    let leader = browser.leaders()[0];
    browser.say(leader, "hm");
    for _ in 0..5 {
        browser.with_tab(leader, |tab| {
            tab.lose(Send);
            tab.wait_for(Send);
        });
        let now_ms = browser.tabs[leader].now_ms;
        browser.wait(now_ms - browser.now_ms);
    }
    browser.crash(leader);
    browser.wait(2_000);
    assert_eq!((browser.tabs[0].attempts().len(), browser.tabs[0].delivery("hm")), (0, Delivery::Failed));
}

#[test]
fn a_message_that_another_tab_sent_is_repeated_as_it_was_sent() {
    let mut tab = Tab::in_conversation();
    tab.say("two");
    tab.say("three");
    let (name, letter) = tab.letter("three");
    let sent = r#""key":"chat-another","body":"{}","failed":false"#;
    tab.hear_kept(&name, &letter.replace(r#""failed":false"#, sent));
    tab.reply(2, "second");
    assert_eq!(tab.waiting(Send).and_then(|request| request.body.as_deref()), Some("{}"));
}

#[test]
fn a_message_that_another_tab_knows_to_have_arrived_is_not_sent_and_its_reply_is_looked_for() {
    let mut tab = Tab::in_conversation();
    tab.feed(Input::Online(false));
    tab.say("two");
    let (name, _) = tab.letter("two");
    tab.hear_kept(&name, "null");
    assert_eq!(tab.delivery("two"), Delivery::Delivered);
    assert!(tab.session.awaits_reply());
    tab.feed(Input::Online(true));
    assert_eq!(tab.attempts().len(), 1);
}

#[test]
fn a_tab_that_follows_looks_for_no_reply() {
    let mut browser = Browser::in_conversation();
    let (leader, other) = (browser.leaders()[0], 1 - browser.leaders()[0]);
    browser.feed(leader, Input::Online(false));
    browser.say(leader, "hm");
    let (name, _) = browser.tabs[leader].letter("hm");
    let tab = &mut browser.tabs[other];
    tab.hear_kept(&name, "null");
    assert_eq!((tab.delivery("hm"), tab.session.awaits_reply()), (Delivery::Delivered, false));
}

#[test]
fn of_a_message_that_is_on_its_way_the_answer_decides() {
    let mut tab = Tab::in_conversation();
    tab.say("two");
    tab.say("three");
    for text in ["two", "three"] {
        let (name, _) = tab.letter(text);
        tab.hear_kept(&name, "null");
    }
    assert_eq!((tab.delivery("two"), tab.delivery("three")), (Delivery::Sending, Delivery::Delivered));
    tab.reply(2, "second");
    assert_eq!((tab.delivery("two"), tab.attempts().len()), (Delivery::Delivered, 2));
}

/// The leader is told what became of a message. The other tab hears how the conversation stands, nothing else, and leads
/// from then on.
fn a_leader_that_crashes_while_it_tells(outcome: impl FnOnce(&mut Tab)) -> Browser {
    let mut browser = Browser::in_conversation();
    let (leader, other) = (browser.leaders()[0], 1 - browser.leaders()[0]);
    browser.say(other, "there?");
    outcome(&mut browser.tabs[leader]);
    let told = std::mem::take(&mut browser.tabs[leader].posts);
    for post in told.iter().filter(|post| post.contains(r#""name":"conversation""#)) {
        browser.tabs[other].feed(Input::Heard(crate::site::json(post)));
    }
    browser.crash(leader);
    browser.wait(5_000);
    assert_eq!(browser.leaders(), [0]);
    browser
}

#[test]
fn a_message_that_the_conversation_shows_as_delivered_is_not_sent_by_the_next_leader() {
    let browser = a_leader_that_crashes_while_it_tells(|tab| tab.reply(2, "yes"));
    assert_eq!((browser.tabs[0].attempts().len(), browser.tabs[0].texts().len()), (0, 4));
}

#[test]
fn a_message_that_the_conversation_shows_as_failed_is_not_sent_by_the_next_leader() {
    let mut browser =
        a_leader_that_crashes_while_it_tells(|tab| tab.refuse(Send, 400, "INVALID_REQUEST", None));
    assert_eq!((browser.tabs[0].attempts().len(), browser.tabs[0].delivery("there?")), (0, Delivery::Failed));
    let key = browser.tabs[0].key("there?");
    browser.feed(0, Input::Retry(key));
    assert_eq!(browser.tabs[0].attempts().len(), 1);
}

#[test]
fn a_message_that_the_leader_did_not_hear_of_is_told_again() {
    let mut browser = Browser::in_conversation();
    let (leader, other) = (browser.leaders()[0], 1 - browser.leaders()[0]);
    browser.tabs[leader].deaf = true;
    browser.say(other, "unheard");
    browser.tabs[leader].deaf = false;
    browser.say(leader, "heard");
    browser.with_tab(leader, |tab| tab.reply(2, "yes"));
    browser.with_tab(leader, |tab| tab.reply(3, "and yes"));
    assert_eq!(browser.tabs[leader].attempts().len(), 3);
    assert!(browser.tabs.iter().all(|tab| tab.delivery("unheard") == Delivery::Delivered));
}

#[test]
fn the_next_leader_sends_in_the_order_in_which_the_messages_were_written() {
    let mut browser = Browser::in_conversation();
    let (leader, other) = (browser.leaders()[0], 1 - browser.leaders()[0]);
    browser.say(other, "alpha");
    browser.say(other, "beta");
    browser.with_tab(leader, |tab| tab.lose(Send));
    browser.crash(leader);
    browser.wait(3_000);
    let body = browser.tabs[0].waiting(Send).expect("an attempt").body.clone();
    assert!(body.expect("a body").contains("alpha"));
}

#[test]
fn an_answer_from_a_conversation_that_is_gone_does_not_bring_it_back() {
    let mut tab = Tab::in_conversation();
    tab.say("two");
    let (_, told) =
        tab.storage.iter().find(|(key, _)| key.ends_with(keys::CONVERSATION)).expect("kept").clone();
    assert!(told.contains(r#""conversationId":"c1""#) && told.contains(r#""delivery":"sending""#), "{told}");
    let told = told
        .replace(r#""conversationId":"c1""#, r#""conversationId":"c2""#)
        .replace(r#""delivery":"sending""#, r#""delivery":null"#)
        .replace(r#""revision":"#, r#""revision":1"#);
    tab.hear_kept(keys::CONVERSATION, &told);
    assert!(tab.session.leads() && tab.delivery("two") == Delivery::Delivered);
    tab.reply(2, "second");
    assert_eq!(tab.session.conversation_id().map(chat_protocol::ConversationId::as_str), Some("c2"));
    assert_eq!(tab.texts(), ["one", "first", "two"]);
}
