//! Whether anybody can see the page, and when it is left.

use super::listener::Listener;

/// Whether the page is in a tab that is shown. A document that cannot tell counts as shown.
pub fn is_visible() -> bool {
    web_sys::window()
        .and_then(|window| window.document())
        .is_none_or(|document| document.visibility_state() != web_sys::VisibilityState::Hidden)
}

/// Tells of every change, also of a page that comes out of the back-forward cache.
pub fn watch(on_change: impl Fn(bool) + Clone + 'static) -> Vec<Listener> {
    let Some(window) = web_sys::window() else {
        return Vec::new();
    };
    let Some(document) = window.document() else {
        return Vec::new();
    };
    let shown = on_change.clone();
    vec![
        Listener::new(&document, "visibilitychange", move |_| on_change(is_visible())),
        Listener::new(&window, "pageshow", move |_| shown(is_visible())),
    ]
}

/// Tells when the visitor leaves the page: the last moment at which a request can be made.
pub fn watch_leaving(on_leave: impl Fn() + 'static) -> Option<Listener> {
    let window = web_sys::window()?;
    Some(Listener::new(&window, "pagehide", move |_| on_leave()))
}
