//! Light or dark: the operator's choice in this browser, or that of the system.

use super::{document, storage};

const KEY: &str = "scheme";

/// Returns `light`, `dark` or `system`.
pub fn chosen() -> &'static str {
    match storage::read::<String>(KEY).as_deref() {
        Some("light") => "light",
        Some("dark") => "dark",
        _ => "system",
    }
}

/// Stores and applies a choice.
pub fn choose(scheme: &str) {
    storage::write(KEY, &scheme);
    apply();
}

/// Applies the stored choice to the page.
pub fn apply() {
    let Some(root) = document().document_element() else { return };
    match chosen() {
        "system" => _ = root.remove_attribute("data-scheme"),
        scheme => _ = root.set_attribute("data-scheme", scheme),
    }
}
