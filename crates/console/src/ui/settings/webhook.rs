//! One webhook: its address and events, its secret, and the log of its deliveries.

mod events;

use chat_protocol::admin::settings::{Webhook, WebhookChange, WebhookSecret, Webhooks};
use leptos::prelude::*;

pub(super) use self::events::Events;
use super::danger::DangerRow;
use super::deliveries::Deliveries;
use super::page::{Card, Empty, Head, notices, time};
use crate::api::settings as requests;
use crate::location::Page;
use crate::state::app;
use crate::text::settings as t;
use crate::ui::forms::{
    Dialog, DialogForm, Editing, Form, FormState, Loaded, Remote, SaveBar, SecretOnce, Switch, TextField,
    changed, draft, secret_or,
};

/// The page about a webhook.
#[component]
pub fn WebhookPage(id: String, webhooks: Remote<Webhooks>) -> impl IntoView {
    let id = StoredValue::new(id);
    view! {
        <p class="crumbs"><a href=Page::settings(&["webhooks"]).href()>{t::SECTION_WEBHOOKS.get()}</a></p>
        <Loaded remote=webhooks let:found>
            {match found.webhooks.into_iter().find(|webhook| webhook.id == id.get_value()) {
                Some(webhook) => view! { <Details webhook events=found.events webhooks/> }.into_any(),
                None => view! { <Empty text=t::WEBHOOK_GONE.get()/> }.into_any(),
            }}
        </Loaded>
    }
}

/// Returns the look and the text of a webhook's state.
pub(super) fn state(webhook: &Webhook) -> (&'static str, &'static str) {
    match (webhook.enabled, &webhook.failing_since) {
        (false, _) => ("state is-bad", t::DISABLED.get()),
        (true, Some(_)) => ("state is-warning", t::WEBHOOK_FAILING.get()),
        (true, None) => ("state is-good", t::STATE_ON.get()),
    }
}

#[component]
fn Details(webhook: Webhook, events: Vec<String>, webhooks: Remote<Webhooks>) -> impl IntoView {
    let (look, text) = state(&webhook);
    let problem = match (&webhook.disabled_reason, &webhook.failing_since) {
        (Some(reason), _) => Some(t::WEBHOOK_DISABLED_BECAUSE.with(&[("reason", reason)])),
        (None, Some(since)) => Some(t::WEBHOOK_FAILING_SINCE.with(&[("time", &time(since))])),
        (None, None) => None,
    };
    view! {
        <Head title=t::WEBHOOK_TITLE.get() lead=webhook.url.clone()>
            <span class=look>{text}</span>
        </Head>
        {problem.map(|problem| view! { <p class="notice is-warning">{problem}</p> })}
        <TargetCard webhook=webhook.clone() events webhooks/>
        <Deliveries webhook=webhook.id.clone() is_enabled=webhook.enabled/>
        <SecretCard id=webhook.id.clone()/>
        <DeleteCard id=webhook.id webhooks/>
    }
}

draft!(
    /// The values of the form.
    Target, TargetFields {
        url: String,
        events: Vec<String>,
        enabled: bool,
    }
);

impl From<&Webhook> for Target {
    fn from(webhook: &Webhook) -> Self {
        Self { url: webhook.url.clone(), events: webhook.events.clone(), enabled: webhook.enabled }
    }
}

#[component]
fn TargetCard(webhook: Webhook, events: Vec<String>, webhooks: Remote<Webhooks>) -> impl IntoView {
    let notices = notices();
    let editing =
        Editing::<TargetFields>::new(Target::from(&webhook)).kept(&["webhook", &webhook.id].join("."));
    let form = FormState::new(&["url", "events"], editing.is_dirty());
    let id = webhook.id;
    let save = move || {
        let (now, saved, id) = (editing.now(), editing.saved(), id.clone());
        let change = WebhookChange {
            url: changed(&now.url, &saved.url),
            events: changed(&now.events, &saved.events),
            enabled: changed(&now.enabled, &saved.enabled),
        };
        form.send(async move { requests::change_webhook(&id, &change).await }, move |webhook: Webhook| {
            editing.accept(&now, Target::from(&webhook));
            notices.done(t::SAVED.get());
            webhooks.update(|found| {
                if let Some(old) = found.webhooks.iter_mut().find(|old| old.id == webhook.id) {
                    *old = webhook;
                }
            });
        });
    };
    let fields = editing.fields;
    view! {
        <Card title=t::WEBHOOK_TARGET.get()>
            <Form state=form on_submit=save>
                <TextField
                    name="url"
                    label=t::WEBHOOK_URL.get()
                    help=t::WEBHOOK_URL_HELP.get()
                    kind="url"
                    value=fields.url
                    is_code=true
                />
                <Events all=events chosen=fields.events/>
                <Switch
                    label=t::WEBHOOK_ENABLED.get()
                    help=t::WEBHOOK_ENABLED_HELP.get()
                    value=fields.enabled
                />
                <SaveBar on_reset=move || editing.reset()/>
            </Form>
        </Card>
    }
}

#[component]
fn SecretCard(id: String) -> impl IntoView {
    let open = RwSignal::new(false);
    let id = StoredValue::new(id);
    view! {
        <Card title=t::WEBHOOK_SECRET.get() lead=t::WEBHOOK_ROTATE_HELP.get()>
            <button type="button" class="button" on:click=move |_| open.set(true)>
                {t::WEBHOOK_ROTATE.get()}
            </button>
            <Dialog open title=t::WEBHOOK_ROTATE.get()>
                <Rotation id=id.get_value()/>
            </Dialog>
        </Card>
    }
}

#[component]
fn Rotation(id: String) -> impl IntoView {
    let new = RwSignal::new(None::<WebhookSecret>);
    let form = FormState::new(&[], false);
    let id = StoredValue::new(id);
    let rotate = move || {
        let id = id.get_value();
        form.send(async move { requests::rotate_webhook(&id).await }, move |secret| new.set(Some(secret)));
    };
    let secret = |new: WebhookSecret| {
        view! {
            <SecretOnce label=t::WEBHOOK_SECRET.get() secret=new.secret help=t::WEBHOOK_SECRET_HELP.get()/>
        }
        .into_any()
    };
    secret_or(new, secret, move || {
        view! {
            <DialogForm state=form action=t::WEBHOOK_ROTATE.get() on_submit=rotate>
                <p>{t::WEBHOOK_ROTATE_HELP.get()}</p>
            </DialogForm>
        }
        .into_any()
    })
}

#[component]
fn DeleteCard(id: String, webhooks: Remote<Webhooks>) -> impl IntoView {
    let (router, notices) = (app().router, notices());
    let id = StoredValue::new(id);
    view! {
        <Card title=t::DANGER.get() is_danger=true>
            <DangerRow
                title=t::WEBHOOK_DELETE
                text=t::WEBHOOK_DELETE_HELP
                is_final=true
                request=move || {
                    let id = id.get_value();
                    async move { requests::delete_webhook(&id).await }
                }
                on_done=move |_| {
                    notices.done(t::WEBHOOK_DELETED.get());
                    webhooks.update(|found| found.webhooks.retain(|webhook| webhook.id != id.get_value()));
                    router.open(Page::settings(&["webhooks"]));
                }
            />
        </Card>
    }
}
