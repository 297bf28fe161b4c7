//! The operator's own account: name, password, authenticator app, sessions.

mod confirm;
mod name;
mod password;
mod preferences;
mod sessions;
mod totp;

use leptos::prelude::*;

use crate::api::requests;
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
                <name::Name />
                <preferences::Preferences />
                <confirm::Confirm />
                <password::ChangePassword />
                <totp::Totp />
                <sessions::Sessions />
            </div>
        </div>
    }
}

/// Loads the account again.
async fn reload() {
    if let Ok(signed_in) = requests::session().await {
        app().session.set_signed_in(signed_in);
    }
}
