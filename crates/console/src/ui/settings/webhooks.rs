//! The webhooks: list, create, and one of them with its deliveries.

use chat_protocol::admin::settings::{NewWebhook, Webhook, WebhookSecret, Webhooks};
use leptos::prelude::*;

use super::Sites;
use super::page::Head;
use super::rows::rows;
use super::webhook::{Events, WebhookPage, state};
use crate::api::settings as requests;
use crate::location::Page;
use crate::text::settings as t;
use crate::ui::forms::{
    Dialog, DialogForm, Editing, FormState, Loaded, Remote, SecretOnce, SelectField, TextField, draft,
    filled, secret_or,
};

/// The page about webhooks, or about one of them, whose id is the second part of the path.
#[component]
pub fn WebhookList(sites: Sites, id: Memo<Option<String>>) -> impl IntoView {
    let webhooks = Remote::new(requests::webhooks);
    move || match id.get() {
        Some(id) => view! { <WebhookPage id webhooks/> }.into_any(),
        None => view! { <List sites webhooks/> }.into_any(),
    }
}

#[component]
fn List(sites: Sites, webhooks: Remote<Webhooks>) -> impl IntoView {
    let creates = RwSignal::new(false);
    view! {
        <Head title=t::SECTION_WEBHOOKS.get() lead=t::WEBHOOKS_LEAD.get()>
            <button type="button" class="button is-primary" on:click=move |_| creates.set(true)>
                {t::WEBHOOK_ADD.get()}
            </button>
        </Head>
        <Loaded remote=webhooks let:found>
            {rows(found.webhooks.into_iter().map(row).collect(), t::WEBHOOKS_EMPTY)}
        </Loaded>
        <Dialog open=creates title=t::WEBHOOK_ADD.get() is_wide=true>
            <NewWebhookForm sites webhooks/>
        </Dialog>
    }
}

/// Returns the events of a webhook in one line.
fn events_line(events: &[String]) -> String {
    if events.is_empty() { t::EVENTS_ALL.get().to_owned() } else { events.join(", ") }
}

fn row(webhook: Webhook) -> impl IntoView {
    let (look, text) = state(&webhook);
    let events = events_line(&webhook.events);
    view! {
        <li class:is-off=!webhook.enabled>
            <div class="row-main">
                <a href=Page::settings(&["webhooks", &webhook.id]).href() dir="ltr">{webhook.url}</a>
                <p dir="ltr">{events}</p>
            </div>
            <span class=look>{text}</span>
        </li>
    }
}

draft!(
    /// The values of the form.
    Target, TargetFields {
        url: String,
        site: String,
        events: Vec<String>,
    }
);

#[component]
fn NewWebhookForm(sites: Sites, webhooks: Remote<Webhooks>) -> impl IntoView {
    let editing = Editing::<TargetFields>::new(Target::default());
    let new = RwSignal::new(None::<WebhookSecret>);
    let is_dirty = editing.is_dirty();
    let form = FormState::new(
        &["url", "siteId", "events"],
        Signal::derive(move || new.get().is_none() && is_dirty.get()),
    );
    // The dialog may be open before the lists are loaded.
    let places = move || {
        let all = (String::new(), t::WEBHOOK_ALL_SITES.get().to_owned());
        let sites = sites.get().unwrap_or_default();
        std::iter::once(all).chain(sites.into_iter().map(|site| (site.id, site.name))).collect::<Vec<_>>()
    };
    let all_events = move || webhooks.get().unwrap_or_default().events;
    let save = move || {
        let Target { url, site, events } = editing.now();
        let request = NewWebhook { url: url.trim().to_owned(), site_id: filled(&site), events };
        form.send(async move { requests::create_webhook(&request).await }, move |created| {
            new.set(Some(created));
            webhooks.reload();
        });
    };
    let fields = editing.fields;
    let secret = |new: WebhookSecret| {
        view! {
            <SecretOnce
                label=t::WEBHOOK_SECRET.get()
                secret=new.secret
                help=t::WEBHOOK_SECRET_HELP.get()
            />
        }
        .into_any()
    };
    secret_or(new, secret, move || {
        view! {
            <DialogForm state=form action=t::WEBHOOK_ADD.get() on_submit=save>
                <TextField
                    name="url"
                    label=t::WEBHOOK_URL.get()
                    help=t::WEBHOOK_URL_HELP.get()
                    placeholder="https://hooks.example/chat"
                    kind="url"
                    value=fields.url
                    is_code=true
                />
                {move || {
                    view! {
                        <SelectField
                            name="siteId"
                            label=t::WEBHOOK_SITE.get()
                            value=fields.site
                            options=places()
                        />
                    }
                }}
                {move || view! { <Events all=all_events() chosen=fields.events/> }}
            </DialogForm>
        }
        .into_any()
    })
}
