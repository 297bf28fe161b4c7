//! Visibility of the page.

/// Returns whether the page is in a visible tab.
pub fn is_visible() -> bool {
    super::document().visibility_state() != web_sys::VisibilityState::Hidden
}
