//! The authenticator app of the own account.

use chat_protocol::admin::{QrCode, TotpEnrolment};
use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use leptos::svg::Svg;

use super::reload;
use crate::api::requests;
use crate::browser;
use crate::state::app;
use crate::text::account;
use crate::ui::account::submission::Submission;
use crate::ui::forms::CopyButton;

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
        Step::Confirm(TotpEnrolment { secret, uri, qr, enrolment }) => view! {
            <p>{account::TOTP_SECRET.get()}</p>
            {drawing(&qr)}
            <p class="secret" dir="ltr">{secret}</p>
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

/// Returns a QR code in its place.
fn drawing(code: &QrCode) -> impl IntoView + use<> {
    let shown = NodeRef::<Svg>::new();
    Effect::new(move || {
        if let Some(drawing) = shown.get() {
            browser::reveal(&drawing);
        }
    });
    // Of a service that sends none.
    (!code.path.is_empty()).then(|| {
        view! {
            <svg node_ref=shown class="qr" viewBox=format!("0 0 {0} {0}", code.size) role="img" aria-label=account::QR_CODE.get()>
                <path d=code.path.clone()/>
            </svg>
        }
    })
}

/// The recovery codes, which are shown this once.
#[component]
fn Codes(codes: Vec<String>, #[prop(into)] on_kept: Callback<()>) -> impl IntoView {
    let text = codes.join("\n");
    let file = format!("data:text/plain,{}", codes.join("%0A"));
    view! {
        <p role="status">{account::RECOVERY_CODES.get()}</p>
        <ul class="codes" dir="ltr">{codes.into_iter().map(|code| view! { <li>{code}</li> }).collect_view()}</ul>
        <p class="codes-out">
            <CopyButton text=Signal::derive(move || text.clone())/>
            <a class="button" href=file download="recovery-codes.txt">{account::DOWNLOAD.get()}</a>
        </p>
        <button type="button" class="quiet" on:click=move |_| on_kept.run(())>{account::CODES_KEPT.get()}</button>
    }
}
