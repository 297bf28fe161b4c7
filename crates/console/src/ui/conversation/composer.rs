//! The composer: a reply to the visitor, or a note for colleagues. What is typed is a draft until it is sent.

use leptos::prelude::*;

use super::canned::CannedList;
use super::editor::Editor;
use super::tools::{Kinds, Tools};
use super::typing::TypingWarning;
use crate::markdown::{Kind, RichText};
use crate::text::composer;

/// The composer of a conversation.
#[component]
pub fn Composer(id: String) -> impl IntoView {
    let editor = Editor::new(id);
    let Editor { shows_preview, draft, slash, list, .. } = editor;
    let label =
        move || if editor.is_note() { composer::NOTE_LABEL.get() } else { composer::REPLY_LABEL.get() };
    view! {
        <form
            class="composer"
            class:noting=move || editor.is_note()
            aria-label=composer::COMPOSER.get()
            on:submit=move |event| {
                event.prevent_default();
                editor.send(false);
            }
        >
            <TypingWarning id=editor.id.get_value() />
            <div class="composer-box">
                <Kinds editor />
                <textarea
                    id="composer-text"
                    rows="2"
                    dir="auto"
                    aria-label=label
                    placeholder=label
                    aria-describedby="composer-hint"
                    aria-controls=move || slash.read().is_some().then_some("canned")
                    class:hidden=shows_preview
                    node_ref=editor.field
                    on:input=move |_| editor.on_input()
                    on:keydown=move |event| editor.on_keydown(&event)
                    on:blur=move |_| slash.set(None)
                ></textarea>
                <Show when=move || shows_preview.get()>
                    <div class="preview" role="region" aria-label=composer::PREVIEW.get() tabindex="0">
                        <RichText text=draft kind=Kind::Rich />
                    </div>
                </Show>
                <CannedList
                    id=editor.id.get_value()
                    slash
                    list
                    on_choose=move |(from, text): (usize, String)| editor.insert(Some(from), &text)
                />
                <Tools editor />
            </div>
        </form>
    }
}
