//! The header of the window: title, presence, menu button and close button.

use chat_session::Session;

use super::Ui;
use super::avatar::{assistant_avatar, operator_avatar};
use super::dom::{El, flag};
use super::icon::{self, icon};
use super::menu;
use crate::text::strings::Text;

/// The title's id, for `aria-labelledby`.
pub(crate) const TITLE_ID: &str = "cw-title";

/// Renders the header.
pub(crate) fn header(ui: &Ui) -> El {
    let title = ui
        .el("h2.cw-title")
        .attr("id", TITLE_ID)
        .attr("part", "title")
        .attr_with("title", |ui| Some(name(ui)))
        .text_with(name);
    let presence = ui
        .el("p.cw-presence part=presence")
        // A grey dot would suggest "offline" while the assistant answers.
        .child_if(is_operator_online, |ui| ui.el("span.cw-dot"))
        .child(ui.el("span").attr_with("title", |ui| Some(presence(ui))).text_with(presence));
    let close = ui
        .el("button.cw-icon-button.cw-close part=close type=button")
        .label(Text::CloseChat)
        .on("click", |ui, _| ui.set_open(false, true))
        // The style sheet shows one of them: the cross, or the chevron in full screen.
        .child(icon(ui, icon::CLOSE))
        .child(icon(ui, icon::CHEVRON_DOWN));
    let menu = ui
        .el("button.cw-icon-button.cw-menu part=menu type=button")
        .label(Text::Menu)
        .attr("aria-haspopup", "menu")
        .attr_with("aria-expanded", |ui| Some(flag(ui.state().menu.get())))
        // An open menu has the focus, and would close before the click.
        .on("mousedown", |_, event| event.prevent_default())
        .on("click", |ui, _| menu::set_open(ui, !ui.state().menu.get()))
        .child(icon(ui, icon::MENU));
    ui.el("header.cw-header part=header")
        .child_if(Ui::person_answers, operator_avatar)
        .child_if(|ui| !ui.person_answers(), assistant_avatar)
        .child(ui.el("div.cw-heading").child(title).child(presence).child_if(
            |ui| usual_reply(ui).is_some(),
            |ui| ui.el("p.cw-presence.cw-usual dir=auto").text_with(|ui| usual_reply(ui).unwrap_or_default()),
        ))
        .child(menu)
        .child(close)
}

/// Returns how fast people usually answer, for a visitor who waits for one.
fn usual_reply(ui: &Ui) -> Option<String> {
    ui.session(|session| session.config().filter(|_| session.awaits_person())?.usual_reply.clone())
}

/// Returns the line about who answers.
fn presence(ui: &Ui) -> String {
    match &ui.settings().reply_time {
        _ if is_operator_online(ui) => ui.person_text(None, Text::NamedHere, Text::PersonHere),
        // A reply of an operator is newer than the last presence response.
        _ if ui.person_answers() => {
            ui.person_text(ui.last_name().as_deref(), Text::NamedReplied, Text::PersonReplied)
        }
        _ if ui.session(Session::awaits_person) => ui.text(Text::AwaitsPerson),
        Some(words) => words.clone(),
        None if people_only(ui) => String::new(),
        None => ui.text(Text::AnsweredByAi),
    }
}

/// Returns whether the site's config says that no AI answers.
pub(crate) fn people_only(ui: &Ui) -> bool {
    ui.session(|session| session.config().is_some_and(|config| config.people_only))
}

/// Returns the name of the last to answer.
fn name(ui: &Ui) -> String {
    if ui.person_answers() { ui.operator_name(ui.last_name().as_deref()) } else { ui.assistant_name() }
}

/// Returns whether an operator is known to be online. Without a network, that is unknown.
fn is_operator_online(ui: &Ui) -> bool {
    ui.session(|session| session.online() && session.operator_online() == Some(true))
}
