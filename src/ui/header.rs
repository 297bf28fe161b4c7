//! The head of the window: who is there, and the way out.

use super::Ui;
use super::avatar::assistant_avatar;
use super::dom::El;
use super::icon::{self, icon};
use crate::text::strings::Text;

/// Names the title for `aria-labelledby`.
pub(crate) const TITLE_ID: &str = "cw-title";

/// Title, presence and the close button.
pub(crate) fn header(ui: &Ui) -> El {
    let title = ui
        .el("h2.cw-title")
        .attr("id", TITLE_ID)
        .attr("part", "title")
        .attr_with("title", |ui| Some(ui.assistant_name()))
        .text_with(Ui::assistant_name);
    let presence = ui
        .el("p.cw-presence part=presence")
        .child(ui.el("span.cw-dot").class_if("cw-dot-on", person_is_here))
        .child(ui.el("span").text_with(presence));
    let close = ui
        .el("button.cw-icon-button.cw-close part=close type=button")
        .label(Text::CloseChat)
        .on("click", |ui, _| ui.set_open(false, true))
        // The style sheet shows one of them: a cross, or on a full screen a chevron.
        .child(icon(ui, icon::CLOSE))
        .child(icon(ui, icon::CHEVRON_DOWN));
    let menu = ui
        .el("button.cw-icon-button.cw-menu part=menu type=button")
        .label(Text::Menu)
        .attr("aria-haspopup", "true")
        .on("click", |ui, _| {
            ui.state().panel.set(true);
            ui.notify();
            ui.focus_part_later("back");
        })
        .child(icon(ui, icon::MENU));
    ui.el("header.cw-header part=header")
        .child(assistant_avatar(ui))
        .child(ui.el("div.cw-heading").child(title).child(presence))
        .child(menu)
        .child(close)
}

/// Who answers.
fn presence(ui: &Ui) -> String {
    let settings = ui.settings();
    match (&settings.operator_name, &settings.reply_time) {
        (Some(name), _) if person_is_here(ui) => ui.named(Text::NamedHere, name),
        (None, _) if person_is_here(ui) => ui.text(Text::PersonHere),
        (_, Some(words)) => words.clone(),
        _ => ui.text(Text::AnsweredByAi),
    }
}

/// Without a network, nobody is claimed to be here.
fn person_is_here(ui: &Ui) -> bool {
    ui.session(|session| session.online() && session.operator_online() == Some(true))
}
