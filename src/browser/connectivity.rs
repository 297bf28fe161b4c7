//! Whether the browser believes to have a network.

/// What the browser believes now.
pub fn is_online() -> bool {
    super::window().navigator().on_line()
}
