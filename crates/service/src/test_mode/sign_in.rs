//! The link that the demo prints: signs in as its owner, and opens the newest conversation.

use axum::Router;
use axum::extract::{Path, State};
use axum::http::header;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use chat_protocol::{Endpoint, Value};

use super::site::{OPERATOR_ID, SITE_ID, TENANT_ID};
use crate::accounts::context::Context;
use crate::accounts::links::{self, Purpose};
use crate::accounts::session;
use crate::connector_api::{Access, Call, Command, access, execute};
use crate::db::{args, transaction};
use crate::error::ApiError;
use crate::rate::Caller;
use crate::{Service, accounts};

/// The path of the links, below that of the console.
const PATH: &str = "/console/demo/";
/// The question of the visitor whose conversation is there when there is no other.
const QUESTION: &str = "Can I talk to somebody about a set of mugs for our café?";

/// Returns the route of the link.
pub(super) fn routes(service: &Service) -> Router<Service> {
    accounts::guarded_pages(Router::new().route(&format!("{PATH}{{secret}}"), get(open)), service)
}

/// Creates a link that can be used once, within the lifetime of a link for a new password. Returns its path.
pub(super) async fn create_link(service: &Service) -> Result<String, ApiError> {
    let now_ms = service.now_ms();
    let purpose = Purpose::Password { operator_id: OPERATOR_ID.to_owned() };
    let link =
        transaction!(service.db(), |tx| links::create(tx, now_ms, TENANT_ID, &purpose, "service").await);
    Ok(format!("{PATH}{}", link.await?.secret))
}

/// Signs in, and redirects to the newest conversation. A link that was used leads to the console, where
/// the browser that used it is signed in already.
async fn open(
    State(service): State<Service>,
    context: Context,
    parts: Parts,
    Path(secret): Path<String>,
) -> Result<Response, ApiError> {
    context.require_cookies()?;
    let (now_ms, browser) = (service.now_ms(), context.browser.clone());
    let created = transaction!(service.db(), |tx| {
        links::take(tx, now_ms, &secret).await?;
        Ok::<_, ApiError>(session::create(tx, now_ms, OPERATOR_ID, &browser).await?)
    })
    .await;
    let secret = match created {
        Ok(secret) => secret,
        Err(ApiError::Unauthorized { .. }) => return Ok(Redirect::to("/console/").into_response()),
        Err(error) => return Err(error),
    };
    let page = format!("/console/inbox/{}", newest_conversation(&service, Caller::client(&parts)).await?);
    let mut response = Redirect::to(&page).into_response();
    let signed_in = context.signed_in(&service, OPERATOR_ID, &secret, &())?;
    for cookie in signed_in.headers().get_all(header::SET_COOKIE) {
        response.headers_mut().append(header::SET_COOKIE, cookie.clone());
    }
    Ok(response)
}

/// Returns the id of the conversation with the newest message. Without any, a visitor begins one.
async fn newest_conversation(service: &Service, browser: Caller) -> Result<String, ApiError> {
    let newest = "SELECT id FROM conversations WHERE site_id = $1 ORDER BY updated_ms DESC, no DESC LIMIT 1";
    if let Some(row) = service.db().optional(newest, args![SITE_ID]).await? {
        return Ok(row.text(0)?);
    }
    let visitor = Value::object([("visitorId", "demo-visitor".into()), ("name", "Ada Marsh".into())]);
    let body = Value::object([
        ("message", QUESTION.into()),
        ("locale", "en".into()),
        ("sourcePage", "/workshops.html".into()),
        ("visitor", visitor),
    ]);
    let site = access::site(service, SITE_ID).await?.ok_or(ApiError::NotFound("This site"))?;
    let command = Command::parse(Call::Chat(Endpoint::Send), None, body.to_string().as_bytes())?;
    let access = Access::Page { site, origin: None };
    execute(service, command, access, None, browser, None).await?;
    Ok(service.db().one(newest, args![SITE_ID]).await?.text(0)?)
}
