//! The labels of the conversation.

use chat_protocol::admin::{ConversationSummary, Label};
use leptos::prelude::*;

use crate::state::{DirectoryStoreFields, app};
use crate::text::visitor;
use crate::ui::controls::{Icon, icon};

/// The section of labels.
#[component]
pub(super) fn Labels(summary: Memo<ConversationSummary>) -> impl IntoView {
    let app = app();
    let chosen = Memo::new(move |_| summary.read().labels.clone());
    let toggle = move |label: &str| {
        app.conversations.toggle_label(&summary.with_untracked(|summary| summary.id.clone()), label);
    };
    let chip = move |label: Label| {
        let id = label.id.clone();
        view! {
            <li class="label" data-color=label.color.clone()>
                <span dir="auto">{label.name.clone()}</span>
                <button
                    type="button"
                    aria-label=visitor::REMOVE_LABEL.with(&[("name", &label.name)])
                    on:click=move |_| toggle(&id)
                >
                    {icon(Icon::Close)}
                </button>
            </li>
        }
    };
    let choice = move |label: Label| {
        let id = label.id.clone();
        let is_chosen = {
            let id = id.clone();
            move || chosen.read().contains(&id)
        };
        view! {
            <li>
                <label class="choice">
                    <input type="checkbox" prop:checked=is_chosen on:change=move |_| toggle(&id)/>
                    <span class="label-dot" data-color=label.color.clone()></span>
                    <span dir="auto">{label.name}</span>
                </label>
            </li>
        }
    };
    let known = move || {
        let chosen = chosen.read();
        app.directory
            .labels()
            .get()
            .into_iter()
            .filter(|label| chosen.contains(&label.id))
            .map(chip)
            .collect_view()
    };
    let all = move || app.directory.labels().get().into_iter().map(choice).collect_view();
    let has_none = move || app.directory.labels().read().is_empty();
    view! {
        <section class="visitor-section" aria-labelledby="visitor-labels">
            <header><h3 id="visitor-labels">{visitor::LABELS.get()}</h3></header>
            <ul class="labels">{known}</ul>
            <details class="choose-labels">
                <summary>{visitor::ADD_LABEL.get()}</summary>
                <p class="hint" hidden=move || !has_none()>{visitor::NO_LABELS.get()}</p>
                <ul>{all}</ul>
            </details>
        </section>
    }
}
