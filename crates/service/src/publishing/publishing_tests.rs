//! Tests of suggestions, approval and jobs, on both databases.

use std::collections::HashSet;

use chat_protocol::{
    ArticlePayload, ClaimToken, Completion, ContentItem, ContentKind, Done, Job, JobId, Outcome, PageHead,
    Value,
};
use chat_test_servers::at_once;

use super::*;
use crate::databases::{Kind, TestDatabase, on_both_databases};
use crate::db::{Db, args, transaction};
use crate::error::ApiError;
use crate::visitors::fixture::{NOW, execute, number, open};

pub(super) const ADA: By<'static> = By::Person("Ada");

/// Returns the suggestion for a page with a title and a description, and without a preview.
pub(super) fn suggestion(path: &str, title: &str) -> Suggestion {
    suggestion_for(path, |head| head.title = Some(title.to_owned()))
}

pub(super) fn suggestion_for(path: &str, change: impl FnOnce(&mut PageHead)) -> Suggestion {
    let description = "How we fire celadon, and what it takes to do it well.".to_owned();
    let mut head = PageHead { description: Some(description), ..PageHead::default() };
    change(&mut head);
    let mut item = ContentItem::new(path, ContentKind::Article);
    item.path = Some(path.to_owned());
    item.title = Some("How we glaze".to_owned());
    item.data = head.into_data();
    Suggestion::of(&item).expect("a path")
}

pub(super) async fn suggest(
    db: &Db,
    site: &'static str,
    publishing: Publishing,
    suggestions: Vec<Suggestion>,
) {
    let sql = "UPDATE sites SET publishing = $1 WHERE id = $2";
    execute(db, sql, args![publishing.as_str(), site]).await;
    transaction!(db, |tx| suggest_overlays(tx, NOW, site, suggestions).await).await.expect("suggested");
}

pub(super) async fn claim_at(db: &Db, now_ms: i64, site: &'static str) -> Option<Job> {
    transaction!(db, |tx| claim(tx, now_ms, site, LEASE).await).await.expect("claimed")
}

pub(super) async fn complete_at(
    db: &Db,
    now_ms: i64,
    site: &'static str,
    job: &Job,
    outcome: Outcome,
) -> Result<Job, ApiError> {
    let id = job.id.clone();
    let claim_token = job.claim_token.clone().expect("a claim token");
    let report = Completion { claim_token, outcome };
    transaction!(db, |tx| complete(tx, now_ms, site, &id, &report, RETRY).await).await
}

pub(super) fn done() -> Outcome {
    Outcome::Done(Done { external_id: Some("7".to_owned()), ..Done::default() })
}

pub(super) fn failed(reason: String) -> Outcome {
    Outcome::Failed { reason, permanent: false }
}

pub(super) fn article(path: &str, title: &str) -> ArticlePayload {
    let text = |text: &str| Some(text.to_owned());
    ArticlePayload {
        title: text(title),
        path: text(path),
        content: text("<p>New</p>"),
        ..ArticlePayload::default()
    }
}

pub(super) async fn draft(db: &Db, site: &'static str) -> String {
    let article = article("/news", "News");
    transaction!(db, |tx| draft_article(tx, NOW, site, &article).await).await.expect("a draft")
}

pub(super) async fn status_of(db: &Db, site: &str, id: &str) -> &'static str {
    let listed = reviews::list(db, site, None, i64::MAX, 100).await.expect("a list");
    listed.iter().find(|review| review.id == id).expect("the entry").status.as_str()
}

/// Approves, rolls back or withdraws an article.
pub(super) async fn act(
    db: &Db,
    site: &'static str,
    step: &'static str,
    id: &str,
) -> Result<JobId, ApiError> {
    let id = id.to_owned();
    transaction!(db, |tx| {
        match step {
            "approve" => approve(tx, NOW, site, &id, ADA).await,
            "rollback" => roll_back(tx, NOW, site, &id, ADA).await,
            _ => withdraw(tx, NOW, site, &id, ADA).await,
        }
    })
    .await
}

/// Queues jobs by approving overlays of pages.
pub(super) async fn queue_jobs(db: &Db, site: &'static str, count: usize) {
    let suggestions = (0..count).map(|page| suggestion(&format!("/{page}"), "Page")).collect();
    suggest(db, site, Publishing::Automatic, suggestions).await;
}

on_both_databases! {
    async fn an_overlay_is_published_after_its_approval(database: &TestDatabase) {
        let db = open(database).await;
        suggest(&db, "shop", Publishing::SemiAutomatic, vec![suggestion("/glaze", "How we glaze")]).await;
        assert!(overlays(&db, "shop", None, None).await.expect("overlays").is_empty());
        let jobs = transaction!(&db, |tx| approve_overlays(tx, NOW, "shop", ADA).await).await.expect("approved");
        assert_eq!(jobs.len(), 1);
        for (path, locale, count) in
            [(None, None, 1), (Some("/glaze"), None, 1), (Some("/glaze"), Some("de"), 1), (Some("/other"), None, 0)]
        {
            let found = overlays(&db, "shop", path, locale).await.expect("overlays");
            assert_eq!(found.len(), count, "{path:?} {locale:?}");
        }
        let job = claim_at(&db, NOW, "shop").await.expect("a job");
        assert_eq!(job.job_type.as_str(), "apply_seo_overlay");
        let preview = |overlay: &Value| overlay.get("openGraph")?.get("title")?.as_text().map(str::to_owned);
        let title = |overlay: &Value| overlay.get("title").and_then(Value::as_text).map(str::to_owned);
        assert_eq!(preview(&job.payload).as_deref(), Some("How we glaze"));

        let untitled = suggestion_for("/glaze", |_| ());
        suggest(&db, "shop", Publishing::SemiAutomatic, vec![untitled]).await;
        let still = overlays(&db, "shop", None, None).await.expect("overlays");
        assert_eq!((still.len(), title(&still[0])), (1, None), "until the new draft is approved");
        transaction!(&db, |tx| approve_overlays(tx, NOW, "shop", ADA).await).await.expect("approved");
        let replaced = overlays(&db, "shop", None, None).await.expect("overlays");
        assert_eq!((replaced.len(), title(&replaced[0]).as_deref()), (1, Some("How we glaze")));
        assert_eq!(preview(&replaced[0]).as_deref(), Some("How we glaze"), "what was published before stays");
    }

    async fn an_article_is_published_and_withdrawn(database: &TestDatabase) {
        let db = open(database).await;
        let id = draft(&db, "shop").await;
        for (step, job_type, status) in [
            ("approve", "publish_article", "published"),
            ("withdraw", "delete_article", "withdrawn"),
        ] {
            act(&db, "shop", step, &id).await.expect("queued");
            assert_eq!(status_of(&db, "shop", &id).await, "queued");
            let job = claim_at(&db, NOW, "shop").await.expect("a job");
            assert_eq!(job.job_type.as_str(), job_type);
            assert_eq!(job.payload.get("contentId").and_then(Value::as_text), Some(id.as_str()));
            complete_at(&db, NOW, "shop", &job, done()).await.expect("completed");
            assert_eq!(status_of(&db, "shop", &id).await, status);
        }
        let found = before::find(&db, "shop", &id).await.expect("read").expect("the entry");
        assert_eq!(found.review.body.get("externalId").and_then(Value::as_text), Some("7"));
    }

    async fn a_repeated_approval_queues_one_job(database: &TestDatabase) {
        let db = open(database).await;
        let id = draft(&db, "shop").await;
        let approvals = at_once(8, |_| {
            let (db, id) = (db.clone(), id.clone());
            async move { act(&db, "shop", "approve", &id).await }
        });
        let outcomes = approvals.await;
        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{outcomes:?}");
        let refused = outcomes.into_iter().filter_map(Result::err);
        assert!(refused.into_iter().all(|error| matches!(error, ApiError::Conflict(_))));
        assert_eq!(number(&db, "SELECT count(*) FROM jobs", vec![]).await, 1);
    }

    async fn another_site_sees_and_changes_nothing(database: &TestDatabase) {
        let db = open(database).await;
        let id = draft(&db, "shop").await;
        queue_jobs(&db, "shop", 1).await;
        for site in ["blog", "rival", "", "shop' OR '1'='1"] {
            assert!(claim_at(&db, NOW, site).await.is_none());
            assert!(overlays(&db, site, None, None).await.expect("overlays").is_empty());
            assert!(jobs::list(&db, site, None, i64::MAX, 10).await.expect("a list").is_empty());
            assert!(reviews::list(&db, site, None, i64::MAX, 10).await.expect("a list").is_empty());
            assert_eq!(pending_count(&db, NOW, site).await, Ok(0));
            for step in ["approve", "rollback", "withdraw"] {
                assert!(matches!(act(&db, site, step, &id).await, Err(ApiError::NotFound(_))));
            }
        }
        let job = claim_at(&db, NOW, "shop").await.expect("a job");
        for site in ["blog", "rival"] {
            let refused = complete_at(&db, NOW, site, &job, done()).await;
            assert_eq!(refused, Err(ApiError::NotFound("This job")));
        }
        complete_at(&db, NOW, "shop", &job, done()).await.expect("still running");
        assert_eq!(status_of(&db, "shop", &id).await, "draft");
    }

    async fn claims_at_the_same_time_never_get_the_same_job(database: &TestDatabase) {
        let db = open(database).await;
        queue_jobs(&db, "shop", 60).await;
        queue_jobs(&db, "rival", 5).await;
        let claims = at_once(80, |_| {
            let db = db.clone();
            async move { claim_at(&db, NOW, "shop").await }
        });
        let mut claimed = HashSet::new();
        let mut jobs = 0;
        for job in claims.await.into_iter().flatten() {
            assert_eq!(job.attempts, Some(1));
            claimed.insert(job.id);
            jobs += 1;
        }
        // A claim that finds every pending job locked by others returns nothing: the site asks again.
        assert_eq!(claimed.len(), jobs);
        while let Some(job) = claim_at(&db, NOW, "shop").await {
            assert!(claimed.insert(job.id));
        }
        assert_eq!(claimed.len(), 60);
        assert_eq!(pending_count(&db, NOW, "rival").await, Ok(5));
    }

    async fn a_job_is_completed_once(database: &TestDatabase) {
        let db = open(database).await;
        queue_jobs(&db, "shop", 1).await;
        let job = claim_at(&db, NOW, "shop").await.expect("a job");
        let completions = at_once(8, |_| {
            let (db, job) = (db.clone(), job.clone());
            async move { complete_at(&db, NOW, "shop", &job, done()).await }
        });
        let mut completed = 0;
        for completion in completions.await {
            match completion {
                Ok(job) => {
                    assert_eq!((job.status.as_str(), job.claim_token), ("succeeded", None));
                    completed += 1;
                }
                Err(error) => assert_eq!(error, ApiError::AlreadyCompleted),
            }
        }
        assert_eq!(completed, 1);
        let unknown = Job { id: JobId::from("job_0"), ..job };
        assert_eq!(complete_at(&db, NOW, "shop", &unknown, done()).await, Err(ApiError::NotFound("This job")));
    }

    async fn retries_a_failed_job_after_a_while_up_to_the_maximum_attempts(database: &TestDatabase) {
        let db = open(database).await;
        let id = draft(&db, "shop").await;
        act(&db, "shop", "approve", &id).await.expect("approved");
        let (mut now_ms, mut waits) = (NOW, Vec::new());
        for attempt in 1..=MAX_ATTEMPTS {
            let job = claim_at(&db, now_ms, "shop").await.expect("a job");
            assert_eq!((job.attempts, job.max_attempts), (Some(attempt), Some(MAX_ATTEMPTS)));
            complete_at(&db, now_ms, "shop", &job, failed("The disk is full. ".repeat(10_000))).await.expect("reported");
            let shown = jobs::list(&db, "shop", None, i64::MAX, 10).await.expect("a list");
            assert_eq!(shown[0].error.as_ref().map(String::len), Some(4000), "cut off");
            let wait = number(&db, "SELECT not_before_ms FROM jobs", vec![]).await - now_ms;
            assert!(claim_at(&db, now_ms + wait - 1, "shop").await.is_none(), "not before it has waited");
            now_ms += wait;
            waits.push(wait / 1000);
        }
        assert_eq!(waits, [30, 90, 270, 810, 2430, 3600, 3600, 3600]);
        assert!(claim_at(&db, i64::MAX, "shop").await.is_none());
        assert_eq!(status_of(&db, "shop", &id).await, "failed");
    }

    async fn a_job_that_waits_holds_up_no_other_and_a_permanent_failure_is_the_last(database: &TestDatabase) {
        let db = open(database).await;
        queue_jobs(&db, "shop", 2).await;
        let first = claim_at(&db, NOW, "shop").await.expect("a job");
        complete_at(&db, NOW, "shop", &first, failed("Away.".to_owned())).await.expect("reported");
        let second = claim_at(&db, NOW, "shop").await.expect("another job");
        assert_ne!(first.id, second.id);
        let failure = Outcome::Failed { reason: "No such page.".to_owned(), permanent: true };
        let ended = complete_at(&db, NOW, "shop", &second, failure).await.expect("reported");
        assert_eq!((ended.status.as_str(), ended.attempts), ("failed", Some(1)));
        let again = claim_at(&db, NOW + 30_000, "shop").await.expect("the first one");
        assert_eq!(again.id, first.id);
        complete_at(&db, NOW + 30_000, "shop", &again, done()).await.expect("completed");
        let counts = "SELECT count(*) FROM reviews WHERE status = 'failed'";
        assert_eq!(number(&db, counts, vec![]).await, 1);
    }

    async fn recovers_an_expired_lease_and_invalidates_its_token(database: &TestDatabase) {
        let db = open(database).await;
        let id = draft(&db, "shop").await;
        act(&db, "shop", "approve", &id).await.expect("approved");
        let mut now_ms = NOW;
        let mut former: Option<Job> = None;
        for _ in 1..=MAX_ATTEMPTS {
            let job = claim_at(&db, now_ms, "shop").await.expect("a job");
            assert!(claim_at(&db, now_ms, "shop").await.is_none(), "the lease excludes other claims");
            if let Some(former) = &former {
                let late = complete_at(&db, now_ms, "shop", former, done()).await;
                assert_eq!(late, Err(ApiError::LeaseMismatch), "another claim holds it");
            }
            now_ms += 60_000;
            former = Some(job);
        }
        let last = former.expect("a claim");
        let late = complete_at(&db, now_ms, "shop", &last, done()).await;
        assert_eq!(late, Err(ApiError::AlreadyCompleted), "that was the last attempt");
        assert!(claim_at(&db, now_ms, "shop").await.is_none());
        assert_eq!(status_of(&db, "shop", &id).await, "failed");
    }

    async fn a_claim_token_that_was_guessed_completes_nothing(database: &TestDatabase) {
        let db = open(database).await;
        queue_jobs(&db, "shop", 1).await;
        let job = claim_at(&db, NOW, "shop").await.expect("a job");
        for guess in ["", "claim_", "null", "\u{1f600}"] {
            let guessed = Job { claim_token: Some(ClaimToken::from(guess)), ..job.clone() };
            let refused = complete_at(&db, NOW, "shop", &guessed, done()).await;
            assert_eq!(refused, Err(ApiError::LeaseMismatch), "{guess}");
        }
        complete_at(&db, NOW, "shop", &job, done()).await.expect("still held");
    }

    async fn an_article_needs_a_title_and_a_path(database: &TestDatabase) {
        let db = open(database).await;
        for (title, path) in [("", "/a"), (" ", "/a"), ("News", ""), ("News", "a")] {
            let article = ArticlePayload {
                title: Some(title.to_owned()),
                path: Some(path.to_owned()),
                ..ArticlePayload::default()
            };
            let refused =
                transaction!(&db, |tx| draft_article(tx, NOW, "shop", &article).await);
            assert!(matches!(refused.await, Err(ApiError::InvalidRequest(_))), "{title:?} {path:?}");
        }
    }
}

#[tokio::test]
async fn two_nodes_never_claim_the_same_job() {
    let database = TestDatabase::new(Kind::Postgres).await;
    let nodes = [open(&database).await, Db::open_uncached(&database.address).await.expect("a second node")];
    queue_jobs(&nodes[0], "shop", 100).await;
    let workers = at_once(8, |worker| {
        let node = nodes[worker % 2].clone();
        async move {
            let mut claimed = Vec::new();
            while let Some(job) = claim_at(&node, NOW, "shop").await {
                complete_at(&node, NOW, "shop", &job, done()).await.expect("completed");
                claimed.push(job.id);
            }
            claimed
        }
    });
    let claimed = workers.await.concat();
    let distinct: HashSet<_> = claimed.iter().collect();
    assert_eq!((distinct.len(), claimed.len()), (100, 100));
    let succeeded = "SELECT count(*) FROM jobs WHERE status = 'succeeded' AND attempts = 1";
    assert_eq!(number(&nodes[1], succeeded, vec![]).await, 100);
}
