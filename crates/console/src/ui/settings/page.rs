//! What the pages of all sections have: a head, cards, and the choice of the site.

use chat_protocol::admin::Me;
use chat_protocol::admin::settings::Site;
use leptos::prelude::*;

use super::section::Section;
use super::{Remote, Sites};
use crate::browser::{clock, storage};
use crate::location::Page;
use crate::state::{Notices, app};
use crate::text::{self, settings as t};
use crate::ui::forms::Loaded;

/// The stored id of the site that was chosen last.
const CHOSEN_SITE: &str = "settings.site";

/// Returns the operator.
pub fn me() -> Me {
    untrack(|| app().session.me())
}

/// Returns a time of the service as the operator reads it.
pub fn time(text: &str) -> String {
    clock::parse_ms(text).map(text::date_time).unwrap_or_default()
}

/// Returns how long ago a time of the service is.
pub fn ago(text: &str) -> String {
    clock::parse_ms(text).map(|time_ms| text::relative(time_ms, clock::now_ms())).unwrap_or_default()
}

/// Returns whether a time of the service has passed.
pub fn is_past(text: &str) -> bool {
    clock::parse_ms(text).is_some_and(|time_ms| time_ms <= clock::now_ms())
}

/// Returns the notices that tell what happened.
pub fn notices() -> Notices {
    app().notices
}

/// The head of a page.
#[component]
pub fn Head(
    #[prop(into)] title: String,
    #[prop(optional, into)] lead: String,
    #[prop(optional)] children: Option<Children>,
) -> impl IntoView {
    let has_lead = !lead.is_empty();
    view! {
        <header class="settings-head">
            <div>
                <h1 tabindex="-1">{title}</h1>
                {has_lead.then(|| view! { <p>{lead}</p> })}
            </div>
            {children.map(|children| view! { <div class="settings-actions">{children()}</div> })}
        </header>
    }
}

/// A part of a page.
#[component]
pub fn Card(
    #[prop(into)] title: String,
    #[prop(optional, into)] lead: String,
    #[prop(optional)] is_danger: bool,
    children: Children,
) -> impl IntoView {
    let has_lead = !lead.is_empty();
    view! {
        <section class="set-card" class:is-danger=is_danger>
            <header class="set-card-head">
                <h2>{title}</h2>
                {has_lead.then(|| view! { <p>{lead}</p> })}
            </header>
            {children()}
        </section>
    }
}

/// Tells that a list has no entries.
#[component]
pub fn Empty(#[prop(into)] text: String) -> impl IntoView {
    view! { <p class="no-rows">{text}</p> }
}

/// A page about one site: the one of the address, or the one that was chosen last. Another can be chosen.
#[component]
pub fn OfSite<V>(
    sites: Sites,
    id: Memo<Option<String>>,
    section: Section,
    /// The page of a site.
    children: impl Fn(Site) -> V + Clone + Send + Sync + 'static,
) -> impl IntoView
where
    V: IntoView + 'static,
{
    let router = app().router;
    // Switching a site off or on shows its page anew; what is saved otherwise does not.
    let shown = Memo::new(move |_| {
        let sites = sites.get()?;
        let wanted = id.get().or_else(|| storage::read::<String>(CHOSEN_SITE));
        let found = sites.iter().find(|site| Some(&site.id) == wanted.as_ref()).or(sites.first());
        found.map(|site| (site.id.clone(), site.disabled))
    });
    let chosen = Memo::new(move |_| shown.get().map(|(id, _)| id));
    Effect::new(move |_| {
        if let Some(id) = chosen.get() {
            storage::write(CHOSEN_SITE, &id);
        }
    });
    let show = move || {
        let Some((id, _)) = shown.get() else {
            return view! {
                <Head title=section.title().get()/>
                <Empty text=t::NO_SITES.get()/>
                <p><a class="button is-primary" href=Page::settings(&["sites"]).href()>{t::SITES_ADD.get()}</a></p>
            }
            .into_any();
        };
        let site = sites.get_untracked().and_then(|sites| sites.into_iter().find(|site| site.id == id));
        site.map(&children).into_any()
    };
    let choose = move |event| {
        let id = event_target_value(&event);
        router.open(Page::settings(&[section.name(), &id]));
        // The operator may have decided to stay.
        if let Some(select) = crate::browser::by_id("site-choice") {
            let value = chosen.get_untracked().unwrap_or_default();
            _ = js_sys::Reflect::set(&select, &"value".into(), &value.into());
        }
    };
    let names = Memo::new(move |_| {
        let sites = sites.get().unwrap_or_default();
        sites.into_iter().map(|site| (site.id, site.name, site.disabled)).collect::<Vec<_>>()
    });
    let picker = move || {
        let names = names.get();
        (names.len() > 1).then(|| {
            let options = names.into_iter().map(|(id, name, disabled)| {
                let name = if disabled { t::SITE_OFF_NAME.with(&[("name", &name)]) } else { name };
                let this = id.clone();
                view! { <option value=id selected=move || chosen.get().as_ref() == Some(&this)>{name}</option> }
            });
            view! {
                <div class="site-choice">
                    <label for="site-choice">{t::SITE_CHOICE.get()}</label>
                    <select id="site-choice" class="input" on:change=choose>
                        {options.collect_view()}
                    </select>
                </div>
            }
        })
    };
    let is_there = Memo::new(move |_| sites.get().is_some());
    view! {
        {picker}
        {move || {
            if is_there.get() {
                show().into_any()
            } else {
                view! { <Waiting sites/> }.into_any()
            }
        }}
    }
}

/// Stands for a page whose sites are being loaded, or could not be.
#[component]
fn Waiting(sites: Sites) -> impl IntoView {
    view! { <Loaded remote=sites let:_sites>{None::<()>}</Loaded> }
}

/// Puts the changed site into the list, so that the other sections show it.
pub fn replace_site(sites: Remote<Vec<Site>>, changed: &Site) {
    sites.update(|sites| {
        if let Some(site) = sites.iter_mut().find(|site| site.id == changed.id) {
            site.clone_from(changed);
        }
    });
}
