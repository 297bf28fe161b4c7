//! Components, one file for each thing on the screen.
//!
//! An element in `view!` whose attributes and children are all literals is set by `innerHTML`, which the
//! console's policy forbids. Such an element is written by a function: `{leptos::html::hr()}`.

mod account;
mod attention;
mod controls;
mod conversation;
mod forms;
mod inbox;
mod palette;
mod publishing;
mod reports;
mod settings;
mod shell;
mod shortcuts;
mod visitor;

use leptos::prelude::*;
use wasm_bindgen::JsCast;

use crate::browser;
use crate::state::{App, SessionState};
pub use shell::Program;

/// Shows the console in the page.
pub fn mount(program: Program) {
    let Some(root) = browser::by_id("app").and_then(|root| root.dyn_into().ok()) else { return };
    let root: web_sys::HtmlElement = root;
    root.set_text_content(None);
    root.set_class_name("");
    leptos::mount::mount_to(root, move || view! { <Console program /> }).forget();
}

/// The console: the forms of accounts, or the pages of the operator who is signed in.
#[component]
fn Console(program: Program) -> impl IntoView {
    let app = App::provide(program.parts());
    app.session.begin();
    let signed_in =
        Memo::new(move |_| app.session.state().with(|state| matches!(state, SessionState::SignedIn(_))));
    Effect::new(move |before: Option<bool>| {
        let now = signed_in.get();
        match (before, now) {
            (_, true) => app.start(),
            (Some(true), false) => app.stop(),
            _ => {}
        }
        now
    });
    move || {
        if signed_in.get() {
            view! { <shell::Shell program /> }.into_any()
        } else {
            view! { <account::Gate /> }.into_any()
        }
    }
}
