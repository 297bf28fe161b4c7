//! Slows down those who guess passwords, codes and links.
//!
//! Failed attempts are counted for an address and for an account, in the database, so that all nodes count
//! together. After some free ones, each failure doubles the time until the next attempt. Nobody is locked out
//! for ever: the delay has a maximum, and a browser that has signed in before is counted for itself, so that
//! strangers do not hold it up.

use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;

use crate::Service;
use crate::clock::millis;
use crate::db::{DbError, Tx, args, transaction};
use crate::error::ApiError;
use crate::fingerprint::fingerprint;

/// Failures are forgotten at the end of a day.
const WINDOW: Duration = Duration::from_hours(24);
/// The delay after the last free attempt. It doubles with each further failure.
const FIRST_DELAY: Duration = Duration::from_secs(1);
/// Maximum delay between two attempts.
const MAX_DELAY: Duration = Duration::from_mins(15);

/// Whom attempts are counted for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Counted {
    key: String,
    /// Failures without a delay.
    free: u32,
    /// Whether success forgets the earlier failures, as that of an account's owner does. For a network it
    /// must not: an attacker may have an account too.
    resets: bool,
}

impl Counted {
    /// Counts the attempts from a network. An office behind one address may have many people.
    pub(super) fn network(purpose: &str, network: &str) -> Self {
        Self { key: format!("{purpose} from {network}"), free: 20, resets: false }
    }

    /// Counts the attempts on an account, whether it exists or not. `name` is not stored.
    pub(super) fn account(purpose: &str, name: &str) -> Self {
        let hash = BASE64_URL_SAFE_NO_PAD.encode(fingerprint(&[name.as_bytes()]));
        Self { key: format!("{purpose} on {hash}"), free: 5, resets: true }
    }

    /// Counts the attempts on all accounts of an address together, whether there are any or not. Success of
    /// one does not forget the failures: an attacker may have one of them, and must neither get further
    /// guesses at the others by it, nor learn of them.
    pub(super) fn address(purpose: &str, address: &str) -> Self {
        Self { resets: false, ..Self::account(purpose, address) }
    }
}

/// An attempt, which counts as failed until it has succeeded.
#[derive(Clone, Debug)]
pub(super) struct Attempt(Vec<(Counted, Option<i64>)>);

/// Counts an attempt, or refuses it when it comes too early.
pub(super) async fn attempt(service: &Service, counted: Vec<Counted>) -> Result<Attempt, ApiError> {
    let now = service.now_ms();
    transaction!(service.db(), |tx| count(tx, now, counted).await).await
}

/// Counts an attempt in a transaction, which must fail when this fails.
async fn count(tx: &mut Tx, now_ms: i64, counted: Vec<Counted>) -> Result<Attempt, ApiError> {
    let mut attempts = Vec::new();
    for counted in counted {
        // Counting locks the row, so that attempts at the same time see each other's delays.
        let sql = "INSERT INTO rate_counters (key, window_ends_ms, used) VALUES ($1, $2, 1)
                   ON CONFLICT (key, window_ends_ms) DO UPDATE SET used = rate_counters.used + 1
                   RETURNING used";
        let used = tx.one(sql, args![&counted.key, window_end(now_ms)]).await?.count(0)?;
        let waits = format!("{} waits", counted.key);
        let sql = "SELECT max(window_ends_ms) FROM rate_counters WHERE key = $1 AND window_ends_ms > $2";
        if let Some(until) = tx.one(sql, args![&waits, now_ms]).await?.optional_int(0)? {
            let retry_after_s = u64::try_from(until - now_ms).unwrap_or_default().div_ceil(1000);
            return Err(ApiError::RateLimited { retry_after_s });
        }
        let until = delay_after(used, counted.free).map(|delay| now_ms.saturating_add(millis(delay)));
        if let Some(until) = until {
            let sql = "INSERT INTO rate_counters (key, window_ends_ms, used) VALUES ($1, $2, 0)
                       ON CONFLICT (key, window_ends_ms) DO NOTHING";
            tx.execute(sql, args![waits, until]).await?;
        }
        attempts.push((counted, until));
    }
    Ok(Attempt(attempts))
}

/// Returns the end of the window that a time is in: the next midnight in UTC.
fn window_end(now_ms: i64) -> i64 {
    let window = millis(WINDOW);
    (now_ms.div_euclid(window) + 1).saturating_mul(window)
}

/// Returns the delay after a number of failures.
fn delay_after(failures: u32, free: u32) -> Option<Duration> {
    let doublings = failures.checked_sub(free)?;
    let factor = 2_u32.checked_pow(doublings).unwrap_or(u32::MAX);
    Some(FIRST_DELAY.saturating_mul(factor).min(MAX_DELAY))
}

impl Attempt {
    /// Records that the attempt has succeeded, in the transaction that it allows.
    pub(super) async fn succeed(&self, tx: &mut Tx) -> Result<(), DbError> {
        self.withdraw(tx).await?;
        for (Counted { key, resets, .. }, _) in &self.0 {
            if *resets {
                let waits = format!("{key} waits");
                tx.execute("DELETE FROM rate_counters WHERE key = $1 OR key = $2", args![key, waits]).await?;
            }
        }
        Ok(())
    }

    /// Returns the result of a check. An attempt that could not be checked counts for nothing.
    pub(super) async fn unless_unchecked<T>(
        &self,
        service: &Service,
        checked: Result<T, ApiError>,
    ) -> Result<T, ApiError> {
        if checked.is_err() {
            let attempt = self.clone();
            transaction!(service.db(), |tx| attempt.withdraw(tx).await).await?;
        }
        checked
    }

    /// Records that the attempt counts for nothing.
    pub(super) async fn withdraw(&self, tx: &mut Tx) -> Result<(), DbError> {
        for (Counted { key, .. }, until) in &self.0 {
            let waits = format!("{key} waits");
            let sql = "UPDATE rate_counters SET used = used - 1 WHERE key = $1 AND used > 0";
            tx.execute(sql, args![key]).await?;
            if let Some(until) = until {
                let sql = "DELETE FROM rate_counters WHERE key = $1 AND window_ends_ms = $2";
                tx.execute(sql, args![waits, *until]).await?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_grow_up_to_a_maximum() {
        let seconds = |failures| delay_after(failures, 5).map(|delay| delay.as_secs());
        assert_eq!((seconds(1), seconds(4)), (None, None));
        assert_eq!((seconds(5), seconds(6), seconds(7), seconds(14)), (Some(1), Some(2), Some(4), Some(512)));
        assert_eq!((seconds(15), seconds(60), seconds(u32::MAX)), (Some(900), Some(900), Some(900)));
    }

    #[test]
    fn names_of_accounts_are_not_stored() {
        let counted = Counted::account("login", "ada@example.com");
        assert!(!counted.key.contains("ada"));
        assert_ne!(counted, Counted::account("login", "eve@example.com"));
    }
}
