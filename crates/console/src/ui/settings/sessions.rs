//! The sessions of an operator, and a link for a new password.

use chat_protocol::admin::settings::{OneTimeLink, SessionInfo};
use leptos::prelude::*;

use super::page::{Card, ago, notices, time};
use super::rows::{Chosen, RowButton, rows};
use super::user_agent;
use crate::api::settings as requests;
use crate::text::settings as t;
use crate::ui::forms::{Confirm, Dialog, DialogForm, FormState, Loaded, Remote, SecretOnce, secret_or};

/// The sessions of an operator.
#[component]
pub fn SessionsCard(id: String) -> impl IntoView {
    let notices = notices();
    let id = StoredValue::new(id);
    let sessions = Remote::new(move || {
        let id = id.get_value();
        async move { requests::sessions_of(&id).await.map(|found| found.sessions) }
    });
    let ended = Chosen::<SessionInfo>::new();
    view! {
        <Card title=t::SESSIONS_TITLE.get() lead=t::SESSIONS_LEAD.get()>
            <Loaded remote=sessions let:all>
                {rows(all.into_iter().map(|session| row(session, ended)).collect(), t::SESSIONS_EMPTY)}
            </Loaded>
            <Confirm
                open=ended.open
                title=t::SESSION_END.get()
                text=t::SESSION_END_HELP.get()
                action=t::END.get()
                request=move || {
                    let (id, session) = (id.get_value(), ended.get().unwrap_or_default().id);
                    async move { requests::end_session_of(&id, &session).await }
                }
                on_done=move |_| {
                    notices.done(t::SESSION_ENDED.get());
                    sessions.reload();
                }
            />
        </Card>
    }
}

fn row(session: SessionInfo, ended: Chosen<SessionInfo>) -> impl IntoView {
    let seen = t::LAST_USED.with(&[("time", &ago(&session.seen_at))]);
    let browser = user_agent::summary(&session.user_agent);
    let label = t::END_NAMED.with(&[("name", &browser)]);
    let this = session.clone();
    view! {
        <li>
            <div class="row-main">
                <p class="row-title">{browser}</p>
                <p class="row-facts">
                    <span dir="ltr">{session.address}</span>
                    <span>{seen}</span>
                </p>
            </div>
            {session.current.then(|| view! { <span class="state">{t::THIS_SESSION.get()}</span> })}
            <div class="row-actions">
                <RowButton text=t::END label on_click=move || ended.choose(Some(this.clone()))/>
            </div>
        </li>
    }
}

/// Creates a link by which the operator sets a new password.
#[component]
pub fn PasswordCard(id: String) -> impl IntoView {
    let open = RwSignal::new(false);
    let id = StoredValue::new(id);
    view! {
        <Card title=t::PASSWORD_TITLE.get() lead=t::PASSWORD_LEAD.get()>
            <button type="button" class="button" on:click=move |_| open.set(true)>
                {t::PASSWORD_LINK_MAKE.get()}
            </button>
            <Dialog open title=t::PASSWORD_TITLE.get()>
                <PasswordLink id=id.get_value()/>
            </Dialog>
        </Card>
    }
}

#[component]
fn PasswordLink(id: String) -> impl IntoView {
    let new = RwSignal::new(None::<OneTimeLink>);
    let form = FormState::new(&[], false);
    let id = StoredValue::new(id);
    let make = move || {
        let id = id.get_value();
        form.send(async move { requests::password_link(&id).await }, move |link| new.set(Some(link)));
    };
    let secret = |new: OneTimeLink| {
        view! {
            <SecretOnce
                label=t::PASSWORD_LINK.get()
                secret=new.link
                help=t::PASSWORD_LINK_HELP.with(&[("time", &time(&new.expires_at))])
            />
        }
        .into_any()
    };
    secret_or(new, secret, move || {
        view! {
            <DialogForm state=form action=t::PASSWORD_LINK_MAKE.get() on_submit=make>
                <p>{t::PASSWORD_LEAD.get()}</p>
            </DialogForm>
        }
        .into_any()
    })
}
