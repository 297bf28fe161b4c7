//! The console's API for the review-and-publish list.

use axum::extract::rejection::JsonRejection;
use axum::extract::{Path, State};
use axum::routing::{get, post};
use axum::{Json, Router};
use chat_protocol::{ArticlePayload, JobId, Value, is_language_tag};
use serde::Deserialize;

use futures_util::future::BoxFuture;

use super::{SITE_ID, TestMode, jobs, site_changed, views};
use crate::db::Tx;
use crate::error::ApiError;
use crate::publishing::{By, approve, approve_overlays, draft_article, roll_back, withdraw};

/// The page of the test mode has no accounts.
const NOBODY: By<'static> = By::Person("");

pub(super) fn routes() -> Router<TestMode> {
    Router::new()
        .route("/operator/api/site", get(site))
        .route("/operator/api/articles", post(write_article))
        .route("/operator/api/overlays/publish", post(publish_overlays))
        .route("/operator/api/reviews/{id}/publish", post(publish))
        .route("/operator/api/reviews/{id}/withdraw", post(withdraw_article))
        .route("/operator/api/reviews/{id}/roll-back", post(roll_back_article))
}

async fn site(State(mode): State<TestMode>) -> Result<Json<Value>, ApiError> {
    views::site(&mode).await.map(Json)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NewArticle {
    title: String,
    path: String,
    locale: Option<String>,
    /// HTML.
    content: String,
}

async fn write_article(
    State(mode): State<TestMode>,
    body: Result<Json<NewArticle>, JsonRejection>,
) -> Result<Json<Value>, ApiError> {
    let Json(article) = body?;
    if article.locale.as_deref().is_some_and(|locale| !is_language_tag(locale)) {
        let problem = "locale must be a language tag of at most 35 characters, such as en-US.";
        return Err(ApiError::InvalidRequest(problem.to_owned()));
    }
    let article = ArticlePayload {
        kind: Some("post".to_owned()),
        locale: article.locale,
        path: Some(article.path),
        title: Some(article.title),
        content: Some(article.content),
        ..ArticlePayload::default()
    };
    let now_ms = mode.now_ms();
    let id = mode
        .db()
        .write(move |tx| {
            Box::pin(async move {
                tx.wake(site_changed());
                draft_article(tx, now_ms, SITE_ID, &article).await
            })
        })
        .await?;
    Ok(Json(Value::object([("id", id.into())])))
}

/// A change of an entry of the list, which queues a job.
type Transition =
    for<'tx> fn(&'tx mut Tx, i64, &'static str, &'tx str) -> BoxFuture<'tx, Result<JobId, ApiError>>;

async fn transition(mode: &TestMode, id: String, transition: Transition) -> Result<Json<Value>, ApiError> {
    let (now_ms, max_attempts) = (mode.now_ms(), mode.0.max_attempts);
    let job = mode
        .db()
        .write(move |tx| {
            Box::pin(async move {
                let job = transition(tx, now_ms, SITE_ID, &id).await?;
                jobs::set_max_attempts(tx, &job, max_attempts).await?;
                tx.wake(site_changed());
                Ok::<_, ApiError>(job)
            })
        })
        .await?;
    Ok(Json(Value::object([("jobId", (&job).into())])))
}

async fn publish(State(mode): State<TestMode>, Path(id): Path<String>) -> Result<Json<Value>, ApiError> {
    transition(&mode, id, |tx, now_ms, site, id| Box::pin(approve(tx, now_ms, site, id, NOBODY))).await
}

async fn withdraw_article(
    State(mode): State<TestMode>,
    Path(id): Path<String>,
) -> Result<Json<Value>, ApiError> {
    transition(&mode, id, |tx, now_ms, site, id| Box::pin(withdraw(tx, now_ms, site, id, NOBODY))).await
}

async fn roll_back_article(
    State(mode): State<TestMode>,
    Path(id): Path<String>,
) -> Result<Json<Value>, ApiError> {
    transition(&mode, id, |tx, now_ms, site, id| Box::pin(roll_back(tx, now_ms, site, id, NOBODY))).await
}

/// Approves every overlay that is a draft.
async fn publish_overlays(State(mode): State<TestMode>) -> Result<Json<Value>, ApiError> {
    let (now_ms, max_attempts) = (mode.now_ms(), mode.0.max_attempts);
    let jobs = mode
        .db()
        .write(move |tx| {
            Box::pin(async move {
                let jobs = approve_overlays(tx, now_ms, SITE_ID, NOBODY).await?;
                for job in &jobs {
                    jobs::set_max_attempts(tx, job, max_attempts).await?;
                }
                tx.wake(site_changed());
                Ok::<_, ApiError>(jobs)
            })
        })
        .await?;
    Ok(Json(Value::object([("jobIds", jobs.iter().collect())])))
}
