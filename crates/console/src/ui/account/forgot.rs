//! Asking for a link to choose a new password.

use leptos::ev::SubmitEvent;
use leptos::prelude::*;

use super::submission::Submission;
use crate::api::requests;
use crate::location::Page;
use crate::text::account;

/// The button that sends a link for a new password, which also confirms the account. The page stays: a
/// one-time link that it was opened with is no longer in the address.
#[component]
pub(super) fn SendLink(
    email: RwSignal<String>,
    label: &'static str,
    submission: Submission,
    /// Told where the service sends no e-mails.
    #[prop(default = account::NO_MAIL.get())]
    no_mail: &'static str,
) -> impl IntoView {
    let answer = RwSignal::new(None::<&'static str>);
    let send = move |_| {
        submission.send(async move {
            let is_mailed = requests::forgot_password(&email.get_untracked()).await?;
            answer.try_set(Some(if is_mailed { account::LINK_MAILED.get() } else { no_mail }));
            Ok(())
        });
    };
    view! {
        <p role="status">{answer}</p>
        <button type="button" class="quiet" on:click=send>{label}</button>
    }
}

/// The form that asks for a link. The answer does not tell whether there is such an account.
#[component]
pub fn Forgot() -> impl IntoView {
    let email = RwSignal::new(String::new());
    let answer = RwSignal::new(None::<&'static str>);
    let submission = Submission::new();
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        submission.send(async move {
            let is_mailed = requests::forgot_password(&email.get_untracked()).await?;
            answer.set(Some(if is_mailed { account::LINK_MAILED.get() } else { account::NO_MAIL.get() }));
            Ok(())
        });
    };
    view! {
        <h1>{account::FORGOT_TITLE.get()}</h1>
        <p class="hint">{account::FORGOT_HINT.get()}</p>
        <form class="fields" on:submit=submit>
            <label for="forgot-email">{account::EMAIL.get()}</label>
            <input id="forgot-email" type="email" autocomplete="username" required autofocus bind:value=email />
            <p class="problem" role="alert">{submission.problem()}</p>
            <p role="status">{answer}</p>
            <button type="submit" class="loud">{account::SEND_LINK.get()}</button>
            <a href=Page::default().href()>{account::BACK_TO_SIGN_IN.get()}</a>
        </form>
    }
}
