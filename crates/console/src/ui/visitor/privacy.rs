//! Exports and erases what is stored about a visitor. For admins.

use chat_protocol::admin::{ConversationSummary, Erasure};
use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api::{self, ApiError};
use crate::location::{Page, encode};
use crate::state::app;
use crate::text::{Text, visitor};
use crate::ui::controls::{Dialog, Icon, icon};

/// The data that is exported or erased.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Subject {
    /// Everything of a visitor whom the site has proved.
    Visitor { site: String, id: String },
    /// The conversation alone. Its page may claim another visitor's id and address.
    Conversation { site: String, id: String },
}

impl Subject {
    fn of(summary: &ConversationSummary) -> Self {
        let site = summary.site_id.clone();
        match &summary.visitor.visitor_id {
            Some(id) if summary.visitor.is_verified() => Self::Visitor { site, id: id.clone() },
            _ => Self::Conversation { site, id: summary.id.clone() },
        }
    }

    fn path(&self) -> String {
        match self {
            Self::Visitor { site, id } => format!("sites/{}/visitors/{}", encode(site), encode(id)),
            Self::Conversation { site, id } => format!("sites/{}/conversations/{}", encode(site), encode(id)),
        }
    }

    /// Returns the address of the exported file.
    fn export(&self) -> String {
        format!("{}{}/export", api::BASE, self.path())
    }

    async fn erase(&self) -> Result<Erasure, ApiError> {
        api::delete(&self.path()).await
    }

    /// Returns the question before erasing, its explanation, and the notice afterwards.
    fn texts(&self) -> [Text; 3] {
        match self {
            Self::Visitor { .. } => [visitor::ERASE_TITLE, visitor::ERASE_TEXT, visitor::ERASED],
            Self::Conversation { .. } => [
                visitor::ERASE_CONVERSATION_TITLE,
                visitor::ERASE_CONVERSATION_TEXT,
                visitor::CONVERSATION_ERASED,
            ],
        }
    }
}

/// The section of personal data.
#[component]
pub(super) fn Privacy(summary: Memo<ConversationSummary>) -> impl IntoView {
    let subject = Memo::new(move |_| Subject::of(&summary.read()));
    let is_asking = RwSignal::new(false);
    let ask = move || {
        is_asking.get().then(|| {
            view! { <Ask subject=subject.get_untracked() on_close=move |()| is_asking.set(false)/> }
        })
    };
    view! {
        <section class="visitor-section" aria-labelledby="visitor-privacy">
            <header><h3 id="visitor-privacy">{visitor::PRIVACY.get()}</h3></header>
            <div class="privacy">
                <a class="quiet outlined" href=move || subject.read().export() download="visitor.json">
                    {icon(Icon::Download)}{visitor::EXPORT.get()}
                </a>
                <button type="button" class="quiet outlined danger" on:click=move |_| is_asking.set(true)>
                    {icon(Icon::Trash)}{visitor::ERASE.get()}
                </button>
            </div>
            {ask}
        </section>
    }
}

/// Asks for the word that confirms it.
#[component]
fn Ask(subject: Subject, #[prop(into)] on_close: Callback<()>) -> impl IntoView {
    let app = app();
    let typed = RwSignal::new(String::new());
    let is_erasing = RwSignal::new(false);
    let word = visitor::ERASE_WORD.get();
    let [title, text, erased] = subject.texts();
    let is_confirmed = Memo::new(move |_| is_word(&typed.read(), word));
    let erase = move |event: SubmitEvent| {
        event.prevent_default();
        if !is_confirmed.get_untracked() || is_erasing.get_untracked() {
            return;
        }
        is_erasing.set(true);
        let subject = subject.clone();
        spawn_local(async move {
            app.conversations.set_erasing(true);
            let outcome = subject.erase().await;
            app.conversations.set_erasing(false);
            match outcome {
                Ok(_) => {
                    app.notices.done(erased.get());
                    app.router.open(Page::default());
                }
                Err(error) => {
                    app.notices.problem(visitor::ERASE_FAILED.with(&[("reason", &error.message)]));
                }
            }
            // The stream may have told of the erasure first, which closes the panel.
            _ = on_close.try_run(());
        });
    };
    view! {
        <Dialog title=title.get() on_close>
            <form on:submit=erase>
                <p>{text.get()}</p>
                <label class="stacked-field">
                    <span>{visitor::ERASE_CONFIRM.with(&[("word", word)])}</span>
                    <input type="text" autocomplete="off" autocapitalize="none" spellcheck="false" bind:value=typed/>
                </label>
                <footer class="dialog-foot">
                    <button type="button" class="quiet" on:click=move |_| on_close.run(())>{visitor::CANCEL.get()}</button>
                    <button type="submit" class="loud danger" disabled=move || !is_confirmed.get() || is_erasing.get()>
                        {visitor::ERASE.get()}
                    </button>
                </footer>
            </form>
        </Dialog>
    }
}

fn is_word(typed: &str, word: &str) -> bool {
    typed.trim().to_lowercase() == word.to_lowercase()
}

#[cfg(test)]
mod tests {
    use chat_protocol::admin::Visitor;

    use super::*;

    fn summary(visitor_id: Option<&str>, verified_fields: &[&str]) -> ConversationSummary {
        let verified_fields = verified_fields.iter().map(|&name| name.to_owned()).collect();
        let visitor =
            Visitor { visitor_id: visitor_id.map(str::to_owned), verified_fields, ..Visitor::default() };
        let id = "conv/1".to_owned();
        ConversationSummary { id, site_id: "s/1".to_owned(), visitor, ..ConversationSummary::default() }
    }

    #[test]
    fn only_a_verified_visitor_has_more_exported_and_erased_than_the_conversation() {
        let verified = Subject::of(&summary(Some("verified:1"), &["visitorId", "email"]));
        assert_eq!(verified.export(), "/api/admin/v1/sites/s%2F1/visitors/verified%3A1/export");
        for claimed in
            [summary(Some("v1"), &[]), summary(Some("v1"), &["email"]), summary(None, &["visitorId"])]
        {
            let subject = Subject::of(&claimed);
            assert_eq!(subject.export(), "/api/admin/v1/sites/s%2F1/conversations/conv%2F1/export");
        }
    }

    #[test]
    fn the_word_must_be_typed_in_full() {
        assert!(is_word(" Erase ", "erase"));
        for typed in ["", "eras", "erase it"] {
            assert!(!is_word(typed, "erase"), "{typed}");
        }
    }
}
