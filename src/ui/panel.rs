//! What is the visitor's own: the sound, what is kept here, and a way to take it along or be rid of it.

use chat_protocol::Role;

use super::Ui;
use super::contact::button;
use super::dom::El;
use super::icon::{self, icon};
use crate::text::strings::Text;

/// Kept while the visitor wants to hear what comes in; the page's entry makes the sound.
const SOUND: &str = "chat-widget:sound";

/// Covers the window until the visitor goes back.
pub(crate) fn panel(ui: &Ui) -> El {
    let back = ui
        .el("button")
        .class("cw-icon-button")
        .attr("part", "back")
        .attr("type", "button")
        .attr("aria-label", &ui.text(Text::Back))
        .child(icon(ui, icon::BACK).class("cw-icon cw-flip"))
        .on("click", |ui, _| close(ui));
    let head = ui
        .el("div")
        .class("cw-panel-head")
        .child(back)
        .child(ui.el("h2").class("cw-title").text(&ui.text(Text::MyData)));
    let sound = ui
        .el("button")
        .class("cw-button")
        .attr("part", "sound")
        .attr("type", "button")
        .text_with(|ui| ui.text(if is_heard(ui) { Text::SoundOff } else { Text::SoundOn }))
        .on("click", |ui, _| {
            ui.driver().choose(SOUND, !is_heard(ui));
            ui.notify();
        });
    ui.el("section")
        .class("cw-panel")
        .attr("part", "panel")
        .attr("aria-label", &ui.text(Text::MyData))
        .child(head)
        .child(
            ui.el("div")
                .class("cw-panel-body")
                .child(sound)
                .child_if(|ui| ui.driver().rows().is_empty(), |ui| ui.el("p").text(&ui.text(Text::DataNone)))
                .child_if(|ui| !ui.driver().rows().is_empty(), kept),
        )
}

fn is_heard(ui: &Ui) -> bool {
    ui.driver().is_chosen(SOUND)
}

fn close(ui: &Ui) {
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
        .el("a")
        .class("cw-button")
        .attr("part", "download")
        .attr("download", "chat.txt")
        .attr_with("href", |ui| {
            let text: String = js_sys::encode_uri_component(&transcript(ui)).into();
            Some("data:text/plain;charset=utf-8,".to_owned() + &text)
        })
        .text(&ui.text(Text::Download));
    ui.el("div")
        .class("cw-kept")
        .child(list)
        .child(ui.el("p").text(&ui.text(Text::DataNote)))
        .child(save)
        .child_if(
            |ui| !ui.state().asks.get(),
            |ui| {
                let forget = button(ui, "button", Text::Forget)
                    .class("cw-button cw-button-danger")
                    .attr("part", "forget");
                forget.on("click", |ui, _| ask(ui, true))
            },
        )
        .child_if(
            |ui| ui.state().asks.get(),
            |ui| {
                let forget = button(ui, "button", Text::ForgetYes)
                    .class("cw-button cw-button-danger")
                    .attr("part", "forget-yes");
                let keep = button(ui, "button", Text::ForgetNo).class("cw-button").attr("part", "forget-no");
                ui.el("div")
                    .attr("role", "group")
                    .class("cw-actions")
                    .child(ui.el("p").text(&ui.text(Text::ForgetAsk)))
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
