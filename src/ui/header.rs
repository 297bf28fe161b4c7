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
        .el("h2")
        .class("cw-title")
        .attr("id", TITLE_ID)
        .attr("part", "title")
        .attr_with("title", |ui| Some(ui.assistant_name()))
        .text_with(Ui::assistant_name);
    let presence =
        ui.el("p")
            .class("cw-presence")
            .attr("part", "presence")
            .child(ui.el("span").class("cw-dot").class_if("cw-dot-on", person_is_here))
            .child(ui.el("span").text_with(|ui| {
                ui.text(if person_is_here(ui) { Text::PersonHere } else { Text::AnsweredByAi })
            }));
    let close = ui
        .el("button")
        .class("cw-icon-button cw-close")
        .attr("part", "close")
        .attr("type", "button")
        .attr("aria-label", &ui.text(Text::CloseChat))
        .on("click", |ui, _| ui.set_open(false, true))
        // The style sheet shows one of them: a cross, or on a full screen a chevron.
        .child(icon(ui, icon::CLOSE))
        .child(icon(ui, icon::CHEVRON_DOWN));
    ui.el("header")
        .class("cw-header")
        .attr("part", "header")
        .child(assistant_avatar(ui))
        .child(ui.el("div").class("cw-heading").child(title).child(presence))
        .child(close)
}

/// Without a network, nobody is claimed to be here.
fn person_is_here(ui: &Ui) -> bool {
    ui.session(|session| session.online() && session.operator_online() == Some(true))
}
