//! What the keyboard and the command palette can do in the inbox.

use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

use crate::browser;
use crate::keyboard::Action;
use crate::location::{InboxQuery, Page};
use crate::state::{DraftKind, app};

/// Offers the actions of the list while the inbox is shown.
pub fn offer_list(query: Memo<InboxQuery>, open: Memo<Option<String>>) {
    let actions = app().actions;
    actions.offer(Action::Next, move || step(query, open, 1));
    actions.offer(Action::Previous, move || step(query, open, -1));
    actions.offer(Action::Open, move || match open.get_untracked() {
        Some(_) => browser::focus("composer-text"),
        None => step(query, open, 1),
    });
    actions.offer(Action::Search, || browser::focus("search"));
}

/// Offers the actions of the open conversation while it is shown.
pub fn offer_conversation(shows_visitor: RwSignal<bool>) {
    let app = app();
    let write = move |kind: DraftKind| {
        move || {
            let page = app.router.page().get_untracked();
            let Page::Inbox { conversation: Some(id), .. } = page else { return };
            app.drafts.choose(&id, kind);
            browser::focus("composer-text");
        }
    };
    app.actions.offer(Action::Reply, write(DraftKind::Reply));
    app.actions.offer(Action::Note, write(DraftKind::Note));
    app.actions.offer(Action::Close, || {
        press(&["close"]);
        // On the button of the next conversation, Space or Enter would close that one as well.
        request_animation_frame(|| browser::focus("conversation-title"));
    });
    app.actions.offer(Action::TakeOver, || press(&["take-over", "hand-back"]));
    app.actions.offer(Action::Assign, || press(&["assign"]));
    app.actions.offer(Action::Label, || press(&["label"]));
    app.actions.offer(Action::Snooze, || press(&["snooze"]));
    app.actions.offer(Action::Visitor, move || {
        if is_sheet() {
            shows_visitor.update(|shows| *shows = !*shows);
        } else {
            browser::focus("visitor");
        }
    });
    app.actions.offer(Action::Escape, move || shows_visitor.set(false));
    // The sheet takes the focus, and gives it back to the button that opens it.
    Effect::new(move |before: Option<bool>| {
        let shows = shows_visitor.get();
        if shows {
            request_animation_frame(|| browser::focus("visitor"));
        } else if before == Some(true)
            && let Some(button) = sheet_button()
        {
            _ = button.focus();
        }
        shows
    });
}

/// Returns the button that opens the visitor's panel as a sheet.
fn sheet_button() -> Option<HtmlElement> {
    let button = browser::document().query_selector(".visitor-open").ok().flatten()?;
    button.dyn_into::<HtmlElement>().ok()
}

/// Returns whether the visitor's panel is a sheet on this screen, and not always there.
fn is_sheet() -> bool {
    sheet_button().is_some_and(|button| button.offset_width() > 0)
}

/// Offers to take back what was just sent, wherever the operator has gone since.
pub fn offer_undo() {
    let app = app();
    app.actions.offer(Action::Undo, move || {
        let Some(id) = app.outbox.undo_last() else { return };
        if let Page::Inbox { query, .. } = app.router.page().get_untracked() {
            app.router.open(Page::Inbox { conversation: Some(id), query });
        }
        request_animation_frame(|| browser::focus("composer-text"));
    });
}

/// Opens the conversation below or above the open one.
fn step(query: Memo<InboxQuery>, open: Memo<Option<String>>, by: isize) {
    let app = app();
    let from = open.get_untracked();
    let next = app.conversations.list().with_untracked(|list| list.step(from.as_deref(), by).cloned());
    if let Some(id) = next {
        app.router.replace(Page::Inbox { conversation: Some(id), query: query.get_untracked() });
    }
}

/// Presses the first button that is there of those with these names.
fn press(names: &[&str]) {
    let find = |name: &&str| {
        let found = browser::document().query_selector(&format!(".conversation [data-action={name}]"));
        found.ok().flatten()?.dyn_into::<HtmlElement>().ok()
    };
    if let Some(button) = names.iter().find_map(find) {
        _ = button.focus();
        button.click();
    }
}
