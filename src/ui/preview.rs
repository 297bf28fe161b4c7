//! The preview beside the launcher of a closed window: the site's greeting, which a visitor sees once, and
//! new messages.

use chat_protocol::{Role, Value};
use chat_session::{Entry, Session};

use super::Ui;
use super::avatar::{assistant_avatar, operator_avatar};
use super::dom::El;
use super::icon::{self, icon};
use super::rich_text::plain;
use crate::client::json;
use crate::text::strings::Text;

/// The preference that is stored when the visitor has dismissed the greeting or opened the window.
const SEEN: &str = "chat-widget:greeted";
/// The preference with the greeting that the visitor clicked. The conversation begins with it.
pub(super) const CLICKED: &str = "chat-widget:greeting";

impl Ui {
    /// Starts the timer of the greeting, unless the visitor has seen it.
    pub(crate) fn schedule_greeting(&self) {
        if self.settings().greeting.is_none() || self.driver().preference(SEEN).is_some() {
            return;
        }
        let ui = self.clone();
        let timer = gloo_timers::callback::Timeout::new(self.settings().greeting_after_ms, move || {
            ui.state().greeting_due.set(true);
            ui.notify();
        });
        self.state().greeting_timer.replace(Some(timer));
    }

    /// Ends the greeting for good.
    pub(crate) fn end_greeting(&self) {
        self.state().greeting_timer.take();
        if self.settings().greeting.is_some() {
            self.driver().set_preference(SEEN, Some("1"));
        }
        if self.state().greeting_due.replace(false) {
            self.notify();
        }
    }

    /// Returns the greeting that the visitor clicked.
    pub(super) fn clicked_greeting(&self) -> Option<String> {
        json::parse(&self.driver().preference(CLICKED)?).as_text().map(str::to_owned)
    }

    /// Previews a message that came in while the window was closed.
    pub(super) fn preview(&self, entry: &Entry) {
        let state = self.state();
        if entry.author != Role::Visitor && !state.open.get() && self.settings().preview {
            state.previewed.set(Some(entry.key.get()));
            self.notify();
        }
    }
}

/// Reads the previewed message, while it is unread.
fn message<T>(ui: &Ui, read: impl FnOnce(&Entry) -> T) -> Option<T> {
    let key = ui.state().previewed.get().filter(|_| ui.session(Session::unread) > 0)?;
    ui.session(|session| session.entries().iter().rev().find(|entry| entry.key.get() == key).map(read))
}

/// Returns whether an operator wrote the previewed message.
fn is_by_operator(ui: &Ui) -> bool {
    message(ui, |entry| entry.author == Role::Operator) == Some(true)
}

/// Returns whether the preview is shown. The greeting is not shown to visitors with a conversation.
pub(crate) fn is_shown(ui: &Ui) -> bool {
    let greeting_due = ui.state().greeting_due.get() && ui.driver().rows().is_empty();
    !ui.state().open.get() && (greeting_due || message(ui, |_| ()).is_some())
}

/// Renders the preview, which opens the window, and the button that dismisses it.
pub(crate) fn preview(ui: &Ui) -> El {
    let name = ui.el("bdi.cw-name").text_with(|ui| {
        if is_by_operator(ui) {
            ui.operator_name(message(ui, |entry| entry.name.clone()).flatten().as_deref())
        } else {
            ui.assistant_name()
        }
    });
    let words = ui.el("span.cw-preview-text dir=auto").text_with(|ui| {
        message(ui, |entry| plain(ui, &entry.text))
            .or_else(|| ui.settings().greeting.clone())
            .unwrap_or_default()
    });
    let open = ui
        .el("button.cw-preview-open type=button")
        .child_if(is_by_operator, operator_avatar)
        .child_if(|ui| !is_by_operator(ui), assistant_avatar)
        .child(ui.el("span.cw-by").child(name))
        .child(words)
        .on("click", |ui, _| {
            if ui.state().greeting_due.get() {
                let words = ui.settings().greeting.as_deref().map(|words| Value::from(words).to_json());
                ui.driver().set_preference(CLICKED, words.as_deref());
            }
            ui.set_open(true, true);
        });
    let dismiss = ui
        .el("button.cw-icon-button type=button")
        .label(Text::Dismiss)
        .child(icon(ui, icon::CLOSE))
        .on("click", |ui, _| {
            ui.focus("[part=launcher]");
            ui.end_greeting();
            ui.state().previewed.set(None);
            ui.notify();
        });
    ui.el("div.cw-preview part=preview").child(open).child(dismiss)
}
