//! Pushes to the devices of operators: when, to whom, and what becomes of them.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
use serde_json::json;

use super::mail::converse;
use super::*;
use crate::databases::{Kind, on_both_databases};
use crate::db::transaction;
use crate::notify::push::{Cause, NewDevice, PushEvent, PushQueue, Subscription, answered, key, queue};
use chat_test_servers::push::{PushBrowser, PushService};

const SECOND_MS: i64 = 1000;
const MINUTE_MS: i64 = 60 * SECOND_MS;
const HOUR_MS: i64 = 60 * MINUTE_MS;

/// Adds a device of an operator, in a session of its own that has just been used. Returns its id.
pub(super) async fn subscribe(service: &Service, operator_id: &str, browser: &PushBrowser) -> String {
    let (session_id, now_ms) = (format!("session_{}", browser.endpoint), service.now_ms());
    let sql = "INSERT INTO operator_sessions
                   (id, hash, operator_id, created_ms, seen_ms, rotated_ms, expires_ms, address, user_agent)
               VALUES ($1, $2, $3, $4, $4, $4, $5, '', 'Firefox')";
    let hash = session_id.as_bytes();
    execute(service, sql, args![&session_id, hash, operator_id, now_ms, now_ms + 720 * HOUR_MS]).await;
    let sent = serde_json::from_value(browser.subscription()).expect("a subscription");
    let subscription = Subscription::parse(&sent, true).expect("valid");
    let new = NewDevice { session_id, subscription, locale: None };
    let (key, operator_id) = (service.0.options.key.clone(), operator_id.to_owned());
    let stored: Result<(String, bool), DbError> =
        transaction!(service.db(), |tx| new.store(tx, &key, now_ms, &operator_id).await).await;
    stored.expect("stored").0
}

/// Tells of something in a conversation of the tenant `a`, as the conversations do.
pub(super) async fn tell(
    service: &Service,
    id: &str,
    assignee_id: Option<&'static str>,
    cause: Cause,
    now_ms: i64,
) {
    tell_tenant(service, "a", id, assignee_id, cause, now_ms).await;
}

/// Tells of something in a conversation of a tenant.
async fn tell_tenant(
    service: &Service,
    tenant_id: &'static str,
    id: &str,
    assignee_id: Option<&'static str>,
    cause: Cause,
    now_ms: i64,
) {
    let (node, id) = (service.clone(), id.to_owned());
    let written: Result<(), DbError> = transaction!(service.db(), |tx| {
        let event = PushEvent { tenant_id, conversation_id: &id, assignee_id, cause };
        queue(tx, &node, now_ms, event).await
    })
    .await;
    written.expect("queued");
}

/// Sends what is due at a time, and returns when something is due again.
pub(super) async fn push_due(service: &Service, now_ms: i64) -> Option<i64> {
    drain(&mut worker::<PushQueue>(service), now_ms).await
}

async fn devices(service: &Service) -> i64 {
    number(service, "SELECT count(*) FROM push_devices").await
}

on_both_databases! {
    async fn a_push_is_encrypted_for_the_browser_and_signed_by_the_service(database: &TestDatabase) {
        let (service, receiver) = (open(database).await, PushService::start().await);
        let browser = receiver.browser(1);
        subscribe(&service, "agent_a", &browser).await;
        converse(&service, "a", "conv_1", "My secret\nquestion").await;
        execute(&service, r#"UPDATE conversations SET profile = '{"name":"Ann \u202e\n Lee"}'"#, args![]).await;
        tell(&service, "conv_1", None, Cause::WantsPerson, service.now_ms()).await;
        assert_eq!(push_due(&service, service.now_ms()).await, None);
        let pushes = receiver.received();
        assert_eq!(pushes.len(), 1);
        let push = &pushes[0];
        assert_eq!(push.path, "/send/1");
        assert!(!push.body.windows(6).any(|window| window == b"secret"));
        let message = browser.read(push);
        assert_eq!(message["title"], "A visitor wants to talk to a person");
        assert_eq!(message["body"], "\u{2068}Ann Lee\u{2069}: \u{2068}My secret question\u{2069}");
        assert_eq!(message["conversation"], "conv_1");
        let headers = ["content-encoding", "ttl", "urgency"].map(|name| push.header(name));
        assert_eq!(headers, ["aes128gcm", "43200", "high"]);
        let topic = push.header("topic");
        assert!(topic.len() == 32 && !topic.contains("conv_1"), "{topic}");
        let token = push.header("authorization").strip_prefix("vapid t=").expect("a token");
        let (token, public) = token.split_once(", k=").expect("a key");
        assert_eq!(public, key(&service).await.expect("a pair").public());
        let (signed, signature) = token.rsplit_once('.').expect("a signature");
        let [public, signature] = [public, signature].map(|text| BASE64_URL_SAFE_NO_PAD.decode(text).expect("base64"));
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, public).verify(signed.as_bytes(), &signature).expect("signed");
    }

    async fn what_a_visitor_writes_within_ten_seconds_is_told_together(database: &TestDatabase) {
        let (service, receiver) = (open(database).await, PushService::start().await);
        let browser = receiver.browser(1);
        subscribe(&service, "agent_a", &browser).await;
        converse(&service, "a", "conv_1", "One").await;
        let now_ms = service.now_ms();
        tell(&service, "conv_1", Some("agent_a"), Cause::Message, now_ms).await;
        push_due(&service, now_ms).await;
        assert_eq!(browser.read(&receiver.received()[0])["body"], "One");
        let sent_ms = number(&service, "SELECT sent_ms FROM pushes").await;
        for _ in 0..3 {
            tell(&service, "conv_1", Some("agent_a"), Cause::Message, sent_ms + 2 * SECOND_MS).await;
        }
        execute(&service, "UPDATE messages SET content = 'Four'", args![]).await;
        let due_ms = sent_ms + 10 * SECOND_MS;
        assert_eq!(push_due(&service, due_ms - 1).await, Some(due_ms));
        assert_eq!(push_due(&service, due_ms).await, None);
        let pushes = receiver.received();
        assert_eq!(pushes.len(), 2);
        assert_eq!(browser.read(&pushes[1])["body"], "Four");
        assert_eq!(pushes[0].header("topic"), pushes[1].header("topic"));
        assert_eq!(pushes[1].header("urgency"), "normal");
    }

    async fn an_operator_whose_console_is_in_use_gets_no_push(database: &TestDatabase) {
        let (service, receiver) = (open(database).await, PushService::start().await);
        for (seed, operator) in [(1, "agent_a"), (2, "owner_a"), (3, "owner_b")] {
            subscribe(&service, operator, &receiver.browser(seed)).await;
        }
        let now_ms = service.now_ms();
        let sql = "INSERT INTO consoles (id, tenant_id, operator_id, seen_ms, open, idle)
                   VALUES ('console_1', 'a', 'agent_a', $1, 1, 0), ('console_2', 'a', 'owner_a', $1, 1, 1)";
        execute(&service, sql, args![now_ms]).await;
        converse(&service, "a", "conv_1", "Hello?").await;
        tell(&service, "conv_1", None, Cause::WantsPerson, now_ms).await;
        push_due(&service, now_ms).await;
        let paths: Vec<String> = receiver.received().into_iter().map(|push| push.path).collect();
        assert_eq!(paths, ["/send/2"], "the one whose console is idle, and nobody of another tenant");
        // The console comes back into use between the message and the push.
        execute(&service, "UPDATE consoles SET idle = 1", args![]).await;
        converse(&service, "a", "conv_2", "Hello?").await;
        tell(&service, "conv_2", Some("agent_a"), Cause::Message, now_ms).await;
        execute(&service, "UPDATE consoles SET idle = 0", args![]).await;
        assert_eq!(push_due(&service, now_ms).await, None);
        assert_eq!(receiver.received().len(), 1);
    }

    async fn an_assigned_conversation_is_pushed_to_its_operator(database: &TestDatabase) {
        let (service, receiver) = (open(database).await, PushService::start().await);
        for (seed, operator) in [(1, "agent_a"), (2, "owner_a")] {
            subscribe(&service, operator, &receiver.browser(seed)).await;
        }
        let now_ms = service.now_ms();
        for id in ["conv_1", "conv_2", "conv_3"] {
            converse(&service, "a", id, "Hello?").await;
        }
        execute(&service, "UPDATE conversations SET assignee_id = 'agent_a'", args![]).await;
        tell(&service, "conv_1", Some("agent_a"), Cause::Message, now_ms).await;
        // Assigned between the message and the push.
        tell(&service, "conv_2", None, Cause::WantsPerson, now_ms).await;
        push_due(&service, now_ms).await;
        let mut paths: Vec<String> = receiver.received().into_iter().map(|push| push.path).collect();
        assert_eq!(paths, ["/send/1"]);
        execute(&service, "UPDATE operators SET disabled_ms = 1 WHERE id = 'agent_a'", args![]).await;
        tell(&service, "conv_3", Some("agent_a"), Cause::Message, now_ms).await;
        push_due(&service, now_ms).await;
        paths = receiver.received().into_iter().map(|push| push.path).collect();
        assert_eq!(paths[1..], ["/send/2"]);
    }

    async fn an_operator_gets_no_push_in_their_quiet_hours(database: &TestDatabase) {
        let (service, receiver) = (open(database).await, PushService::start().await);
        for (seed, operator) in [(1, "agent_a"), (2, "owner_a")] {
            subscribe(&service, operator, &receiver.browser(seed)).await;
        }
        let quiet = r#"{"quietHours":{"fromMinute":0,"toMinute":0,"days":[1,2,3,4,5,6,7],"timeZone":"Asia/Kolkata"}}"#;
        execute(&service, "UPDATE operators SET preferences = $1 WHERE id = 'agent_a'", args![quiet]).await;
        converse(&service, "a", "conv_1", "Hello?").await;
        tell(&service, "conv_1", None, Cause::WantsPerson, service.now_ms()).await;
        assert_eq!(push_due(&service, service.now_ms()).await, None);
        let paths: Vec<String> = receiver.received().into_iter().map(|push| push.path).collect();
        assert_eq!(paths, ["/send/2"]);
    }

    async fn an_answer_cancels_the_push(database: &TestDatabase) {
        let (service, receiver) = (open(database).await, PushService::start().await);
        subscribe(&service, "agent_a", &receiver.browser(1)).await;
        for id in ["conv_1", "conv_2", "conv_3"] {
            converse(&service, "a", id, "Hello?").await;
            tell(&service, id, None, Cause::WantsPerson, service.now_ms()).await;
        }
        transaction!(service.db(), |tx| answered(tx, "conv_1").await).await.expect("answered");
        execute(&service, "UPDATE conversations SET status = 'closed' WHERE id = 'conv_2'", args![]).await;
        assert_eq!(push_due(&service, service.now_ms()).await, None);
        assert_eq!(receiver.received().len(), 1);
    }

    async fn a_device_that_its_push_service_does_not_know_is_removed(database: &TestDatabase) {
        let (service, receiver) = (open(database).await, PushService::start().await);
        for (status, id) in [(404, "conv_1"), (410, "conv_2")] {
            subscribe(&service, "agent_a", &receiver.browser(u8::try_from(status % 250).expect("small"))).await;
            converse(&service, "a", id, "Hello?").await;
            receiver.answer(status, None);
            tell(&service, id, None, Cause::WantsPerson, service.now_ms()).await;
            assert_eq!(push_due(&service, service.now_ms()).await, None);
            assert_eq!(devices(&service).await, 0, "{status}");
        }
        assert_eq!(number(&service, "SELECT count(*) FROM pushes").await, 0);
    }

    async fn a_device_is_removed_after_three_refusals_in_succession(database: &TestDatabase) {
        let (service, receiver) = (open(database).await, PushService::start().await);
        subscribe(&service, "agent_a", &receiver.browser(1)).await;
        let mut now_ms = service.now_ms();
        for (number, (status, left)) in [(400, 1), (403, 1), (201, 1), (413, 1), (400, 1), (403, 0)].into_iter().enumerate() {
            let id = format!("conv_{number}");
            converse(&service, "a", &id, "Hello?").await;
            receiver.answer(status, None);
            now_ms += MINUTE_MS;
            tell(&service, &id, None, Cause::WantsPerson, now_ms).await;
            assert_eq!(push_due(&service, now_ms).await, None, "a refused push is not repeated");
            assert_eq!((devices(&service).await, receiver.received().len()), (left, number + 1));
        }
    }

    async fn a_busy_push_service_is_asked_again_when_it_says(database: &TestDatabase) {
        let (service, receiver) = (open(database).await, PushService::start().await);
        subscribe(&service, "agent_a", &receiver.browser(1)).await;
        let now_ms = service.now_ms();
        for id in ["conv_1", "conv_2"] {
            converse(&service, "a", id, "Hello?").await;
        }
        receiver.answer(429, Some("90"));
        tell(&service, "conv_1", None, Cause::WantsPerson, now_ms).await;
        let due_ms = push_due(&service, now_ms).await.expect("again");
        assert!((90 * SECOND_MS..100 * SECOND_MS).contains(&(due_ms - now_ms)), "{}", due_ms - now_ms);
        tell(&service, "conv_2", None, Cause::WantsPerson, now_ms).await;
        assert_eq!(push_due(&service, due_ms - 1).await, Some(due_ms), "others wait as well");
        assert_eq!(push_due(&service, due_ms).await, None);
        assert_eq!(receiver.received().len(), 2, "both are told together");
    }

    async fn a_push_that_cannot_be_delivered_for_an_hour_is_given_up(database: &TestDatabase) {
        let (service, receiver) = (open(database).await, PushService::start().await);
        subscribe(&service, "agent_a", &receiver.browser(1)).await;
        converse(&service, "a", "conv_1", "Hello?").await;
        let start_ms = service.now_ms();
        tell(&service, "conv_1", None, Cause::WantsPerson, start_ms).await;
        let mut due_ms = Some(start_ms);
        while let Some(now_ms) = due_ms {
            assert!(now_ms - start_ms < HOUR_MS);
            receiver.answer(500, None);
            due_ms = push_due(&service, now_ms).await;
        }
        assert!((3..8).contains(&receiver.received().len()), "{}", receiver.received().len());
        assert_eq!(devices(&service).await, 1);
    }

    async fn a_device_ends_with_its_session(database: &TestDatabase) {
        let (service, receiver) = (open(database).await, PushService::start().await);
        subscribe(&service, "agent_a", &receiver.browser(1)).await;
        subscribe(&service, "owner_a", &receiver.browser(2)).await;
        converse(&service, "a", "conv_1", "Hello?").await;
        tell(&service, "conv_1", None, Cause::WantsPerson, service.now_ms()).await;
        execute(&service, "DELETE FROM operator_sessions WHERE operator_id = 'agent_a'", args![]).await;
        let over = "UPDATE operator_sessions SET expires_ms = $1";
        execute(&service, over, args![service.now_ms()]).await;
        assert_eq!(push_due(&service, service.now_ms()).await, None);
        assert_eq!((receiver.received().len(), devices(&service).await), (0, 0));
    }

    async fn a_session_that_was_not_used_over_the_weekend_is_told(database: &TestDatabase) {
        let (service, receiver) = (open(database).await, PushService::start().await);
        subscribe(&service, "agent_a", &receiver.browser(1)).await;
        let unused = "UPDATE operator_sessions SET seen_ms = seen_ms - $1";
        execute(&service, unused, args![60 * HOUR_MS]).await;
        converse(&service, "a", "conv_1", "Hello?").await;
        tell(&service, "conv_1", None, Cause::WantsPerson, service.now_ms()).await;
        push_due(&service, service.now_ms()).await;
        assert_eq!(receiver.received().len(), 1);
    }

    async fn many_conversations_at_once_are_stored_up_to_a_bound(database: &TestDatabase) {
        let (service, receiver) = (open(database).await, PushService::start().await);
        subscribe(&service, "agent_a", &receiver.browser(1)).await;
        for number in 0..40 {
            tell(&service, &format!("conv_{number}"), None, Cause::WantsPerson, service.now_ms()).await;
        }
        assert_eq!(number(&service, "SELECT count(*) FROM pushes").await, 30);
    }

    /// Two visitors a second want a person for a minute, and another tenant's visitor once.
    async fn a_device_gets_few_pushes_in_a_minute_whatever_visitors_do(database: &TestDatabase) {
        let (service, receiver) = (open(database).await, PushService::start().await);
        let browser = receiver.browser(1);
        subscribe(&service, "agent_a", &browser).await;
        let start_ms = service.now_ms();
        for number in 0..120 {
            let (id, now_ms) = (format!("conv_{number}"), start_ms + number * SECOND_MS / 2);
            converse(&service, "a", &id, "Hello?").await;
            tell(&service, &id, None, Cause::WantsPerson, now_ms).await;
            push_due(&service, now_ms).await;
        }
        let pushes = receiver.received();
        assert!((5..=7).contains(&pushes.len()), "{}", pushes.len());
        // The last one tells of all whose visitors wait.
        push_due(&service, start_ms + 10 * MINUTE_MS).await;
        let last = browser.read(receiver.received().last().expect("a push"));
        assert_eq!(last["title"], "Conversations that need you: 120");
    }

    async fn conversations_that_begin_together_are_told_together(database: &TestDatabase) {
        let (service, receiver) = (open(database).await, PushService::start().await);
        let (browser, other) = (receiver.browser(1), receiver.browser(2));
        subscribe(&service, "agent_a", &browser).await;
        subscribe(&service, "agent_b", &other).await;
        let now_ms = service.now_ms();
        for (number, cause) in [Cause::Unanswered, Cause::WantsPerson, Cause::Message].into_iter().enumerate() {
            let id = format!("conv_{number}");
            converse(&service, "a", &id, &format!("Question {number}")).await;
            tell(&service, &id, None, cause, now_ms).await;
            // A less urgent cause does not withdraw the notification.
            tell(&service, &id, None, Cause::Message, now_ms).await;
        }
        // Another tenant's device is told of its own, at once.
        converse(&service, "b", "conv_b", "Hello?").await;
        tell_tenant(&service, "b", "conv_b", None, Cause::Message, now_ms).await;
        assert_eq!(push_due(&service, now_ms).await, None);
        let mut pushes = receiver.received();
        pushes.sort_by(|one, other| one.path.cmp(&other.path));
        assert_eq!(pushes.len(), 2);
        let message = browser.read(&pushes[0]);
        assert_eq!(message["title"], "Conversations that need you: 3");
        assert_eq!(message["body"], "Question 1", "of the one who wants a person");
        assert_eq!((&message["conversation"], &message["tag"]), (&json!(""), &json!("inbox")));
        assert_eq!(pushes[0].header("urgency"), "high");
        let message = other.read(&pushes[1]);
        assert_eq!((&message["conversation"], &message["tag"]), (&json!("conv_b"), &json!("conv_b")));
        // The next one counts those whose visitors still wait.
        execute(&service, "UPDATE conversations SET waiting_since_ms = NULL WHERE id <> 'conv_0'", args![]).await;
        let later_ms = now_ms + MINUTE_MS;
        for id in ["conv_3", "conv_4"] {
            converse(&service, "a", id, "Hello?").await;
            tell(&service, id, None, Cause::Message, later_ms).await;
        }
        push_due(&service, later_ms).await;
        let message = browser.read(receiver.received().last().expect("a push"));
        assert_eq!(message["title"], "Conversations that need you: 3");
        assert_eq!(number(&service, "SELECT count(*) FROM pushes WHERE sent_ms IS NOT NULL").await, 6);
    }

    async fn a_push_whose_node_died_is_sent_when_its_lease_ends(database: &TestDatabase) {
        let (service, receiver) = (open(database).await, PushService::start().await);
        subscribe(&service, "agent_a", &receiver.browser(1)).await;
        converse(&service, "a", "conv_1", "Hello?").await;
        let now_ms = service.now_ms();
        tell(&service, "conv_1", None, Cause::WantsPerson, now_ms).await;
        let queue = PushQueue::open(&service).expect("valid options").expect("switched on");
        assert_eq!(queue.claim(now_ms, 1).await.expect("claimed").0.len(), 1);
        assert_eq!(push_due(&service, now_ms + 59 * SECOND_MS).await, Some(now_ms + MINUTE_MS));
        assert_eq!(push_due(&service, now_ms + MINUTE_MS).await, None);
        assert_eq!(receiver.received().len(), 1);
    }

    async fn the_key_pair_is_created_once_and_kept(database: &TestDatabase) {
        let first = open(database).await;
        let public = key(&first).await.expect("a pair").public().to_owned();
        first.close().await;
        drop(first);
        let again = open(database).await;
        assert_eq!(key(&again).await.expect("a pair").public(), public);
        assert_eq!(number(&again, "SELECT count(*) FROM service_values WHERE name = 'push-key'").await, 1);
    }

    async fn nothing_is_queued_where_pushes_are_switched_off(database: &TestDatabase) {
        let receiver = PushService::start().await;
        let off = ServiceOptions { web_push: false, ..options(database) };
        let service = open_with(off).await;
        subscribe(&service, "agent_a", &receiver.browser(1)).await;
        tell(&service, "conv_1", None, Cause::WantsPerson, service.now_ms()).await;
        assert_eq!(number(&service, "SELECT count(*) FROM pushes").await, 0);
        assert_eq!(number(&service, "SELECT count(*) FROM service_values WHERE name = 'push-key'").await, 0);
        service.close().await;
        drop(service);
        let service = open(database).await;
        tell(&service, "conv_1", None, Cause::WantsPerson, service.now_ms()).await;
        assert_eq!(number(&service, "SELECT count(*) FROM pushes").await, 1);
    }
}

/// SQLite has one node.
#[tokio::test]
async fn nodes_that_start_at_once_agree_on_one_key_pair() {
    let database = TestDatabase::new(Kind::Postgres).await;
    let public = async |node: &Service| key(node).await.expect("a pair").public().to_owned();
    // Migrated before, so that all nodes reach the key at the same time.
    let node = open(&database).await;
    let old = public(&node).await;
    execute(&node, "DELETE FROM service_values WHERE name = 'push-key'", args![]).await;
    let starting = futures_util::future::join_all((0..4).map(|_| Service::open(options(&database)))).await;
    let mut keys = Vec::new();
    for node in starting {
        keys.push(public(&node.expect("opened")).await);
    }
    keys.dedup();
    assert!(keys.len() == 1 && keys[0] != old, "{keys:?} after {old}");
}
