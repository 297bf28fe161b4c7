//! The log of messages, with the newest at its end.

use chat_protocol::Role;
use chat_session::{Delivery, Entry, EntryKey, Notice, Session, Wait};
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};

use super::Ui;
use super::avatar::{assistant_avatar, initials};
use super::contact;
use super::dom::El;
use super::header::people_only;
use super::icon::{self, icon};
use super::message::{assistant_name, frame, message};
use super::notice::{self, no_reply, refused, wait};
use super::rich_text::bubble;
use super::scroll;
use crate::text::strings::Text;

/// Distance from the first or the last rendered message at which more are rendered. Pixels.
const LOAD_THRESHOLD: i32 = 600;
/// Maximum rendered messages.
const MAX_ROWS: usize = 120;
/// Number of messages that are rendered at a time.
const ROWS_PER_STEP: usize = 40;

/// Renders the log, with the introduction above the messages, and the button to its end.
pub(crate) fn log(ui: &Ui) -> El {
    let log = ui
        .el("div.cw-log part=log role=log")
        // The announcer speaks new messages.
        .attr("aria-live", "off")
        .attr("tabindex", "0")
        .label(Text::Messages)
        .on("scroll", on_scroll)
        .child_if(|ui| ui.state().range.get().0 == 0, intro)
        .child_if(|ui| welcome(ui).is_some() && ui.state().range.get().0 == 0, welcome_message)
        .child_if(|ui| ui.clicked_greeting().is_some() && ui.state().range.get().0 == 0, greeting_message)
        .each(keys, message)
        .child_if(|ui| ui.session(Session::is_writing), typing)
        .child_if(|ui| person_writing(ui).is_some(), person_typing)
        .child_if(|ui| ui.session(Session::wait) > Wait::Short, wait)
        .child_if(|ui| ui.session(Session::notice) == Some(Notice::NoReply), no_reply)
        .child_if(|ui| ui.session(Session::notice) == Some(Notice::Quota), refused)
        .child_if(notice::offers_person, notice::offer)
        .child_if(|ui| !questions(ui).is_empty(), suggestions);
    ui.state().log.replace(Some(log.node()));
    scroll::follow_size(ui, &log.node());
    ui.state().scroll_top.set(0);
    let mut last_content = None;
    // First, because the other bindings depend on its result.
    ui.el("div.cw-body")
        .run(move |ui| update_range(ui, &mut last_content))
        .child(log)
        .child_if(|ui| !ui.state().pinned.get() || ui.state().cut_off.get(), jump)
}

/// The last content of the log: the number of messages, the last one, and the parts after them.
type Content = (usize, Option<EntryKey>, bool, Option<Notice>, Wait, bool, usize);

/// Updates the range of rendered messages. New messages are rendered while the visitor is at the end, else
/// counted.
fn update_range(ui: &Ui, last_content: &mut Option<Content>) {
    let state = ui.state();
    // Messages before those on the page may have come in: the same ones stay.
    let shift = keep_range(ui);
    let rows = ui.driver().rows();
    let last = rows.newest().last().map(|row| row.key);
    let now = ui.session(|session| {
        let (wait, deferred) = (session.wait(), session.is_deferred());
        (rows.len(), last, is_writing(session), session.notice(), wait, deferred, questions(ui).len())
    });
    let before = last_content.replace(now);
    let shown = before.map_or(0, |before| before.0) + shift;
    let added = rows.len().saturating_sub(shown);
    // A page of history does not count.
    state.is_arriving.set(before.is_some() && added <= 2);
    let (from, to) = state.range.get();
    if before.is_none() || added > 0 {
        // The new reply; of a page of history the last one, or the first unread one.
        let since = if state.is_arriving.get() { shown } else { rows.len().saturating_sub(1) };
        let new = rows.range((since, rows.len()));
        let answer = new.iter().find(|row| row.author != Role::Visitor).map(|row| row.key.get());
        state.anchor.set(state.unread_from.get().filter(|_| !state.is_arriving.get()).or(answer));
    }
    let range = if state.pinned.get() {
        state.missed.set(0);
        // Messages before the rendered ones are rendered as well, unless they are many.
        let from = from - shift;
        let is_long = rows.len() - from.min(rows.len()) > MAX_ROWS;
        let from = if is_long || before.is_none() { rows.len().saturating_sub(ROWS_PER_STEP) } else { from };
        (from, rows.len())
    } else {
        let new = rows.range((shown, rows.len()));
        let others = new.iter().filter(|row| row.author != Role::Visitor).count();
        state.missed.set(state.missed.get() + others);
        // They are rendered when the visitor scrolls near them, or now if their predecessors are rendered.
        (from.min(rows.len()), if to == shown { rows.len() } else { to.min(rows.len()) })
    };
    drop(rows);
    set_range(ui, range);
    if before != Some(now) {
        ui.keep_in_view();
    }
}

/// Sets the range of rendered messages.
fn set_range(ui: &Ui, range: (usize, usize)) {
    ui.driver().cover_rows(range.0);
    ui.state().range.set(range);
    let rows = ui.driver().rows();
    let mut indexed = rows.range(range).iter().zip(range.0..);
    let anchor = indexed.find(|(row, _)| row.delivery == Delivery::Delivered);
    ui.state().range_anchor.set(anchor.map(|(row, index)| (row.key.get(), index)));
}

/// Moves the range with its anchor. Returns the number of messages that came in before it.
fn keep_range(ui: &Ui) -> usize {
    let (from, to) = ui.state().range.get();
    let Some((key, index)) = ui.state().range_anchor.get() else { return 0 };
    let shift = ui.driver().rows().index_of(key).map_or(0, |now| now.saturating_sub(index));
    ui.state().range.set((from + shift, to + shift));
    shift
}

/// Returns the keys of the rendered messages.
fn keys(ui: &Ui) -> Vec<u32> {
    let mut keys = Vec::new();
    for row in ui.driver().rows().range(ui.state().range.get()) {
        keys.push(row.key.get());
    }
    keys
}

fn on_scroll(ui: &Ui, event: &web_sys::Event) {
    let Some(log) = event.target().map(JsCast::unchecked_into::<Element>) else { return };
    let (state, count) = (ui.state(), ui.driver().rows().len());
    let (from, to) = state.range.get();
    let (above, below) = (log.scroll_top(), log.scroll_height() - log.scroll_top() - log.client_height());
    let pinned = ui.scrolled(&log, to == count);
    let range = if above < LOAD_THRESHOLD && from > 0 && !pinned {
        let from = from.saturating_sub(ROWS_PER_STEP);
        (from, to.min(from + MAX_ROWS))
    } else if below < LOAD_THRESHOLD && to < count {
        let to = (to + ROWS_PER_STEP).min(count);
        (from.max(to.saturating_sub(MAX_ROWS)), to)
    } else {
        (from, to)
    };
    let moved = state.range.get() != range;
    set_range(ui, range);
    if state.pinned.replace(pinned) != pinned || moved {
        // Keeps the visible messages in their place.
        let shown = log.get_elements_by_class_name("cw-row");
        let anchor = shown.item(if range.0 < from { 0 } else { shown.length().saturating_sub(1) });
        let anchor = anchor.filter(|_| moved).map(JsCast::unchecked_into::<HtmlElement>);
        let place = anchor.as_ref().map(|anchor| anchor.offset_top() - log.scroll_top());
        ui.notify();
        if let (Some(anchor), Some(place)) = (anchor, place) {
            leptos::prelude::request_animation_frame(move || log.set_scroll_top(anchor.offset_top() - place));
        }
    }
}

/// Renders the button that scrolls to the newest message, with the number of messages that came in below.
fn jump(ui: &Ui) -> El {
    ui.el("button.cw-jump type=button")
        .attr_with("aria-label", |ui| {
            Some(match ui.state().missed.get() {
                0 => ui.text(Text::LatestMessages),
                count => ui.count(Text::NewMessages, count),
            })
        })
        .on("click", |ui, _| {
            ui.focus_field();
            ui.state().pinned.set(true);
            ui.state().anchor.set(None);
            ui.keep_in_view();
            ui.notify();
        })
        .child(icon(ui, icon::ARROW_DOWN))
        .child_if(
            |ui| ui.state().missed.get() > 0,
            |ui| ui.el("span").text_with(|ui| ui.count(Text::NewMessages, ui.state().missed.get())),
        )
}

/// Renders the introduction above the messages.
fn intro(ui: &Ui) -> El {
    ui.el("div.cw-intro")
        .child(assistant_avatar(ui))
        .child(ui.el("p.cw-intro-title").says(Text::IntroTitle))
        .child_if(|ui| !people_only(ui), |ui| ui.el("p.cw-intro-note").says(Text::IntroNote))
        .child(
            ui.el("p.cw-intro-note dir=auto").text(ui.settings().reply_time.as_deref().unwrap_or_default()),
        )
}

/// Returns the config's welcome message.
fn welcome(ui: &Ui) -> Option<String> {
    ui.session(|session| session.config().and_then(|config| config.welcome_message.clone()))
}

/// Renders the config's welcome message as one of the assistant.
fn welcome_message(ui: &Ui) -> El {
    let bubble = bubble(ui, false, |ui| welcome(ui).unwrap_or_default().into()).attr_with("lang", |ui| {
        ui.session(|session| session.config().and_then(|config| config.locale.clone()))
    });
    assistant_message(ui, ui.el("span"), bubble)
}

/// Renders the greeting that the visitor clicked, as the first message of the conversation.
fn greeting_message(ui: &Ui) -> El {
    let bubble = bubble(ui, false, |ui| ui.clicked_greeting().unwrap_or_default().into());
    assistant_message(ui, ui.el("span"), bubble)
}

/// Renders the writing indicator.
fn typing(ui: &Ui) -> El {
    // The indicator is not a message, so it has a part of its own.
    assistant_message(ui, ui.el("span").says(Text::IsWriting), dots(ui)).attr("part", "typing")
}

fn dots(ui: &Ui) -> El {
    let dot = || ui.el("i.cw-typing-dot");
    ui.el("div.cw-bubble.cw-typing aria-hidden=true").child(dot()).child(dot()).child(dot())
}

/// Renders the indicator of an operator who is writing.
fn person_typing(ui: &Ui) -> El {
    // Another operator may begin to write.
    let name = |ui: &Ui| person_writing(ui).unwrap_or_default();
    let by = ui.el("p.cw-by").child(ui.el("bdi.cw-name").text_with(name));
    frame(ui, &Role::Operator)
        .attr("class", "cw-message cw-first cw-last")
        .attr("part", "typing")
        .child(by.child(ui.el("span").says(Text::IsWriting)))
        .child(
            ui.el("span.cw-avatar aria-hidden=true")
                .text_with(|ui| initials(&person_writing(ui).unwrap_or_default())),
        )
        .child(dots(ui))
}

fn person_writing(ui: &Ui) -> Option<String> {
    ui.session(|session| session.person_writing().map(|name| ui.operator_name(Some(name))))
}

/// Returns whether the assistant or an operator is writing.
fn is_writing(session: &Session) -> bool {
    session.is_writing() || session.person_writing().is_some()
}

/// Renders a message of the assistant that is not part of the conversation.
fn assistant_message(ui: &Ui, note: El, bubble: El) -> El {
    frame(ui, &Role::Assistant)
        .attr("class", "cw-message cw-first cw-last")
        .child(assistant_name(ui, note))
        .child(assistant_avatar(ui))
        .child(bubble)
}

/// Returns the suggested questions: all of them at first, and those not asked after the first reply. There
/// are none while something else is more important: an operator, a message that was not sent, or the contact
/// line.
fn questions(ui: &Ui) -> Vec<String> {
    let session = ui.driver().session();
    let entries = session.entries();
    let mut asked = entries.iter().filter(|entry| entry.author == Role::Visitor);
    let first = asked.next();
    let is_important = |entry: &Entry| entry.author == Role::Operator || entry.delivery == Delivery::Failed;
    let waits =
        ui.session(|session| session.awaits_reply() || session.is_deferred() || session.notice().is_some());
    if asked.next().is_some() || waits || contact::is_open(ui) || entries.iter().any(is_important) {
        return Vec::new();
    }
    let mut left = Vec::new();
    for question in &ui.settings().suggested_questions {
        if first.is_none_or(|entry| *entry.text != **question) {
            left.push(question.clone());
        }
    }
    left
}

fn suggestions(ui: &Ui) -> El {
    let mut chips = ui.el("div.cw-chips part=suggestions role=group").label(Text::SuggestedQuestions);
    for question in questions(ui) {
        let chip = ui.el("button.cw-chip part=suggestion type=button dir=auto");
        chips = chips.child(chip.text(&question).on("click", |ui, event| {
            let chip = event.current_target().map(JsCast::unchecked_into::<Element>);
            ui.focus_field();
            ui.send(chip.and_then(|chip| chip.text_content()).unwrap_or_default());
        }));
    }
    chips
}
