//! The use of a one-time link: the first owner, an invitation, or a new password.

use chat_protocol::admin::{LinkKind, SetupLink};
use leptos::ev::SubmitEvent;
use leptos::prelude::*;

use super::join::Join;
use super::submission::Submission;
use crate::api::requests;
use crate::state::app;
use crate::text::account;

/// The page that a one-time link opens: the form for a new account or a new password, or that for joining
/// with an account that one has.
#[component]
pub fn Setup(token: String, link: SetupLink) -> impl IntoView {
    let joins = RwSignal::new(link.has_account);
    let may_join = link.kind != LinkKind::Password;
    let (token, link) = (StoredValue::new(token), StoredValue::new(link));
    move || {
        if joins.get() {
            return view! { <Join token=token.get_value() link=link.get_value() joins /> }.into_any();
        }
        view! {
            <New token=token.get_value() link=link.get_value() />
            {may_join.then(|| view! {
                <button type="button" class="quiet" on:click=move |_| joins.set(true)>
                    {account::HAVE_ACCOUNT.get()}
                </button>
            })}
        }
        .into_any()
    }
}

#[component]
fn New(token: String, link: SetupLink) -> impl IntoView {
    let app = app();
    let is_new = link.kind != LinkKind::Password;
    let (title, hint) = match link.kind {
        LinkKind::Owner => (account::OWNER_TITLE, account::OWNER_HINT),
        LinkKind::Password => (account::NEW_PASSWORD_TITLE, account::NEW_PASSWORD_HINT),
        LinkKind::Invitation => (account::INVITATION_TITLE, account::INVITATION_HINT),
    };
    let name = RwSignal::new(String::new());
    let is_fixed = link.email.is_some();
    let email = RwSignal::new(link.email.unwrap_or_default());
    let password = RwSignal::new(String::new());
    let submission = Submission::new();
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        let token = token.clone();
        submission.send(async move {
            let name = is_new.then(|| name.get_untracked());
            let (email, password) = (email.get_untracked(), password.get_untracked());
            let signed_in = requests::use_link(&token, name.as_deref(), &email, &password).await?;
            if signed_in.signed_in == Some(true) {
                app.session.enter(signed_in);
            } else {
                app.session.set_signed_out(Some(account::PASSWORD_CHANGED.get().to_owned()));
            }
            Ok(())
        });
    };
    view! {
        <h1>{title.get()}</h1>
        <p class="hint">{hint.with(&[("tenant", &link.tenant)])}</p>
        <form class="fields" on:submit=submit>
            {is_new.then(|| view! {
                <label for="setup-name">{account::NAME.get()}</label>
                <input id="setup-name" autocomplete="name" maxlength="200" required autofocus bind:value=name />
            })}
            <label for="setup-email">{account::EMAIL.get()}</label>
            <input id="setup-email" type="email" autocomplete="username" required readonly=is_fixed bind:value=email />
            <label for="setup-password">{account::NEW_PASSWORD.get()}</label>
            <input
                id="setup-password"
                type="password"
                autocomplete="new-password"
                minlength="10"
                required
                aria-describedby="setup-password-hint"
                bind:value=password
            />
            <p class="hint" id="setup-password-hint">{account::PASSWORD_HINT.get()}</p>
            <p class="problem" role="alert">{submission.problem()}</p>
            <button type="submit" class="loud">{account::CONTINUE.get()}</button>
        </form>
    }
}
