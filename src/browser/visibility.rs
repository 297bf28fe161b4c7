//! Whether anybody can see the page.

/// Whether the page is in a tab that is shown.
pub fn is_visible() -> bool {
    super::document().visibility_state() != web_sys::VisibilityState::Hidden
}
