//! Publishing: what the site has synced, what is suggested for it, and what was published.

mod article;
mod checks;
mod content;
mod differences;
mod history;
mod jobs;
mod list;
mod pages;
mod review;
mod rules;

use leptos::prelude::*;

use self::article::ArticleForm;
use self::content::Content;
use self::jobs::Jobs;
use self::list::Reviews;
use self::review::ReviewPage;
use self::rules::Rules;
use crate::location::{Page, Query};
use crate::state::{DirectoryStoreFields, app};
use crate::text::publishing;

/// A part of publishing.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Reviews,
    Review(String),
    Write,
    Content,
    Jobs,
    Rules,
}

impl Part {
    fn of(path: &[String]) -> Self {
        match path.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            ["content"] => Self::Content,
            ["jobs"] => Self::Jobs,
            ["rules", ..] => Self::Rules,
            ["write"] => Self::Write,
            ["reviews", id] => Self::Review((*id).to_owned()),
            _ => Self::Reviews,
        }
    }

    fn path(&self) -> Vec<String> {
        let parts: &[&str] = match self {
            Self::Reviews => &[],
            Self::Review(id) => &["reviews", id],
            Self::Write => &["write"],
            Self::Content => &["content"],
            Self::Jobs => &["jobs"],
            Self::Rules => &["rules"],
        };
        parts.iter().map(|part| (*part).to_owned()).collect()
    }

    /// Returns the page of the part for a site.
    fn page(&self, site: &str) -> Page {
        let mut path = self.path();
        // Rules of another site are another page, which is asked about before unsaved changes are left.
        if *self == Self::Rules {
            path.push(site.to_owned());
        }
        Page::Publishing(path, Query::default().with("site", Some(site)))
    }
}

/// The pages of publishing.
#[component]
pub fn Publishing(
    /// The parts of the path below the section.
    #[prop(into)]
    path: Signal<Vec<String>>,
    /// The query.
    #[prop(into)]
    query: Signal<Query>,
) -> impl IntoView {
    let app = app();
    let part = Memo::new(move |_| Part::of(&path.read()));
    // The site of the address, or the first one.
    let site = Memo::new(move |_| {
        let named = query.read().get("site").map(str::to_owned);
        named.or_else(|| app.directory.sites().read().first().map(|site| site.id.clone()))
    });
    let status = Memo::new(move |_| query.read().get("status").map(str::to_owned));
    view! {
        <div class="page publishing">
            <header class="page-head">
                <h1>{publishing::TITLE.get()}</h1>
                <Show when=move || site.read().is_some()>
                    <SiteChoice part site=Signal::derive(move || site.get().unwrap_or_default()) />
                </Show>
            </header>
            {move || match site.get() {
                None => view! { <p class="hint">{publishing::NO_SITES.get()}</p> }.into_any(),
                Some(site) => view! {
                    <Tabs part site=site.clone() />
                    {move || {
                        let site = site.clone();
                        match part.get() {
                            Part::Reviews => view! { <Reviews site status /> }.into_any(),
                            Part::Review(id) => view! { <ReviewPage site id /> }.into_any(),
                            Part::Write => view! { <ArticleForm site /> }.into_any(),
                            Part::Content => view! { <Content site /> }.into_any(),
                            Part::Jobs => view! { <Jobs site /> }.into_any(),
                            Part::Rules => view! { <Rules site /> }.into_any(),
                        }
                    }}
                }.into_any(),
            }}
        </div>
    }
}

#[component]
fn SiteChoice(part: Memo<Part>, site: Signal<String>) -> impl IntoView {
    let app = app();
    let choose = move |id: String| {
        // An entry of the list belongs to one site.
        let part = match part.get_untracked() {
            Part::Review(_) => Part::Reviews,
            part => part,
        };
        app.router.open(part.page(&id));
    };
    let choose = move |select: web_sys::HtmlSelectElement| {
        choose(select.value());
        // The operator may have stayed, because of unsaved changes.
        select.set_value(&site.get_untracked());
    };
    let options = move || {
        let sites = app.directory.sites().get();
        sites
            .into_iter()
            .map(|known| {
                let id = known.id.clone();
                view! { <option value=known.id selected=move || *site.read() == id>{known.name}</option> }
            })
            .collect_view()
    };
    view! {
        <label class="field-inline" hidden=move || app.directory.sites().read().len() < 2>
            <span>{publishing::SITE.get()}</span>
            <select on:change:target=move |event| choose(event.target())>{options}</select>
        </label>
    }
}

#[component]
fn Tabs(part: Memo<Part>, site: String) -> impl IntoView {
    let tabs = [
        (Part::Reviews, publishing::REVIEW),
        (Part::Content, publishing::CONTENT),
        (Part::Jobs, publishing::JOBS),
        (Part::Rules, publishing::RULES),
    ];
    let links = tabs.map(|(tab, name)| {
        let href = tab.page(&site).href();
        let is_current = move || match part.get() {
            Part::Review(_) | Part::Write => tab == Part::Reviews,
            part => part == tab,
        };
        view! { <a href=href aria-current=move || is_current().then_some("page")>{name.get()}</a> }
    });
    view! { <nav class="segmented" aria-label=publishing::TABS.get()>{links.collect_view()}</nav> }
}

/// The placeholder of a part that is being loaded, or that failed to load.
fn pending(problem: Option<&str>, again: impl Fn() + 'static) -> AnyView {
    match problem {
        None => view! { <p class="hint" role="status">{publishing::LOADING.get()}</p> }.into_any(),
        Some(reason) => view! {
            <div class="page-notice is-error" role="alert">
                <p>{publishing::FAILED.with(&[("reason", reason)])}</p>
                <button type="button" on:click=move |_| again()>{publishing::AGAIN.get()}</button>
            </div>
        }
        .into_any(),
    }
}

/// Calls a function whenever the service tells that the content, the reviews or the jobs of a site have
/// changed.
fn on_site_change(site: String, changed: impl Fn() + 'static) {
    let change = app().live.site_change();
    Effect::new(move |is_later: Option<bool>| {
        let is_own = change.read().as_deref() == Some(site.as_str());
        if is_later == Some(true) && is_own {
            changed();
        }
        true
    });
}

#[cfg(test)]
mod tests {
    use super::Part;

    #[test]
    fn each_part_is_found_at_its_own_path() {
        for part in [
            Part::Reviews,
            Part::Review("r/1".to_owned()),
            Part::Write,
            Part::Content,
            Part::Jobs,
            Part::Rules,
        ] {
            assert_eq!(Part::of(&part.path()), part);
        }
        assert_eq!(Part::of(&["nothing".to_owned()]), Part::Reviews);
    }
}
