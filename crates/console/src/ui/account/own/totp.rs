//! The authenticator app of the own account.

use chat_protocol::admin::TotpEnrolment;
use leptos::ev::SubmitEvent;
use leptos::prelude::*;

use crate::api::requests;
use crate::state::app;
use crate::text::account;
use crate::ui::account::submission::Submission;

/// What the section shows.
#[derive(Clone, PartialEq)]
enum Step {
    /// Asks for the password, before something changes.
    Password,
    /// Shows the secret, and asks for the first code.
    Confirm(TotpEnrolment),
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
    let submission = Submission::new();
    let enrol = move |event: SubmitEvent| {
        event.prevent_default();
        let on = is_on.get_untracked();
        submission.send(async move {
            let given = password.get_untracked();
            let next = if on {
                Step::Codes(requests::renew_recovery_codes(&given).await?)
            } else {
                Step::Confirm(requests::enrol_totp(&given).await?)
            };
            password.set(String::new());
            step.set(next);
            Ok(())
        });
    };
    let confirm = move |enrolment: String| {
        submission.send(async move {
            let codes = requests::confirm_totp(&enrolment, code.get_untracked().trim()).await?;
            code.set(String::new());
            step.set(Step::Codes(codes));
            reload().await;
            Ok(())
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
                <p class="problem" role="alert">{submission.problem()}</p>
                <button type="submit" class="loud">
                    {move || if is_on.get() { account::RENEW_CODES.get() } else { account::SET_UP_TOTP.get() }}
                </button>
                <Show when=move || is_on.get()>
                    <button type="button" class="quiet" on:click=move |_| disable(password, submission)>
                        {account::DISABLE_TOTP.get()}
                    </button>
                </Show>
            </form>
        }
        .into_any(),
        Step::Confirm(TotpEnrolment { secret, uri, enrolment }) => view! {
            <p>{account::TOTP_SECRET.get()}</p>
            <p class="secret">{secret}</p>
            <p><a href=uri>{account::OPEN_APP.get()}</a></p>
            <form class="fields" on:submit=move |event: SubmitEvent| {
                event.prevent_default();
                confirm(enrolment.clone());
            }>
                <label for="totp-code">{account::FIRST_CODE.get()}</label>
                <input id="totp-code" inputmode="numeric" autocomplete="one-time-code" required bind:value=code />
                <p class="problem" role="alert">{submission.problem()}</p>
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
fn disable(password: RwSignal<String>, submission: Submission) {
    let app = app();
    submission.send(async move {
        requests::disable_totp(&password.get_untracked()).await?;
        password.set(String::new());
        app.notices.done(account::TOTP_DISABLED.get());
        reload().await;
        Ok(())
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
