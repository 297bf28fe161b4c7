//! The list of the questions that the AI could not answer.

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use chat_protocol::admin::UnansweredQuestions;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::Service;
use crate::accounts::{Operator, Right};
use crate::conversations::report::Scope;
use crate::conversations::unanswered::unanswered;
use crate::error::ApiError;
use crate::input::{Params, success};
use crate::long_reads::{self, SEARCH_TIMEOUT};
use crate::response::ApiResponse;
use crate::sites;

/// Messages of a page, if the request does not say.
const PAGE: i64 = 50;
/// Maximum messages of a page.
const MAX_PAGE: i64 = 100;

pub(super) fn routes() -> Router<Service> {
    Router::new().route("/questions/unanswered", get(list))
}

/// The page of a list.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ListParams {
    /// Only conversations of this site.
    site: Option<String>,
    /// `nextBefore` of the page before.
    before: Option<i64>,
    /// 1 to 100; 50, if missing.
    limit: Option<i64>,
}

/// Lists the messages of visitors that the AI could not answer, newest first.
#[utoipa::path(get, path = "/questions/unanswered", tag = "inbox", params(ListParams),
    responses((status = 200, body = UnansweredQuestions)))]
pub(super) async fn list(
    State(service): State<Service>,
    operator: Operator,
    Params(params): Params<ListParams>,
) -> Result<ApiResponse, ApiError> {
    operator.may(Right::AnswerVisitors)?;
    if let Some(site) = &params.site {
        sites::of_tenant(service.db(), &operator.tenant_id, site).await?;
    }
    let scope = Scope { tenant_id: &operator.tenant_id, site_id: params.site.as_deref() };
    let limit = params.limit.unwrap_or(PAGE).clamp(1, MAX_PAGE);
    let db = service.db().for_long_reads();
    let read = unanswered(&db, scope, params.before, limit);
    success(&long_reads::execute(&service, &operator.tenant_id, SEARCH_TIMEOUT, read).await?)
}
