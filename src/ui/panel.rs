//! The visitor's own panel: lists what is stored here, and lets the visitor download or erase it.

use chat_protocol::Role;
use wasm_bindgen::JsCast;
use web_sys::Element;

use super::Ui;
use super::dom::El;
use super::icon::{self, icon};
use crate::browser::page;
use crate::driver::created_ms;
use crate::text::strings::Text;
use crate::text::time::DateFormat;

/// Renders the panel, which covers the window until the visitor goes back.
pub(crate) fn panel(ui: &Ui) -> El {
    let back = ui
        .el("button.cw-icon-button part=back type=button")
        .label(Text::Back)
        .child(icon(ui, icon::BACK).attr("class", "cw-icon cw-flip"))
        .on("click", |ui, _| close(ui));
    let head = ui.el("div.cw-panel-head").child(back).child(ui.el("h2.cw-title").says(Text::MyData));
    ui.el("section.cw-panel part=panel").label(Text::MyData).child(head).child(
        ui.el("div.cw-panel-body")
            .child_if(|ui| ui.driver().rows().is_empty(), |ui| ui.el("p").says(Text::DataNone))
            .child_if(|ui| !ui.driver().rows().is_empty(), stored_data),
    )
}

/// Closes the panel.
pub(crate) fn close(ui: &Ui) {
    ui.state().panel.set(false);
    ui.state().confirms_reset.set(false);
    ui.notify();
    // The menu button is inert until the next frame.
    ui.focus_later("[part=menu]");
}

/// Renders the list of stored data, and the actions on it.
fn stored_data(ui: &Ui) -> El {
    let list = ui
        .el("ul")
        .child(ui.el("li").text_with(|ui| ui.count(Text::DataMessages, ui.driver().rows().len())))
        .child(ui.el("li").says(Text::DataId))
        .child_if(
            |ui| ui.contact().is_some(),
            |ui| ui.el("li dir=auto").text_with(|ui| ui.contact().unwrap_or_default()),
        );
    let save = ui
        .el("a.cw-button part=download download=chat.txt href=data:,")
        .on("click", |ui, event| {
            // Composed now, and not with each message.
            let text: String = js_sys::encode_uri_component(&transcript(ui)).into();
            if let Some(link) = event.current_target() {
                _ = link
                    .unchecked_ref::<Element>()
                    .set_attribute("href", &["data:text/plain;charset=utf-8,", &text].concat());
            }
        })
        .says(Text::Download);
    ui.el("div.cw-kept")
        .child(list)
        .child(ui.el("p").says(Text::DataNote))
        .child(save)
        .child_if(
            |ui| !ui.state().confirms_reset.get(),
            |ui| {
                let forget =
                    ui.el("button.cw-button.cw-button-danger type=button part=forget").says(Text::Forget);
                forget.on("click", |ui, _| set_confirming(ui, true))
            },
        )
        .child_if(
            |ui| ui.state().confirms_reset.get(),
            |ui| {
                let forget = ui
                    .el("button.cw-button.cw-button-danger type=button part=forget-yes")
                    .says(Text::ForgetYes);
                let keep = ui.el("button.cw-button type=button part=forget-no").says(Text::ForgetNo);
                ui.el("div.cw-actions role=group")
                    .label(Text::ForgetAsk)
                    .child(ui.el("p").says(Text::ForgetAsk))
                    .child(forget.on("click", |ui, _| {
                        ui.reset();
                        close(ui);
                    }))
                    .child(keep.on("click", |ui, _| set_confirming(ui, false)))
            },
        )
}

/// Shows or hides the confirmation.
fn set_confirming(ui: &Ui, confirms: bool) {
    ui.state().confirms_reset.set(confirms);
    ui.notify();
    ui.focus_later(if confirms { "[part=forget-no]" } else { "[part=forget]" });
}

/// Returns the conversation as text: the assistant, the page, and a line with date and author for each
/// message.
fn transcript(ui: &Ui) -> String {
    let mut text =
        [&*ui.named(Text::Transcript, &ui.assistant_name()), "\n", &page::current().url, "\n\n"].concat();
    let dates = DateFormat::new(ui.settings().locale.as_deref().unwrap_or_default());
    for entry in ui.driver().session().entries() {
        if let Some(ms) = created_ms(entry) {
            text = text + &dates.date(ms) + " ";
        }
        let name = match entry.author {
            Role::Visitor => ui.text(Text::You),
            Role::Operator => ui.operator_name(entry.name.as_deref()),
            Role::Assistant | Role::Other(_) => ui.assistant_name(),
        };
        text = text + &name + ": " + &entry.text + "\n";
    }
    text
}
