//! What is the visitor's own: the sound, what is kept here, and a way to take it along or be rid of it.

use chat_protocol::Role;
use wasm_bindgen::JsCast;
use web_sys::Element;

use super::Ui;
use super::dom::El;
use super::icon::{self, icon};
use crate::text::strings::Text;

/// Kept while the visitor wants to hear what comes in; the page's entry makes the sound.
const SOUND: &str = "chat-widget:sound";

/// Covers the window until the visitor goes back.
pub(crate) fn panel(ui: &Ui) -> El {
    let back = ui
        .el("button.cw-icon-button part=back type=button")
        .label(Text::Back)
        .child(icon(ui, icon::BACK).attr("class", "cw-icon cw-flip"))
        .on("click", |ui, _| close(ui));
    let head = ui.el("div.cw-panel-head").child(back).child(ui.el("h2.cw-title").says(Text::MyData));
    let sound = ui
        .el("button.cw-button part=sound type=button")
        .text_with(|ui| ui.text(if is_heard(ui) { Text::SoundOff } else { Text::SoundOn }))
        .on("click", |ui, _| {
            ui.driver().choose(SOUND, !is_heard(ui));
            ui.notify();
        });
    ui.el("section.cw-panel part=panel").label(Text::MyData).child(head).child(
        ui.el("div.cw-panel-body")
            .child(sound)
            .child_if(|ui| ui.driver().rows().is_empty(), |ui| ui.el("p").says(Text::DataNone))
            .child_if(|ui| !ui.driver().rows().is_empty(), kept),
    )
}

fn is_heard(ui: &Ui) -> bool {
    ui.driver().is_chosen(SOUND)
}

/// Back to the conversation.
pub(crate) fn close(ui: &Ui) {
    ui.state().panel.set(false);
    ui.state().asks.set(false);
    ui.notify();
    ui.focus_part("menu");
}

/// What is kept, and what can be done with it.
fn kept(ui: &Ui) -> El {
    let line = |ui: &Ui, text: String| ui.el("li").text(&text);
    let list = ui
        .el("ul")
        .child(ui.el("li").text_with(|ui| ui.count(Text::DataMessages, ui.driver().rows().len())))
        .child(line(ui, ui.text(Text::DataId)));
    let save = ui
        .el("a.cw-button part=download download=chat.txt href=data:,")
        .on("click", |ui, event| {
            // Written now, and not at each message.
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
            |ui| !ui.state().asks.get(),
            |ui| {
                let forget =
                    ui.el("button.cw-button.cw-button-danger type=button part=forget").says(Text::Forget);
                forget.on("click", |ui, _| ask(ui, true))
            },
        )
        .child_if(
            |ui| ui.state().asks.get(),
            |ui| {
                let forget = ui
                    .el("button.cw-button.cw-button-danger type=button part=forget-yes")
                    .says(Text::ForgetYes);
                let keep = ui.el("button.cw-button type=button part=forget-no").says(Text::ForgetNo);
                ui.el("div.cw-actions role=group")
                    .child(ui.el("p").says(Text::ForgetAsk))
                    .child(forget.on("click", |ui, _| {
                        ui.reset();
                        close(ui);
                    }))
                    .child(keep.on("click", |ui, _| ask(ui, false)))
            },
        )
}

/// Asks once more, or does not.
fn ask(ui: &Ui, asks: bool) {
    ui.state().asks.set(asks);
    ui.notify();
    ui.focus_part_later(if asks { "forget-no" } else { "forget" });
}

/// The conversation as text: a line each, with who wrote it and when.
fn transcript(ui: &Ui) -> String {
    let mut text = String::new();
    for row in ui.driver().rows().iter() {
        if let Some(ms) = row.created_ms {
            text = text + &ui.times().day(ms) + " " + &ui.times().time(ms) + " ";
        }
        let name = match row.author {
            Role::Visitor => ui.text(Text::You),
            Role::Operator => ui.operator_name(),
            Role::Assistant | Role::Other(_) => ui.assistant_name(),
        };
        text = text + &name + ": " + &row.text + "\n";
    }
    text
}
