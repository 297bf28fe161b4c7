//! Only the five calls exist below a site's path, and only with their methods.

use axum::body::Body;
use axum::http::Request;
use serde_json::json;

use crate::site_proxy::page::{SHOP, get, of_page, post, shop};
use crate::support::databases::{Kind, TestDatabase};

#[tokio::test]
async fn other_paths_of_the_api_are_not_there() {
    let database = TestDatabase::new(Kind::Sqlite).await;
    let client = shop(&database).await;
    for path in [
        "",
        "/",
        "/chat",
        "/chat/config/",
        "/chat/Config",
        "/chat//config",
        "/chat%2fconfig",
        "/chat/./config",
        "/chat/config/../messages",
        "/../chat/config",
        "/%2e%2e/chat/config",
        "/site/status",
        "/site/jobs/next",
        "/site/overlays",
        "/auth/activate",
        "/content/sync",
        "/api/connector/v1/chat/config",
        "/chat/config%00",
    ] {
        for method in ["GET", "POST", "OPTIONS", "DELETE"] {
            let request = of_page(&client, method, path, SHOP)
                .header("content-type", "application/json")
                // The right token opens nothing more.
                .header("authorization", format!("Bearer {}", client.token));
            let answer = client.send(request.body(Body::from("{}")).expect("a request")).await;
            assert_eq!(answer.failure(), (404, "NOT_FOUND".to_owned()), "{method} {path}");
        }
    }
}

#[tokio::test]
async fn a_path_without_a_site_is_not_there() {
    let database = TestDatabase::new(Kind::Sqlite).await;
    let client = shop(&database).await;
    let long = format!("/connector/{}/chat/config", "s".repeat(5000));
    for uri in ["/connector", "/connector/", "/connector/../chat/config", "/connector/%00/chat/config", &long]
    {
        let request =
            Request::get(uri).header("host", "chat.example").body(Body::empty()).expect("a request");
        assert_eq!(client.send(request).await.failure(), (404, "NOT_FOUND".to_owned()), "{uri}");
    }
}

#[tokio::test]
async fn other_methods_are_refused_with_those_that_exist() {
    let database = TestDatabase::new(Kind::Sqlite).await;
    let client = shop(&database).await;
    for (path, allow) in [
        ("/chat/config", "GET"),
        ("/chat/presence", "GET"),
        ("/chat/messages", "GET, POST"),
        ("/events", "POST"),
    ] {
        for method in ["PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "BREW"] {
            let request = of_page(&client, method, path, SHOP).body(Body::empty()).expect("a request");
            let answer = client.send(request).await;
            assert_eq!(answer.status, 405, "{method} {path}");
            assert_eq!(answer.header("allow"), Some(allow), "{method} {path}");
        }
    }
}

#[tokio::test]
async fn a_page_sees_nothing_of_the_service_but_what_the_contract_shows() {
    let database = TestDatabase::new(Kind::Sqlite).await;
    let client = shop(&database).await;
    let config = get(&client, "/chat/config").await;
    let data = config.data();
    let mut members: Vec<_> = data.as_object().expect("an object").keys().map(String::as_str).collect();
    members.sort_unstable();
    for member in &members {
        assert!(!member.to_lowercase().contains("token") && !member.contains("origin"), "{members:?}");
    }
    let sent = post(&client, "/chat/messages", &json!({ "message": "Hello" })).await;
    for answer in [&config, &sent] {
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        assert!(!text.contains(&client.token) && !text.contains("token_"), "{text}");
        assert!(!format!("{:?}", answer.headers).contains("token"), "{:?}", answer.headers);
    }
}
