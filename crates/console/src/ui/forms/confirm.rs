//! Questions before something that cannot be taken back.

use std::future::Future;

use leptos::prelude::*;

use super::dialog::Dialog;
use super::field::TextField;
use super::form::{Form, FormProblem, FormState};
use crate::api::ApiError;
use crate::text::settings as t;

/// Asks before something is done. With `typed`, the operator has to type that text first.
#[component]
pub fn Confirm<T, F>(
    open: RwSignal<bool>,
    #[prop(into)] title: String,
    #[prop(into)] text: String,
    /// The name of the action, on its button.
    #[prop(into)]
    action: String,
    #[prop(optional, into)] typed: String,
    /// The request that does it.
    request: impl Fn() -> F + Copy + Send + Sync + 'static,
    /// Called when it is done.
    on_done: impl Fn(T) + Copy + Send + Sync + 'static,
) -> impl IntoView
where
    T: 'static,
    F: Future<Output = Result<T, ApiError>> + 'static,
{
    let (text, action, typed) = (StoredValue::new(text), StoredValue::new(action), StoredValue::new(typed));
    view! {
        <Dialog open title>
            {move || {
                view! {
                    <Question
                        text=text.get_value()
                        action=action.get_value()
                        typed=typed.get_value()
                        request
                        on_done=move |value| {
                            open.set(false);
                            on_done(value);
                        }
                        on_cancel=move || open.set(false)
                    />
                }
            }}
        </Dialog>
    }
}

const TYPED: &str = "typed";

#[component]
fn Question<T, F>(
    text: String,
    action: String,
    typed: String,
    request: impl Fn() -> F + 'static,
    on_done: impl Fn(T) + Copy + 'static,
    on_cancel: impl Fn() + Send + 'static,
) -> impl IntoView
where
    T: 'static,
    F: Future<Output = Result<T, ApiError>> + 'static,
{
    let value = RwSignal::new(String::new());
    let form = FormState::new(&[TYPED], false);
    let needed = typed.clone();
    let submit = move || {
        if value.get_untracked().trim() == needed.trim() {
            form.send(request(), on_done);
        } else {
            form.refuse(TYPED, &t::TYPE_EXACTLY.with(&[("text", &needed)]));
        }
    };
    view! {
        <Form state=form on_submit=submit>
            <div class="modal-body">
                <p>{text}</p>
                {(!typed.is_empty())
                    .then(|| {
                        let label = t::TYPE_TO_CONFIRM.with(&[("text", &typed)]);
                        view! { <TextField name=TYPED label value is_code=true/> }
                    })}
                <FormProblem/>
            </div>
            <footer class="modal-foot">
                <button type="button" class="button" on:click=move |_| on_cancel()>
                    {t::CANCEL.get()}
                </button>
                <button type="submit" class="button is-danger" disabled=move || form.is_busy()>
                    {action}
                </button>
            </footer>
        </Form>
    }
}
