//! A license code is exchanged once for a site token (4.2).

use axum::body::Body;
use axum::http::Request;
use chat_service::{API_BASE, SiteChange};
use secrecy::ExposeSecret;
use serde_json::{Value, json};

use crate::support::databases::{Kind, TestDatabase, on_both_databases};
use crate::support::{Answer, Client};

/// A time in the far future, in milliseconds since 1970.
const LATER: i64 = 4_000_000_000_000;

async fn activate(client: &Client, key: Option<&str>, code: &str) -> Answer {
    activate_as(client, key, code, "The shop").await
}

async fn activate_as(client: &Client, key: Option<&str>, code: &str, name: &str) -> Answer {
    let body = json!({
        "licenseCode": code,
        "domain": "https://shop.example",
        "platform": "wordpress",
        "siteName": name,
        "primaryLocale": "de-DE",
        "supportedLocales": ["de-DE", "en"],
    });
    let mut request = Request::builder()
        .method("POST")
        .uri(format!("{API_BASE}/auth/activate"))
        .header("content-type", "application/json");
    if let Some(key) = key {
        request = request.header("idempotency-key", key);
    }
    client.send(request.body(Body::from(body.to_string())).expect("a request")).await
}

async fn new_code(client: &Client, site: Option<&str>) -> String {
    let directory = client.service.directory();
    let license = directory.create_license(&client.site.tenant_id, site, LATER).await.expect("a license");
    license.code.expose_secret().to_owned()
}

on_both_databases! {
    async fn a_code_gives_the_token_of_a_new_site_once(database: &TestDatabase) {
        let client = Client::new(database).await;
        let code = new_code(&client, None).await;
        let activated = activate(&client, None, &code).await.data();
        let site = activated["siteId"].as_str().expect("an id");
        assert_ne!(site, client.site.id);
        let mut new = client.clone();
        activated["siteToken"].as_str().expect("a token").clone_into(&mut new.token);
        let status = new.get("/site/status").await.data();
        assert_eq!((&status["siteName"], &status["domain"]), (&json!("The shop"), &json!("https://shop.example")));
        assert_eq!(new.get("/chat/config?locale=fr").await.data()["locale"], "de-DE");
        let again = activate(&client, None, &code).await;
        assert_eq!(again.failure(), (400, "INVALID_REQUEST".to_owned()));
    }

    async fn of_twenty_activations_with_one_code_one_succeeds(database: &TestDatabase) {
        let client = Client::with(crate::support::options(database), SiteChange::default()).await;
        let site = client.site.id.clone();
        let code = new_code(&client, Some(&site)).await;
        let activations = chat_test_servers::at_once(8, |_| {
            let (client, code) = (client.clone(), code.clone());
            async move { activate(&client, None, &code).await.status.as_u16() }
        });
        let mut statuses = activations.await;
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 400, 400, 400, 400, 400, 400, 400]);
        assert_eq!(client.service.directory().tokens(&site).await.expect("tokens").len(), 2);
    }

    async fn a_repeated_activation_gets_the_same_token_which_is_not_in_the_database(database: &TestDatabase) {
        let client = Client::new(database).await;
        let code = new_code(&client, None).await;
        let first = activate(&client, Some("activation-1"), &code).await;
        let again = activate(&client, Some("activation-1"), &code).await;
        assert_eq!(first.body, again.body);
        let token = first.data()["siteToken"].as_str().expect("a token").to_owned();
        if database.address.starts_with("postgres") {
            return;
        }
        client.service.close().await;
        for suffix in ["", "-wal"] {
            let file = std::fs::read(format!("{}{suffix}", database.address)).unwrap_or_default();
            for secret in [&token, &code] {
                let found = file.windows(secret.len()).any(|window| window == secret.as_bytes());
                assert!(!found, "{secret} is in the file{suffix}");
            }
        }
    }

    async fn wrong_expired_and_revoked_codes_are_refused_alike(database: &TestDatabase) {
        let client = Client::new(database).await;
        let directory = client.service.directory();
        let revoked = directory.create_license(&client.site.tenant_id, None, LATER).await.expect("a license");
        directory.revoke_license(&client.site.tenant_id, &revoked.info.id).await.expect("revoked");
        let disabled = new_code(&client, None).await;
        directory.set_tenant_disabled(&client.site.tenant_id, true).await.expect("disabled");
        let mut errors: Vec<Value> = Vec::new();
        for code in ["lic_wrong", revoked.code.expose_secret(), &disabled] {
            let answer = activate(&client, None, code).await;
            assert_eq!(answer.status, 400);
            errors.push(answer.json()["error"].clone());
        }
        errors.dedup();
        assert_eq!(errors.len(), 1, "{errors:?}");
    }

    async fn a_name_without_visible_characters_keeps_that_of_the_site(database: &TestDatabase) {
        let client = Client::new(database).await;
        let code = new_code(&client, Some(&client.site.id)).await;
        activate_as(&client, None, &code, " \n\u{0} ").await.data();
        let site = client.service.directory().site(&client.site.id).await.expect("a site");
        assert_eq!(site.name, "A site");
    }

    async fn only_wrong_codes_count_as_guesses(database: &TestDatabase) {
        let client = Client::new(database).await;
        let (first, second) = (new_code(&client, None).await, new_code(&client, None).await);
        activate(&client, Some("activation-1"), &first).await.data();
        for _ in 0..20 {
            let conflict = activate(&client, Some("activation-1"), &second).await;
            assert_eq!(conflict.failure(), (409, "IDEMPOTENCY_CONFLICT".to_owned()));
        }
        activate(&client, Some("activation-2"), &second).await.data();
    }
}
