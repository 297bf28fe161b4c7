//! The time, and randomness.

/// Milliseconds since the Unix epoch, on a clock that does not go back while the page lives.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "milliseconds since 1970 fit")]
pub fn now_ms() -> u64 {
    let performance = web_sys::window().and_then(|window| window.performance());
    performance.map_or_else(js_sys::Date::now, |performance| performance.time_origin() + performance.now())
        as u64
}

/// The present time as ISO 8601, by the visitor's clock.
pub fn now_iso() -> String {
    js_sys::Date::new_0().to_iso_string().into()
}

/// 64 random bits, from the browser's generator for secrets where there is one.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "only the bits matter")]
pub fn seed() -> u64 {
    let mut bytes = [0; 8];
    let filled = web_sys::window()
        .and_then(|window| window.crypto().ok())
        .is_some_and(|crypto| crypto.get_random_values_with_u8_array(&mut bytes).is_ok());
    if filled {
        u64::from_le_bytes(bytes)
    } else {
        (js_sys::Math::random() * 2f64.powi(53)) as u64 ^ now_ms()
    }
}
