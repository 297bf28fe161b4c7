//! Stand-ins for parts that are not merged yet.

pub(crate) mod content {
    use chat_protocol::{ContentItem, ContentPage};

    use crate::db::{Db, Tx};
    use crate::error::ApiError;
    use crate::publishing::Suggestion;

    #[derive(Default)]
    pub(crate) struct SyncOutcome {
        pub(crate) accepted: i64,
        pub(crate) removed: i64,
        pub(crate) suggestions: Vec<Suggestion>,
    }

    pub(crate) fn prepare(items: Vec<ContentItem>) -> Vec<ContentItem> {
        items
    }

    pub(crate) async fn sync(
        _tx: &mut Tx,
        _now_ms: i64,
        _site_id: &str,
        _page: &ContentPage,
        items: Vec<ContentItem>,
    ) -> Result<SyncOutcome, ApiError> {
        Ok(SyncOutcome { accepted: i64::try_from(items.len()).unwrap_or(0), ..SyncOutcome::default() })
    }

    pub(crate) async fn count(_db: &Db, _site_id: &str) -> Result<i64, ApiError> {
        Ok(0)
    }
}

pub(crate) mod ai {
    use chat_protocol::AiStatus;

    use crate::Service;
    use crate::conversations::{Conversation, StoredMessage};
    use crate::error::ApiError;
    use crate::sites::Site;

    pub(crate) const MAX_HISTORY: u32 = 20;

    pub(crate) struct Answer {
        pub(crate) status: AiStatus,
        pub(crate) text: Option<String>,
        pub(crate) sources: Vec<String>,
    }

    impl Answer {
        pub(crate) fn silent() -> Self {
            Self { status: AiStatus::Ok, text: None, sources: Vec::new() }
        }
    }

    pub(crate) struct Understanding {
        pub(crate) topic: Option<String>,
        pub(crate) wants_person: bool,
    }

    pub(crate) fn understand(message: &str) -> Understanding {
        Understanding { topic: None, wants_person: message.contains("person") }
    }

    pub(crate) async fn answer(
        _service: &Service,
        _site: &Site,
        _conversation: &Conversation,
        _message: &str,
        _locale: Option<&str>,
        _history: &[StoredMessage],
    ) -> Result<Answer, ApiError> {
        Ok(Answer { status: AiStatus::Ok, text: Some("Hello!".to_owned()), sources: Vec::new() })
    }
}

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
