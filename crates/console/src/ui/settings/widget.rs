//! The widget of a site: its options with a live preview, the code to copy, and the check of the site's
//! proxy.

mod check;
mod form;
mod option;
mod options;
mod preview;
mod snippet;
mod table;

use chat_protocol::admin::settings::Site;
use leptos::prelude::*;

use super::page::{Card, Head};
use super::site_pages::PageSeen;
use crate::browser::{self, storage, window};
use crate::location::Page;
use crate::state::app;
use crate::text::{Text, settings as t};
use crate::ui::forms::{CopyButton, unique_id};
use check::ProxyCard;
use form::{CodeOptions, OptionsForm};
use options::WidgetOptions;
use preview::Preview;
use snippet::Snippet;

/// The folder of the widget's files, below an origin.
const FILES: &str = "/chat-widget";

/// The id of the element with the code.
const CODE: &str = "widget-code";

/// Returns the service's own proxy path of a site.
fn service_proxy(site: &str) -> String {
    ["/connector/", site].concat()
}

/// The page about a site's widget. The site saves its options; this browser remembers those that are in the
/// code of the pages, so that it can be made again.
#[component]
pub fn WidgetSettings(site: Site) -> impl IntoView {
    let key = ["settings.widget.", &site.id].concat();
    // A site whose pages may call the service needs no proxy of its own.
    let uses_service = !site.allowed_origins.is_empty();
    let first = || WidgetOptions { uses_service, ..WidgetOptions::default() };
    let mut options = storage::read::<WidgetOptions>(&key).unwrap_or_else(first);
    options.restore(&site.widget_options);
    let options = RwSignal::new(options);
    let of_page = Memo::new(move |_| options.with(WidgetOptions::of_page));
    Effect::new(move |_| of_page.with(|options| storage::write(&key, options)));
    let edited = site.clone();
    let is_code = |page: &Page| matches!(page, Page::Settings(_, query) if query.get("part") == Some("code"));
    if app().router.page().with_untracked(is_code) {
        request_animation_frame(|| browser::show(CODE));
    }
    let is_off = site.disabled || !site.chat_enabled || !site.widget_enabled;
    view! {
        <Head title=t::SECTION_WIDGET.get() lead=t::WIDGET_LEAD.get()/>
        {is_off.then(|| view! { <p class="notice is-warning">{t::WIDGET_IS_OFF.get()}</p> })}
        <div class="widget-studio">
            <Card title=t::WIDGET_OPTIONS.get() lead=t::WIDGET_OPTIONS_LEAD.get()>
                <OptionsForm site=edited options/>
            </Card>
            <Preview proxy=service_proxy(&site.id) options/>
        </div>
        <div class="widget-code" id=CODE tabindex="-1">
            <CodeCard site=site.id.clone() options/>
            <PageSeen site_id=site.id.clone() connects=Signal::derive(move || options.with(|options| options.uses_service))/>
        </div>
        <ProxyCard site options/>
    }
}

/// The code for a page.
#[component]
fn CodeCard(site: String, options: RwSignal<WidgetOptions>) -> impl IntoView {
    let kind = RwSignal::new(Snippet::default());
    let origin = window().location().origin().unwrap_or_default();
    let code = Memo::new(move |_| {
        options.with(|options| {
            let (proxy, files) = if options.uses_service {
                ([&origin, service_proxy(&site).as_str()].concat(), [&origin, FILES].concat())
            } else {
                (options.proxy.clone(), FILES.to_owned())
            };
            match kind.get() {
                // Its config has the options of the site.
                Snippet::Script => Snippet::Script.code(&options.of_page(), &proxy, &files),
                kind => kind.code(options, &proxy, &files),
            }
        })
    });
    let panel = unique_id("code");
    let controlled = panel.clone();
    let kinds = Snippet::ALL.map(|snippet| {
        view! {
            <button
                type="button"
                class="segment"
                aria-pressed=move || if kind.get() == snippet { "true" } else { "false" }
                aria-controls=controlled.clone()
                on:click=move |_| kind.set(snippet)
            >
                {name_of(snippet).get()}
            </button>
        }
    });
    let advice = move || {
        let text = match (kind.get(), options.with(|options| options.uses_service)) {
            (Snippet::Leptos, _) => t::CODE_LEPTOS_HELP,
            (_, true) => return "",
            (Snippet::Npm, false) => t::CODE_NPM_HELP,
            (Snippet::Script, false) => t::CODE_SCRIPT_HELP,
        };
        text.get()
    };
    view! {
        <Card title=t::CODE_TITLE.get() lead=t::CODE_LEAD.get()>
            <div class="toolbar">
                <div class="segments" role="group" aria-label=t::CODE_KIND.get()>
                    {kinds}
                </div>
                <CopyButton text=code/>
            </div>
            <pre class="code" id=panel tabindex="0" dir="ltr"><code>{code}</code></pre>
            <p class="field-help">{advice}</p>
            <CodeOptions options/>
        </Card>
    }
}

fn name_of(snippet: Snippet) -> Text {
    match snippet {
        Snippet::Script => t::CODE_SCRIPT,
        Snippet::Npm => t::CODE_NPM,
        Snippet::Leptos => t::CODE_LEPTOS,
    }
}
