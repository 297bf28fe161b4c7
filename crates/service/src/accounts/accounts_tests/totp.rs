//! The second factor: enrolment, replays and recovery.

use chat_test_servers::at_once;
use serde_json::{Value, json};

use super::browser::{Answer, Browser, Fixture, PASSWORD};
use crate::accounts::totp::TotpSecret;
use crate::databases::{Kind, TestDatabase, on_both_databases};
use crate::db::args;

const STEP_MS: i64 = 30_000;

/// Enables the owner's second factor. Returns its secret and the recovery codes.
async fn enable(fixture: &mut Fixture) -> (TotpSecret, Vec<String>) {
    let begun = fixture.owner.post("/totp", json!({"password": PASSWORD})).await.ok();
    let enrolment = begun["enrolment"].as_str().expect("text");
    let now = fixture.service.now_ms();
    let key = &fixture.service.0.options.key;
    let account_id = fixture.account_of(&fixture.owner_id).await;
    let secret = TotpSecret::from_enrolment(key, &account_id, enrolment, now).expect("valid");
    assert_eq!(begun["secret"].as_str(), Some(secret.base32().as_str()));
    // The step before the current one, so that the current one is left for the test.
    let code = secret.code_at(now - STEP_MS);
    let body = json!({"enrolment": enrolment, "code": code});
    let confirmed = fixture.owner.post("/totp/confirm", body).await.ok();
    let codes: Vec<String> = serde_json::from_value(confirmed["recoveryCodes"].clone()).expect("a list");
    (secret, codes)
}

async fn sign_in(browser: &mut Browser, code: &str) -> Answer {
    let body = json!({"email": "owner@example.com", "password": PASSWORD, "code": code});
    browser.post("/session", body).await
}

/// Forgets the last accepted step, as if so much time had passed.
async fn pass_time(fixture: &Fixture) {
    fixture.execute("UPDATE accounts SET totp_step = totp_step - 10", vec![]).await;
    fixture.wait_out().await;
}

on_both_databases! {
    async fn a_code_is_asked_for_and_accepted_once(database: &TestDatabase) {
        let mut fixture = Fixture::new(database).await;
        let before = fixture.owner.clone();
        let (secret, _) = enable(&mut fixture).await;
        assert!(!before.clone().is_signed_in().await && fixture.owner.is_signed_in().await, "a new session");
        let mut browser = Browser::at(&fixture.service, "198.51.100.1");
        let answer = browser.sign_in("owner@example.com", PASSWORD).await;
        assert_eq!(answer.failure(), (401, "TOTP_REQUIRED"));
        assert!(answer.set_cookies().is_empty());
        let wrong = browser.sign_in("owner@example.com", "a wrong password").await;
        assert_eq!(wrong.failure(), (401, "WRONG_CREDENTIALS"), "the password first");
        let now = fixture.service.now_ms();
        let code = secret.code_at(now);
        assert_eq!(sign_in(&mut browser, &code).await.ok()["operator"]["totp"], true);
        let mut attacker = Browser::at(&fixture.service, "198.51.100.2");
        for replayed in [code.clone(), format!(" {code} "), secret.code_at(now - STEP_MS)] {
            assert_eq!(sign_in(&mut attacker, &replayed).await.failure(), (401, "WRONG_CODE"));
        }
        let next = secret.code_at(now + STEP_MS);
        sign_in(&mut attacker, &next).await.ok();
        assert_eq!(sign_in(&mut browser, &next).await.failure(), (401, "WRONG_CODE"));
    }

    async fn one_code_signs_in_one_of_twenty_at_once(database: &TestDatabase) {
        let mut fixture = Fixture::new(database).await;
        let (secret, codes) = enable(&mut fixture).await;
        for code in [secret.code_at(fixture.service.now_ms()), codes[0].clone()] {
            let attempts = at_once(20, |attempt| {
                // The owner's device, so that all may try.
                let mut browser = fixture.owner.clone();
                browser.address = format!("198.51.100.{attempt}").parse().expect("an address");
                let code = code.clone();
                async move { sign_in(&mut browser, &code).await.status.as_u16() }
            });
            let statuses = attempts.await;
            assert!(statuses.iter().all(|status| [200, 401, 429].contains(status)), "{statuses:?}");
            assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1);
            fixture.wait_out().await;
            fixture.execute("DELETE FROM rate_counters", vec![]).await;
        }
    }

    async fn codes_cannot_be_guessed_by_asking_for_the_form_in_between(database: &TestDatabase) {
        let mut fixture = Fixture::new(database).await;
        enable(&mut fixture).await;
        let mut statuses = Vec::new();
        for attempt in 0..8 {
            let mut browser = Browser::at(&fixture.service, &format!("198.51.100.{attempt}"));
            let form = browser.sign_in("owner@example.com", PASSWORD).await.failure().0;
            statuses.push((form, sign_in(&mut browser, "000000x").await.failure().0));
        }
        assert_eq!(statuses[..5], [(401, 401); 5]);
        assert_eq!(statuses[5].1, 429, "{statuses:?}");
    }

    async fn a_recovery_code_is_accepted_once_however_it_is_typed(database: &TestDatabase) {
        let mut fixture = Fixture::new(database).await;
        let (_, codes) = enable(&mut fixture).await;
        assert_eq!(codes.len(), 10);
        let mut browser = Browser::at(&fixture.service, "198.51.100.1");
        let typed = codes[3].to_uppercase().replace('-', " ");
        sign_in(&mut browser, &typed).await.ok();
        assert_eq!(sign_in(&mut browser, &codes[3]).await.failure(), (401, "WRONG_CODE"));
        sign_in(&mut browser, &codes[4]).await.ok();
        let renewed = browser.post("/totp/recovery-codes", json!({"password": PASSWORD})).await.ok();
        assert_eq!(sign_in(&mut browser, &codes[5]).await.failure(), (401, "WRONG_CODE"), "replaced");
        let new: Vec<String> = serde_json::from_value(renewed["recoveryCodes"].clone()).expect("a list");
        sign_in(&mut browser, &new[9]).await.ok();
        let stored = "SELECT count(*) FROM accounts WHERE recovery_codes LIKE '%' || $1 || '%'";
        assert_eq!(fixture.count(stored, args![&new[0]]).await, 0, "stored as hashes");
    }

    async fn disabling_needs_the_password_and_enabling_a_code(database: &TestDatabase) {
        let mut fixture = Fixture::new(database).await;
        assert_eq!(
            fixture.owner.post("/totp", json!({"password": "x"})).await.failure(),
            (401, "WRONG_PASSWORD")
        );
        let begun = fixture.owner.post("/totp", json!({"password": PASSWORD})).await.ok();
        let wrong = json!({"enrolment": begun["enrolment"], "code": "000000"});
        let other = json!({"enrolment": "x".repeat(100), "code": "000000"});
        assert_eq!(fixture.owner.post("/totp/confirm", wrong).await.failure(), (401, "WRONG_CODE"));
        assert_eq!(fixture.owner.post("/totp/confirm", other).await.failure(), (400, "INVALID_REQUEST"));
        assert_eq!(fixture.owner.get("/session").await.ok()["operator"]["totp"], false);
        enable(&mut fixture).await;
        let again = fixture.owner.post("/totp", json!({"password": PASSWORD})).await;
        assert_eq!(again.failure(), (409, "RESOURCE_CONFLICT"));
        assert_eq!(fixture.owner.post("/totp/disable", json!({})).await.failure().0, 400);
        assert_eq!(fixture.owner.post("/totp/disable", json!({"password": "x"})).await.failure().0, 401);
        let before = fixture.owner.session();
        fixture.owner.post("/totp/disable", json!({"password": PASSWORD})).await.ok();
        assert_ne!(fixture.owner.session(), before);
        let mut browser = Browser::at(&fixture.service, "198.51.100.1");
        assert_eq!(browser.sign_in("owner@example.com", PASSWORD).await.ok()["operator"]["totp"], false);
    }

    /// Somebody who reads the owner's e-mails must not get around the second factor.
    async fn a_new_password_does_not_replace_the_second_factor(database: &TestDatabase) {
        let mut fixture = Fixture::new(database).await;
        let (secret, _) = enable(&mut fixture).await;
        let path = format!("/operators/{}/password-link", fixture.owner_id);
        let link =
            fixture.owner.post(&path, json!({})).await.ok()["link"].as_str().expect("a link").to_owned();
        let mut attacker = Browser::at(&fixture.service, "198.51.100.1");
        let reset = attacker.set_up(&link, json!({"password": PASSWORD})).await.ok();
        assert_eq!(reset["signedIn"], Value::Bool(false));
        assert_eq!(reset["workspaces"], json!([]), "the second factor first");
        assert!(attacker.session().is_none());
        assert_eq!(attacker.sign_in("owner@example.com", PASSWORD).await.failure(), (401, "TOTP_REQUIRED"));
        pass_time(&fixture).await;
        let mut owner = fixture.owner.clone();
        sign_in(&mut owner, &secret.code_at(fixture.service.now_ms())).await.ok();
    }

    async fn a_second_factor_that_is_enabled_during_a_sign_in_is_not_passed_by(database: &TestDatabase) {
        let mut fixture = Fixture::new(database).await;
        let begun = fixture.owner.post("/totp", json!({"password": PASSWORD})).await.ok();
        let enrolment = begun["enrolment"].as_str().expect("text");
        let account_id = fixture.account_of(&fixture.owner_id).await;
        let (now, key) = (fixture.service.now_ms(), &fixture.service.0.options.key);
        let secret = TotpSecret::from_enrolment(key, &account_id, enrolment, now).expect("valid");
        let stalled = fixture.service.0.accounts.hasher.stall().await;
        let mut attacker = Browser::at(&fixture.service, "198.51.100.1");
        let signing_in = tokio::spawn(async move { attacker.sign_in("owner@example.com", PASSWORD).await });
        // The attempt is counted after the account was read, and before the password is hashed.
        let counted = "SELECT count(*) FROM rate_counters WHERE key LIKE 'sign in on %'";
        while fixture.count(counted, vec![]).await == 0 {
            tokio::task::yield_now().await;
        }
        let body = json!({"enrolment": enrolment, "code": secret.code_at(now)});
        fixture.owner.post("/totp/confirm", body).await.ok();
        drop(stalled);
        let answer = signing_in.await.expect("no panic");
        assert_eq!(answer.failure(), (401, "WRONG_CREDENTIALS"));
        assert!(answer.set_cookies().is_empty());
    }

    async fn the_secret_is_stored_encrypted_for_its_operator(database: &TestDatabase) {
        let mut fixture = Fixture::new(database).await;
        let (secret, _) = enable(&mut fixture).await;
        let row = fixture.service.db().one("SELECT totp_secret FROM accounts", vec![]).await.expect("a row");
        let sealed = row.bytes(0).expect("bytes");
        let readable = String::from_utf8_lossy(&sealed).into_owned();
        assert!(!readable.contains(&secret.base32()));
        // A secret that is copied to another operator is refused, and nobody signs in without the code.
        fixture.execute("UPDATE accounts SET totp_secret = $1", args![vec![7_u8; 60]]).await;
        let mut browser = Browser::at(&fixture.service, "198.51.100.1");
        assert_eq!(browser.sign_in("owner@example.com", PASSWORD).await.failure().0, 500);
        assert!(browser.session().is_none());
    }
}
