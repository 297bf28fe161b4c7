//! The visitors of sites, and everything that is stored about them.
//!
//! A visitor is known by an id, which is unique within a site. The site can prove it; without a proof, it is
//! what a page claims (2.8): see [`identity`].

mod erasure;
pub(crate) mod events;
mod export;
#[cfg(test)]
pub(crate) mod fixture;
pub(crate) mod identity;
#[cfg(test)]
mod privacy_tests;
pub(crate) mod profile;
pub(crate) mod proof;
pub(crate) mod removal;
#[cfg(test)]
mod schema_tests;
pub(crate) mod scrub;
mod subject;
mod visitors_routes;
#[cfg(test)]
mod visitors_tests;

use chat_protocol::{Value, VisitorId, VisitorProfile};
use serde::Serialize;
use sqlx::AssertSqlSafe;
use utoipa::ToSchema;

pub(crate) use visitors_routes::{VisitorsApi, routes};

use crate::clock::iso;
use crate::db::{Db, DbError, Row, Tx, args};
use crate::text::truncate_bytes;
use identity::Identity;
use profile::without;

/// Maximum characters of a profile field; the rest is cut off.
const MAX_FIELD_LENGTH: usize = 500;
/// Maximum bytes of a visitor id or a customer id; the rest is cut off.
const MAX_ID_BYTES: usize = 500;
/// Bytes that a visitor's row needs beside the profile, as the database counts them.
const ROW_BYTES: usize = 1024;

/// A visitor.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Visitor {
    pub(crate) no: i64,
    pub(crate) id: String,
    pub(crate) customer_id: Option<String>,
    pub(crate) profile: VisitorProfile,
    pub(crate) first_seen_ms: i64,
    pub(crate) last_seen_ms: i64,
    pub(crate) page_views: i64,
    pub(crate) last_path: Option<String>,
    /// Whether messages are refused.
    pub(crate) blocked: bool,
    /// The names of the fields of the profile that an operator wrote.
    pub(crate) edited: Vec<String>,
}

const COLUMNS: &str =
    "no, id, customer_id, profile, first_seen_ms, last_seen_ms, page_views, last_path, blocked, edited";

fn read(row: &Row) -> Result<Visitor, DbError> {
    let id = row.text(1)?;
    let profile = VisitorProfile { visitor_id: Some(id.as_str().into()), ..stored_profile(&row.text(3)?) };
    Ok(Visitor {
        no: row.int(0)?,
        id,
        customer_id: row.optional_text(2)?,
        profile,
        first_seen_ms: row.int(4)?,
        last_seen_ms: row.int(5)?,
        page_views: row.int(6)?,
        last_path: row.optional_text(7)?,
        blocked: row.flag(8)?,
        edited: stored_names(&row.text(9)?),
    })
}

/// Reads a stored profile; an empty one if it is invalid, as after an edit by hand.
fn stored_profile(json: &str) -> VisitorProfile {
    let value: Value = serde_json::from_str(json).unwrap_or_default();
    VisitorProfile::try_from(value).unwrap_or_default()
}

/// Reads the stored names of fields.
fn stored_names(json: &str) -> Vec<String> {
    serde_json::from_str(json).unwrap_or_default()
}

/// A visitor as it is shown and exported.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SiteVisitor {
    /// The id that the visitor's browser has; for a verified visitor, `verified:` and the site's own id.
    id: String,
    /// Whether the site has proved who the visitor is.
    verified: bool,
    /// The site's own id for a customer who is signed in.
    #[serde(skip_serializing_if = "Option::is_none")]
    customer_id: Option<String>,
    #[schema(value_type = chat_protocol::admin::Visitor)]
    profile: Value,
    first_seen_at: String,
    last_seen_at: String,
    page_views: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_path: Option<String>,
    /// Whether messages are refused.
    blocked: bool,
    /// The names of the fields of the profile that an operator wrote.
    edited_fields: Vec<String>,
}

impl From<Visitor> for SiteVisitor {
    fn from(visitor: Visitor) -> Self {
        Self {
            verified: identity::is_verified(&visitor.id),
            id: visitor.id,
            customer_id: visitor.customer_id,
            profile: (&visitor.profile).into(),
            first_seen_at: iso(visitor.first_seen_ms),
            last_seen_at: iso(visitor.last_seen_ms),
            page_views: visitor.page_views,
            last_path: visitor.last_path,
            blocked: visitor.blocked,
            edited_fields: visitor.edited,
        }
    }
}

/// Returns the part of a visitor id that is stored and compared.
pub(crate) fn truncated_id(id: &str) -> &str {
    truncate_bytes(id, MAX_ID_BYTES)
}

/// Returns a profile with all fields cut to their maximum, and without the visitor id.
pub(crate) fn bounded(profile: &VisitorProfile) -> VisitorProfile {
    let cut = |field: &Option<String>| -> Option<String> {
        field.as_ref().map(|text| text.chars().take(MAX_FIELD_LENGTH).collect())
    };
    VisitorProfile {
        visitor_id: None,
        name: cut(&profile.name),
        email: cut(&profile.email),
        phone: cut(&profile.phone),
        company: cut(&profile.company),
        wechat: cut(&profile.wechat),
        whatsapp: cut(&profile.whatsapp),
        country: cut(&profile.country),
    }
}

/// Returns the bytes of the row of a visitor with this profile, about as the database counts them. That of a
/// visitor who is only claimed is empty.
pub(crate) fn row_bytes(proved: Option<&VisitorProfile>) -> usize {
    ROW_BYTES + profile_bytes(proved.unwrap_or(&VisitorProfile::default()))
}

/// Returns the bytes of a profile as it is stored.
pub(crate) fn profile_bytes(profile: &VisitorProfile) -> usize {
    let id = profile.visitor_id.as_ref().map(|id| truncated_id(id.as_str()).into());
    Value::from(&VisitorProfile { visitor_id: id, ..bounded(profile) }).to_json().len()
}

/// The stored data of a visitor who writes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Known {
    pub(crate) no: i64,
    pub(crate) profile: VisitorProfile,
    pub(crate) blocked: bool,
    pub(crate) edited: Vec<String>,
}

/// Adds a visitor, or adds the fields of the profile to a known one, except those that an operator wrote.
///
/// The visitor's row is locked until the transaction ends. A message or an event is therefore stored either
/// before an erasure, which removes it, or after it.
pub(crate) async fn upsert(
    tx: &mut Tx,
    now_ms: i64,
    site_id: &str,
    visitor_id: &str,
    profile: &VisitorProfile,
    customer_id: Option<&str>,
) -> Result<Known, DbError> {
    let profile = bounded(profile);
    let customer_id = customer_id.map(truncated_id);
    let row = tx
        .one(
            "INSERT INTO visitors (site_id, id, customer_id, profile, first_seen_ms, last_seen_ms)
             VALUES ($1, $2, $3, $4, $5, $5)
             ON CONFLICT (site_id, id) DO UPDATE SET
                 customer_id = COALESCE(excluded.customer_id, visitors.customer_id),
                 last_seen_ms = CASE WHEN excluded.last_seen_ms > visitors.last_seen_ms
                     THEN excluded.last_seen_ms ELSE visitors.last_seen_ms END
             RETURNING no, profile, blocked, edited",
            args![site_id, truncated_id(visitor_id), customer_id, &Value::from(&profile), now_ms],
        )
        .await?;
    let no = row.int(0)?;
    let known = stored_profile(&row.text(1)?);
    let (blocked, edited) = (row.flag(2)?, stored_names(&row.text(3)?));
    let mut merged = known.clone();
    merged.merge(without(&profile, &edited));
    if merged != known {
        let sql = "UPDATE visitors SET profile = $1 WHERE no = $2";
        tx.execute(sql, args![&Value::from(&merged), no]).await?;
    }
    Ok(Known { no, profile: merged, blocked, edited })
}

/// Returns whether an earlier version, which believed claims, blocked whoever claims the id that is proved
/// now. Such a block stays until an operator ends it.
pub(crate) async fn is_claim_blocked(
    tx: &mut Tx,
    site_id: &str,
    identity: &Identity,
) -> Result<bool, DbError> {
    let sql = "SELECT 1 FROM visitors WHERE site_id = $1 AND id = $2 AND blocked = $3";
    let claimed = identity::subject(identity.id.as_str());
    Ok(tx.optional(sql, args![site_id, claimed, true]).await?.is_some())
}

/// Ends the block of an earlier version on whoever claims or proves an id.
pub(crate) async fn unblock_claimed(
    tx: &mut Tx,
    site_id: &str,
    id: Option<&VisitorId>,
) -> Result<(), DbError> {
    let Some(id) = id else { return Ok(()) };
    let sql = "UPDATE visitors SET blocked = $1 WHERE site_id = $2 AND id = $3 AND blocked = $4";
    tx.execute(sql, args![false, site_id, identity::subject(id.as_str()), true]).await?;
    Ok(())
}

/// Returns the profile of a visitor and the names of its fields that an operator wrote. The visitor's row is
/// locked until the transaction ends.
pub(crate) async fn lock_profile(
    tx: &mut Tx,
    visitor_no: i64,
) -> Result<(VisitorProfile, Vec<String>), DbError> {
    let sql = "UPDATE visitors SET page_views = page_views WHERE no = $1 RETURNING profile, edited";
    let row = tx.one(sql, args![visitor_no]).await?;
    Ok((stored_profile(&row.text(0)?), stored_names(&row.text(1)?)))
}

/// Returns a visitor of a site.
pub(crate) async fn find(db: &Db, site_id: &str, visitor_id: &str) -> Result<Option<Visitor>, DbError> {
    let sql = format!("SELECT {COLUMNS} FROM visitors WHERE site_id = $1 AND id = $2");
    let row = db.optional(AssertSqlSafe(sql), args![site_id, truncated_id(visitor_id)]).await?;
    row.as_ref().map(read).transpose()
}

/// Returns at most `limit` visitors, last seen first, after the one with this time and number.
pub(crate) async fn list(
    db: &Db,
    site_id: &str,
    (last_seen_ms, no): (i64, i64),
    limit: i64,
) -> Result<Vec<Visitor>, DbError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM visitors WHERE site_id = $1 AND last_seen_ms <= $2
             AND (last_seen_ms < $2 OR no < $3)
         ORDER BY last_seen_ms DESC, no DESC LIMIT $4"
    );
    let rows = db.all(AssertSqlSafe(sql), args![site_id, last_seen_ms, no, limit]).await?;
    rows.iter().map(read).collect()
}

/// A conversation of a visitor, in short.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EarlierConversation {
    id: String,
    status: String,
    /// The page on which it began.
    #[serde(skip_serializing_if = "Option::is_none")]
    source_page: Option<String>,
    /// The number of its messages.
    messages: i64,
    created_at: String,
    updated_at: String,
}

/// Returns the latest `limit` conversations of a visitor, newest first, before the one with the number
/// `before`; `i64::MAX` for all.
pub(crate) async fn earlier(
    db: &Db,
    site_id: &str,
    visitor_no: i64,
    before: i64,
    limit: i64,
) -> Result<Vec<EarlierConversation>, DbError> {
    let sql = "SELECT id, status, source_page, last_seq, created_ms, updated_ms FROM conversations
               WHERE site_id = $1 AND visitor_no = $2 AND no < $3 ORDER BY no DESC LIMIT $4";
    let rows = db.all(sql, args![site_id, visitor_no, before, limit]).await?;
    let conversations = rows.iter().map(|row| {
        Ok(EarlierConversation {
            id: row.text(0)?,
            status: row.text(1)?,
            source_page: row.optional_text(2)?,
            messages: row.int(3)?,
            created_at: iso(row.int(4)?),
            updated_at: iso(row.int(5)?),
        })
    });
    conversations.collect()
}
