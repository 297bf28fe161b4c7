//! What a review is compared with: the page as the site has synced it, and the overlay that it has now.

use chat_protocol::{ContentItem, Value};

use super::reviews::{Review, ReviewKind, json};
use crate::db::{Db, args};
use crate::error::ApiError;
use crate::text::{html_to_text, truncate_bytes};

/// Maximum bytes of a page's text.
const MAX_TEXT_BYTES: usize = 32 * 1024;

/// Returns `page`, the synced item with the review's path, and `overlay`, the one that is published for it;
/// each is null if there is none.
pub(super) async fn before(db: &Db, site_id: &str, review: &Review) -> Result<Value, ApiError> {
    Ok(Value::object([
        ("page", page(db, site_id, review).await?),
        ("overlay", overlay(db, site_id, review).await?),
    ]))
}

async fn page(db: &Db, site_id: &str, review: &Review) -> Result<Value, ApiError> {
    // The page in the review's language comes first, another one is better than none.
    let sql = "SELECT item FROM content WHERE site_id = $1 AND location = $2
               ORDER BY CASE WHEN locale = $3 THEN 0 ELSE 1 END, no LIMIT 1";
    let row = db.optional(sql, args![site_id, &review.path, &review.locale]).await?;
    let Some(row) = row else { return Ok(Value::Null) };
    let Ok(item) = ContentItem::try_from(json(&row.text(0)?)) else { return Ok(Value::Null) };
    let text = |html: Option<&str>| -> Value {
        html.map(|html| truncate_bytes(&html_to_text(html, MAX_TEXT_BYTES), MAX_TEXT_BYTES).to_owned()).into()
    };
    Ok(Value::object([
        ("title", item.title.clone().into()),
        ("description", text(item.summary.as_deref())),
        ("url", item.url.clone().into()),
        ("text", text(item.content.as_deref())),
        ("updatedAt", item.updated_at.clone().into()),
    ]))
}

async fn overlay(db: &Db, site_id: &str, review: &Review) -> Result<Value, ApiError> {
    if review.kind != ReviewKind::Overlay {
        return Ok(Value::Null);
    }
    let sql = "SELECT body FROM reviews WHERE site_id = $1 AND kind = 'overlay' AND path = $2 AND locale = $3
               AND id <> $4 AND status IN ('queued', 'published') ORDER BY no DESC LIMIT 1";
    let row = db.optional(sql, args![site_id, &review.path, &review.locale, &review.id]).await?;
    Ok(row.map(|row| row.text(0)).transpose()?.map(|body| json(&body)).unwrap_or_default())
}
