//! The own sessions, and ending them.

use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api::{OwnSession, requests};
use crate::browser::clock;
use crate::state::app;
use crate::text::{account, relative};

/// The list of sessions.
#[component]
pub fn Sessions() -> impl IntoView {
    let app = app();
    let sessions = RwSignal::new(Vec::<OwnSession>::new());
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
                Some(id) => requests::end_session(&id).await,
                None => requests::end_other_sessions().await,
            };
            match ended {
                Ok(_) => load(),
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
                            <bdi>{session.user_agent.clone().unwrap_or_else(|| account::UNKNOWN_BROWSER.get().to_owned())}</bdi>
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

/// Where a session is used from, and when it was used last.
fn place(session: &OwnSession, now_ms: f64) -> String {
    let seen = session.seen_at.as_deref().or(session.created_at.as_deref()).and_then(clock::parse_ms);
    let seen = seen.map(|time| relative(time, now_ms)).unwrap_or_default();
    let address = session.address.as_deref().unwrap_or_default();
    account::SESSION_PLACE.with(&[("address", address), ("time", &seen)])
}
