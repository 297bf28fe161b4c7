//! The log of a webhook's deliveries, and replays.

use std::collections::HashMap;
use std::fmt::Write;

use chat_protocol::Value;
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

/// A delivery, with the attempts that have ended.
#[derive(Clone, Debug)]
pub(in crate::notify) struct Delivery {
    no: i64,
    pub(in crate::notify) id: String,
    pub(in crate::notify) event_id: String,
    event: String,
    body: String,
    pub(in crate::notify) status: String,
    attempts: i64,
    pub(in crate::notify) next_ms: i64,
    lease_until_ms: i64,
    created_ms: i64,
    finished_ms: Option<i64>,
    pub(in crate::notify) log: Vec<Attempt>,
}

/// An attempt that has ended.
#[derive(Clone, Debug)]
pub(in crate::notify) struct Attempt {
    number: i64,
    at_ms: i64,
    pub(in crate::notify) status: Option<i64>,
    pub(in crate::notify) error: Option<String>,
    duration_ms: i64,
}

impl Attempt {
    fn to_value(&self) -> Value {
        Value::object([
            ("attempt", self.number.into()),
            ("at", iso(self.at_ms).into()),
            ("status", self.status.into()),
            ("error", self.error.as_deref().into()),
            ("durationMs", self.duration_ms.into()),
        ])
    }
}

impl Delivery {
    fn from_row(row: &Row) -> Result<Self, DbError> {
        Ok(Self {
            no: row.int(0)?,
            id: row.text(1)?,
            event_id: row.text(2)?,
            event: row.text(3)?,
            body: row.text(4)?,
            status: row.text(5)?,
            attempts: row.int(6)?,
            next_ms: row.int(7)?,
            lease_until_ms: row.int(8)?,
            created_ms: row.int(9)?,
            finished_ms: row.optional_int(10)?,
            log: Vec::new(),
        })
    }

    /// Returns the delivery for the console. `now_ms` tells whether it is being sent.
    pub(in crate::notify) fn to_value(&self, now_ms: i64) -> Value {
        let pending = self.status == DeliveryStatus::Pending.as_str();
        Value::object([
            ("id", self.id.as_str().into()),
            ("eventId", self.event_id.as_str().into()),
            ("event", self.event.as_str().into()),
            ("body", self.body.as_str().into()),
            ("status", self.status.as_str().into()),
            ("attemptCount", self.attempts.into()),
            ("attempts", self.log.iter().map(Attempt::to_value).collect()),
            ("inProgress", (pending && self.lease_until_ms > now_ms).into()),
            ("nextAttemptAt", pending.then(|| iso(self.next_ms)).into()),
            ("createdAt", iso(self.created_ms).into()),
            ("finishedAt", self.finished_ms.map(iso).into()),
        ])
    }

    /// Returns a page of a webhook's log, newest first, and where the next page begins. The webhook's tenant
    /// is checked.
    pub(in crate::notify) async fn list(
        db: &Db,
        webhook_id: &str,
        page: &LogPage,
    ) -> Result<(Vec<Self>, Option<String>), ApiError> {
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
        let rows = rows.iter().take(limit as usize);
        let mut deliveries = rows.map(Self::from_row).collect::<Result<Vec<_>, _>>()?;
        let next = deliveries.last().map(|last| last.id.clone()).filter(|_| has_more);
        read_attempts(db, &mut deliveries).await?;
        Ok((deliveries, next))
    }

    /// Returns a delivery of a webhook, whose tenant is checked.
    pub(in crate::notify) async fn get(db: &Db, webhook_id: &str, id: &str) -> Result<Self, ApiError> {
        let sql = format!("SELECT {COLUMNS} FROM deliveries WHERE webhook_id = $1 AND id = $2");
        let row = db.optional(AssertSqlSafe(sql), args![webhook_id, id]).await?;
        let mut deliveries = vec![Self::from_row(&row.ok_or(ApiError::NotFound("This delivery"))?)?];
        read_attempts(db, &mut deliveries).await?;
        deliveries.pop().ok_or(ApiError::NotFound("This delivery"))
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
        let row = tx.optional(sql, args![webhook_id, id]).await?;
        let row = row.ok_or(ApiError::NotFound("This delivery"))?;
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
}

/// Reads the attempts of a page's deliveries.
async fn read_attempts(db: &Db, deliveries: &mut [Delivery]) -> Result<(), DbError> {
    if deliveries.is_empty() {
        return Ok(());
    }
    let numbers: Vec<String> = deliveries.iter().map(|delivery| delivery.no.to_string()).collect();
    let sql = format!(
        "SELECT delivery_no, attempt, at_ms, status, error, duration_ms FROM delivery_attempts \
         WHERE delivery_no IN ({}) ORDER BY delivery_no, attempt",
        numbers.join(", ")
    );
    let mut attempts: HashMap<i64, Vec<Attempt>> = HashMap::new();
    for row in db.all(AssertSqlSafe(sql), args![]).await? {
        attempts.entry(row.int(0)?).or_default().push(Attempt {
            number: row.int(1)?,
            at_ms: row.int(2)?,
            status: row.optional_int(3)?,
            error: row.optional_text(4)?,
            duration_ms: row.int(5)?,
        });
    }
    for delivery in deliveries {
        delivery.log = attempts.remove(&delivery.no).unwrap_or_default();
    }
    Ok(())
}
