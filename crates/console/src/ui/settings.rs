//! The settings: a list of sections, and the page of one of them. On a phone, the list is a page of its own.

mod access;
mod answering;
mod answers;
mod assistant;
mod audit;
mod danger;
mod deliveries;
mod email;
mod entries;
mod hours;
mod knowledge;
mod labels;
mod licenses;
mod mail_replies;
mod operator;
mod page;
mod paged;
mod quotas;
mod replies;
mod retention;
mod rows;
mod section;
mod sessions;
mod site;
mod site_pages;
mod sites;
mod team;
mod tokens;
pub(super) mod user_agent;
mod visitor_secret;
mod webhook;
mod webhooks;
mod welcome;
mod widget;

use chat_protocol::admin::settings::Site;
use chat_protocol::admin::{CannedReply, Label};
use leptos::prelude::*;

use super::forms::{Remote, Unsaved};
use crate::api::settings as requests;
use crate::location::Page;
use crate::state::app;
use crate::text::settings as t;
use page::me;
use section::{Scope, Section, permitted};

/// The sites, which several sections show.
type Sites = Remote<Vec<Site>>;

/// The settings page.
#[component]
pub fn Settings(
    /// The parts of the path below the section.
    #[prop(into)]
    path: Signal<Vec<String>>,
) -> impl IntoView {
    let router = app().router;
    Unsaved::guard_page(router);
    let sites: Sites = Remote::new(requests::sites);
    provide_context(sites);
    let section = Memo::new(move |_| {
        path.with(|path| path.first().and_then(|name| Section::parse(name)))
            .filter(|section| section.is_for(&me()))
    });
    let part = move |index: usize| path.with(|path| path.get(index).cloned());
    let site_id = Memo::new(move |_| part(1));
    let rest = Memo::new(move |_| part(2));
    let is_list = move || path.with(Vec::is_empty);
    let current = move || section.get().or_else(|| permitted(&me()).into_iter().next());
    view! {
        <div class="settings" class:is-list=is_list>
            <nav class="settings-nav" aria-label=t::TITLE.get()>
                <h1>{t::TITLE.get()}</h1>
                {move || navigation(current(), site_id.get().as_deref())}
            </nav>
            <div class="settings-page">
                <a class="settings-back" href=Page::settings(&[]).href()>{t::TITLE.get()}</a>
                {move || current().map(|section| page_of(section, sites, site_id, rest))}
            </div>
        </div>
    }
}

/// The links to the sections that the operator may see, in their groups.
fn navigation(current: Option<Section>, site: Option<&str>) -> impl IntoView + use<> {
    [(Scope::Site, t::GROUP_SITE), (Scope::Workspace, t::GROUP_WORKSPACE)].map(|(scope, title)| {
        let sections = permitted(&me()).into_iter().filter(move |section| section.scope() == scope);
        let links = sections.map(move |section| {
            let is_current = current == Some(section);
            let href = match (scope, site) {
                (Scope::Site, Some(site)) if current.is_some_and(|it| it.scope() == Scope::Site) => {
                    Page::settings(&[section.name(), site]).href()
                }
                _ => Page::settings(&[section.name()]).href(),
            };
            view! {
                <li>
                    <a href=href aria-current=is_current.then_some("page")>
                        {section.title().get()}
                    </a>
                </li>
            }
        });
        let links = links.collect::<Vec<_>>();
        (!links.is_empty()).then(|| {
            view! {
                <h2>{title.get()}</h2>
                <ul>{links}</ul>
            }
        })
    })
}

/// Shows the page of a section.
fn page_of(section: Section, sites: Sites, id: Memo<Option<String>>, rest: Memo<Option<String>>) -> AnyView {
    match section {
        Section::Site => view! { <page::OfSite sites id section let:site><site::SiteSettings site/></page::OfSite> }.into_any(),
        Section::Widget => {
            view! { <page::OfSite sites id section let:site><widget::WidgetSettings site/></page::OfSite> }.into_any()
        }
        Section::Assistant => {
            view! { <page::OfSite sites id section let:site><assistant::AssistantSettings site/></page::OfSite> }
                .into_any()
        }
        Section::Knowledge => {
            view! { <page::OfSite sites id section let:site><knowledge::Knowledge site part=rest/></page::OfSite> }
                .into_any()
        }
        Section::Access => {
            view! { <page::OfSite sites id section let:site><access::Access site/></page::OfSite> }.into_any()
        }
        Section::Retention => {
            view! { <page::OfSite sites id section let:site><retention::Retention site/></page::OfSite> }.into_any()
        }
        Section::Sites => view! { <sites::SiteList sites/> }.into_any(),
        Section::Team => view! { <team::Team id/> }.into_any(),
        Section::Labels => entries::entries_page::<Label>().into_any(),
        Section::Replies => entries::entries_page::<CannedReply>().into_any(),
        Section::Webhooks => view! { <webhooks::WebhookList sites id/> }.into_any(),
        Section::Quotas => view! { <quotas::Quotas/> }.into_any(),
        Section::Email => view! { <email::EmailSettings/> }.into_any(),
        Section::Audit => view! { <audit::AuditLog/> }.into_any(),
    }
}
