//! Where the visitor writes.

use chat_protocol::limits;
use chat_session::check_message;
use wasm_bindgen::JsCast;
use web_sys::{Event, HtmlTextAreaElement, KeyboardEvent};

use super::Ui;
use super::dom::{El, flag};
use super::icon::{self, icon};
use crate::text::strings::Text;

/// Maximum characters left at which they are counted down.
const MAX_COUNTED: usize = 400;
/// Maximum characters left at which the count is a warning.
const MAX_FEW: usize = 150;
/// Some browsers tell the end of a composition only by this key code.
const KEY_OF_COMPOSITION: u32 = 229;
const COUNT_ID: &str = "cw-count";

/// The field and the send button. The field gets the focus when the visitor opened the window.
pub(crate) fn composer(ui: &Ui) -> El {
    let label = ui.text(Text::Write);
    let input = ui
        .el("textarea.cw-input part=input rows=1 dir=auto enterkeyhint=send")
        .attr("aria-label", &label)
        .attr("aria-describedby", COUNT_ID)
        .attr("placeholder", &label)
        .on("input", |ui, event| {
            if let Some(field) = event.target() {
                ui.set_draft(field.unchecked_into::<HtmlTextAreaElement>().value());
            }
        })
        .on("keydown", on_key);
    let field: HtmlTextAreaElement = input.node();
    let send = ui
        .el("button.cw-send part=send type=submit")
        .label(Text::Send)
        .attr_with("aria-disabled", |ui| Some(flag(!is_sendable(ui))))
        // The field keeps the focus, and on a phone the keyboard.
        .on("mousedown", |_, event| event.prevent_default())
        .child(icon(ui, icon::SEND));
    let count = ui
        .el("p.cw-count")
        .attr("id", COUNT_ID)
        .class_if("cw-count-few", |ui| length(ui) + MAX_FEW > *limits::MESSAGE_LENGTH.end())
        .text_with(count);
    if ui.state().by_visitor.get() {
        let ui = ui.clone();
        leptos::prelude::request_animation_frame(move || ui.focus_field());
    }
    // As high as its text, which the style sheet lays out behind it.
    let grow = ui.el("div.cw-grow").attr_with("data-text", |ui| Some(ui.state().draft.borrow().clone()));
    ui.el("form.cw-composer part=composer")
        .on("submit", |ui, event| {
            event.prevent_default();
            submit(ui);
        })
        .child(ui.el("div.cw-field").child(grow.child(input)).child(send))
        .child(count)
        .run(move |ui| follow(ui, &field))
}

fn on_key(ui: &Ui, event: &Event) {
    let event: &KeyboardEvent = event.unchecked_ref();
    let composing = event.is_composing() || event.key_code() == KEY_OF_COMPOSITION;
    if event.key() == "Enter" && !event.shift_key() && !composing {
        event.prevent_default();
        submit(ui);
    }
}

fn is_sendable(ui: &Ui) -> bool {
    check_message(&ui.state().draft.borrow()).is_ok()
}

fn submit(ui: &Ui) {
    if is_sendable(ui) {
        let text = ui.state().draft.borrow().clone();
        ui.set_draft(String::new());
        ui.send(text);
    }
}

/// Keeps the field and the draft the same.
fn follow(ui: &Ui, field: &HtmlTextAreaElement) {
    let draft = ui.state().draft.borrow();
    if field.value() != *draft {
        field.set_value(&draft);
    }
}

fn length(ui: &Ui) -> usize {
    limits::message_length(&ui.state().draft.borrow())
}

/// How many characters are left, near the end.
fn count(ui: &Ui) -> String {
    let (length, most) = (length(ui), *limits::MESSAGE_LENGTH.end());
    if length > most {
        ui.count(Text::TooLong, length - most)
    } else if most - length <= MAX_COUNTED {
        ui.count(Text::CharactersLeft, most - length)
    } else {
        String::new()
    }
}
