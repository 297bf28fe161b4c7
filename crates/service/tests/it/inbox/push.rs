//! Pushes to operators whose console is closed, by the API and by a push service of the test's own.

use axum::http::StatusCode;
use chat_protocol::admin::PushState;
use chat_service::{Service, ServiceOptions, SiteChange};
use serde_json::json;

use crate::inbox::desk::{Desk, eventually};
use crate::support::databases::{Kind, TestDatabase, on_both_databases};
use crate::support::push::{PushBrowser, PushService};
use crate::support::{Client, options};

/// Opens a service that sends pushes to this machine, with its background tasks.
async fn service(database: &TestDatabase) -> Service {
    let options = ServiceOptions { allow_private_webhooks: true, ..options(database) };
    let service = Service::open(options).await.expect("opened");
    let running = service.clone();
    tokio::spawn(async move { Box::pin(running.run()).await });
    service
}

async fn desk(database: &TestDatabase) -> Desk {
    Desk::of(Client::of(service(database).await, SiteChange::default()).await, "Olga").await
}

/// Subscribes a browser of an operator, and returns the id of the device.
async fn subscribe(desk: &Desk, browser: &PushBrowser) -> String {
    desk.post("/push/devices", &browser.subscription()).await.data();
    let state: PushState = desk.read("/push").await;
    state.devices.into_iter().find(|device| device.current).expect("this device").id
}

async fn device_count(desk: &Desk) -> usize {
    desk.read::<PushState>("/push").await.devices.len()
}

on_both_databases! {
    async fn a_visitor_who_wants_a_person_reaches_an_operator_whose_console_is_closed(database: &TestDatabase) {
        let (desk, receiver) = (desk(database).await, PushService::start().await);
        let browser = receiver.browser(1);
        subscribe(&desk, &browser).await;
        let id = desk.client.begin("I would like to talk to a person").await;
        let pushes = receiver.wait_for(1).await;
        let message = browser.read(&pushes[0]);
        assert_eq!(message["title"], "A visitor wants to talk to a person");
        assert_eq!(message["body"], "I would like to talk to a person");
        assert_eq!(message["conversation"], id.as_str());
    }

    async fn a_visitor_whom_the_ai_cannot_answer_waits_for_a_person_and_is_pushed(database: &TestDatabase) {
        let (desk, receiver) = (desk(database).await, PushService::start().await);
        let browser = receiver.browser(1);
        subscribe(&desk, &browser).await;
        let id = desk.client.begin("Do you repair bicycles?").await;
        let pushes = receiver.wait_for(1).await;
        let message = browser.read(&pushes[0]);
        assert_eq!(message["title"], "A visitor waits for an answer");
        assert_eq!(message["body"], "Do you repair bicycles?");
        assert_eq!(message["conversation"], id.as_str());
        assert_eq!(desk.ids("view=waiting").await, std::slice::from_ref(&id));
        let since = desk.conversation(&id).await.summary.waiting_since;
        assert!(since.is_some());
        // Neither a second question nor an answer of the AI changes since when the visitor waits.
        for text in ["And tricycles?", "Thanks"] {
            let more = json!({ "message": text, "conversationId": id });
            desk.client.post("/chat/messages", None, &more).await.data();
        }
        assert_eq!(desk.conversation(&id).await.summary.waiting_since, since);
        desk.answer(&id, "Yes, we do.").await;
        assert_eq!(desk.ids("view=waiting").await, Vec::<String>::new());
    }

    async fn a_message_is_pushed_to_the_operator_who_has_the_conversation(database: &TestDatabase) {
        let (desk, receiver) = (desk(database).await, PushService::start().await);
        let ben = desk.invite("Ben", "agent").await;
        let browsers = [receiver.browser(1), receiver.browser(2)];
        let id = desk.client.begin("Where is my order?").await;
        ben.answer(&id, "I have a look.").await;
        ben.change(&id, json!({ "assigneeId": ben.id })).await;
        subscribe(&desk, &browsers[0]).await;
        subscribe(&ben, &browsers[1]).await;
        // The AI answers here, and nobody needs to look.
        desk.client.begin("Hello").await;
        let more = json!({ "message": "Number 17", "conversationId": id });
        desk.client.post("/chat/messages", None, &more).await.data();
        let pushes = receiver.wait_for(1).await;
        assert_eq!(pushes[0].path, "/send/2");
        let message = browsers[1].read(&pushes[0]);
        assert_eq!((&message["title"], &message["body"]), (&json!("A visitor has written"), &json!("Number 17")));
        // With a console in use, Ben sees the next one on the screen.
        let mut console = ben.open().await;
        let more = json!({ "message": "Hello?", "conversationId": id });
        desk.client.post("/chat/messages", None, &more).await.data();
        console.message("Hello?").await;
        assert_eq!(receiver.received().len(), 1);
    }

    async fn signing_out_and_the_end_of_a_session_end_its_pushes(database: &TestDatabase) {
        let (desk, receiver) = (desk(database).await, PushService::start().await);
        let [ben, eve, zoe] = [desk.invite("Ben", "agent").await, desk.invite("Eve", "agent").await,
            desk.invite("Zoe", "agent").await];
        for (seed, operator) in [(1, &ben), (2, &eve), (3, &zoe), (4, &desk)] {
            subscribe(operator, &receiver.browser(seed)).await;
        }
        ben.call("DELETE", "/session", Some(&json!({}))).await.data();
        desk.patch(&format!("/operators/{}", eve.id), &json!({ "disabled": true })).await.data();
        desk.call("DELETE", &format!("/operators/{}", zoe.id), Some(&json!({}))).await.data();
        desk.client.begin("I would like to talk to a person").await;
        let pushes = receiver.wait_for(1).await;
        assert_eq!(pushes[0].path, "/send/4", "the one who is left");
        assert_eq!(pushes.len(), 1);
    }

    async fn a_device_is_removed_by_its_own_operator_only(database: &TestDatabase) {
        let desk = desk(database).await;
        let ben = desk.invite("Ben", "agent").await;
        let other = Desk::of(Client::of(desk.client.service.clone(), SiteChange::default()).await, "Otto").await;
        let browser = PushBrowser::new(1, "https://push.example/send/1");
        let device = subscribe(&ben, &browser).await;
        for stranger in [&desk, &other] {
            assert_eq!(device_count(stranger).await, 0);
            let path = format!("/push/devices/{device}");
            assert_eq!(stranger.call("DELETE", &path, Some(&json!({}))).await.status, 404);
        }
        assert_eq!(device_count(&ben).await, 1);
        ben.call("DELETE", &format!("/push/devices/{device}"), Some(&json!({}))).await.data();
        assert_eq!(device_count(&ben).await, 0);
        let entries = desk.get("/audit?action=push").await.to_string();
        assert!(entries.contains("push.enable") && entries.contains("push.disable"), "{entries}");
    }

    async fn a_browser_that_subscribes_again_is_one_device(database: &TestDatabase) {
        let desk = desk(database).await;
        let first = subscribe(&desk, &PushBrowser::new(1, "https://push.example/send/1")).await;
        let again = subscribe(&desk, &PushBrowser::new(2, "https://push.example/send/1")).await;
        assert_eq!(first, again, "the same endpoint with new keys");
        let other = subscribe(&desk, &PushBrowser::new(1, "https://push.example/send/2")).await;
        assert_ne!(first, other);
        assert_eq!(device_count(&desk).await, 1, "a session has one device");
        let entries = desk.get("/audit?action=push").await.to_string();
        assert_eq!(entries.matches("push.enable").count(), 1, "a device that changed is none that was added");
    }

    async fn endpoints_on_this_network_and_broken_keys_are_refused(database: &TestDatabase) {
        // A service as it is by default, which connects to public addresses only.
        let desk = Desk::new(database).await;
        let valid = PushBrowser::new(1, "https://push.example/send/1").subscription();
        for (member, value) in [
            ("endpoint", json!("https://127.0.0.1/send")),
            ("p256dh", json!("AAAA")),
            ("locale", json!("no locale")),
            ("extra", json!(1)),
        ] {
            let mut wrong = valid.clone();
            wrong[member] = value;
            assert_eq!(desk.post("/push/devices", &wrong).await.status, StatusCode::BAD_REQUEST, "{wrong}");
        }
        assert_eq!(device_count(&desk).await, 0);
        desk.post("/push/devices", &valid).await.data();
    }

    async fn a_service_without_pushes_says_so(database: &TestDatabase) {
        let options = ServiceOptions { web_push: false, ..options(database) };
        let client = Client::with(options, SiteChange::default()).await;
        let desk = Desk::of(client, "Olga").await;
        let state: PushState = desk.read("/push").await;
        assert_eq!(state, PushState::default());
        let sent = PushBrowser::new(1, "https://push.example/send/1").subscription();
        assert_eq!(desk.post("/push/devices", &sent).await.status, StatusCode::CONFLICT);
    }

    async fn replies_do_not_wait_for_a_push_service_that_fails(database: &TestDatabase) {
        let (desk, receiver) = (desk(database).await, PushService::start().await);
        subscribe(&desk, &receiver.browser(1)).await;
        receiver.answer(500, None);
        receiver.answer(410, None);
        let id = desk.client.begin("I would like to talk to a person").await;
        let more = json!({ "message": "Is somebody there?", "conversationId": id });
        desk.client.post("/chat/messages", None, &more).await.data();
        eventually("the device is removed", async || device_count(&desk).await == 0).await;
    }
}
