//! Sections 2.6 and 4.7.

use serde_json::{Value, json};

use crate::api::{Api, Checked, fresh, has, is_integer, is_time};

sentences! {
    a_presence_has_the_fields_of_2_6,
    a_presence_needs_no_conversation,
    an_open_console_makes_the_operator_online,
}

async fn a_presence_has_the_fields_of_2_6(api: Api) {
    let id = api.conversation().await["conversationId"].as_str().expect("an id").to_owned();
    let presence = api.get(&format!("/chat/presence?conversationId={id}")).await.data();
    has(
        &presence,
        &[
            ("/tenantId", Value::is_string),
            ("/siteId", Value::is_string),
            ("/operatorOnline", Value::is_boolean),
            ("/operatorActiveSessions", is_integer),
            ("/shouldPollMessages", Value::is_boolean),
            ("/suggestedPresenceIntervalMs", is_integer),
            ("/suggestedMessageIntervalMs", is_integer),
        ],
    );
    for name in ["suggestedPresenceIntervalMs", "suggestedMessageIntervalMs"] {
        assert!(presence[name].as_i64().is_some_and(|interval| interval > 0), "{presence}");
    }
    assert!(presence["operatorActiveSessions"].as_i64().is_some_and(|sessions| sessions >= 0), "{presence}");
    let last_seen = &presence["operatorLastSeenAt"];
    assert!(last_seen.is_null() || is_time(last_seen), "{presence}");
}

async fn a_presence_needs_no_conversation(api: Api) {
    for path in ["/chat/presence".to_owned(), format!("/chat/presence?conversationId={}", fresh("conv"))] {
        let presence = api.get(&path).await.data();
        has(&presence, &[("/operatorOnline", Value::is_boolean), ("/shouldPollMessages", Value::is_boolean)]);
        if api.is_built_in() {
            assert_eq!(presence["shouldPollMessages"], false);
        }
    }
}

async fn an_open_console_makes_the_operator_online(api: Api) -> Checked {
    api.only_built_in("an operator would have to sign in")?;
    let presence = async || api.get("/chat/presence").await.data();
    assert_eq!(presence().await["operatorOnline"], false);
    let online = api.go_online().await;
    api.until_all_nodes(async || presence().await["operatorOnline"] == true).await;
    let shown = presence().await;
    assert!(shown["operatorActiveSessions"].as_i64().is_some_and(|sessions| sessions > 0), "{shown}");
    has(&shown, &[("/operatorLastSeenAt", is_time)]);
    api.go_offline(online).await;
    api.until_all_nodes(async || presence().await["operatorOnline"] == false).await;
    let shown = presence().await;
    assert_eq!(shown["operatorActiveSessions"], json!(0));
    has(&shown, &[("/operatorLastSeenAt", is_time)]);
    Ok(())
}
