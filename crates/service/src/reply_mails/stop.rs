//! The page by which somebody ends the e-mails of a site to their address, with one click (RFC 8058).
//!
//! A GET shows a button and changes nothing, as mail scanners follow links. The address of the page has all
//! that is needed, encrypted: it still works after the conversation was erased.

use axum::Router;
use axum::extract::{Path, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use html_escape::encode_text;
use secrecy::ExposeSecret;

use super::address_hash;
use crate::db::{DbError, args, transaction};
use crate::error::ApiError;
use crate::mail_texts::ReplyTexts;
use crate::{Service, ServiceKey};

/// The place of what is encrypted in the address.
const PURPOSE: &str = "end of e-mails";
/// Maximum bytes of what is encrypted: an address has 320.
const MAX_BYTES: usize = 1000;
/// The policy of the page, which is a form.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
);

/// Returns the address of the page for an e-mail address at a site.
pub(super) fn address(key: &ServiceKey, origin: &str, site_id: &str, language: &str, email: &str) -> String {
    let sealed = key.seal(PURPOSE, &format!("{site_id}\n{language}\n{email}"));
    format!("{origin}/mail/stop/{}", BASE64_URL_SAFE_NO_PAD.encode(sealed))
}

pub(crate) fn routes() -> Router<Service> {
    Router::new().route("/mail/stop/{token}", get(ask).post(stop))
}

/// An e-mail address at a site.
struct Stop {
    site_id: String,
    site: String,
    texts: &'static ReplyTexts,
    email: String,
}

impl Stop {
    /// Reads what the address of a page says. The page of a site that was deleted does not exist.
    async fn of(service: &Service, token: &str) -> Result<Self, ApiError> {
        const NONE: ApiError = ApiError::NotFound("This page");
        if token.len() > MAX_BYTES {
            return Err(NONE);
        }
        let sealed = BASE64_URL_SAFE_NO_PAD.decode(token).map_err(|_| NONE)?;
        let text = service.0.options.key.unseal(PURPOSE, &sealed).map_err(|_| NONE)?;
        let mut parts = text.expose_secret().splitn(3, '\n');
        let (Some(site_id), Some(language), Some(email)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(NONE);
        };
        let sql = "SELECT name FROM sites WHERE id = $1 AND deleted_ms IS NULL";
        let row = service.db().optional(sql, args![site_id]).await?.ok_or(NONE)?;
        let texts = ReplyTexts::of([Some(language)]);
        Ok(Self { site_id: site_id.to_owned(), site: row.text(0)?, texts, email: email.to_owned() })
    }

    fn page(&self, body: &str) -> Response {
        let (language, direction) = (self.texts.language, self.texts.direction());
        let title = encode_text(self.texts.stop);
        let html = format!(
            "<!doctype html><html lang=\"{language}\" dir=\"{direction}\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width\"><meta name=\"robots\" content=\"noindex\">\
             <title>{title}</title></head><body><main><h1>{title}</h1>{body}</main></body></html>"
        );
        let headers: [(HeaderName, HeaderValue); 2] = [
            (header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
            (header::CONTENT_SECURITY_POLICY, POLICY),
        ];
        (StatusCode::OK, headers, html).into_response()
    }
}

async fn ask(State(service): State<Service>, Path(token): Path<String>) -> Result<Response, ApiError> {
    let stop = Stop::of(&service, &token).await?;
    let question = stop.texts.stop_ask.replace("{site}", &stop.site);
    Ok(stop.page(&format!(
        "<p>{}</p><form method=\"post\"><button>{}</button></form>",
        encode_text(&question),
        encode_text(stop.texts.stop)
    )))
}

/// Ends the e-mails. Mail programs send a form that says so; there is no other reason to send a POST.
async fn stop(State(service): State<Service>, Path(token): Path<String>) -> Result<Response, ApiError> {
    let stop = Stop::of(&service, &token).await?;
    let (address, now_ms) = (address_hash(&service, &stop.site_id, &stop.email), service.now_ms());
    let site_id = stop.site_id.clone();
    let stored: Result<u64, DbError> = transaction!(service.db(), |tx| {
        let sql = "INSERT INTO mail_stops (site_id, address, created_ms) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
        tx.execute(sql, args![site_id, address, now_ms]).await
    })
    .await;
    stored?;
    Ok(stop.page(&format!("<p role=\"status\">{}</p>", encode_text(stop.texts.stop_done))))
}
