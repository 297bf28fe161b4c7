//! The admin API that exports and erases the data of a person.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use chat_protocol::admin::{EmailAddress, Erasure};
use serde::Serialize;
use utoipa::ToSchema;

use super::{NO_VISITOR, Segments, segments};
use crate::Service;
use crate::accounts::{Actor, Right};
use crate::db::{DbError, transaction};
use crate::error::ApiError;
use crate::input::{Body, success};
use crate::long_reads::{self, PERSON_TIMEOUT};
use crate::response::ApiResponse;
use crate::sites::{self, Site};
use crate::visitors::subject::{self, Name, Subject};
use crate::visitors::{erasure, export as document};

/// Returns the data of the person that a request names, and its site.
async fn subject_of(
    service: &Service,
    actor: &Actor,
    site: &str,
    name: &Name,
) -> Result<(Site, Subject), ApiError> {
    actor.operator.may(Right::ManageVisitors)?;
    let site = sites::of_tenant(service.db(), &actor.operator.tenant_id, site).await?;
    let db = service.db().for_long_reads();
    let read = subject::find(&db, &site.id, name);
    let subject = long_reads::execute(service, &site.tenant_id, PERSON_TIMEOUT, read).await?;
    if subject.is_empty() {
        return Err(NO_VISITOR);
    }
    Ok((site, subject))
}

/// The records that are stored with an e-mail address.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SubjectFound {
    /// The ids of verified visitors.
    visitors: Vec<String>,
    /// The ids of other conversations in which the address was written.
    conversations: Vec<String>,
}

/// Finds the visitors and conversations with an e-mail address: what exporting or erasing it is about.
#[utoipa::path(post, path = "/sites/{site}/privacy/search", tag = "visitors", request_body = EmailAddress,
    params(("site" = String, Path)),
    responses((status = 200, body = SubjectFound),
        (status = 404, description = "Nothing is stored with this address")))]
pub(super) async fn search(
    State(service): State<Service>,
    actor: Actor,
    path: Segments<String>,
    Body(EmailAddress { email }): Body<EmailAddress>,
) -> Result<ApiResponse, ApiError> {
    let (_, subject) = subject_of(&service, &actor, &segments(path)?, &Name::email(&email)?).await?;
    let visitors = subject.visitors.into_values().collect();
    success(&SubjectFound { visitors, conversations: subject.conversations.into_values().collect() })
}

/// Exports everything that is stored about a visitor, as a JSON file.
#[utoipa::path(get, path = "/sites/{site}/visitors/{id}/export", tag = "visitors",
    params(("site" = String, Path), ("id" = String, Path)),
    responses((status = 200, description = "The file, without an envelope", content_type = "application/json"),
        (status = 404, description = "The site has no such visitor")))]
pub(super) async fn export(
    State(service): State<Service>,
    actor: Actor,
    path: Segments<(String, String)>,
) -> Result<Response, ApiError> {
    let (site, id) = segments(path)?;
    let (site, subject) = subject_of(&service, &actor, &site, &Name::VisitorId(id)).await?;
    download(&service, actor, site, subject).await
}

/// Exports everything that is stored with an e-mail address, as a JSON file.
#[utoipa::path(post, path = "/sites/{site}/privacy/export", tag = "visitors", request_body = EmailAddress,
    params(("site" = String, Path)),
    responses((status = 200, description = "The file, without an envelope", content_type = "application/json"),
        (status = 404, description = "Nothing is stored with this address")))]
pub(super) async fn export_by_email(
    State(service): State<Service>,
    actor: Actor,
    path: Segments<String>,
    Body(EmailAddress { email }): Body<EmailAddress>,
) -> Result<Response, ApiError> {
    let (site, subject) = subject_of(&service, &actor, &segments(path)?, &Name::email(&email)?).await?;
    if subject.is_full() {
        let problem = "Too much is stored with this address for one file: export its visitors one by one.";
        return Err(ApiError::Conflict(problem.to_owned()));
    }
    download(&service, actor, site, subject).await
}

/// Exports a conversation, as a JSON file, and nothing else of the visitor whom its page claims.
#[utoipa::path(get, path = "/sites/{site}/conversations/{id}/export", tag = "visitors",
    params(("site" = String, Path), ("id" = String, Path)),
    responses((status = 200, description = "The file, without an envelope", content_type = "application/json"),
        (status = 404, description = "The site has no such conversation")))]
pub(super) async fn export_conversation(
    State(service): State<Service>,
    actor: Actor,
    path: Segments<(String, String)>,
) -> Result<Response, ApiError> {
    let (site, id) = segments(path)?;
    let (site, subject) = subject_of(&service, &actor, &site, &Name::Conversation(id)).await?;
    download(&service, actor, site, subject).await
}

/// Erases a conversation, and nothing else of the visitor whom its page claims.
#[utoipa::path(delete, path = "/sites/{site}/conversations/{id}", tag = "visitors",
    params(("site" = String, Path), ("id" = String, Path)),
    responses((status = 200, body = Erasure),
        (status = 404, description = "The site has no such conversation")))]
pub(super) async fn erase_conversation(
    State(service): State<Service>,
    actor: Actor,
    path: Segments<(String, String)>,
) -> Result<ApiResponse, ApiError> {
    let (site, id) = segments(path)?;
    let (site, subject) = subject_of(&service, &actor, &site, &Name::Conversation(id)).await?;
    erase_subject(&service, actor, site, subject).await
}

async fn download(
    service: &Service,
    actor: Actor,
    site: Site,
    subject: Subject,
) -> Result<Response, ApiError> {
    let turn = long_reads::turn(service, &site.tenant_id).await?;
    let now_ms = service.now_ms();
    let (site_id, targets) = (site.id.clone(), ids(&subject));
    let recorded: Result<(), DbError> = transaction!(service.db(), |tx| {
        for target in &targets {
            actor.record(tx, now_ms, "visitor.export", &format!("{}/{target}", site.id)).await?;
        }
        Ok(())
    })
    .await;
    recorded?;
    let body = document::document(turn, service.db().for_long_reads(), now_ms, &site_id, subject);
    let headers = [
        (header::CONTENT_TYPE, "application/json"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"visitor.json\""),
        (header::CACHE_CONTROL, "no-store"),
    ];
    Ok((headers, body).into_response())
}

fn ids(subject: &Subject) -> Vec<String> {
    subject.visitors.values().chain(subject.conversations.values()).cloned().collect()
}

/// Erases everything that is stored about a visitor.
#[utoipa::path(delete, path = "/sites/{site}/visitors/{id}", tag = "visitors",
    params(("site" = String, Path), ("id" = String, Path)),
    responses((status = 200, body = Erasure),
        (status = 404, description = "The site has no such visitor")))]
pub(super) async fn erase(
    State(service): State<Service>,
    actor: Actor,
    path: Segments<(String, String)>,
) -> Result<ApiResponse, ApiError> {
    let (site, id) = segments(path)?;
    let (site, subject) = subject_of(&service, &actor, &site, &Name::VisitorId(id)).await?;
    erase_subject(&service, actor, site, subject).await
}

/// Erases everything that is stored with an e-mail address.
#[utoipa::path(post, path = "/sites/{site}/privacy/erase", tag = "visitors", request_body = EmailAddress,
    params(("site" = String, Path)),
    responses((status = 200, body = Erasure),
        (status = 404, description = "Nothing is stored with this address")))]
pub(super) async fn erase_by_email(
    State(service): State<Service>,
    actor: Actor,
    path: Segments<String>,
    Body(EmailAddress { email }): Body<EmailAddress>,
) -> Result<ApiResponse, ApiError> {
    let (site, subject) = subject_of(&service, &actor, &segments(path)?, &Name::email(&email)?).await?;
    erase_subject(&service, actor, site, subject).await
}

/// Erases in a task of its own, which goes on when the operator's connection breaks.
async fn erase_subject(
    service: &Service,
    actor: Actor,
    site: Site,
    subject: Subject,
) -> Result<ApiResponse, ApiError> {
    let erasing = {
        let service = service.clone();
        service.0.tasks.clone().spawn(async move { erasure::erase(&service, &site, &actor, subject).await })
    };
    let erased = erasing.await.map_err(|_| ApiError::Internal)??;
    success(&Erasure { erased })
}
