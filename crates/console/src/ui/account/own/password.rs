//! Changing the own password.

use leptos::ev::SubmitEvent;
use leptos::prelude::*;

use crate::api::requests;
use crate::state::app;
use crate::text::account;
use crate::ui::account::submission::Submission;

/// The form for a new password.
#[component]
pub fn ChangePassword() -> impl IntoView {
    let app = app();
    let current = RwSignal::new(String::new());
    let new = RwSignal::new(String::new());
    let submission = Submission::new();
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        submission.send(async move {
            requests::change_password(&current.get_untracked(), &new.get_untracked()).await?;
            current.set(String::new());
            new.set(String::new());
            app.notices.done(account::PASSWORD_SAVED.get());
            Ok(())
        });
    };
    view! {
        <section class="card" aria-labelledby="password-title">
            <h2 id="password-title">{account::PASSWORD.get()}</h2>
            <form class="fields" on:submit=submit>
                <label for="current-password">{account::CURRENT_PASSWORD.get()}</label>
                <input
                    id="current-password"
                    type="password"
                    autocomplete="current-password"
                    required
                    bind:value=current
                />
                <label for="new-password">{account::NEW_PASSWORD.get()}</label>
                <input
                    id="new-password"
                    type="password"
                    autocomplete="new-password"
                    minlength="10"
                    required
                    aria-describedby="new-password-hint"
                    bind:value=new
                />
                <p class="hint" id="new-password-hint">{account::PASSWORD_HINT.get()}</p>
                <p class="problem" role="alert">{submission.problem()}</p>
                <button type="submit" class="loud">{account::CHANGE_PASSWORD.get()}</button>
            </form>
        </section>
    }
}
