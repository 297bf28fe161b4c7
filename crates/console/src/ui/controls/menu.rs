//! Menus: a button that opens a list of actions. Arrow keys move, Escape closes and returns the focus.

use leptos::context::Provider;
use leptos::ev::{FocusEvent, KeyboardEvent};
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{HtmlElement, Node};

use super::Rendered;

/// A button with a menu below it.
#[component]
pub fn Menu(
    /// The accessible name of the button.
    #[prop(into)]
    label: Signal<String>,
    /// What the button shows.
    button: ViewFn,
    /// The classes of the button.
    #[prop(default = "quiet square")]
    class: &'static str,
    /// The name by which the keyboard's shortcuts find the button.
    #[prop(optional)]
    action: Option<&'static str>,
    /// The items, created when the menu opens.
    children: ChildrenFn,
) -> impl IntoView {
    let is_open = RwSignal::new(false);
    let items = StoredValue::new(children);
    let root = NodeRef::<html::Div>::new();
    let opener = NodeRef::<html::Button>::new();
    let panel = NodeRef::<html::Div>::new();
    Effect::new(move |_| {
        if let Some(panel) = panel.get() {
            focus_item(&panel, 0);
        }
    });
    let close = move || {
        is_open.set(false);
        if let Some(opener) = opener.rendered() {
            _ = opener.focus();
        }
    };
    let on_keydown = move |event: KeyboardEvent| {
        let Some(panel) = panel.rendered() else { return };
        let step = match event.key().as_str() {
            "Escape" => {
                event.stop_propagation();
                close();
                return;
            }
            "ArrowDown" => 1,
            "ArrowUp" => -1,
            "Home" => return focus_first(&event, &panel),
            "End" => {
                event.prevent_default();
                return focus_item(&panel, -1);
            }
            _ => return,
        };
        event.prevent_default();
        focus_item(&panel, focused_item(&panel).map_or(0, |place| place + step));
    };
    let on_focusout = move |event: FocusEvent| {
        let next = event.related_target().and_then(|next| next.dyn_into::<Node>().ok());
        let stays = root.rendered().is_some_and(|root| root.contains(next.as_ref()));
        if next.is_some() && !stays {
            is_open.set(false);
        }
    };
    view! {
        <div class="menu" node_ref=root on:keydown=on_keydown on:focusout=on_focusout>
            <button
                type="button"
                class=class
                node_ref=opener
                data-action=action
                aria-haspopup="menu"
                aria-expanded=move || is_open.get().to_string()
                aria-label=label
                title=label
                on:click=move |_| is_open.update(|open| *open = !*open)
            >
                {move || button.run()}
            </button>
            <Show when=move || is_open.get()>
                <div class="menu-backdrop" on:click=move |_| is_open.set(false)></div>
                <div class="menu-panel" role="menu" aria-label=label node_ref=panel>
                    // Siblings share their context: each menu provides its own to its items alone.
                    <Provider value=CloseMenu(is_open)>{items.with_value(|items| items())}</Provider>
                </div>
            </Show>
        </div>
    }
}

/// Closes the menu around an item.
#[derive(Clone, Copy)]
struct CloseMenu(RwSignal<bool>);

/// An item of a menu.
#[component]
pub fn MenuItem(
    /// Called when the item is chosen.
    #[prop(into)]
    on_choose: Callback<()>,
    /// Whether the item is switched on; `None` for an item that is no switch.
    #[prop(optional, into)]
    checked: Option<Signal<bool>>,
    /// Whether the menu stays open.
    #[prop(optional)]
    stays_open: bool,
    /// Whether the item is dangerous.
    #[prop(optional)]
    danger: bool,
    children: Children,
) -> impl IntoView {
    let menu = use_context::<CloseMenu>();
    view! {
        <button
            type="button"
            class="menu-item"
            class:danger=danger
            tabindex="-1"
            role=if checked.is_some() { "menuitemcheckbox" } else { "menuitem" }
            aria-checked=move || checked.map(|checked| checked.get().to_string())
            on:click=move |_| {
                if let Some(CloseMenu(is_open)) = menu
                    && !stays_open
                {
                    is_open.set(false);
                }
                on_choose.run(());
            }
        >
            {children()}
        </button>
    }
}

fn items(panel: &HtmlElement) -> Vec<HtmlElement> {
    let Ok(found) = panel.query_selector_all("[role^=menuitem]") else { return Vec::new() };
    (0..found.length()).filter_map(|index| found.item(index)?.dyn_into().ok()).collect()
}

fn focused_item(panel: &HtmlElement) -> Option<i32> {
    let focused = panel.owner_document()?.active_element()?;
    let place = items(panel).iter().position(|item| **item == focused)?;
    i32::try_from(place).ok()
}

/// Moves the focus to an item, round the ends of the menu.
fn focus_item(panel: &HtmlElement, place: i32) {
    let items = items(panel);
    let Ok(count) = i32::try_from(items.len()) else { return };
    if count == 0 {
        return;
    }
    let place = usize::try_from(place.rem_euclid(count)).unwrap_or_default();
    if let Some(item) = items.get(place) {
        _ = item.focus();
    }
}

fn focus_first(event: &KeyboardEvent, panel: &HtmlElement) {
    event.prevent_default();
    focus_item(panel, 0);
}
