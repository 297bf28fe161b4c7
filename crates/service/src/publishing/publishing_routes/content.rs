//! The list of a site's synced content.

use axum::extract::State;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use chat_page::without_marks;
use chat_protocol::admin::settings::{ContentItem, ContentPage};
use serde::Deserialize;

use super::{DEFAULT_PAGE, MAX_PAGE, Segments, segments};
use crate::Service;
use crate::accounts::Operator;
use crate::clock::iso;
use crate::db::{Db, DbError, Row, args};
use crate::error::ApiError;
use crate::input::{Params, success};
use crate::long_reads::{self, SEARCH_TIMEOUT};
use crate::response::ApiResponse;
use crate::sites;

/// The key of an item: type, external id and locale.
type Key = (String, String, String);

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(super) struct Page {
    after: Option<String>,
    limit: Option<i64>,
    source: Option<String>,
}

/// Lists the synced content of a site, or that of one of its sources, in the order of types and external ids.
#[utoipa::path(get, path = "/sites/{site}/content", tag = "publishing",
    params(("site" = String, Path), ("after" = Option<String>, Query), ("limit" = Option<i64>, Query),
        ("source" = Option<String>, Query, description = "The id of a source, whose pages are listed")),
    responses((status = 200, body = ContentPage)))]
pub(super) async fn list(
    State(service): State<Service>,
    operator: Operator,
    path: Segments<String>,
    Params(Page { after, limit, source }): Params<Page>,
) -> Result<ApiResponse, ApiError> {
    let db = service.db();
    let site = sites::of_tenant(db, &operator.tenant_id, &segments(path)?).await?;
    let after = match after {
        None => Key::default(),
        Some(cursor) => parse_cursor(&cursor).ok_or_else(|| {
            let problem = "invalid after: expected the value of next of the page before";
            ApiError::InvalidRequest(problem.to_owned())
        })?,
    };
    let limit = limit.unwrap_or(DEFAULT_PAGE).clamp(1, MAX_PAGE);
    // The count reads every item.
    let (db, source) = (db.for_long_reads(), source.as_deref());
    let reading = async {
        Ok::<_, DbError>((
            items(&db, &site.id, source, after, limit).await?,
            count(&db, &site.id, source).await?,
        ))
    };
    let (rows, count) = long_reads::execute(&service, &operator.tenant_id, SEARCH_TIMEOUT, reading).await?;
    let is_full = i64::try_from(rows.len()).is_ok_and(|shown| shown == limit);
    let next = rows.last().filter(|_| is_full).map(cursor).transpose()?;
    success(&ContentPage { items: rows.iter().map(read).collect::<Result<_, _>>()?, count, next })
}

/// The pages of a source, if one is named, or else the items of the sync.
const OF_SOURCE: &str = "site_id = $1 AND ((CAST($2 AS TEXT) IS NULL AND source_page IS NULL)
    OR source_page IN (SELECT no FROM source_pages WHERE source_id = $2))";

async fn count(db: &Db, site_id: &str, source: Option<&str>) -> Result<i64, DbError> {
    let sql = sqlx::AssertSqlSafe(format!("SELECT count(*) FROM content WHERE {OF_SOURCE}"));
    db.one(sql, args![site_id, source]).await?.int(0)
}

async fn items(
    db: &Db,
    site_id: &str,
    source: Option<&str>,
    after: Key,
    limit: i64,
) -> Result<Vec<Row>, DbError> {
    let sql = sqlx::AssertSqlSafe(format!(
        "SELECT type, external_id, locale, location, title, substr(text, 1, 300), synced_ms FROM content
         WHERE {OF_SOURCE} AND (type, external_id, locale) > ($3, $4, $5)
         ORDER BY type, external_id, locale LIMIT $6"
    ));
    db.all(sql, args![site_id, source, after.0, after.1, after.2, limit]).await
}

fn read(row: &Row) -> Result<ContentItem, DbError> {
    Ok(ContentItem {
        kind: row.text(0)?,
        external_id: row.text(1)?,
        locale: row.text(2)?,
        location: row.optional_text(3)?,
        title: row.text(4)?,
        excerpt: without_marks(&row.text(5)?),
        synced_at: iso(row.int(6)?),
    })
}

fn cursor(row: &Row) -> Result<String, DbError> {
    let key = (row.text(0)?, row.text(1)?, row.text(2)?);
    Ok(BASE64_URL_SAFE_NO_PAD.encode(serde_json::to_string(&key).unwrap_or_default()))
}

fn parse_cursor(cursor: &str) -> Option<Key> {
    serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()
}
