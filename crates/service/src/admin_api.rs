//! The admin API: what the console and scripts of the operators use.

#[cfg(test)]
mod admin_api_tests;
mod conversations;
mod licenses;
mod proxy_check;
mod quota;
mod setup;
mod sites;
mod tokens;
mod visitor_secret;

use axum::Router;
use axum::routing::get;
use utoipa::OpenApi;

use crate::error::ApiError;
use crate::{
    ADMIN_BASE, Service, accounts, body_limit, inbox, knowledge_api, notify, publishing, test_questions,
    visitors,
};

/// Maximum size of a request's body, in bytes.
const MAX_BODY_BYTES: usize = 256 * 1024;

/// Returns the routes of the API, which only a signed-in operator of the same origin reaches.
pub(crate) fn routes(service: &Service) -> Router<Service> {
    let limited = Router::new()
        .merge(sites::routes())
        .merge(setup::routes())
        .merge(tokens::routes())
        .merge(visitor_secret::routes())
        .merge(licenses::routes())
        .merge(quota::routes())
        .merge(proxy_check::routes())
        .merge(conversations::routes())
        .merge(inbox::routes())
        .merge(knowledge_api::routes())
        .merge(crate::sources::routes())
        .merge(notify::routes())
        .merge(visitors::routes());
    let routes = body_limit::limited(limited, MAX_BODY_BYTES)
        .merge(publishing::routes())
        .merge(test_questions::routes())
        .merge(accounts::routes())
        .route("/openapi.json", get(async || axum::Json(document())))
        .fallback(async || ApiError::NotFound("This path"));
    accounts::guarded(Router::new().nest(ADMIN_BASE, routes), service)
}

/// The description of the API.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Admin API",
        description = "What the operators' console uses. Sign in with `POST /session`. A success is \
            `{\"ok\": true, \"data\": …, \"requestId\": …}`: the schemas of responses describe `data`."
    ),
    paths(
        sites::list, sites::create, sites::show, sites::change, sites::remove, sites::disable, sites::enable, setup::show,
        tokens::list, tokens::create, tokens::rotate, tokens::revoke,
        visitor_secret::rotate, visitor_secret::remove,
        licenses::list, licenses::create, licenses::revoke,
        quota::show, proxy_check::check,
        conversations::list, conversations::counts, conversations::show, conversations::messages,
        conversations::timeline, conversations::actions::send, conversations::actions::add_note,
        conversations::actions::change, conversations::actions::take_over,
        conversations::actions::edit_visitor, conversations::actions::typing,
    ),
    servers((url = "/api/admin/v1"))
)]
struct AdminApi;

/// Returns the OpenAPI document of the whole API.
pub(crate) fn document() -> utoipa::openapi::OpenApi {
    let mut document = AdminApi::openapi();
    document.merge(accounts::AccountsApi::openapi());
    document.merge(inbox::InboxApi::openapi());
    document.merge(knowledge_api::KnowledgeApi::openapi());
    document.merge(crate::sources::SourcesApi::openapi());
    document.merge(test_questions::TestQuestionsApi::openapi());
    document.merge(notify::webhooks::WebhooksApi::openapi());
    document.merge(notify::mail::NotificationsApi::openapi());
    document.merge(notify::push::PushApi::openapi());
    document.merge(publishing::PublishingApi::openapi());
    document.merge(visitors::VisitorsApi::openapi());
    document
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    /// Operations whose response is a file or a stream of events.
    const WITHOUT_ENVELOPE: [&str; 6] = [
        "GET /audit.csv",
        "GET /report.csv",
        "GET /sites/{site}/conversations/{id}/export",
        "GET /sites/{site}/visitors/{id}/export",
        "GET /stream",
        "POST /sites/{site}/privacy/export",
    ];
    /// Operations that change something, and read no body.
    const WITHOUT_BODY: [&str; 14] = [
        "POST /operators/{operator}/password-link",
        "POST /sites/{site}/disable",
        "POST /sites/{site}/enable",
        "POST /sites/{site}/reviews/approve-overlays",
        "POST /sites/{site}/reviews/{id}/approve",
        "POST /sites/{site}/reviews/{id}/dismiss",
        "POST /sites/{site}/reviews/{id}/rollback",
        "POST /sites/{site}/reviews/{id}/undo",
        "POST /sites/{site}/reviews/{id}/withdraw",
        "POST /sites/{site}/sources/{source}/run",
        "POST /sites/{site}/test-questions/run",
        "POST /webhooks/{id}/deliveries/{delivery}/replay",
        "POST /webhooks/{id}/secret",
        "POST /webhooks/{id}/test",
    ];

    fn has_schema(body: &Value) -> bool {
        body["content"]["application/json"]["schema"].is_object()
    }

    /// Returns the names of operations, and which of them lack a schema for a response, and for a body.
    fn undescribed(document: &Value) -> [BTreeSet<String>; 3] {
        let mut found = [const { BTreeSet::new() }; 3];
        let paths = document["paths"].as_object().expect("paths");
        for (path, method, operation) in paths.iter().flat_map(|(path, methods)| {
            let methods = methods.as_object().expect("methods");
            methods.iter().map(move |(method, operation)| (path, method, operation))
        }) {
            let name = format!("{} {path}", method.to_uppercase());
            let responses = operation["responses"].as_object().expect("responses");
            let mut successes = responses.iter().filter(|(status, _)| status.starts_with('2')).peekable();
            assert!(successes.peek().is_some(), "{name}");
            if successes.any(|(status, success)| status != "204" && !has_schema(success)) {
                found[1].insert(name.clone());
            }
            if matches!(method.as_str(), "post" | "put" | "patch") && !has_schema(&operation["requestBody"]) {
                found[2].insert(name.clone());
            }
            found[0].insert(name);
        }
        found
    }

    #[test]
    fn every_operation_describes_its_body_and_its_response() {
        let document = serde_json::to_value(super::document()).expect("a document");
        let [operations, responses, bodies] = undescribed(&document);
        assert!(operations.len() > 90, "{}", operations.len());
        assert_eq!(responses, WITHOUT_ENVELOPE.map(str::to_owned).into());
        assert_eq!(bodies, WITHOUT_BODY.map(str::to_owned).into());
        let schemas = &document["components"]["schemas"];
        for reference in document.to_string().split("#/components/schemas/").skip(1) {
            let name = reference.split('"').next().expect("a name");
            assert!(schemas[name].is_object(), "{name} is not described");
        }
    }
}
