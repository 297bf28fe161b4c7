//! Every quirk of every provider: what an endpoint answered reaches the visitor, at the first try.

mod fake;

use std::time::Duration;

use chat_protocol::admin::settings::{AI_PROVIDERS, AiOptions, AiProvider};
use chat_protocol::{AiStatus, Role};
use serde_json::Value;

use self::fake::{ANSWER, BAD_HISTORY, BAD_QUESTION, Fake, KEY, Quirk, REFUSAL};
use super::breaker::MAX_FAILURES;
use super::{Ai, Answer, Asker, Endpoint, Phrases, Probed, Question, Turn};
use crate::knowledge::Passage;
use crate::rate::Caller;

const QUESTION: &str = "Can I return a mug?";

fn endpoint(provider: AiProvider, base: String) -> Endpoint {
    let id = provider.id.to_owned();
    Endpoint {
        base,
        key: Some(KEY.into()),
        model: "first".to_owned(),
        // Longer than any test: one that waits for it fails.
        timeout: Duration::from_hours(1),
        options: AiOptions { provider: id, ..AiOptions::default() },
    }
}

/// Asks as a visitor from a page, with pages that fit.
async fn ask(ai: &Ai, endpoint: &Endpoint, visitor: &str, said: &[(Role, &str)]) -> Answer {
    let history: Vec<_> =
        said.iter().map(|(role, text)| Turn { role: role.clone(), content: (*text).to_owned() }).collect();
    let passages = [Passage {
        id: "content:returns".to_owned(),
        title: "Returns".to_owned(),
        location: Some("/returns".to_owned()),
        text: "Mugs can be returned.".to_owned(),
        shown: String::new(),
        certainty: 1.0,
    }];
    let asker = Some(Asker { visitor_id: Some(visitor), caller: Caller::Anybody });
    let question = Question {
        site_id: "site_1",
        passages: &passages,
        visited: Some("- viewed /mugs"),
        history: &history,
        locale: Some("en-GB"),
        asker,
        ..Question::default()
    };
    ai.answer(Some(endpoint), &question).await
}

fn last_body(fake: &Fake) -> Value {
    fake.received.lock().expect("not poisoned").last().expect("a request").clone()
}

fn count(fake: &Fake) -> usize {
    fake.received.lock().expect("not poisoned").len()
}

fn assert_answers(answer: &Answer, why: &str) {
    assert_eq!((answer.text.as_deref(), &answer.status), (Some(ANSWER), &AiStatus::Ok), "{why}: {answer:?}");
    assert!(!answer.used_fallback && answer.problem.is_none(), "{why}");
    assert_eq!(answer.sources.len(), 1, "{why}");
}

#[tokio::test]
async fn what_every_provider_answers_reaches_the_visitor() {
    // The quirks, each with the requests that the first question takes.
    let quirks = [
        (Quirk::None, 1),
        (Quirk::NoSystem, 2),
        (Quirk::Thinks, 1),
        (Quirk::Parts, 1),
        (Quirk::Streams, 1),
        (Quirk::Compresses, 1),
        (Quirk::IsBusy, 2),
        (Quirk::IsOverloaded, 2),
    ];
    for provider in AI_PROVIDERS {
        for (quirk, requests) in quirks {
            let why = format!("{} {quirk:?}", provider.name);
            let (fake, base) = Fake::start(provider, quirk).await;
            let (ai, endpoint) = (Ai::new(true), endpoint(provider, base));
            assert_answers(&ask(&ai, &endpoint, "one", &[(Role::Visitor, QUESTION)]).await, &why);
            assert_eq!(count(&fake), requests, "{why}");
            let said = [
                (Role::Assistant, "Hello!"),
                (Role::Visitor, "Hi"),
                (Role::Operator, "<think>SECRET</think>Welcome."),
                (Role::Assistant, "How can I help?"),
                (Role::Visitor, "One moment."),
                (Role::Visitor, QUESTION),
            ];
            assert_answers(&ask(&ai, &endpoint, "one", &said).await, &why);
            assert_eq!(count(&fake), requests + 1, "{why}: what was learned is remembered");
            let body = last_body(&fake);
            assert!(!body.to_string().contains("SECRET"), "{why}: {body}");
            let tokens = (provider.id == "ollama").then_some(8192);
            assert_eq!(body["options"]["num_ctx"].as_u64(), tokens, "{why}");
        }
    }
}

#[tokio::test]
async fn one_visitors_refused_questions_leave_the_ai_to_others() {
    let quirks = [Quirk::Refuses, Quirk::Filters, Quirk::CallsTool, Quirk::OnlyThinks];
    for provider in AI_PROVIDERS {
        for quirk in quirks {
            let why = format!("{} {quirk:?}", provider.name);
            let (_fake, base) = Fake::start(provider, quirk).await;
            let (ai, endpoint) = (Ai::new(true), endpoint(provider, base));
            for _ in 0..MAX_FAILURES + 2 {
                let answer = ask(&ai, &endpoint, "one", &[(Role::Visitor, BAD_QUESTION)]).await;
                let shown = (answer.status.as_str(), answer.text.as_deref(), answer.used_fallback);
                let fallback = Phrases::of("", Some("en")).fallback;
                let expected = match quirk {
                    Quirk::Refuses if provider.id != "anthropic" => ("ok", Some(REFUSAL), false),
                    Quirk::Refuses | Quirk::Filters => ("blocked", None, false),
                    _ => ("provider_error", Some(fallback), true),
                };
                assert_eq!(shown, expected, "{why}");
                assert!(answer.sources.is_empty(), "{why}");
            }
            assert_answers(&ask(&ai, &endpoint, "two", &[(Role::Visitor, QUESTION)]).await, &why);
        }
    }
}

#[tokio::test]
async fn an_answer_that_was_cut_off_is_shown_as_such() {
    for provider in AI_PROVIDERS {
        let (_fake, base) = Fake::start(provider, Quirk::IsCut).await;
        let answer =
            ask(&Ai::new(true), &endpoint(provider, base), "one", &[(Role::Visitor, QUESTION)]).await;
        assert_eq!(answer.text.as_deref(), Some("Yes, within …"), "{}", provider.name);
    }
}

#[tokio::test]
async fn a_second_model_answers_when_the_first_fails() {
    for provider in AI_PROVIDERS {
        let (fake, base) = Fake::start(provider, Quirk::HasNoFirstModel).await;
        let mut endpoint = endpoint(provider, base);
        let said = [(Role::Visitor, QUESTION)];
        let answer = ask(&Ai::new(true), &endpoint, "one", &said).await;
        assert!(answer.problem.expect("a problem").ends_with("The model 'first' does not exist"));
        endpoint.options.second_model = Some("second".to_owned());
        assert_answers(&ask(&Ai::new(true), &endpoint, "one", &said).await, provider.name);
        assert_eq!(last_body(&fake)["model"], "second");
    }
}

#[tokio::test]
async fn a_history_that_a_provider_refuses_is_dropped() {
    for provider in AI_PROVIDERS {
        let (fake, base) = Fake::start(provider, Quirk::RefusesHistory).await;
        let said = [(Role::Visitor, BAD_HISTORY), (Role::Assistant, "Sorry?"), (Role::Visitor, QUESTION)];
        let (ai, endpoint) = (Ai::new(true), endpoint(provider, base));
        assert_answers(&ask(&ai, &endpoint, "one", &said).await, provider.name);
        assert_eq!(count(&fake), 2, "{}", provider.name);
    }
}

#[tokio::test]
async fn a_filter_that_an_earlier_message_triggers_blocks_no_later_question() {
    let provider = AiProvider::of("azure").expect("Azure");
    let (_fake, base) = Fake::start(provider, Quirk::Filters).await;
    let said = [(Role::Visitor, BAD_QUESTION), (Role::Visitor, QUESTION)];
    let answer = ask(&Ai::new(true), &endpoint(provider, base), "one", &said).await;
    assert_answers(&answer, "the history is dropped");
}

#[tokio::test]
async fn a_wrong_key_and_an_empty_account_are_told_in_the_providers_words() {
    for provider in AI_PROVIDERS {
        for (quirk, status, words) in [
            (Quirk::RefusesKey, "provider_error", "Incorrect API key provided: …"),
            (Quirk::IsUnpaid, "quota_insufficient", ""),
        ] {
            let why = format!("{} {quirk:?}", provider.name);
            let (fake, base) = Fake::start(provider, quirk).await;
            let (ai, endpoint) = (Ai::new(true), endpoint(provider, base));
            let answer = ask(&ai, &endpoint, "one", &[(Role::Visitor, QUESTION)]).await;
            assert_eq!((answer.status.as_str(), answer.used_fallback), (status, true), "{why}");
            let problem = answer.problem.expect("a problem");
            assert!(problem.starts_with("the status is 4") && problem.contains(words), "{why}: {problem}");
            assert!(!problem.contains(KEY), "{why}: {problem}");
            assert_eq!(count(&fake), 1, "{why}: it is not asked twice");
            assert!(matches!(ai.probe(&endpoint, "Shop").await, Probed::Refuses(_)), "{why}");
        }
    }
}

#[tokio::test]
async fn a_retry_that_would_come_too_late_is_not_made() {
    let provider = AiProvider::CUSTOM;
    let address = super::hostile_tests::answering(
        "HTTP/1.1 429 Too Many Requests\r\nretry-after: 7200\r\ncontent-length: 0\r\n\r\n",
    );
    let endpoint = endpoint(provider, format!("http://{}/v1", address.await));
    let answer = ask(&Ai::new(true), &endpoint, "one", &[(Role::Visitor, QUESTION)]).await;
    assert_eq!((answer.status, answer.used_fallback), (AiStatus::ProviderError, true));
}
