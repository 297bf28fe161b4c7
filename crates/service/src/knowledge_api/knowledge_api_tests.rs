//! Tests the admin API of answers: roles, tenants and bodies.

use axum::http::StatusCode;
use serde_json::{Value as JsonValue, json};

use super::*;
use crate::accounts::Role;
use crate::databases::{Kind, TestDatabase, on_both_databases};
use crate::visitors::fixture::{self, operator, service};

async fn call(
    service: &Service,
    operator: Option<Operator>,
    method: &str,
    path: &str,
    body: &JsonValue,
) -> (StatusCode, JsonValue) {
    let body = Some(body.clone()).filter(|body| !body.is_null());
    fixture::call(service, routes(), operator, method, path, body).await
}

fn celadon() -> JsonValue {
    json!({ "question": "Do you glaze in celadon?", "answer": "Yes, at 1280 degrees." })
}

on_both_databases! {
    async fn an_admin_writes_an_answer_that_the_assistant_finds(database: &TestDatabase) {
        let service = service(database).await;
        let ann = || Some(operator("acme", Role::Admin));
        let (status, added) = call(&service, ann(), "POST", "/sites/shop/answers", &celadon()).await;
        assert_eq!(status, 200, "{added}");
        let id = added["data"]["answer"]["id"].as_str().expect("an id").to_owned();
        let path = format!("/sites/shop/answers/{id}");
        let search = json!({ "question": "celadon", "locale": "en" });
        let (_, found) = call(&service, ann(), "POST", "/sites/shop/knowledge/search", &search).await;
        assert_eq!(found["data"]["passages"][0]["id"], format!("answer:{id}"));
        let (_, elsewhere) = call(&service, ann(), "POST", "/sites/blog/knowledge/search", &search).await;
        assert_eq!(elsewhere["data"]["passages"], json!([]));

        let change = json!({ "question": "Do you use cobalt?", "answer": "No.", "locale": "en-GB" });
        let (_, changed) = call(&service, ann(), "PUT", &path, &change).await;
        assert_eq!(changed["data"]["answer"]["locale"], "en-GB");
        assert_eq!(call(&service, ann(), "GET", &path, &JsonValue::Null).await.1["data"], changed["data"]);
        let (_, listed) = call(&service, ann(), "GET", "/sites/shop/answers", &JsonValue::Null).await;
        assert_eq!((&listed["data"]["answers"][0], &listed["data"]["next"]), (&changed["data"]["answer"], &json!(null)));
        assert_eq!(call(&service, ann(), "DELETE", &path, &JsonValue::Null).await.0, 200);
        assert_eq!(call(&service, ann(), "DELETE", &path, &JsonValue::Null).await.0, 404);

        let log = crate::audit::list(service.db(), "acme", &crate::audit::Filter::default(), None, None).await;
        let log = serde_json::to_string(&log.expect("a log")).expect("JSON");
        for action in ["answer.create", "answer.update", "answer.delete"] {
            assert_eq!(log.matches(action).count(), 1, "{log}");
        }
        assert!(!log.contains("celadon") && !log.contains("cobalt"), "no words: {log}");
    }

    async fn pages_of_the_list_neither_miss_nor_repeat_an_answer(database: &TestDatabase) {
        let service = service(database).await;
        let ann = || Some(operator("acme", Role::Admin));
        for number in 0..7 {
            let draft = json!({ "question": format!("Question {number}"), "answer": "Yes." });
            call(&service, ann(), "POST", "/sites/shop/answers", &draft).await;
        }
        let (mut questions, mut path) = (Vec::new(), "/sites/shop/answers?limit=3".to_owned());
        loop {
            let (_, page) = call(&service, ann(), "GET", &path, &JsonValue::Null).await;
            let listed = page["data"]["answers"].as_array().expect("a list").clone();
            questions.extend(listed.iter().map(|answer| answer["question"].as_str().expect("text").to_owned()));
            match page["data"]["next"].as_i64() {
                Some(next) => path = format!("/sites/shop/answers?limit=3&before={next}"),
                None => break,
            }
        }
        let expected: Vec<String> = (0..7).rev().map(|number| format!("Question {number}")).collect();
        assert_eq!(questions, expected);
    }

    async fn a_list_can_be_searched_for_a_text(database: &TestDatabase) {
        let service = service(database).await;
        let ann = || Some(operator("acme", Role::Admin));
        for (question, answer) in [("Is it 100% clay?", "Yes."), ("Do you ship?", "Within 100 km."), ("Open?", "At 9.")] {
            let draft = json!({ "question": question, "answer": answer });
            call(&service, ann(), "POST", "/sites/shop/answers", &draft).await;
        }
        for (text, found) in [("100", 2), ("100%25", 1), ("OPEN", 1), ("at%209", 1), ("nothing", 0), ("", 3)] {
            let path = format!("/sites/shop/answers?q={text}");
            let (_, page) = call(&service, ann(), "GET", &path, &JsonValue::Null).await;
            assert_eq!(page["data"]["answers"].as_array().map(Vec::len), Some(found), "{text}");
        }
    }

    async fn an_admin_asks_as_a_visitor_and_sees_the_sources(database: &TestDatabase) {
        let service = service(database).await;
        let ann = || Some(operator("acme", Role::Admin));
        let (_, added) = call(&service, ann(), "POST", "/sites/shop/answers", &celadon()).await;
        let asked = json!({ "question": "Do you glaze in celadon?", "locale": "en" });
        let (status, answer) = call(&service, ann(), "POST", "/sites/shop/knowledge/ask", &asked).await;
        assert_eq!((status, &answer["data"]["text"]), (StatusCode::OK, &json!("Yes, at 1280 degrees.")), "{answer}");
        let id = added["data"]["answer"]["id"].as_str().expect("an id");
        assert_eq!(answer["data"]["sources"][0]["id"], format!("answer:{id}"));
        let certainty = answer["data"]["sources"][0]["certainty"].as_i64().expect("a certainty");
        let threshold = answer["data"]["threshold"].as_i64().expect("a threshold");
        assert!((threshold..=1000).contains(&certainty), "{answer}");
        let agent = Some(operator("acme", Role::Agent));
        assert_eq!(call(&service, agent, "POST", "/sites/shop/knowledge/ask", &asked).await.0, StatusCode::FORBIDDEN);
        let other = Some(operator("other", Role::Owner));
        assert_eq!(call(&service, other, "POST", "/sites/shop/knowledge/ask", &asked).await.0, StatusCode::NOT_FOUND);
    }

    async fn another_threshold_can_be_tried_and_is_not_stored(database: &TestDatabase) {
        let service = service(database).await;
        let ann = || Some(operator("acme", Role::Admin));
        call(&service, ann(), "POST", "/sites/shop/answers", &celadon()).await;
        let ask = async |threshold: JsonValue| {
            let asked = json!({ "question": "Do you glaze in celadon?", "threshold": threshold });
            call(&service, ann(), "POST", "/sites/shop/knowledge/ask", &asked).await
        };
        let outcome = async |threshold: JsonValue| {
            let (status, answer) = ask(threshold).await;
            assert_eq!(status, 200, "{answer}");
            (answer["data"]["outcome"].clone(), answer["data"]["threshold"].clone())
        };
        assert_eq!(outcome(json!(null)).await, (json!("answered"), json!(500)));
        assert_eq!(outcome(json!(1000)).await, (json!("could_not_answer"), json!(1000)));
        assert_eq!(outcome(json!(0)).await, (json!("answered"), json!(0)));
        assert_eq!(outcome(json!(null)).await, (json!("answered"), json!(500)));
        let search = json!({ "question": "celadon", "threshold": 400 });
        let (_, found) = call(&service, ann(), "POST", "/sites/shop/knowledge/search", &search).await;
        assert_eq!(found["data"]["threshold"], 400);
        for invalid in [json!(-1), json!(1001), json!(0.5), json!("500"), json!(i64::MAX)] {
            assert_eq!(ask(invalid.clone()).await.0, StatusCode::BAD_REQUEST, "{invalid}");
        }
    }

    async fn agents_read_and_strangers_see_nothing(database: &TestDatabase) {
        let service = service(database).await;
        let (_, added) =
            call(&service, Some(operator("acme", Role::Owner)), "POST", "/sites/shop/answers", &celadon()).await;
        let id = added["data"]["answer"]["id"].as_str().expect("an id");
        let one = format!("/sites/shop/answers/{id}");
        let elsewhere = format!("/sites/rival/answers/{id}");
        let search = json!({ "question": "celadon" });
        let calls = [
            ("GET", "/sites/shop/answers", JsonValue::Null),
            ("POST", "/sites/shop/answers", celadon()),
            ("GET", &one, JsonValue::Null),
            ("PUT", &one, celadon()),
            ("DELETE", &one, JsonValue::Null),
            ("POST", "/sites/shop/knowledge/search", search),
        ];
        for (method, path, body) in &calls {
            let (status, _) = call(&service, None, method, path, body).await;
            assert_eq!(status, 401, "{method} {path}");
            let stranger = Some(operator("other", Role::Owner));
            let (status, answer) = call(&service, stranger, method, path, body).await;
            assert_eq!(status, 404, "{method} {path}");
            assert!(!answer.to_string().contains("1280"), "{answer}");
            let agent = Some(operator("acme", Role::Agent));
            let (status, _) = call(&service, agent, method, path, body).await;
            let reads = *method == "GET" || path.ends_with("search");
            assert_eq!(status, if reads { 200 } else { 403 }, "{method} {path}");
        }
        for (method, body) in [("GET", JsonValue::Null), ("PUT", celadon()), ("DELETE", JsonValue::Null)] {
            let stranger = Some(operator("other", Role::Owner));
            let (status, _) = call(&service, stranger, method, &elsewhere, &body).await;
            assert_eq!(status, 404, "{method}: the id of another site's answer");
        }
        let (status, _) = call(&service, Some(operator("acme", Role::Agent)), "GET", &one, &JsonValue::Null).await;
        assert_eq!(status, 200, "nothing was changed");
    }

    async fn refuses_a_page_that_is_none_within_the_envelope(database: &TestDatabase) {
        let service = service(database).await;
        for query in ["limit=many", "before=x", "limit=-1", "surprise=1"] {
            let path = format!("/sites/shop/answers?{query}");
            let agent = Some(operator("acme", Role::Agent));
            let (status, answer) = call(&service, agent, "GET", &path, &JsonValue::Null).await;
            assert_eq!((status.as_u16(), &answer["error"]["code"]), (400, &json!("INVALID_REQUEST")), "{query}");
        }
    }

    async fn refuses_bodies_that_are_not_what_they_should_be(database: &TestDatabase) {
        let service = service(database).await;
        for body in [
            json!({}),
            json!({ "question": "Q" }),
            json!({ "question": "Q", "answer": "A", "extra": 1 }),
            json!({ "question": ["Q"], "answer": "A" }),
            json!({ "question": "", "answer": "A" }),
            json!({ "question": "x".repeat(100_000), "answer": "A" }),
            json!([]),
        ] {
            let ann = Some(operator("acme", Role::Admin));
            let (status, answer) = call(&service, ann, "POST", "/sites/shop/answers", &body).await;
            assert!([400, 413].contains(&status.as_u16()), "{status} {answer}");
            assert!(answer.to_string().len() < 1000);
        }
    }
}
