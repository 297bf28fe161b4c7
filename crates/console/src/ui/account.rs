//! Accounts: signing in, one-time links, a forgotten password, and the operator's own account.

mod credentials;
mod forgot;
mod join;
mod own;
mod setup;
mod sign_in;
mod submission;

use leptos::prelude::*;

pub use own::OwnAccount;

use crate::location::Page;
use crate::state::{SessionState, app};
use crate::text::{account, shell};

/// The console's icon.
const ICON: &str = "/console/icon.svg";

/// The pages without a session: sign-in, set-up, forgotten password.
#[component]
pub fn Gate() -> impl IntoView {
    let app = app();
    let page = app.router.page();
    let is_forgot = Memo::new(move |_| *page.read() == Page::Forgot);
    view! {
        <main class="gate">
            <section class="card gate-card">
                <img src=ICON alt="" width="40" height="40" />
                {move || match app.session.state().get() {
                    SessionState::Loading | SessionState::SignedIn(_) => {
                        view! { <p class="hint" role="status">{shell::LOADING.get()}</p> }.into_any()
                    }
                    SessionState::Setup { token, link } => view! { <setup::Setup token link /> }.into_any(),
                    SessionState::SignedOut { .. } if is_forgot.get() => view! { <forgot::Forgot /> }.into_any(),
                    SessionState::SignedOut { reason } => view! { <sign_in::SignIn reason /> }.into_any(),
                    SessionState::Failed(error) => view! {
                        <h1>{account::CONSOLE.get()}</h1>
                        <p class="problem" role="alert">{error.message}</p>
                        <button type="button" class="loud" on:click=move |_| app.session.begin()>
                            {shell::TRY_AGAIN.get()}
                        </button>
                    }.into_any(),
                }}
            </section>
        </main>
    }
}
