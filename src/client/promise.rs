//! Promises of the page.

use js_sys::{Array, Promise, Reflect};
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;

/// Returns the value of a promise, or the value itself if it is not a promise. `Promise.all` catches
/// exceptions of `then`, which a promise of the page may throw.
pub(super) async fn settled(value: &JsValue) -> Result<JsValue, JsValue> {
    let settled = JsFuture::from(Promise::all(&Array::of2(value, &JsValue::UNDEFINED))).await?;
    Reflect::get_u32(&settled, 0)
}
