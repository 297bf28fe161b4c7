//! Short messages in a corner, and the live region of screen readers.

use leptos::prelude::*;

use crate::state::{Connection, Notice, NoticeKind, app};
use crate::text::shell;
use crate::ui::controls::{Icon, icon};

/// The notices. Screen readers announce each when it appears.
#[component]
pub fn Toasts() -> impl IntoView {
    let notices = app().notices;
    view! {
        <section class="toasts" aria-label=shell::NOTICES.get() aria-live="polite">
            <For each=move || notices.shown().get() key=|notice| notice.id children=|notice| view! { <Toast notice /> } />
        </section>
    }
}

/// Says that the connection is lost, once it has been for a moment.
#[component]
pub fn ConnectionNotice() -> impl IntoView {
    let connection = app().live.connection();
    view! {
        <Show when=move || connection.get() == Connection::Lost>
            <p class="connection" role="status">{icon(Icon::Alert)}{shell::CONNECTION_LOST.get()}</p>
        </Show>
    }
}

#[component]
fn Toast(notice: Notice) -> impl IntoView {
    let notices = app().notices;
    let Notice { id, kind, text, action } = notice;
    let is_problem = kind == NoticeKind::Problem;
    view! {
        <div class="toast" class:problem=is_problem>
            {icon(if is_problem { Icon::Alert } else { Icon::Check })}
            <p dir="auto">{text}</p>
            {action.map(|action| {
                view! {
                    <button type="button" class="quiet" on:click=move |_| {
                        notices.dismiss(id);
                        (action.run)();
                    }>{action.label}</button>
                }
            })}
            <button
                type="button"
                class="quiet square"
                aria-label=shell::DISMISS.get()
                on:click=move |_| notices.dismiss(id)
            >
                {icon(Icon::Close)}
            </button>
        </div>
    }
}
