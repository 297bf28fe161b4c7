//! Notices about interruptions: no network, no quota, a long wait, no answer.

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

/// Renders the card that replaces the composer of a blocked visitor.
pub(crate) fn closed_card(ui: &Ui) -> El {
    // The composer takes the focus with it, and without focus no key reaches the window.
    if ui.has_focus("[part=composer]") {
        ui.focus_later(".cw-closed");
    }
    let card = ui
        .el("div.cw-closed part=notice role=status tabindex=-1")
        .child(icon(ui, icon::CLOCK))
        .child(ui.el("p.cw-closed-title").says(Text::BlockedTitle))
        .child(ui.el("p").says(Text::BlockedNote));
    with_contact(ui, card)
}

/// Renders the line in the log after a message that the service refused, because the quota is used up.
pub(crate) fn refused(ui: &Ui) -> El {
    let line = ui
        .el("p.cw-note part=notice role=status")
        .child(icon(ui, icon::CLOCK))
        .child(ui.el("span").says(Text::QuotaNote));
    with_contact(ui, line)
}

/// Adds the site's contact link, if there is one.
fn with_contact(ui: &Ui, el: El) -> El {
    let settings = ui.settings();
    let address = settings.contact.as_deref().unwrap_or_default();
    // Applications in Rust pass an address that nobody has checked.
    if !["https:", "mailto:", "tel:"].iter().any(|scheme| address.starts_with(scheme)) {
        return el;
    }
    el.child(
        ui.el("a.cw-retry part=contact-link target=_blank rel=noreferrer")
            .attr("href", address)
            .says(Text::ContactSite),
    )
}

/// Returns whether the visitor is offered a person: the assistant has no answer, and there is something
/// left to do that the contact line does not ask for.
pub(crate) fn offers_person(ui: &Ui) -> bool {
    let notice = ui.session(Session::notice);
    let needs_person = matches!(notice, Some(Notice::NoReply | Notice::Unanswered));
    needs_person && !ai_only(ui) && (can_ask(ui) || ui.contact().is_none()) && !contact::is_open(ui)
}

/// Renders the offer after a reply without an answer.
pub(crate) fn offer(ui: &Ui) -> El {
    ui.el("div.cw-chips part=offer")
        .child_if(can_ask, |ui| {
            chip(ui, "ask-person", Text::AskPerson).on("click", |ui, _| contact::ask_person(ui))
        })
        .child_if(
            |ui| ui.contact().is_none(),
            |ui| chip(ui, "leave-contact", Text::ContactMenu).on("click", |ui, _| contact::open(ui)),
        )
}

fn chip(ui: &Ui, part: &str, text: Text) -> El {
    ui.el("button.cw-chip type=button").attr("part", part).says(text)
}

/// Returns whether the site's config says that nobody but the AI answers.
pub(crate) fn ai_only(ui: &Ui) -> bool {
    ui.session(|session| session.config().is_some_and(|config| config.ai_only))
}

/// Returns whether the visitor can ask for a person, and has not done so.
pub(crate) fn can_ask(ui: &Ui) -> bool {
    !ui.is_blocked() && !ai_only(ui) && !ui.session(Session::awaits_person)
}

/// Renders the line that explains a long wait, and offers an operator after a very long one.
pub(crate) fn wait(ui: &Ui) -> El {
    let is_offered = |ui: &Ui| ui.session(Session::wait) == Wait::VeryLong && can_ask(ui);
    ui.el("p.cw-note.cw-wait part=wait")
        .child(icon(ui, icon::CLOCK))
        .child(ui.el("span").text_with(|ui| {
            ui.text(if ui.session(Session::wait) == Wait::Long { Text::WaitLong } else { Text::WaitStill })
        }))
        .child_if(is_offered, |ui| {
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
