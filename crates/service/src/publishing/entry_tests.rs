//! Tests of entries: their suggestions, dismissals, undos, versions and paths, on both databases.

use chat_protocol::{JobId, Outcome, Overlay, Value};
use chat_test_servers::at_once;

use super::publishing_tests::{
    ADA, act, article, claim_at, complete_at, done, draft, status_of, suggest, suggestion, suggestion_for,
};
use super::*;
use crate::databases::{Kind, TestDatabase, on_both_databases};
use crate::db::{Db, args, transaction};
use crate::error::ApiError;
use crate::visitors::fixture::{NOW, execute, number, open};

async fn draft_at(db: &Db, path: &str) -> Result<String, ApiError> {
    let article = article(path, "Another");
    transaction!(db, |tx| draft_article(tx, NOW, "shop", &article).await).await
}

async fn only_review(db: &Db) -> String {
    let listed = reviews::list(db, "shop", None, i64::MAX, 10).await.expect("a list");
    assert_eq!(listed.len(), 1);
    listed[0].id.clone()
}

/// Dismisses an entry, or undoes a decision.
async fn change(db: &Db, step: &'static str, id: &str) -> Result<Option<JobId>, ApiError> {
    change_at(db, "shop", step, id).await
}

async fn change_at(
    db: &Db,
    site: &'static str,
    step: &'static str,
    id: &str,
) -> Result<Option<JobId>, ApiError> {
    let id = id.to_owned();
    transaction!(db, |tx| {
        if step == "dismiss" {
            approval::dismiss(tx, NOW, site, &id).await?;
            return Ok(None);
        }
        approval::undo(tx, NOW, site, &id, ADA).await
    })
    .await
}

on_both_databases! {
    async fn a_page_that_needs_nothing_has_no_draft(database: &TestDatabase) {
        let db = open(database).await;
        let count = async |status: &str| {
            let sql = "SELECT count(*) FROM reviews WHERE status = $1";
            number(&db, sql, args![status]).await
        };
        let waiting = || vec![suggestion("/glaze", "How we glaze")];
        suggest(&db, "shop", Publishing::SemiAutomatic, waiting()).await;
        let first = number(&db, "SELECT no FROM reviews", vec![]).await;
        suggest(&db, "shop", Publishing::SemiAutomatic, waiting()).await;
        assert_eq!(number(&db, "SELECT no FROM reviews", vec![]).await, first, "the same draft stays");
        let mended = suggestion_for("/glaze", |head| {
            head.title = Some("How we glaze".to_owned());
            head.open_graph = ["title", "description"].map(|name| (name.to_owned(), "Own".to_owned())).to_vec();
        });
        suggest(&db, "shop", Publishing::SemiAutomatic, vec![mended]).await;
        assert_eq!(count("draft").await, 0, "the site has mended the page");

        suggest(&db, "shop", Publishing::Automatic, waiting()).await;
        let job = claim_at(&db, NOW, "shop").await.expect("a job");
        complete_at(&db, NOW, "shop", &job, done()).await.expect("completed");
        suggest(&db, "shop", Publishing::Automatic, waiting()).await;
        assert_eq!((count("published").await, count("draft").await, count("queued").await), (1, 0, 0));
    }

    async fn a_text_for_several_pages_is_suggested_for_none(database: &TestDatabase) {
        let db = open(database).await;
        let page = |path: &str, lead: &str| suggestion_for(path, |head| {
            (head.title, head.description) = (Some(format!("The page {path}")), None);
            head.lead = Some(lead.to_owned());
        });
        let shared = "We are a family business from Leeds that has made pots since the year 1975.";
        let own = "Our jugs hold hot tea for hours, and never lose the colour of their glaze.";
        let pages = vec![page("/a", shared), page("/b", shared), page("/c", own)];
        suggest(&db, "shop", Publishing::SemiAutomatic, pages).await;
        let listed = reviews::list(&db, "shop", None, i64::MAX, 10).await.expect("a list");
        assert_eq!(listed.iter().map(|review| review.path.as_str()).collect::<Vec<_>>(), ["/c"]);
    }

    async fn drafts_of_pages_that_are_gone_are_removed(database: &TestDatabase) {
        let db = open(database).await;
        let sql = "INSERT INTO content (site_id, type, external_id, locale, location, title, text, item, snapshot,
                       synced_ms) VALUES ('shop', 'page', '1', '', '/a', '', '', '{}', 's', 1)";
        execute(&db, sql, vec![]).await;
        let pages = vec![suggestion("/a", "How we glaze"), suggestion("/b", "How we fire")];
        suggest(&db, "shop", Publishing::SemiAutomatic, pages).await;
        transaction!(&db, |tx| remove_orphaned_drafts(tx, "shop").await).await.expect("removed");
        let listed = reviews::list(&db, "shop", None, i64::MAX, 10).await.expect("a list");
        assert_eq!(listed.iter().map(|review| review.path.as_str()).collect::<Vec<_>>(), ["/a"]);
    }

    async fn a_dismissed_page_head_is_not_suggested_again(database: &TestDatabase) {
        let db = open(database).await;
        let waiting = || vec![suggestion("/glaze", "How we glaze")];
        suggest(&db, "shop", Publishing::SemiAutomatic, waiting()).await;
        let id = only_review(&db).await;
        for _ in 0..2 {
            change(&db, "dismiss", &id).await.expect("dismissed");
        }
        suggest(&db, "shop", Publishing::Automatic, waiting()).await;
        assert_eq!((only_review(&db).await, status_of(&db, "shop", &id).await), (id.clone(), "dismissed"));
        // Another fault of the same page is another suggestion.
        let untitled = suggestion_for("/glaze", |_| ());
        suggest(&db, "shop", Publishing::SemiAutomatic, vec![untitled]).await;
        assert_eq!(number(&db, "SELECT count(*) FROM reviews", vec![]).await, 2);
        execute(&db, "DELETE FROM reviews WHERE status = 'draft'", vec![]).await;
        assert_eq!(change(&db, "undo", &id).await.expect("undone"), None);
        assert_eq!(status_of(&db, "shop", &id).await, "draft");
        act(&db, "shop", "approve", &id).await.expect("approved");
        assert!(matches!(change(&db, "dismiss", &id).await, Err(ApiError::Conflict(_))), "it is on its way");
    }

    async fn a_published_page_head_is_undone_with_an_empty_overlay(database: &TestDatabase) {
        let db = open(database).await;
        let waiting = || vec![suggestion("/glaze", "How we glaze")];
        suggest(&db, "shop", Publishing::Automatic, waiting()).await;
        let id = only_review(&db).await;
        assert!(matches!(change(&db, "undo", &id).await, Err(ApiError::Conflict(_))), "it is on its way");
        let job = claim_at(&db, NOW, "shop").await.expect("a job");
        complete_at(&db, NOW, "shop", &job, done()).await.expect("completed");
        assert!(change(&db, "undo", &id).await.expect("undone").is_some());
        assert!(overlays(&db, "shop", None, None).await.expect("overlays").is_empty());
        suggest(&db, "shop", Publishing::Automatic, waiting()).await;
        let job = claim_at(&db, NOW, "shop").await.expect("a job");
        let empty = Overlay::try_from(job.payload.clone()).expect("an overlay");
        assert_eq!((job.job_type.as_str(), empty.path.as_deref()), ("apply_seo_overlay", Some("/glaze")));
        assert!(!empty.has_content(), "{}", job.payload);
        complete_at(&db, NOW, "shop", &job, done()).await.expect("completed");
        assert_eq!(status_of(&db, "shop", &id).await, "withdrawn");
        suggest(&db, "shop", Publishing::Automatic, waiting()).await;
        assert_eq!(only_review(&db).await, id, "a person has taken it back");
        act(&db, "shop", "approve", &id).await.expect("published again");
        assert_eq!(overlays(&db, "shop", None, None).await.expect("overlays").len(), 1);
        let job = claim_at(&db, NOW, "shop").await.expect("a job");
        complete_at(&db, NOW, "shop", &job, done()).await.expect("completed");
        change(&db, "undo", &id).await.expect("undone");
        let job = claim_at(&db, NOW, "shop").await.expect("a job");
        let failure = Outcome::Failed { reason: "Read-only.".to_owned(), permanent: true };
        complete_at(&db, NOW, "shop", &job, failure).await.expect("reported");
        assert_eq!(status_of(&db, "shop", &id).await, "published", "the page still has it");
    }

    async fn a_roll_back_returns_to_the_version_before(database: &TestDatabase) {
        let db = open(database).await;
        let id = draft(&db, "shop").await;
        let carry_out = async |step: &'static str| {
            act(&db, "shop", step, &id).await.expect("queued");
            let job = claim_at(&db, NOW, "shop").await.expect("a job");
            complete_at(&db, NOW, "shop", &job, done()).await.expect("completed");
        };
        carry_out("approve").await;
        assert!(matches!(act(&db, "shop", "rollback", &id).await, Err(ApiError::Conflict(_))), "one version");
        let article = article("/newer", "Newer");
        let edited = id.clone();
        transaction!(&db, |tx| approval::edit(tx, NOW, "shop", &edited, &article).await).await.expect("edited");
        assert_eq!(status_of(&db, "shop", &id).await, "draft");
        let elsewhere = draft_at(&db, "/news").await;
        assert!(matches!(elsewhere, Err(ApiError::Conflict(_))), "the page is still there");
        carry_out("approve").await;
        let shown = async || before::find(&db, "shop", &id).await.expect("read").expect("the entry").review;
        assert_eq!(shown().await.path, "/newer");
        act(&db, "shop", "rollback", &id).await.expect("queued");
        let job = claim_at(&db, NOW, "shop").await.expect("a job");
        let failure = Outcome::Failed { reason: "No.".to_owned(), permanent: true };
        complete_at(&db, NOW, "shop", &job, failure).await.expect("reported");
        assert_eq!(status_of(&db, "shop", &id).await, "published", "the site has not changed");
        carry_out("rollback").await;
        let review = shown().await;
        let text = |name: &str| review.body.get(name).and_then(Value::as_text);
        assert_eq!((review.path.as_str(), review.title.as_str(), review.status), ("/news", "News", ReviewStatus::Published));
        assert_eq!((text("content"), text("contentId")), (Some("<p>New</p>"), Some(id.as_str())));
        assert!(matches!(act(&db, "shop", "rollback", &id).await, Err(ApiError::Conflict(_))));
        carry_out("withdraw").await;
        assert_eq!(status_of(&db, "shop", &id).await, "withdrawn");
        assert!(matches!(act(&db, "shop", "withdraw", &id).await, Err(ApiError::Conflict(_))), "it is gone");
    }

    async fn two_articles_never_share_a_path(database: &TestDatabase) {
        let db = open(database).await;
        let drafts = [draft(&db, "shop").await, draft_at(&db, "/news/").await.expect("a draft")];
        let approvals = at_once(2, |number| {
            let (db, id) = (db.clone(), drafts[number].clone());
            async move { act(&db, "shop", "approve", &id).await }
        });
        let outcomes = approvals.await;
        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{outcomes:?}");
        let refused = outcomes.into_iter().find_map(Result::err).expect("one is refused");
        assert!(matches!(&refused, ApiError::Conflict(problem) if problem.contains("/news")), "{refused:?}");
        assert!(matches!(draft_at(&db, "/news").await, Err(ApiError::Conflict(_))));
        let job = claim_at(&db, NOW, "shop").await.expect("a job");
        complete_at(&db, NOW, "shop", &job, done()).await.expect("completed");
        let live = usize::from(status_of(&db, "shop", &drafts[0]).await != "published");
        act(&db, "shop", "withdraw", &drafts[live]).await.expect("queued");
        assert!(matches!(act(&db, "shop", "approve", &drafts[1 - live]).await, Err(ApiError::Conflict(_))), "not yet");
        let job = claim_at(&db, NOW, "shop").await.expect("a job");
        complete_at(&db, NOW, "shop", &job, done()).await.expect("completed");
        act(&db, "shop", "approve", &drafts[1 - live]).await.expect("the path is free");
        assert_eq!(number(&db, "SELECT count(*) FROM reviews WHERE site_id = 'rival'", vec![]).await, 0);
    }

    async fn a_draft_is_dismissed_and_not_withdrawn(database: &TestDatabase) {
        let db = open(database).await;
        let id = draft(&db, "shop").await;
        assert!(matches!(act(&db, "shop", "withdraw", &id).await, Err(ApiError::Conflict(_))));
        assert_eq!(number(&db, "SELECT count(*) FROM jobs", vec![]).await, 0);
        change(&db, "dismiss", &id).await.expect("dismissed");
        assert_eq!(status_of(&db, "shop", &id).await, "dismissed");
        assert!(matches!(change_at(&db, "rival", "dismiss", &id).await, Err(ApiError::NotFound(_))));
        assert!(matches!(change_at(&db, "rival", "undo", &id).await, Err(ApiError::NotFound(_))));
    }
}
