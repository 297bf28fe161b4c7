//! The AI replies that a site may use in a calendar month (UTC).
//!
//! All replies of a site count in one row. Callers change it with `Db::write_unflushed`, so that it is not
//! locked until the disk has it. The commit that stores the reply makes the count durable.

use chat_protocol::admin::settings::{Quota, SiteQuota};

use super::shares::{self, Holder};
use crate::clock::month;
use crate::db::{Db, DbError, Row, Tx, args};
use crate::error::ApiError;

/// The outcome of [`take`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// The reply is counted, as the last one of `used`.
    Counted { used: i64, limit: Option<i64> },
    /// The month's replies are used up.
    UsedUp,
    /// One of the holders has used up its share of the month's replies: the rest is for everybody else.
    ShareUsedUp,
}

/// Counts a reply of a site, for each of its holders as well. Counts nothing if it may not be given. The
/// count is exact, however many nodes count at the same time.
pub(crate) async fn take(
    tx: &mut Tx,
    site_id: &str,
    now_ms: i64,
    holders: &[Holder],
) -> Result<Taken, ApiError> {
    let site = tx.optional("SELECT monthly_ai_replies FROM sites WHERE id = $1", args![site_id]).await?;
    let limit = site.ok_or(ApiError::NotFound("This site"))?.optional_int(0)?;
    let max = limit.unwrap_or(i64::MAX);
    if max <= 0 {
        return Ok(Taken::UsedUp);
    }
    let counted = tx
        .optional(
            "INSERT INTO ai_usage (site_id, month, replies) VALUES ($1, $2, 1)
             ON CONFLICT (site_id, month) DO UPDATE SET replies = ai_usage.replies + 1
                 WHERE ai_usage.replies < $3
             RETURNING replies",
            args![site_id, month(now_ms), max],
        )
        .await?;
    let Some(counted) = counted else { return Ok(Taken::UsedUp) };
    // The site's row is locked from here on: no other request counts for these holders at the same time.
    if let Some(limit) = limit
        && !shares::take(tx, site_id, now_ms, holders, limit).await?
    {
        give_back(tx, site_id, now_ms, &[]).await?;
        return Ok(Taken::ShareUsedUp);
    }
    Ok(Taken::Counted { used: counted.int(0)?, limit })
}

/// Returns a reply that was counted but not given, because the AI failed. `taken_ms` is the time at which it
/// was counted.
pub(crate) async fn give_back(
    tx: &mut Tx,
    site_id: &str,
    taken_ms: i64,
    holders: &[Holder],
) -> Result<(), DbError> {
    let sql = "UPDATE ai_usage SET replies = replies - 1 WHERE site_id = $1 AND month = $2 AND replies > 0";
    tx.execute(sql, args![site_id, month(taken_ms)]).await?;
    shares::give_back(tx, site_id, taken_ms, holders).await
}

const USED: &str = "SELECT replies FROM ai_usage WHERE site_id = $1 AND month = $2";

/// Returns the number of replies that a site has used in the month of `now_ms`.
pub(crate) async fn used(db: &Db, site_id: &str, now_ms: i64) -> Result<i64, DbError> {
    db.optional(USED, args![site_id, month(now_ms)]).await?.map_or(Ok(0), |row| row.int(0))
}

/// Returns the month of `now_ms`, such as 2026-11, and the replies that each site of a tenant has used in it:
/// the site's id, its name, the used ones, its maximum, and whether it refuses messages beyond that.
pub(crate) async fn of_tenant(db: &Db, tenant_id: &str, now_ms: i64) -> Result<Quota, DbError> {
    let month = month(now_ms);
    let sql =
        "SELECT s.id, s.name, COALESCE(u.replies, 0), s.monthly_ai_replies, s.quota_refuses FROM sites s
               LEFT JOIN ai_usage u ON u.site_id = s.id AND u.month = $2
               WHERE s.tenant_id = $1 AND s.deleted_ms IS NULL ORDER BY s.created_ms, s.id";
    let rows = db.all(sql, args![tenant_id, &month]).await?;
    let read = |row: &Row| {
        Ok::<_, DbError>(SiteQuota {
            site_id: row.text(0)?,
            name: row.text(1)?,
            used: row.int(2)?,
            limit: row.optional_int(3)?,
            refuses: row.flag(4)?,
            ..SiteQuota::default()
        })
    };
    let sites = rows.iter().map(read).collect::<Result<_, _>>()?;
    Ok(Quota { month, sites, ..Quota::default() })
}

/// Returns whether a site has used up `max` replies in the month of `now_ms`.
pub(crate) async fn is_used_up(tx: &mut Tx, site_id: &str, now_ms: i64, max: i64) -> Result<bool, DbError> {
    let row = tx.optional(USED, args![site_id, month(now_ms)]).await?;
    Ok(row.map_or(Ok(0), |row| row.int(0))? >= max)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderMap;
    use chat_test_servers::at_once;

    use super::*;
    use crate::ai::Asker;
    use crate::databases::{Kind, TestDatabase, on_both_databases};
    use crate::db::transaction;
    use crate::rate::Caller;
    use crate::visitors::fixture::{execute, open};

    /// 2026-11-30T23:59:59.999Z.
    const NOVEMBER_ENDS: i64 = 1_796_083_199_999;

    async fn with_sites(database: &TestDatabase, max: Option<i64>) -> Db {
        let db = open(database).await;
        execute(&db, "UPDATE sites SET monthly_ai_replies = $1", args![max]).await;
        db
    }

    async fn took(db: &Db, site: &'static str, now_ms: i64) -> bool {
        took_for(db, site, now_ms, Vec::new()).await.is_some()
    }

    /// Counts a reply. Returns its number, unless it may not be given.
    async fn took_for(db: &Db, site: &'static str, now_ms: i64, holders: Vec<Holder>) -> Option<i64> {
        let taken: Result<Taken, ApiError> =
            transaction!(db, |tx| take(tx, site, now_ms, &holders).await).await;
        match taken.expect("counted") {
            Taken::Counted { used, .. } => Some(used),
            Taken::UsedUp | Taken::ShareUsedUp => None,
        }
    }

    fn holders(visitor: &str, address: &str) -> Vec<Holder> {
        let mut headers = HeaderMap::new();
        headers.insert("x-forwarded-for", address.parse().expect("a header value"));
        Holder::of(Asker { visitor_id: Some(visitor), caller: Caller::forwarded(&headers) })
    }

    on_both_databases! {
        async fn a_quota_is_never_exceeded_by_many_at_once(database: &TestDatabase) {
            let db = with_sites(database, Some(25)).await;
            let taken = at_once(60, |_| {
                let db = db.clone();
                async move { took(&db, "shop", NOVEMBER_ENDS).await }
            });
            let counted = taken.await.into_iter().filter(|taken| *taken).count();
            assert_eq!((counted, used(&db, "shop", NOVEMBER_ENDS).await.expect("read")), (25, 25));
            assert_eq!(used(&db, "rival", NOVEMBER_ENDS).await.expect("read"), 0);
        }

        async fn a_share_of_the_month_stays_for_everybody_else(database: &TestDatabase) {
            let db = with_sites(database, Some(100)).await;
            let mut counted = 0;
            for _ in 0..40 {
                let same = holders("greedy", "2001:db8::1");
                counted += usize::from(took_for(&db, "shop", NOVEMBER_ENDS, same).await.is_some());
            }
            assert_eq!(counted, 10, "a visitor has a tenth");
            for number in 0..80 {
                let invented = holders(&format!("visitor {number}"), &format!("2001:db8:0:{number:x}::1"));
                counted += usize::from(took_for(&db, "shop", NOVEMBER_ENDS, invented).await.is_some());
            }
            assert_eq!(counted, 25, "a network has a quarter, whatever visitors it invents");
            let used = used(&db, "shop", NOVEMBER_ENDS).await.expect("read");
            assert_eq!(used, 25, "what is refused does not count");
            for number in 0..75 {
                let other = holders(&format!("other {number}"), &format!("192.0.{number}.1"));
                assert!(took_for(&db, "shop", NOVEMBER_ENDS, other).await.is_some(), "{number}");
            }
            let next_month = holders("greedy", "2001:db8::1");
            assert_eq!(took_for(&db, "shop", NOVEMBER_ENDS + 1, next_month).await, Some(1));
        }

        async fn invented_visitors_without_an_address_leave_replies_for_later_days(database: &TestDatabase) {
            let db = with_sites(database, Some(200)).await;
            let day = NOVEMBER_ENDS - 24 * 3_600_000;
            let without_address = |visitor: &str| Holder::of(Asker { visitor_id: Some(visitor), caller: Caller::Anybody });
            let mut counted = 0;
            for number in 0..200 {
                let invented = without_address(&format!("invented {number}"));
                counted += usize::from(took_for(&db, "shop", day, invented).await.is_some());
            }
            assert_eq!(counted, 50, "a quarter in a day");
            let nobody = Holder::of(Asker { visitor_id: None, caller: Caller::Anybody });
            assert_eq!(took_for(&db, "shop", day, nobody).await, None, "visitors without an id are no others");
            // Verified visitors, and those with a known address, do not count.
            assert!(took_for(&db, "shop", day, without_address("verified:ada")).await.is_some());
            assert!(took_for(&db, "shop", day, holders("visitor", "192.0.2.1")).await.is_some());
            assert!(took_for(&db, "shop", NOVEMBER_ENDS, without_address("of the next day")).await.is_some());
            assert_eq!(used(&db, "shop", NOVEMBER_ENDS).await.expect("read"), 53);
        }

        async fn a_reply_that_failed_is_given_back_to_its_holders(database: &TestDatabase) {
            let db = with_sites(database, Some(100)).await;
            for _ in 0..40 {
                let holders = holders("unlucky", "192.0.2.1");
                let given = holders.clone();
                assert!(took_for(&db, "shop", NOVEMBER_ENDS, holders).await.is_some());
                let given: Result<(), DbError> =
                    transaction!(db, |tx| give_back(tx, "shop", NOVEMBER_ENDS, &given).await).await;
                given.expect("given back");
            }
        }

        async fn a_new_month_begins_at_midnight_in_utc(database: &TestDatabase) {
            let db = with_sites(database, Some(1)).await;
            assert!(took(&db, "shop", NOVEMBER_ENDS).await);
            assert!(!took(&db, "shop", NOVEMBER_ENDS).await);
            assert!(took(&db, "shop", NOVEMBER_ENDS + 1).await);
            assert!(!took(&db, "shop", NOVEMBER_ENDS + 1).await);
        }

        async fn a_reply_that_failed_is_given_back_once(database: &TestDatabase) {
            let db = with_sites(database, Some(1)).await;
            assert!(took(&db, "shop", NOVEMBER_ENDS).await);
            for _ in 0..2 {
                let given: Result<(), DbError> =
                    transaction!(db, |tx| give_back(tx, "shop", NOVEMBER_ENDS, &[]).await).await;
                given.expect("given back");
            }
            assert!(took(&db, "shop", NOVEMBER_ENDS).await && !took(&db, "shop", NOVEMBER_ENDS).await);
        }

        async fn a_site_may_have_no_quota_or_no_replies(database: &TestDatabase) {
            let db = with_sites(database, None).await;
            assert!(took(&db, "shop", 0).await && took(&db, "shop", 0).await);
            execute(&db, "UPDATE sites SET monthly_ai_replies = 0", args![]).await;
            assert!(!took(&db, "shop", 0).await);
        }
    }
}
