//! Tests answers to messages of a site, from its settings and its knowledge, on both databases.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Json;
use chat_protocol::admin::settings::AnswerText;
use serde_json::json;
use tokio::net::TcpListener;

use super::*;
use crate::databases::{Kind, TestDatabase, on_both_databases};
use crate::db::{args, transaction};
use crate::knowledge::answers::add;
use crate::visitors::fixture::{NOW, add_operator, add_sites, execute};
use crate::{ServiceKey, ServiceOptions};

async fn service(database: &TestDatabase, allow_private_ai: bool) -> Service {
    let options =
        ServiceOptions { allow_private_ai, ..ServiceOptions::new(&database.address, ServiceKey::random()) };
    let service = Service::open(options).await.expect("opened");
    add_sites(service.db()).await;
    let added: Result<(), ApiError> = transaction!(service.db(), |tx| {
        for draft in crate::test_mode::shop::answers() {
            add(tx, NOW, "shop", &draft).await?;
        }
        let rival = AnswerText {
            question: "Delivery".to_owned(),
            answer: "The rival delivers by drone.".to_owned(),
            locale: String::new(),
        };
        add(tx, NOW, "rival", &rival).await?;
        Ok(())
    })
    .await;
    added.expect("added");
    service
}

/// Opens a service that can send e-mails.
async fn service_with_mail(database: &TestDatabase) -> Service {
    let options = ServiceOptions {
        smtp: Some(crate::SmtpOptions::new("localhost", "chat@chat.example")),
        public_origin: Some("https://chat.example".to_owned()),
        ..ServiceOptions::new(&database.address, ServiceKey::random())
    };
    let service = Service::open(options).await.expect("opened");
    add_sites(service.db()).await;
    service
}

/// Returns the visitor's address that a site's server tells.
fn caller(address: &str) -> Caller {
    let mut headers = axum::http::HeaderMap::new();
    headers.insert("x-forwarded-for", address.parse().expect("a header value"));
    Caller::forwarded(&headers)
}

/// Starts an endpoint that gives the same answer to every request, and counts them.
async fn endpoint(content: &'static str, status: u16) -> (String, Arc<AtomicUsize>) {
    let requests = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&requests);
    let complete = move || async move {
        counted.fetch_add(1, Ordering::SeqCst);
        let status = axum::http::StatusCode::from_u16(status).expect("a status");
        (status, Json(json!({ "choices": [{ "message": { "content": content } }] })))
    };
    (serve(axum::routing::post(complete)).await, requests)
}

/// Starts an endpoint, and returns its base address.
async fn serve(complete: axum::routing::MethodRouter) -> String {
    let router = axum::Router::new().route("/v1/chat/completions", complete);
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let base = format!("http://{}/v1", listener.local_addr().expect("an address"));
    tokio::spawn(axum::serve(listener, router).into_future());
    base
}

async fn ask(service: &Service, site: &str, message: &str) -> Answer {
    try_ask(service, site, message).await.expect("an answer")
}

async fn try_ask(service: &Service, site: &str, message: &str) -> Result<Answer, ApiError> {
    ask_as(service, site, message, Asker { visitor_id: None, caller: Caller::Anybody }).await
}

async fn ask_as(
    service: &Service,
    site: &str,
    message: &str,
    Asker { visitor_id, caller }: Asker<'_>,
) -> Result<Answer, ApiError> {
    let tenant = if site == "rival" { "other" } else { "acme" };
    let site = crate::sites::of_tenant(service.db(), tenant, site).await.expect("a site");
    let message = VisitorMessage {
        text: message,
        locale: Some("en-GB"),
        page_origin: None,
        caller,
        visitor_id,
        trail: Trail::Conversation("conv_0"),
        countries: crate::lead::Countries::default(),
        has_contact: false,
        team: Team::default(),
        history: Vec::new(),
    };
    answer(service, &site, message).await
}

async fn set(service: &Service, column: &'static str, value: crate::db::Arg) {
    let sql: &'static str = match column {
        "ai_base" => "UPDATE sites SET ai_model = 'm', ai_base = $1 WHERE id = 'shop'",
        "ai_key" => "UPDATE sites SET ai_key = $1 WHERE id = 'shop'",
        _ => "UPDATE sites SET monthly_ai_replies = $1 WHERE id = 'shop'",
    };
    execute(service.db(), sql, vec![value]).await;
}

async fn used(service: &Service) -> i64 {
    quota::used(service.db(), "shop", service.now_ms()).await.expect("read")
}

on_both_databases! {
    async fn the_demos_questions_find_their_answers(database: &TestDatabase) {
        let service = service(database, false).await;
        for (question, topic) in [
            ("How long does delivery take?", "Delivery"),
            ("Do you ship to Germany?", "Delivery abroad"),
            ("Are the mugs dishwasher safe?", "Care"),
            ("How much is a mug?", "Mugs"),
            ("Can I book a pottery workshop?", "Workshops"),
            ("My bowl arrived broken", "Breakage"),
            ("can i get a refund", "Returns"),
            ("When are you open?", "Opening hours and address"),
            ("Do you sell gift vouchers?", "Gifts"),
        ] {
            let answer = ask(&service, "shop", question).await;
            assert_eq!(answer.topic.as_deref(), Some(topic), "{question}: {answer:?}");
            assert_eq!((answer.sources.len(), answer.used_fallback), (1, false), "{question}");
            assert_eq!(answer.outcome, Some(Outcome::Answered), "{question}");
        }
        let unknown = ask(&service, "shop", "What is the meaning of life?").await;
        let text = unknown.text.unwrap_or_default();
        assert!(text.starts_with("I found nothing about that on this site."), "{text}");
        assert_eq!(unknown.outcome, Some(Outcome::CouldNotAnswer));
        let rival = ask(&service, "rival", "How long does delivery take?").await;
        assert_eq!(rival.text.as_deref(), Some("The rival delivers by drone."));
        assert!(ask(&service, "shop", "I want to speak to a human").await.wants_person);
    }

    async fn replies_beyond_the_months_quota_are_fallbacks(database: &TestDatabase) {
        let service = service(database, true).await;
        let (base, requests) = endpoint("In two days.", 200).await;
        set(&service, "ai_base", base.into()).await;
        set(&service, "monthly_ai_replies", 2.into()).await;
        for expected in [AiStatus::Ok, AiStatus::Ok, AiStatus::QuotaInsufficient, AiStatus::QuotaInsufficient] {
            let answer = ask(&service, "shop", "How long does delivery take?").await;
            assert_eq!(answer.used_fallback, expected != AiStatus::Ok);
            assert_eq!(answer.status, expected);
        }
        assert_eq!((requests.load(Ordering::SeqCst), used(&service).await), (2, 2));
    }

    async fn one_visitor_and_one_address_do_not_spend_the_replies_of_others(database: &TestDatabase) {
        let service = service(database, true).await;
        let (base, requests) = endpoint("In two days.", 200).await;
        set(&service, "ai_base", base.into()).await;
        let ask = async |visitor: &str, address: &str| {
            let asker = Asker { visitor_id: Some(visitor), caller: caller(address) };
            ask_as(&service, "shop", "How long does delivery take?", asker).await.expect("an answer")
        };
        let mut answered = 0;
        for _ in 0..40 {
            let answer = ask("greedy", "192.0.2.1").await;
            answered += usize::from(!answer.used_fallback);
            let limited = AiStatus::Other("visitor_limit".to_owned());
            assert!(answer.status == AiStatus::Ok || answer.status == limited, "{:?}", answer.status);
        }
        // A new minute may begin meanwhile.
        assert!((10..=20).contains(&answered), "{answered}");
        for number in 0..200 {
            answered += usize::from(!ask(&format!("invented {number}"), "192.0.2.1").await.used_fallback);
        }
        assert!((60..=120).contains(&answered), "{answered}");
        assert_eq!(requests.load(Ordering::SeqCst), answered);
        assert!(!ask("another", "192.0.2.2").await.used_fallback);
    }

    async fn the_owner_is_told_once_when_most_replies_of_the_month_are_used(database: &TestDatabase) {
        let service = service_with_mail(database).await;
        set(&service, "monthly_ai_replies", 10.into()).await;
        for (id, role, disabled_ms) in [("o", "owner", None), ("a", "admin", None), ("x", "owner", Some(1_i64))] {
            add_operator(service.db(), [id, "acme", &format!("{id}@acme.example"), "Grace", role]).await;
            let sql = "UPDATE operators SET disabled_ms = $1 WHERE id = $2";
            execute(service.db(), sql, args![disabled_ms, id]).await;
        }
        let mails = async || {
            let sql = "SELECT id, recipient, content FROM emails ORDER BY no";
            let rows = service.db().all(sql, args![]).await.expect("read");
            let read = |row: &crate::db::Row| {
                let (id, sealed) = (row.text(0).expect("an id"), row.optional_bytes(2).expect("bytes"));
                let key = &service.0.options.key;
                let mail = crate::email_queue::unseal(key, &id, &sealed.expect("a text")).expect("unsealed");
                (row.text(1).expect("an address"), mail)
            };
            rows.iter().map(read).collect::<Vec<_>>()
        };
        for _ in 0..7 {
            ask(&service, "shop", "How long does delivery take?").await;
        }
        assert!(mails().await.is_empty());
        for _ in 0..5 {
            ask(&service, "shop", "How long does delivery take?").await;
        }
        let told = mails().await;
        assert_eq!(told.len(), 1, "{told:?}");
        let (to, (subject, text)) = &told[0];
        assert_eq!((to.as_str(), subject.as_str()), ("o@acme.example", "80% of this month's AI replies are used"));
        assert!(text.starts_with("shop: 8 / 10\n"), "{text}");
        assert!(text.contains("https://chat.example/console/settings/quotas"), "{text}");
    }

    async fn a_failed_reply_does_not_count(database: &TestDatabase) {
        let service = service(database, true).await;
        let (base, _) = endpoint("", 500).await;
        set(&service, "ai_base", base.into()).await;
        let answer = ask(&service, "shop", "Hello?").await;
        assert_eq!((answer.status, used(&service).await), (AiStatus::ProviderError, 0));
    }

    async fn a_reply_that_the_database_prevented_does_not_count(database: &TestDatabase) {
        let service = service(database, true).await;
        set(&service, "monthly_ai_replies", 2.into()).await;
        execute(service.db(), "DROP TABLE content_terms", vec![]).await;
        assert!(try_ask(&service, "shop", "How long does delivery take?").await.is_err());
        assert_eq!(used(&service).await, 0);
    }

    async fn an_endpoint_that_fails_for_a_site_answers_those_of_others(database: &TestDatabase) {
        let service = service(database, true).await;
        // Both use the same address, without a key; the shop has chosen a model that fails.
        let complete = |Json(request): Json<serde_json::Value>| async move {
            let status = if request["model"] == "broken" { 500 } else { 200 };
            let status = axum::http::StatusCode::from_u16(status).expect("a status");
            (status, Json(json!({ "choices": [{ "message": { "content": "In two days." } }] })))
        };
        let base = serve(axum::routing::post(complete)).await;
        let sql = "UPDATE sites SET ai_base = $1, ai_model = CASE WHEN id = 'shop' THEN 'broken' ELSE 'm' END";
        execute(service.db(), sql, args![base]).await;
        for _ in 0..8 {
            assert!(ask(&service, "shop", "How long does delivery take?").await.used_fallback);
        }
        let rival = ask(&service, "rival", "How long does delivery take?").await;
        assert_eq!((rival.text.as_deref(), rival.used_fallback), (Some("In two days."), false));
    }

    async fn a_key_of_another_service_or_a_private_endpoint_gives_the_fallback(database: &TestDatabase) {
        let service = service(database, false).await;
        let (base, requests) = endpoint("Inside", 200).await;
        set(&service, "ai_base", base.into()).await;
        let private = ask(&service, "shop", "Hello?").await;
        assert_eq!((private.status, private.used_fallback), (AiStatus::ProviderError, true));
        let sealed = ServiceKey::random().seal(&Site::ai_key_purpose("shop"), "key");
        set(&service, "ai_key", sealed.into()).await;
        let unreadable = ask(&service, "shop", "Hello?").await;
        assert_eq!((unreadable.status, unreadable.used_fallback), (AiStatus::ProviderError, true));
        assert_eq!(requests.load(Ordering::SeqCst), 0);
    }
}
