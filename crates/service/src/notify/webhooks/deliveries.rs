//! The log of a webhook's deliveries, and replays.

use std::collections::HashMap;
use std::fmt::Write;

use chat_protocol::admin::settings::{Delivery, DeliveryAttempt, DeliveryPage};
use serde::Deserialize;
use sqlx::AssertSqlSafe;
use utoipa::{IntoParams, ToSchema};

use crate::clock::iso;
use crate::db::{Arg, Db, DbError, Row, Tx, Wake, args};
use crate::error::ApiError;

/// The number of deliveries of a page, unless the request says otherwise.
const PAGE_LENGTH: u32 = 50;
/// Maximum deliveries of a page.
const MAX_PAGE_LENGTH: u32 = 200;

const NO_DELIVERY: ApiError = ApiError::NotFound("This delivery");

const COLUMNS: &str = "no, id, event_id, event, body, status, attempts, next_ms, lease_until_ms, created_ms, \
                       finished_ms";

/// A page of the log.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(in crate::notify) struct LogPage {
    /// Maximum deliveries, 1 to 200.
    pub(in crate::notify) limit: Option<u32>,
    /// The `nextBefore` of the page before, which is the id of its last delivery.
    pub(in crate::notify) before: Option<String>,
    pub(in crate::notify) status: Option<DeliveryStatus>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(in crate::notify) enum DeliveryStatus {
    Pending,
    Delivered,
    Failed,
}

impl DeliveryStatus {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Delivered => "delivered",
            Self::Failed => "failed",
        }
    }
}

/// A delivery without its attempts, and its number.
type Numbered = (i64, Delivery);

/// Reads a delivery. `now_ms` tells whether it is being sent.
fn read(row: &Row, now_ms: i64) -> Result<Numbered, DbError> {
    let status = row.text(5)?;
    let is_pending = status == DeliveryStatus::Pending.as_str();
    let delivery = Delivery {
        id: row.text(1)?,
        event_id: row.text(2)?,
        event: row.text(3)?,
        body: row.text(4)?,
        status,
        attempt_count: row.int(6)?,
        attempts: Vec::new(),
        in_progress: is_pending && row.int(8)? > now_ms,
        next_attempt_at: if is_pending { Some(iso(row.int(7)?)) } else { None },
        created_at: iso(row.int(9)?),
        finished_at: row.optional_int(10)?.map(iso),
    };
    Ok((row.int(0)?, delivery))
}

/// Returns a page of a webhook's log, newest first. The webhook's tenant is checked.
pub(in crate::notify) async fn list(
    db: &Db,
    now_ms: i64,
    webhook_id: &str,
    page: &LogPage,
) -> Result<DeliveryPage, ApiError> {
    let limit = page.limit.unwrap_or(PAGE_LENGTH);
    if !(1..=MAX_PAGE_LENGTH).contains(&limit) {
        let message = format!("invalid limit: expected 1 to {MAX_PAGE_LENGTH}, got {limit}.");
        return Err(ApiError::InvalidRequest(message));
    }
    // One more shows whether there is another page.
    let mut arguments = args![webhook_id, limit + 1];
    let mut conditions = String::new();
    if let Some(before) = &page.before {
        arguments.push(Arg::from(before));
        let last = "SELECT d.no FROM deliveries d WHERE d.webhook_id = $1 AND d.id";
        let _ = write!(conditions, " AND no < ({last} = ${})", arguments.len());
    }
    if let Some(status) = page.status {
        arguments.push(Arg::from(status.as_str()));
        let _ = write!(conditions, " AND status = ${}", arguments.len());
    }
    let sql = format!(
        "SELECT {COLUMNS} FROM deliveries WHERE webhook_id = $1{conditions} ORDER BY no DESC LIMIT $2"
    );
    let rows = db.all(AssertSqlSafe(sql), arguments).await?;
    let has_more = rows.len() > limit as usize;
    let shown = rows.iter().take(limit as usize).map(|row| read(row, now_ms));
    let deliveries = with_attempts(db, shown.collect::<Result<_, _>>()?).await?;
    let next_before = deliveries.last().map(|last| last.id.clone()).filter(|_| has_more);
    Ok(DeliveryPage { deliveries, next_before })
}

/// Returns a delivery of a webhook, whose tenant is checked.
pub(in crate::notify) async fn get(
    db: &Db,
    now_ms: i64,
    webhook_id: &str,
    id: &str,
) -> Result<Delivery, ApiError> {
    let sql = format!("SELECT {COLUMNS} FROM deliveries WHERE webhook_id = $1 AND id = $2");
    let row = db.optional(AssertSqlSafe(sql), args![webhook_id, id]).await?;
    let delivery = read(&row.ok_or(NO_DELIVERY)?, now_ms)?;
    with_attempts(db, vec![delivery]).await?.pop().ok_or(NO_DELIVERY)
}

/// Queues a finished delivery again, with the same event id and a new schedule of retries. One that is
/// pending is tried now. One that is being sent is left alone.
pub(in crate::notify) async fn replay(
    tx: &mut Tx,
    now_ms: i64,
    webhook_id: &str,
    id: &str,
) -> Result<(), ApiError> {
    let sql = "SELECT status, lease_until_ms FROM deliveries WHERE webhook_id = $1 AND id = $2";
    let row = tx.optional(sql, args![webhook_id, id]).await?.ok_or(NO_DELIVERY)?;
    if row.text(0)? == DeliveryStatus::Pending.as_str() && row.int(1)? > now_ms {
        return Ok(());
    }
    let sql = "UPDATE deliveries SET status = 'pending', next_ms = $3, lease_until_ms = 0, \
               finished_ms = NULL, earlier_attempts = attempts \
               WHERE webhook_id = $1 AND id = $2 AND (status <> 'pending' OR lease_until_ms <= $3)";
    tx.execute(sql, args![webhook_id, id, now_ms]).await?;
    tx.wake(Wake::Queue);
    Ok(())
}

/// Reads the attempts of a page's deliveries that have ended.
async fn with_attempts(db: &Db, deliveries: Vec<Numbered>) -> Result<Vec<Delivery>, DbError> {
    if deliveries.is_empty() {
        return Ok(Vec::new());
    }
    let numbers: Vec<String> = deliveries.iter().map(|(no, _)| no.to_string()).collect();
    let sql = format!(
        "SELECT delivery_no, attempt, at_ms, status, error, duration_ms FROM delivery_attempts \
         WHERE delivery_no IN ({}) ORDER BY delivery_no, attempt",
        numbers.join(", ")
    );
    let mut attempts: HashMap<i64, Vec<DeliveryAttempt>> = HashMap::new();
    for row in db.all(AssertSqlSafe(sql), args![]).await? {
        attempts.entry(row.int(0)?).or_default().push(DeliveryAttempt {
            attempt: row.int(1)?,
            at: iso(row.int(2)?),
            status: row.optional_int(3)?,
            error: row.optional_text(4)?,
            duration_ms: row.int(5)?,
        });
    }
    let filled = deliveries
        .into_iter()
        .map(|(no, delivery)| Delivery { attempts: attempts.remove(&no).unwrap_or_default(), ..delivery });
    Ok(filled.collect())
}
