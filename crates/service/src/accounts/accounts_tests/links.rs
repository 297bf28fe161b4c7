//! One-time links: single use, expiry, and what they may do.

use chat_test_servers::at_once;
use serde_json::json;

use super::browser::{Browser, Fixture, PASSWORD, open};
use crate::accounts::{Role, first_owner_link, owner_link, reset_operator_password, set_operator_disabled};
use crate::databases::{Kind, TestDatabase, on_both_databases};
use crate::db::args;

on_both_databases! {
    async fn the_first_link_creates_an_owner_once_even_for_twenty_at_once(database: &TestDatabase) {
        let service = open(database, Some("https://chat.example/")).await;
        let earlier = first_owner_link(&service).await.expect("a link");
        let link = first_owner_link(&service).await.expect("a link for each start");
        assert!(link.starts_with("https://chat.example/console/#setup="), "{link}");
        let attempts = at_once(20, |attempt| {
            let mut browser = Browser::at(&service, &format!("198.51.100.{attempt}"));
            let link = link.clone();
            async move {
                let account = json!({"name": "Owner", "email": format!("owner{attempt}@example.com")});
                browser.set_up(&link, account).await.failure().0
            }
        });
        let mut statuses = attempts.await;
        statuses.sort_unstable();
        assert_eq!(statuses[0], 200, "{statuses:?}");
        assert!(statuses[1..].iter().all(|status| *status == 401), "{statuses:?}");
        let count = async |sql| service.db().one(sql, vec![]).await.expect("a row").int(0).expect("a number");
        assert_eq!(count("SELECT count(*) FROM operators").await, 1);
        assert_eq!(count("SELECT count(*) FROM tenants").await, 1);
        let mut late = Browser::new(&service);
        let account = json!({"name": "Late", "email": "late@example.com"});
        assert_eq!(late.set_up(&earlier, account).await.failure(), (401, "INVALID_LINK"));
        assert_eq!(first_owner_link(&service).await, None, "there is an owner");
    }

    async fn a_failed_use_leaves_the_link_valid(database: &TestDatabase) {
        let mut fixture = Fixture::new(database).await;
        let body = json!({"email": "agent@example.com", "role": "agent"});
        let link =
            fixture.owner.post("/invitations", body).await.ok()["link"].as_str().expect("a link").to_owned();
        let mut browser = Browser::new(&fixture.service);
        for account in [
            json!({"name": "Agent", "password": "short"}),
            json!({"name": "Agent", "password": "agent@example.com"}),
            json!({"name": "", "password": PASSWORD}),
            json!({"name": "a\nb", "password": PASSWORD}),
            json!({"password": PASSWORD}),
            json!({"name": "Agent", "email": "other@example.com", "password": PASSWORD}),
            json!({"name": "Agent", "role": "owner", "password": PASSWORD}),
        ] {
            assert_eq!(browser.set_up(&link, account.clone()).await.failure().0, 400, "{account}");
        }
        let (_, token) = link.split_once("#setup=").expect("a secret");
        let checked = browser.post("/setup/check", json!({"token": token})).await.ok();
        assert_eq!(
            (&checked["kind"], &checked["email"]),
            (&json!("invitation"), &json!("agent@example.com"))
        );
        let account = browser.set_up(&link, json!({"name": "Agent"})).await.ok();
        assert_eq!(account["operator"]["role"], "agent");
        assert_eq!(browser.set_up(&link, json!({"name": "Agent"})).await.failure(), (401, "INVALID_LINK"));
        assert_eq!(
            browser.post("/setup/check", json!({"token": token})).await.failure(),
            (401, "INVALID_LINK")
        );
    }

    async fn a_stranger_gets_three_invitations_a_day_and_a_tenant_sends_thirty_an_hour(database: &TestDatabase) {
        let mut fixture = Fixture::with_smtp(database).await;
        for (number, expected) in [200, 200, 200, 429, 429].into_iter().enumerate() {
            let body = json!({"email": "stranger@example.net", "role": "agent"});
            let answer = fixture.owner.post("/invitations", body).await;
            assert_eq!(answer.status.as_u16(), expected, "{number}");
        }
        for number in 3..60 {
            let body = json!({"email": format!("stranger{number}@example.net"), "role": "agent"});
            let answer = fixture.owner.post("/invitations", body).await;
            assert_eq!(answer.status.as_u16(), if number < 30 { 200 } else { 429 }, "{number}");
        }
        assert_eq!(fixture.mails().await.len(), 30);
        assert_eq!(fixture.count("SELECT count(*) FROM invitations WHERE email IS NOT NULL", vec![]).await, 30);
    }

    async fn an_invitation_quotes_who_sends_it(database: &TestDatabase) {
        let mut fixture = Fixture::with_smtp(database).await;
        let name = "Your parcel waits: https://evil.example/pay\u{202e}";
        let path = format!("/operators/{}", fixture.owner_id);
        fixture.owner.patch(&path, json!({"name": name})).await.ok();
        let body = json!({"email": "stranger@example.net", "role": "agent"});
        fixture.owner.post("/invitations", body).await.ok();
        let mails = fixture.mails().await;
        let (_, text) = mails.last().expect("an e-mail");
        let quoted = "“Your parcel waits https evil. example pay” (owner@example.com) invites you";
        assert!(text.starts_with(quoted), "{text}");
    }

    async fn links_expire(database: &TestDatabase) {
        let mut fixture = Fixture::new(database).await;
        let body = json!({"email": "agent@example.com", "role": "agent"});
        let link =
            fixture.owner.post("/invitations", body).await.ok()["link"].as_str().expect("a link").to_owned();
        let left = fixture
            .count("SELECT expires_ms - created_ms FROM invitations WHERE used_ms IS NULL", vec![])
            .await;
        assert_eq!(left, 7 * 24 * 3_600_000);
        fixture.execute("UPDATE invitations SET expires_ms = expires_ms - $1", args![left]).await;
        let mut browser = Browser::new(&fixture.service);
        assert_eq!(browser.set_up(&link, json!({"name": "Agent"})).await.failure(), (401, "INVALID_LINK"));
        assert_eq!(fixture.owner.get("/invitations").await.ok()["invitations"], json!([]));
    }

    async fn a_revoked_invitation_and_those_of_a_removed_admin_are_of_no_use(database: &TestDatabase) {
        let mut fixture = Fixture::new(database).await;
        let (mut admin, admin_id) = fixture.invite("admin@example.com", Role::Admin).await;
        let mut links = Vec::new();
        for (browser, email) in [(&mut fixture.owner, "a@example.com"), (&mut admin, "b@example.com")] {
            let invited = browser.post("/invitations", json!({"email": email, "role": "agent"})).await.ok();
            links.push((invited["link"].as_str().expect("a link").to_owned(), invited["id"].clone()));
        }
        let path = format!("/invitations/{}", links[0].1.as_str().expect("an id"));
        fixture.owner.delete(&path).await.ok();
        assert_eq!(fixture.owner.delete(&path).await.failure().0, 404);
        fixture.owner.delete(&format!("/operators/{admin_id}")).await.ok();
        for (link, _) in links {
            let answer = Browser::new(&fixture.service).set_up(&link, json!({"name": "Agent"})).await;
            assert_eq!(answer.failure(), (401, "INVALID_LINK"));
        }
    }

    async fn a_link_for_a_new_password_replaces_it_and_the_other_links(database: &TestDatabase) {
        let mut fixture = Fixture::new(database).await;
        let (mut agent, id) = fixture.invite("agent@example.com", Role::Agent).await;
        let path = format!("/operators/{id}/password-link");
        let mut links = Vec::new();
        for _ in 0..2 {
            links.push(
                fixture.owner.post(&path, json!({})).await.ok()["link"].as_str().expect("a link").to_owned(),
            );
        }
        let mut browser = Browser::at(&fixture.service, "198.51.100.1");
        let reset = browser.set_up(&links[1], json!({"password": "yet another phrase"})).await.ok();
        assert_eq!((&reset["signedIn"], &reset["operator"]["role"]), (&json!(true), &json!("agent")));
        assert!(!agent.is_signed_in().await && browser.is_signed_in().await);
        assert_eq!(browser.set_up(&links[0], json!({})).await.failure(), (401, "INVALID_LINK"));
        assert_eq!(agent.sign_in("agent@example.com", PASSWORD).await.status, 401);
        agent.sign_in("agent@example.com", "yet another phrase").await.ok();
        let link =
            fixture.owner.post(&path, json!({})).await.ok()["link"].as_str().expect("a link").to_owned();
        fixture.owner.patch(&format!("/operators/{id}"), json!({"disabled": true})).await.ok();
        assert_eq!(browser.set_up(&link, json!({})).await.failure(), (401, "INVALID_LINK"), "disabled");
        assert_eq!(fixture.owner.post(&path, json!({})).await.failure().0, 409);
    }

    async fn the_command_helps_those_who_are_locked_out(database: &TestDatabase) {
        let mut fixture = Fixture::new(database).await;
        let link =
            reset_operator_password(&fixture.service, "Owner@example.com", None, true).await.expect("a link");
        let mut browser = Browser::new(&fixture.service);
        browser.set_up(&link.url, json!({"password": "yet another phrase"})).await.ok();
        let second = owner_link(&fixture.service, &fixture.tenant_id).await.expect("a link");
        browser.set_up(&second.url, json!({"name": "Second", "email": "second@example.com"})).await.ok();
        set_operator_disabled(&fixture.service, "owner@example.com", None, true).await.expect("disabled");
        assert!(!fixture.owner.is_signed_in().await);
        let last = set_operator_disabled(&fixture.service, "second@example.com", None, true).await;
        assert!(last.is_err(), "the last owner");
        assert!(owner_link(&fixture.service, "tenant_0").await.is_err());
        assert!(reset_operator_password(&fixture.service, "nobody@example.com", None, false).await.is_err());
        let log = browser.get("/audit").await.ok();
        let by_command: Vec<&str> = log["entries"]
            .as_array()
            .expect("a list")
            .iter()
            .filter(|entry| entry["actorId"] == "command")
            .map(|entry| entry["action"].as_str().expect("text"))
            .collect();
        assert_eq!(by_command, ["operator.update", "owner.link", "password.link", "totp.remove"]);
    }
}
