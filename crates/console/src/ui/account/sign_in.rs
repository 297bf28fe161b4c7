//! Signing in, with the code of an authenticator app where the account has one.

use leptos::ev::SubmitEvent;
use leptos::prelude::*;

use super::submission::Submission;
use crate::api::{ErrorCode, requests};
use crate::location::Page;
use crate::state::app;
use crate::text::account;

/// The form for signing in. `reason` says why it is shown.
#[component]
pub fn SignIn(reason: Option<String>) -> impl IntoView {
    let app = app();
    let email = RwSignal::new(String::new());
    let password = RwSignal::new(String::new());
    let code = RwSignal::new(String::new());
    let needs_code = RwSignal::new(false);
    let submission = Submission::new();
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        submission.send(async move {
            let code = Some(code.get_untracked().trim().to_owned()).filter(|code| !code.is_empty());
            let (email, password) = (email.get_untracked(), password.get_untracked());
            match requests::sign_in(&email, &password, code.as_deref()).await {
                Err(error) if error.code == ErrorCode::TotpRequired => needs_code.set(true),
                answer => {
                    let signed_in = answer?;
                    app.router.replace(leave_forms(app.router.page().get_untracked()));
                    app.session.enter(signed_in);
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
        <h1>{account::SIGN_IN.get()}</h1>
        {reason.map(|reason| view! { <p class="hint" role="status">{reason}</p> })}
        <form class="fields" on:submit=submit>
            <label for="sign-in-email">{account::EMAIL.get()}</label>
            <input id="sign-in-email" type="email" autocomplete="username" required autofocus bind:value=email />
            <label for="sign-in-password">{account::PASSWORD.get()}</label>
            <input
                id="sign-in-password"
                type="password"
                autocomplete="current-password"
                required
                bind:value=password
            />
            <Show when=move || needs_code.get()>
                <label for="sign-in-code">{account::CODE.get()}</label>
                <input
                    id="sign-in-code"
                    autocomplete="one-time-code"
                    autocapitalize="none"
                    spellcheck="false"
                    required
                    node_ref=code_field
                    bind:value=code
                />
            </Show>
            <p class="problem" role="alert">{submission.problem()}</p>
            <button type="submit" class="loud" aria-disabled=move || submission.is_busy().to_string()>
                {account::SIGN_IN.get()}
            </button>
            <a href=Page::Forgot.href()>{account::FORGOT.get()}</a>
        </form>
    }
}

/// Returns the page to show after signing in: the one that was open, or the inbox.
fn leave_forms(page: Page) -> Page {
    if page == Page::Forgot { Page::default() } else { page }
}
