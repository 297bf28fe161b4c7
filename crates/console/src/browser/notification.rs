//! Notifications of the operating system.

use std::cell::RefCell;
use std::collections::VecDeque;

use wasm_bindgen_futures::JsFuture;
use web_sys::{Notification, NotificationOptions, NotificationPermission};

use super::listener::Listener;

/// Maximum notifications that answer to a click.
const MAX_KEPT: usize = 20;

thread_local! {
    static KEPT: RefCell<VecDeque<Shown>> = const { RefCell::new(VecDeque::new()) };
}

/// A notification with the listener of its click.
struct Shown {
    _notification: Notification,
    _click: Listener,
}

/// Whether the operator allows notifications.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Permission {
    /// The browser has none.
    #[default]
    Unsupported,
    /// The operator was not asked.
    Undecided,
    /// They are allowed.
    Granted,
    /// They are refused. Only the browser's own settings change that.
    Denied,
}

impl From<NotificationPermission> for Permission {
    fn from(permission: NotificationPermission) -> Self {
        match permission {
            NotificationPermission::Granted => Self::Granted,
            NotificationPermission::Denied => Self::Denied,
            _ => Self::Undecided,
        }
    }
}

/// Returns whether notifications are allowed.
pub fn permission() -> Permission {
    if js_sys::Reflect::has(&js_sys::global(), &"Notification".into()) != Ok(true) {
        return Permission::Unsupported;
    }
    Notification::permission().into()
}

/// Asks for the permission. Browsers show the question only after a click.
pub async fn request_permission() -> Permission {
    if permission() == Permission::Undecided
        && let Ok(answer) = Notification::request_permission()
    {
        _ = JsFuture::from(answer).await;
    }
    permission()
}

/// Shows a notification, which replaces an earlier one with the same tag. A click focuses the page and calls
/// a function.
pub fn show(title: &str, body: &str, tag: &str, on_click: impl Fn() + 'static) {
    let options = NotificationOptions::new();
    options.set_body(body);
    options.set_tag(tag);
    options.set_icon("/console/icon.svg");
    // On some phones only a service worker may show one.
    let Ok(notification) = Notification::new_with_options(title, &options) else { return };
    let closing = notification.clone();
    let click = Listener::new(&notification, "click", move |event| {
        event.prevent_default();
        _ = super::window().focus();
        closing.close();
        on_click();
    });
    KEPT.with_borrow_mut(|kept| {
        kept.push_back(Shown { _notification: notification, _click: click });
        if kept.len() > MAX_KEPT {
            kept.pop_front();
        }
    });
}
