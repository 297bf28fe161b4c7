//! Confirming the address of the own account.

use leptos::prelude::*;

use crate::state::app;
use crate::text::account;
use crate::ui::account::forgot::SendLink;
use crate::ui::account::submission::Submission;

/// Sends a link that confirms the account, unless it is confirmed. With a second factor, no link does that.
#[component]
pub fn Confirm() -> impl IntoView {
    let app = app();
    // The session is empty for a moment when it ends.
    let address = Memo::new(move |_| {
        let me = app.session.me();
        (!me.confirmed && !me.totp && !me.id.is_empty()).then_some(me.email)
    });
    move || {
        let email = RwSignal::new(address.get()?);
        let submission = Submission::new();
        Some(view! {
            <section class="card" aria-labelledby="confirm-title">
                <h2 id="confirm-title">{account::CONFIRM_TITLE.get()}</h2>
                <div class="fields">
                    <p class="hint">{account::CONFIRM_HINT.get()}</p>
                    <p class="problem" role="alert">{submission.problem()}</p>
                    <SendLink
                        email
                        label=account::SEND_LINK.get()
                        submission
                        no_mail=account::CONFIRM_NO_MAIL.get()
                    />
                </div>
            </section>
        })
    }
}
