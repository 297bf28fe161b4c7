//! What the host changes from the command line: confirming accounts, and links for new passwords.

use serde_json::json;

use super::browser::{Browser, Fixture, PASSWORD};
use crate::accounts::{Role, confirm_operator, reset_operator_password};
use crate::databases::{Kind, TestDatabase, on_both_databases};

on_both_databases! {
    /// An admin of the tenant may have used the invitation, and know the password.
    async fn the_host_confirms_an_account_by_a_link_that_sets_a_new_password(database: &TestDatabase) {
        let mut fixture = Fixture::new(database).await;
        let (mut agent, id) = fixture.invite("agent@example.com", Role::Agent).await;
        let path = format!("/operators/{id}/password-link");
        let asked = fixture.owner.post(&path, json!({})).await.ok();
        let link = confirm_operator(&fixture.service, "agent@example.com", None).await.expect("a link");
        assert!(!agent.is_signed_in().await, "its sessions have ended");
        let mut admin = Browser::at(&fixture.service, "198.51.100.66");
        let earlier = asked["link"].as_str().expect("a link");
        assert_eq!(admin.set_up(earlier, json!({})).await.failure(), (401, "INVALID_LINK"));
        let who = admin.sign_in("agent@example.com", PASSWORD).await.ok();
        assert_eq!(who["operator"]["confirmed"], false, "not before the link is used");
        let reset = agent.set_up(&link.url, json!({"password": "yet another phrase"})).await.ok();
        assert_eq!((&reset["signedIn"], &reset["operator"]["confirmed"]), (&json!(true), &json!(true)));
        assert!(!admin.is_signed_in().await);
        let refused = admin.sign_in("agent@example.com", PASSWORD).await;
        assert_eq!(refused.failure(), (401, "WRONG_CREDENTIALS"));
        let again = confirm_operator(&fixture.service, "agent@example.com", None).await;
        assert!(again.expect_err("confirmed").to_string().contains("confirmed already"));
        assert!(agent.is_signed_in().await, "nothing has changed");
    }

    async fn the_host_confirms_no_account_with_a_second_factor(database: &TestDatabase) {
        let mut fixture = Fixture::new(database).await;
        let (mut agent, _) = fixture.invite("agent@example.com", Role::Agent).await;
        agent.enable_totp(&fixture, PASSWORD).await;
        let refused = confirm_operator(&fixture.service, "agent@example.com", None).await;
        assert!(refused.expect_err("a second factor").to_string().contains("second factor"));
        assert!(agent.is_signed_in().await);
    }

    async fn the_host_gets_links_for_operators_that_can_sign_in_only(database: &TestDatabase) {
        let mut fixture = Fixture::with_smtp(database).await;
        let mut eve = fixture.other_owner().await;
        let (mut ada, first) = fixture.invite("ada@example.com", Role::Agent).await;
        let link = fixture.mailed_invitation(&mut eve, "ada@example.com").await;
        let joined = ada.join(&link).await.ok();
        // The one that was used last.
        let path = format!("/operators/{}", joined["operator"]["id"].as_str().expect("an id"));
        eve.patch(&path, json!({"disabled": true})).await.ok();
        let link = reset_operator_password(&fixture.service, "ada@example.com", None, false).await;
        let link = link.expect("a link for the other one");
        let reset = ada.set_up(&link.url, json!({"password": "yet another phrase"})).await.ok();
        assert_eq!(reset["tenant"]["id"].as_str(), Some(fixture.tenant_id.as_str()));
        fixture.owner.patch(&format!("/operators/{first}"), json!({"disabled": true})).await.ok();
        for refused in [
            reset_operator_password(&fixture.service, "ada@example.com", None, false).await,
            confirm_operator(&fixture.service, "ada@example.com", None).await,
        ] {
            assert!(refused.expect_err("disabled").to_string().contains("disabled"));
        }
    }
}
