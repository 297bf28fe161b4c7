//! The authenticator app of the own account.

use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api::{NewTotp, requests};
use crate::state::app;
use crate::text::account;

/// What the section shows.
#[derive(Clone, PartialEq)]
enum Step {
    /// Asks for the password, before something changes.
    Password,
    /// Shows the secret, and asks for the first code.
    Confirm(NewTotp),
    /// Shows the recovery codes, this once.
    Codes(Vec<String>),
}

/// The section of the authenticator app.
#[component]
pub fn Totp() -> impl IntoView {
    let app = app();
    let is_on = Memo::new(move |_| app.session.me().totp);
    let step = RwSignal::new(Step::Password);
    let password = RwSignal::new(String::new());
    let code = RwSignal::new(String::new());
    let problem = RwSignal::new(None::<String>);
    let enrol = move |event: SubmitEvent| {
        event.prevent_default();
        problem.set(None);
        let on = is_on.get_untracked();
        spawn_local(async move {
            let given = password.get_untracked();
            let next = if on {
                requests::renew_recovery_codes(&given).await.map(Step::Codes)
            } else {
                requests::enrol_totp(&given).await.map(Step::Confirm)
            };
            match next {
                Ok(next) => {
                    password.set(String::new());
                    step.set(next);
                }
                Err(error) => problem.set(Some(error.message)),
            }
        });
    };
    let confirm = move |enrolment: String| {
        problem.set(None);
        spawn_local(async move {
            match requests::confirm_totp(&enrolment, code.get_untracked().trim()).await {
                Ok(codes) => {
                    code.set(String::new());
                    step.set(Step::Codes(codes));
                    reload().await;
                }
                Err(error) => problem.set(Some(error.message)),
            }
        });
    };
    let form = move || {
        match step.get() {
        Step::Password => view! {
            <form class="fields" on:submit=enrol>
                <label for="totp-password">{account::CURRENT_PASSWORD.get()}</label>
                <input
                    id="totp-password"
                    type="password"
                    autocomplete="current-password"
                    required
                    bind:value=password
                />
                <p class="problem" role="alert">{problem}</p>
                <button type="submit" class="loud">
                    {move || if is_on.get() { account::RENEW_CODES.get() } else { account::SET_UP_TOTP.get() }}
                </button>
                <Show when=move || is_on.get()>
                    <button type="button" class="quiet" on:click=move |_| disable(password, problem)>
                        {account::DISABLE_TOTP.get()}
                    </button>
                </Show>
            </form>
        }
        .into_any(),
        Step::Confirm(NewTotp { secret, uri, enrolment }) => view! {
            <p>{account::TOTP_SECRET.get()}</p>
            <p class="secret">{secret}</p>
            <p><a href=uri>{account::OPEN_APP.get()}</a></p>
            <form class="fields" on:submit=move |event: SubmitEvent| {
                event.prevent_default();
                confirm(enrolment.clone());
            }>
                <label for="totp-code">{account::FIRST_CODE.get()}</label>
                <input id="totp-code" inputmode="numeric" autocomplete="one-time-code" required bind:value=code />
                <p class="problem" role="alert">{problem}</p>
                <button type="submit" class="loud">{account::CONTINUE.get()}</button>
            </form>
        }
        .into_any(),
        Step::Codes(codes) => view! { <Codes codes on_kept=move |()| step.set(Step::Password) /> }.into_any(),
    }
    };
    view! {
        <section class="card" aria-labelledby="totp-title">
            <h2 id="totp-title">{account::TOTP.get()}</h2>
            <p class="hint">{move || if is_on.get() { account::TOTP_ON.get() } else { account::TOTP_OFF.get() }}</p>
            {form}
        </section>
    }
}

/// Removes the app from the account.
fn disable(password: RwSignal<String>, problem: RwSignal<Option<String>>) {
    problem.set(None);
    spawn_local(async move {
        match requests::disable_totp(&password.get_untracked()).await {
            Ok(_) => {
                password.set(String::new());
                app().notices.done(account::TOTP_DISABLED.get());
                reload().await;
            }
            Err(error) => problem.set(Some(error.message)),
        }
    });
}

/// Loads the account again.
async fn reload() {
    if let Ok(signed_in) = requests::session().await {
        app().session.set_signed_in(signed_in);
    }
}

/// The recovery codes, which are shown this once.
#[component]
fn Codes(codes: Vec<String>, #[prop(into)] on_kept: Callback<()>) -> impl IntoView {
    view! {
        <p role="status">{account::RECOVERY_CODES.get()}</p>
        <ul class="codes">{codes.into_iter().map(|code| view! { <li>{code}</li> }).collect_view()}</ul>
        <button type="button" class="quiet" on:click=move |_| on_kept.run(())>{account::CODES_KEPT.get()}</button>
    }
}
