//! Keyboard shortcuts: one listener for the page, and the dialog that explains them.

use leptos::ev;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, KeyboardEvent};

use super::controls::Dialog;
use crate::browser::{self, storage};
use crate::keyboard::{Action, Focus, Group, Keyboard, Press, SHORTCUTS};
use crate::location::{Page, Query};
use crate::state::app;
use crate::text::{Text, palette};

/// The key under which the choice of single letters is stored in the browser.
const STORED_CHOICE: &str = "shortcuts.single";

/// Listens to keys, and shows the help.
#[component]
pub fn Shortcuts() -> impl IntoView {
    let app = app();
    let is_open = RwSignal::new(false);
    let single_keys = RwSignal::new(storage::read(STORED_CHOICE).unwrap_or(true));
    let keyboard = StoredValue::new(Keyboard::default());
    app.actions.offer(Action::Help, move || is_open.set(true));
    offer_pages();
    let listener = window_event_listener(ev::keydown, move |event| {
        let composing = browser::is_composing(&event);
        if event.default_prevented() || composing || event.repeat() && !is_move(&event) {
            return;
        }
        let (key, code) = (event.key(), event.code());
        let press = Press {
            key: &key,
            code: &code,
            ctrl: event.ctrl_key() || event.meta_key(),
            alt: event.alt_key(),
            shift: event.shift_key(),
            composing,
            focus: focus(),
        };
        let now_ms = event.time_stamp();
        let action = keyboard.try_update_value(|keyboard| {
            keyboard.single_keys = single_keys.get_untracked();
            keyboard.press(&press, now_ms)
        });
        let Some(action) = action.flatten() else { return };
        let done = match action {
            Action::Escape => leave_field(press.focus) || app.actions.run(action),
            other => app.actions.run(other),
        };
        if done {
            event.prevent_default();
        }
    });
    on_cleanup(move || listener.remove());
    move || is_open.get().then(|| view! { <Help single_keys on_close=move |()| is_open.set(false)/> })
}

/// A key that is held down goes on through the list, and does nothing else twice.
fn is_move(event: &KeyboardEvent) -> bool {
    matches!(event.key().as_str(), "j" | "k" | "J" | "K")
}

fn offer_pages() {
    let app = app();
    let open = move |page: Page| move || app.router.open(page.clone());
    app.actions.offer(Action::GoInbox, open(Page::default()));
    app.actions.offer(Action::GoReports, open(Page::Reports(Query::default())));
    app.actions.offer(Action::GoSettings, open(Page::settings(&[])));
    app.actions.offer(Action::GoPublishing, move || {
        if untrack(|| app.session.me().is_admin()) {
            app.router.open(Page::Publishing(Vec::new(), Query::default()));
        }
    });
}

/// Returns where the focus is.
fn focus() -> Focus {
    let document = browser::document();
    if document.query_selector("dialog[open]").ok().flatten().is_some() {
        return Focus::Dialog;
    }
    let Some(element) = document.active_element() else { return Focus::Page };
    match element.tag_name().as_str() {
        "TEXTAREA" | "SELECT" => Focus::Field,
        "INPUT" if takes_text(&element) => Focus::Field,
        _ if element.closest("[contenteditable]").ok().flatten().is_some() => Focus::Field,
        // A menu moves by letters of its own.
        _ if element.closest("[role=menu], [role=listbox]").ok().flatten().is_some() => Focus::Field,
        "BUTTON" | "A" | "INPUT" | "SUMMARY" => Focus::Control,
        _ => Focus::Page,
    }
}

fn takes_text(input: &Element) -> bool {
    let kind = input.get_attribute("type").unwrap_or_default();
    !matches!(
        kind.as_str(),
        "checkbox" | "radio" | "button" | "submit" | "reset" | "file" | "color" | "range"
    )
}

/// Takes the focus out of a field, so that the next letter is a shortcut again.
fn leave_field(focus: Focus) -> bool {
    if focus != Focus::Field {
        return false;
    }
    let element = browser::document().active_element();
    let element = element.and_then(|element| element.dyn_into::<web_sys::HtmlElement>().ok());
    element.is_some_and(|element| element.blur().is_ok())
}

/// The dialog with all shortcuts.
#[component]
fn Help(single_keys: RwSignal<bool>, #[prop(into)] on_close: Callback<()>) -> impl IntoView {
    let groups = [
        (Group::List, palette::IN_LIST),
        (Group::Conversation, palette::IN_CONVERSATION),
        (Group::Everywhere, palette::EVERYWHERE),
    ];
    let groups = groups.map(|(group, title)| view! { <HelpGroup group title/> }).collect_view();
    Effect::new(move |before: Option<bool>| {
        let choice = single_keys.get();
        if before.is_some() {
            storage::write(STORED_CHOICE, &choice);
        }
        choice
    });
    view! {
        <Dialog title=palette::SHORTCUTS.get() on_close>
            <div class="shortcuts">{groups}</div>
            <label class="choice">
                <input type="checkbox" bind:checked=single_keys/>
                <span>
                    {palette::SINGLE_KEYS.get()}
                    <small class="hint">{palette::SINGLE_KEYS_HINT.get()}</small>
                </span>
            </label>
        </Dialog>
    }
}

#[component]
fn HelpGroup(group: Group, title: Text) -> impl IntoView {
    let rows = SHORTCUTS.into_iter().filter(|(_, of, _)| *of == group).map(|(action, _, keys)| {
        view! {
            <div>
                <dt>{action_name(action).get()}</dt>
                <dd><Keys keys/></dd>
            </div>
        }
    });
    view! {
        <section>
            <h3>{title.get()}</h3>
            <dl>{rows.collect_view()}</dl>
        </section>
    }
}

/// The keys of a shortcut, drawn as keys.
#[component]
pub fn Keys(keys: &'static str) -> impl IntoView {
    let shown = keys.split(' ').enumerate().map(|(index, step)| {
        let then = (index > 0).then(|| view! { <span class="then">{palette::THEN.get()}</span> });
        view! { {then} <kbd>{label(step, is_apple())}</kbd> }
    });
    view! { <span class="keys">{shown.collect_view()}</span> }
}

/// Returns what is printed on a key.
fn label(step: &str, is_apple: bool) -> String {
    match step.strip_prefix("Ctrl+") {
        Some(letter) if is_apple => format!("⌘{letter}"),
        None if step == "Escape" => "Esc".to_owned(),
        None if step.len() == 1 => step.to_uppercase(),
        _ => step.to_owned(),
    }
}

fn is_apple() -> bool {
    let platform = browser::window().navigator().platform().unwrap_or_default();
    platform.starts_with("Mac") || platform.starts_with("iP")
}

/// Returns what an action is called.
pub fn action_name(action: Action) -> Text {
    match action {
        Action::Next => palette::NEXT,
        Action::Previous => palette::PREVIOUS,
        Action::Open => palette::OPEN,
        Action::Reply => palette::REPLY,
        Action::Note => palette::NOTE,
        Action::Close => palette::CLOSE,
        Action::Assign => palette::ASSIGN,
        Action::Label => palette::LABEL,
        Action::Snooze => palette::SNOOZE,
        Action::TakeOver => palette::TAKE_OVER,
        Action::Undo => palette::UNDO,
        Action::Search => palette::SEARCH,
        Action::Visitor => palette::VISITOR,
        Action::Palette => palette::PALETTE,
        Action::Help => palette::HELP,
        Action::Escape => palette::ESCAPE,
        Action::GoInbox => palette::GO_INBOX,
        Action::GoReports => palette::GO_REPORTS,
        Action::GoPublishing => palette::GO_PUBLISHING,
        Action::GoSettings => palette::GO_SETTINGS,
    }
}

#[cfg(test)]
mod tests {
    use super::label;

    #[test]
    fn keys_are_named_as_they_are_printed() {
        assert_eq!(label("Ctrl+K", true), "⌘K");
        assert_eq!(label("Ctrl+K", false), "Ctrl+K");
        assert_eq!(label("j", false), "J");
        assert_eq!(label("Escape", false), "Esc");
        assert_eq!(label("Enter", true), "Enter");
    }
}
