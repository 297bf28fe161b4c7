//! Whether the browser believes to have a network.

use super::listener::Listener;

/// What the browser believes now.
pub fn is_online() -> bool {
    web_sys::window().is_none_or(|window| window.navigator().on_line())
}

/// Tells of every change.
pub fn watch(on_change: impl Fn(bool) + Clone + 'static) -> Vec<Listener> {
    let Some(window) = web_sys::window() else {
        return Vec::new();
    };
    let lost = on_change.clone();
    vec![
        Listener::new(&window, "online", move |_| on_change(true)),
        Listener::new(&window, "offline", move |_| lost(false)),
    ]
}
