//! The share of a site's monthly replies that one visitor, and all visitors of one network, may use. The rest
//! stays for everybody else.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;

use super::Asker;
use crate::clock::{month, month_ends_ms};
use crate::db::{DbError, Tx, args};
use crate::fingerprint::fingerprint;
use crate::rate::Caller;

/// A visitor has a tenth of the month's replies.
const VISITOR_DIVISOR: i64 = 10;
/// A network has a quarter of them: visitors of a mobile provider or of an office share one.
const NETWORK_DIVISOR: i64 = 4;
/// The share of a month with few replies, so that a conversation is possible.
const MIN_SHARE: i64 = 5;

/// Somebody who has a share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Holder {
    name: String,
    divisor: i64,
}

impl Holder {
    /// Returns the holders of the replies to a visitor, as far as they are known.
    pub(super) fn of(asker: Asker<'_>) -> Vec<Self> {
        let visitor =
            asker.visitor_id.map(|id| Self { name: format!("visitor {id}"), divisor: VISITOR_DIVISOR });
        let network = (asker.caller != Caller::Anybody)
            .then(|| Self { name: format!("network {}", asker.caller.network()), divisor: NETWORK_DIVISOR });
        visitor.into_iter().chain(network).collect()
    }

    fn share(&self, limit: i64) -> i64 {
        (limit / self.divisor).max(MIN_SHARE)
    }

    /// Returns the key of the holder's counter. It is a hash: the counter is stored for a month.
    fn key(&self, site_id: &str, now_ms: i64) -> String {
        let month = month(now_ms);
        let parts = [site_id, &month, &self.name].map(str::as_bytes);
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
            args![holder.key(site_id, now_ms), month_ends_ms(now_ms)],
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
