//! The menu of the header's button: the visitor's data, the sound, a person, and the contact line.

use wasm_bindgen::JsCast;
use web_sys::{Element, Event, FocusEvent, HtmlElement, KeyboardEvent, Node};

use super::Ui;
use super::contact;
use super::dom::{El, flag};
use super::icon::{self, icon};
use super::notice::{ai_only, can_ask};
use crate::text::strings::Text;

/// The preference for a sound with new messages. The page's entry plays it.
const SOUND: &str = "chat-widget:sound";

/// Opens or closes the menu. The focus follows.
pub(crate) fn set_open(ui: &Ui, open: bool) {
    ui.state().menu.set(open);
    ui.notify();
    if open {
        ui.focus_later("[part=menu-data]");
    } else {
        ui.focus("[part=menu]");
    }
}

/// Renders the menu.
pub(crate) fn menu(ui: &Ui) -> El {
    let sound = item(ui, "sound", Text::Sound)
        .attr("role", "menuitemcheckbox")
        .attr_with("aria-checked", |ui| Some(flag(is_sound_on(ui))))
        .child_if(is_sound_on, |ui| icon(ui, icon::CHECK))
        .on("click", |ui, _| {
            ui.driver().set_preference(SOUND, (!is_sound_on(ui)).then_some("1"));
            ui.notify();
        });
    let data = item(ui, "menu-data", Text::MyData).on("click", |ui, _| {
        ui.state().menu.set(false);
        ui.state().panel.set(true);
        ui.notify();
        ui.focus_later("[part=back]");
    });
    ui.el("div.cw-menu-list part=menu-list role=menu")
        .label(Text::Menu)
        .on("keydown", on_key)
        .on("focusout", on_focus_out)
        .child(data)
        .child(sound)
        .child_if(can_ask, |ui| {
            item(ui, "menu-person", Text::AskPerson).on("click", |ui, _| {
                ui.state().menu.set(false);
                contact::ask_person(ui);
            })
        })
        .child_if(
            |ui| !ui.is_blocked() && !ai_only(ui),
            |ui| {
                item(ui, "menu-contact", Text::ContactMenu).on("click", |ui, _| {
                    ui.state().menu.set(false);
                    contact::open(ui);
                })
            },
        )
}

fn item(ui: &Ui, part: &str, text: Text) -> El {
    let item = ui.el("button.cw-menu-item role=menuitem type=button tabindex=-1").attr("part", part);
    item.child(ui.el("span").says(text))
}

fn is_sound_on(ui: &Ui) -> bool {
    ui.driver().preference(SOUND).is_some()
}

/// Handles arrows, Home and End. The window handles Escape, the browser Tab.
fn on_key(ui: &Ui, event: &Event) {
    let key: &KeyboardEvent = event.unchecked_ref();
    let Some(list) = event.current_target().map(JsCast::unchecked_into::<Element>) else { return };
    let active = ui.active_element();
    let name = &*key.key();
    let next = match name {
        "ArrowDown" => active.and_then(|item| item.next_element_sibling()),
        "ArrowUp" => active.and_then(|item| item.previous_element_sibling()),
        "Home" | "End" => None,
        _ => return,
    };
    key.prevent_default();
    // The first item follows the last one.
    let is_first = matches!(name, "ArrowDown" | "Home");
    let end = if is_first { list.first_element_child() } else { list.last_element_child() };
    if let Some(item) = next.or(end) {
        _ = item.unchecked_into::<HtmlElement>().focus();
    }
}

/// Closes the menu when the focus leaves it.
fn on_focus_out(ui: &Ui, event: &Event) {
    let list = event.current_target().map(JsCast::unchecked_into::<Node>);
    let to = event.unchecked_ref::<FocusEvent>().related_target().map(JsCast::unchecked_into::<Node>);
    let stays = to.is_some_and(|to| list.is_some_and(|list| list.contains(Some(&to))));
    if !stays && ui.state().menu.get() {
        ui.state().menu.set(false);
        ui.notify();
    }
}
