//! Tests of answers by the AI in place of people.

use chat_protocol::{SendMessage, VisitorProfile};

use super::*;
use crate::connector_api::connector_api_tests::SlowAi;
use crate::connector_api::send::send;
use crate::conversations::desk::{self, OperatorMessage};
use crate::conversations::{Author, lock};
use crate::databases::{Kind, TestDatabase, on_both_databases};
use crate::presence;
use crate::queue_runner::QueueRunner;
use crate::visitors::fixture::{add_sites, execute, number, rows, store_operator};
use crate::{ServiceKey, ServiceOptions};

const QUESTION: &str = "Do you ship to Norway?";

fn options(database: &TestDatabase) -> ServiceOptions {
    let key = ServiceKey::new(&[7; crate::KEY_BYTES]).expect("a key");
    ServiceOptions { allow_private_ai: true, ..ServiceOptions::new(&database.address, key) }
}

/// Opens a service whose sites answer by people first, and by the AI after five minutes. An operator of each
/// tenant is online.
async fn open(database: &TestDatabase) -> Service {
    let service = Service::open(options(database)).await.expect("opened");
    let db = service.db();
    add_sites(db).await;
    execute(db, "UPDATE sites SET answering = 'people_first', ai_after_minutes = 5", args![]).await;
    let now_ms = service.now_ms();
    let opened: Result<(), ApiError> = transaction!(db, |tx| {
        for (operator, tenant) in [("op", "acme"), ("rival", "other")] {
            store_operator(tx, [operator, tenant, &format!("{operator}@shop.example"), "Ada", "agent"])
                .await?;
            presence::open_console(tx, now_ms, tenant, operator).await?;
        }
        Ok(())
    })
    .await;
    opened.expect("opened");
    service
}

/// Sends a visitor's message, and returns the `data` of the response.
async fn say(service: &Service, site: &str, id: Option<&str>, text: &str) -> serde_json::Value {
    let site = Arc::new(sites::find(service.db(), site).await.expect("read").expect("a site"));
    let body = SendMessage {
        conversation_id: id.map(Into::into),
        message: text.to_owned(),
        locale: Some("en".to_owned()),
        source_page: None,
        visitor: VisitorProfile::default(),
    };
    let sent = send(service, &site, body, None, None, Caller::Anybody, None).await.expect("sent");
    let envelope: serde_json::Value = serde_json::from_slice(sent.parts().2).expect("JSON");
    envelope["data"].clone()
}

/// Begins a conversation, whose visitor nobody answers at once.
async fn begin(service: &Service, site: &str) -> String {
    let data = say(service, site, None, QUESTION).await;
    assert_eq!(data["message"], serde_json::Value::Null);
    data["conversationId"].as_str().expect("an id").to_owned()
}

/// Lets the five minutes pass.
async fn wait(service: &Service) {
    execute(service.db(), "UPDATE conversations SET ai_due_ms = ai_due_ms - 300000", args![]).await;
}

fn queue(service: &Service) -> LateReplies {
    LateReplies::open(service).expect("opened").expect("switched on")
}

/// Answers whatever is due at a time.
async fn answer_due(service: &Service, now_ms: i64) {
    let mut runner = QueueRunner::new(queue(service));
    runner.start_due(now_ms).await.expect("claimed");
    runner.finish_all().await;
}

/// Returns the roles of the messages.
async fn roles(service: &Service) -> Vec<String> {
    let rows = rows(service.db(), "SELECT role FROM messages ORDER BY no", args![]).await;
    rows.iter().map(|row| row.text(0).expect("a role")).collect()
}

async fn due(service: &Service) -> i64 {
    let sql = "SELECT count(*) FROM conversations WHERE ai_due_ms IS NOT NULL";
    number(service.db(), sql, args![]).await
}

fn ada() -> Author {
    Author { id: "op".to_owned(), name: "Ada".to_owned() }
}

/// Answers the visitor as an operator.
async fn reply(service: &Service, id: &str) {
    let site = sites::find(service.db(), "shop").await.expect("read").expect("a site");
    let (now_ms, id) = (service.now_ms(), ConversationId::from(id));
    let message = OperatorMessage { text: "We do.".to_owned(), key: None, close: false };
    let answered: Result<StoredMessage, ApiError> =
        transaction!(service.db(), |tx| desk::answer(tx, now_ms, &site, &id, ada(), message).await).await;
    answered.expect("answered");
}

/// Begins a conversation and lets the AI of the shop write its answer. Returns the AI, the conversation, and
/// the task that answers.
async fn while_the_ai_writes(service: &Service) -> (SlowAi, String, tokio::task::JoinHandle<()>) {
    let ai = SlowAi::default();
    let endpoint = "UPDATE sites SET ai_model = 'm', ai_base = $1 WHERE id = 'shop'";
    execute(service.db(), endpoint, args![ai.start().await]).await;
    let id = begin(service, "shop").await;
    wait(service).await;
    let node = service.clone();
    let answering = tokio::spawn(async move { answer_due(&node, node.now_ms()).await });
    ai.asked.notified().await;
    (ai, id, answering)
}

on_both_databases! {
    async fn the_ai_answers_once_if_nobody_did_in_time_and_at_once_until_a_person_answers(database: &TestDatabase) {
        let service = open(database).await;
        let id = begin(&service, "shop").await;
        answer_due(&service, service.now_ms() + 290_000).await;
        assert_eq!(roles(&service).await, ["visitor"], "the time is not over");
        wait(&service).await;
        for _ in 0..2 {
            answer_due(&service, service.now_ms()).await;
        }
        assert_eq!(roles(&service).await, ["visitor", "assistant"]);
        let sql = "SELECT count(*) FROM conversations WHERE status = 'waiting' AND ai_due_ms IS NULL";
        assert_eq!(number(service.db(), sql, args![]).await, 1, "the visitor still waits for a person");
        let next = say(&service, "shop", Some(&id), "And to Sweden?").await;
        assert!(next["message"]["content"].is_string(), "the visitor has waited already: {next}");
        reply(&service, &id).await;
        let last = say(&service, "shop", Some(&id), "Thank you. And to Iceland?").await;
        assert_eq!((&last["message"], due(&service).await), (&serde_json::Value::Null, 0), "Ada answers");
    }

    async fn the_wait_survives_a_restart(database: &TestDatabase) {
        let service = open(database).await;
        begin(&service, "shop").await;
        service.close().await;
        drop(service);
        let service = Service::open(options(database)).await.expect("opened");
        wait(&service).await;
        answer_due(&service, service.now_ms()).await;
        assert_eq!(roles(&service).await, ["visitor", "assistant"]);
    }

    async fn what_was_written_together_is_answered_together(database: &TestDatabase) {
        let service = open(database).await;
        let id = begin(&service, "shop").await;
        say(&service, "shop", Some(&id), "Hello?").await;
        wait(&service).await;
        answer_due(&service, service.now_ms()).await;
        let answers = rows(
            service.db(),
            "SELECT reply_to, content FROM messages WHERE role = 'assistant'",
            args![],
        ).await;
        assert_eq!((answers.len(), answers[0].int(0).expect("a number")), (1, 2));
        let text = answers[0].text(1).expect("a text");
        assert!(text.contains("found nothing"), "the question is answered, not the greeting: {text}");
    }

    async fn the_ai_does_not_follow_a_person_who_has_answered_taken_over_or_closed(database: &TestDatabase) {
        let service = open(database).await;
        let db = service.db();
        let site = sites::find(db, "shop").await.expect("read").expect("a site");
        let [answered, taken, closed] = [
            begin(&service, "shop").await, begin(&service, "shop").await, begin(&service, "shop").await,
        ];
        wait(&service).await;
        reply(&service, &answered).await;
        let now_ms = service.now_ms();
        let changed: Result<(), ApiError> = transaction!(db, |tx| {
            desk::take_over(tx, now_ms, &site, &taken.as_str().into(), &ada(), None).await?;
            let mut conversation = lock(tx, "shop", &closed.as_str().into()).await?;
            conversation.set_status(now_ms, Status::Closed);
            Ok(store(tx, &conversation).await?)
        }).await;
        changed.expect("changed");
        assert_eq!(due(&service).await, 0);
        answer_due(&service, now_ms + 1_000_000).await;
        assert_eq!(roles(&service).await, ["visitor", "visitor", "visitor", "operator"]);
    }

    async fn an_answer_is_dropped_if_a_person_answers_while_the_ai_writes_it(database: &TestDatabase) {
        let service = open(database).await;
        let (ai, id, answering) = while_the_ai_writes(&service).await;
        reply(&service, &id).await;
        ai.answers.notify_one();
        answering.await.expect("no panic");
        assert_eq!(roles(&service).await, ["visitor", "operator"]);
    }

    async fn what_is_written_while_the_ai_writes_is_due_at_once(database: &TestDatabase) {
        let service = open(database).await;
        let (ai, id, answering) = while_the_ai_writes(&service).await;
        let more = say(&service, "shop", Some(&id), "And to Sweden?").await;
        assert_eq!(more["message"], serde_json::Value::Null, "one answer at a time");
        ai.answers.notify_one();
        answering.await.expect("no panic");
        assert_eq!(roles(&service).await, ["visitor", "visitor", "assistant"]);
        ai.answers.notify_one();
        answer_due(&service, service.now_ms()).await;
        assert_eq!(roles(&service).await, ["visitor", "visitor", "assistant", "assistant"]);
        assert_eq!(due(&service).await, 0);
    }

    async fn two_nodes_answer_a_turn_once(database: &TestDatabase) {
        let service = open(database).await;
        let other = Service::open_beside(options(database)).await.expect("opened");
        for _ in 0..5 {
            begin(&service, "shop").await;
        }
        wait(&service).await;
        let now_ms = service.now_ms();
        tokio::join!(answer_due(&service, now_ms), answer_due(&other, now_ms));
        for _ in 0..5 {
            answer_due(&other, now_ms).await;
        }
        let sql = "SELECT count(*) FROM messages WHERE role = 'assistant'";
        assert_eq!(number(service.db(), sql, args![]).await, 5);
        other.close().await;
    }

    async fn a_claim_of_a_node_that_died_is_taken_from_the_end_of_its_lease_on(database: &TestDatabase) {
        let service = open(database).await;
        begin(&service, "shop").await;
        wait(&service).await;
        let now_ms = service.now_ms();
        let (claimed, _) = queue(&service).claim(now_ms, 16).await.expect("claimed");
        assert_eq!(claimed.len(), 1);
        drop(claimed);
        answer_due(&service, now_ms + LEASE_MS - 1).await;
        assert_eq!(roles(&service).await, ["visitor"]);
        answer_due(&service, now_ms + LEASE_MS).await;
        assert_eq!(roles(&service).await, ["visitor", "assistant"]);
    }

    async fn a_tenant_with_many_who_wait_leaves_places_for_others(database: &TestDatabase) {
        let service = open(database).await;
        for _ in 0..8 {
            begin(&service, "shop").await;
        }
        begin(&service, "rival").await;
        wait(&service).await;
        let (queue, now_ms) = (queue(&service), service.now_ms());
        let mut claims = Vec::new();
        loop {
            let (claimed, _) = queue.claim(now_ms, 16 - claims.len()).await.expect("claimed");
            if claimed.is_empty() {
                break;
            }
            claims.extend(claimed);
        }
        let of_rival = claims.iter().filter(|claimed| claimed.site_id == "rival").count();
        assert_eq!((claims.len(), of_rival), (MAX_PER_TENANT + 1, 1));
    }

    async fn the_ai_stays_silent_where_the_site_has_changed_its_mind(database: &TestDatabase) {
        let service = open(database).await;
        let id = begin(&service, "shop").await;
        wait(&service).await;
        execute(service.db(), "UPDATE sites SET answering = 'people_only'", args![]).await;
        answer_due(&service, service.now_ms()).await;
        assert_eq!((roles(&service).await.len(), due(&service).await), (1, 0));
        let off = "UPDATE sites SET answering = 'people_first', ai_after_minutes = NULL";
        execute(service.db(), off, args![]).await;
        say(&service, "shop", Some(&id), "Hello?").await;
        assert_eq!(due(&service).await, 0, "the setting is off");
    }

    async fn a_flood_of_visitors_gets_no_more_answers_a_minute_than_the_limit(database: &TestDatabase) {
        let service = open(database).await;
        // The limit is that of a minute of the clock.
        let minute = || service.now_ms() / 60_000;
        loop {
            begin(&service, "shop").await;
            wait(&service).await;
            let began = minute();
            while service.0.rates.take_late_ai_reply(&service, "shop").await.expect("counted") {}
            answer_due(&service, service.now_ms()).await;
            if began == minute() {
                break;
            }
        }
        assert_eq!(due(&service).await, 1, "it is postponed");
    }
}
