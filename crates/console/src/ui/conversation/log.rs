//! The messages of a conversation. What is being read never moves: new messages wait below, earlier ones are
//! added above without a jump.

use leptos::html;
use leptos::prelude::*;

use super::message::{LogRow, RowView, rows};
use super::pending::Pending;
use crate::state::{app, visitor_name};
use crate::text::{conversation, shell};
use crate::ui::controls::{Icon, Rendered, icon};

/// Pixels from the end within which new messages are followed.
const PINNED: i32 = 48;
/// Pixels from the beginning at which earlier messages are loaded.
const EARLIER: i32 = 400;

/// The log.
#[component]
pub fn Log(id: String) -> impl IntoView {
    let app = app();
    let thread = RwSignal::from(app.conversations.thread(&id));
    let summary = RwSignal::from(app.conversations.summary(&id));
    let scroller = NodeRef::<html::Div>::new();
    let is_pinned = RwSignal::new(true);
    let is_loading = RwSignal::new(false);
    let new_count = RwSignal::new(0_i64);
    let id = StoredValue::new(id);
    let all = Memo::new(move |_| rows(&thread.read().entries()));
    let last = Memo::new(move |_| thread.read().last_sequence().unwrap_or_default());
    // The stream can be faster than the response to a message of this console.
    let pending = Memo::new(move |_| {
        let mut pending = app.outbox.of(&id.get_value());
        pending.retain(|one| !thread.read().has(&one.key));
        pending
    });
    let to_end = move || {
        new_count.set(0);
        request_animation_frame(move || {
            if let Some(element) = scroller.rendered() {
                element.set_scroll_top(element.scroll_height());
            }
        });
    };
    let load_earlier = move || {
        let Some(element) = scroller.rendered() else { return };
        let has_more = thread.with_untracked(|thread| thread.earlier().is_some());
        if is_loading.get_untracked() || !has_more || element.scroll_top() > EARLIER {
            return;
        }
        is_loading.set(true);
        let before = element.scroll_height();
        app.conversations.load_earlier(id.get_value(), move || {
            // The rows are in the page in the next frame, before it is painted.
            request_animation_frame(move || {
                element.set_scroll_top(element.scroll_top() + element.scroll_height() - before);
                is_loading.set(false);
            });
        });
    };
    let on_scroll = move |_| {
        let Some(element) = scroller.rendered() else { return };
        let below = element.scroll_height() - element.scroll_top() - element.client_height();
        is_pinned.set(below <= PINNED);
        if below <= PINNED {
            new_count.set(0);
        }
        load_earlier();
    };
    // New rows are followed at the end; of them, messages are counted elsewhere.
    Effect::new(move |before: Option<i64>| {
        all.track();
        let now = last.get();
        if is_pinned.get_untracked() {
            to_end();
        } else if let Some(before) = before
            && before > 0
        {
            new_count.update(|count| *count += (now - before).max(0));
        }
        now
    });
    Effect::new(move |before: Option<usize>| {
        let now = pending.read().len();
        // What the operator has just written is shown wherever the log was.
        if is_pinned.get_untracked() || before.is_some_and(|before| now > before) {
            to_end();
        }
        now
    });
    // The composer grows, the keyboard of a phone opens: the end stays in view.
    Effect::new(move |_| {
        let Some(element) = scroller.get() else { return };
        let observer = crate::browser::resize::Observer::new(&element, move || {
            if is_pinned.get_untracked() {
                to_end();
            }
        });
        on_cleanup(move || drop(observer));
    });
    let visitor = Memo::new(move |_| visitor_name(&summary.read()));
    let status = Memo::new(move |_| last_own(&all.read(), summary.read().seen_sequence));
    view! {
        <div class="log-frame">
            <div
                class="log"
                role="log"
                aria-label=conversation::MESSAGES.get()
                tabindex="0"
                node_ref=scroller
                on:scroll=on_scroll
            >
                <Beginning id=id.get_value() is_loading />
                <For each=move || all.get() key=LogRow::key let:row>
                    <RowView row status visitor />
                </For>
                <For each=move || pending.get() key=|one| (one.key.clone(), one.state.clone()) let:message>
                    <Pending message />
                </For>
            </div>
            <Show when=move || !is_pinned.get()>
                <ToEnd new_count on_choose=move |()| to_end() />
            </Show>
        </div>
    }
}

/// Goes to the end, and says what is new there.
#[component]
fn ToEnd(new_count: RwSignal<i64>, #[prop(into)] on_choose: Callback<()>) -> impl IntoView {
    view! {
        <button type="button" class="to-end" on:click=move |_| on_choose.run(())>
            {icon(Icon::ArrowDown)}
            {move || match new_count.get() {
                0 => conversation::TO_END.get().to_owned(),
                count => conversation::NEW_MESSAGES.count(count),
            }}
        </button>
    }
}

/// The header above the first message.
#[component]
fn Beginning(id: String, is_loading: RwSignal<bool>) -> impl IntoView {
    let conversations = app().conversations;
    let thread = RwSignal::from(conversations.thread(&id));
    let summary = RwSignal::from(conversations.summary(&id));
    let is_loaded = Memo::new(move |_| thread.read().is_loaded);
    let is_first = Memo::new(move |_| thread.read().earlier().is_none());
    view! {
        {move || is_loading.get().then(|| view! { <p class="log-hint" role="status">{shell::LOADING.get()}</p> })}
        {move || (!is_loaded.get()).then(|| view! {
            <div class="log-skeletons" aria-hidden="true">
                {(0..4).map(|_| html::span().class("skeleton-bubble")).collect_view()}
            </div>
        })}
        {move || is_first.get().then(|| {
            summary.read().source_page.clone().map(|page| view! {
                <p class="log-hint">{conversation::BEGAN_ON.get()}" "<bdi>{page}</bdi></p>
            })
        })}
    }
}

/// Returns the sequence of the newest message of ours, and whether the visitor has seen it.
fn last_own(rows: &[LogRow], seen_sequence: i64) -> Option<(i64, bool)> {
    let sequences = rows.iter().rev().filter_map(LogRow::own_sequence);
    sequences.max().map(|sequence| (sequence, sequence <= seen_sequence))
}
