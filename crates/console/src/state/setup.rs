//! The first steps of a site, which the console asks for again while somebody looks at them.

use std::time::Duration;

use chat_protocol::admin::settings::SiteSetup;
use leptos::leptos_dom::helpers::set_interval_with_handle;
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::back_off::BackOff;
use crate::api::requests;
use crate::browser::{clock, storage, visibility};

/// The interval at which the watch looks whether it is time to ask.
const TICK: Duration = Duration::from_secs(2);
/// The time between two requests until a page was seen, and after that, in milliseconds.
const UNTIL_SEEN_MS: f64 = 4_000.0;
const SINCE_SEEN_MS: f64 = 30_000.0;
/// The wait after a request that failed.
const BACK_OFF: BackOff = BackOff { first_ms: 8_000.0, max_ms: 60_000.0 };
/// The key under which this browser stores that the assistant was asked.
const ASKED: &str = "setup.asked";

/// Follows the first steps of a site while the page is visible, until the component that follows them is
/// gone. The value is `None` until it is loaded, and without a site.
pub fn watch_setup(site: Signal<Option<String>>) -> RwSignal<Option<SiteSetup>> {
    let setup = RwSignal::new(None::<SiteSetup>);
    // When to ask next, which is never while a response is awaited, and how many requests have failed.
    let (due_ms, failures) = (StoredValue::new(0.0_f64), StoredValue::new(0_u32));
    let check = move || {
        let Some(id) = site.try_get_untracked().flatten() else { return };
        if !visibility::is_visible() || due_ms.try_get_value().is_none_or(|due_ms| clock::now_ms() < due_ms) {
            return;
        }
        due_ms.set_value(f64::INFINITY);
        spawn_local(async move {
            let response = requests::site_setup(&id).await;
            let (wait_ms, failed) = match &response {
                Ok(found) if found.page_last_seen_at.is_some() => (SINCE_SEEN_MS, 0),
                Ok(_) => (UNTIL_SEEN_MS, 0),
                Err(_) => {
                    let earlier = failures.try_get_value().unwrap_or_default();
                    (BACK_OFF.wait_ms(earlier, js_sys::Math::random()), earlier.saturating_add(1))
                }
            };
            failures.try_update_value(|failures| *failures = failed);
            due_ms.try_update_value(|due_ms| *due_ms = clock::now_ms() + wait_ms);
            // Setting an equal value would render the steps again.
            if let Ok(found) = response
                && setup.try_with_untracked(|known| known.as_ref() != Some(&found)) == Some(true)
            {
                setup.try_set(Some(found));
            }
        });
    };
    Effect::new(move |_| {
        site.track();
        check();
    });
    let interval = StoredValue::new_local(set_interval_with_handle(check, TICK).ok());
    on_cleanup(move || {
        if let Some(Some(interval)) = interval.try_update_value(Option::take) {
            interval.clear();
        }
    });
    setup
}

/// Returns whether the assistant was asked a question in this browser.
pub fn was_assistant_asked() -> bool {
    storage::read(ASKED).unwrap_or_default()
}

/// Notes that the assistant was asked a question in this browser.
pub fn note_asked_assistant() {
    storage::write(ASKED, &true);
}
