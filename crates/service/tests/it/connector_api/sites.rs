//! Sites are separate, and their tokens and settings take effect at once.

use chat_service::SiteChange;
use secrecy::ExposeSecret;
use serde_json::json;

use crate::support::Client;
use crate::support::databases::{Kind, TestDatabase, on_both_databases};

async fn assert_is_refused(client: &Client) {
    let answer = client.get("/chat/config").await;
    assert_eq!(answer.failure(), (401, "INVALID_TOKEN".to_owned()));
    assert_eq!(answer.json()["error"]["message"], "Missing or invalid API token.");
}

on_both_databases! {
    async fn a_disabled_or_deleted_site_or_tenant_refuses_its_tokens_at_once(database: &TestDatabase) {
        let client = Client::new(database).await;
        let directory = client.service.directory();
        let (site, tenant) = (&client.site.id, &client.site.tenant_id);
        client.get("/chat/config").await.data();
        directory.set_site_disabled(site, true).await.expect("disabled");
        assert_is_refused(&client).await;
        directory.set_site_disabled(site, false).await.expect("enabled");
        client.get("/chat/config").await.data();
        directory.set_tenant_disabled(tenant, true).await.expect("disabled");
        assert_is_refused(&client).await;
        directory.set_tenant_disabled(tenant, false).await.expect("enabled");
        client.get("/chat/config").await.data();
        directory.delete_site(site).await.expect("deleted");
        assert_is_refused(&client).await;
        directory.site(site).await.expect_err("it does not exist any more");
    }

    async fn a_revoked_token_is_refused_and_a_rotated_one_after_its_overlap(database: &TestDatabase) {
        let mut client = Client::new(database).await;
        let directory = client.service.directory();
        let site = client.site.id.clone();
        let second = directory.rotate_token(&site, "second", 3_600_000).await.expect("rotated");
        client.get("/chat/config").await.data();
        let third = directory.rotate_token(&site, "third", 0).await.expect("rotated");
        assert_is_refused(&client).await;
        second.secret.expose_secret().clone_into(&mut client.token);
        assert_is_refused(&client).await;
        third.secret.expose_secret().clone_into(&mut client.token);
        client.get("/chat/config").await.data();
        directory.revoke_token(&site, &third.info.id).await.expect("revoked");
        assert_is_refused(&client).await;
        let tokens = directory.tokens(&site).await.expect("tokens");
        assert_eq!(tokens.len(), 3);
        assert!(tokens.iter().any(|token| token.revoked_at.is_some() && token.name == "third"));
    }

    async fn an_idempotency_key_belongs_to_its_site(database: &TestDatabase) {
        let client = Client::new(database).await;
        let other = Client::of(client.service.clone(), SiteChange::default()).await;
        let body = json!({ "message": "Hello" });
        let first = client.post("/chat/messages", Some("chat-v1-0001"), &body).await.data();
        let second = other.post("/chat/messages", Some("chat-v1-0001"), &body).await.data();
        assert_ne!(first["conversationId"], second["conversationId"]);
    }

    async fn the_key_of_an_ai_is_not_sent_to_another_server(database: &TestDatabase) {
        let ai = |ai: serde_json::Value| serde_json::from_value::<SiteChange>(json!({ "ai": ai })).expect("settings");
        let with_key = ai(json!({ "base": "https://ai.example/v1", "model": "m", "key": "secret" }));
        let client = Client::with(crate::support::options(database), with_key).await;
        let directory = client.service.directory();
        let change = async |change: SiteChange| directory.change_site(&client.site.id, change).await;
        let moved = ai(json!({ "base": "https://evil.example/v1", "model": "m" }));
        let error = change(moved).await.expect_err("without the key").to_string();
        assert!(error.contains("ai.key"), "{error}");
        let same = change(ai(json!({ "base": "https://ai.example/v2", "model": "n" }))).await.expect("changed");
        assert!(same.ai.as_ref().expect("an endpoint").has_key);
        change(ai(json!({ "base": "https://other.example/v1", "model": "m", "key": "another" }))).await.expect("changed");
    }
    async fn what_is_particular_to_the_provider_of_an_ai_is_stored(database: &TestDatabase) {
        let ai = |ai: serde_json::Value| serde_json::from_value::<SiteChange>(json!({ "ai": ai })).expect("settings");
        let azure = "https://x.openai.azure.com/openai/deployments/d?api-version=2024-10-21";
        let change = ai(json!({ "base": azure, "model": "m", "provider": "azure", "secondModel": "n",
            "contextTokens": 16_000 }));
        let client = Client::with(crate::support::options(database), change).await;
        let stored = client.site.ai.clone().expect("an endpoint");
        assert_eq!((stored.base.as_str(), stored.options.provider.as_str()), (azure, "azure"));
        assert_eq!((stored.options.second_model.as_deref(), stored.options.context_tokens), (Some("n"), Some(16_000)));
        let directory = client.service.directory();
        let change = async |change: SiteChange| directory.change_site(&client.site.id, change).await;
        for (field, value) in [
            ("provider", json!("unknown")),
            ("secondModel", json!("")),
            ("contextTokens", json!(1023)),
        ] {
            let mut wrong = json!({ "base": "https://ai.example/v1", "model": "m" });
            wrong[field] = value;
            let error = change(ai(wrong)).await.expect_err("refused").to_string();
            assert!(error.contains(&format!("ai.{field}")), "{error}");
        }
        let plain = change(ai(json!({ "base": "https://ai.example/v1", "model": "m" }))).await.expect("changed");
        let options = plain.ai.clone().expect("an endpoint").options;
        assert_eq!((options.provider.as_str(), options.second_model, options.context_tokens), ("custom", None, None));
    }
}
