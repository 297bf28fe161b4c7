//! Tests a site's own questions and answers on both databases.

use super::*;
use crate::databases::{Kind, TestDatabase, on_both_databases};
use crate::db::transaction;
use crate::knowledge::search;

async fn with_sites(database: &TestDatabase) -> Db {
    let db = Db::open_uncached(&database.address).await.expect("opened");
    let added: Result<(), DbError> = transaction!(db, |tx| {
        tx.execute("INSERT INTO tenants (id, name, created_ms) VALUES ('t', 'T', 1)", args![]).await?;
        let site = "INSERT INTO sites (id, tenant_id, name, created_ms) VALUES ($1, 't', 'S', 1)";
        tx.execute(site, args!["one"]).await?;
        tx.execute(site, args!["two"]).await?;
        Ok(())
    })
    .await;
    added.expect("added");
    db
}

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
        let db = with_sites(database).await;
        let stored = put(&db, "one", None, draft("Do you glaze in celadon?", "Yes, at 1280 degrees.")).await;
        let stored = stored.expect("added");
        let passages = search(&db, "one", "celadon glazing", None).await.expect("searched");
        assert_eq!(passages[0].id, format!("answer:{}", stored.id));
        assert_eq!((passages[0].text.as_str(), passages[0].location.as_ref()), ("Yes, at 1280 degrees.", None));
        assert_eq!(search(&db, "two", "celadon", None).await.expect("searched"), []);

        let changed = draft("Do you sell cobalt?", "No.");
        let replaced = put(&db, "one", Some(stored.id.clone()), changed).await.expect("replaced");
        assert_eq!((&replaced.created_at, &replaced.updated_at), (&iso(7), &iso(9)));
        assert_eq!(search(&db, "one", "celadon", None).await.expect("searched"), []);
        assert_eq!(search(&db, "one", "cobalt", None).await.expect("searched").len(), 1);
        assert_eq!(list(&db, "one", None, None, 10).await.expect("listed").answers, [replaced]);

        remove(&db, "one", stored.id.clone()).await.expect("deleted");
        assert_eq!(remove(&db, "one", stored.id.clone()).await, Err(NO_ANSWER));
        assert_eq!(search(&db, "one", "cobalt", None).await.expect("searched"), []);
    }

    async fn an_answer_does_not_exist_for_another_site(database: &TestDatabase) {
        let db = with_sites(database).await;
        let stored = put(&db, "one", None, draft("Celadon?", "Yes.")).await.expect("added");
        let replaced = put(&db, "two", Some(stored.id.clone()), draft("Stolen", "Stolen")).await;
        assert_eq!(replaced, Err(NO_ANSWER));
        assert_eq!(remove(&db, "two", stored.id.clone()).await, Err(NO_ANSWER));
        assert_eq!(find(&db, "two", &stored.id).await, Err(NO_ANSWER));
        assert_eq!(list(&db, "two", None, None, 10).await.expect("listed").answers, []);
        assert_eq!(find(&db, "one", &stored.id).await, Ok(stored));
    }

    async fn refuses_empty_and_huge_questions_and_odd_locales(database: &TestDatabase) {
        let db = with_sites(database).await;
        let long = "x".repeat(MAX_ANSWER_LENGTH + 1);
        for wrong in [
            draft(" ", "Yes."),
            draft("Celadon?", "\n"),
            draft(&long, "Yes."),
            draft("Celadon?", &long),
            draft("nul \0", "Yes."),
            AnswerText { locale: "en_US".to_owned(), ..draft("Celadon?", "Yes.") },
        ] {
            let refused = put(&db, "one", None, wrong).await;
            assert!(matches!(&refused, Err(ApiError::InvalidRequest(text)) if text.len() < 200), "{refused:?}");
        }
        let whole = draft(&"é".repeat(MAX_QUESTION_LENGTH), &"字".repeat(MAX_ANSWER_LENGTH));
        put(&db, "one", None, whole).await.expect("added");
    }
}
