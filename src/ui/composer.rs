//! The composer: the message field and the send button.

use chat_protocol::limits;
use chat_session::check_message;
use wasm_bindgen::JsCast;
use web_sys::{Event, HtmlTextAreaElement, KeyboardEvent};

use super::Ui;
use super::dom::{El, flag};
use super::icon::{self, icon};
use crate::text::strings::Text;

/// Maximum remaining characters at which the count is shown.
const MAX_COUNTED: usize = 400;
/// Maximum remaining characters at which the count is a warning.
const MAX_FEW: usize = 150;
/// The key code by which some browsers report the end of a composition.
const COMPOSITION_KEY_CODE: u32 = 229;
const COUNT_ID: &str = "cw-count";

/// Renders the composer. The field gets the focus if the visitor opened the window.
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
        // Keeps the focus in the field, and the keyboard of a phone open.
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
    // The style sheet lays the text out behind the field, which gives the field its height.
    let grow = ui.el("div.cw-grow").attr_with("data-text", |ui| Some(ui.state().draft.borrow().clone()));
    ui.el("form.cw-composer part=composer")
        .on("submit", |ui, event| {
            event.prevent_default();
            submit(ui);
        })
        .child(ui.el("div.cw-field").child(grow.child(input)).child(send))
        .child(count)
        .run(move |ui| sync_field(ui, &field))
}

fn on_key(ui: &Ui, event: &Event) {
    let event: &KeyboardEvent = event.unchecked_ref();
    let composing = event.is_composing() || event.key_code() == COMPOSITION_KEY_CODE;
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

/// Copies the draft to the field.
fn sync_field(ui: &Ui, field: &HtmlTextAreaElement) {
    let draft = ui.state().draft.borrow();
    if field.value() != *draft {
        field.set_value(&draft);
    }
}

fn length(ui: &Ui) -> usize {
    limits::message_length(&ui.state().draft.borrow())
}

/// Returns the count of remaining characters, near the limit.
fn count(ui: &Ui) -> String {
    let (length, max) = (length(ui), *limits::MESSAGE_LENGTH.end());
    if length > max {
        ui.count(Text::TooLong, length - max)
    } else if max - length <= MAX_COUNTED {
        ui.count(Text::CharactersLeft, max - length)
    } else {
        String::new()
    }
}
