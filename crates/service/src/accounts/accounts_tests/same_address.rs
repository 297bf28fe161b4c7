//! Several accounts of one address: forgotten passwords, the logs of their tenants, and known browsers.

use serde_json::{Value, json};

use super::browser::{Browser, Fixture, OTHER, PASSWORD};
use crate::databases::{Kind, TestDatabase, on_both_databases};

const EMAIL: &str = "victim@example.com";
const OWN: &str = "the phrase of the mailbox";

/// Returns the link for a workspace in the text of an e-mail.
fn link_for<'a>(text: &'a str, workspace: &str) -> &'a str {
    let (_, rest) = text.split_once(&format!("“{workspace}”\n")).expect("a workspace");
    rest.split_whitespace().find(|word| word.contains("#setup=")).expect("a link")
}

/// Creates the confirmed account of the address, in the fixture's tenant. Returns its browser.
async fn confirmed(fixture: &Fixture, password: &str) -> Browser {
    let link = fixture.mailed_invitation(&mut fixture.owner.clone(), EMAIL).await;
    let mut victim = Browser::at(&fixture.service, "203.0.113.9");
    victim.set_up(&link, json!({"name": "Victim", "password": password})).await.ok();
    victim
}

/// Returns what strangers did according to the log of a tenant, and their addresses, in alphabetical order.
async fn by_strangers(owner: &mut Browser) -> Vec<(String, String)> {
    let log = owner.get("/audit").await.ok();
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let entries = log["entries"].as_array().expect("a list").iter();
    let of_strangers = entries.filter(|entry| entry["actor"] == "unknown");
    let mut seen: Vec<(String, String)> =
        of_strangers.map(|entry| (text(&entry["action"]), text(&entry["address"]))).collect();
    seen.sort();
    seen
}

fn entry(action: &str, address: &str) -> (String, String) {
    (action.to_owned(), address.to_owned())
}

on_both_databases! {
    /// No account is confirmed, as after an upgrade, and the one that somebody else made was used last.
    async fn a_forgotten_password_opens_every_account_of_the_address(database: &TestDatabase) {
        let fixture = Fixture::with_smtp(database).await;
        fixture.other_owner().await;
        fixture.squat(OTHER, EMAIL, PASSWORD).await;
        let mut squatter = fixture.squat(&fixture.tenant_id, EMAIL, PASSWORD).await;
        let mut mailbox = Browser::at(&fixture.service, "203.0.113.9");
        mailbox.post("/password/forgot", json!({"email": EMAIL})).await.ok();
        fixture.settle().await;
        let mails = fixture.mails().await;
        assert_eq!(mails.len(), 1, "{mails:?}");
        let (_, text) = &mails[0];
        assert_eq!(text.matches("#setup=").count(), 2, "{text}");
        let workspaces = [("Main", fixture.tenant_id.as_str(), true), ("Other", OTHER, false)];
        for (workspace, tenant_id, is_confirmed) in workspaces {
            let reset = mailbox.set_up(link_for(text, workspace), json!({"password": OWN})).await.ok();
            assert_eq!(reset["tenant"]["id"], tenant_id);
            assert_eq!(reset["signedIn"], true);
            assert_eq!(reset["operator"]["confirmed"], is_confirmed, "one account at most");
        }
        assert!(!squatter.is_signed_in().await);
        let refused = squatter.sign_in(EMAIL, PASSWORD).await;
        assert_eq!(refused.failure(), (401, "WRONG_CREDENTIALS"));
    }

    /// The second tenant has an account of an address that has another one, and of an address that has none.
    async fn no_log_tells_whether_an_address_has_other_accounts(database: &TestDatabase) {
        let mut fixture = Fixture::with_smtp(database).await;
        let mut eve = fixture.other_owner().await;
        let mut victim = confirmed(&fixture, OWN).await;
        let mut stranger = Browser::at(&fixture.service, "198.51.100.7");
        for email in [EMAIL, "alone@example.com"] {
            fixture.squat(OTHER, email, PASSWORD).await;
            stranger.sign_in(email, "a wrong password").await;
            stranger.post("/password/forgot", json!({"email": email})).await.ok();
        }
        fixture.settle().await;
        let (failed, forgot) = (entry("operator.login_failed", ""), entry("password.forgot", ""));
        let both = [failed.clone(), failed.clone(), forgot.clone(), forgot.clone()];
        assert_eq!(by_strangers(&mut eve).await, both);
        assert_eq!(by_strangers(&mut fixture.owner).await, [failed.clone(), forgot.clone()]);
        // The account has used this browser before, and the other one has not.
        victim.sign_in(EMAIL, "a wrong password").await;
        victim.post("/password/forgot", json!({"email": EMAIL})).await.ok();
        fixture.settle().await;
        let more = [&failed, &failed, &failed, &forgot, &forgot, &forgot].map(Clone::clone);
        assert_eq!(by_strangers(&mut eve).await, more);
        let known = [entry("operator.login_failed", "203.0.113.9"), entry("password.forgot", "203.0.113.9")];
        let [known_failed, known_forgot] = known;
        assert_eq!(by_strangers(&mut fixture.owner).await, [failed, known_failed, forgot, known_forgot]);
    }

    async fn a_browser_opens_the_account_that_it_has_used_before(database: &TestDatabase) {
        let fixture = Fixture::with_smtp(database).await;
        fixture.other_owner().await;
        confirmed(&fixture, PASSWORD).await;
        let mut known = fixture.squat(OTHER, EMAIL, PASSWORD).await;
        let who = known.sign_in(EMAIL, PASSWORD).await.ok();
        assert_eq!(who["tenant"]["id"], OTHER);
        let who = Browser::new(&fixture.service).sign_in(EMAIL, PASSWORD).await.ok();
        assert_eq!(who["tenant"]["id"], fixture.tenant_id.as_str(), "the confirmed one");
    }
}
