//! The admin API of webhooks and of an operator's own e-mails.

use axum::http::{Method, StatusCode};
use chat_test_servers::at_once;

use super::receiver::Receiver;
use super::webhooks::deliver;
use super::*;
use crate::databases::{Kind, on_both_databases};
use crate::notify::EventName;

/// Calls the admin API as an operator, and returns the status and the data or the error.
pub(super) async fn call(
    service: &Service,
    operator: &Operator,
    method: Method,
    path: &str,
    body: Option<Value>,
) -> (StatusCode, Value) {
    let body = body.map(|body| serde_json::to_value(&body).expect("JSON"));
    let (routes, operator) = (crate::notify::routes(), Some(operator.clone()));
    let (status, envelope) = fixture::call(service, routes, operator, method.as_str(), path, body).await;
    let envelope: Value = serde_json::from_value(envelope).expect("JSON");
    let part = if status.is_success() { "data" } else { "error" };
    (status, envelope.get(part).cloned().unwrap_or(Value::Null))
}

fn text(value: &Value, path: &[&str]) -> String {
    let found = path.iter().try_fold(value, |value, name| value.get(name));
    found.and_then(Value::as_text).unwrap_or_default().to_owned()
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    match value.get(name) {
        Some(Value::List(list)) => list,
        other => panic!("expected a list, got {other:?}"),
    }
}

fn new_webhook(url: &str) -> Value {
    Value::object([("url", url.into())])
}

on_both_databases! {
    async fn an_admin_creates_tries_and_reads_a_webhook(database: &TestDatabase) {
        let service = open(database).await;
        let admin = operator("a", Role::Admin);
        let receiver = Receiver::start().await;
        let (status, created) =
            call(&service, &admin, Method::POST, "/webhooks", Some(new_webhook(&receiver.url))).await;
        assert_eq!(status, StatusCode::OK, "{created:?}");
        let (id, secret) = (text(&created, &["webhook", "id"]), text(&created, &["secret"]));
        let (_, listed) = call(&service, &admin, Method::GET, "/webhooks", None).await;
        assert_eq!((list(&listed, "webhooks").len(), list(&listed, "events").len()), (1, EventName::ALL.len()));
        assert!(!listed.to_json().contains("whsec_"), "the secret is shown once");
        let (status, _) = call(&service, &admin, Method::POST, &format!("/webhooks/{id}/test"), None).await;
        assert_eq!(status, StatusCode::OK);
        deliver(&service, service.now_ms()).await;
        assert!(receiver.received()[0].is_signed_with(&secret));
        let path = format!("/webhooks/{id}/deliveries");
        let (_, log) = call(&service, &admin, Method::GET, &path, None).await;
        let delivery = &list(&log, "deliveries")[0];
        assert_eq!((text(delivery, &["status"]), text(delivery, &["event"])), ("delivered".into(), "webhook.test".into()));
        assert_eq!(list(delivery, "attempts").len(), 1);
        let path = format!("{path}/{}", text(delivery, &["id"]));
        let (status, _) = call(&service, &admin, Method::POST, &format!("{path}/replay"), None).await;
        assert_eq!(status, StatusCode::OK);
        deliver(&service, service.now_ms()).await;
        assert_eq!(receiver.received()[1].id(), receiver.received()[0].id());
        let (status, shown) = call(&service, &admin, Method::GET, &path, None).await;
        assert_eq!((status, list(shown.get("delivery").expect("one"), "attempts").len()), (StatusCode::OK, 2));
        let (_, rotated) = call(&service, &admin, Method::POST, &format!("/webhooks/{id}/secret"), None).await;
        assert!(text(&rotated, &["secret"]).starts_with("whsec_") && text(&rotated, &["secret"]) != secret);
        let change = Some(Value::object([("enabled", false.into())]));
        let (_, changed) = call(&service, &admin, Method::PATCH, &format!("/webhooks/{id}"), change).await;
        assert_eq!(changed.get("webhook").and_then(|webhook| webhook.get("enabled")), Some(&false.into()));
        let (status, _) = call(&service, &admin, Method::POST, &format!("/webhooks/{id}/test"), None).await;
        assert_eq!(status, StatusCode::CONFLICT);
        let (status, _) = call(&service, &admin, Method::DELETE, &format!("/webhooks/{id}"), None).await;
        assert_eq!(status, StatusCode::OK);
        assert_eq!(number(&service, "SELECT count(*) FROM deliveries").await, 0);
        let audit = rows(&service, "SELECT action, detail FROM audit ORDER BY no").await;
        let actions: Vec<_> = audit.iter().map(|row| row.text(0).expect("text")).collect();
        let expected = ["create", "replay", "rotate", "update", "delete"].map(|name| format!("webhook.{name}"));
        assert_eq!(actions, expected);
        assert!(audit.iter().all(|row| !row.text(1).expect("text").contains("whsec_")));
    }

    async fn nothing_of_another_tenant_is_seen_or_changed(database: &TestDatabase) {
        let service = open(database).await;
        let (admin, stranger) = (operator("a", Role::Admin), operator("b", Role::Owner));
        let receiver = Receiver::start().await;
        let (_, created) = call(&service, &admin, Method::POST, "/webhooks", Some(new_webhook(&receiver.url))).await;
        let (_, own) = call(&service, &stranger, Method::POST, "/webhooks", Some(new_webhook(&receiver.url))).await;
        let (id, own) = (text(&created, &["webhook", "id"]), text(&own, &["webhook", "id"]));
        let (_, tried) = call(&service, &admin, Method::POST, &format!("/webhooks/{id}/test"), None).await;
        let delivery = text(&tried, &["delivery", "id"]);
        for (method, path, body) in [
            (Method::GET, format!("/webhooks/{id}"), None),
            (Method::PATCH, format!("/webhooks/{id}"), Some(Value::object([("enabled", false.into())]))),
            (Method::DELETE, format!("/webhooks/{id}"), None),
            (Method::POST, format!("/webhooks/{id}/secret"), None),
            (Method::POST, format!("/webhooks/{id}/test"), None),
            (Method::GET, format!("/webhooks/{id}/deliveries"), None),
            (Method::GET, format!("/webhooks/{id}/deliveries/{delivery}"), None),
            (Method::POST, format!("/webhooks/{id}/deliveries/{delivery}/replay"), None),
            (Method::GET, format!("/webhooks/{own}/deliveries/{delivery}"), None),
            (Method::POST, format!("/webhooks/{own}/deliveries/{delivery}/replay"), None),
        ] {
            let (status, error) = call(&service, &stranger, method, &path, body).await;
            assert_eq!(status, StatusCode::NOT_FOUND, "{path} {error:?}");
        }
        let path = format!("/webhooks/{own}/deliveries?before={delivery}");
        let (_, page) = call(&service, &stranger, Method::GET, &path, None).await;
        assert!(list(&page, "deliveries").is_empty());
        let foreign_site = Value::object([("url", receiver.url.as_str().into()), ("siteId", "site_a".into())]);
        let (status, _) = call(&service, &stranger, Method::POST, "/webhooks", Some(foreign_site)).await;
        assert_eq!(status, StatusCode::NOT_FOUND);
        let (_, listed) = call(&service, &admin, Method::GET, "/webhooks", None).await;
        assert_eq!(list(&listed, "webhooks").len(), 1);
        assert_eq!(number(&service, "SELECT count(*) FROM audit").await, 2, "the two that were created");
    }

    async fn an_agent_may_not_use_webhooks(database: &TestDatabase) {
        let service = open(database).await;
        let agent = operator("a", Role::Agent);
        let change = Some(Value::object([]));
        for (method, path, body) in [
            (Method::GET, "/webhooks", None),
            (Method::POST, "/webhooks", Some(new_webhook("https://hooks.example"))),
            (Method::GET, "/webhooks/wh_1", None),
            (Method::PATCH, "/webhooks/wh_1", change),
            (Method::DELETE, "/webhooks/wh_1", None),
            (Method::POST, "/webhooks/wh_1/secret", None),
            (Method::POST, "/webhooks/wh_1/test", None),
            (Method::GET, "/webhooks/wh_1/deliveries", None),
            (Method::GET, "/webhooks/wh_1/deliveries/dlv_1", None),
            (Method::POST, "/webhooks/wh_1/deliveries/dlv_1/replay", None),
        ] {
            assert_eq!(call(&service, &agent, method, path, body).await.0, StatusCode::FORBIDDEN, "{path}");
        }
    }

    async fn a_log_is_read_page_by_page(database: &TestDatabase) {
        let service = open(database).await;
        let admin = operator("a", Role::Admin);
        let (_, created) =
            call(&service, &admin, Method::POST, "/webhooks", Some(new_webhook("https://hooks.example"))).await;
        let path = format!("/webhooks/{}", text(&created, &["webhook", "id"]));
        for _ in 0..5 {
            call(&service, &admin, Method::POST, &format!("{path}/test"), None).await;
        }
        let (mut seen, mut query) = (Vec::new(), "?limit=2&status=pending".to_owned());
        loop {
            let (_, page) =
                call(&service, &admin, Method::GET, &format!("{path}/deliveries{query}"), None).await;
            seen.extend(list(&page, "deliveries").iter().map(|delivery| text(delivery, &["id"])));
            let next = text(&page, &["nextBefore"]);
            if next.is_empty() {
                break;
            }
            query = format!("?limit=2&status=pending&before={next}");
        }
        let distinct: std::collections::HashSet<_> = seen.iter().collect();
        assert_eq!((seen.len(), distinct.len()), (5, 5));
        for query in ["limit=0", "limit=201", "limit=-1", "status=lost", "page=2"] {
            let (status, _) =
                call(&service, &admin, Method::GET, &format!("{path}/deliveries?{query}"), None).await;
            assert_eq!(status, StatusCode::BAD_REQUEST, "{query}");
        }
        let (_, page) =
            call(&service, &admin, Method::GET, &format!("{path}/deliveries?status=failed"), None).await;
        assert!(list(&page, "deliveries").is_empty());
    }

    async fn refuses_invalid_webhooks_and_more_than_twenty(database: &TestDatabase) {
        let service = open(database).await;
        let admin = operator("a", Role::Admin);
        let with = |name: &'static str, value: Value| {
            Some(Value::object([("url", "https://hooks.example".into()), (name, value)]))
        };
        for body in [
            Some(Value::object([])),
            Some(new_webhook("http://hooks.example")),
            Some(new_webhook("https://169.254.169.254/")),
            with("secret", "whsec_mine".into()),
            with("events", Value::List(vec!["message.deleted".into()])),
            with("events", Value::List(vec!["webhook.test".into()])),
            with("events", "message.created".into()),
        ] {
            let (status, error) = call(&service, &admin, Method::POST, "/webhooks", body.clone()).await;
            assert_eq!(status, StatusCode::BAD_REQUEST, "{body:?} {error:?}");
        }
        let creations = at_once(25, |_| {
            let (service, admin) = (service.clone(), admin.clone());
            async move {
                let body = Some(new_webhook("https://hooks.example"));
                call(&service, &admin, Method::POST, "/webhooks", body).await.0
            }
        });
        let mut statuses = creations.await;
        statuses.sort();
        assert_eq!(statuses, [[StatusCode::OK; 20].as_slice(), &[StatusCode::CONFLICT; 5]].concat());
    }

    async fn an_operator_chooses_the_own_emails(database: &TestDatabase) {
        let service = open(database).await;
        let agent = operator("a", Role::Agent);
        let (_, shown) = call(&service, &agent, Method::GET, "/notifications", None).await;
        assert_eq!(shown.get("lead"), Some(&true.into()));
        assert_eq!(shown.get("available"), Some(&false.into()));
        let wanted = Value::object([
            ("unanswered", true.into()),
            ("lead", false.into()),
            ("handOff", false.into()),
        ]);
        let (status, _) = call(&service, &agent, Method::PUT, "/notifications", Some(wanted)).await;
        assert_eq!(status, StatusCode::OK);
        let (_, shown) = call(&service, &agent, Method::GET, "/notifications", None).await;
        assert_eq!((shown.get("unanswered"), shown.get("lead")), (Some(&true.into()), Some(&false.into())));
        let others = "SELECT count(*) FROM operators WHERE email_kinds LIKE '%lead%'";
        assert_eq!(number(&service, others).await, 3);
    }
}
