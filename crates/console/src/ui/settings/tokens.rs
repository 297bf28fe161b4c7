//! The tokens of a site: create, rotate with an overlap, revoke.

use chat_protocol::admin::settings::{NewToken, Rotation, Site, Token, TokenRequest};
use leptos::prelude::*;

use super::page::{Card, ago, is_past, notices, time};
use super::rows::{Chosen, revoke, rows};
use crate::api::settings as requests;
use crate::text::settings as t;
use crate::ui::forms::{
    Confirm, Dialog, DialogForm, FormState, Loaded, Remote, SecretOnce, SelectField, TextField, secret_or,
};

const HOUR_S: u32 = 60 * 60;
/// The seconds of a day, for which an old secret stays valid if the operator does not choose otherwise.
pub(super) const DAY_S: u32 = 24 * HOUR_S;

/// The list of tokens.
#[component]
pub fn TokensCard(site: Site) -> impl IntoView {
    let notices = notices();
    let site_id = StoredValue::new(site.id);
    let tokens = Remote::new(move || {
        let site = site_id.get_value();
        async move { requests::tokens(&site).await }
    });
    let (creates, rotates) = (RwSignal::new(false), RwSignal::new(false));
    let revoked = Chosen::<Token>::new();
    view! {
        <Card title=t::TOKENS_TITLE.get() lead=t::TOKENS_LEAD.get()>
            <div class="toolbar">
                <button type="button" class="button is-primary" on:click=move |_| creates.set(true)>
                    {t::TOKEN_ADD.get()}
                </button>
                <button type="button" class="button" on:click=move |_| rotates.set(true)>
                    {t::TOKEN_ROTATE.get()}
                </button>
            </div>
            <Loaded remote=tokens let:all>
                {rows(all.into_iter().map(|token| row(token, revoked)).collect(), t::TOKENS_EMPTY)}
            </Loaded>
            <Dialog open=creates title=t::TOKEN_ADD.get()>
                <NewTokenForm site=site_id.get_value() tokens/>
            </Dialog>
            <Dialog open=rotates title=t::TOKEN_ROTATE.get()>
                <RotationForm site=site_id.get_value() tokens/>
            </Dialog>
            <Confirm
                open=revoked.open
                title=t::TOKEN_REVOKE.get()
                text=t::TOKEN_REVOKE_HELP.get()
                action=t::REVOKE.get()
                request=move || {
                    let (site, token) = (site_id.get_value(), revoked.get().unwrap_or_default().id);
                    async move { requests::revoke_token(&site, &token).await }
                }
                on_done=move |_| {
                    notices.done(t::TOKEN_REVOKED.get());
                    tokens.reload();
                }
            />
        </Card>
    }
}

/// Returns the state of a token: its look and its text, and whether it can still be used.
fn state(token: &Token) -> (&'static str, String, bool) {
    if let Some(at) = token.revoked_at.as_deref().filter(|at| is_past(at)) {
        return ("state is-bad", t::REVOKED_AT.with(&[("time", &time(at))]), false);
    }
    let ends = token.expires_at.as_deref().into_iter().chain(token.revoked_at.as_deref()).min();
    match ends {
        Some(at) if is_past(at) => ("state is-bad", t::EXPIRED_AT.with(&[("time", &time(at))]), false),
        Some(at) => ("state is-warning", t::EXPIRES_AT.with(&[("time", &time(at))]), true),
        None => ("state is-good", t::VALID.get().to_owned(), true),
    }
}

fn row(token: Token, revoked: Chosen<Token>) -> impl IntoView {
    let (look, text, is_valid) = state(&token);
    let this = token.clone();
    let Token { id, name, created_at, last_used_at, .. } = token;
    let name = if name.is_empty() { id } else { name };
    let used = match last_used_at.as_deref() {
        Some(at) => t::LAST_USED.with(&[("time", &ago(at))]),
        None => t::NEVER_USED.get().to_owned(),
    };
    let created = t::CREATED.with(&[("time", &time(&created_at))]);
    let button = is_valid.then(|| revoke(&name, move || revoked.choose(Some(this.clone()))));
    view! {
        <li class:is-off=!is_valid>
            <div class="row-main">
                <p class="row-title" dir="auto">{name}</p>
                <p class="row-facts">
                    <span>{used}</span>
                    <span>{created}</span>
                </p>
            </div>
            <span class=look>{text}</span>
            {button}
        </li>
    }
}

fn secret(new: NewToken) -> AnyView {
    view! { <SecretOnce label=t::TOKEN_SECRET.get() secret=new.token help=t::TOKEN_SECRET_HELP.get()/> }
        .into_any()
}

#[component]
fn NewTokenForm(site: String, tokens: Remote<Vec<Token>>) -> impl IntoView {
    let (name, expires) = (RwSignal::new(String::new()), RwSignal::new(String::new()));
    let new = RwSignal::new(None);
    let typed = Signal::derive(move || new.get().is_none() && !name.get().is_empty());
    let form = FormState::new(&["name", "expiresInS"], typed);
    let site = StoredValue::new(site);
    let days = [30, 90, 365].map(|days| ((days * DAY_S).to_string(), t::DAYS.count(days.into())));
    let mut lifetimes = vec![(String::new(), t::NEVER.get().to_owned())];
    lifetimes.extend(days);
    let lifetimes = StoredValue::new(lifetimes);
    let save = move || {
        let request =
            TokenRequest { name: name.get_untracked(), expires_in_s: expires.get_untracked().parse().ok() };
        let site = site.get_value();
        form.send(async move { requests::create_token(&site, &request).await }, move |token| {
            new.set(Some(token));
            tokens.reload();
        });
    };
    secret_or(new, secret, move || {
        view! {
            <DialogForm state=form action=t::TOKEN_ADD.get() on_submit=save>
                <TextField name="name" label=t::TOKEN_NAME.get() help=t::TOKEN_NAME_HELP.get() value=name/>
                <SelectField
                    name="expiresInS"
                    label=t::EXPIRES.get()
                    value=expires
                    options=lifetimes.get_value()
                />
            </DialogForm>
        }
        .into_any()
    })
}

#[component]
fn RotationForm(site: String, tokens: Remote<Vec<Token>>) -> impl IntoView {
    let (name, overlap) = (RwSignal::new(String::new()), RwSignal::new(DAY_S.to_string()));
    let new = RwSignal::new(None);
    let typed = Signal::derive(move || new.get().is_none() && !name.get().is_empty());
    let form = FormState::new(&["name", "overlapS"], typed);
    let site = StoredValue::new(site);
    let overlaps = StoredValue::new(overlaps());
    let save = move || {
        let rotation =
            Rotation { name: name.get_untracked(), overlap_s: overlap.get_untracked().parse().ok() };
        let site = site.get_value();
        form.send(async move { requests::rotate_tokens(&site, &rotation).await }, move |token| {
            new.set(Some(token));
            tokens.reload();
        });
    };
    secret_or(new, secret, move || {
        view! {
            <DialogForm state=form action=t::TOKEN_ROTATE.get() on_submit=save>
                <p>{t::TOKEN_ROTATE_HELP.get()}</p>
                <TextField name="name" label=t::TOKEN_NAME.get() help=t::TOKEN_NAME_HELP.get() value=name/>
                <SelectField
                    name="overlapS"
                    label=t::OVERLAP.get()
                    help=t::OVERLAP_HELP.get()
                    value=overlap
                    options=overlaps.get_value()
                />
            </DialogForm>
        }
        .into_any()
    })
}

/// Returns the times for which an old secret can stay valid: seconds, and their text.
pub(super) fn overlaps() -> Vec<(String, String)> {
    vec![
        ("0".to_owned(), t::OVERLAP_NONE.get().to_owned()),
        (HOUR_S.to_string(), t::HOURS.count(1)),
        (DAY_S.to_string(), t::HOURS.count(24)),
        ((7 * DAY_S).to_string(), t::DAYS.count(7)),
        ((30 * DAY_S).to_string(), t::DAYS.count(30)),
    ]
}
