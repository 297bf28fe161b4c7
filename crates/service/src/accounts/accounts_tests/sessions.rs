//! Sessions: fixation, expiry, rotation and revocation.

use chat_test_servers::at_once;
use serde_json::json;

use super::browser::{Browser, Fixture, PASSWORD, open};
use crate::accounts::totp::TotpSecret;
use crate::accounts::{Role, first_owner_link};
use crate::databases::{Kind, TestDatabase, on_both_databases};
use crate::db::args;

const HOUR_MS: i64 = 3_600_000;

on_both_databases! {
    /// An attacker plants a session's cookie in the browser of an operator, who then signs in.
    async fn signing_in_gives_a_new_session_whatever_cookie_there_was(database: &TestDatabase) {
        let mut fixture = Fixture::new(database).await;
        let (mut attacker, _) = fixture.invite("eve@example.com", Role::Agent).await;
        let planted = attacker.session().expect("a session");
        for planted in [planted, "A".repeat(43)] {
            let mut victim = Browser::new(&fixture.service);
            victim.cookies.insert("__Host-session".to_owned(), planted.clone());
            victim.sign_in("owner@example.com", PASSWORD).await.ok();
            assert_ne!(victim.session(), Some(planted.clone()));
            let who = victim.get("/session").await.ok();
            assert_eq!(who["operator"]["email"], "owner@example.com");
            attacker.cookies.insert("__Host-session".to_owned(), planted);
            assert!(!attacker.is_signed_in().await, "the planted session is not the operator's");
        }
    }

    async fn a_changed_password_ends_all_other_sessions_and_renews_the_own(database: &TestDatabase) {
        let mut fixture = Fixture::new(database).await;
        let mut other = Browser::at(&fixture.service, "192.0.2.2");
        other.sign_in("owner@example.com", PASSWORD).await.ok();
        let path = format!("/operators/{}/password-link", fixture.owner_id);
        let asked = fixture.owner.post(&path, json!({})).await.ok();
        let before = fixture.owner.clone();
        let body = json!({"currentPassword": PASSWORD, "newPassword": "another long phrase"});
        fixture.owner.post("/password", body.clone()).await.ok();
        assert_ne!(fixture.owner.session(), before.session());
        assert!(fixture.owner.is_signed_in().await);
        for mut browser in [other.clone(), before] {
            assert!(!browser.is_signed_in().await);
        }
        assert_eq!(other.sign_in("owner@example.com", PASSWORD).await.failure(), (401, "WRONG_CREDENTIALS"));
        assert_eq!(fixture.owner.post("/password", body).await.failure(), (401, "WRONG_PASSWORD"));
        let link = asked["link"].as_str().expect("a link");
        let answer = other.set_up(link, json!({})).await;
        assert_eq!(answer.failure(), (401, "INVALID_LINK"), "links for a new password end as well");
        other.sign_in("owner@example.com", "another long phrase").await.ok();
    }

    async fn a_changed_role_ends_the_sessions_that_had_it(database: &TestDatabase) {
        let mut fixture = Fixture::new(database).await;
        let (mut admin, id) = fixture.invite("admin@example.com", Role::Admin).await;
        let path = format!("/operators/{id}");
        fixture.owner.patch(&path, json!({"name": "Another name"})).await.ok();
        assert!(admin.is_signed_in().await, "a name gives no rights");
        fixture.owner.patch(&path, json!({"role": "agent"})).await.ok();
        assert!(!admin.is_signed_in().await);
        admin.sign_in("admin@example.com", PASSWORD).await.ok();
        assert_eq!(admin.get("/audit").await.failure(), (403, "FORBIDDEN"));
    }

    async fn the_cookie_of_a_disabled_operator_is_of_no_use(database: &TestDatabase) {
        let mut fixture = Fixture::new(database).await;
        let (mut agent, id) = fixture.invite("agent@example.com", Role::Agent).await;
        let path = format!("/operators/{id}");
        fixture.owner.patch(&path, json!({"disabled": true})).await.ok();
        assert!(!agent.is_signed_in().await);
        assert_eq!(agent.sign_in("agent@example.com", PASSWORD).await.failure(), (401, "WRONG_CREDENTIALS"));
        // A session that was stored all the same, as by a request in flight, is refused as well.
        let secret = "B".repeat(43);
        let hash = crate::fingerprint::fingerprint(&[secret.as_bytes()]);
        let now = fixture.service.now_ms();
        let sql = "INSERT INTO operator_sessions (id, hash, operator_id, created_ms, seen_ms, rotated_ms,
                   expires_ms, address, user_agent) VALUES ('s', $1, $2, $3, $3, $3, $4, '', '')";
        fixture.execute(sql, args![hash, &id, now, now + HOUR_MS]).await;
        agent.cookies.insert("__Host-session".to_owned(), secret);
        assert!(!agent.is_signed_in().await);
        fixture.execute("UPDATE operators SET disabled_ms = NULL", vec![]).await;
        assert!(agent.is_signed_in().await, "the test's session is a valid one");
        fixture.execute("UPDATE tenants SET disabled_ms = 1", vec![]).await;
        assert!(!agent.is_signed_in().await, "nobody of a disabled tenant is signed in");
        assert!(!fixture.owner.is_signed_in().await);
        let refused = fixture.owner.sign_in("owner@example.com", PASSWORD).await;
        assert_eq!(refused.failure(), (401, "WRONG_CREDENTIALS"));
    }

    async fn a_session_ends_unused_after_hours_and_used_after_weeks(database: &TestDatabase) {
        let mut fixture = Fixture::new(database).await;
        assert!(fixture.owner.is_signed_in().await);
        fixture.execute("UPDATE operator_sessions SET seen_ms = seen_ms - $1", args![11 * HOUR_MS]).await;
        assert!(fixture.owner.is_signed_in().await, "after eleven hours");
        fixture.execute("UPDATE operator_sessions SET seen_ms = seen_ms - $1", args![11 * HOUR_MS]).await;
        assert!(fixture.owner.is_signed_in().await, "used in between");
        fixture.execute("UPDATE operator_sessions SET seen_ms = seen_ms - $1", args![12 * HOUR_MS + 1]).await;
        assert!(!fixture.owner.is_signed_in().await, "unused for twelve hours");
        fixture.owner.sign_in("owner@example.com", PASSWORD).await.ok();
        let weeks = args![30 * 24 * HOUR_MS + 1];
        fixture.execute("UPDATE operator_sessions SET expires_ms = expires_ms - $1", weeks).await;
        assert!(!fixture.owner.is_signed_in().await, "thirty days after its begin");
    }

    /// Requests in flight with the old secret succeed for a while; a stolen copy of it is of no use later.
    async fn a_secret_that_was_used_for_a_day_is_replaced(database: &TestDatabase) {
        let mut fixture = Fixture::new(database).await;
        let old = fixture.owner.clone();
        fixture
            .execute("UPDATE operator_sessions SET rotated_ms = rotated_ms - $1", args![24 * HOUR_MS])
            .await;
        let answers = at_once(10, |_| {
            let mut browser = old.clone();
            async move { browser.get("/session").await }
        });
        let mut replaced = Vec::new();
        for answer in answers.await {
            assert_eq!(answer.status, 200);
            replaced.extend(answer.set_cookies().iter().map(|cookie| (*cookie).to_owned()));
        }
        assert_eq!(replaced.len(), 1, "one of several requests replaces it: {replaced:?}");
        let (_, rest) = replaced[0].split_once('=').expect("a pair");
        let secret = rest.split(';').next().expect("a value").to_owned();
        fixture.owner.cookies.insert("__Host-session".to_owned(), secret);
        assert!(fixture.owner.is_signed_in().await && old.clone().is_signed_in().await);
        assert_eq!(fixture.count("SELECT count(*) FROM operator_sessions", vec![]).await, 1);
        fixture.execute("UPDATE operator_sessions SET rotated_ms = rotated_ms - 60001", vec![]).await;
        assert!(fixture.owner.is_signed_in().await);
        assert!(!old.clone().is_signed_in().await, "the old secret");
        let mut signed_out = old;
        fixture.owner.delete("/session").await.ok();
        assert!(!fixture.owner.is_signed_in().await && !signed_out.is_signed_in().await);
    }

    async fn operators_list_and_end_their_sessions(database: &TestDatabase) {
        let mut fixture = Fixture::new(database).await;
        let mut phone = Browser::at(&fixture.service, "2001:db8::1");
        phone.sign_in("owner@example.com", PASSWORD).await.ok();
        let listed = fixture.owner.get("/sessions").await.ok();
        let sessions = listed["sessions"].as_array().expect("a list").clone();
        assert_eq!(sessions.len(), 2);
        let of_phone = sessions.iter().find(|session| session["current"] == false).expect("another");
        assert_eq!(of_phone["address"], "2001:db8::1");
        let path = format!("/sessions/{}", of_phone["id"].as_str().expect("an id"));
        fixture.owner.delete(&path).await.ok();
        assert!(!phone.is_signed_in().await && fixture.owner.is_signed_in().await);
        assert_eq!(fixture.owner.delete(&path).await.failure(), (404, "NOT_FOUND"));
        for _ in 0..3 {
            phone.cookies.clear();
            phone.sign_in("owner@example.com", PASSWORD).await.ok();
        }
        assert_eq!(fixture.owner.delete("/sessions").await.ok()["ended"], 3);
        assert!(!phone.is_signed_in().await && fixture.owner.is_signed_in().await);
    }

    /// A body that arrives late must not undo what has ended the session.
    async fn a_request_whose_session_has_ended_meanwhile_changes_nothing(database: &TestDatabase) {
        let mut fixture = Fixture::new(database).await;
        let (mut agent, agent_id) = fixture.invite("agent@example.com", Role::Agent).await;
        let mut phone = Browser::at(&fixture.service, "192.0.2.2");
        phone.sign_in("owner@example.com", PASSWORD).await.ok();
        let session_of = async |browser: &mut Browser| {
            let listed = browser.get("/sessions").await.ok();
            let sessions = listed["sessions"].as_array().expect("a list");
            let current = sessions.iter().find(|session| session["current"] == true).expect("the own one");
            current["id"].as_str().expect("an id").to_owned()
        };
        let invited = json!({"email": "mara@example.com", "role": "agent"});
        let invitation = fixture.owner.post("/invitations", invited).await.ok();
        let invitation = invitation["id"].as_str().expect("an id").to_owned();
        let (of_phone, of_agent) = (session_of(&mut phone).await, session_of(&mut agent).await);
        let begun = fixture.owner.post("/totp", json!({"password": PASSWORD})).await.ok();
        let enrolment = begun["enrolment"].as_str().expect("text");
        let account_id = fixture.account_of(&fixture.owner_id).await;
        let (now, key) = (fixture.service.now_ms(), &fixture.service.0.options.key);
        let secret = TotpSecret::from_enrolment(key, &account_id, enrolment, now).expect("valid");
        let confirmation = json!({"enrolment": enrolment, "code": secret.code_at(now)});
        for (method, path, body) in [
            ("POST", "/totp/confirm".to_owned(), confirmation),
            ("POST", "/invitations".to_owned(), json!({"email": "eve@example.com", "role": "owner"})),
            ("PATCH", format!("/operators/{agent_id}"), json!({"role": "owner"})),
            ("DELETE", format!("/invitations/{invitation}"), json!({})),
            ("POST", format!("/operators/{agent_id}/password-link"), json!({})),
            ("POST", format!("/operators/{agent_id}/totp/remove"), json!({"password": PASSWORD})),
            ("DELETE", format!("/operators/{agent_id}"), json!({})),
            ("DELETE", "/sessions".to_owned(), json!({})),
            ("DELETE", format!("/sessions/{of_phone}"), json!({})),
            ("DELETE", format!("/operators/{agent_id}/sessions/{of_agent}"), json!({})),
        ] {
            fixture.owner.sign_in("owner@example.com", PASSWORD).await.ok();
            let mut interrupted = fixture.owner.interrupted(&fixture.service);
            let answer = interrupted.call(method, &path, Some(body)).await;
            assert_eq!(answer.failure(), (401, "SIGNED_OUT"), "{method} {path}");
        }
        assert!(phone.is_signed_in().await && agent.is_signed_in().await);
        assert_eq!(phone.get("/session").await.ok()["operator"]["totp"], false);
        assert_eq!(agent.get("/session").await.ok()["operator"]["role"], "agent");
        let sql = "SELECT count(*) FROM invitations WHERE email = 'eve@example.com' OR operator_id IS NOT NULL";
        assert_eq!(fixture.count(sql, vec![]).await, 0, "neither an invitation nor a link for a new password");
        let sql = "SELECT count(*) FROM invitations WHERE id = $1 AND used_ms IS NULL";
        assert_eq!(fixture.count(sql, args![&invitation]).await, 1, "not revoked");
    }

    async fn signing_out_ends_the_session_and_removes_the_cookie(database: &TestDatabase) {
        let mut fixture = Fixture::new(database).await;
        let mut copy = fixture.owner.clone();
        let answer = fixture.owner.delete("/session").await;
        assert!(answer.set_cookies()[0].starts_with("__Host-session=; Path=/; Max-Age=0"), "{answer:?}");
        assert!(!copy.is_signed_in().await);
        copy.delete("/session").await.ok();
    }

    async fn cookies_suit_the_way_in_which_the_browser_came(database: &TestDatabase) {
        let service = open(database, None).await;
        let link = first_owner_link(&service).await.expect("a link");
        assert!(link.starts_with("/console/#setup="), "{link}");
        let mut local = Browser::new(&service);
        (local.host, local.https) = ("localhost:8090".to_owned(), false);
        let account = json!({"name": "Owner", "email": "owner@example.com"});
        let mut plain = local.clone();
        plain.host = "192.168.1.7:8090".to_owned();
        let refused = plain.set_up(&link, account.clone()).await;
        assert_eq!(refused.failure(), (403, "FORBIDDEN"), "no password over a network without TLS");
        local.set_up(&link, account).await.ok();
        assert!(local.cookies.contains_key("session") && !local.cookies.contains_key("__Host-session"));
        assert!(local.is_signed_in().await);
        assert_eq!(plain.sign_in("owner@example.com", PASSWORD).await.failure(), (403, "FORBIDDEN"));
        plain.cookies.clone_from(&local.cookies);
        assert!(!plain.is_signed_in().await, "nor a cookie");
        let mut behind_tls = plain.clone();
        behind_tls.https = true;
        let answer = behind_tls.sign_in("owner@example.com", PASSWORD).await;
        let session = answer.set_cookies().into_iter().find(|cookie| cookie.starts_with("__Host-session="));
        let session = session.expect("a session's cookie");
        assert!(
            session.ends_with("; Path=/; Max-Age=2592000; HttpOnly; SameSite=Strict; Secure"),
            "{session}"
        );
        assert!(behind_tls.is_signed_in().await);
    }
}
