//! A few words beside the closed launcher, after a while, until the visitor has seen them once.

use super::Ui;
use super::avatar::assistant_avatar;
use super::dom::El;
use super::icon::{self, icon};
use crate::text::strings::Text;

/// Kept when the visitor has dismissed the greeting, or opened the window.
const SEEN: &str = "chat-widget:greeted";

impl Ui {
    /// The greeting comes after the time that the site chose.
    pub(crate) fn greet_later(&self) {
        if self.settings().greeting.is_none() || self.driver().is_chosen(SEEN) {
            return;
        }
        let ui = self.clone();
        let timer = gloo_timers::callback::Timeout::new(self.settings().greeting_after_ms, move || {
            ui.state().greets.set(true);
            ui.notify();
        });
        self.state().timer.replace(Some(timer));
    }

    /// The greeting has done its work, for good.
    pub(crate) fn end_greeting(&self) {
        self.state().timer.take();
        if self.settings().greeting.is_some() {
            self.driver().choose(SEEN, true);
        }
        if self.state().greets.replace(false) {
            self.notify();
        }
    }
}

/// Whoever has a conversation already is not greeted.
pub(crate) fn is_greeting(ui: &Ui) -> bool {
    ui.state().greets.get() && !ui.state().open.get() && ui.driver().rows().is_empty()
}

/// The words, which open the window, and a way to be rid of them.
pub(crate) fn greeting(ui: &Ui) -> El {
    let name = ui.el("bdi.cw-name").text_with(Ui::assistant_name);
    let words = ui.settings().greeting.clone().unwrap_or_default();
    let open = ui
        .el("button.cw-preview-open type=button")
        .child(assistant_avatar(ui))
        .child(ui.el("span.cw-by").child(name))
        .child(ui.el("span.cw-preview-text dir=auto").text(&words))
        .on("click", |ui, _| ui.set_open(true, true));
    let dismiss = ui
        .el("button.cw-icon-button type=button")
        .label(Text::Dismiss)
        .child(icon(ui, icon::CLOSE))
        .on("click", |ui, _| {
            ui.focus_part("launcher");
            ui.end_greeting();
        });
    ui.el("div.cw-preview part=preview").child(open).child(dismiss)
}
