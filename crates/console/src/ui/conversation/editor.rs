//! The text that is being written: its field, its draft, and sending it.

use leptos::ev::KeyboardEvent;
use leptos::html;
use leptos::prelude::*;
use web_sys::HtmlTextAreaElement;

use super::canned::{self, Slash};
use super::typing::Typing;
use crate::browser;
use crate::location::Page;
use crate::state::{DraftKind, UNDO_TIMEOUT, app};
use crate::text::conversation;
use crate::ui::controls::Rendered;

/// Maximum length of a text, in characters.
const MAX_LENGTH: usize = 16_000;
/// The height at which the field begins to scroll, in pixels.
const MAX_HEIGHT: i32 = 240;

/// The editor of a conversation. Copies are the same one.
#[derive(Clone, Copy)]
pub struct Editor {
    /// The conversation's id.
    pub id: StoredValue<String>,
    /// The field.
    pub field: NodeRef<html::Textarea>,
    /// The list of canned replies, while it is open.
    pub list: NodeRef<html::Ul>,
    /// The shortcut being typed after a `/`.
    pub slash: RwSignal<Option<Slash>>,
    /// Whether the preview is shown in place of the field.
    pub shows_preview: RwSignal<bool>,
    /// The draft of the conversation and the chosen kind.
    pub draft: Memo<String>,
    /// Whether there is nothing to send.
    pub is_empty: Memo<bool>,
    /// The number of characters above the maximum.
    pub too_long: Memo<Option<usize>>,
    kind: Memo<DraftKind>,
    typing: Typing,
    is_touch: bool,
}

impl Editor {
    /// Creates the editor of a conversation.
    pub fn new(id: String) -> Self {
        let drafts = app().drafts;
        drafts.end_empty_note(&id);
        let kind = drafts.kind(&id);
        let id = StoredValue::new(id);
        let draft = Memo::new(move |_| drafts.get(&id.get_value(), kind.get()));
        let editor = Self {
            id,
            field: NodeRef::new(),
            list: NodeRef::new(),
            slash: RwSignal::new(None),
            shows_preview: RwSignal::new(false),
            draft,
            is_empty: Memo::new(move |_| draft.read().trim().is_empty()),
            too_long: Memo::new(move |_| {
                draft.read().chars().count().checked_sub(MAX_LENGTH).filter(|over| *over > 0)
            }),
            kind,
            typing: Typing::new(id),
            is_touch: browser::matches_media("(pointer: coarse)"),
        };
        // The field shows the draft of this conversation and kind, also after an undo.
        Effect::new(move |_| {
            let text = draft.get();
            if let Some(field) = editor.field.get() {
                if field.value() != text {
                    field.set_value(&text);
                }
                fit(&field);
            }
        });
        // The list marks the chosen reply on the field.
        Effect::new(move |_| {
            if editor.slash.read().is_none()
                && let Some(field) = editor.field.rendered()
            {
                _ = field.remove_attribute("aria-activedescendant");
            }
        });
        editor
    }

    /// Returns whether a note is written.
    pub fn is_note(self) -> bool {
        self.kind.get() == DraftKind::Note
    }

    /// Chooses between a reply and a note.
    pub fn choose(self, kind: DraftKind) {
        app().drafts.choose(&self.id.get_value(), kind);
        self.typing.tell(kind == DraftKind::Note, true);
        browser::focus("composer-text");
    }

    fn write(self, text: &str) {
        let kind = self.kind.get_untracked();
        app().drafts.set(&self.id.get_value(), kind, text);
        self.typing.tell(kind == DraftKind::Note, text.trim().is_empty());
    }

    /// Takes what was typed.
    pub fn on_input(self) {
        let Some(field) = self.field.rendered() else { return };
        fit(&field);
        let text = field.value();
        self.slash.set(canned::slash(&text, caret(&field)));
        self.write(&text);
    }

    /// Replaces the text from a place to the caret; `None` is the caret's place.
    pub fn insert(self, from: Option<usize>, text: &str) {
        let Some(field) = self.field.rendered() else { return };
        let to = caret(&field);
        let (value, caret) = canned::splice(&field.value(), from.unwrap_or(to), to, text);
        field.set_value(&value);
        _ = field.focus();
        _ = field.set_selection_range(caret, caret);
        fit(&field);
        self.slash.set(None);
        self.write(&value);
    }

    /// Opens the list of canned replies at the caret.
    pub fn open_canned(self) {
        self.shows_preview.set(false);
        if let Some(field) = self.field.rendered() {
            _ = field.focus();
            self.slash.set(Some(Slash { from: caret(&field), words: String::new() }));
        }
    }

    /// Sends the text, and closes the conversation if it is to.
    pub fn send(self, close: bool) {
        if self.is_empty.get_untracked() || self.too_long.get_untracked().is_some() {
            return;
        }
        let app = app();
        let (id, kind, text) = (self.id.get_value(), self.kind.get_untracked(), self.draft.get_untracked());
        app.drafts.set(&id, kind, "");
        self.shows_preview.set(false);
        self.slash.set(None);
        self.typing.tell(kind == DraftKind::Note, true);
        let close = close && kind == DraftKind::Reply;
        let key = app.outbox.add(&id, kind, text.trim_end().to_owned(), close);
        if close {
            app.conversations.open_next(&id);
            // The message itself, with its own button, is not on the screen any more.
            let (text, label) = (conversation::SENDING_SOON.get(), conversation::UNDO.get());
            app.notices.offer_for(UNDO_TIMEOUT, text, label, move || {
                if let Some(id) = app.outbox.undo(&key) {
                    app.router.open(Page::conversation(&id));
                }
            });
        } else if let Some(field) = self.field.rendered() {
            _ = field.focus();
        }
    }

    /// Handles a key of the field.
    pub fn on_keydown(self, event: &KeyboardEvent) {
        if browser::is_composing(event) {
            return;
        }
        if self.slash.with_untracked(Option::is_some) && canned::on_key(event, self.list, self.slash) {
            return;
        }
        let has_modifier = event.ctrl_key() || event.meta_key();
        match event.key().as_str() {
            // The keyboard of a phone has no Shift + Enter: its Enter starts a line.
            "Enter" if !event.shift_key() && (!self.is_touch || has_modifier) => {
                event.prevent_default();
                self.send(has_modifier && !self.is_touch);
            }
            "Escape" => {
                if let Some(field) = self.field.rendered() {
                    _ = field.blur();
                }
            }
            _ => {}
        }
    }
}

/// Returns the place of the caret, in UTF-16 units.
fn caret(field: &HtmlTextAreaElement) -> usize {
    let place = field.selection_end().ok().flatten();
    place.and_then(|place| usize::try_from(place).ok()).unwrap_or_default()
}

/// Makes the field as high as its text.
fn fit(field: &HtmlTextAreaElement) {
    let style = web_sys::HtmlElement::style(field);
    _ = style.set_property("height", "auto");
    let height = field.scroll_height().min(MAX_HEIGHT);
    if height > 0 {
        _ = style.set_property("height", &format!("{height}px"));
    }
}
