//! The whole widget: launcher and window.

use chat_session::Session;
use wasm_bindgen::JsCast;
use web_sys::{Event, HtmlElement, KeyboardEvent};

use super::Ui;
use super::composer::composer;
use super::contact;
use super::dom::El;
use super::header::{TITLE_ID, header};
use super::launcher::launcher;
use super::log::log;
use super::menu::{self, menu};
use super::notice::{closed_card, offline_banner};
use super::panel::{self, panel};
use super::preview;

/// Renders launcher and window.
pub(crate) fn widget(ui: &Ui) -> El {
    // The announcer's region is a child of the host.
    let slot = ui.el("slot name=announcer");
    ui.el("div").child(ui.el("div.cw-hidden").child(slot)).child_if(|ui| ui.session(Session::is_on), frame)
}

fn frame(ui: &Ui) -> El {
    let stop = |_: &Ui, event: &Event| event.stop_propagation();
    let settings = ui.settings();
    let frame = ui.el("div.cw");
    let node: HtmlElement = frame.node();
    ui.state().frame.replace(Some(node));
    frame
        .class_if("cw-open", is_open)
        .attr("lang", &settings.language)
        .attr("dir", settings.direction.as_str())
        .attr("data-scheme", settings.color_scheme.as_str())
        .attr("data-position", if settings.inline { "inline" } else { settings.position.as_str() })
        .on("keydown", on_key)
        .on("keyup", stop)
        .on("keypress", stop)
        .child_if(is_open, window)
        .child_if(preview::is_shown, preview::preview)
        .run(Ui::announce_changes)
        .child_if(|ui| ui.settings().launcher && !ui.settings().inline, launcher)
}

fn is_open(ui: &Ui) -> bool {
    ui.state().open.get()
}

fn on_key(ui: &Ui, event: &Event) {
    let key: &KeyboardEvent = event.unchecked_ref();
    // The page's shortcuts must not receive the visitor's typing. F6 moves between page and widget.
    if key.key() != "F6" {
        event.stop_propagation();
    }
    let leaves = ui.state().panel.get() || ui.state().menu.get() || (is_open(ui) && !ui.settings().inline);
    if key.key() == "Escape" && !key.is_composing() && leaves {
        key.prevent_default();
        if ui.state().menu.get() {
            menu::set_open(ui, false);
        } else if ui.state().panel.get() {
            panel::close(ui);
        } else {
            ui.set_open(false, true);
        }
    }
}

fn window(ui: &Ui) -> El {
    // The parts that the visitor's panel covers.
    let main = ui
        .el("div.cw-main")
        .attr_with("inert", |ui| ui.state().panel.get().then(String::new))
        .child(header(ui))
        .child_if(|ui| !ui.session(Session::online), offline_banner)
        .child(log(ui))
        .child_if(contact::is_open, contact::form)
        .child_if(contact::is_done, contact::done)
        // The card comes first: it takes over the focus of the composer, which must still exist.
        .child_if(Ui::is_blocked, closed_card)
        .child_if(|ui| !ui.is_blocked(), composer)
        .child_if(|ui| ui.state().menu.get(), menu);
    ui.el("section.cw-window part=window tabindex=-1")
        .attr("role", if ui.settings().inline { "region" } else { "dialog" })
        .attr("aria-labelledby", TITLE_ID)
        .attr_with("aria-modal", |ui| is_modal(ui).then(|| "true".to_owned()))
        // Tab cycles inside a full-screen window.
        .child_if(is_modal, |ui| focus_guard(ui, |ui, _| focus_first(ui, &LAST)))
        .child(main)
        .child_if(|ui| ui.state().panel.get(), panel)
        .child_if(is_modal, |ui| focus_guard(ui, |ui, _| focus_first(ui, &FIRST)))
}

/// The first and the last control of a full-screen window: the first selector that matches.
const FIRST: [&str; 2] = ["[part=back]", "[part=menu]"];
const LAST: [&str; 5] = ["[part=forget-no]", "[part=forget]", "[part=back]", "[part=send]", "[part=log]"];

fn focus_first(ui: &Ui, selectors: &[&str]) {
    _ = selectors.iter().any(|selector| ui.focus(selector));
}

fn is_modal(ui: &Ui) -> bool {
    ui.state().full_screen.get()
}

/// Renders a focus guard at one end of the window, which moves the focus to the other end.
fn focus_guard(ui: &Ui, to: fn(&Ui, &Event)) -> El {
    ui.el("span.cw-hidden tabindex=0").on("focus", to)
}
