//! The session of the signed-in operator.

use chat_protocol::admin::{Me, SetupLink, SignedIn, Workspace};
use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen::JsCast;
use web_sys::{Event, StorageEvent};

use super::app;
use crate::api::{ApiError, ErrorCode, act_as, on_session, requests};
use crate::browser::{history, listener::Listener, storage, window};
use crate::location::{BASE, Page};
use crate::text::account;

/// The state of the session.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum SessionState {
    /// Not known yet.
    #[default]
    Loading,
    /// Nobody is signed in.
    SignedOut {
        /// Why, if there is something to say.
        reason: Option<String>,
    },
    /// A one-time link is being used.
    Setup {
        /// The link's secret.
        token: String,
        /// What it is for.
        link: SetupLink,
    },
    /// Somebody is signed in.
    SignedIn(SignedIn),
    /// The service did not say.
    Failed(ApiError),
}

/// The session. Copies are the same session.
#[derive(Clone, Copy)]
pub struct Session {
    state: RwSignal<SessionState>,
}

impl Session {
    pub(super) fn new() -> Self {
        let session = Self { state: RwSignal::new(SessionState::Loading) };
        session.follow_other_tabs();
        on_session(move |code| {
            // Drafts stay in storage.
            if *code == ErrorCode::OperatorChanged {
                _ = window().location().assign(BASE);
            } else if session.state.with_untracked(|state| matches!(state, SessionState::SignedIn(_))) {
                session.set_signed_out(Some(account::SESSION_ENDED.get().to_owned()));
            }
        });
        session
    }

    /// Returns the state.
    pub fn state(self) -> Signal<SessionState> {
        self.state.into()
    }

    /// Returns the signed-in operator; without one, an empty one.
    pub fn me(self) -> Me {
        self.state.with(|state| match state {
            SessionState::SignedIn(signed_in) => signed_in.operator.clone(),
            _ => Me::default(),
        })
    }

    /// Returns the workspaces of the signed-in account, without following changes.
    pub fn workspaces(self) -> Vec<Workspace> {
        self.state.with_untracked(|state| match state {
            SessionState::SignedIn(signed_in) => signed_in.workspaces.clone(),
            _ => Vec::new(),
        })
    }

    /// Returns the id of the signed-in operator, without following changes.
    pub fn my_id(self) -> String {
        untrack(|| self.me().id)
    }

    /// Finds out who is signed in, or what the one-time link of the address is for.
    pub fn begin(self) {
        act_as(None);
        self.state.set(SessionState::Loading);
        let hash = window().location().hash().unwrap_or_default();
        let token = hash.strip_prefix("#setup=").map(str::to_owned);
        if token.is_none()
            && let Page::Inbox { query, .. } = app().router.page().get_untracked()
        {
            // It is on its way while the service is asked who is signed in.
            app().conversations.show(query);
        }
        spawn_local(async move {
            let state = match token {
                Some(token) => {
                    // The secret stays in no history.
                    history::replace(BASE);
                    let link = requests::check_link(&token).await;
                    link.map(|link| SessionState::Setup { token, link })
                }
                None => match requests::session().await {
                    Ok(signed_in) => return self.set_signed_in(signed_in),
                    Err(error) => Err(error),
                },
            };
            self.state.set(state.unwrap_or_else(failed));
        });
    }

    /// Sets the operator who has just signed in, and tells the other tabs, whose session is another one now.
    pub fn enter(self, signed_in: SignedIn) {
        announce_workspace(&signed_in.operator.id);
        self.set_signed_in(signed_in);
    }

    /// Sets the operator who is signed in.
    pub fn set_signed_in(self, signed_in: SignedIn) {
        act_as(Some(&signed_in.operator.id));
        self.state.set(SessionState::SignedIn(signed_in));
    }

    /// Loads the console again when another tab has switched to another workspace: they have the same
    /// session.
    fn follow_other_tabs(self) {
        let listener = Listener::new(&window(), "storage", move |event: Event| {
            let key = event.dyn_into::<StorageEvent>().ok().and_then(|event| event.key());
            if key.is_none_or(|key| key != storage::name(WORKSPACE_KEY)) {
                return;
            }
            let is_other = |id: &str| {
                storage::read::<(String, f64)>(WORKSPACE_KEY).is_some_and(|(shown, _)| shown != id)
            };
            let is_switch = self.state.with_untracked(
                |state| matches!(state, SessionState::SignedIn(signed_in) if is_other(&signed_in.operator.id)),
            );
            if is_switch {
                _ = window().location().assign(BASE);
            }
        });
        // It lives as long as the page.
        std::mem::forget(listener);
    }

    /// Shows the form for signing in.
    pub fn set_signed_out(self, reason: Option<String>) {
        act_as(None);
        self.state.set(SessionState::SignedOut { reason });
    }
}

/// The key in storage by which tabs tell each other that the browser is in another workspace now.
const WORKSPACE_KEY: &str = "workspace";

/// Shows the workspace that the session was switched to, in this tab and in the others.
pub fn show_workspace(operator_id: &str) {
    announce_workspace(operator_id);
    // Everything that the console has loaded belongs to the workspace before.
    _ = window().location().assign(BASE);
}

/// Tells the other tabs which workspace the session is in. The time makes a difference where they were told
/// the same before: without one, browsers tell nothing.
fn announce_workspace(operator_id: &str) {
    storage::write(WORKSPACE_KEY, &(operator_id, js_sys::Date::now()));
}

fn failed(error: ApiError) -> SessionState {
    match error.code {
        ErrorCode::InvalidLink => SessionState::SignedOut { reason: Some(error.message) },
        _ if error.status == 401 => SessionState::SignedOut { reason: None },
        _ => SessionState::Failed(error),
    }
}
