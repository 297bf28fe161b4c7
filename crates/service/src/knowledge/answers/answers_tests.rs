//! Tests a site's own questions and answers on both databases.

use super::*;
use crate::databases::{Kind, TestDatabase, on_both_databases};
use crate::db::transaction;
use crate::knowledge::search::fixture::search;
use crate::visitors::fixture::open;

fn draft(question: &str, answer: &str) -> AnswerText {
    AnswerText { question: question.to_owned(), answer: answer.to_owned(), locale: String::new() }
}

async fn put(db: &Db, site: &'static str, id: Option<String>, draft: AnswerText) -> Result<Answer, ApiError> {
    transaction!(db, |tx| {
        match id {
            Some(id) => replace(tx, 9, site, &id, &draft).await,
            None => add(tx, 7, site, &draft).await,
        }
    })
    .await
}

async fn remove(db: &Db, site: &'static str, id: String) -> Result<(), ApiError> {
    transaction!(db, |tx| delete(tx, site, &id).await).await
}

on_both_databases! {
    async fn an_answer_is_found_by_its_question_until_it_is_replaced_or_deleted(database: &TestDatabase) {
        let db = open(database).await;
        let stored = put(&db, "shop", None, draft("Do you glaze in celadon?", "Yes, at 1280 degrees.")).await;
        let stored = stored.expect("added");
        let passages = search(&db, "shop", "celadon glazing", None).await.expect("searched");
        assert_eq!(passages[0].id, format!("answer:{}", stored.id));
        assert_eq!((passages[0].text.as_str(), passages[0].location.as_ref()), ("Yes, at 1280 degrees.", None));
        assert_eq!(search(&db, "rival", "celadon", None).await.expect("searched"), []);

        let changed = draft("Do you sell cobalt?", "No.");
        let replaced = put(&db, "shop", Some(stored.id.clone()), changed).await.expect("replaced");
        assert_eq!((&replaced.created_at, &replaced.updated_at), (&iso(7), &iso(9)));
        assert_eq!(search(&db, "shop", "celadon", None).await.expect("searched"), []);
        assert_eq!(search(&db, "shop", "cobalt", None).await.expect("searched").len(), 1);
        assert_eq!(list(&db, "shop", None, None, 10).await.expect("listed").answers, [replaced]);

        remove(&db, "shop", stored.id.clone()).await.expect("deleted");
        assert_eq!(remove(&db, "shop", stored.id.clone()).await, Err(NO_ANSWER));
        assert_eq!(search(&db, "shop", "cobalt", None).await.expect("searched"), []);
    }

    async fn an_answer_does_not_exist_for_another_site(database: &TestDatabase) {
        let db = open(database).await;
        let stored = put(&db, "shop", None, draft("Celadon?", "Yes.")).await.expect("added");
        let replaced = put(&db, "rival", Some(stored.id.clone()), draft("Stolen", "Stolen")).await;
        assert_eq!(replaced, Err(NO_ANSWER));
        assert_eq!(remove(&db, "rival", stored.id.clone()).await, Err(NO_ANSWER));
        assert_eq!(find(&db, "rival", &stored.id).await, Err(NO_ANSWER));
        assert_eq!(list(&db, "rival", None, None, 10).await.expect("listed").answers, []);
        assert_eq!(find(&db, "shop", &stored.id).await, Ok(stored));
    }

    async fn refuses_empty_and_huge_questions_and_odd_locales(database: &TestDatabase) {
        let db = open(database).await;
        let long = "x".repeat(MAX_ANSWER_LENGTH + 1);
        for wrong in [
            draft(" ", "Yes."),
            draft("Celadon?", "\n"),
            draft(&long, "Yes."),
            draft("Celadon?", &long),
            draft("nul \0", "Yes."),
            AnswerText { locale: "en_US".to_owned(), ..draft("Celadon?", "Yes.") },
        ] {
            let refused = put(&db, "shop", None, wrong).await;
            assert!(matches!(&refused, Err(ApiError::InvalidRequest(text)) if text.len() < 200), "{refused:?}");
        }
        let whole = draft(&"é".repeat(MAX_QUESTION_LENGTH), &"字".repeat(MAX_ANSWER_LENGTH));
        put(&db, "shop", None, whole).await.expect("added");
    }
}
