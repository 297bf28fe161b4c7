//! Dialogs. The browser keeps the focus inside, closes on Escape and returns the focus.

use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;

use super::form::unique_id;
use super::unsaved::Unsaved;
use crate::text::settings as t;
use crate::ui::controls::{Icon, icon};

/// A dialog that is shown while `open`.
#[component]
pub fn Dialog(
    open: RwSignal<bool>,
    #[prop(into)] title: Signal<String>,
    /// Whether it is as wide as a page.
    #[prop(optional)]
    is_wide: bool,
    children: ChildrenFn,
) -> impl IntoView {
    let node = NodeRef::<html::Dialog>::new();
    let title_id = unique_id("dialog");
    let labelled = title_id.clone();
    Effect::new(move |_| {
        let is_open = open.get();
        let Some(dialog) = node.get() else { return };
        if is_open && !dialog.open() {
            _ = dialog.show_modal();
            // The content is created by then.
            request_animation_frame(move || focus_first(&dialog));
        } else if !is_open && dialog.open() {
            dialog.close();
        }
    });
    let children = StoredValue::new(children);
    // Found once: a dialog that was open before has provided forms of its own.
    let outer = use_context::<Unsaved>();
    let unsaved = StoredValue::new(None::<Unsaved>);
    let ask = move || unsaved.get_value().is_none_or(Unsaved::may_leave);
    view! {
        <dialog
            node_ref=node
            class="modal"
            class:is-wide=is_wide
            aria-labelledby=labelled
            on:cancel=move |event: web_sys::Event| {
                if !ask() {
                    event.prevent_default();
                }
            }
            on:close=move |_| open.set(false)
        >
            <header class="modal-head">
                <h2 id=title_id>{move || title.get()}</h2>
                <button
                    type="button"
                    class="button is-icon"
                    aria-label=t::CLOSE.get()
                    on:click=move |_| {
                        if ask() {
                            open.set(false);
                        }
                    }
                >
                    {icon(Icon::Close)}
                </button>
            </header>
            <Show when=move || open.get()>
                {
                    unsaved.set_value(Some(Unsaved::of_dialog(outer)));
                    children.with_value(|children| children())
                }
            </Show>
        </dialog>
    }
}

/// Moves the focus to the first field of a dialog; without one, to its first answer.
fn focus_first(dialog: &web_sys::HtmlDialogElement) {
    let field = [".modal-body :is(input, textarea, select)", ".modal-foot button"];
    let found = field.iter().find_map(|selector| dialog.query_selector(selector).ok().flatten());
    if let Some(element) = found.and_then(|element| element.dyn_into::<web_sys::HtmlElement>().ok()) {
        _ = element.focus();
    }
}
