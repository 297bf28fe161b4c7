//! Stand-ins for parts that are not merged yet.

pub(crate) mod visitors {
    use chat_protocol::{VisitorId, VisitorProfile};

    use crate::db::{Tx, args};
    use crate::error::ApiError;

    pub(crate) async fn upsert(
        tx: &mut Tx,
        now_ms: i64,
        site_id: &str,
        id: &VisitorId,
        _profile: &VisitorProfile,
        _customer_id: Option<&str>,
    ) -> Result<i64, ApiError> {
        let row = tx
            .one(
                "INSERT INTO visitors (site_id, id, first_seen_ms, last_seen_ms) VALUES ($1, $2, $3, $3)
                 ON CONFLICT (site_id, id) DO UPDATE SET last_seen_ms = excluded.last_seen_ms RETURNING no",
                args![site_id, id.as_str(), now_ms],
            )
            .await?;
        Ok(row.int(0)?)
    }

    pub(crate) mod events {
        use chat_protocol::{EventBatch, IdempotencyKey, Tracking, Value};

        use crate::db::{Tx, args};
        use crate::error::ApiError;
        use crate::sites::Site;

        pub(crate) async fn record(
            tx: &mut Tx,
            now_ms: i64,
            site: &Site,
            batch: EventBatch,
            key: Option<&IdempotencyKey>,
        ) -> Result<Tracking, ApiError> {
            for event in &batch.events {
                tx.execute(
                    "INSERT INTO events (site_id, type, event, key, received_ms) VALUES ($1, $2, $3, $4, $5)",
                    args![
                        &site.id,
                        &event.event_type,
                        &Value::from(event),
                        key.map(|key| key.as_str().to_owned()),
                        now_ms
                    ],
                )
                .await?;
            }
            let count = |items: usize| i64::try_from(items).unwrap_or(i64::MAX);
            Ok(Tracking {
                accepted: count(batch.events.len()),
                rejected: count(batch.refused.len()),
                enabled: site.tracking_enabled,
            })
        }
    }
}
