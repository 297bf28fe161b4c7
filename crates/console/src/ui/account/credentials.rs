//! The fields that a person signs in with: address, password, and the code of an app once it is asked for.

use chat_protocol::admin::SignedIn;
use leptos::prelude::*;

use crate::api::{ApiError, ErrorCode, requests};
use crate::text::account;

/// The values of the fields.
#[derive(Clone, Copy)]
pub(super) struct Credentials {
    email: RwSignal<String>,
    password: RwSignal<String>,
    code: RwSignal<String>,
    needs_code: RwSignal<bool>,
}

impl Credentials {
    /// Returns empty credentials for an address.
    pub(super) fn of(email: RwSignal<String>) -> Self {
        Self {
            email,
            password: RwSignal::new(String::new()),
            code: RwSignal::new(String::new()),
            needs_code: RwSignal::new(false),
        }
    }

    /// Signs in. Returns `None`, and shows the field for the code, if the account has a second factor.
    pub(super) async fn sign_in(self) -> Result<Option<SignedIn>, ApiError> {
        let code = Some(self.code.get_untracked().trim().to_owned()).filter(|code| !code.is_empty());
        let (email, password) = (self.email.get_untracked(), self.password.get_untracked());
        match requests::sign_in(&email, &password, code.as_deref()).await {
            Err(error) if error.code == ErrorCode::TotpRequired => {
                self.needs_code.set(true);
                Ok(None)
            }
            answer => answer.map(Some),
        }
    }
}

/// The fields. The address of an invitation is fixed.
#[component]
pub(super) fn CredentialFields(credentials: Credentials, is_fixed: bool) -> impl IntoView {
    let Credentials { email, password, code, needs_code } = credentials;
    let code_field = NodeRef::<leptos::html::Input>::new();
    Effect::new(move |_| {
        if let Some(field) = code_field.get() {
            _ = field.focus();
        }
    });
    view! {
        <label for="sign-in-email">{account::EMAIL.get()}</label>
        <input
            id="sign-in-email"
            type="email"
            autocomplete="username"
            required
            readonly=is_fixed
            autofocus=!is_fixed
            bind:value=email
        />
        <label for="sign-in-password">{account::PASSWORD.get()}</label>
        <input
            id="sign-in-password"
            type="password"
            autocomplete="current-password"
            required
            autofocus=is_fixed
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
    }
}
