//! One account in several workspaces: joining, switching, and what the admins of each may do.

use chat_test_servers::at_once;
use serde_json::{Value, json};

use super::browser::{Browser, Fixture, OTHER, PASSWORD};
use crate::accounts::Role;
use crate::databases::{Kind, TestDatabase, on_both_databases};
use crate::db::args;

/// An agent of both tenants, who is signed in to the second one, and the owner of that one.
struct Shared {
    fixture: Fixture,
    eve: Browser,
    ada: Browser,
    /// The ids of the operators in the fixture's tenant and in the other one.
    ids: [String; 2],
}

async fn shared(database: &TestDatabase) -> Shared {
    let mut fixture = Fixture::with_smtp(database).await;
    let mut eve = fixture.other_owner().await;
    let (mut ada, first) = fixture.invite("ada@example.com", Role::Admin).await;
    let link = fixture.mailed_invitation(&mut eve, "ada@example.com").await;
    let joined = ada.join(&link).await.ok();
    let second = joined["operator"]["id"].as_str().expect("an id").to_owned();
    assert_eq!((&joined["operator"]["role"], &joined["tenant"]["id"]), (&json!("agent"), &json!(OTHER)));
    Shared { fixture, eve, ada, ids: [first, second] }
}

async fn switch(browser: &mut Browser, operator_id: &str) -> super::browser::Answer {
    browser.post("/session/switch", json!({"operatorId": operator_id})).await
}

on_both_databases! {
    async fn an_account_joins_by_its_own_session_and_never_by_the_link_alone(database: &TestDatabase) {
        let mut fixture = Fixture::with_smtp(database).await;
        let mut eve = fixture.other_owner().await;
        let (mut ada, _) = fixture.invite("ada@example.com", Role::Agent).await;
        let secret = ada.enable_totp(&fixture, PASSWORD).await;
        let link = fixture.mailed_invitation(&mut eve, "ada@example.com").await;
        let mut mailbox = Browser::at(&fixture.service, "203.0.113.9");
        let checked = mailbox.check_link(&link).await.ok();
        assert_eq!((&checked["hasAccount"], &checked["kind"]), (&json!(true), &json!("invitation")));
        // Somebody who reads the e-mails gets neither a password nor a session by it.
        let account = json!({"name": "Ada", "password": "another long phrase"});
        let refused = mailbox.set_up(&link, account).await;
        assert_eq!((refused.failure(), refused.set_cookies().len()), ((409, "RESOURCE_CONFLICT"), 0));
        assert_eq!(mailbox.join(&link).await.failure(), (401, "SIGNED_OUT"));
        assert_eq!(mailbox.sign_in("ada@example.com", PASSWORD).await.failure(), (401, "TOTP_REQUIRED"));
        assert_eq!(mailbox.join(&link).await.failure(), (401, "SIGNED_OUT"));
        assert_eq!(fixture.owner.join(&link).await.failure(), (400, "INVALID_REQUEST"), "another account");

        let code = secret.code_at(fixture.service.now_ms());
        let body = json!({"email": "ada@example.com", "password": PASSWORD, "code": code});
        mailbox.post("/session", body).await.ok();
        let before = mailbox.session();
        let joined = mailbox.join(&link).await.ok();
        assert_eq!((&joined["tenant"]["id"], &joined["operator"]["totp"]), (&json!(OTHER), &json!(true)));
        assert_ne!(mailbox.session(), before, "another session");
        let names: Vec<&Value> =
            joined["workspaces"].as_array().expect("a list").iter().map(|one| &one["tenant"]["name"]).collect();
        assert_eq!(names, ["Main", "Other"]);
        assert_eq!(ada.join(&link).await.failure(), (401, "INVALID_LINK"), "once");
        let log = eve.get("/audit").await.ok().to_string();
        assert!(log.contains("operator.join") && !log.contains(&fixture.tenant_id), "{log}");
    }

    /// Somebody else may know the password of an account that no mailbox has proved.
    async fn an_account_that_is_not_confirmed_joins_nothing(database: &TestDatabase) {
        let fixture = Fixture::with_smtp(database).await;
        let mut eve = fixture.other_owner().await;
        let mut squatter = fixture.squat(&fixture.tenant_id, "victim@example.com", PASSWORD).await;
        let mailed = fixture.mailed_invitation(&mut eve, "victim@example.com").await;
        let shown = fixture.shown_link(OTHER, "victim@example.com").await;
        for link in [mailed, shown] {
            assert_eq!(squatter.join(&link).await.failure(), (409, "RESOURCE_CONFLICT"));
            assert_eq!(squatter.check_link(&link).await.ok()["hasAccount"], false, "the link is left");
        }
        assert_eq!(fixture.count("SELECT count(*) FROM operators", vec![]).await, 3);
    }

    async fn of_two_acceptances_at_once_one_succeeds(database: &TestDatabase) {
        let mut fixture = Fixture::with_smtp(database).await;
        let mut eve = fixture.other_owner().await;
        let (ada, _) = fixture.invite("ada@example.com", Role::Agent).await;
        let join = fixture.mailed_invitation(&mut eve, "ada@example.com").await;
        let create = fixture.mailed_invitation(&mut eve, "new@example.com").await;
        for (link, joins) in [(join, true), (create, false)] {
            let answers = at_once(6, |index| {
                let mut browser =
                    if joins { ada.clone() } else { Browser::at(&fixture.service, &format!("203.0.113.{index}")) };
                let link = link.clone();
                async move {
                    let answer = if joins {
                        browser.join(&link).await
                    } else {
                        browser.set_up(&link, json!({"name": "New"})).await
                    };
                    answer.status.as_u16()
                }
            });
            let mut statuses = answers.await;
            statuses.sort_unstable();
            assert_eq!(statuses[0], 200, "{statuses:?}");
            assert!(statuses[1..].iter().all(|status| [401, 409].contains(status)), "{statuses:?}");
        }
        let sql = "SELECT count(*) FROM operators WHERE tenant_id = $1";
        assert_eq!(fixture.count(sql, args![OTHER]).await, 3);
    }

    async fn switching_replaces_the_session_and_keeps_its_end(database: &TestDatabase) {
        let Shared { fixture, mut ada, ids, .. } = shared(database).await;
        let end = "SELECT expires_ms FROM operator_sessions s JOIN operators o ON o.id = s.operator_id
                   WHERE o.email = 'ada@example.com'";
        fixture.execute("UPDATE operator_sessions SET expires_ms = expires_ms - 5000", vec![]).await;
        let (before, ends_ms) = (ada.clone(), fixture.count(end, vec![]).await);
        let switched = switch(&mut ada, &ids[0]).await.ok();
        assert_eq!(switched["tenant"]["id"].as_str(), Some(fixture.tenant_id.as_str()));
        assert_eq!(switched["operator"]["role"], "admin");
        assert_ne!(ada.session(), before.session());
        assert!(ada.is_signed_in().await && !before.clone().is_signed_in().await, "the old cookie is of no use");
        assert_eq!(fixture.count(end, vec![]).await, ends_ms);
        assert_eq!(switch(&mut before.clone(), &ids[1]).await.failure(), (401, "SIGNED_OUT"));
        let answers = at_once(5, |_| {
            let (mut ada, id) = (ada.clone(), ids[1].clone());
            async move { switch(&mut ada, &id).await.status.as_u16() }
        });
        let statuses = answers.await;
        assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
    }

    /// A tab that still shows the workspace before the switch has the session of the new one.
    async fn a_console_of_the_workspace_before_neither_reads_nor_changes_the_other(database: &TestDatabase) {
        let Shared { fixture, mut ada, ids, .. } = shared(database).await;
        let [before, now] = [&ids[0], &ids[1]].map(|id| Some(id.as_str()));
        let invitation = json!({"email": "new@example.com", "role": "agent"});
        for (method, path, body) in [
            ("GET", "/operators", None),
            ("GET", "/session", None),
            ("POST", "/invitations", Some(invitation)),
            ("DELETE", "/session", Some(json!({}))),
            ("GET", "/unknown", None),
        ] {
            let refused = ada.call_as(before, method, path, body).await;
            assert_eq!(refused.failure(), (409, "OPERATOR_CHANGED"), "{method} {path}");
        }
        assert_eq!(ada.call_as(now, "GET", "/session", None).await.ok()["operator"]["id"], json!(ids[1]));
        let mut stranger = Browser::at(&fixture.service, "203.0.113.9");
        assert_eq!(stranger.call_as(now, "GET", "/session", None).await.failure(), (401, "SIGNED_OUT"));
    }

    async fn signing_in_leads_to_the_workspace_that_was_used_last(database: &TestDatabase) {
        let Shared { fixture, mut ada, ids, .. } = shared(database).await;
        for id in [&ids[0], &ids[1], &ids[0]] {
            switch(&mut ada, id).await.ok();
            // Times are milliseconds.
            fixture.execute("UPDATE operators SET signed_in_ms = signed_in_ms - 1000", vec![]).await;
            let mut new = Browser::at(&fixture.service, "203.0.113.9");
            let who = new.sign_in("ada@example.com", PASSWORD).await.ok();
            assert_eq!(who["operator"]["id"].as_str(), Some(id.as_str()));
        }
        fixture.execute("UPDATE operators SET disabled_ms = 1 WHERE id = $1", args![&ids[0]]).await;
        let mut new = Browser::at(&fixture.service, "203.0.113.9");
        let who = new.sign_in("ada@example.com", PASSWORD).await.ok();
        assert_eq!(who["operator"]["id"].as_str(), Some(ids[1].as_str()), "where it still can");
        assert_eq!(who["workspaces"].as_array().map(Vec::len), Some(1));
    }

    async fn nobody_switches_to_an_operator_of_others_or_to_a_disabled_one(database: &TestDatabase) {
        let Shared { mut fixture, mut eve, mut ada, ids } = shared(database).await;
        let eves = eve.get("/session").await.ok()["operator"]["id"].as_str().expect("an id").to_owned();
        let owner_id = fixture.owner_id.clone();
        for id in [eves.as_str(), &owner_id, "operator_0", ""] {
            assert_eq!(switch(&mut ada, id).await.failure(), (404, "NOT_FOUND"), "{id}");
        }
        assert_eq!(switch(&mut eve, &ids[0]).await.failure(), (404, "NOT_FOUND"));
        let path = format!("/operators/{}", ids[0]);
        fixture.owner.patch(&path, json!({"disabled": true})).await.ok();
        assert!(ada.is_signed_in().await, "the other workspace goes on");
        assert_eq!(switch(&mut ada, &ids[0]).await.failure(), (404, "NOT_FOUND"));
        fixture.owner.patch(&path, json!({"disabled": false})).await.ok();
        fixture.execute("UPDATE tenants SET disabled_ms = 1 WHERE id <> $1", args![OTHER]).await;
        assert_eq!(switch(&mut ada, &ids[0]).await.failure(), (404, "NOT_FOUND"));
        fixture.execute("UPDATE tenants SET disabled_ms = NULL", vec![]).await;
        switch(&mut ada, &ids[0]).await.ok();
    }

    async fn an_admin_changes_nothing_of_how_a_shared_account_signs_in(database: &TestDatabase) {
        let mut fixture = Fixture::with_smtp(database).await;
        let mut eve = fixture.other_owner().await;
        let (mut ada, first) = fixture.invite("ada@example.com", Role::Agent).await;
        let secret = ada.enable_totp(&fixture, PASSWORD).await;
        let reset = format!("/operators/{first}/password-link");
        let asked = fixture.owner.post(&reset, json!({})).await.ok();
        let link = fixture.mailed_invitation(&mut eve, "ada@example.com").await;
        let second = ada.join(&link).await.ok()["operator"]["id"].as_str().expect("an id").to_owned();
        for (owner, id) in [(&mut fixture.owner, &first), (&mut eve, &second)] {
            let refused = owner.post(&format!("/operators/{id}/password-link"), json!({})).await;
            assert_eq!(refused.failure(), (409, "RESOURCE_CONFLICT"));
            let body = json!({"password": PASSWORD});
            let refused = owner.post(&format!("/operators/{id}/totp/remove"), body).await;
            assert_eq!(refused.failure(), (409, "RESOURCE_CONFLICT"));
        }
        let mut attacker = Browser::at(&fixture.service, "203.0.113.9");
        let earlier = asked["link"].as_str().expect("a link");
        let used = attacker.set_up(earlier, json!({"password": "another long phrase"})).await;
        assert_eq!(used.failure(), (401, "INVALID_LINK"), "a link from before it joined");
        assert_eq!(attacker.sign_in("ada@example.com", PASSWORD).await.failure(), (401, "TOTP_REQUIRED"));
        assert!(ada.is_signed_in().await);

        // Each sees and ends the sessions of its own operator only.
        let sessions = async |owner: &mut Browser, id: &str| {
            let listed = owner.get(&format!("/operators/{id}/sessions")).await.ok();
            listed["sessions"].as_array().expect("a list").clone()
        };
        assert_eq!(sessions(&mut fixture.owner, &first).await.len(), 0);
        let of_eve = sessions(&mut eve, &second).await;
        assert_eq!(of_eve.len(), 1);
        let session = of_eve[0]["id"].as_str().expect("an id");
        let foreign = format!("/operators/{first}/sessions/{session}");
        assert_eq!(fixture.owner.delete(&foreign).await.failure().0, 404);
        // Removing the operator leaves the account to the other tenant, which alone has it then.
        fixture.owner.delete(&format!("/operators/{first}")).await.ok();
        assert!(ada.is_signed_in().await);
        eve.post(&format!("/operators/{second}/password-link"), json!({})).await.ok();
        let code = secret.code_at(fixture.service.now_ms());
        let body = json!({"email": "ada@example.com", "password": PASSWORD, "code": code});
        attacker.post("/session", body).await.ok();
        eve.delete(&format!("/operators/{second}")).await.ok();
        assert!(!ada.is_signed_in().await);
        let sql = "SELECT count(*) FROM accounts WHERE address = 'ada@example.com'";
        assert_eq!(fixture.count(sql, vec![]).await, 0, "it ends with its last operator");
    }

    async fn two_tenants_that_remove_an_account_at_once_leave_none(database: &TestDatabase) {
        let Shared { fixture, eve, ids, .. } = shared(database).await;
        let owners = [fixture.owner.clone(), eve];
        let statuses = at_once(2, |index| {
            let (mut owner, path) = (owners[index].clone(), format!("/operators/{}", ids[index]));
            async move { owner.delete(&path).await.status.as_u16() }
        });
        assert_eq!(statuses.await, [200, 200]);
        let sql = "SELECT count(*) FROM accounts WHERE address = 'ada@example.com'";
        assert_eq!(fixture.count(sql, vec![]).await, 0);
    }

    async fn a_new_password_and_ended_sessions_count_in_all_workspaces(database: &TestDatabase) {
        let Shared { fixture, mut ada, ids, .. } = shared(database).await;
        let mut first = Browser::at(&fixture.service, "203.0.113.9");
        first.sign_in("ada@example.com", PASSWORD).await.ok();
        switch(&mut first, &ids[0]).await.ok();
        assert_eq!(ada.get("/sessions").await.ok()["sessions"].as_array().map(Vec::len), Some(2));
        assert_eq!(ada.delete("/sessions").await.ok()["ended"], 1);
        assert!(!first.is_signed_in().await);
        first.sign_in("ada@example.com", PASSWORD).await.ok();
        switch(&mut first, &ids[0]).await.ok();
        let body = json!({"currentPassword": PASSWORD, "newPassword": "another long phrase"});
        ada.post("/password", body).await.ok();
        assert!(!first.is_signed_in().await && ada.is_signed_in().await);
        first.sign_in("ada@example.com", "another long phrase").await.ok();
        switch(&mut first, &ids[0]).await.ok();
        ada.enable_totp(&fixture, "another long phrase").await;
        assert!(!first.is_signed_in().await, "the second factor is that of the account");
        assert_eq!(first.sign_in("ada@example.com", "another long phrase").await.failure().1, "TOTP_REQUIRED");
        let guesses = async |browser: &mut Browser| {
            browser.post("/totp/disable", json!({"password": "wrong"})).await.failure().0
        };
        let mut statuses = Vec::new();
        for attempt in 0..6 {
            if attempt == 3 {
                switch(&mut ada, &ids[0]).await.ok();
            }
            statuses.push(guesses(&mut ada).await);
        }
        assert_eq!(statuses, [401, 401, 401, 401, 401, 429], "another workspace gives no further guesses");
    }

    async fn the_link_of_an_owner_is_joined_with_any_confirmed_account(database: &TestDatabase) {
        let mut fixture = Fixture::new(database).await;
        let mut eve = fixture.other_owner().await;
        let link = crate::accounts::owner_link(&fixture.service, OTHER).await.expect("a link").url;
        assert_eq!(eve.join(&link).await.failure(), (409, "RESOURCE_CONFLICT"), "not confirmed");
        let joined = fixture.owner.join(&link).await.ok();
        assert_eq!((&joined["operator"]["role"], &joined["tenant"]["id"]), (&json!("owner"), &json!(OTHER)));
        let again = crate::accounts::owner_link(&fixture.service, OTHER).await.expect("a link").url;
        assert_eq!(fixture.owner.join(&again).await.failure(), (409, "RESOURCE_CONFLICT"), "already here");
    }
}
