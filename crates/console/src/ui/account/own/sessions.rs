//! The own sessions, and ending them.

use chat_protocol::admin::settings::SessionInfo;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api::requests;
use crate::browser::clock;
use crate::state::app;
use crate::text::{account, relative};

/// The list of sessions.
#[component]
pub fn Sessions() -> impl IntoView {
    let app = app();
    let sessions = RwSignal::new(Vec::<SessionInfo>::new());
    let load = move || {
        spawn_local(async move {
            match requests::sessions().await {
                Ok(own) => sessions.set(own),
                Err(error) => app.notices.problem(error.message),
            }
        });
    };
    load();
    let end = move |id: Option<String>| {
        spawn_local(async move {
            let ended = match id {
                Some(id) => requests::end_session(&id).await.map(|_| ()),
                None => requests::end_other_sessions().await.map(|_| ()),
            };
            match ended {
                Ok(()) => load(),
                Err(error) => app.notices.problem(error.message),
            }
        });
    };
    view! {
        <section class="card" aria-labelledby="sessions-title">
            <h2 id="sessions-title">{account::SESSIONS.get()}</h2>
            <ul class="session-list">
                <For each=move || sessions.get() key=|session| (session.id.clone(), session.current) let:session>
                    <li>
                        <div>
                            <bdi>{browser(&session)}</bdi>
                            <p class="hint">{place(&session, app.now_ms.get_untracked())}</p>
                        </div>
                        {if session.current {
                            view! { <span class="tag">{account::THIS_SESSION.get()}</span> }.into_any()
                        } else {
                            view! {
                                <button type="button" class="quiet" on:click=move |_| end(Some(session.id.clone()))>
                                    {account::END_SESSION.get()}
                                </button>
                            }.into_any()
                        }}
                    </li>
                </For>
            </ul>
            <Show when=move || { sessions.read().len() > 1 }>
                <button type="button" class="quiet" on:click=move |_| end(None)>{account::END_OTHERS.get()}</button>
            </Show>
        </section>
    }
}

/// The browser of a session, as it calls itself.
fn browser(session: &SessionInfo) -> String {
    if session.user_agent.is_empty() {
        return account::UNKNOWN_BROWSER.get().to_owned();
    }
    session.user_agent.clone()
}

/// Where a session is used from, and when it was used last.
fn place(session: &SessionInfo, now_ms: f64) -> String {
    let seen = clock::parse_ms(&session.seen_at).map(|time| relative(time, now_ms)).unwrap_or_default();
    account::SESSION_PLACE.with(&[("address", &session.address), ("time", &seen)])
}
