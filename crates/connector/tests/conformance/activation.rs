//! Section 4.2.

use serde_json::{Value, json};

use crate::api::{Answer, Api, fresh, time};
use crate::serve::text;

sentences! {
    activation_needs_no_authorization_header,
    [administered]
    a_license_code_is_exchanged_for_a_site_token_that_works,
    a_license_code_can_be_used_once,
    an_expired_or_revoked_license_code_is_refused,
    a_repeated_activation_gets_the_same_response,
}

async fn activate(api: &Api, key: &str, code: &str) -> Answer {
    let body = json!({
        "licenseCode": code, "domain": "https://shop.example", "platform": "wordpress", "siteName": "The shop",
        "primaryLocale": "de-DE", "supportedLocales": ["de-DE", "en"]
    });
    api.ask("POST", "/auth/activate", None, Some(key), Some(&body)).await
}

fn code(license: &Value) -> String {
    text(license, "/licenseCode")
}

/// Returns the token, which has one of two names (4.2).
fn site_token(activated: &Value) -> &str {
    let token = activated["siteToken"].as_str().or(activated["token"].as_str());
    token.unwrap_or_else(|| panic!("no token in {activated}"))
}

async fn activation_needs_no_authorization_header(api: Api) {
    let answer = activate(&api, &fresh("activate"), "no-such-license").await;
    assert_eq!(answer.json()["ok"], false, "the license is invalid");
    assert_ne!(answer.json()["error"]["code"], "INVALID_TOKEN");
}

async fn a_license_code_is_exchanged_for_a_site_token_that_works(api: Api) {
    let license = api.license(3600).await;
    let activated = activate(&api, &fresh("activate"), &code(&license)).await.data();
    let site = api.with_token(site_token(&activated));
    // At each node.
    for _ in 0..api.nodes() {
        site.get("/site/status").await.data();
        let config = site.get("/chat/config").await.data();
        assert_eq!(config["siteId"], api.site().id.as_str());
    }
}

async fn a_license_code_can_be_used_once(api: Api) {
    let code = code(&api.license(3600).await);
    activate(&api, &fresh("activate"), &code).await.data();
    activate(&api, &fresh("activate"), &code).await.is_failure(400, "INVALID_REQUEST");
}

async fn an_expired_or_revoked_license_code_is_refused(api: Api) {
    let (expiring, revoked) = (api.license(1).await, api.license(3600).await);
    api.administer("DELETE", &format!("/licenses/{}", text(&revoked, "/id")), &json!({})).await;
    activate(&api, &fresh("activate"), &code(&revoked)).await.is_failure(400, "INVALID_REQUEST");
    let expires = time(&expiring["expiresAt"]).expect("a time");
    crate::api::until(async || jiff::Timestamp::now() > expires).await;
    activate(&api, &fresh("activate"), &code(&expiring)).await.is_failure(400, "INVALID_REQUEST");
}

async fn a_repeated_activation_gets_the_same_response(api: Api) {
    let (key, code) = (fresh("activate"), code(&api.license(3600).await));
    let first = activate(&api, &key, &code).await;
    first.data();
    assert_eq!(activate(&api, &key, &code).await.text, first.text);
    activate(&api, &key, "another code").await.is_failure(409, "IDEMPOTENCY_CONFLICT");
}
