//! The sessions of an operator, and a link for a new password.

use chat_protocol::admin::settings::{OneTimeLink, SessionInfo};
use leptos::prelude::*;

use super::page::{Card, Empty, ago, notices, time};
use super::user_agent;
use crate::api::settings as requests;
use crate::text::settings as t;
use crate::ui::forms::{Confirm, Dialog, Form, FormProblem, FormState, Loaded, Remote, SecretOnce};

/// The sessions of an operator.
#[component]
pub fn SessionsCard(id: String) -> impl IntoView {
    let notices = notices();
    let id = StoredValue::new(id);
    let sessions = Remote::new(move || {
        let id = id.get_value();
        async move { requests::sessions_of(&id).await.map(|found| found.sessions) }
    });
    let ends = RwSignal::new(false);
    let ended = RwSignal::new(SessionInfo::default());
    view! {
        <Card title=t::SESSIONS_TITLE.get() lead=t::SESSIONS_LEAD.get()>
            <Loaded remote=sessions let:all>
                {if all.is_empty() {
                    view! { <Empty text=t::SESSIONS_EMPTY.get()/> }.into_any()
                } else {
                    let rows = all.into_iter().map(|session| {
                        let this = session.clone();
                        let seen = t::LAST_USED.with(&[("time", &ago(&session.seen_at))]);
                        let browser = user_agent::summary(&session.user_agent);
                        let label = t::END_NAMED.with(&[("name", &browser)]);
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
                                    <button
                                        type="button"
                                        class="button is-quiet"
                                        aria-label=label
                                        on:click=move |_| {
                                            ended.set(this.clone());
                                            ends.set(true);
                                        }
                                    >
                                        {t::END.get()}
                                    </button>
                                </div>
                            </li>
                        }
                    });
                    view! { <ul class="rows">{rows.collect_view()}</ul> }.into_any()
                }}
            </Loaded>
            <Confirm
                open=ends
                title=t::SESSION_END.get()
                text=t::SESSION_END_HELP.get()
                action=t::END.get()
                request=move || {
                    let (id, session) = (id.get_value(), ended.get_untracked().id);
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
    move || match new.get() {
        Some(new) => view! {
            <div class="modal-body">
                <SecretOnce
                    label=t::PASSWORD_LINK.get()
                    secret=new.link
                    help=t::PASSWORD_LINK_HELP.with(&[("time", &time(&new.expires_at))])
                />
            </div>
        }
        .into_any(),
        None => view! {
            <Form state=form on_submit=make>
                <div class="modal-body">
                    <p>{t::PASSWORD_LEAD.get()}</p>
                    <FormProblem/>
                </div>
                <footer class="modal-foot">
                    <button type="submit" class="button is-primary" disabled=move || form.is_busy()>
                        {t::PASSWORD_LINK_MAKE.get()}
                    </button>
                </footer>
            </Form>
        }
        .into_any(),
    }
}
