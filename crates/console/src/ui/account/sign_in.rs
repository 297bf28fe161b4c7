//! Signing in, with the code of an authenticator app where the account has one.

use leptos::ev::SubmitEvent;
use leptos::prelude::*;

use super::credentials::{CredentialFields, Credentials};
use super::submission::Submission;
use crate::location::Page;
use crate::state::app;
use crate::text::account;

/// The form for signing in. `reason` says why it is shown.
#[component]
pub fn SignIn(reason: Option<String>) -> impl IntoView {
    let app = app();
    let credentials = Credentials::of(RwSignal::new(String::new()));
    let submission = Submission::new();
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        submission.send(async move {
            if let Some(signed_in) = credentials.sign_in().await? {
                app.router.replace(leave_forms(app.router.page().get_untracked()));
                app.session.enter(signed_in);
            }
            Ok(())
        });
    };
    view! {
        <h1>{account::SIGN_IN.get()}</h1>
        {reason.map(|reason| view! { <p class="hint" role="status">{reason}</p> })}
        <form class="fields" on:submit=submit>
            <CredentialFields credentials is_fixed=false />
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
