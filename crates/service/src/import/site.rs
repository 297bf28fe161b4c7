//! The site, its content, its review-and-publish list and its jobs.

use chat_protocol::{ContentPage, Value};

use super::{json, time};
use crate::content;
use crate::db::{Tx, args};
use crate::demo_site::SITE_ID;
use crate::error::ApiError;

/// Items of content that are read at a time.
const BATCH: i64 = 50;

pub(super) async fn import_site(tx: &mut Tx, now_ms: i64) -> Result<(), ApiError> {
    let sql =
        "SELECT domain, platform, name, primary_locale, supported_locales, activated_at FROM sandbox_site";
    let Some(row) = tx.optional(sql, args![]).await? else { return Ok(()) };
    tx.execute(
        "UPDATE sites SET domain = $1, platform = $2, name = coalesce($3, name), primary_locale = $4,
             supported_locales = $5, activated_ms = $6 WHERE id = $7",
        args![
            row.text(0)?,
            row.optional_text(1)?,
            row.optional_text(2)?,
            row.optional_text(3)?,
            row.text(4)?,
            time(&row.text(5)?, now_ms),
            SITE_ID
        ],
    )
    .await?;
    Ok(())
}

pub(super) async fn import_content(tx: &mut Tx, now_ms: i64) -> Result<(), ApiError> {
    let mut after = 0;
    loop {
        let rows = tx
            .all(
                "SELECT position, body, snapshot FROM sandbox_content WHERE position > $1
                 ORDER BY position LIMIT $2",
                args![after, BATCH],
            )
            .await?;
        let Some(last) = rows.last() else { return Ok(()) };
        after = last.int(0)?;
        for row in &rows {
            let page = Value::object([
                ("snapshotId", row.text(2)?.into()),
                ("page", 1_i64.into()),
                ("items", Value::List(vec![json(&row.text(1)?)])),
            ]);
            let Ok(mut page) = ContentPage::try_from(page) else { continue };
            let items = content::prepare(std::mem::take(&mut page.items));
            page.complete = false;
            match content::sync(tx, now_ms, SITE_ID, &page, items).await {
                // An item that this version refuses. The site is told so at its next sync.
                Ok(_) | Err(ApiError::InvalidRequest(_)) => {}
                Err(error) => return Err(error),
            }
        }
    }
}

pub(super) async fn import_reviews(tx: &mut Tx, now_ms: i64) -> Result<(), ApiError> {
    let sql = "SELECT id, kind, status, path, locale, title, body, created_at, updated_at
        FROM sandbox_reviews ORDER BY position";
    for row in tx.all(sql, args![]).await? {
        tx.execute(
            "INSERT INTO reviews (id, site_id, kind, status, path, locale, title, body, created_ms, updated_ms)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
            args![
                row.text(0)?,
                SITE_ID,
                row.text(1)?,
                row.text(2)?,
                row.text(3)?,
                row.text(4)?,
                row.text(5)?,
                row.text(6)?,
                time(&row.text(7)?, now_ms),
                time(&row.text(8)?, now_ms)
            ],
        )
        .await?;
    }
    Ok(())
}

pub(super) async fn import_jobs(tx: &mut Tx, now_ms: i64) -> Result<(), ApiError> {
    let sql = "SELECT id, type, status, title, attempts, max_attempts, claim_token, lease_until_ms, payload,
            review, created_at, updated_at, completed_at, result, error
        FROM sandbox_jobs ORDER BY position";
    for row in tx.all(sql, args![]).await? {
        tx.execute(
            "INSERT INTO jobs (id, site_id, type, status, title, attempts, max_attempts, claim_token,
                 lease_until_ms, payload, review_id, created_ms, updated_ms, completed_ms, result, error)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)",
            args![
                row.text(0)?,
                SITE_ID,
                row.text(1)?,
                row.text(2)?,
                row.text(3)?,
                row.int(4)?,
                row.int(5)?,
                row.optional_text(6)?,
                row.optional_int(7)?,
                row.text(8)?,
                row.optional_text(9)?,
                time(&row.text(10)?, now_ms),
                time(&row.text(11)?, now_ms),
                row.optional_text(12)?.map(|text| time(&text, now_ms)),
                row.optional_text(13)?,
                row.optional_text(14)?
            ],
        )
        .await?;
    }
    Ok(())
}
