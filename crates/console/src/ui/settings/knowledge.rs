//! A site's knowledge: questions and answers, questions without an answer, websites, synced pages, trying the
//! assistant out, and testing it.

use chat_protocol::admin::settings::Site;
use leptos::html;
use leptos::prelude::*;

use super::answers::Answers;
use super::page::{Head, me};
use crate::browser;
use crate::location::Page;
use crate::text::{Text, settings as t};
use crate::ui::controls::Rendered;

mod ask;
mod content;
mod test_form;
mod test_questions;
mod unanswered;
mod website;

/// The parts of the page, each with an address of its own.
const PARTS: [(&str, Text); 6] = [
    ("answers", t::KNOWLEDGE_ANSWERS),
    ("unanswered", t::KNOWLEDGE_UNANSWERED),
    ("website", t::KNOWLEDGE_WEBSITE),
    ("pages", t::KNOWLEDGE_PAGES),
    ("ask", t::KNOWLEDGE_ASK),
    ("tests", t::KNOWLEDGE_TESTS),
];

/// The page about a site's knowledge.
#[component]
pub fn Knowledge(site: Site, part: Memo<Option<String>>) -> impl IntoView {
    // Asking costs a reply of the AI, so that it needs the right to change sites.
    let may_change = me().is_admin();
    let parts = PARTS.into_iter().filter(move |(name, _)| may_change || *name != "ask");
    let current = Memo::new(move |_| {
        let wanted = part.get();
        let found = PARTS.into_iter().find(|(name, _)| Some(*name) == wanted.as_deref());
        found.map_or("answers", |(name, _)| if may_change || name != "ask" { name } else { "answers" })
    });
    let site_id = site.id.clone();
    let links = parts.map(move |(name, title)| {
        let href = Page::settings(&["knowledge", &site_id, name]).href();
        let link = NodeRef::<html::A>::new();
        // On a phone, the tabs are wider than the screen.
        Effect::new(move |_| {
            if current.get() == name
                && let Some(link) = link.rendered()
            {
                browser::reveal(&link);
            }
        });
        view! {
            <li>
                <a node_ref=link href=href aria-current=move || (current.get() == name).then_some("page")>{title.get()}</a>
            </li>
        }
    });
    let links = links.collect_view();
    view! {
        <Head title=t::SECTION_KNOWLEDGE.get() lead=t::KNOWLEDGE_LEAD.get()/>
        <nav class="tabs" aria-label=t::SECTION_KNOWLEDGE.get()>
            <ul>{links}</ul>
        </nav>
        {move || match current.get() {
            "unanswered" => view! { <unanswered::Unanswered site=site.clone() may_change/> }.into_any(),
            "website" => view! { <website::Websites site=site.clone() may_change/> }.into_any(),
            "pages" => view! { <content::SyncedContent site=site.id.clone()/> }.into_any(),
            "ask" => view! { <ask::Ask site=site.clone()/> }.into_any(),
            "tests" => {
                view! { <test_questions::Tests site=site.clone() may_change/> }.into_any()
            }
            _ => view! { <Answers site=site.clone() may_change/> }.into_any(),
        }}
    }
}
