//! The frame of all pages: the rail, the connection notice, notices and the live region.

mod notices;
mod rail;

use leptos::prelude::*;

use super::{attention, palette, shortcuts};
use crate::location::{Page, Part};
use crate::state::app;
use crate::text::shell;

/// Which page fills the frame. Changes inside of a page do not create it again.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Section {
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

/// A program: the parts that it has, and the function that shows their pages. What the function of a program
/// does not call is not part of its module.
#[derive(Clone, Copy)]
pub struct Program {
    parts: &'static [Part],
    show: fn(Section) -> AnyView,
}

impl Program {
    /// The program of the inbox.
    pub const INBOX: Self = Self { parts: &[Part::Inbox], show: show_inbox };
    /// The program of all other pages.
    pub const PAGES: Self = Self { parts: &[Part::Pages], show: show_pages };
    /// The program for development, which is compiled once for all pages.
    pub const ALL: Self = Self { parts: &[Part::Inbox, Part::Pages], show: show_all };

    /// Returns the parts of the program.
    pub const fn parts(self) -> &'static [Part] {
        self.parts
    }
}

/// Shows a page of the inbox. The router leaves the document for any other page.
fn show_inbox(section: Section) -> AnyView {
    match section {
        Section::Inbox => view! { <super::inbox::Inbox /> }.into_any(),
        _ => ().into_any(),
    }
}

/// Shows any other page.
fn show_pages(section: Section) -> AnyView {
    let page = app().router.page();
    let path = Memo::new(move |_| match &*page.read() {
        Page::Settings(path, _) | Page::Publishing(path, _) => path.clone(),
        _ => Vec::new(),
    });
    let query = Memo::new(move |_| match &*page.read() {
        Page::Settings(_, query) | Page::Publishing(_, query) | Page::Reports(query) => query.clone(),
        _ => crate::location::Query::default(),
    });
    match section {
        Section::Reports => view! { <super::reports::Reports query /> }.into_any(),
        Section::Publishing => view! { <super::publishing::Publishing path query /> }.into_any(),
        Section::Settings => view! { <super::settings::Settings path /> }.into_any(),
        Section::Account => view! { <super::account::OwnAccount /> }.into_any(),
        Section::Inbox => ().into_any(),
    }
}

fn show_all(section: Section) -> AnyView {
    match section {
        Section::Inbox => show_inbox(section),
        _ => show_pages(section),
    }
}

/// The frame, with the page that the address names.
#[component]
pub fn Shell(program: Program) -> impl IntoView {
    let page = app().router.page();
    let shown = Memo::new(move |_| section(&page.read()));
    view! {
        <a class="skip" href="#main">{shell::SKIP.get()}</a>
        <div class="shell">
            <rail::Rail />
            <main id="main" tabindex="-1">
                <notices::ConnectionNotice />
                {move || (program.show)(shown.get())}
            </main>
        </div>
        <notices::Toasts />
        <palette::Palette />
        <shortcuts::Shortcuts />
        <attention::Attention />
    }
}
