//! Several tabs of one browser have one conversation, and one of them leads.

use crate::site::browser::Browser;
use crate::site::{Tab, parsed};
use chat_protocol::Endpoint::{Config, Events, Messages, Presence, Send};
use chat_session::{Delivery, Input, News, Notice, Page, Start};

#[test]
fn one_of_several_tabs_leads_and_it_alone_sends_and_polls() {
    let mut browser = Browser::with(3);
    browser.say(2, "hello");
    browser.wait(400);
    assert_eq!(browser.leaders().len(), 1);
    let leader = browser.leaders()[0];
    browser.with_tab(leader, |tab| tab.reply(1, "hi"));
    browser.wait(10_000);
    for endpoint in [Send, Messages, Presence] {
        for (tab, count) in browser.counts(endpoint).into_iter().enumerate() {
            assert_eq!(count > 0, tab == leader, "tab {tab} {endpoint:?}");
        }
    }
    assert!(browser.tabs.iter().all(|tab| tab.texts() == ["hello", "hi"]));
}

#[test]
fn a_message_is_in_all_tabs_at_once_and_so_is_how_far_it_has_come() {
    let mut browser = Browser::in_conversation();
    let (leader, other) = (browser.leaders()[0], 1 - browser.leaders()[0]);
    browser.say(other, "and another");
    assert_eq!(browser.tabs[leader].delivery("and another"), Delivery::Sending);
    assert_eq!(browser.tabs[other].delivery("and another"), Delivery::Sending);
    assert!(browser.tabs[other].session.awaits_reply());
    browser.with_tab(leader, |tab| tab.refuse(Send, 400, "INVALID_REQUEST", None));
    assert_eq!(browser.tabs[other].delivery("and another"), Delivery::Failed);
    assert!(!browser.tabs[other].session.awaits_reply());
}

#[test]
fn a_retry_in_a_tab_that_follows_is_carried_out_by_the_one_that_leads() {
    let mut browser = Browser::in_conversation();
    let (leader, other) = (browser.leaders()[0], 1 - browser.leaders()[0]);
    browser.say(other, "again");
    browser.with_tab(leader, |tab| tab.refuse(Send, 400, "INVALID_REQUEST", None));
    let key = browser.tabs[other].last().key;
    browser.feed(other, Input::Retry(key));
    let attempts: Vec<_> = browser.tabs[leader].attempts()[1..].iter().map(|sent| sent.key.clone()).collect();
    assert_eq!(attempts.len(), 2);
    assert_eq!(attempts[0], attempts[1]);
    assert_eq!(browser.tabs[other].attempts().len(), 0);
    browser.with_tab(leader, |tab| tab.reply(2, "got it"));
    assert!(browser.tabs.iter().all(|tab| tab.texts() == ["hello", "hi", "again", "got it"]));
}

#[test]
fn a_leader_that_leaves_is_replaced_and_one_that_crashes_within_two_seconds() {
    let mut browser = Browser::in_conversation();
    let leader = browser.leaders()[0];
    browser.close(leader);
    browser.wait(320);
    assert_eq!(browser.leaders(), [0], "the tab that is left leads");
    assert!(browser.tabs[0].count(Messages) > 0, "and reads at once");

    let mut browser = Browser::in_conversation();
    let leader = browser.leaders()[0];
    browser.crash(leader);
    browser.wait(1_400);
    assert_eq!(browser.leaders(), [0]);
    assert!(browser.tabs[0].count(Messages) > 0);
}

#[test]
fn a_message_whose_sender_crashed_is_repeated_to_the_byte_by_the_next_leader() {
    let mut browser = Browser::in_conversation();
    let (leader, other) = (browser.leaders()[0], 1 - browser.leaders()[0]);
    browser.say(other, "still there?");
    let first = browser.tabs[leader].waiting(Send).expect("an attempt").clone();
    browser.crash(leader);
    browser.wait(2_000);
    let again = browser.tabs[0].waiting(Send).expect("another attempt");
    assert_eq!((&again.key, &again.body), (&first.key, &first.body));
}

#[test]
fn a_tab_that_is_hidden_gives_the_lead_up_at_once_and_takes_what_is_on_its_way_to_its_end() {
    let mut browser = Browser::in_conversation();
    let (leader, other) = (browser.leaders()[0], 1 - browser.leaders()[0]);
    browser.feed(leader, Input::Visible(false));
    browser.wait(320);
    assert_eq!(browser.leaders(), [other]);

    browser.feed(leader, Input::Visible(true));
    browser.say(leader, "one more");
    browser.feed(other, Input::Visible(false));
    browser.wait(5_000);
    assert_eq!(browser.leaders(), [other], "it waits for the answer");
    let polls = browser.tabs[other].count(Messages);
    browser.wait(5_000);
    assert_eq!(browser.tabs[other].count(Messages), polls, "and polls for nothing");
    browser.with_tab(other, |tab| tab.reply(2, "yes?"));
    browser.wait(320);
    assert_eq!(browser.leaders(), [leader]);
    assert!(browser.tabs.iter().all(|tab| tab.texts() == ["hello", "hi", "one more", "yes?"]));
}

#[test]
fn what_cannot_be_sent_yet_is_sent_from_a_hidden_tab_if_there_is_no_other() {
    let mut browser = Browser::in_conversation();
    let leader = browser.leaders()[0];
    browser.close(1 - leader);
    browser.say(0, "hm");
    browser.feed(0, Input::Visible(false));
    browser.with_tab(0, |tab| tab.refuse(Send, 503, "", None));
    browser.wait(2_000);
    assert!(browser.tabs[0].waiting(Send).is_some(), "tried again while nobody looks");
    browser.with_tab(0, |tab| tab.refuse(Send, 429, "RATE_LIMITED", Some(60_000)));
    let visible = browser.open(Start::default());
    assert_eq!(browser.leaders(), [visible], "a tab that can be seen goes before");
}

#[test]
fn of_two_tabs_that_lead_the_later_leader_stays() {
    let mut browser = Browser::in_conversation();
    let (leader, other) = (browser.leaders()[0], 1 - browser.leaders()[0]);
    browser.tabs[leader].deaf = true;
    browser.wait(2_000);
    assert_eq!(browser.leaders().len(), 2, "the other believes that nobody leads");
    browser.tabs[leader].deaf = false;
    browser.look(leader, true);
    browser.feed(other, Input::Left);
    browser.feed(other, Input::Restored(parsed(&browser.storage.clone())));
    browser.wait(2_000);
    assert_eq!(browser.leaders().len(), 1);
}

#[test]
fn a_tab_that_was_stopped_asks_before_it_goes_on() {
    let mut browser = Browser::in_conversation();
    let (leader, other) = (browser.leaders()[0], 1 - browser.leaders()[0]);
    browser.stop(leader);
    browser.wait(20_000);
    let polls = browser.tabs[leader].count(Messages);
    browser.go_on(leader);
    assert_eq!(browser.leaders(), [other]);
    assert_eq!(browser.tabs[leader].count(Messages), polls);
}

#[test]
fn a_leader_that_was_stopped_gives_way_to_a_tab_that_loaded_and_led_meanwhile() {
    // Of two that led as often, the name decides, and that is drawn: so several are tried.
    for now_ms in 0..8 {
        let mut browser = Browser { now_ms, ..Browser::with(0) };
        let first = browser.open(Start::default());
        browser.say(first, "hello");
        browser.wait(400);
        browser.with_tab(first, |tab| tab.reply(1, "hi"));
        browser.stop(first);
        let second = browser.open(Start::default());
        assert_eq!(browser.leaders(), [first, second], "the one that is stopped does not know");
        browser.say(second, "anybody?");
        browser.with_tab(second, |tab| tab.reply(2, "yes"));
        browser.go_on(first);
        browser.wait(5_000);
        assert_eq!(browser.leaders(), [second]);
        for tab in &browser.tabs {
            assert_eq!(tab.texts(), ["hello", "hi", "anybody?", "yes"]);
            assert_eq!(tab.delivery("anybody?"), Delivery::Delivered);
        }
        assert_eq!(browser.counts(Send), [1, 1]);
    }
}

#[test]
fn unread_messages_count_once_and_are_seen_in_all_tabs_when_they_are_in_one() {
    let mut browser = Browser::in_conversation();
    let (leader, other) = (browser.leaders()[0], 1 - browser.leaders()[0]);
    let unread =
        |browser: &Browser| -> Vec<u32> { browser.tabs.iter().map(|tab| tab.session.unread()).collect() };
    assert_eq!(unread(&browser), [1, 1], "the reply");
    browser.look(other, true);
    assert_eq!(unread(&browser), [0, 0]);
    browser.feed(other, Input::Visible(false));
    browser.wait(5_000);
    browser.with_tab(leader, |tab| {
        tab.wait_for(Messages);
        tab.answer(Messages, r#"{"messages":[{"id":"o1","role":"operator","content":"Anna here"}]}"#);
    });
    assert_eq!(unread(&browser), [1, 1], "an open window that nobody sees has not been looked at");
    for tab in &browser.tabs {
        let told = tab
            .news
            .iter()
            .filter(|news| matches!(news, News::Message(entry) if &*entry.text == "Anna here"));
        assert_eq!(told.count(), 1);
    }
    browser.feed(other, Input::Visible(true));
    assert_eq!(unread(&browser), [0, 0]);
}

#[test]
fn what_came_while_nobody_was_there_is_unread_on_the_next_page() {
    let mut browser = Browser::in_conversation();
    browser.look(0, true);
    browser.close(1);
    browser.close(0);
    let next = browser.open(Start::default());
    assert_eq!((browser.tabs[next].session.unread(), browser.tabs[next].texts()), (0, vec!["hello", "hi"]));
    browser.with_tab(next, |tab| {
        tab.answer(Messages, r#"{"messages":[{"id":"o1","role":"operator","content":"Anna here"}]}"#);
    });
    assert_eq!(browser.tabs[next].session.unread(), 1);
}

#[test]
fn reset_forgets_in_all_tabs_and_in_storage() {
    let mut browser = Browser::in_conversation();
    let before = browser.tabs[0].session.visitor_id().clone();
    browser.look(0, true);
    browser.say(1, "on its way");
    browser.feed(1, Input::Reset);
    for tab in &browser.tabs {
        assert!(tab.session.entries().is_empty() && tab.session.conversation_id().is_none());
        assert_ne!(tab.session.visitor_id(), &before);
        assert_eq!(tab.session.visitor_id(), browser.tabs[0].session.visitor_id());
        assert_eq!(tab.session.unread(), 0);
    }
    let kept: Vec<&str> = browser.storage.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(kept, ["chat-widget:visitor"]);
    browser.wait(2_000);
    browser.say(0, "hello again");
    browser.wait(400);
    let leader = browser.leaders()[0];
    let body = browser.tabs[leader].waiting(Send).expect("a request").body.clone().expect("a body");
    assert!(!body.contains("conversationId") && !body.contains(before.as_str()), "{body}");
}

#[test]
fn two_tabs_that_begin_at_the_same_moment_have_one_visitor() {
    let start = |seed| Start { seed, visible: true, online: true, ..Start::default() };
    let mut browser = Browser::with(0);
    browser.tabs = vec![Tab::begin(start(1), vec![], 0), Tab::begin(start(2), vec![], 0)];
    assert_ne!(browser.tabs[0].session.visitor_id(), browser.tabs[1].session.visitor_id());
    browser.look(0, true);
    browser.look(1, true);
    browser.wait(1_000);
    assert_eq!(browser.tabs[0].session.visitor_id(), browser.tabs[1].session.visitor_id());
    assert_eq!(browser.leaders().len(), 1);
}

#[test]
fn a_tab_that_finds_nothing_in_storage_joins_the_conversation_that_another_has() {
    let mut browser = Browser::in_conversation();
    browser.feed(0, Input::Visible(false));
    browser.feed(1, Input::Visible(false));
    browser.storage.clear();
    let third = browser.open(Start::default());
    browser.look(third, true);
    browser.wait(1_000);
    assert_eq!(browser.tabs[third].session.visitor_id(), browser.tabs[0].session.visitor_id());
    assert_eq!(browser.tabs[third].texts(), ["hello", "hi"]);
}

#[test]
fn a_page_that_comes_back_shows_what_happened_meanwhile() {
    let mut browser = Browser::in_conversation();
    let (leader, other) = (browser.leaders()[0], 1 - browser.leaders()[0]);
    browser.feed(other, Input::Left);
    browser.tabs[other].deaf = true;
    browser.say(leader, "anybody?");
    browser.with_tab(leader, |tab| tab.reply(2, "yes"));
    browser.say(leader, "good");
    assert_eq!(browser.tabs[other].texts(), ["hello", "hi"]);
    browser.tabs[other].deaf = false;
    let stored = parsed(&browser.storage);
    browser.feed(other, Input::Restored(stored));
    assert_eq!(browser.tabs[other].texts(), ["hello", "hi", "anybody?", "yes", "good"]);
    assert_eq!(browser.tabs[other].session.unread(), browser.tabs[leader].session.unread());
}

#[test]
fn a_page_that_comes_back_to_another_visitor_shows_nothing_of_the_one_before() {
    let mut browser = Browser::in_conversation();
    browser.feed(1, Input::Left);
    browser.tabs[1].deaf = true;
    browser.feed(0, Input::Reset);
    browser.tabs[1].deaf = false;
    let stored = parsed(&browser.storage);
    browser.feed(1, Input::Restored(stored));
    assert!(browser.tabs[1].session.entries().is_empty());
    assert_eq!(browser.tabs[1].session.visitor_id(), browser.tabs[0].session.visitor_id());
}

#[test]
fn another_customer_starts_clean_and_the_first_one_comes_back_to_the_same() {
    let customer = |id: &str| Start { customer_id: Some(id.into()), ..Start::default() };
    let mut browser = Browser::with(0);
    let ann = browser.open(customer("ann"));
    browser.say(ann, "hello");
    browser.wait(400);
    browser.with_tab(ann, |tab| tab.reply(1, "hi"));
    let visitor = browser.tabs[ann].session.visitor_id().clone();
    browser.close(ann);
    for other in [customer("bob"), Start::default()] {
        let other = browser.open(other);
        assert!(browser.tabs[other].texts().is_empty());
        assert_ne!(browser.tabs[other].session.visitor_id(), &visitor);
        browser.close(other);
    }
    let ann = browser.open(customer("ann"));
    assert_eq!(
        (browser.tabs[ann].texts(), browser.tabs[ann].session.visitor_id()),
        (vec!["hello", "hi"], &visitor)
    );
}

#[test]
fn what_the_browser_did_not_keep_is_offered_again() {
    let mut browser = Browser::in_conversation();
    let leader = browser.leaders()[0];
    browser.storage.clear();
    browser.feed(leader, Input::NotKept);
    browser.wait(11_000);
    let kept: Vec<&str> = browser.storage.iter().map(|(key, _)| key.as_str()).collect();
    assert!(kept.contains(&"chat-widget:visitor") && kept.contains(&"chat-widget:conversation"), "{kept:?}");
}

#[test]
fn a_full_storage_keeps_the_end_of_the_conversation() {
    let mut browser = Browser::with(1);
    browser.say(0, &format!("{}first", "x".repeat(3_900)));
    browser.wait(400);
    browser.with_tab(0, |tab| tab.reply(1, &"y".repeat(3_900)));
    for _ in 0..2 {
        browser.feed(0, Input::NotKept);
    }
    browser.say(0, "last");
    let kept = |browser: &Browser| {
        let (_, text) =
            browser.storage.iter().find(|(key, _)| key == "chat-widget:conversation").expect("kept");
        (text.contains("first"), text.contains("last"))
    };
    assert_eq!(kept(&browser), (false, true));
    browser.with_tab(0, |tab| tab.reply(2, "one"));
    browser.say(0, "more");
    browser.with_tab(0, |tab| tab.reply(3, "two"));
    browser.say(0, "and more");
    assert_eq!(
        kept(&browser),
        (true, true),
        "as long as the browser keeps what it is given, it is given more"
    );
}

/// A browser whose one tab shows a conversation that is too long to be kept.
fn in_long_conversation() -> (Browser, Vec<String>) {
    let mut browser = Browser::in_conversation();
    while browser.tabs.len() > 1 {
        browser.close(0);
    }
    let list: Vec<String> = (0..100)
        .map(|number| {
            let text = "x".repeat(1_000);
            format!(r#"{{"id":"m{number}","role":"operator","content":"{number}:{text}"}}"#)
        })
        .collect();
    browser.wait(2_000);
    browser.with_tab(0, |tab| tab.answer(Messages, &format!(r#"{{"messages":[{}]}}"#, list.join(","))));
    let texts: Vec<String> = browser.tabs[0].texts().into_iter().map(str::to_owned).collect();
    assert!(texts.len() > list.len());
    (browser, texts)
}

#[test]
fn a_tab_that_found_the_end_of_a_long_conversation_hears_its_beginning_from_the_one_that_leads() {
    let (mut browser, all) = in_long_conversation();
    let other = browser.open(Start::default());
    browser.wait(2_000);
    assert_eq!(browser.tabs[other].texts(), all);
    assert!(browser.tabs[other].told().is_empty(), "it was said before");
    assert!(!browser.tabs[other].session.leads());
}

#[test]
fn a_tab_that_has_only_the_end_of_a_long_conversation_reads_its_beginning_when_it_leads() {
    let (mut browser, all) = in_long_conversation();
    browser.stop(0);
    let other = browser.begin(Start::default());
    assert!(browser.tabs[other].texts().len() < all.len());
    browser.wait(2_000);
    let query = &browser.tabs[other].waiting(Messages).expect("a read").query;
    assert_eq!(query.len(), 1, "from the beginning");
}

#[test]
fn a_config_that_one_tab_reads_is_known_to_all() {
    let mut browser = Browser::with(2);
    browser.with_tab(0, |tab| tab.answer(Config, r#"{"config":{"assistantName":"Clover"}}"#));
    for tab in &browser.tabs {
        assert_eq!(tab.session.config().and_then(|config| config.assistant_name.as_deref()), Some("Clover"));
    }
}

#[test]
fn the_events_of_all_tabs_are_sent_by_the_one_that_leads() {
    let mut browser = Browser::in_conversation();
    let (leader, other) = (browser.leaders()[0], 1 - browser.leaders()[0]);
    browser.feed(other, Input::Viewed(Page { path: "/seen-there".into(), ..Page::default() }));
    browser.with_tab(leader, |tab| tab.wait_for(Events));
    let batch = browser.tabs[leader].waiting(Events).expect("a batch");
    assert!(batch.body.as_ref().expect("a body").contains("/seen-there"));
    assert_eq!(browser.tabs[other].count(Events), 0);
    browser.with_tab(leader, |tab| tab.answer(Events, r#"{"accepted":1,"rejected":0,"tracking":"enabled"}"#));
    browser.wait(60_000);
    assert!(!browser.storage.iter().any(|(key, _)| key.contains("event:") || key.contains("batch:")));
}

#[test]
fn events_that_a_page_left_behind_are_sent_by_the_next() {
    let mut browser = Browser::with(1);
    browser.feed(0, Input::Online(false));
    browser.feed(0, Input::Viewed(Page { path: "/before".into(), ..Page::default() }));
    browser.close(0);
    let next = browser.open(Start::default());
    let batch = browser.with_tab(next, |tab| tab.wait_for(Events));
    assert!(batch.body.expect("a body").contains("/before"));
}

#[test]
fn a_tab_that_follows_leaves_its_events_to_the_leader_when_it_is_closed() {
    let mut browser = Browser::in_conversation();
    let (leader, other) = (browser.leaders()[0], 1 - browser.leaders()[0]);
    browser.feed(other, Input::Viewed(Page { path: "/last".into(), ..Page::default() }));
    browser.feed(other, Input::Left);
    assert_eq!(browser.tabs[other].count(Events), 0);
    let batch = browser.with_tab(leader, |tab| tab.wait_for(Events));
    assert!(batch.body.expect("a body").contains("/last"));
}

#[test]
fn a_tab_that_is_hidden_sends_its_events_before_it_gives_the_lead_up() {
    let mut browser = Browser::with(1);
    browser.feed(0, Input::Viewed(Page { path: "/only".into(), ..Page::default() }));
    browser.wait(400);
    browser.feed(0, Input::Visible(false));
    let batch = browser.tabs[0].waiting(Events).expect("a batch");
    assert!(batch.keepalive && batch.body.as_ref().expect("a body").contains("/only"));
    browser.with_tab(0, |tab| tab.answer(Events, r#"{"accepted":1,"rejected":0,"tracking":"enabled"}"#));
    assert!(
        !browser.storage.iter().any(|(key, _)| key.contains("batch:")),
        "also when it does not lead any more"
    );
}

#[test]
fn a_tab_knows_that_a_person_is_there_when_the_leader_does() {
    let mut browser = Browser::in_conversation();
    let (leader, other) = (browser.leaders()[0], 1 - browser.leaders()[0]);
    browser.with_tab(leader, |tab| {
        tab.wait_for(Presence);
        tab.answer(Presence, r#"{"operatorOnline":true,"shouldPollMessages":true}"#);
    });
    assert_eq!(browser.tabs[other].session.operator_online(), Some(true));
    let told = browser.tabs[other].news.iter().filter(|news| matches!(news, News::Presence(true)));
    assert_eq!(told.count(), 1);
}

#[test]
fn letters_and_conversations_of_another_visitor_are_left_alone() {
    let mut browser = Browser::in_conversation();
    browser.feed(0, Input::Online(false));
    browser.feed(1, Input::Online(false));
    browser.say(0, "mine");
    let mut storage = browser.storage.clone();
    for (key, text) in &mut storage {
        if key == "chat-widget:visitor" {
            *text = r#"{"v":2,"visitorId":"v-somebody-else"}"#.into();
        }
    }
    let tab = Tab::open(storage, browser.now_ms);
    assert!(tab.session.entries().is_empty() && tab.attempts().is_empty());
    assert!(tab.storage.iter().any(|(key, _)| key.contains("outbox:")), "nor are they forgotten");
}

#[test]
fn what_keeps_the_conversation_from_going_on_is_known_in_all_tabs_and_on_the_next_page() {
    let outcomes = [
        (r#"{"conversationId":"c1","aiStatus":"quota_insufficient"}"#, Notice::Quota),
        (r#"{"conversationId":"c1","aiStatus":"blocked"}"#, Notice::Blocked),
        (r#"{"conversationId":"c1","aiStatus":"provider_error"}"#, Notice::NoReply),
    ];
    for (outcome, notice) in outcomes {
        let mut browser = Browser::in_conversation();
        let (leader, other) = (browser.leaders()[0], 1 - browser.leaders()[0]);
        browser.say(other, "hm");
        browser.with_tab(leader, |tab| tab.answer(Send, outcome));
        browser.wait(32_000);
        assert_eq!(browser.tabs[other].session.notice(), Some(notice));
        let next = browser.open(Start::default());
        assert_eq!(browser.tabs[next].session.notice(), Some(notice));
    }
}

#[test]
fn of_two_tabs_that_lead_one_stays_whoever_hears_of_the_other_first() {
    for first in 0..2 {
        let mut browser = Browser::in_conversation();
        let leader = browser.leaders()[0];
        browser.tabs[leader].deaf = true;
        browser.wait(2_000);
        assert_eq!(browser.leaders().len(), 2);
        browser.tabs[leader].deaf = false;
        // A tab that looks away and back asks.
        let asks = if first == 0 { leader } else { 1 - leader };
        browser.feed(asks, Input::Visible(false));
        browser.feed(asks, Input::Visible(true));
        browser.wait(1_000);
        assert_eq!(browser.leaders(), [1 - asks], "the one that went on leading");
        let texts = browser.tabs[0].texts();
        assert_eq!(browser.tabs[1].texts(), texts);
    }
}

#[test]
fn a_hidden_tab_that_waits_does_not_push_a_hidden_one_that_sends_aside() {
    let mut browser = Browser::in_conversation();
    let (leader, other) = (browser.leaders()[0], 1 - browser.leaders()[0]);
    browser.say(leader, "hm");
    browser.feed(other, Input::Visible(false));
    browser.feed(leader, Input::Visible(false));
    browser.with_tab(leader, |tab| tab.refuse(Send, 429, "RATE_LIMITED", Some(20_000)));
    for _ in 0..10 {
        browser.wait(1_000);
        assert_eq!(browser.leaders(), [leader]);
    }
}

#[test]
fn a_message_that_one_tab_knows_to_have_arrived_is_not_sent_by_another() {
    let mut browser = Browser::in_conversation();
    let (leader, other) = (browser.leaders()[0], 1 - browser.leaders()[0]);
    browser.say(leader, "there?");
    browser.tabs[other].deaf = true;
    browser.with_tab(leader, |tab| tab.reply(2, "yes"));
    browser.crash(leader);
    browser.tabs[0].deaf = false;
    let stored = parsed(&browser.storage);
    browser.feed(0, Input::Left);
    browser.feed(0, Input::Restored(stored));
    browser.wait(2_000);
    assert_eq!(
        (browser.tabs[0].delivery("there?"), browser.tabs[0].attempts().len()),
        (Delivery::Delivered, 0)
    );
}

#[test]
fn a_tab_that_finds_all_in_storage_is_told_nothing_and_one_that_finds_a_part_is_told_the_rest() {
    let kept = |browser: &Browser| {
        browser.storage.iter().find(|(key, _)| key == "chat-widget:conversation").cloned().expect("kept")
    };
    let mut browser = Browser::in_conversation();
    let leader = browser.leaders()[0];
    let before = kept(&browser);
    browser.open(Start::default());
    assert_eq!(kept(&browser), before, "a conversation that is told again is kept again");

    browser.say(leader, &"x".repeat(3_000));
    browser.with_tab(leader, |tab| tab.reply(2, "long"));
    for _ in 0..5 {
        browser.feed(leader, Input::NotKept);
    }
    browser.say(leader, "last");
    let fourth = browser.open(Start::default());
    assert_eq!(browser.tabs[fourth].texts(), browser.tabs[leader].texts());
    assert!(!kept(&browser).1.contains("hello"), "storage has the end alone");
}
