//! The rules of a site.

use axum::extract::State;
use chat_protocol::admin::publishing::{DryRun, PublishingRules};
use serde::Serialize;

use super::{Segments, segments};
use crate::Service;
use crate::accounts::{Actor, Operator, Right};
use crate::db::{Wake, transaction};
use crate::error::ApiError;
use crate::input::{Body, success};
use crate::long_reads::{self, SEARCH_TIMEOUT};
use crate::publishing::rules;
use crate::response::ApiResponse;
use crate::sites;

/// Shows the rules by which entries are published automatically.
#[utoipa::path(get, path = "/sites/{site}/publishing-rules", tag = "publishing",
    params(("site" = String, Path)), responses((status = 200, body = PublishingRules)))]
pub(super) async fn show(
    State(service): State<Service>,
    operator: Operator,
    path: Segments<String>,
) -> Result<ApiResponse, ApiError> {
    let site = sites::of_tenant(service.db(), &operator.tenant_id, &segments(path)?).await?;
    success(&rules::load(service.db(), &site.id).await?)
}

/// The details of a change in the audit log.
#[derive(Serialize)]
struct RulesChange<'a> {
    before: &'a PublishingRules,
    after: &'a PublishingRules,
}

/// Replaces the rules. They decide about entries that arrive from now on.
#[utoipa::path(put, path = "/sites/{site}/publishing-rules", tag = "publishing", request_body = PublishingRules,
    params(("site" = String, Path)),
    responses((status = 200, body = PublishingRules), (status = 400, description = "A rule is not valid"),
        (status = 409, description = "Somebody else has changed the rules since this `version`")))]
pub(super) async fn replace(
    State(service): State<Service>,
    actor: Actor,
    path: Segments<String>,
    Body(new): Body<PublishingRules>,
) -> Result<ApiResponse, ApiError> {
    actor.operator.may(Right::ManageSites)?;
    let site = sites::of_tenant(service.db(), &actor.operator.tenant_id, &segments(path)?).await?;
    let now_ms = service.now_ms();
    let saved: Result<PublishingRules, ApiError> = transaction!(service.db(), |tx| {
        let (before, after) = rules::replace(tx, &site.id, new).await?;
        let detail = RulesChange { before: &before, after: &after };
        actor.record_with(tx, now_ms, "site.publishing_rules", &site.id, &detail).await?;
        tx.wake(Wake::Settings { tenant: site.tenant_id.clone() });
        Ok(after)
    })
    .await;
    success(&saved?)
}

/// Shows what rules would decide about the entries that wait now, without publishing anything.
#[utoipa::path(post, path = "/sites/{site}/publishing-rules/dry-run", tag = "publishing",
    request_body = PublishingRules, params(("site" = String, Path)),
    responses((status = 200, body = DryRun), (status = 400, description = "A rule is not valid")))]
pub(super) async fn dry_run(
    State(service): State<Service>,
    operator: Operator,
    path: Segments<String>,
    Body(rules): Body<PublishingRules>,
) -> Result<ApiResponse, ApiError> {
    operator.may(Right::ManageSites)?;
    let site = sites::of_tenant(service.db(), &operator.tenant_id, &segments(path)?).await?;
    let run = rules::dry_run(&service, &site.id, rules);
    success(&long_reads::execute(&service, &operator.tenant_id, SEARCH_TIMEOUT, run).await?)
}
