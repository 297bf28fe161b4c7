//! Joining a workspace with an account that one has: by its session in this browser, or by signing in.

use chat_protocol::admin::{Me, SetupLink};
use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::credentials::{CredentialFields, Credentials};
use super::forgot::SendLink;
use super::submission::Submission;
use crate::api::{ApiError, ErrorCode, requests};
use crate::state::app;
use crate::text::account;

/// The form that joins by a one-time link. Clearing `joins` leads back to the form for a new account.
#[component]
pub(super) fn Join(token: String, link: SetupLink, joins: RwSignal<bool>) -> impl IntoView {
    let (is_fixed, has_account) = (link.email.is_some(), link.has_account);
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
                view! {
                    <SignInAndJoin token=token.get_value() email is_fixed signed_in submission />
                    {(!has_account).then(|| view! {
                        <button type="button" class="quiet" on:click=move |_| joins.set(false)>
                            {account::NEW_ACCOUNT.get()}
                        </button>
                    })}
                }
                .into_any()
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
    let credentials = Credentials::of(email);
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        let token = token.clone();
        submission.send(async move {
            if let Some(found) = credentials.sign_in().await? {
                // From here on, only the joining is repeated: a code cannot be used twice.
                signed_in.set(Some(found.operator));
                join(&token, signed_in).await?;
            }
            Ok(())
        });
    };
    view! {
        <p class="hint">{account::JOIN_HINT.get()}</p>
        <form class="fields" on:submit=submit>
            <CredentialFields credentials is_fixed />
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
