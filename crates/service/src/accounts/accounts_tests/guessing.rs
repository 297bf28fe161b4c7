//! Brute force: guessing passwords, codes and links.

use std::time::Duration;

use chat_test_servers::at_once;
use serde_json::json;

use super::browser::{Browser, Fixture, OTHER, PASSWORD};
use crate::Service;
use crate::accounts::Role;
use crate::databases::{Kind, TestDatabase, on_both_databases};

/// Returns the seconds to wait, for a refused attempt.
async fn guess(browser: &mut Browser, email: &str) -> Option<u64> {
    let answer = browser.sign_in(email, "a wrong password").await;
    match answer.failure() {
        (401, "WRONG_CREDENTIALS") => None,
        (429, "RATE_LIMITED") => {
            let seconds = answer.headers.get("retry-after").expect("a delay").to_str().expect("text").parse();
            Some(seconds.expect("seconds"))
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_count_together_and_know_each_others_sessions() {
    let database = TestDatabase::new(Kind::Postgres).await;
    let mut fixture = Fixture::new(&database).await;
    let other = Service::open(fixture.service.0.options.clone()).await.expect("a second node");
    let mut statuses = Vec::new();
    for attempt in 0..6 {
        let node = if attempt % 2 == 0 { &fixture.service } else { &other };
        let mut browser = Browser::at(node, &format!("198.51.100.{attempt}"));
        statuses.push(browser.sign_in("owner@example.com", "a wrong password").await.status.as_u16());
    }
    assert_eq!(statuses, [401, 401, 401, 401, 401, 429]);
    let mut elsewhere = Browser::new(&other);
    elsewhere.cookies.clone_from(&fixture.owner.cookies);
    assert!(elsewhere.is_signed_in().await);
    elsewhere.delete("/session").await.ok();
    assert!(!fixture.owner.is_signed_in().await, "ended on the other node");
}

on_both_databases! {
    async fn guessing_at_one_account_from_everywhere_takes_ever_longer(database: &TestDatabase) {
        let fixture = Fixture::new(database).await;
        let mut delays = Vec::new();
        for attempt in 0..9 {
            let mut browser = Browser::at(&fixture.service, &format!("198.51.100.{attempt}"));
            if let Some(delay) = guess(&mut browser, "owner@example.com").await {
                delays.push(delay);
                let hashes = fixture.hashes();
                assert!(guess(&mut browser, "owner@example.com").await.is_some());
                assert_eq!(fixture.hashes(), hashes, "a refused attempt costs no hash");
                fixture.wait_out().await;
                assert_eq!(guess(&mut browser, "owner@example.com").await, None);
            }
        }
        assert_eq!(delays, [1, 2, 4, 8], "after five free attempts");
        fixture.wait_out().await;
        let mut owner = Browser::at(&fixture.service, "203.0.113.9");
        owner.sign_in("owner@example.com", PASSWORD).await.ok();
        for _ in 0..5 {
            assert_eq!(guess(&mut owner.clone(), "owner@example.com").await, None, "success starts again");
        }
    }

    async fn guessing_at_all_accounts_from_one_network_takes_ever_longer(database: &TestDatabase) {
        let fixture = Fixture::new(database).await;
        for attempt in 0..20 {
            let mut browser = Browser::at(&fixture.service, &format!("2001:db8::{attempt}"));
            assert_eq!(guess(&mut browser, &format!("a{attempt}@example.com")).await, None, "{attempt}");
        }
        let mut browser = Browser::at(&fixture.service, "2001:db8::ffff");
        assert_eq!(guess(&mut browser, "a@example.com").await, Some(1));
        let mut elsewhere = Browser::at(&fixture.service, "2001:db8:0:1::1");
        assert_eq!(guess(&mut elsewhere, "a@example.com").await, None, "another network");
    }

    /// An attacker who has an account signs in now and then, so that the failures are forgotten.
    async fn an_own_account_does_not_make_up_for_failures(database: &TestDatabase) {
        let mut fixture = Fixture::new(database).await;
        fixture.invite("eve@example.com", Role::Agent).await;
        let mut refused = 0;
        for attempt in 0..25 {
            let mut browser = Browser::at(&fixture.service, "198.51.100.1");
            refused += u32::from(guess(&mut browser, &format!("a{attempt}@example.com")).await.is_some());
            if attempt % 5 == 0 {
                let _ = browser.sign_in("eve@example.com", PASSWORD).await;
            }
        }
        assert!(refused >= 5, "{refused}");
    }

    async fn attempts_at_once_count_one_by_one(database: &TestDatabase) {
        let fixture = Fixture::new(database).await;
        let before = fixture.hashes();
        let refusals = at_once(40, |attempt| {
            let mut browser = Browser::at(&fixture.service, &format!("198.51.100.{attempt}"));
            async move { guess(&mut browser, "owner@example.com").await }
        });
        let checked: u64 = refusals.await.iter().map(|refusal| u64::from(refusal.is_none())).sum();
        // The first delay is a second, so that a slow machine may let a sixth or seventh one through.
        assert!((5..=7).contains(&checked), "{checked}");
        assert_eq!(fixture.hashes() - before, checked);
    }

    /// Strangers fail on purpose, in order to lock the owner out.
    async fn strangers_do_not_hold_up_a_browser_that_signed_in_before(database: &TestDatabase) {
        let mut fixture = Fixture::new(database).await;
        let (mut agent, _) = fixture.invite("agent@example.com", Role::Agent).await;
        fixture.owner.delete("/session").await.ok();
        agent.delete("/session").await.ok();
        for attempt in 0..6 {
            let mut stranger = Browser::at(&fixture.service, &format!("198.51.100.{attempt}"));
            guess(&mut stranger, "owner@example.com").await;
        }
        let mut new = Browser::at(&fixture.service, "203.0.113.9");
        assert_eq!(new.sign_in("owner@example.com", PASSWORD).await.status, 429, "a new browser waits");
        assert_eq!(
            agent.sign_in("owner@example.com", PASSWORD).await.status,
            429,
            "the device of another operator"
        );
        fixture.owner.sign_in("owner@example.com", PASSWORD).await.ok();
        fixture.owner.delete("/session").await.ok();
        // A stolen device gets no further than others.
        for _ in 0..5 {
            assert_eq!(guess(&mut fixture.owner, "owner@example.com").await, None);
        }
        assert_eq!(guess(&mut fixture.owner, "owner@example.com").await, Some(1));
    }

    async fn a_flood_of_logins_keeps_no_known_device_out(database: &TestDatabase) {
        let mut fixture = Fixture::new(database).await;
        fixture.owner.delete("/session").await.ok();
        let (stalled, strangers) = fixture.flood().await;
        let mut new = Browser::at(&fixture.service, "203.0.113.9");
        // Not the account, as nobody must learn which ones exist.
        for email in ["owner@example.com", "nobody@example.com"] {
            assert_eq!(new.sign_in(email, PASSWORD).await.failure(), (503, "UNAVAILABLE"), "{email}");
        }
        let mut owner = fixture.owner.clone();
        let known = tokio::spawn(async move {
            owner.sign_in("owner@example.com", PASSWORD).await.ok();
            let change = json!({"currentPassword": PASSWORD, "newPassword": "another long and secret phrase"});
            owner.post("/password", change).await.ok();
        });
        // The strangers keep their places. The known device needs the threads only.
        drop(stalled);
        tokio::time::timeout(Duration::from_secs(20), known).await.expect("in time").expect("signed in");
        drop(strangers);
    }

    async fn what_was_not_checked_is_no_wrong_password(database: &TestDatabase) {
        let fixture = Fixture::new(database).await;
        let flood = fixture.flood().await;
        let mut new = Browser::at(&fixture.service, "203.0.113.9");
        // More than an account and a network have free.
        for _ in 0..30 {
            let answer = new.sign_in("owner@example.com", PASSWORD).await;
            assert_eq!(answer.failure(), (503, "UNAVAILABLE"));
        }
        drop(flood);
        for _ in 0..4 {
            assert_eq!(guess(&mut new, "owner@example.com").await, None);
        }
        new.sign_in("owner@example.com", PASSWORD).await.ok();
        // A hash that cannot be read is no wrong password either.
        fixture.execute("UPDATE accounts SET password = 'no hash'", vec![]).await;
        for _ in 0..8 {
            assert_eq!(new.clone().sign_in("owner@example.com", PASSWORD).await.status, 500);
        }
    }

    async fn a_hijacked_session_cannot_guess_the_password(database: &TestDatabase) {
        let mut fixture = Fixture::new(database).await;
        let mut answers = Vec::new();
        for path in ["/totp", "/password", "/totp/disable", "/totp/recovery-codes", "/totp", "/totp"] {
            let body = match path {
                "/password" => json!({"currentPassword": "wrong", "newPassword": "another long phrase"}),
                _ => json!({"password": "wrong"}),
            };
            answers.push(fixture.owner.post(path, body).await.status.as_u16());
        }
        assert_eq!(answers, [401, 401, 401, 401, 401, 429]);
    }

    async fn a_refused_join_is_no_guess_at_a_link(database: &TestDatabase) {
        let fixture = Fixture::new(database).await;
        fixture.other_owner().await;
        let mut squatter = fixture.squat(&fixture.tenant_id, "victim@example.com", PASSWORD).await;
        let link = fixture.shown_link(OTHER, "victim@example.com").await;
        // More than a network has free.
        for attempt in 0..25 {
            let refused = squatter.join(&link).await;
            assert_eq!(refused.failure(), (409, "RESOURCE_CONFLICT"), "{attempt}");
            let message = refused.json["error"]["message"].as_str().expect("a text");
            assert!(message.contains("admin operator confirm victim@example.com"), "{message}");
        }
    }

    async fn a_refused_password_is_no_guess_at_a_link(database: &TestDatabase) {
        let fixture = Fixture::new(database).await;
        let link = fixture.shown_link(&fixture.tenant_id, "agent@example.com").await;
        let mut browser = Browser::at(&fixture.service, "198.51.100.2");
        // More than a network has free.
        for attempt in 0..25 {
            let refused = browser.set_up(&link, json!({"name": "Agent", "password": "password12"})).await;
            assert_eq!(refused.failure(), (400, "INVALID_REQUEST"), "{attempt}");
        }
        browser.set_up(&link, json!({"name": "Agent"})).await.ok();
    }

    async fn links_cannot_be_guessed_quickly(database: &TestDatabase) {
        let fixture = Fixture::new(database).await;
        let mut browser = Browser::at(&fixture.service, "198.51.100.1");
        let hashes = fixture.hashes();
        for attempt in 0..21 {
            let path = if attempt % 2 == 0 { "/setup/check" } else { "/setup" };
            let mut body = json!({"token": format!("guess {attempt}")});
            if path == "/setup" {
                body["password"] = PASSWORD.into();
            }
            let answer = browser.post(path, body).await;
            let expected = if attempt < 20 { (401, "INVALID_LINK") } else { (429, "RATE_LIMITED") };
            assert_eq!(answer.failure(), expected, "{attempt}");
        }
        assert_eq!(fixture.hashes(), hashes, "a wrong link costs no hash");
    }
}
