//! The form that writes an article.

use chat_protocol::admin::publishing::NewArticle;
use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::Part;
use crate::api::publishing as requests;
use crate::state::app;
use crate::text::publishing;
use crate::ui::forms::filled;

/// The form. A saved article is a draft in the list.
#[component]
pub(super) fn ArticleForm(site: String) -> impl IntoView {
    let app = app();
    let [title, path, locale, content] = std::array::from_fn(|_| RwSignal::new(String::new()));
    let problem = RwSignal::new(None::<String>);
    let is_saving = RwSignal::new(false);
    let back = Part::Reviews.page(&site).href();
    let save = move |event: SubmitEvent| {
        event.prevent_default();
        let [title, path, content] =
            [title, path, content].map(|field| field.get_untracked().trim().to_owned());
        let article = NewArticle { title, path, locale: filled(&locale.get_untracked()), content };
        is_saving.set(true);
        problem.set(None);
        let site = site.clone();
        spawn_local(async move {
            match requests::write_article(&site, &article).await {
                Ok(id) => app.router.open(Part::Review(id).page(&site)),
                Err(error) => {
                    _ = problem.try_set(Some(error.message));
                    _ = is_saving.try_set(false);
                }
            }
        });
    };
    view! {
        <form class="card article-form" aria-label=publishing::WRITE.get() on:submit=save>
            <h2>{publishing::WRITE.get()}</h2>
            <label class="stacked-field">
                <span>{publishing::ARTICLE_TITLE.get()}</span>
                <input type="text" required maxlength="200" dir="auto" bind:value=title />
            </label>
            <label class="stacked-field">
                <span>{publishing::ARTICLE_PATH.get()}</span>
                <input type="text" required pattern="/.*" dir="ltr" spellcheck="false" bind:value=path />
                <small class="hint">{publishing::ARTICLE_PATH_HINT.get()}</small>
            </label>
            <label class="stacked-field">
                <span>{publishing::ARTICLE_LANGUAGE.get()}</span>
                <input type="text" maxlength="35" dir="ltr" spellcheck="false" bind:value=locale />
                <small class="hint">{publishing::ARTICLE_LANGUAGE_HINT.get()}</small>
            </label>
            <label class="stacked-field">
                <span>{publishing::ARTICLE_TEXT.get()}</span>
                <textarea required rows="14" dir="auto" bind:value=content></textarea>
            </label>
            {move || problem.get().map(|text| view! { <p class="problem" role="alert">{text}</p> })}
            <footer class="dialog-foot">
                <a class="quiet" href=back>{publishing::ARTICLE_CANCEL.get()}</a>
                <button type="submit" class="loud" disabled=is_saving>{publishing::ARTICLE_SAVE.get()}</button>
            </footer>
        </form>
    }
}
