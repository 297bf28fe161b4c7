//! Whether the operator sees the page.

use web_sys::VisibilityState;

/// Returns whether the page is visible.
pub fn is_visible() -> bool {
    super::document().visibility_state() == VisibilityState::Visible
}

/// Returns whether the page is visible and has the focus, so that somebody reads it.
pub fn is_in_use() -> bool {
    is_visible() && super::document().has_focus().unwrap_or(true)
}
