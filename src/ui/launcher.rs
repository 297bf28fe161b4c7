//! The round button that opens the window.

use chat_protocol::decimal;
use chat_session::Session;
use web_sys::HtmlElement;

use super::Ui;
use super::dom::El;
use super::icon::{self, icon};
use crate::text::strings::Text;

/// More unread messages are not counted.
const MOST_COUNTED: u32 = 99;
const MORE_COUNTED: &str = "99+";

/// The launcher, with the count of unread messages. The focus comes back to it when the visitor closes the window.
pub(crate) fn launcher(ui: &Ui) -> El {
    let button = ui
        .el("button.cw-launcher part=launcher type=button aria-haspopup=dialog")
        .attr_with("aria-label", |ui| Some(label(ui)))
        .attr_with("aria-expanded", |ui| {
            Some(if ui.state().open.get() { "true" } else { "false" }.to_owned())
        })
        .on("click", |ui, _| ui.set_open(!ui.state().open.get(), true))
        .child_if(|ui| !ui.state().open.get(), |ui| icon(ui, icon::CHAT))
        .child_if(|ui| ui.state().open.get(), |ui| icon(ui, icon::CHEVRON_DOWN))
        .child_if(|ui| unread(ui) > 0, badge);
    let node: HtmlElement = button.node();
    let mut was_open = false;
    button.run(move |ui| {
        let open = ui.state().open.get();
        if was_open && !open && ui.state().by_visitor.get() {
            _ = node.focus();
        }
        was_open = open;
    })
}

fn unread(ui: &Ui) -> u32 {
    if ui.state().open.get() { 0 } else { ui.session(Session::unread) }
}

fn label(ui: &Ui) -> String {
    match (ui.state().open.get(), unread(ui)) {
        (true, _) => ui.text(Text::CloseChat),
        (false, 0) => ui.text(Text::OpenChat),
        (false, count) => ui.count(Text::OpenChatUnread, count as usize),
    }
}

fn badge(ui: &Ui) -> El {
    ui.el("span.cw-badge part=badge aria-hidden=true").text_with(|ui| {
        if unread(ui) > MOST_COUNTED { MORE_COUNTED.to_owned() } else { decimal(unread(ui).into()) }
    })
}
