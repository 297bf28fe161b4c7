//! The messages, the newest next to the composer.

use chat_protocol::Role;
use chat_session::{EntryKey, Notice, Session};
use wasm_bindgen::JsCast;
use web_sys::Element;

use super::Ui;
use super::avatar::assistant_avatar;
use super::dom::El;
use super::icon::{self, icon};
use super::message::{assistant_name, frame, message};
use super::notice::no_reply;
use crate::text::strings::Text;

/// So near to the end, the log stays at the end. Pixels.
const PINNED_WITHIN: i32 = 48;

/// The log, the welcome before it, and the way back to its end.
pub(crate) fn log(ui: &Ui) -> El {
    let log = ui
        .el("div")
        .class("cw-log")
        .attr("part", "log")
        .attr("role", "log")
        .attr("tabindex", "0")
        .attr("aria-label", &ui.text(Text::Messages))
        .on("scroll", on_scroll)
        .child(intro(ui))
        .child_if(|ui| welcome(ui).is_some(), welcome_message)
        .each(|ui| ui.driver().rows().iter().map(|row| row.key.get()).collect(), message)
        .child_if(|ui| ui.session(|session| session.online() && session.awaits_reply()), typing)
        .child_if(|ui| ui.session(Session::notice) == Some(Notice::NoReply), no_reply)
        .child_if(|ui| !has_asked(ui), suggestions);
    ui.state().log.replace(Some(log.node()));
    let mut seen = Seen::default();
    ui.el("div")
        .class("cw-body")
        .child(log)
        .child_if(|ui| !ui.state().pinned.get(), jump)
        .run(move |ui| follow(ui, &mut seen))
}

/// What the log showed last.
type Seen = (usize, Option<EntryKey>, bool, Option<Notice>);

/// What comes in is shown, while the visitor is at the end.
fn follow(ui: &Ui, seen: &mut Seen) {
    let rows = ui.driver().rows();
    let last = rows.last().map(|row| row.key);
    let now = (rows.len(), last, ui.session(Session::awaits_reply), ui.session(Session::notice));
    if *seen != now {
        *seen = now;
        ui.stay_at_end();
    }
}

fn on_scroll(ui: &Ui, event: &web_sys::Event) {
    if let Some(log) = event.target().map(JsCast::unchecked_into::<Element>) {
        let pinned = log.scroll_height() - log.scroll_top() - log.client_height() <= PINNED_WITHIN;
        if ui.state().pinned.replace(pinned) != pinned {
            ui.notify();
        }
    }
}

/// The button that goes to the newest message.
fn jump(ui: &Ui) -> El {
    ui.el("button")
        .class("cw-jump")
        .attr("type", "button")
        .attr("aria-label", &ui.text(Text::LatestMessages))
        .on("click", |ui, _| {
            ui.focus_field();
            ui.state().pinned.set(true);
            ui.stay_at_end();
            ui.notify();
        })
        .child(icon(ui, icon::ARROW_DOWN))
}

fn intro(ui: &Ui) -> El {
    ui.el("div")
        .class("cw-intro")
        .child(assistant_avatar(ui))
        .child(ui.el("p").class("cw-intro-title").text(&ui.text(Text::IntroTitle)))
        .child(ui.el("p").class("cw-intro-note").text(&ui.text(Text::IntroNote)))
}

fn welcome(ui: &Ui) -> Option<String> {
    ui.session(|session| session.config().and_then(|config| config.welcome_message.clone()))
}

/// The config's welcome, as the assistant would say it.
fn welcome_message(ui: &Ui) -> El {
    let bubble = ui.el("div").class("cw-bubble").attr("dir", "auto");
    said_by_assistant(ui, ui.el("span"), bubble.text_with(|ui| welcome(ui).unwrap_or_default()))
}

/// A reply is awaited.
fn typing(ui: &Ui) -> El {
    let dot = || ui.el("i").class("cw-typing-dot");
    let dots = ui.el("div").class("cw-bubble cw-typing").attr("aria-hidden", "true");
    let note = ui.el("span").text(&ui.text(Text::IsWriting));
    // It is no message, so it must not be found as one.
    said_by_assistant(ui, note, dots.child(dot()).child(dot()).child(dot())).attr("part", "typing")
}

fn said_by_assistant(ui: &Ui, note: El, bubble: El) -> El {
    frame(ui, &Role::Assistant)
        .class("cw-message cw-first cw-last")
        .child(assistant_name(ui, note))
        .child(assistant_avatar(ui))
        .child(bubble)
}

fn has_asked(ui: &Ui) -> bool {
    ui.driver().rows().iter().any(|row| row.author == Role::Visitor)
}

/// Questions to begin with.
fn suggestions(ui: &Ui) -> El {
    let mut chips = ui
        .el("div")
        .class("cw-chips")
        .attr("part", "suggestions")
        .attr("role", "group")
        .attr("aria-label", &ui.text(Text::SuggestedQuestions));
    for question in &ui.settings().suggested_questions {
        let chip = ui
            .el("button")
            .class("cw-chip")
            .attr("part", "suggestion")
            .attr("type", "button")
            .attr("dir", "auto");
        chips = chips.child(chip.text(question).on("click", |ui, event| {
            let chip = event.current_target().map(JsCast::unchecked_into::<Element>);
            ui.focus_field();
            ui.send(chip.and_then(|chip| chip.text_content()).unwrap_or_default());
        }));
    }
    chips
}
