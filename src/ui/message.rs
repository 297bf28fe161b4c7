//! One message in the log.

use std::rc::Rc;

use chat_protocol::Role;
use chat_session::{Delivery, Session};

use super::Ui;
use super::avatar::{assistant_avatar, avatar_of};
use super::dom::El;
use super::icon::{self, icon};
use super::rich_text::bubble;
use crate::browser::clock;
use crate::driver::rows::Row;
use crate::text::strings::Text;

/// Renders a message, with the lines above and below it.
pub(crate) fn message(ui: &Ui) -> El {
    let author = ui.row(|row| row.author.clone()).unwrap_or(Role::Visitor);
    let bubble = bubble(ui, author == Role::Visitor, |ui| ui.row(|row| row.text.clone()).unwrap_or_default());
    let frame = frame(ui, &author)
        .class_if("cw-first", begins_group)
        .class_if("cw-last", |ui| is(ui, |row| row.last))
        .class_if("cw-failed", is_failed);
    let body = match author {
        Role::Visitor => {
            let you = ui.el("span.cw-hidden").says(Text::You);
            frame
                .attr_with("part", |ui| Some(parts(ui)))
                .child(you)
                .child(bubble)
                .child_if(|ui| is(ui, has_status), status)
        }
        Role::Operator => frame
            .child_if(begins_group, operator_byline)
            .child_if(begins_group, |ui| avatar_of(ui, name(ui).as_deref()))
            .child(bubble),
        // Unknown roles are shown as the assistant.
        Role::Assistant | Role::Other(_) => frame
            .child_if(begins_group, assistant_byline)
            .child_if(begins_group, assistant_avatar)
            .child(bubble),
    };
    ui.el(if ui.state().is_arriving.get() { "div.cw-row.cw-arrives" } else { "div.cw-row" })
        .child_if(|ui| is(ui, |row| row.new_day), day)
        .child_if(|ui| ui.state().unread_from.get() == Some(ui.key), unread_line)
        .child_if(|ui| is(ui, |row| row.joins), joined)
        .child(body)
}

/// Renders the frame of a bubble.
pub(crate) fn frame(ui: &Ui, author: &Role) -> El {
    let kind = match author {
        Role::Visitor => "visitor",
        Role::Operator => "operator",
        Role::Assistant | Role::Other(_) => "assistant",
    };
    let frame = ui.el("div.cw-message").attr("data-author", kind);
    frame.attr("part", &["message message-", kind].concat())
}

fn is(ui: &Ui, condition: fn(&Row) -> bool) -> bool {
    ui.row(condition).unwrap_or(false)
}

fn begins_group(ui: &Ui) -> bool {
    is(ui, |row| row.first)
}

fn is_failed(ui: &Ui) -> bool {
    is(ui, |row| row.delivery == Delivery::Failed)
}

fn parts(ui: &Ui) -> String {
    let failed = if is_failed(ui) { " message-failed" } else { "" };
    ["message message-visitor", failed].concat()
}

/// Renders the assistant's name and tag, followed by a time or a note.
pub(crate) fn assistant_name(ui: &Ui, note: El) -> El {
    let name =
        ui.el("bdi.cw-name").attr_with("title", |ui| Some(ui.assistant_name())).text_with(Ui::assistant_name);
    ui.el("p.cw-by").child(name).child(ui.el("span.cw-tag").says(Text::Ai)).child(note)
}

fn assistant_byline(ui: &Ui) -> El {
    assistant_name(ui, time(ui))
}

/// Renders the line above the first message of an operator who takes over.
fn joined(ui: &Ui) -> El {
    let text = ui.person_text(name(ui).as_deref(), Text::NamedJoined, Text::PersonJoined);
    ui.el("p.cw-day.cw-joined part=joined").text(&text)
}

/// Renders the line above the first message that was unread when the window was opened.
fn unread_line(ui: &Ui) -> El {
    ui.el("p.cw-unread").says(Text::UnreadFrom)
}

/// Returns the name of the operator who wrote the message, if the service tells.
fn name(ui: &Ui) -> Option<Rc<str>> {
    ui.row(|row| row.name.clone()).flatten()
}

fn operator_byline(ui: &Ui) -> El {
    let name = ui.operator_name(name(ui).as_deref());
    ui.el("p.cw-by").child(ui.el("bdi.cw-name").attr("title", &name).text(&name)).child(time(ui))
}

/// Renders the time of a message, if it is known.
fn time(ui: &Ui) -> El {
    ui.el("span.cw-time").text_with(|ui| {
        let ms = ui.row(|row| row.created_ms).flatten();
        ms.map_or_else(String::new, |ms| ui.times().time(ms))
    })
}

/// Renders the caption of a day.
fn day(ui: &Ui) -> El {
    let ms = ui.row(|row| row.created_ms).flatten().unwrap_or_default();
    let caption = match clock::local_day(js_sys::Date::now()) - clock::local_day(ms) {
        ..=0 => ui.text(Text::Today),
        1 => ui.text(Text::Yesterday),
        _ => ui.times().day(ms),
    };
    ui.el("p.cw-day").text(&caption)
}

/// Returns whether a message has a status line: the newest one for its delivery, the last one of a group for
/// its time.
fn has_status(row: &Row) -> bool {
    row.newest || row.last || row.delivery != Delivery::Delivered
}

fn status(ui: &Ui) -> El {
    ui.el("p.cw-status")
        .class_if("cw-status-failed", is_failed)
        .child_if(|ui| is(ui, |row| row.delivery == Delivery::Delivered), time)
        .child_if(is_failed, |ui| icon(ui, icon::ALERT))
        .child_if(|ui| is(ui, is_pending), |ui| icon(ui, icon::CLOCK))
        .child_if(
            |ui| is(ui, |row| row.newest && row.delivery == Delivery::Delivered),
            |ui| icon(ui, icon::CHECK),
        )
        .child(ui.el("span").text_with(|ui| {
            let deferred = ui.session(Session::is_deferred);
            let text = ui.row(|row| match row.delivery {
                Delivery::Failed => Some(Text::NotSent),
                Delivery::Delivered => row.newest.then_some(Text::Delivered),
                _ if deferred && row.newest => Some(Text::TryLater),
                Delivery::Sending if !deferred => Some(Text::Sending),
                _ => Some(Text::Waiting),
            });
            text.flatten().map_or_else(String::new, |text| ui.text(text))
        }))
        .child_if(is_failed, |ui| retry(ui, Text::TryAgain))
        .child_if(is_deferred, |ui| retry(ui, Text::TryNow))
}

/// Returns whether a message shows that all pending messages wait for a later attempt: the newest one does.
fn is_deferred(ui: &Ui) -> bool {
    is(ui, |row| row.newest && is_pending(row)) && ui.session(Session::is_deferred)
}

fn is_pending(row: &Row) -> bool {
    matches!(row.delivery, Delivery::Waiting | Delivery::Sending)
}

fn retry(ui: &Ui, label: Text) -> El {
    ui.el("button.cw-retry part=retry type=button").says(label).on("click", |ui, _| {
        ui.focus_field();
        if let Some(key) = ui.row(|row| row.key) {
            ui.driver().retry(key);
        }
    })
}
