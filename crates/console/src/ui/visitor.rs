//! The visitor's profile, beside the open conversation; on a phone, in a sheet over it.

mod contact;
mod earlier;
mod edit;
mod history;
mod labels;
mod lead;
mod local_time;
mod privacy;

use leptos::prelude::*;

use self::contact::Contact;
use self::earlier::Earlier;
use self::history::{History, Pages};
use self::labels::Labels;
use self::lead::Lead;
use self::local_time::LocalTime;
use self::privacy::Privacy;
use super::controls::Avatar;
use crate::state::{app, visitor_name};
use crate::text::visitor;

/// The panel about the visitor of a conversation.
#[component]
pub fn VisitorPanel(
    /// The conversation's id.
    #[prop(into)]
    conversation: Signal<String>,
) -> impl IntoView {
    let app = app();
    let summary = Memo::new(move |_| app.conversations.summary(&conversation.read()).get());
    let pages = Pages::follow(summary);
    let person = Memo::new(move |_| summary.read().visitor.clone());
    let name = Memo::new(move |_| visitor_name(&summary.read()));
    let locale = Memo::new(move |_| summary.read().locale.clone());
    let is_admin = Memo::new(move |_| app.session.me().is_admin());
    view! {
        <div class="visitor" id="visitor" tabindex="-1">
            <h2 class="for-readers">{visitor::TITLE.get()}</h2>
            <div class="visitor-card">
                <Avatar name />
                <p>
                    <strong dir="auto">{name}</strong>
                    {move || person.read().company.clone().map(|company| view! { <span dir="auto">{company}</span> })}
                </p>
            </div>
            <p class="proof">
                {move || if person.read().is_verified() { visitor::VERIFIED.get() } else { visitor::UNVERIFIED.get() }}
            </p>
            <LocalTime person locale pages />
            // Editing one visitor must not go on with another one's form.
            {move || view! { <Contact conversation=conversation.get() person summary /> }}
            <Lead summary />
            <Labels summary />
            <History pages />
            <Earlier summary />
            <Show when=move || is_admin.get()>
                <Privacy summary />
            </Show>
        </div>
    }
}
