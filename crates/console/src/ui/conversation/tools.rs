//! The parts of the composer around its field: the kind of the text, and the buttons.

use leptos::prelude::*;

use super::editor::Editor;
use super::emoji::EmojiMenu;
use crate::state::DraftKind;
use crate::text::composer;
use crate::ui::controls::{Icon, icon};

/// Chooses between a reply and a note.
#[component]
pub fn Kinds(editor: Editor) -> impl IntoView {
    view! {
        <div class="kinds" role="radiogroup" aria-label=composer::KINDS.get()>
            {kind_choice(editor, DraftKind::Reply, composer::REPLY.get(), Icon::Send)}
            {kind_choice(editor, DraftKind::Note, composer::NOTE.get(), Icon::Note)}
            <span class="kind-hint">
                {move || editor.is_note().then(|| composer::NOTE_HINT.get())}
            </span>
        </div>
    }
}

/// The buttons below the field.
#[component]
pub fn Tools(editor: Editor) -> impl IntoView {
    let Editor { shows_preview, is_empty, too_long, .. } = editor;
    view! {
        <div class="composer-tools">
            <button
                type="button"
                class="quiet square"
                aria-label=composer::CANNED.get()
                title=composer::CANNED.get()
                on:mousedown=move |event| event.prevent_default()
                on:click=move |_| editor.open_canned()
            >
                {icon(Icon::Bolt)}
            </button>
            <EmojiMenu on_choose=move |emoji: &'static str| editor.insert(None, emoji) />
            <button
                type="button"
                class="quiet square"
                aria-label=composer::PREVIEW.get()
                title=composer::PREVIEW.get()
                aria-pressed=move || shows_preview.get().to_string()
                on:click=move |_| shows_preview.update(|shows| *shows = !*shows)
            >
                {icon(Icon::Eye)}
            </button>
            <span class="composer-hint" id="composer-hint">
                {move || match too_long.get() {
                    Some(over) => view! {
                        <span class="problem" role="alert">
                            {composer::TOO_LONG.count(i64::try_from(over).unwrap_or(i64::MAX))}
                        </span>
                    }.into_any(),
                    None => composer::HINT.get().into_any(),
                }}
            </span>
            <Show when=move || !editor.is_note()>
                <button
                    type="button"
                    class="quiet send-close"
                    aria-disabled=move || is_empty.get().to_string()
                    on:click=move |_| editor.send(true)
                >
                    {composer::SEND_AND_CLOSE.get()}
                </button>
            </Show>
            <button type="submit" class="loud send" aria-disabled=move || is_empty.get().to_string()>
                {move || if editor.is_note() { composer::ADD_NOTE.get() } else { composer::SEND.get() }}
            </button>
        </div>
    }
}

fn kind_choice(editor: Editor, choice: DraftKind, name: &'static str, symbol: Icon) -> impl IntoView {
    let is_chosen = move || editor.is_note() == (choice == DraftKind::Note);
    view! {
        <label class="kind" data-kind=if choice == DraftKind::Note { "note" } else { "reply" }>
            <input
                type="radio"
                name="kind"
                class="for-readers"
                prop:checked=is_chosen
                on:change=move |_| editor.choose(choice)
            />
            {icon(symbol)}
            {name}
        </label>
    }
}
