//! Notices about interruptions: no network, no quota, a long wait, no reply.

use chat_session::{Notice, Session, Wait};

use super::Ui;
use super::contact;
use super::dom::El;
use super::icon::{self, icon};
use crate::text::strings::Text;

/// Renders the banner that is shown without a network.
pub(crate) fn offline_banner(ui: &Ui) -> El {
    ui.el("p.cw-banner part=notice role=status")
        .child(icon(ui, icon::OFFLINE))
        .child(ui.el("span").says(Text::Offline))
}

/// Renders the card that replaces the composer while messages cannot be sent.
pub(crate) fn closed_card(ui: &Ui) -> El {
    // The composer takes the focus with it, and without focus no key reaches the window.
    if ui.has_focus("[part=composer]") {
        ui.focus_later(".cw-closed");
    }
    let blocked = |ui: &Ui| ui.closed_by() == Some(Notice::Blocked);
    ui.el("div.cw-closed part=notice role=status tabindex=-1")
        .child(icon(ui, icon::CLOCK))
        .child(ui.el("p.cw-closed-title").text(&ui.text(if blocked(ui) {
            Text::BlockedTitle
        } else {
            Text::QuotaTitle
        })))
        .child(ui.el("p").text(&ui.text(if blocked(ui) { Text::BlockedNote } else { Text::QuotaNote })))
}

/// Renders the line that explains a long wait, and offers an operator after a very long one.
pub(crate) fn wait(ui: &Ui) -> El {
    let is_very_long = |ui: &Ui| ui.session(Session::wait) == Wait::VeryLong;
    ui.el("p.cw-note.cw-wait part=wait")
        .child(icon(ui, icon::CLOCK))
        .child(ui.el("span").text_with(|ui| {
            ui.text(if ui.session(Session::wait) == Wait::Long { Text::WaitLong } else { Text::WaitStill })
        }))
        .child_if(is_very_long, |ui| {
            ui.el("button.cw-retry part=ask-person type=button")
                .says(Text::AskPerson)
                .on("click", |ui, _| contact::ask_person(ui))
        })
}

/// Renders the line in the log after a message without a reply.
pub(crate) fn no_reply(ui: &Ui) -> El {
    ui.el("p.cw-note part=notice")
        .child(icon(ui, icon::ALERT))
        .child(ui.el("span").says(Text::NoReply))
        .child(ui.el("button.cw-retry part=retry type=button").says(Text::AskAgain).on("click", |ui, _| {
            ui.focus_field();
            ui.driver().ask_again();
        }))
}
