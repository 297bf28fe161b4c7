//! The frame of all pages: the rail, the connection notice, notices and the live region.

mod notices;
mod rail;

use leptos::prelude::*;

use super::{attention, palette, shortcuts};
use crate::location::Page;
use crate::state::app;
use crate::text::shell;

/// Which page fills the frame. Changes inside of a page do not create it again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    Inbox,
    Reports,
    Publishing,
    Settings,
    Account,
}

fn section(page: &Page) -> Section {
    match page {
        Page::Inbox { .. } => Section::Inbox,
        Page::Reports(_) => Section::Reports,
        Page::Publishing(..) => Section::Publishing,
        Page::Settings(..) => Section::Settings,
        Page::Account | Page::Forgot => Section::Account,
    }
}

/// The frame, with the page that the address names.
#[component]
pub fn Shell() -> impl IntoView {
    let page = app().router.page();
    let shown = Memo::new(move |_| section(&page.read()));
    #[cfg(feature = "pages")]
    let path = Memo::new(move |_| match &*page.read() {
        Page::Settings(path, _) | Page::Publishing(path, _) => path.clone(),
        _ => Vec::new(),
    });
    #[cfg(feature = "pages")]
    let query = Memo::new(move |_| match &*page.read() {
        Page::Settings(_, query) | Page::Publishing(_, query) | Page::Reports(query) => query.clone(),
        _ => crate::location::Query::default(),
    });
    view! {
        <a class="skip" href="#main">{shell::SKIP.get()}</a>
        <div class="shell">
            <rail::Rail />
            <main id="main" tabindex="-1">
                <notices::ConnectionNotice />
                {move || match shown.get() {
                    #[cfg(feature = "inbox")]
                    Section::Inbox => view! { <super::inbox::Inbox /> }.into_any(),
                    #[cfg(feature = "inbox")]
                    Section::Account => view! { <super::account::OwnAccount /> }.into_any(),
                    #[cfg(feature = "pages")]
                    Section::Reports => view! { <super::reports::Reports query /> }.into_any(),
                    #[cfg(feature = "pages")]
                    Section::Publishing => view! { <super::publishing::Publishing path query /> }.into_any(),
                    #[cfg(feature = "pages")]
                    Section::Settings => view! { <super::settings::Settings path /> }.into_any(),
                    // The router leaves this document for a page of the other part.
                    #[cfg(not(all(feature = "inbox", feature = "pages")))]
                    _ => ().into_any(),
                }}
            </main>
        </div>
        <notices::Toasts />
        <palette::Palette />
        <shortcuts::Shortcuts />
        <attention::Attention />
    }
}
