//! The head of the window: who is there, and the way out.

use super::Ui;
use super::avatar::{assistant_avatar, operator_avatar};
use super::dom::{El, flag};
use super::icon::{self, icon};
use super::menu;
use crate::text::strings::Text;

/// Names the title for `aria-labelledby`.
pub(crate) const TITLE_ID: &str = "cw-title";

/// Title, presence and the close button.
pub(crate) fn header(ui: &Ui) -> El {
    let title = ui
        .el("h2.cw-title")
        .attr("id", TITLE_ID)
        .attr("part", "title")
        .attr_with("title", |ui| Some(name(ui)))
        .text_with(name);
    let presence = ui
        .el("p.cw-presence part=presence")
        // An empty one would read as "offline" while the assistant answers.
        .child_if(person_is_here, |ui| ui.el("span.cw-dot"))
        .child(ui.el("span").attr_with("title", |ui| Some(presence(ui))).text_with(presence));
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
        .attr("aria-haspopup", "menu")
        .attr_with("aria-expanded", |ui| Some(flag(ui.state().menu.get())))
        // The menu has the focus, and would close before the click.
        .on("mousedown", |_, event| event.prevent_default())
        .on("click", |ui, _| menu::set_open(ui, !ui.state().menu.get()))
        .child(icon(ui, icon::MENU));
    ui.el("header.cw-header part=header")
        .child_if(Ui::person_answers, operator_avatar)
        .child_if(|ui| !ui.person_answers(), assistant_avatar)
        .child(ui.el("div.cw-heading").child(title).child(presence))
        .child(menu)
        .child(close)
}

/// Who answers.
fn presence(ui: &Ui) -> String {
    match &ui.settings().reply_time {
        _ if person_is_here(ui) => ui.person_text(Text::NamedHere, Text::PersonHere),
        // The message itself says so, whatever presence knows as yet.
        _ if ui.person_answers() => ui.person_text(Text::NamedReplied, Text::PersonReplied),
        Some(words) => words.clone(),
        None => ui.text(Text::AnsweredByAi),
    }
}

/// The name of the one who answered last.
fn name(ui: &Ui) -> String {
    if ui.person_answers() { ui.operator_name() } else { ui.assistant_name() }
}

/// Without a network, nobody is claimed to be here.
fn person_is_here(ui: &Ui) -> bool {
    ui.session(|session| session.online() && session.operator_online() == Some(true))
}
