//! Exports and erases what is stored about a visitor. For admins.

use chat_protocol::admin::{ConversationSummary, EmailAddress, Erasure};
use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api::{self, ApiError};
use crate::location::{Page, encode};
use crate::state::app;
use crate::text::visitor;
use crate::ui::controls::{Dialog, Icon, icon};

/// How the service finds what is stored about a visitor.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Subject {
    /// By the number that the visitor's browser has.
    Visitor { site: String, id: String },
    /// By the e-mail address, for a conversation without such a number.
    Email { site: String, address: String },
}

impl Subject {
    fn of(summary: &ConversationSummary) -> Option<Self> {
        let (site, person) = (summary.site_id.clone(), &summary.visitor);
        match (&person.visitor_id, &person.email) {
            (Some(id), _) => Some(Self::Visitor { site, id: id.clone() }),
            (None, Some(address)) => Some(Self::Email { site, address: address.clone() }),
            (None, None) => None,
        }
    }

    /// Returns the address of the exported file. By e-mail, it is not a plain address.
    fn export(&self) -> Option<String> {
        let Self::Visitor { site, id } = self else { return None };
        Some(format!("{}sites/{}/visitors/{}/export", api::BASE, encode(site), encode(id)))
    }

    async fn erase(&self) -> Result<Erasure, ApiError> {
        match self {
            Self::Visitor { site, id } => {
                api::delete(&format!("sites/{}/visitors/{}", encode(site), encode(id))).await
            }
            Self::Email { site, address } => {
                let path = format!("sites/{}/privacy/erase", encode(site));
                api::post(&path, &EmailAddress { email: address.clone() }).await
            }
        }
    }
}

/// The section of personal data.
#[component]
pub(super) fn Privacy(summary: Memo<ConversationSummary>) -> impl IntoView {
    let subject = Memo::new(move |_| Subject::of(&summary.read()));
    let is_asking = RwSignal::new(false);
    let ask = move || {
        if !is_asking.get() {
            return None;
        }
        let subject = subject.get_untracked()?;
        Some(view! { <Ask subject on_close=move |()| is_asking.set(false)/> })
    };
    view! {
        <section class="visitor-section" aria-labelledby="visitor-privacy">
            <header><h3 id="visitor-privacy">{visitor::PRIVACY.get()}</h3></header>
            <p class="hint" hidden=move || subject.read().is_some()>{visitor::PRIVACY_NONE.get()}</p>
            <div class="privacy">
                {move || subject.read().as_ref().and_then(Subject::export).map(|href| view! {
                    <a class="quiet outlined" href=href download="visitor.json">
                        {icon(Icon::Download)}{visitor::EXPORT.get()}
                    </a>
                })}
                <button
                    type="button"
                    class="quiet outlined danger"
                    hidden=move || subject.read().is_none()
                    on:click=move |_| is_asking.set(true)
                >
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
    let is_confirmed = Memo::new(move |_| is_word(&typed.read(), word));
    let erase = move |event: SubmitEvent| {
        event.prevent_default();
        if !is_confirmed.get_untracked() || is_erasing.get_untracked() {
            return;
        }
        is_erasing.set(true);
        let subject = subject.clone();
        spawn_local(async move {
            match subject.erase().await {
                Ok(_) => {
                    app.notices.done(visitor::ERASED.get());
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
        <Dialog title=visitor::ERASE_TITLE.get() on_close>
            <form on:submit=erase>
                <p>{visitor::ERASE_TEXT.get()}</p>
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

    fn summary(visitor_id: Option<&str>, email: Option<&str>) -> ConversationSummary {
        let text = |text: Option<&str>| text.map(str::to_owned);
        let visitor = Visitor { visitor_id: text(visitor_id), email: text(email), ..Visitor::default() };
        ConversationSummary { site_id: "s/1".to_owned(), visitor, ..ConversationSummary::default() }
    }

    #[test]
    fn the_number_of_the_browser_comes_before_the_address() {
        let subject = Subject::of(&summary(Some("v1"), Some("a@example.org"))).expect("a subject");
        assert_eq!(subject.export().as_deref(), Some("/api/admin/v1/sites/s%2F1/visitors/v1/export"));
        let subject = Subject::of(&summary(None, Some("a@example.org"))).expect("a subject");
        assert_eq!(subject.export(), None);
        assert_eq!(Subject::of(&summary(None, None)), None);
    }

    #[test]
    fn the_word_must_be_typed_in_full() {
        assert!(is_word(" Erase ", "erase"));
        for typed in ["", "eras", "erase it"] {
            assert!(!is_word(typed, "erase"), "{typed}");
        }
    }
}
