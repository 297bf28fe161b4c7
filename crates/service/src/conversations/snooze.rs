//! Brings conversations back that were put aside until now.

use std::time::Duration;

use tracing::warn;

use super::{notes, read, select};
use crate::Service;
use crate::db::{DbError, Dialect, Tx, args, transaction};

/// The interval at which conversations are looked for. Lists show them at once.
const INTERVAL: Duration = Duration::from_secs(10);
/// Maximum conversations of one transaction.
const MAX_BATCH: usize = 100;

/// Tells open consoles when conversations are due again, until the service stops.
pub(crate) async fn run(service: &Service) {
    loop {
        tokio::select! {
            () = service.0.closing.cancelled() => return,
            () = tokio::time::sleep(INTERVAL) => {}
        }
        if let Err(error) = end_due(service).await {
            warn!("conversations that were put aside are not brought back: {error}");
        }
    }
}

/// Ends the time of all conversations that were put aside until now.
pub(crate) async fn end_due(service: &Service) -> Result<(), DbError> {
    let now_ms = service.now_ms();
    let sql = "SELECT 1 FROM conversations WHERE snoozed_until_ms > 0 AND snoozed_until_ms <= $1 LIMIT 1";
    if service.db().optional(sql, args![now_ms]).await?.is_none() {
        return Ok(());
    }
    loop {
        let ended: Result<usize, DbError> =
            transaction!(service.db(), |tx| end_batch(tx, now_ms).await).await;
        if ended? < MAX_BATCH {
            return Ok(());
        }
    }
}

/// Brings back a batch of conversations, and returns their number.
async fn end_batch(tx: &mut Tx, now_ms: i64) -> Result<usize, DbError> {
    let due = "WHERE c.snoozed_until_ms > 0 AND c.snoozed_until_ms <= $1 ORDER BY c.no LIMIT $2";
    let sql = match tx.dialect() {
        Dialect::Sqlite => select(due),
        // Another node brings back those that it has locked.
        Dialect::Postgres => select(&format!("{due} FOR UPDATE SKIP LOCKED")),
    };
    let rows = tx.all(sql, args![now_ms, i64::try_from(MAX_BATCH).unwrap_or(i64::MAX)]).await?;
    for row in &rows {
        let conversation = read(row)?;
        let tenant = "UPDATE conversations SET snoozed_until_ms = 0 WHERE no = $1 RETURNING tenant_id";
        let tenant = tx.one(tenant, args![conversation.no]).await?.text(0)?;
        notes::record(tx, now_ms, &conversation, None, notes::Event::SnoozeEnded).await?;
        tx.wake(conversation.wake(&tenant));
    }
    Ok(rows.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::databases::{Kind, TestDatabase, on_both_databases};
    use crate::db::Wake;
    use crate::visitors::fixture::{Story, execute, number, service};

    on_both_databases! {
        async fn a_conversation_comes_back_when_its_time_is_over(database: &TestDatabase) {
            let service = service(database).await;
            let db = service.db();
            let now_ms = service.now_ms();
            let [due, later] = ["v-1", "v-2"].map(|visitor| Story::new("shop", visitor, "x", now_ms));
            let (due, later) = (due.store(db).await, later.store(db).await);
            for (id, until_ms) in [(&due, now_ms - 1), (&later, now_ms + 3_600_000)] {
                let sql = "UPDATE conversations SET status = 'open', snoozed_until_ms = $1 WHERE id = $2";
                execute(db, sql, args![until_ms, id]).await;
            }
            let mut wakes = db.wakes();
            end_due(&service).await.expect("ended");
            let told = async {
                loop {
                    if let Ok(Wake::Conversation { conversation, tenant, .. }) = wakes.recv().await {
                        return (tenant, conversation);
                    }
                }
            };
            assert_eq!(told.await, ("acme".to_owned(), due));
            let sql = "SELECT count(*) FROM conversations WHERE snoozed_until_ms > 0";
            assert_eq!(number(db, sql, vec![]).await, 1);
            let sql = "SELECT count(*) FROM notes WHERE kind = 'activity' AND event = 'snooze_ended'";
            assert_eq!(number(db, sql, vec![]).await, 1);
        }
    }
}
