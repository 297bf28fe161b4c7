//! The share of a site's monthly replies that one visitor, and all visitors of one network, may use. The rest
//! stays for everybody else.
//!
//! A site's server may send no addresses of visitors, and clients can invent visitor ids. All visitors
//! without an address therefore have one share. It is renewed each day, because most of them are real.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;

use super::Asker;
use crate::clock::{month, month_ends_ms};
use crate::db::{DbError, Tx, args};
use crate::fingerprint::fingerprint;
use crate::rate::Caller;
use crate::visitors::identity::is_verified;

/// A visitor has a tenth of the month's replies.
const VISITOR_DIVISOR: i64 = 10;
/// A network has a quarter of them: visitors of a mobile provider or of an office share one.
const NETWORK_DIVISOR: i64 = 4;
/// All visitors without an address have a quarter in a day.
const UNKNOWN_DIVISOR: i64 = 4;
/// The share of a month with few replies, so that a conversation is possible.
const MIN_SHARE: i64 = 5;
/// The same for the visitors without an address, of whom there are many.
const MIN_UNKNOWN_SHARE: i64 = 20;
const DAY_MS: i64 = 24 * 3_600_000;

/// Somebody who has a share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Holder {
    name: String,
    divisor: i64,
    min: i64,
    period: Period,
}

/// The time for which a share is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Period {
    Month,
    Day,
}

impl Period {
    /// Returns the name of the period of a time.
    fn name(self, now_ms: i64) -> String {
        match self {
            Self::Month => month(now_ms),
            Self::Day => format!("day {}", now_ms.div_euclid(DAY_MS)),
        }
    }

    fn ends_ms(self, now_ms: i64) -> i64 {
        match self {
            Self::Month => month_ends_ms(now_ms),
            Self::Day => (now_ms.div_euclid(DAY_MS) + 1) * DAY_MS,
        }
    }
}

impl Holder {
    /// Returns the holders of the replies to a visitor, as far as they are known.
    pub(super) fn of(asker: Asker<'_>) -> Vec<Self> {
        let of_month = |name, divisor| Self { name, divisor, min: MIN_SHARE, period: Period::Month };
        let visitor = asker.visitor_id.map(|id| of_month(format!("visitor {id}"), VISITOR_DIVISOR));
        let others = match asker.caller {
            // A verified visitor cannot be invented.
            Caller::Anybody if asker.visitor_id.is_some_and(is_verified) => None,
            Caller::Anybody => Some(Self {
                name: "visitors without an address".to_owned(),
                divisor: UNKNOWN_DIVISOR,
                min: MIN_UNKNOWN_SHARE,
                period: Period::Day,
            }),
            caller => Some(of_month(format!("network {}", caller.network()), NETWORK_DIVISOR)),
        };
        visitor.into_iter().chain(others).collect()
    }

    fn share(&self, limit: i64) -> i64 {
        (limit / self.divisor).max(self.min)
    }

    /// Returns the key of the holder's counter. It is a hash: the counter is stored for a month.
    fn key(&self, site_id: &str, now_ms: i64) -> String {
        let period = self.period.name(now_ms);
        let parts = [site_id, &period, &self.name].map(str::as_bytes);
        let hash = fingerprint(&[parts[0], b"\n", parts[1], b"\n", parts[2]]);
        format!("ai share {}", BASE64_URL_SAFE_NO_PAD.encode(hash))
    }
}

/// Counts a reply for each holder. Returns false, and counts nothing, if the share of one is used up. Call it
/// while the site's count is locked.
pub(super) async fn take(
    tx: &mut Tx,
    site_id: &str,
    now_ms: i64,
    holders: &[Holder],
    limit: i64,
) -> Result<bool, DbError> {
    for holder in holders {
        let sql = "SELECT 1 FROM rate_counters WHERE key = $1 AND used >= $2";
        let used_up = tx.optional(sql, args![holder.key(site_id, now_ms), holder.share(limit)]).await?;
        if used_up.is_some() {
            return Ok(false);
        }
    }
    for holder in holders {
        tx.execute(
            "INSERT INTO rate_counters (key, window_ends_ms, used) VALUES ($1, $2, 1)
             ON CONFLICT (key, window_ends_ms) DO UPDATE SET used = rate_counters.used + 1",
            args![holder.key(site_id, now_ms), holder.period.ends_ms(now_ms)],
        )
        .await?;
    }
    Ok(true)
}

/// Returns the reply that was counted at `taken_ms` to its holders.
pub(super) async fn give_back(
    tx: &mut Tx,
    site_id: &str,
    taken_ms: i64,
    holders: &[Holder],
) -> Result<(), DbError> {
    for holder in holders {
        let sql = "UPDATE rate_counters SET used = used - 1 WHERE key = $1 AND used > 0";
        tx.execute(sql, args![holder.key(site_id, taken_ms)]).await?;
    }
    Ok(())
}
