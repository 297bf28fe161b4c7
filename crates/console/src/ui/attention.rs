//! What happens outside of the page's own area: the title, the icon, and whether the operator is there.

mod preferences;
mod push;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use leptos::prelude::*;

pub use preferences::AttentionPreferences;

use crate::attention::{Idle, favicon, page_title};
use crate::browser::listener::Listener;
use crate::browser::{self, clock, visibility};
use crate::location::Page;
use crate::state::app;
use crate::text::{account, attention, shell};

/// The interval at which the console looks whether somebody is there.
const IDLE_INTERVAL: Duration = Duration::from_secs(15);
/// The events by which an operator shows to be there.
const TOUCHES: [&str; 5] = ["pointerdown", "pointermove", "keydown", "wheel", "touchstart"];
/// The minimum time between two touches that count: the pointer moves all the time.
const TOUCH_PAUSE_MS: f64 = 1000.0;

/// Keeps the title and the icon up to date, and tells the service when the operator goes away.
#[component]
pub fn Attention() -> impl IntoView {
    let app = app();
    let unread = Memo::new(move |_| app.conversations.counts().read().unread);
    Effect::new(move |_| {
        let page = app.router.page();
        let title = page_title(unread.get(), place(&page.read()), attention::PRODUCT.get());
        browser::document().set_title(&title);
    });
    Effect::new(move |before: Option<i64>| {
        let unread = unread.get();
        if before != Some(unread)
            && let Some(link) = browser::document().query_selector("link[rel=icon]").ok().flatten()
        {
            _ = link.set_attribute("href", &favicon(unread));
        }
        unread
    });
    follow_touches();
    app.presence.tell_service(app.live.console_id());
}

/// Tells when the operator goes away, and when they come back.
fn follow_touches() {
    let presence = app().presence;
    let idle = Rc::new(RefCell::new(Idle::new(clock::now_ms())));
    let touched_ms = Rc::new(RefCell::new(0.0));
    let touch = {
        let idle = Rc::clone(&idle);
        move || {
            let now_ms = clock::now_ms();
            if now_ms - *touched_ms.borrow() < TOUCH_PAUSE_MS {
                return;
            }
            *touched_ms.borrow_mut() = now_ms;
            if idle.borrow_mut().touch(now_ms) {
                presence.set_idle(false);
            }
        }
    };
    let window = browser::window();
    let mut listeners: Vec<Listener> = TOUCHES
        .into_iter()
        .map(|name| {
            let touch = touch.clone();
            Listener::new(&window, name, move |_| touch())
        })
        .collect();
    listeners.push(Listener::new(&browser::document(), "visibilitychange", move |_| {
        if visibility::is_visible() {
            touch();
        }
    }));
    let check = move || {
        if idle.borrow_mut().check(clock::now_ms()) {
            presence.set_idle(true);
        }
    };
    let interval = set_interval_with_handle(check, IDLE_INTERVAL).ok();
    let kept = StoredValue::new_local((listeners, interval));
    on_cleanup(move || {
        _ = kept.try_update_value(|(listeners, interval)| {
            listeners.clear();
            if let Some(interval) = interval.take() {
                interval.clear();
            }
        });
    });
}

fn place(page: &Page) -> &'static str {
    let text = match page {
        Page::Inbox { .. } => shell::INBOX,
        Page::Reports(_) => shell::REPORTS,
        Page::Publishing(..) => shell::PUBLISHING,
        Page::Settings(..) => shell::SETTINGS,
        Page::Account | Page::Forgot => account::TITLE,
    };
    text.get()
}
