//! The clipboard.

use wasm_bindgen_futures::JsFuture;

/// Copies a text. Returns whether the browser allowed it.
pub async fn copy(text: &str) -> bool {
    JsFuture::from(super::window().navigator().clipboard().write_text(text)).await.is_ok()
}
