//! The part of the console from which things are published: the list, and what becomes of its entries.

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
        .route("/operator/api/reviews/{id}/withdraw", post(take_back))
        .route("/operator/api/reviews/{id}/roll-back", post(go_back))
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
    sandbox.changed();
    Ok(Json(Value::object([("id", id.into())])))
}

type Step = fn(&Store, JobRules, &str) -> Result<JobId, ApiError>;

fn step(sandbox: &Sandbox, id: &str, step: Step) -> Result<Json<Value>, ApiError> {
    let job = {
        let store = sandbox.store();
        let change = store.db().unchecked_transaction()?;
        let job = step(&store, sandbox.0.job_rules, id)?;
        change.commit()?;
        job
    };
    sandbox.changed();
    Ok(Json(Value::object([("jobId", (&job).into())])))
}

async fn publish(State(sandbox): State<Sandbox>, Path(id): Path<String>) -> Result<Json<Value>, ApiError> {
    step(&sandbox, &id, approve)
}

async fn take_back(State(sandbox): State<Sandbox>, Path(id): Path<String>) -> Result<Json<Value>, ApiError> {
    step(&sandbox, &id, withdraw)
}

async fn go_back(State(sandbox): State<Sandbox>, Path(id): Path<String>) -> Result<Json<Value>, ApiError> {
    step(&sandbox, &id, roll_back)
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
    sandbox.changed();
    Ok(Json(Value::object([("jobIds", Value::List(jobs))])))
}
