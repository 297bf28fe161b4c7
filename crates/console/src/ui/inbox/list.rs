//! The list of conversations. Only the rows in view are elements; further pages are loaded by scrolling.

use chat_protocol::admin::ConversationView;
use leptos::html;
use leptos::prelude::*;

use super::first_steps::FirstSteps;
use super::row::Row;
use crate::location::{InboxQuery, Page};
use crate::state::{app, visible_rows};
use crate::text::{inbox, shell};
use crate::ui::controls::Rendered;

/// The height of a row, in pixels, as in `inbox.css`.
const ROW: f64 = 88.0;
/// Rows before the end at which the next page is loaded.
const AHEAD: usize = 15;
/// Pixels that the list may be scrolled and still shows new rows at once.
const TOP: f64 = 8.0;

/// The list, with the open conversation marked.
#[component]
pub fn ConversationList(
    #[prop(into)] query: Signal<InboxQuery>,
    #[prop(into)] open: Signal<Option<String>>,
) -> impl IntoView {
    let conversations = app().conversations;
    let list = conversations.list();
    let viewport = NodeRef::<html::Div>::new();
    let scrolled = RwSignal::new(0.0_f64);
    let height = RwSignal::new(800.0_f64);
    let is_pointed = StoredValue::new(false);
    let ids = Memo::new(move |_| list.read().ids.clone());
    let range = Memo::new(move |_| visible_rows(scrolled.get(), height.get(), ROW, ids.read().len()));
    let rows = Memo::new(move |_| {
        let (first, end) = range.get();
        ids.read().get(first..end).unwrap_or_default().to_vec()
    });
    let hold = move || conversations.hold(is_pointed.get_value() || scrolled.get_untracked() > TOP);
    let on_scroll = move |_| {
        let Some(element) = viewport.rendered() else { return };
        scrolled.set(f64::from(element.scroll_top()));
        height.set(f64::from(element.client_height()));
        hold();
    };
    Effect::new(move |_| {
        if let Some(element) = viewport.get() {
            height.set(f64::from(element.client_height()));
        }
    });
    // Another list begins at its top.
    Effect::new(move |_| {
        query.track();
        if let Some(element) = viewport.rendered() {
            element.set_scroll_top(0);
        }
    });
    Effect::new(move |_| {
        if range.get().1 + AHEAD >= ids.read().len() {
            conversations.load_more();
        }
    });
    // The open conversation comes into view, also when the keyboard has opened it.
    Effect::new(move |_| {
        let Some(id) = open.get() else { return };
        let place = ids.with_untracked(|ids| ids.iter().position(|known| *known == id));
        if let Some((place, element)) = place.zip(viewport.rendered()) {
            reveal(&element, place);
        }
    });
    let waiting = Memo::new(move |_| list.read().waiting());
    let href = move |id: &str| Page::Inbox { conversation: Some(id.to_owned()), query: query.get() }.href();
    let total = move || ids.read().len();
    view! {
        <Show when=move || { waiting.get() > 0 }>
            <button type="button" class="new-rows" on:click=move |_| {
                if let Some(element) = viewport.rendered() {
                    element.set_scroll_top(0);
                }
                conversations.release();
            }>
                {move || inbox::NEW_ROWS.count(i64::try_from(waiting.get()).unwrap_or(i64::MAX))}
            </button>
        </Show>
        <div
            class="list-scroller"
            id="conversations"
            tabindex="-1"
            node_ref=viewport
            on:scroll=on_scroll
            on:pointerenter=move |event| {
                is_pointed.set_value(event.pointer_type() == "mouse");
                hold();
            }
            on:pointerleave=move |_| {
                is_pointed.set_value(false);
                hold();
            }
        >
            <ul
                class="inbox-rows"
                aria-busy=move || conversations.is_loading().get().to_string()
                style:height=move || px(total())
                style:padding-block-start=move || px(range.get().0)
            >
                <ForEnumerate each=move || rows.get() key=String::clone let(index, id)>
                    {
                        let href_of = id.clone();
                        let current = id.clone();
                        let is_open = Memo::new(move |_| open.read().as_ref() == Some(&current));
                        view! {
                            <li
                                aria-posinset=move || (range.get().0 + index.get() + 1).to_string()
                                aria-setsize=move || total().to_string()
                            >
                                <Row id href=Signal::derive(move || href(&href_of)) is_open />
                            </li>
                        }
                    }
                </ForEnumerate>
            </ul>
            <Empty query />
        </div>
    }
}

/// The message in place of rows.
#[component]
fn Empty(query: Signal<InboxQuery>) -> impl IntoView {
    let conversations = app().conversations;
    let list = conversations.list();
    let state = Memo::new(move |_| {
        let list = list.read();
        (list.is_loaded, list.ids.is_empty())
    });
    move || {
        if let Some(problem) = conversations.problem().get() {
            return view! {
                <div class="empty" role="alert">
                    <p>{problem}</p>
                    <button type="button" class="quiet" on:click=move |_| conversations.reload_list()>
                        {shell::TRY_AGAIN.get()}
                    </button>
                </div>
            }
            .into_any();
        }
        match state.get() {
            (true, true) => {
                let text = match query.read().view {
                    _ if query.read().is_filtered() => inbox::NO_HITS,
                    ConversationView::Waiting => inbox::NOBODY_WAITS,
                    ConversationView::Snoozed | ConversationView::Closed => inbox::NOTHING_HERE,
                    _ => return view! { <FirstSteps /> }.into_any(),
                };
                view! { <p class="empty">{text.get()}</p> }.into_any()
            }
            (false, _) => view! {
                <ul class="skeletons" aria-hidden="true">
                    {(0..8).map(|_| view! { <li class="skeleton">{html::span()}{html::span()}</li> }).collect_view()}
                </ul>
            }
            .into_any(),
            _ => ().into_any(),
        }
    }
}

fn px(rows: usize) -> String {
    #[expect(clippy::cast_precision_loss, reason = "rows are few")]
    let height = rows as f64 * ROW;
    format!("{height}px")
}

/// Scrolls a row into view, as little as possible.
fn reveal(viewport: &web_sys::HtmlDivElement, place: usize) {
    #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "pixels of a list")]
    let (top, row) = ((place as f64 * ROW) as i32, ROW as i32);
    let (scrolled, height) = (viewport.scroll_top(), viewport.client_height());
    if top < scrolled {
        viewport.set_scroll_top(top);
    } else if top + row > scrolled + height && height > 0 {
        viewport.set_scroll_top(top + row - height);
    }
}
