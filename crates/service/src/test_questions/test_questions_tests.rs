//! Tests of the test questions: what passes, what got better and worse, when they are asked, and who may.

use std::time::Duration;

use chat_protocol::admin::settings::{AnswerText, TestQuestions};
use chat_protocol::{ContentItem, ContentKind, ContentPage};
use serde_json::{Value as JsonValue, json};

use super::worker::once;
use super::*;
use crate::accounts::{Operator, Role};
use crate::content::{prepare, sync};
use crate::databases::{Kind, TestDatabase, on_both_databases};
use crate::db::{args, transaction};
use crate::error::ApiError;
use crate::knowledge::answers;
use crate::queue_runner::Next;
use crate::storage::Room;
use crate::visitors::fixture::{self, NOW, execute, number, operator, service};
use crate::{Service, purge};

const PATH: &str = "/sites/shop/test-questions";
const RUN: &str = "/sites/shop/test-questions/run";

async fn call(
    service: &Service,
    operator: Option<Operator>,
    method: &str,
    path: &str,
    body: &JsonValue,
) -> (u16, JsonValue) {
    let body = Some(body.clone()).filter(|body| !body.is_null());
    let (status, answer) = fixture::call(service, routes(), operator, method, path, body).await;
    (status.as_u16(), answer)
}

/// Calls a route as an admin of the site's tenant. Returns the questions.
async fn ann(service: &Service, method: &str, path: &str, body: JsonValue) -> TestQuestions {
    let (status, answer) = call(service, Some(operator("acme", Role::Admin)), method, path, &body).await;
    assert_eq!(status, 200, "{method} {path}: {answer}");
    serde_json::from_value(answer["data"].clone()).expect("test questions")
}

/// Adds an answer, and returns its id.
async fn know(service: &Service, question: &str, answer: &str) -> String {
    let text =
        AnswerText { question: question.to_owned(), answer: answer.to_owned(), locale: "en".to_owned() };
    let added: Result<_, ApiError> =
        transaction!(service.db(), |tx| answers::add(tx, NOW, "shop", &text).await).await;
    added.expect("added").id
}

async fn forget(service: &Service, id: &str) {
    let id = id.to_owned();
    let deleted: Result<(), ApiError> =
        transaction!(service.db(), |tx| answers::delete(tx, "shop", &id).await).await;
    deleted.expect("deleted");
}

async fn sync_page(service: &Service, path: &str, title: &str, content: &str) {
    let item = ContentItem {
        locale: Some("en".to_owned()),
        path: Some(path.to_owned()),
        title: Some(title.to_owned()),
        content: Some(content.to_owned()),
        ..ContentItem::new("page-1".to_owned(), ContentKind::Page)
    };
    let (items, prepared) = (vec![item.clone()], prepare(vec![item]));
    let page =
        ContentPage { snapshot_id: "1".to_owned(), page: 1, complete: true, items, refused: Vec::new() };
    let synced: Result<(), ApiError> = transaction!(service.db(), |tx| {
        sync(tx, NOW, "shop", &page, prepared, &Room::endless()).await.map(drop)
    })
    .await;
    synced.expect("synced");
}

fn question(question: &str, expects: &str, expected: &str) -> JsonValue {
    json!({ "question": question, "expects": expects, "expected": expected })
}

/// Asks what is due until nothing is.
async fn ask_all(service: &Service) {
    while once(service).await.expect("asked") == Next::Now {}
}

/// Lets the questions be asked, and returns what came of them.
async fn run_now(service: &Service) -> TestQuestions {
    assert!(ann(service, "POST", RUN, JsonValue::Null).await.is_running);
    ask_all(service).await;
    let shown = ann(service, "GET", PATH, JsonValue::Null).await;
    assert!(!shown.is_running);
    shown
}

fn passed(shown: &TestQuestions) -> Vec<Option<bool>> {
    shown.questions.iter().map(|question| question.result.as_ref().map(|result| result.passed)).collect()
}

/// Lets the time be as if the knowledge had not changed for a while.
async fn let_pass(service: &Service) {
    let sql = "UPDATE test_sets SET due_ms = due_ms - $1, changed_ms = changed_ms - $1";
    execute(service.db(), sql, args![600_000_i64]).await;
}

on_both_databases! {
    async fn a_question_passes_if_the_assistant_does_what_is_expected(database: &TestDatabase) {
        let service = service(database).await;
        let id = know(&service, "Do you ship to Norway?", "Yes, within 14 days, free of charge.").await;
        sync_page(&service, "/glazes/", "Our celadon glaze", "Celadon glaze is fired at 1280 degrees.").await;
        let cases = [
            (question("Do you ship to Norway?", "page", &id), true),
            (question("Do you ship to Norway?", "page", "/glazes"), false),
            (question("How is your celadon glaze fired?", "page", "/glazes"), true),
            (question("Do you ship to Norway?", "words", "FREE of charge\n14 days"), true),
            (question("Do you ship to Norway?", "words", "15 days"), false),
            (question("Do you ship to Norway?", "no_answer", ""), false),
            (question("Who won the election?", "no_answer", ""), true),
            (question("Who won the election?", "page", "/glazes"), false),
            (question("Who won the election?", "words", "election"), false),
        ];
        for (written, _) in &cases {
            ann(&service, "POST", PATH, written.clone()).await;
        }
        let shown = run_now(&service).await;
        let expected: Vec<Option<bool>> = cases.iter().map(|(_, passes)| Some(*passes)).collect();
        assert_eq!(passed(&shown), expected, "{shown:#?}");
        let run = shown.run.expect("a run");
        assert_eq!((run.passed, run.failed, run.better, run.worse, run.threshold), (4, 5, 0, 0, 500));
        assert!(!run.only_passages && run.before.is_none());
        let first = shown.questions[0].result.clone().expect("a result");
        assert_eq!((first.sources[0].id.as_str(), first.answer.contains("14 days")), (&*format!("answer:{id}"), true));
        assert!(first.sources[0].certainty >= 500, "{first:?}");
        for table in ["conversations", "visitors", "messages", "ai_usage", "events"] {
            let sql = sqlx::AssertSqlSafe(format!("SELECT count(*) FROM {table}"));
            let rows = service.db().one(sql, args![]).await.expect("a row").int(0).expect("a number");
            assert_eq!(rows, 0, "nothing of a visitor is stored in {table}");
        }
    }

    async fn a_site_with_an_endpoint_is_tested_by_what_the_endpoint_would_get(database: &TestDatabase) {
        let service = service(database).await;
        let id = know(&service, "Do you ship to Norway?", "Yes, within 14 days.").await;
        // Nothing listens there, and nobody asks it.
        let sql = "UPDATE sites SET ai_base = 'http://127.0.0.1:1/v1', ai_model = 'm' WHERE id = 'shop'";
        execute(service.db(), sql, args![]).await;
        for written in [
            question("Do you ship to Norway?", "page", &id),
            question("Do you ship to Norway?", "words", "14 days"),
            question("Do you ship to Norway?", "no_answer", ""),
            question("Who won the election?", "no_answer", ""),
        ] {
            ann(&service, "POST", PATH, written).await;
        }
        let shown = run_now(&service).await;
        assert_eq!(passed(&shown), [Some(true), Some(true), Some(false), Some(true)]);
        assert!(shown.run.expect("a run").only_passages);
        let result = shown.questions[0].result.clone().expect("a result");
        assert_eq!((result.outcome, result.answer.as_str()), (None, ""));
        assert_eq!(number(service.db(), "SELECT count(*) FROM ai_usage", args![]).await, 0);
    }

    async fn the_threshold_of_the_site_decides(database: &TestDatabase) {
        let service = service(database).await;
        know(&service, "Do you ship to Norway?", "Yes, within 14 days.").await;
        ann(&service, "POST", PATH, question("Do you ship to Norway?", "words", "14 days")).await;
        assert_eq!(passed(&run_now(&service).await), [Some(true)]);
        execute(service.db(), "UPDATE sites SET answer_threshold = 1000 WHERE id = 'shop'", args![]).await;
        let_pass(&service).await;
        let shown = run_now(&service).await;
        let run = shown.run.clone().expect("a run");
        assert_eq!((passed(&shown), run.threshold, run.worse), (vec![Some(false)], 1000, 1));
        let result = shown.questions[0].result.clone().expect("a result");
        assert!(!result.sources.is_empty(), "it is shown as what may help: {result:?}");
    }

    async fn a_change_of_the_knowledge_shows_what_got_better_and_what_got_worse(database: &TestDatabase) {
        let service = service(database).await;
        let id = know(&service, "Do you ship to Norway?", "Yes, within 14 days.").await;
        for written in [
            question("Do you ship to Norway?", "words", "14 days"),
            question("Do you repair broken teapots?", "words", "kiln master"),
        ] {
            ann(&service, "POST", PATH, written).await;
        }
        assert_eq!(passed(&run_now(&service).await), [Some(true), Some(false)]);
        ask_all(&service).await;
        let idle = "SELECT count(*) FROM test_sets WHERE due_ms IS NULL AND changed_ms IS NULL";
        assert_eq!(number(service.db(), idle, args![]).await, 1, "nothing has changed since");

        forget(&service, &id).await;
        know(&service, "Do you repair broken teapots?", "Our kiln master does.").await;
        ask_all(&service).await;
        let waiting = ann(&service, "GET", PATH, JsonValue::Null).await;
        assert_eq!((passed(&waiting), waiting.is_running), (vec![Some(true), Some(false)], false), "more may follow");
        let_pass(&service).await;
        ask_all(&service).await;
        let after = ann(&service, "GET", PATH, JsonValue::Null).await;
        assert_eq!(passed(&after), [Some(false), Some(true)]);
        let run = after.run.clone().expect("a run");
        assert_eq!((run.better, run.worse, run.before.is_some()), (1, 1, true));
        // Another run without a difference does not hide what has changed.
        let again = run_now(&service).await.run.expect("a run");
        assert_eq!((again.better, again.worse, again.before), (1, 1, run.before));
        assert_eq!(number(service.db(), "SELECT count(*) FROM test_runs", args![]).await, 2);

        // A result belongs to the question as it was asked.
        let changed = question("Do you ship to Norway?", "no_answer", "");
        let path = format!("{PATH}/{}", after.questions[0].id);
        assert_eq!(passed(&ann(&service, "PUT", &path, changed).await), [None, Some(true)]);
    }

    async fn every_kind_of_change_lets_the_questions_be_asked(database: &TestDatabase) {
        let service = service(database).await;
        let db = service.db();
        let changes = async || {
            let noted = number(db, "SELECT count(*) FROM knowledge_changes", args![]).await;
            execute(db, "DELETE FROM knowledge_changes", args![]).await;
            noted
        };
        know(&service, "Early?", "Yes.").await;
        assert_eq!(changes().await, 0, "a site without test questions is not noted");
        ann(&service, "POST", PATH, question("Late?", "no_answer", "")).await;
        let id = know(&service, "Do you ship?", "Yes.").await;
        assert_eq!(changes().await, 1);
        execute(db, "UPDATE answers SET answer = 'No.' WHERE site_id = 'shop'", args![]).await;
        assert_eq!(changes().await, 1);
        forget(&service, &id).await;
        assert_eq!(changes().await, 1);
        sync_page(&service, "/a", "Title", "Text.").await;
        assert_eq!(changes().await, 1);
        sync_page(&service, "/a", "Title", "Text.").await;
        assert_eq!(changes().await, 0, "the page is the same");
        sync_page(&service, "/a", "Title", "Another text.").await;
        assert_eq!(changes().await, 1);
        execute(db, "DELETE FROM content WHERE site_id = 'shop'", args![]).await;
        assert_eq!(changes().await, 1);
        execute(db, "UPDATE sites SET ai_base = 'https://ai.example' WHERE id = 'shop'", args![]).await;
        assert_eq!(changes().await, 1);
        execute(db, "UPDATE sites SET answer_threshold = 600 WHERE id = 'shop'", args![]).await;
        assert_eq!(changes().await, 1);
        execute(db, "UPDATE sites SET name = 'Shop' WHERE id = 'shop'", args![]).await;
        assert_eq!(changes().await, 0);
    }

    async fn a_site_that_changes_all_the_time_is_asked_nevertheless(database: &TestDatabase) {
        let service = service(database).await;
        ann(&service, "POST", PATH, question("Late?", "no_answer", "")).await;
        for change in 0..3 {
            know(&service, &format!("Question {change}?"), "Yes.").await;
            ask_all(&service).await;
        }
        let due = "SELECT count(*) FROM test_sets WHERE due_ms > changed_ms AND due_ms <= changed_ms + 600000";
        assert_eq!(number(service.db(), due, args![]).await, 1);
        execute(service.db(), "UPDATE test_sets SET changed_ms = changed_ms - 700000", args![]).await;
        know(&service, "One more?", "Yes.").await;
        ask_all(&service).await;
        assert_eq!(passed(&ann(&service, "GET", PATH, JsonValue::Null).await), [Some(true)]);
    }

    async fn one_node_asks_a_site_at_a_time_and_tenants_take_turns(database: &TestDatabase) {
        let service = service(database).await;
        for (tenant, site) in [("acme", "shop"), ("acme", "blog"), ("other", "rival")] {
            let path = format!("/sites/{site}/test-questions");
            for (path, body) in [(path.clone(), question("Open?", "no_answer", "")), (format!("{path}/run"), json!(null))] {
                let owner = Some(operator(tenant, Role::Owner));
                assert_eq!(call(&service, owner, "POST", &path, &body).await.0, 200);
            }
        }
        let (db, now_ms) = (service.db(), service.now_ms());
        let first = schedule::claim(db, now_ms).await.expect("claimed").0.expect("a site");
        let second = schedule::claim(db, now_ms).await.expect("claimed").0.expect("a site");
        let sites = [first.site_id.as_str(), second.site_id.as_str()];
        assert!(sites.contains(&"rival") && sites != ["rival", "rival"], "{sites:?}");
        assert_eq!(schedule::claim(db, now_ms).await.expect("nothing").0, None, "both tenants have a run");
        // A node that died has its site until the lease ends.
        execute(db, "UPDATE test_sets SET lease_until_ms = 1", args![]).await;
        ask_all(&service).await;
        assert_eq!(number(db, "SELECT count(*) FROM test_runs", args![]).await, 3);
        let late: Result<bool, crate::db::DbError> = transaction!(db, |tx| first.finish(tx).await).await;
        assert!(!late.expect("read"), "the lease of the dead node is over");
    }

    async fn a_list_takes_the_place_of_all_questions_and_keeps_results(database: &TestDatabase) {
        let service = service(database).await;
        let same = question("Who won the election?", "no_answer", "");
        ann(&service, "POST", PATH, question("Open?", "page", "/open")).await;
        ann(&service, "POST", PATH, same.clone()).await;
        run_now(&service).await;
        let new = question("Closed?", "page", "/closed");
        let replaced = ann(&service, "PUT", PATH, json!({ "questions": [new, same] })).await;
        assert_eq!(passed(&replaced), [None, Some(true)]);
        let many = |count| json!({ "questions": vec![question("Open?", "no_answer", ""); count] });
        assert_eq!(ann(&service, "PUT", PATH, many(200)).await.questions.len(), 200);
        let admin = || Some(operator("acme", Role::Admin));
        assert_eq!(call(&service, admin(), "PUT", PATH, &many(201)).await.0, 400);
        assert_eq!(call(&service, admin(), "POST", PATH, &question("Open?", "no_answer", "")).await.0, 409);
        assert_eq!(ann(&service, "PUT", PATH, many(0)).await.questions.len(), 0);
        assert!(ann(&service, "POST", RUN, JsonValue::Null).await.is_running);
        ask_all(&service).await;
        assert!(!ann(&service, "GET", PATH, JsonValue::Null).await.is_running, "there is nothing to ask");
    }

    async fn agents_read_and_strangers_see_nothing(database: &TestDatabase) {
        let service = service(database).await;
        let added = ann(&service, "POST", PATH, question("Celadon?", "words", "celadon")).await;
        let one = format!("{PATH}/{}", added.questions[0].id);
        let elsewhere = one.replace("shop", "blog");
        let list = json!({ "questions": [] });
        let calls = [
            ("GET", PATH, JsonValue::Null),
            ("POST", PATH, question("Cobalt?", "no_answer", "")),
            ("PUT", PATH, list),
            ("POST", RUN, JsonValue::Null),
            ("PUT", &one, question("Cobalt?", "no_answer", "")),
            ("DELETE", &one, JsonValue::Null),
        ];
        for (method, path, body) in &calls {
            assert_eq!(call(&service, None, method, path, body).await.0, 401, "{method} {path}");
            let stranger = Some(operator("other", Role::Owner));
            let (status, answer) = call(&service, stranger, method, path, body).await;
            assert_eq!(status, 404, "{method} {path}");
            assert!(!answer.to_string().contains("eladon"), "{answer}");
            let agent = Some(operator("acme", Role::Agent));
            let expected = if *method == "GET" { 200 } else { 403 };
            assert_eq!(call(&service, agent, method, path, body).await.0, expected, "{method} {path}");
        }
        for (method, body) in [("PUT", question("Cobalt?", "no_answer", "")), ("DELETE", JsonValue::Null)] {
            let admin = Some(operator("acme", Role::Admin));
            assert_eq!(call(&service, admin, method, &elsewhere, &body).await.0, 404, "another site of the tenant");
        }
        assert_eq!(ann(&service, "DELETE", &one, JsonValue::Null).await.questions, []);
    }

    async fn refuses_questions_that_cannot_be_asked(database: &TestDatabase) {
        let service = service(database).await;
        for (body, field) in [
            (json!({}), "question"),
            (question("", "no_answer", ""), "question"),
            (question(" \n ", "no_answer", ""), "question"),
            (question(&"x".repeat(501), "no_answer", ""), "question"),
            (question("a\0b", "no_answer", ""), "question"),
            (question("Open?", "luck", ""), "expects"),
            (question("Open?", "page", ""), "expected"),
            (question("Open?", "page", "/a\n/b"), "expected"),
            (question("Open?", "words", "\n€\n"), "expected"),
            (question("Open?", "words", &"x".repeat(501)), "expected"),
            (question("Open?", "no_answer", "/a"), "expected"),
            (json!({ "question": "Open?", "expects": "no_answer", "locale": "en_US!" }), "locale"),
            (json!({ "question": "Open?", "expects": "no_answer", "surprise": 1 }), "surprise"),
        ] {
            let admin = Some(operator("acme", Role::Admin));
            let (status, answer) = call(&service, admin, "POST", PATH, &body).await;
            let message = answer["error"]["message"].as_str().unwrap_or_default().to_owned();
            assert!(status == 400 && message.contains(field), "{body}: {answer}");
        }
    }

    async fn a_deleted_site_leaves_nothing_of_its_questions(database: &TestDatabase) {
        let service = service(database).await;
        ann(&service, "POST", PATH, question("Open?", "no_answer", "")).await;
        run_now(&service).await;
        know(&service, "Open?", "Yes.").await;
        execute(service.db(), "UPDATE sites SET deleted_ms = 1 WHERE id = 'shop'", args![]).await;
        purge::once(&service).await.expect("purged");
        ask_all(&service).await;
        for table in ["test_questions", "test_runs", "test_sets", "knowledge_changes"] {
            let sql = sqlx::AssertSqlSafe(format!("SELECT count(*) FROM {table}"));
            let rows = service.db().one(sql, args![]).await.expect("a row").int(0).expect("a number");
            assert_eq!(rows, 0, "{table}");
        }
    }

    async fn the_worker_asks_when_it_is_told_and_stops_with_the_service(database: &TestDatabase) {
        let service = service(database).await;
        let worker = tokio::spawn({
            let service = service.clone();
            async move { run(&service).await }
        });
        ann(&service, "POST", PATH, question("Open?", "no_answer", "")).await;
        ann(&service, "POST", RUN, JsonValue::Null).await;
        while passed(&ann(&service, "GET", PATH, JsonValue::Null).await) != [Some(true)] {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        service.close().await;
        worker.await.expect("ended");
    }
}
