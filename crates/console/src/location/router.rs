//! The page that is shown, and moving between pages. Links are ordinary links, also for the keyboard, for new
//! tabs and for copying.

use leptos::ev;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlAnchorElement, MouseEvent};

use super::{BASE, Page, Part};
use crate::browser::{history, window};

/// Asks whether the page may be left; `false` keeps it.
type Guard = Box<dyn Fn() -> bool>;

/// The router. Copies are the same router.
#[derive(Clone, Copy)]
pub struct Router {
    page: RwSignal<Page>,
    /// The parts that this program has.
    parts: &'static [Part],
    guard: StoredValue<Option<Guard>, LocalStorage>,
}

impl Router {
    /// Starts to follow links and the browser's history. A page of another part is a document to load.
    pub fn start(parts: &'static [Part]) -> Self {
        let router = Self { page: RwSignal::new(current()), parts, guard: StoredValue::new_local(None) };
        _ = window_event_listener(ev::popstate, move |_| router.on_history());
        _ = window_event_listener(ev::click, move |event| router.on_click(&event));
        router
    }

    /// Returns the page that is shown.
    pub fn page(self) -> Signal<Page> {
        self.page.into()
    }

    /// Shows a page, which becomes an entry of the history.
    pub fn open(self, page: Page) {
        if page == self.page.get_untracked() || !self.may_leave(&page) {
            return;
        }
        if self.parts.contains(&page.part()) {
            history::push(&page.href());
            self.page.set(page);
        } else {
            _ = window().location().assign(&page.href());
        }
    }

    /// Shows a page in place of the present one, such as the next letters of a search.
    pub fn replace(self, page: Page) {
        if page != self.page.get_untracked() {
            history::replace(&page.href());
            self.page.set(page);
        }
    }

    /// Sets the function that is asked before a page with another path replaces the present one, where
    /// something was typed that is not saved.
    pub fn set_guard(self, guard: impl Fn() -> bool + 'static) {
        self.guard.set_value(Some(Box::new(guard)));
    }

    /// Removes the guard.
    pub fn clear_guard(self) {
        self.guard.set_value(None);
    }

    fn may_leave(self, next: &Page) -> bool {
        let path = |page: &Page| page.href().split('?').next().map(str::to_owned);
        if path(next) == path(&self.page.get_untracked()) {
            return true;
        }
        self.guard.with_value(|guard| guard.as_ref().is_none_or(|guard| guard()))
    }

    fn on_history(self) {
        let page = current();
        if self.may_leave(&page) {
            self.page.set(page);
        } else {
            // The browser has moved already.
            history::push(&self.page.get_untracked().href());
        }
    }

    fn on_click(self, event: &MouseEvent) {
        let is_plain = event.button() == 0
            && !(event.ctrl_key() || event.meta_key() || event.shift_key() || event.alt_key());
        if !is_plain || event.default_prevented() {
            return;
        }
        let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        let link = target.and_then(|target| target.closest("a[href]").ok().flatten());
        let Some(link) = link.and_then(|link| link.dyn_into::<HtmlAnchorElement>().ok()) else { return };
        let is_ours = window().location().origin().is_ok_and(|origin| origin == link.origin())
            && link.pathname().starts_with(BASE)
            && link.hash().is_empty()
            && link.target().is_empty()
            && !link.has_attribute("download");
        if is_ours {
            event.prevent_default();
            self.open(Page::parse(&link.pathname(), link.search().trim_start_matches('?')));
        }
    }
}

fn current() -> Page {
    let location = window().location();
    let path = location.pathname().unwrap_or_default();
    Page::parse(&path, location.search().unwrap_or_default().trim_start_matches('?'))
}
