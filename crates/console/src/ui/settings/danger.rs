//! What cannot be taken back, or is felt at once: a card of rows, each with a button that asks first.

use std::future::Future;

use leptos::prelude::*;

use crate::api::ApiError;
use crate::text::Text;
use crate::ui::forms::Confirm;

/// A row of the card: what is done, and the button that asks before it is done.
#[component]
pub fn DangerRow<T, F>(
    /// The name of the action.
    title: Text,
    text: Text,
    /// Whether nothing brings back what is lost.
    #[prop(optional)]
    is_final: bool,
    /// What the operator has to type first.
    #[prop(optional, into)]
    typed: String,
    /// The request that does it.
    request: impl Fn() -> F + Copy + Send + Sync + 'static,
    /// Called when it is done.
    on_done: impl Fn(T) + Copy + Send + Sync + 'static,
) -> impl IntoView
where
    T: 'static,
    F: Future<Output = Result<T, ApiError>> + 'static,
{
    let asks = RwSignal::new(false);
    view! {
        <div class="danger-row">
            <div>
                <h3>{title.get()}</h3>
                <p>{text.get()}</p>
            </div>
            <button type="button" class="button" class:is-danger=is_final on:click=move |_| asks.set(true)>
                {title.get()}
            </button>
        </div>
        <Confirm open=asks title=title.get() text=text.get() action=title.get() typed request on_done/>
    }
}
