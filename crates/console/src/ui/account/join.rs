//! Joining a workspace with an account that one has: by its session in this browser, or by signing in.

use chat_protocol::admin::{Me, SetupLink};
use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::forgot::SendLink;
use super::submission::Submission;
use crate::api::{ApiError, ErrorCode, requests};
use crate::state::app;
use crate::text::account;

/// The form that joins by a one-time link.
#[component]
pub(super) fn Join(token: String, link: SetupLink) -> impl IntoView {
    let is_fixed = link.email.is_some();
    let email = RwSignal::new(link.email.clone().unwrap_or_default());
    let signed_in = RwSignal::new(None::<Me>);
    spawn_local(async move {
        // The session of another account is no use.
        let fits = |address: &str| link.email.as_deref().is_none_or(|wanted| wanted == address);
        if let Ok(session) = requests::session().await
            && session.operator.confirmed
            && fits(&session.operator.email)
        {
            signed_in.try_set(Some(session.operator));
        }
    });
    let token = StoredValue::new(token);
    // One for both forms: that an account cannot join is known, and shown, once it is signed in.
    let submission = Submission::new();
    view! {
        <h1>{account::JOIN_TITLE.with(&[("tenant", &link.tenant)])}</h1>
        {move || match signed_in.get() {
            Some(me) => view! { <JoinNow token=token.get_value() me signed_in submission /> }.into_any(),
            None => {
                view! { <SignInAndJoin token=token.get_value() email is_fixed signed_in submission /> }.into_any()
            }
        }}
    }
}

/// Joins with the account that is signed in.
#[component]
fn JoinNow(token: String, me: Me, signed_in: RwSignal<Option<Me>>, submission: Submission) -> impl IntoView {
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        let token = token.clone();
        submission.send(async move { join(&token, signed_in).await });
    };
    let other_account = move |_| {
        submission.clear();
        signed_in.set(None);
    };
    let email = RwSignal::new(me.email.clone());
    view! {
        <form class="fields" on:submit=submit>
            <p class="hint">{account::JOIN_SIGNED_IN.with(&[("email", &me.email)])}</p>
            <p class="problem" role="alert">{submission.problem()}</p>
            <button type="submit" class="loud">{account::JOIN.get()}</button>
            {(!me.confirmed).then(|| view! { <SendLink email label=account::SEND_LINK.get() submission /> })}
            <button type="button" class="quiet" on:click=other_account>{account::OTHER_ACCOUNT.get()}</button>
        </form>
    }
}

/// Signs in, and joins with that account.
#[component]
fn SignInAndJoin(
    token: String,
    email: RwSignal<String>,
    is_fixed: bool,
    signed_in: RwSignal<Option<Me>>,
    submission: Submission,
) -> impl IntoView {
    let (password, code) = (RwSignal::new(String::new()), RwSignal::new(String::new()));
    let needs_code = RwSignal::new(false);
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        let token = token.clone();
        submission.send(async move {
            let code = Some(code.get_untracked().trim().to_owned()).filter(|code| !code.is_empty());
            let (email, password) = (email.get_untracked(), password.get_untracked());
            match requests::sign_in(&email, &password, code.as_deref()).await {
                Err(error) if error.code == ErrorCode::TotpRequired => needs_code.set(true),
                answer => {
                    // From here on, only the joining is repeated: a code cannot be used twice.
                    signed_in.set(Some(answer?.operator));
                    join(&token, signed_in).await?;
                }
            }
            Ok(())
        });
    };
    let code_field = NodeRef::<leptos::html::Input>::new();
    Effect::new(move |_| {
        if let Some(field) = code_field.get() {
            _ = field.focus();
        }
    });
    view! {
        <p class="hint">{account::JOIN_HINT.get()}</p>
        <form class="fields" on:submit=submit>
            <label for="join-email">{account::EMAIL.get()}</label>
            <input id="join-email" type="email" autocomplete="username" required readonly=is_fixed bind:value=email />
            <label for="join-password">{account::PASSWORD.get()}</label>
            <input
                id="join-password"
                type="password"
                autocomplete="current-password"
                required
                autofocus
                bind:value=password
            />
            <Show when=move || needs_code.get()>
                <label for="join-code">{account::CODE.get()}</label>
                <input
                    id="join-code"
                    autocomplete="one-time-code"
                    autocapitalize="none"
                    spellcheck="false"
                    required
                    node_ref=code_field
                    bind:value=code
                />
            </Show>
            <p class="problem" role="alert">{submission.problem()}</p>
            <button type="submit" class="loud">{account::SIGN_IN_AND_JOIN.get()}</button>
            <SendLink email label=account::FORGOT.get() submission />
        </form>
    }
}

/// Joins, and shows the new workspace, in the other tabs as well.
async fn join(token: &str, signed_in: RwSignal<Option<Me>>) -> Result<(), ApiError> {
    let joined = requests::join(token).await;
    if joined.as_ref().is_err_and(|error| error.code == ErrorCode::SignedOut) {
        // A new password that was set elsewhere has ended the session.
        signed_in.set(None);
    }
    let joined = joined?;
    crate::state::show_workspace(&joined.operator.id);
    // Until the page is loaded again.
    app().session.set_signed_in(joined);
    Ok(())
}
