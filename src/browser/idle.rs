//! Idle time of the page.

use js_sys::{Function, Promise, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

use super::dictionary::Dictionary;

/// Maximum wait for a busy page. Milliseconds.
const IDLE_TIMEOUT_MS: u32 = 2_000;

/// Waits until the page has nothing else to do. A browser without idle callbacks ends the present task.
pub async fn idle() {
    let wait = Promise::new(&mut |resolve, _| {
        let window = super::window();
        let function = |name: &str| Reflect::get(&window, &name.into())?.dyn_into::<Function>();
        let limit = Dictionary::new();
        limit.set_value("timeout", &IDLE_TIMEOUT_MS.into());
        let called = function("requestIdleCallback")
            .and_then(|wait| wait.call2(&window, &resolve, &limit))
            // `setTimeout` would throw for an object in place of the delay.
            .or_else(|_| function("setTimeout")?.call1(&window, &resolve));
        if called.is_err() {
            // Another script has replaced the function by one that throws.
            _ = resolve.call0(&JsValue::UNDEFINED);
        }
    });
    // This promise is not rejected.
    _ = JsFuture::from(wait).await;
}
