//! The form that writes an article.

use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use leptos::task::spawn_local;
use serde_json::{Map, Value};

use super::Part;
use crate::api::publishing as requests;
use crate::state::app;
use crate::text::publishing;

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
        let fields = [("title", title), ("path", path), ("locale", locale), ("content", content)];
        let article = article(fields.map(|(name, field)| (name, field.get_untracked())));
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

/// Returns the article to send. An empty language is left out.
fn article(fields: [(&str, String); 4]) -> Map<String, Value> {
    let filled = fields.into_iter().map(|(name, value)| (name, value.trim().to_owned()));
    let filled = filled.filter(|(name, value)| *name != "locale" || !value.is_empty());
    filled.map(|(name, value)| (name.to_owned(), value.into())).collect()
}

#[cfg(test)]
mod tests {
    use super::article;

    #[test]
    fn an_article_for_all_languages_names_none() {
        let fields = |locale: &str| {
            [
                ("title", " News ".to_owned()),
                ("path", "/n".to_owned()),
                ("locale", locale.to_owned()),
                ("content", "x".to_owned()),
            ]
        };
        assert_eq!(article(fields(" ")).get("locale"), None);
        assert_eq!(article(fields("de")).get("locale").and_then(|locale| locale.as_str()), Some("de"));
        assert_eq!(article(fields("")).get("title").and_then(|title| title.as_str()), Some("News"));
    }
}
