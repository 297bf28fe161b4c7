//! The byte budgets of sites, tenants and addresses.

use axum::body::Body;
use chat_service::{Service, ServiceOptions, SiteChange, StorageBudgets};
use secrecy::ExposeSecret;
use serde_json::{Value, json};

use super::flood::{accepted_soon, batch, fill, refused_by, send_from};
use crate::inbox::desk::Desk;
use crate::support::databases::{Kind, TestDatabase, on_both_databases};
use crate::support::{Answer, Caller, Client, options};

const SPACE: u64 = 500_000;

fn bounded(database: &TestDatabase, storage: StorageBudgets) -> ServiceOptions {
    ServiceOptions { storage, ..options(database) }
}

fn of_site(bytes: u64) -> StorageBudgets {
    StorageBudgets { site: bytes, ..StorageBudgets::default() }
}

async fn say(caller: &Caller, key: Option<&str>, text: &str) -> Answer {
    caller.post("/chat/messages", key, &json!({ "message": text })).await
}

/// Sends a message from an address.
async fn say_from(caller: &Caller, address: &str, text: &str) -> Answer {
    let mut request =
        caller.api("POST", "/chat/messages", Body::from(json!({ "message": text }).to_string()));
    request.headers_mut().insert("x-forwarded-for", address.parse().expect("a header value"));
    caller.send(request).await
}

fn full() -> (u16, String) {
    (402, "STORAGE_FULL".to_owned())
}

on_both_databases! {
    async fn events_are_refused_first_then_messages_and_no_other_site(database: &TestDatabase) {
        let client = Client::with(bounded(database, of_site(SPACE)), SiteChange::default()).await;
        let other = Client::of(client.service.clone(), SiteChange::default()).await;
        let desk = Desk::of(client.clone(), "Olga").await;
        let (accepted, refused) = fill(&client, "v-1").await;
        assert!((1..=5).contains(&accepted), "{accepted}");
        assert_eq!(refused.failure(), full());
        assert_eq!(say(&client, None, "Do you ship?").await.status, 200, "messages have a part of their own");
        let long = "x".repeat(4000);
        let mut sent = 0;
        while say(&client, None, &long).await.status == 200 {
            sent += 1;
            assert!(sent < 100, "nothing bounds the messages of a site");
        }
        assert!(sent > 3, "{sent}");
        assert_eq!(say(&client, None, &long).await.failure(), full());
        assert_eq!(refused_by(&client, "site").await, 3);
        assert_eq!(say(&other, None, "Hello").await.status, 200);
        assert_eq!(other.post("/events", None, &batch("v-1")).await.status, 200);
        // The owner sees it, and deletes, without a restart.
        let quota = desk.get("/quota").await;
        let (stored, max) = (&quota["sites"][0]["storedBytes"], &quota["sites"][0]["maxBytes"]);
        assert!(stored.as_u64().expect("a number") > SPACE / 2 && max == SPACE, "{quota}");
        let path = format!("/sites/{}/visitors/v-1", client.site.id);
        assert_eq!(desk.call("DELETE", &path, None).await.status, 200);
        accepted_soon(async || client.post("/events", None, &batch("v-2")).await).await;
        assert_eq!(say(&client, None, &long).await.status, 200);
    }

    async fn a_tenant_that_is_full_leaves_other_tenants_alone(database: &TestDatabase) {
        let budgets = StorageBudgets { tenant: SPACE, ..StorageBudgets::default() };
        let client = Client::with(bounded(database, budgets), SiteChange::default()).await;
        let other = Client::of(client.service.clone(), SiteChange::default()).await;
        let directory = client.service.directory();
        let sister = directory.create_site(&client.site.tenant_id, "Sister", SiteChange::default()).await;
        let token = directory.create_token(&sister.expect("a site").id, "test", None).await.expect("a token");
        let sister = Caller::new(client.service.router(), token.secret.expose_secret());
        let (_, refused) = fill(&client, "v-1").await;
        assert_eq!(refused.failure(), full());
        assert_eq!(sister.post("/events", None, &batch("v-1")).await.failure(), full());
        assert_eq!(refused_by(&client, "tenant").await, 2);
        assert_eq!(say(&sister, None, "Hello").await.status, 200);
        assert_eq!(other.post("/events", None, &batch("v-1")).await.status, 200);
    }

    async fn an_address_that_is_full_leaves_other_visitors_alone(database: &TestDatabase) {
        let budgets = StorageBudgets { address: 300_000, ..StorageBudgets::default() };
        let client = Client::with(bounded(database, budgets), SiteChange::default()).await;
        let desk = Desk::of(client.clone(), "Olga").await;
        let mut before = 0;
        for addresses in [["192.0.2.1", "192.0.2.1"], ["2001:db8:1:1::1", "2001:db8:1:ffff::1"]] {
            let mut refused = None;
            for number in 0..20 {
                let answer = send_from(&client, addresses[number % 2], &format!("v-{number}")).await;
                if answer.status != 200 {
                    refused = Some((number, answer.failure()));
                    break;
                }
            }
            let (accepted, failure) = refused.expect("refused");
            assert!((1..4).contains(&accepted), "{accepted}");
            assert_eq!(failure, (429, "RATE_LIMITED".to_owned()));
            // With the rows of the new visitors.
            let stored = desk.get("/quota").await["storedBytes"].as_u64().expect("a number");
            assert!((1..=300_000).contains(&(stored - before)), "{before} and then {stored}");
            assert_eq!(say_from(&client, addresses[0], "Hello").await.status, 200, "messages have a part of their own");
            before = desk.get("/quota").await["storedBytes"].as_u64().expect("a number");
        }
        assert_eq!(refused_by(&client, "address").await, 2);
        for address in ["192.0.2.2", "2001:db8:2::1"] {
            assert_eq!(send_from(&client, address, "v-1").await.status, 200, "{address}");
        }
        assert_eq!(client.post("/events", None, &batch("v-1")).await.status, 200, "the site's server");
    }

    async fn a_repetition_gets_its_response_when_nothing_fits_any_more(database: &TestDatabase) {
        let client = Client::with(bounded(database, of_site(SPACE)), SiteChange::default()).await;
        let first = say(&client, Some("chat-v-1-0001"), "Do you ship?").await;
        let events = client.post("/events", Some("events-v-1-0001"), &batch("v-1")).await;
        fill(&client, "v-1").await;
        while say(&client, None, &"x".repeat(4000)).await.status == 200 {}
        assert_eq!(say(&client, Some("chat-v-1-0001"), "Do you ship?").await.data(), first.data());
        let again = client.post("/events", Some("events-v-1-0001"), &batch("v-1")).await;
        assert_eq!(again.data(), events.data());
        assert_eq!(say(&client, Some("chat-v-1-0002"), &"x".repeat(4000)).await.failure(), full());
    }

    async fn pages_of_content_right_after_each_other_leave_space_for_messages(database: &TestDatabase) {
        let client = Client::with(bounded(database, of_site(SPACE)), SiteChange::default()).await;
        let mut refused = None;
        for page in 1..100 {
            let path = format!("/{page}");
            let item = json!({ "externalId": path, "type": "page", "path": path, "content": "a".repeat(30_000) });
            let body = json!({ "snapshotId": "s", "page": page, "items": [item] });
            let answer = client.post("/content/sync", None, &body).await;
            if answer.status != 200 {
                refused = Some(answer.failure());
                break;
            }
        }
        assert_eq!(refused, Some(full()));
        assert_eq!(say(&client, None, "Hello").await.status, 200);
    }

    async fn a_sync_that_does_not_fit_changes_nothing_and_names_the_item(database: &TestDatabase) {
        let client = Client::with(bounded(database, of_site(SPACE)), SiteChange::default()).await;
        let item = |id: &str, letter: &str| {
            json!({ "externalId": id, "type": "page", "path": format!("/{id}"), "content": letter.repeat(30_000) })
        };
        let sync = async |items: Vec<Value>, complete: bool| {
            let body = json!({ "snapshotId": "s", "page": 1, "complete": complete, "items": items });
            client.post("/content/sync", None, &body).await
        };
        sync(vec![item("kept", "a"), item("other", "b")], false).await.data();
        let many: Vec<Value> = (0..10).map(|number| item(&format!("new-{number}"), "c")).collect();
        let refused = sync(many, false).await;
        assert_eq!(refused.failure(), full());
        let message = refused.json()["error"]["message"].as_str().expect("a message").to_owned();
        assert!(message.contains("new-"), "{message}");
        let status = client.get("/site/status").await.data();
        assert_eq!(status["contentItems"], 2, "the page is refused as a whole");
        // What is there can be sent again, changed and deleted.
        sync(vec![item("kept", "a"), item("other", "d")], false).await.data();
        let removed = sync(vec![item("kept", "a")], true).await.data();
        assert_eq!(removed["removed"], 0, "both are of this snapshot");
        sync(vec![json!({ "externalId": "other", "type": "page", "deleted": true })], false).await.data();
        assert_eq!(client.get("/site/status").await.data()["contentItems"], 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_nodes_share_the_budgets() {
    let database = TestDatabase::new(Kind::Postgres).await;
    let budgets = StorageBudgets { address: 300_000, ..of_site(SPACE) };
    let client = Client::with(bounded(&database, budgets), SiteChange::default()).await;
    let node = Service::open(bounded(&database, budgets)).await.expect("a second node");
    let other = client.at(&node);
    let (accepted, _) = fill(&client, "v-1").await;
    assert!(accepted > 0);
    assert_eq!(other.post("/events", None, &batch("v-1")).await.failure(), full());
    assert_eq!(say(&other, None, "Hello").await.status, 200);

    let clear = Client::of(client.service.clone(), SiteChange::default()).await;
    let at_other = clear.at(&node);
    let mut accepted = 0;
    for number in 0..10 {
        let caller = if number % 2 == 0 { &clear } else { &at_other };
        accepted += u32::from(send_from(caller, "192.0.2.9", "v-1").await.status == 200);
    }
    assert!((1..4).contains(&accepted), "{accepted}");
}
