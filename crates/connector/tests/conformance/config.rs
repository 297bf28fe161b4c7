//! Sections 2.3 and 4.4.

use serde_json::{Value, json};

use crate::api::{Api, has};

sentences! {
    a_config_has_the_fields_of_2_3,
    the_locale_is_resolved_to_one_that_the_site_supports,
    [administered]
    the_switches_of_the_site_show_in_its_config,
    name_welcome_message_and_avatar_are_those_of_the_site,
}

async fn a_config_has_the_fields_of_2_3(api: Api) {
    let config = api.get("/chat/config?locale=en-US").await.data();
    has(
        &config,
        &[
            ("/tenantId", Value::is_string),
            ("/siteId", Value::is_string),
            ("/config/enabled", Value::is_boolean),
            ("/config/widgetEnabled", Value::is_boolean),
            ("/config/assistantName", Value::is_string),
            ("/config/welcomeMessage", Value::is_string),
            ("/config/avatarUrl", |url| url.is_string() || url.is_null()),
            ("/config/locale", Value::is_string),
            ("/locale", Value::is_string),
            ("/supportedLocales", |tags| {
                tags.as_array().is_some_and(|tags| tags.iter().all(Value::is_string))
            }),
            ("/stale", Value::is_boolean),
        ],
    );
}

fn language(tag: &Value) -> String {
    tag.as_str().expect("a tag").split('-').next().unwrap_or_default().to_lowercase()
}

async fn the_locale_is_resolved_to_one_that_the_site_supports(api: Api) {
    for query in ["", "?locale=en-US", "?locale=tlh-KX", "?locale=zh-Hans-CN"] {
        let config = api.get(&format!("/chat/config{query}")).await.data();
        let supported = config["supportedLocales"].as_array().expect("a list");
        assert!(!supported.is_empty(), "{config}");
        let resolved = language(&config["locale"]);
        assert!(supported.iter().any(|tag| language(tag) == resolved), "{query}: {config}");
    }
}

async fn the_switches_of_the_site_show_in_its_config(api: Api) {
    for (chat, widget) in [(false, true), (true, false), (false, false), (true, true)] {
        api.change_settings(json!({ "chatEnabled": chat, "widgetEnabled": widget })).await;
        let config = api.get("/chat/config").await.data()["config"].clone();
        assert_eq!((&config["enabled"], &config["widgetEnabled"]), (&json!(chat), &json!(widget)));
    }
}

async fn name_welcome_message_and_avatar_are_those_of_the_site(api: Api) {
    let settings = json!({
        "primaryLocale": "de-DE", "supportedLocales": ["de-DE", "en"],
        "welcome": { "": "Hello!", "de-DE": "Guten Tag!" }, "avatarUrl": "https://shop.example/a.png"
    });
    api.change_settings(settings).await;
    let config = async |locale: &str| api.get(&format!("/chat/config?locale={locale}")).await.data();
    let german = config("de-AT").await;
    assert_eq!(german["locale"], "de-AT");
    assert_eq!(german["config"]["welcomeMessage"], "Guten Tag!");
    assert_eq!(german["config"]["avatarUrl"], "https://shop.example/a.png");
    assert_eq!(german["supportedLocales"], json!(["de-DE", "en"]));
    assert_eq!(config("en-GB").await["config"]["welcomeMessage"], "Hello!");
    assert_eq!(config("fr").await["locale"], "de-DE");
    api.change_settings(json!({ "avatarUrl": null })).await;
    assert_eq!(config("fr").await["config"]["avatarUrl"], json!(null));
}
