//! The operator's own account: password, authenticator app, sessions.

mod confirm;
mod password;
mod preferences;
mod sessions;
mod totp;

use leptos::prelude::*;

use crate::state::app;
use crate::text::account;
use crate::ui::attention::AttentionPreferences;

/// The page of the operator's own account.
#[component]
pub fn OwnAccount() -> impl IntoView {
    let app = app();
    let me = Memo::new(move |_| app.session.me());
    view! {
        <div class="page">
            <div class="account-page">
                <h1>{account::TITLE.get()}</h1>
                <p class="hint"><bdi>{move || me.read().name.clone()}</bdi>", "<bdi>{move || me.read().email.clone()}</bdi></p>
                <AttentionPreferences />
                <preferences::Preferences />
                <confirm::Confirm />
                <password::ChangePassword />
                <totp::Totp />
                <sessions::Sessions />
            </div>
        </div>
    }
}
