//! Connectivity, as the browser sees it.

/// Returns whether the browser has a network connection.
pub fn is_online() -> bool {
    super::window().navigator().on_line()
}
