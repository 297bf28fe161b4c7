//! How fast people usually answer the visitors of a site, as far as the last weeks tell.
//!
//! The time is the median of the first answers to visitors who began to wait within the business hours. It is
//! rounded up to one of the times that visitors are told. Visitors who still wait since more than a day count
//! as never answered. With few answers, nothing is known.

use crate::Service;
use crate::ai::UsualReply;
use crate::db::{Db, DbError, args};
use crate::error::ApiError;
use crate::sites::Site;

const DAY_MS: i64 = 24 * 3_600_000;
/// The time that is looked back.
const PERIOD_MS: i64 = 30 * DAY_MS;
/// Minimum answers by which the time is known.
const MIN_ANSWERS: usize = 10;
/// Maximum time that is told of a site that is not always open.
const MAX_OPEN_MS: i64 = 4 * 3_600_000;
/// Maximum conversations that are read: the latest.
const MAX_READ: i64 = 200;

/// Returns how fast people usually answer the visitors of a site; `None` while that is not known.
pub(crate) async fn usual_reply(service: &Service, site: &Site) -> Result<Option<UsualReply>, ApiError> {
    let cache = &service.0.caches.usual_replies;
    let version = match cache.get(&site.id) {
        Ok(usual) => return Ok(usual),
        Err(version) => version,
    };
    let usual = count(service.db(), site, service.now_ms()).await?;
    cache.put(version, site.id.clone(), usual);
    Ok(usual)
}

async fn count(db: &Db, site: &Site, now_ms: i64) -> Result<Option<UsualReply>, DbError> {
    let since_ms = now_ms - PERIOD_MS;
    let sql = "SELECT c.first_person_response_ms,
            (SELECT m.created_ms FROM messages m
             WHERE m.conversation_no = c.no AND m.role = 'operator' ORDER BY m.seq LIMIT 1)
        FROM conversations c
        WHERE c.site_id = $1 AND c.created_ms > $2 AND c.first_person_response_ms IS NOT NULL
        ORDER BY c.created_ms DESC LIMIT $3";
    let mut waited = Vec::new();
    for row in db.all(sql, args![&site.id, since_ms, MAX_READ]).await? {
        let (response_ms, answered_ms) = (row.int(0)?, row.optional_int(1)?);
        if let Some(answered_ms) = answered_ms {
            waited.extend(site.waited_ms(answered_ms - response_ms, answered_ms));
        }
    }
    if waited.len() < MIN_ANSWERS {
        return Ok(None);
    }
    let sql = "SELECT count(*) FROM (SELECT 1 AS one FROM conversations
        WHERE site_id = $1 AND status = 'waiting' AND waiting_since_ms > $2 AND waiting_since_ms <= $3
            AND first_person_response_ms IS NULL LIMIT $4) forgotten";
    let forgotten = db.one(sql, args![&site.id, since_ms, now_ms - DAY_MS, MAX_READ]).await?.int(0)?;
    let median_ms = median(waited, usize::try_from(forgotten).unwrap_or_default());
    // More hours than that may span a night, of which the visitor would have to know.
    let is_told = |ms: &i64| site.business_hours.is_none() || *ms <= MAX_OPEN_MS;
    Ok(median_ms.filter(is_told).and_then(UsualReply::within))
}

/// Returns the median of the times and of `never` more that have no end; the upper one of the two in the
/// middle.
fn median(mut times: Vec<i64>, never: usize) -> Option<i64> {
    times.sort_unstable();
    times.get(usize::midpoint(times.len(), never)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::databases::{Kind, TestDatabase, on_both_databases};
    use crate::db::transaction;
    use crate::sites::{self, SiteChange};
    use crate::visitors::fixture::{NOW, execute, open};
    use crate::{ServiceKey, error};

    const MINUTE_MS: i64 = 60_000;
    /// A Friday in January at 08:00 (UTC).
    const FRIDAY_MS: i64 = NOW;

    /// Adds a conversation whose visitor began to wait at a time, and was answered after some minutes.
    async fn answered(db: &Db, id: &str, began_ms: i64, minutes: i64) {
        let response_ms = minutes * MINUTE_MS;
        let sql =
            "INSERT INTO conversations (id, site_id, tenant_id, status, created_ms, updated_ms, last_seq,
                first_person_response_ms)
            VALUES ($1, 'shop', 'acme', 'open', $2, $2, 1, $3)";
        execute(db, sql, args![id, began_ms, response_ms]).await;
        let sql = "INSERT INTO messages (conversation_no, seq, role, content, created_ms)
            VALUES ((SELECT no FROM conversations WHERE id = $1), 1, 'operator', 'Hello', $2)";
        execute(db, sql, args![id, began_ms + response_ms]).await;
    }

    async fn waits(db: &Db, id: &str, since_ms: i64) {
        let sql = "INSERT INTO conversations (id, site_id, tenant_id, status, created_ms, updated_ms,
                waiting_since_ms)
            VALUES ($1, 'shop', 'acme', 'waiting', $2, $2, $2)";
        execute(db, sql, args![id, since_ms]).await;
    }

    async fn shop(db: &Db, change: &str) -> Site {
        let site = sites::find(db, "shop").await.expect("read").expect("a site");
        let change: SiteChange = serde_json::from_str(change).expect("a change");
        let changed: Result<Site, error::ApiError> =
            transaction!(db, |tx| sites::change(tx, &ServiceKey::random(), &site, change).await).await;
        changed.expect("changed")
    }

    fn minutes(minutes: i64) -> Option<UsualReply> {
        UsualReply::within(minutes * MINUTE_MS)
    }

    on_both_databases! {
        async fn nothing_is_known_before_there_are_enough_answers(database: &TestDatabase) {
            let db = open(database).await;
            let site = shop(&db, "{}").await;
            for number in 0..9 {
                answered(&db, &format!("c{number}"), FRIDAY_MS - 1_000 * number, 8).await;
            }
            assert_eq!(count(&db, &site, NOW + MINUTE_MS).await.expect("counted"), None);
            answered(&db, "old", NOW - PERIOD_MS - 1, 8).await;
            assert_eq!(count(&db, &site, NOW).await.expect("counted"), None);
            answered(&db, "c9", FRIDAY_MS, 8).await;
            assert_eq!(count(&db, &site, NOW + MINUTE_MS).await.expect("counted"), minutes(10));
            let rival = sites::find(&db, "rival").await.expect("read").expect("a site");
            assert_eq!(count(&db, &rival, NOW + MINUTE_MS).await.expect("counted"), None);
        }

        async fn the_median_is_rounded_up_and_visitors_whom_nobody_answered_count(database: &TestDatabase) {
            let db = open(database).await;
            let site = shop(&db, "{}").await;
            for (number, minutes) in [1, 2, 3, 4, 12, 13, 14, 300, 400, 500, 600].into_iter().enumerate() {
                answered(&db, &format!("c{number}"), FRIDAY_MS, minutes).await;
            }
            let now_ms = FRIDAY_MS + 2 * DAY_MS;
            assert_eq!(count(&db, &site, now_ms).await.expect("counted"), minutes(15));
            waits(&db, "new", now_ms - DAY_MS + 1).await;
            assert_eq!(count(&db, &site, now_ms).await.expect("counted"), minutes(15));
            for number in 0..4 {
                waits(&db, &format!("w{number}"), now_ms - DAY_MS - number).await;
            }
            assert_eq!(count(&db, &site, now_ms).await.expect("counted"), minutes(300));
            for number in 4..12 {
                waits(&db, &format!("w{number}"), now_ms - DAY_MS - number).await;
            }
            assert_eq!(count(&db, &site, now_ms).await.expect("counted"), None, "most were never answered");
        }

        async fn the_hours_in_which_the_site_is_closed_do_not_count(database: &TestDatabase) {
            let db = open(database).await;
            let hours = r#"{ "businessHours": { "timeZone": "UTC", "intervals":
                [1, 2, 3, 4, 5], "holidays": [] } }"#;
            let intervals: Vec<String> = (1..=5)
                .map(|day| format!(r#"{{ "day": {day}, "fromMinute": 480, "toMinute": 960 }}"#))
                .collect();
            let site = shop(&db, &hours.replace("1, 2, 3, 4, 5", &intervals.join(","))).await;
            let friday_15_55 = FRIDAY_MS + (7 * 60 + 55) * MINUTE_MS;
            let monday_08_10 = FRIDAY_MS + 3 * DAY_MS + 10 * MINUTE_MS;
            for number in 0..10 {
                let id = format!("c{number}");
                answered(&db, &id, friday_15_55, (monday_08_10 - friday_15_55) / MINUTE_MS).await;
            }
            // Those who began to wait at night tell nothing.
            for number in 0..20 {
                answered(&db, &format!("n{number}"), FRIDAY_MS + 12 * 60 * MINUTE_MS, 1).await;
            }
            let now_ms = FRIDAY_MS + 4 * DAY_MS;
            assert_eq!(count(&db, &site, now_ms).await.expect("counted"), minutes(15));
        }
    }

    #[test]
    fn the_upper_middle_is_the_median() {
        assert_eq!(median(vec![3, 1, 2], 0), Some(2));
        assert_eq!(median(vec![4, 1, 2, 3], 0), Some(3));
        assert_eq!(median(vec![1, 2, 3], 2), Some(3));
        assert_eq!(median(vec![1, 2, 3], 3), None);
        assert_eq!(median(vec![], 0), None);
    }
}
