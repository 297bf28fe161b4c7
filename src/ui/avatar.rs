//! The round picture beside a name.

use super::Ui;
use super::dom::El;
use super::icon::{self, icon};

/// The picture of a person of the site.
pub(crate) fn operator_avatar(ui: &Ui) -> El {
    ui.el("span").class("cw-avatar").attr("aria-hidden", "true").child(icon(ui, icon::PERSON))
}

/// The picture of the assistant: the config's, when its address is safe and loads; an icon else.
pub(crate) fn assistant_avatar(ui: &Ui) -> El {
    ui.el("span")
        .class("cw-avatar cw-avatar-ai")
        .attr("aria-hidden", "true")
        .child_if(|ui| address(ui).is_some(), picture)
        .child_if(|ui| address(ui).is_none(), |ui| icon(ui, icon::SPARKLE))
}

fn picture(ui: &Ui) -> El {
    ui.el("img")
        .attr("alt", "")
        .attr("referrerpolicy", "no-referrer")
        .on("error", |ui, _| {
            ui.state().picture_broken.set(true);
            ui.notify();
        })
        .attr_with("src", address)
}

fn address(ui: &Ui) -> Option<String> {
    let url = ui.session(|session| session.config().and_then(|config| config.avatar_url.clone()));
    url.filter(|url| url.starts_with("https://") && !ui.state().picture_broken.get())
}
