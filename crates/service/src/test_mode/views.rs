//! Conversations, events, requests and the site as `/sandbox/conversations` and `/sandbox/site` show them.

use chat_protocol::Value;

use super::json::{json, with};
use super::requests::LoggedRequest;
use super::site::{SITE_ID, SITE_NAME};
use super::{TestMode, jobs};
use crate::clock::iso;
use crate::content;
use crate::conversations::{Conversation, StoredMessage, last_messages, read, select};
use crate::db::{Db, DbError, Row, args};
use crate::error::ApiError;

/// Maximum conversations on a page of `GET /sandbox/conversations`.
const MAX_PAGE_CONVERSATIONS: u32 = 100;
/// Maximum bytes of the conversations on a page. A single larger conversation gets a page of its own.
const MAX_PAGE_BYTES: usize = 4 * 1024 * 1024;
/// Maximum events on a page.
const MAX_PAGE_EVENTS: u32 = 1000;
/// Maximum shown messages of a conversation.
const MAX_SHOWN_MESSAGES: u32 = 2000;
/// Maximum shown events of one visitor.
const MAX_VISITOR_EVENTS: u32 = 200;
/// Maximum shown content items.
const MAX_SHOWN_CONTENT: u32 = 200;
/// Maximum length of a shown item, as JSON.
const MAX_SHOWN_ITEM_LENGTH: i64 = 64 * 1024;
/// Maximum shown events of all visitors.
const MAX_SHOWN_EVENTS: u32 = 200;
/// Maximum shown entries of the review-and-publish list.
const MAX_SHOWN_REVIEWS: u32 = 1000;
/// Maximum shown jobs.
const MAX_SHOWN_JOBS: u32 = 1000;

/// Returns a page of `GET /sandbox/conversations`: the conversations after the one with the id `after`,
/// oldest first, with the latest events and the logged requests. `nextAfter` is the `after` of the next page.
pub(super) async fn everything(mode: &TestMode, after: Option<&str>) -> Result<Value, ApiError> {
    let db = mode.db();
    let found = select(
        "WHERE c.site_id = $1 AND c.no > coalesce(
             (SELECT no FROM conversations WHERE id = $2 AND site_id = $1), 0)
         ORDER BY c.no LIMIT $3",
    );
    let mut bytes = 0;
    let mut conversations = Vec::new();
    let mut next_after = None;
    for row in db.all(found, args![SITE_ID, after.map(str::to_owned), MAX_PAGE_CONVERSATIONS]).await? {
        let conversation = read(&row)?;
        let shown = whole(db, &conversation).await?;
        bytes += shown.to_json().len();
        if bytes > MAX_PAGE_BYTES && !conversations.is_empty() {
            break;
        }
        conversations.push(shown);
        next_after = Some(conversation.id.as_str().to_owned());
    }
    if conversations.is_empty() {
        let sql = "SELECT id FROM conversations WHERE site_id = $1 ORDER BY no DESC LIMIT 1";
        next_after = db.optional(sql, args![SITE_ID]).await?.map(|row| row.text(0)).transpose()?;
    }
    let mut events = latest_events(db, MAX_PAGE_EVENTS).await?;
    events.reverse();
    Ok(Value::object([
        ("conversations", Value::List(conversations)),
        ("nextAfter", next_after.into()),
        ("events", Value::List(events)),
        ("requests", mode.requests().iter().map(request).collect()),
    ]))
}

/// Returns one conversation with everything known about its visitor.
async fn whole(db: &Db, conversation: &Conversation) -> Result<Value, ApiError> {
    let messages = last_messages(db, &conversation.id, conversation.no, MAX_SHOWN_MESSAGES).await?;
    let visitor = conversation.profile.visitor_id.as_ref().map(|id| id.as_str().to_owned());
    let sql = "SELECT event, received_ms, key FROM events
        WHERE site_id = $1 AND (conversation_id = $2 OR visitor_id = $3) ORDER BY no DESC LIMIT $4";
    let events = db.all(sql, args![SITE_ID, &conversation.id, visitor, MAX_VISITOR_EVENTS]).await?;
    let events: Result<Vec<Value>, DbError> = events.iter().rev().map(event).collect();
    let added = [("messages", messages.iter().map(message).collect()), ("events", Value::List(events?))];
    Ok(with(summary(conversation), added))
}

fn summary(conversation: &Conversation) -> Value {
    let mut visitor = conversation.profile.clone();
    // Contact details found in messages fill in missing fields of the profile.
    visitor.email = visitor.email.or_else(|| conversation.notes.email.clone());
    visitor.phone = visitor.phone.or_else(|| conversation.notes.phone.clone());
    Value::object([
        ("id", (&conversation.id).into()),
        ("createdAt", iso(conversation.created_ms).into()),
        ("visitor", (&visitor).into()),
        ("locale", conversation.locale.clone().into()),
        ("sourcePage", conversation.source_page.clone().into()),
    ])
}

/// Returns the site's record, content, list and jobs.
pub(super) async fn site(mode: &TestMode) -> Result<Value, ApiError> {
    let db = mode.db();
    let site = crate::sites::find(db, SITE_ID).await?;
    let site = site.filter(|site| site.activated_at.is_some()).map(|site| {
        let site = site.settings;
        Value::object([
            ("domain", site.domain.into()),
            ("platform", site.platform.into()),
            ("siteName", Some(site.name).filter(|name| name != SITE_NAME).into()),
            ("primaryLocale", site.primary_locale.into()),
            ("supportedLocales", site.supported_locales.iter().map(String::as_str).collect()),
            ("activatedAt", site.activated_at.into()),
        ])
    });
    Ok(Value::object([
        ("site", site.into()),
        ("contentItems", content::count(db, SITE_ID).await?.into()),
        ("content", latest_content(db).await?),
        ("reviews", reviews(db).await?),
        ("jobs", jobs::latest(mode, MAX_SHOWN_JOBS).await?),
        ("events", Value::List(latest_events(db, MAX_SHOWN_EVENTS).await?)),
    ]))
}

/// Returns the latest items of content as received, newest first. Very large items are omitted.
async fn latest_content(db: &Db) -> Result<Value, ApiError> {
    let sql = "SELECT item FROM content WHERE site_id = $1 AND length(item) <= $2 ORDER BY no DESC LIMIT $3";
    let rows = db.all(sql, args![SITE_ID, MAX_SHOWN_ITEM_LENGTH, MAX_SHOWN_CONTENT]).await?;
    let items = rows.iter().map(|row| Ok(json(&row.text(0)?)));
    Ok(Value::List(items.collect::<Result<_, DbError>>()?))
}

/// Returns the entries of the review-and-publish list, newest first. Drafts take precedence over others.
async fn reviews(db: &Db) -> Result<Value, ApiError> {
    let sql = "SELECT id, kind, status, path, locale, title, body, created_ms, updated_ms FROM
            (SELECT * FROM reviews WHERE site_id = $1
             ORDER BY CASE WHEN status = 'draft' THEN 0 ELSE 1 END, no DESC LIMIT $2) AS listed
        ORDER BY no DESC";
    let rows = db.all(sql, args![SITE_ID, MAX_SHOWN_REVIEWS]).await?;
    let review = |row: &Row| -> Result<Value, DbError> {
        Ok(Value::object([
            ("id", row.text(0)?.into()),
            ("kind", row.text(1)?.into()),
            ("status", row.text(2)?.into()),
            ("path", row.text(3)?.into()),
            ("locale", row.text(4)?.into()),
            ("title", row.text(5)?.into()),
            ("body", json(&row.text(6)?)),
            ("createdAt", iso(row.int(7)?).into()),
            ("updatedAt", iso(row.int(8)?).into()),
        ]))
    };
    Ok(Value::List(rows.iter().map(review).collect::<Result<_, _>>()?))
}

/// Returns the last `limit` events, newest first.
async fn latest_events(db: &Db, limit: u32) -> Result<Vec<Value>, ApiError> {
    let sql = "SELECT event, received_ms, key FROM events WHERE site_id = $1 ORDER BY no DESC LIMIT $2";
    let rows = db.all(sql, args![SITE_ID, limit]).await?;
    Ok(rows.iter().map(event).collect::<Result<_, _>>()?)
}

fn event(row: &Row) -> Result<Value, DbError> {
    let added = [("receivedAt", iso(row.int(1)?).into()), ("idempotencyKey", row.optional_text(2)?.into())];
    Ok(with(json(&row.text(0)?), added))
}

fn message(stored: &StoredMessage) -> Value {
    with(Value::from(&stored.message), [("idempotencyKey", stored.key.clone().into())])
}

fn request(request: &LoggedRequest) -> Value {
    Value::object([
        ("method", request.method.as_str().into()),
        ("path", request.path.as_str().into()),
        ("idempotencyKey", request.key.clone().into()),
        ("status", request.status.map(i64::from).into()),
    ])
}
