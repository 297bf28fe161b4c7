//! Accounts for addresses of others: they block nobody, tell nothing, and buy no guesses.

use std::time::Instant;

use chat_test_servers::at_once;
use serde_json::{Value, json};

use super::browser::{Answer, Browser, Fixture, OTHER, PASSWORD};
use crate::accounts::{Role, confirm_operator, reset_operator_password, set_operator_disabled};
use crate::databases::{Kind, TestDatabase, on_both_databases};
use crate::db::args;

const OWN: &str = "the phrase of the mailbox";

/// Returns an answer without the ids, the times and the address that each has for itself.
fn without_ids(answer: &Answer, email: &str) -> String {
    let mut body = answer.json.clone();
    body["requestId"] = Value::Null;
    for member in ["id", "link", "expiresAt"] {
        if body["data"].get(member).is_some() {
            body["data"][member] = Value::Null;
        }
    }
    format!("{} {}", answer.status, body.to_string().replace(email, "…"))
}

/// Lets the delays after failures last, however slow this machine is.
async fn keep_delays(fixture: &Fixture) {
    let sql = "UPDATE rate_counters SET window_ends_ms = window_ends_ms + $1 WHERE key LIKE '%waits'";
    fixture.execute(sql, args![3_600_000]).await;
}

/// Counts the guesses at the account of the other tenant that are checked, with a success of the attacker's
/// account of the same address in between.
async fn guesses(fixture: &Fixture, own: Option<&str>, reuse_device: bool) -> i64 {
    let mut attacker = Browser::at(&fixture.service, "203.0.113.1");
    for attempt in 0..40 {
        if attempt % 3 == 0
            && let Some(password) = own
        {
            let mut browser = attacker.clone();
            browser.address = format!("203.0.113.{}", attempt + 2).parse().expect("an address");
            if browser.sign_in("victim@example.com", password).await.status == 200 && reuse_device {
                attacker.cookies = browser.cookies;
            }
        }
        attacker.address = format!("198.51.100.{}", attempt + 2).parse().expect("an address");
        let answer = attacker.sign_in("victim@example.com", &format!("a wrong password {attempt}")).await;
        assert_ne!(answer.status, 200);
    }
    fixture.settle().await;
    // One hash is compared with those of all accounts, so that hashes do not tell which ones were checked.
    // The log of a tenant has each guess that was checked with its account.
    let sql = "SELECT count(*) FROM audit WHERE tenant_id = $1 AND action = 'operator.login_failed'";
    fixture.count(sql, args![OTHER]).await
}

/// Invites addresses with and without accounts, and compares everything that the admin sees.
async fn answers_the_same(mut fixture: Fixture, mailed: bool) {
    let mut eve = fixture.other_owner().await;
    fixture.squat(&fixture.tenant_id, "unconfirmed@example.com", PASSWORD).await;
    fixture.invite("invited@example.com", Role::Agent).await;
    let mut answers = Vec::new();
    for email in ["nobody@example.com", "owner@example.com", "unconfirmed@example.com", "invited@example.com"]
    {
        let before = fixture.hashes();
        let answer = eve.post("/invitations", json!({"email": email, "role": "agent"})).await;
        assert_eq!((answer.status.as_u16(), fixture.hashes()), (200, before));
        let mut seen = vec![without_ids(&answer, email)];
        if let Some(link) = answer.json["data"]["link"].as_str() {
            // The admin uses the link instead of the person.
            seen.push(without_ids(&eve.check_link(link).await, email));
            let account = json!({"name": "Anybody", "password": OWN});
            let made = Browser::at(&fixture.service, "203.0.113.9").set_up(link, account).await;
            assert_eq!(made.ok()["operator"]["confirmed"], false);
        }
        answers.push(seen);
    }
    assert!(answers.iter().all(|seen| *seen == answers[0]), "{answers:?}");
    assert_eq!(answers[0].len(), if mailed { 1 } else { 2 });
    let listed = eve.get("/invitations").await.ok()["invitations"].as_array().map(Vec::len);
    assert_eq!(listed, Some(if mailed { 4 } else { 0 }));
    fixture.execute("DELETE FROM tenants", vec![]).await;
    assert_eq!(
        fixture.count("SELECT count(*) FROM accounts", vec![]).await,
        0,
        "they end with their tenants"
    );
}

/// Guesses the password of a confirmed account. `own` is the password of the attacker's account of the same
/// address.
async fn guesses_are_few(database: &TestDatabase, own: Option<&str>, reuse_device: bool) {
    let fixture = Fixture::with_smtp(database).await;
    let mut eve = fixture.other_owner().await;
    let link = fixture.mailed_invitation(&mut eve, "victim@example.com").await;
    Browser::new(&fixture.service).set_up(&link, json!({"name": "V", "password": OWN})).await.ok();
    if own.is_some() {
        fixture.squat(&fixture.tenant_id, "victim@example.com", PASSWORD).await;
    }
    let begun = Instant::now();
    let checked = guesses(&fixture, own, reuse_device).await;
    // Five are free. The first delay is a second, and each further one is twice as long.
    let more = i64::from((begun.elapsed().as_secs() + 1).ilog2());
    assert!((5..=5 + more).contains(&checked), "{checked}, {more} of them after a delay at most");
    // Whatever the attacker did, the right password of the other account is not checked either.
    keep_delays(&fixture).await;
    let mut attacker = Browser::at(&fixture.service, "203.0.113.200");
    assert_eq!(attacker.sign_in("victim@example.com", OWN).await.failure().0, 429);
}

on_both_databases! {
    async fn an_account_that_somebody_else_made_keeps_the_address_from_nobody(database: &TestDatabase) {
        let fixture = Fixture::with_smtp(database).await;
        let mut eve = fixture.other_owner().await;
        // An admin uses the link instead of the person, and adds a second factor.
        let mut squatter = fixture.squat(&fixture.tenant_id, "victim@example.com", PASSWORD).await;
        let who = squatter.get("/session").await.ok();
        assert_eq!(who["operator"]["confirmed"], false);
        squatter.enable_totp(&fixture, PASSWORD).await;

        let link = fixture.mailed_invitation(&mut eve, "victim@example.com").await;
        let mut victim = Browser::at(&fixture.service, "203.0.113.9");
        assert_eq!(victim.check_link(&link).await.ok()["hasAccount"], false);
        let account = json!({"name": "Victim", "password": OWN});
        let made = victim.set_up(&link, account).await.ok();
        assert_eq!((&made["signedIn"], &made["operator"]["confirmed"]), (&json!(true), &json!(true)));
        assert_eq!(made["tenant"]["id"], OTHER);
        victim.cookies.clear();
        let who = victim.sign_in("victim@example.com", OWN).await.ok();
        assert_eq!((&who["tenant"]["id"], &who["operator"]["totp"]), (&json!(OTHER), &json!(false)));
        assert_eq!(who["workspaces"].as_array().map(Vec::len), Some(1), "nothing was merged");
        assert!(squatter.is_signed_in().await, "the other account stays as it is");
        let mut again = Browser::at(&fixture.service, "203.0.113.10");
        assert_eq!(again.sign_in("victim@example.com", PASSWORD).await.failure(), (401, "TOTP_REQUIRED"));
        let sql = "SELECT count(*) FROM accounts WHERE address = 'victim@example.com'";
        assert_eq!(fixture.count(sql, vec![]).await, 2);
    }

    async fn an_owner_who_chooses_the_address_of_somebody_else_blocks_nobody(database: &TestDatabase) {
        let mut fixture = Fixture::with_smtp(database).await;
        let mut eve = fixture.other_owner().await;
        let who = eve.get("/session").await.ok();
        assert_eq!(who["operator"]["confirmed"], false, "the link of an owner proves no mailbox");
        let link = fixture.mailed_invitation(&mut fixture.owner.clone(), "eve@example.com").await;
        let mut real = Browser::at(&fixture.service, "203.0.113.9");
        let made = real.set_up(&link, json!({"name": "Eve", "password": OWN})).await.ok();
        assert_eq!(made["operator"]["confirmed"], true);
        assert_eq!(fixture.owner.get("/session").await.ok()["operator"]["confirmed"], true, "that of the host");
        assert_eq!(eve.sign_in("eve@example.com", PASSWORD).await.ok()["tenant"]["id"], OTHER);
    }

    async fn a_shown_invitation_answers_the_same_whether_or_not_there_is_an_account(database: &TestDatabase) {
        answers_the_same(Fixture::new(database).await, false).await;
    }

    async fn a_mailed_invitation_answers_the_same_whether_or_not_there_is_an_account(database: &TestDatabase) {
        answers_the_same(Fixture::with_smtp(database).await, true).await;
    }

    /// Hashes take nearly all of the time of an answer, so that their number stands for it.
    async fn signing_in_takes_one_hash_for_any_number_of_accounts(database: &TestDatabase) {
        let fixture = Fixture::with_smtp(database).await;
        let mut eve = fixture.other_owner().await;
        let link = fixture.mailed_invitation(&mut eve, "victim@example.com").await;
        let mut stranger = Browser::at(&fixture.service, "203.0.113.9");
        let mut hashes = Vec::new();
        for step in 0..3 {
            match step {
                1 => _ = fixture.squat(&fixture.tenant_id, "victim@example.com", PASSWORD).await,
                2 => {
                    let account = json!({"name": "Victim", "password": OWN});
                    Browser::new(&fixture.service).set_up(&link, account).await.ok();
                }
                _ => {}
            }
            let before = fixture.hashes();
            let answer = stranger.sign_in("victim@example.com", "a wrong password").await;
            hashes.push((answer.failure().0, fixture.hashes() - before));
        }
        assert_eq!(hashes, [(401, 1); 3]);
        for (password, tenant) in [(PASSWORD, fixture.tenant_id.as_str()), (OWN, OTHER)] {
            let who = Browser::new(&fixture.service).sign_in("victim@example.com", password).await.ok();
            assert_eq!(who["tenant"]["id"], tenant);
        }
    }

    async fn guesses_at_one_account_are_few(database: &TestDatabase) {
        guesses_are_few(database, None, false).await;
    }

    async fn an_account_of_the_same_address_buys_no_guesses(database: &TestDatabase) {
        guesses_are_few(database, Some(PASSWORD), false).await;
    }

    async fn the_device_of_an_account_of_the_same_address_buys_no_guesses(database: &TestDatabase) {
        guesses_are_few(database, Some(PASSWORD), true).await;
    }

    /// The attacker's own browser is known to the attacker's account, which strangers must not hold up.
    async fn a_device_of_one_account_is_a_stranger_to_the_others(database: &TestDatabase) {
        let fixture = Fixture::with_smtp(database).await;
        let mut eve = fixture.other_owner().await;
        let link = fixture.mailed_invitation(&mut eve, "victim@example.com").await;
        Browser::new(&fixture.service).set_up(&link, json!({"name": "V", "password": OWN})).await.ok();
        let mut attacker = fixture.squat(&fixture.tenant_id, "victim@example.com", PASSWORD).await;
        for _ in 0..6 {
            attacker.sign_in("victim@example.com", "a wrong password").await;
            attacker.sign_in("victim@example.com", PASSWORD).await.ok();
            keep_delays(&fixture).await;
        }
        let known = attacker.sign_in("victim@example.com", OWN).await;
        assert_eq!(known.failure(), (401, "WRONG_CREDENTIALS"), "the right password was not checked");
        let who = attacker.sign_in("victim@example.com", PASSWORD).await.ok();
        assert_eq!(who["tenant"]["id"].as_str(), Some(fixture.tenant_id.as_str()));
    }

    async fn a_forgotten_password_confirms_an_account_without_a_second_factor(database: &TestDatabase) {
        let mut fixture = Fixture::with_smtp(database).await;
        fixture.other_owner().await;
        let mut plain = fixture.squat(&fixture.tenant_id, "plain@example.com", PASSWORD).await;
        let mut guarded = fixture.squat(&fixture.tenant_id, "guarded@example.com", PASSWORD).await;
        guarded.enable_totp(&fixture, PASSWORD).await;
        let mut mailbox = Browser::at(&fixture.service, "203.0.113.9");
        for (email, confirmed, signed_in) in
            [("plain@example.com", true, true), ("guarded@example.com", false, false)]
        {
            mailbox.post("/password/forgot", json!({"email": email})).await.ok();
            fixture.settle().await;
            let link = fixture.mailed_link().await;
            let reset = mailbox.set_up(&link, json!({"password": OWN})).await.ok();
            assert_eq!((&reset["signedIn"], &reset["operator"]["confirmed"]), (&json!(signed_in), &json!(confirmed)));
        }
        assert!(!plain.is_signed_in().await && !guarded.is_signed_in().await, "all sessions have ended");
        let factor = mailbox.sign_in("guarded@example.com", OWN).await;
        assert_eq!(factor.failure(), (401, "TOTP_REQUIRED"), "the second factor is still there");
        // Somebody of the tenant gives the account another password: the mailbox does not decide alone any
        // more.
        let sql = "SELECT id FROM operators WHERE email = 'plain@example.com'";
        let row = fixture.service.db().one(sql, vec![]).await.expect("a row");
        let path = format!("/operators/{}/password-link", row.text(0).expect("an id"));
        let link = fixture.owner.post(&path, json!({})).await.ok()["link"].as_str().expect("a link").to_owned();
        let reset = plain.set_up(&link, json!({"password": PASSWORD})).await.ok();
        assert_eq!(reset["operator"]["confirmed"], false);
    }

    async fn a_forgotten_password_is_that_of_the_confirmed_account(database: &TestDatabase) {
        let fixture = Fixture::with_smtp(database).await;
        let mut eve = fixture.other_owner().await;
        let link = fixture.mailed_invitation(&mut eve, "victim@example.com").await;
        Browser::new(&fixture.service).set_up(&link, json!({"name": "V", "password": OWN})).await.ok();
        let mut squatter = fixture.squat(&fixture.tenant_id, "victim@example.com", PASSWORD).await;
        let mut mailbox = Browser::at(&fixture.service, "203.0.113.9");
        mailbox.post("/password/forgot", json!({"email": "victim@example.com"})).await.ok();
        fixture.settle().await;
        let link = fixture.mailed_link().await;
        let reset = mailbox.set_up(&link, json!({"password": "yet another phrase"})).await.ok();
        assert_eq!((&reset["tenant"]["id"], &reset["signedIn"]), (&json!(OTHER), &json!(true)));
        assert!(squatter.is_signed_in().await, "the other account is another one");
    }

    async fn an_account_that_is_disabled_everywhere_does_not_keep_the_mailbox_out(database: &TestDatabase) {
        let mut fixture = Fixture::with_smtp(database).await;
        let mut eve = fixture.other_owner().await;
        let (_, id) = fixture.invite("victim@example.com", Role::Agent).await;
        let path = format!("/operators/{id}");
        fixture.owner.patch(&path, json!({"disabled": true})).await.ok();
        let link = fixture.mailed_invitation(&mut eve, "victim@example.com").await;
        let mut victim = Browser::at(&fixture.service, "203.0.113.9");
        assert_eq!(victim.check_link(&link).await.ok()["hasAccount"], false);
        let made = victim.set_up(&link, json!({"name": "Victim", "password": OWN})).await.ok();
        assert_eq!((&made["tenant"]["id"], &made["operator"]["confirmed"]), (&json!(OTHER), &json!(true)));
        fixture.owner.patch(&path, json!({"disabled": false})).await.ok();
        let mut earlier = Browser::at(&fixture.service, "203.0.113.10");
        let who = earlier.sign_in("victim@example.com", PASSWORD).await.ok();
        assert_eq!(who["operator"]["confirmed"], false, "still an account of its own");
    }

    async fn of_two_confirmations_at_once_one_wins(database: &TestDatabase) {
        let fixture = Fixture::with_smtp(database).await;
        let mut eve = fixture.other_owner().await;
        for round in 0..3 {
            let email = format!("victim{round}@example.com");
            let links = [
                fixture.mailed_invitation(&mut fixture.owner.clone(), &email).await,
                fixture.mailed_invitation(&mut eve, &email).await,
            ];
            let accepted = at_once(2, |index| {
                let mut browser = Browser::at(&fixture.service, &format!("203.0.113.{index}"));
                let link = links[index].clone();
                async move { browser.set_up(&link, json!({"name": "V", "password": OWN})).await }
            });
            let answers = accepted.await;
            let mut statuses: Vec<u16> = answers.iter().map(|answer| answer.status.as_u16()).collect();
            let refused = answers.iter().position(|answer| answer.status == 409).expect("one is refused");
            statuses.sort_unstable();
            assert_eq!(statuses, [200, 409]);
            assert!(answers[refused].json["error"]["message"].to_string().contains("sign in"));
            // Its link is still there, and joins.
            let mut browser = Browser::at(&fixture.service, "203.0.113.9");
            assert_eq!(browser.check_link(&links[refused]).await.ok()["hasAccount"], true);
            browser.sign_in(&email, OWN).await.ok();
            let joined = browser.join(&links[refused]).await.ok();
            assert_eq!(joined["workspaces"].as_array().map(Vec::len), Some(2));
        }
    }

    async fn the_host_names_the_tenant_where_an_address_has_several_accounts(database: &TestDatabase) {
        let fixture = Fixture::new(database).await;
        fixture.other_owner().await;
        let service = &fixture.service;
        for tenant in [fixture.tenant_id.as_str(), OTHER] {
            fixture.squat(tenant, "both@example.com", PASSWORD).await;
        }
        let reset = reset_operator_password(service, "both@example.com", None, true).await;
        let message = reset.expect_err("ambiguous").to_string();
        assert!(message.contains(OTHER) && message.contains(&fixture.tenant_id), "{message}");
        assert!(set_operator_disabled(service, "both@example.com", None, true).await.is_err());
        reset_operator_password(service, "both@example.com", Some(OTHER), true).await.expect("a link");
        assert!(confirm_operator(service, "both@example.com", None).await.is_err());
        let link = confirm_operator(service, "both@example.com", Some(OTHER)).await.expect("a link");
        let mut both = Browser::at(service, "203.0.113.9");
        let reset = both.set_up(&link.url, json!({"password": OWN})).await.ok();
        assert_eq!((&reset["tenant"]["id"], &reset["operator"]["confirmed"]), (&json!(OTHER), &json!(true)));
        let taken = confirm_operator(service, "both@example.com", Some(&fixture.tenant_id)).await;
        assert!(taken.expect_err("one at most").to_string().contains("is confirmed already"));
        let sql = "SELECT count(*) FROM accounts WHERE address = $1 AND confirmed_ms IS NOT NULL";
        assert_eq!(fixture.count(sql, args!["both@example.com"]).await, 1);
    }
}
