//! The console's API for the review-and-publish list.

use axum::extract::rejection::JsonRejection;
use axum::extract::{Path, State};
use axum::routing::{get, post};
use axum::{Json, Router};
use chat_protocol::{ArticlePayload, JobId, Value, is_language_tag};
use serde::Deserialize;

use crate::error::ApiError;
use crate::publishing::{JobRules, approve, draft_article, roll_back, withdraw};
use crate::store::{ReviewKind, Store};
use crate::{Sandbox, views};

pub(crate) fn routes() -> Router<Sandbox> {
    Router::new()
        .route("/operator/api/site", get(site))
        .route("/operator/api/articles", post(write_article))
        .route("/operator/api/overlays/publish", post(publish_overlays))
        .route("/operator/api/reviews/{id}/publish", post(publish))
        .route("/operator/api/reviews/{id}/withdraw", post(withdraw_article))
        .route("/operator/api/reviews/{id}/roll-back", post(roll_back_article))
}

async fn site(State(sandbox): State<Sandbox>) -> Result<Json<Value>, ApiError> {
    Ok(Json(views::site(&sandbox.store())?))
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
    State(sandbox): State<Sandbox>,
    body: Result<Json<NewArticle>, JsonRejection>,
) -> Result<Json<Value>, ApiError> {
    let Json(article) = body?;
    if article.locale.as_deref().is_some_and(|locale| !is_language_tag(locale)) {
        let problem = "locale must be a language tag of at most 35 characters, such as en-US.";
        return Err(ApiError::InvalidRequest(problem.to_owned()));
    }
    let id = draft_article(
        &sandbox.store(),
        &ArticlePayload {
            kind: Some("post".to_owned()),
            locale: article.locale,
            path: Some(article.path),
            title: Some(article.title),
            content: Some(article.content),
            ..ArticlePayload::default()
        },
    )?;
    sandbox.notify_changed();
    Ok(Json(Value::object([("id", id.into())])))
}

type Transition = fn(&Store, JobRules, &str) -> Result<JobId, ApiError>;

fn transition(sandbox: &Sandbox, id: &str, transition: Transition) -> Result<Json<Value>, ApiError> {
    let job = {
        let store = sandbox.store();
        let change = store.db().unchecked_transaction()?;
        let job = transition(&store, sandbox.0.job_rules, id)?;
        change.commit()?;
        job
    };
    sandbox.notify_changed();
    Ok(Json(Value::object([("jobId", (&job).into())])))
}

async fn publish(State(sandbox): State<Sandbox>, Path(id): Path<String>) -> Result<Json<Value>, ApiError> {
    transition(&sandbox, &id, approve)
}

async fn withdraw_article(
    State(sandbox): State<Sandbox>,
    Path(id): Path<String>,
) -> Result<Json<Value>, ApiError> {
    transition(&sandbox, &id, withdraw)
}

async fn roll_back_article(
    State(sandbox): State<Sandbox>,
    Path(id): Path<String>,
) -> Result<Json<Value>, ApiError> {
    transition(&sandbox, &id, roll_back)
}

/// Approves every overlay that is a draft.
async fn publish_overlays(State(sandbox): State<Sandbox>) -> Result<Json<Value>, ApiError> {
    let jobs = {
        let store = sandbox.store();
        let change = store.db().unchecked_transaction()?;
        let mut jobs = Vec::new();
        for id in store.drafts(ReviewKind::Overlay)? {
            jobs.push(Value::from(&approve(&store, sandbox.0.job_rules, &id)?));
        }
        change.commit()?;
        jobs
    };
    sandbox.notify_changed();
    Ok(Json(Value::object([("jobIds", Value::List(jobs))])))
}
