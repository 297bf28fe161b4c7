//! The launcher: the round button that opens the window.

use chat_protocol::decimal;
use chat_session::Session;

use super::Ui;
use super::dom::{El, flag};
use super::icon::{self, icon};
use crate::text::strings::Text;

/// Maximum count on the badge.
const MAX_COUNTED: u32 = 99;
const MORE_COUNTED: &str = "99+";

/// Renders the launcher, with the number of unread messages.
pub(crate) fn launcher(ui: &Ui) -> El {
    ui.el("button.cw-launcher part=launcher type=button aria-haspopup=dialog")
        .attr_with("aria-label", |ui| Some(label(ui)))
        .attr_with("aria-expanded", |ui| Some(flag(ui.state().open.get())))
        .on("click", |ui, _| ui.set_open(!ui.state().open.get(), true))
        .child_if(|ui| !ui.state().open.get(), |ui| icon(ui, icon::CHAT))
        .child_if(|ui| ui.state().open.get(), |ui| icon(ui, icon::CHEVRON_DOWN))
        .child_if(|ui| unread(ui) > 0 || has_failed(ui), badge)
}

fn unread(ui: &Ui) -> u32 {
    if ui.state().open.get() { 0 } else { ui.session(Session::unread) }
}

/// Returns whether the closed window hides a message that was not sent.
fn has_failed(ui: &Ui) -> bool {
    !ui.state().open.get() && ui.session(Session::failed) > 0
}

fn label(ui: &Ui) -> String {
    match (ui.state().open.get(), unread(ui)) {
        (true, _) => ui.text(Text::CloseChat),
        _ if has_failed(ui) => ui.text(Text::OpenChatFailed),
        (false, 0) => ui.text(Text::OpenChat),
        (false, count) => ui.count(Text::OpenChatUnread, count as usize),
    }
}

fn badge(ui: &Ui) -> El {
    ui.el("span.cw-badge part=badge aria-hidden=true").text_with(|ui| match unread(ui) {
        _ if has_failed(ui) => "!".to_owned(),
        count if count > MAX_COUNTED => MORE_COUNTED.to_owned(),
        count => decimal(count.into()),
    })
}
