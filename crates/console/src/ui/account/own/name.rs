//! The own name, which visitors see.

use chat_protocol::admin::settings::OperatorChange;
use leptos::ev::SubmitEvent;
use leptos::prelude::*;

use super::reload;
use crate::api::settings as requests;
use crate::state::app;
use crate::text::{account, settings as t};
use crate::ui::account::submission::Submission;

/// The form of the name.
#[component]
pub fn Name() -> impl IntoView {
    let app = app();
    let me = app.session.me();
    let name = RwSignal::new(me.name);
    let submission = Submission::new();
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        let id = me.id.clone();
        submission.send(async move {
            let change = OperatorChange { name: Some(name.get_untracked()), ..OperatorChange::default() };
            name.set(requests::change_operator(&id, &change).await?.name);
            reload().await;
            app.notices.done(t::SAVED.get());
            Ok(())
        });
    };
    view! {
        <section class="card" aria-labelledby="name-title">
            <h2 id="name-title">{account::NAME.get()}</h2>
            <form class="fields" on:submit=submit>
                <label for="own-name">{t::OPERATOR_NAME.get()}</label>
                <input id="own-name" autocomplete="name" required aria-describedby="own-name-hint" bind:value=name/>
                <p class="hint" id="own-name-hint">{t::OPERATOR_NAME_HELP.get()}</p>
                <p class="problem" role="alert">{submission.problem()}</p>
                <button type="submit" class="loud">{t::SAVE.get()}</button>
            </form>
        </section>
    }
}
