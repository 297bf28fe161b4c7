//! Finding out which e-mail addresses have accounts.

use serde_json::{Value, json};

use super::browser::{Answer, Browser, Fixture, PASSWORD};
use crate::accounts::Role;
use crate::databases::{Kind, TestDatabase, on_both_databases};

/// Returns everything that a stranger sees of an answer, but its random id.
fn seen(answer: &Answer) -> (u16, Vec<(String, String)>, Value) {
    let mut headers: Vec<(String, String)> = answer
        .headers
        .iter()
        .filter(|(name, _)| *name != "x-request-id")
        .map(|(name, value)| (name.to_string(), value.to_str().expect("text").to_owned()))
        .collect();
    headers.sort();
    let mut body = answer.json.clone();
    body["requestId"] = Value::Null;
    (answer.status.as_u16(), headers, body)
}

on_both_databases! {
    /// Hashes take nearly all of the time of an answer, so that their number stands for it.
    async fn unknown_wrong_and_disabled_accounts_look_the_same(database: &TestDatabase) {
        let mut fixture = Fixture::new(database).await;
        let (_, id) = fixture.invite("disabled@example.com", Role::Agent).await;
        fixture.owner.patch(&format!("/operators/{id}"), json!({"disabled": true})).await.ok();
        let mut all = Vec::new();
        for (index, (email, password)) in [
            ("nobody@example.com", PASSWORD),
            ("owner@example.com", "a wrong password"),
            ("disabled@example.com", PASSWORD),
            ("disabled@example.com", "a wrong password"),
            ("OWNER@example.com", ""),
        ]
        .into_iter()
        .enumerate()
        {
            let mut stranger = Browser::at(&fixture.service, &format!("198.51.100.{index}"));
            let before = fixture.hashes();
            let answer = stranger.sign_in(email, password).await;
            assert_eq!(fixture.hashes() - before, 1, "{email}");
            all.push(seen(&answer));
        }
        assert_eq!(all[0].0, 401);
        assert!(all.iter().all(|one| *one == all[0]), "{all:?}");
    }

    async fn throttling_tells_nothing_about_accounts(database: &TestDatabase) {
        let fixture = Fixture::new(database).await;
        let mut answers = Vec::new();
        for (network, email) in [("198.51.100", "owner@example.com"), ("203.0.113", "nobody@example.com")] {
            let mut of_one = Vec::new();
            for attempt in 0..8 {
                let mut stranger = Browser::at(&fixture.service, &format!("{network}.{attempt}"));
                stranger.cookies.insert("__Host-device".to_owned(), "A".repeat(80));
                of_one.push(seen(&stranger.sign_in(email, "a wrong password").await));
            }
            answers.push(of_one);
        }
        assert_eq!(answers[0], answers[1]);
        assert_eq!(answers[0][7].0, 429);
    }

    async fn asking_for_a_new_password_tells_nothing_and_mails_the_stored_address(database: &TestDatabase) {
        let mut fixture = Fixture::with_smtp(database).await;
        let (_, id) = fixture.invite("disabled@example.com", Role::Agent).await;
        fixture.owner.patch(&format!("/operators/{id}"), json!({"disabled": true})).await.ok();
        fixture.execute("DELETE FROM emails", vec![]).await;
        let mut stranger = Browser::at(&fixture.service, "198.51.100.1");
        let mut all = Vec::new();
        for email in ["nobody@example.com", "Owner@Example.com", "disabled@example.com"] {
            let before = fixture.hashes();
            all.push(seen(&stranger.post("/password/forgot", json!({"email": email})).await));
            assert_eq!(fixture.hashes(), before);
        }
        assert!(all.iter().all(|one| one.0 == 200 && *one == all[0]), "{all:?}");
        fixture.service.0.tasks.close();
        fixture.service.0.tasks.wait().await;
        let sent = fixture.mails().await;
        assert_eq!(sent.len(), 1, "{sent:?}");
        let (recipient, text) = &sent[0];
        assert_eq!(recipient, "owner@example.com");
        let (_, link) = text.split_once("https://chat.example/console/#setup=").expect("a link");
        let token = link.split_whitespace().next().expect("a secret").to_owned();
        let body = json!({"token": token, "password": "yet another phrase"});
        assert_eq!(stranger.post("/setup", body).await.ok()["signedIn"], true);
        assert!(!fixture.owner.is_signed_in().await, "earlier sessions have ended");
    }

    async fn without_an_smtp_server_no_link_is_mailed(database: &TestDatabase) {
        let fixture = Fixture::new(database).await;
        let mut stranger = Browser::at(&fixture.service, "198.51.100.1");
        let asked = stranger.post("/password/forgot", json!({"email": "owner@example.com"})).await;
        assert_eq!(asked.ok()["mailed"], false);
        assert_eq!(fixture.mails().await, []);
    }

    async fn strangers_cannot_flood_a_mailbox(database: &TestDatabase) {
        let fixture = Fixture::with_smtp(database).await;
        for attempt in 0..12 {
            let mut stranger = Browser::at(&fixture.service, &format!("198.51.100.{attempt}"));
            stranger.post("/password/forgot", json!({"email": "owner@example.com"})).await.ok();
        }
        fixture.service.0.tasks.close();
        fixture.service.0.tasks.wait().await;
        let sent = fixture.mails().await.len();
        assert!((5..=7).contains(&sent), "{sent}");
        let mut one = Browser::at(&fixture.service, "203.0.113.9");
        let mut statuses = Vec::new();
        for attempt in 0..21 {
            let email = format!("a{attempt}@example.com");
            statuses.push(one.post("/password/forgot", json!({"email": email})).await.status.as_u16());
        }
        assert_eq!((statuses[19], statuses[20]), (200, 429));
    }

    async fn odd_addresses_are_accounts_of_their_own(database: &TestDatabase) {
        let mut fixture = Fixture::new(database).await;
        for email in [
            "ada+chat@example.com",
            "\"ada lovelace\"@example.com",
            "JÜRGEN@Müller.example",
            "o'neil@example.com",
        ] {
            let (_, id) = fixture.invite(email, Role::Agent).await;
            let mut browser = Browser::at(&fixture.service, "203.0.113.9");
            let who = browser.sign_in(&format!(" {} ", email.to_lowercase()), PASSWORD).await.ok();
            assert_eq!(who["operator"]["id"].as_str(), Some(id.as_str()), "{email}");
        }
        let mut browser = Browser::new(&fixture.service);
        assert_eq!(
            browser.sign_in("ada@example.com", PASSWORD).await.status,
            401,
            "without what follows the plus"
        );
        let long = format!("{}@example.com", "a".repeat(10_000));
        for email in [
            "",
            "owner",
            "owner@example.com\r\nBcc: eve@example.com",
            "owner@example.com,eve@example.com",
            &long,
        ] {
            assert_eq!(browser.sign_in(email, PASSWORD).await.failure(), (400, "INVALID_REQUEST"), "{email}");
            let invitation = json!({"email": email, "role": "agent"});
            assert_eq!(fixture.owner.post("/invitations", invitation).await.failure().0, 400);
            assert_eq!(browser.post("/password/forgot", json!({"email": email})).await.failure().0, 400);
        }
        let huge = "x".repeat(1_000_000);
        assert_eq!(browser.sign_in("owner@example.com", &huge).await.failure(), (413, "INVALID_REQUEST"));
    }
}
