//! The time, and randomness.

use std::cell::Cell;

thread_local! {
    /// From the start of the page's own clock to the Unix epoch, in milliseconds.
    static OFFSET: Cell<f64> = const { Cell::new(0.0) };
}

/// Maximum lag of the page's clock behind the wall clock, as it arises while the machine sleeps.
/// Milliseconds.
const MAX_LAG_MS: f64 = 1000.0;

/// Returns milliseconds since the Unix epoch. The clock is monotonic while the page lives, and catches up
/// with the wall clock.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "milliseconds since 1970 fit")]
pub fn now_ms() -> u64 {
    let wall = js_sys::Date::now();
    let Some(performance) = super::window().performance() else {
        return wall as u64;
    };
    let own = performance.now();
    if wall - (own + OFFSET.get()) > MAX_LAG_MS {
        OFFSET.set(wall - own);
    }
    (own + OFFSET.get()) as u64
}

/// Returns the present time as ISO 8601, by the visitor's clock.
pub fn now_iso() -> String {
    js_sys::Date::new_0().to_iso_string().into()
}

/// Returns 128 random bits, from the cryptographic generator where there is one.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "only the bits matter")]
pub fn seed() -> u128 {
    let mut bytes = [0; 16];
    let crypto = super::window().crypto();
    let filled = crypto.is_ok_and(|crypto| crypto.get_random_values_with_u8_array(&mut bytes).is_ok());
    if filled {
        u128::from_le_bytes(bytes)
    } else {
        let random = || (js_sys::Math::random() * 2f64.powi(53)) as u64;
        (u128::from(random() ^ now_ms()) << 64) | u128::from(random())
    }
}

/// Returns the local day of a time in milliseconds, as a number that grows by one a day.
#[expect(clippy::cast_possible_truncation, reason = "a count of days fits")]
pub fn local_day(ms: f64) -> i64 {
    const MINUTE_MS: f64 = 60_000.0;
    let offset = js_sys::Date::new(&ms.into()).get_timezone_offset();
    ((ms - offset * MINUTE_MS) / (24.0 * 60.0 * MINUTE_MS)).floor() as i64
}
