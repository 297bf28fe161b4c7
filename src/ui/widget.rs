//! The whole of it: launcher and window.

use chat_session::Session;
use wasm_bindgen::JsCast;
use web_sys::{Event, KeyboardEvent};

use super::Ui;
use super::composer::composer;
use super::dom::El;
use super::header::{TITLE_ID, header};
use super::launcher::launcher;
use super::log::log;
use super::notice::{closed_card, offline_banner};

/// Launcher and window, for a shadow root that has the widget's style sheets.
pub(crate) fn widget(ui: &Ui) -> El {
    ui.el("div").child_if(|ui| ui.session(Session::is_on), frame)
}

fn frame(ui: &Ui) -> El {
    // What is typed here is not for the page's shortcuts.
    let keep = |_: &Ui, event: &Event| event.stop_propagation();
    let settings = ui.settings();
    ui.el("div")
        .class("cw")
        .class_if("cw-open", is_open)
        .attr("lang", settings.locale.as_deref().unwrap_or_default())
        .attr("dir", settings.direction)
        .attr("data-scheme", settings.color_scheme)
        .attr("data-position", settings.position)
        .on("keydown", on_key)
        .on("keyup", keep)
        .on("keypress", keep)
        .child_if(is_open, window)
        .child(launcher(ui))
}

fn is_open(ui: &Ui) -> bool {
    ui.state().open.get()
}

fn on_key(ui: &Ui, event: &Event) {
    event.stop_propagation();
    let key: &KeyboardEvent = event.unchecked_ref();
    if key.key() == "Escape" && !key.is_composing() && is_open(ui) {
        key.prevent_default();
        ui.set_open(false, true);
    }
}

fn window(ui: &Ui) -> El {
    ui.el("section")
        .class("cw-window")
        .attr("part", "window")
        .attr("role", "dialog")
        .attr("aria-labelledby", TITLE_ID)
        .child(header(ui))
        .child_if(|ui| !ui.session(Session::online), offline_banner)
        .child(log(ui))
        .child_if(|ui| ui.closed_by().is_none(), composer)
        .child_if(|ui| ui.closed_by().is_some(), closed_card)
}
