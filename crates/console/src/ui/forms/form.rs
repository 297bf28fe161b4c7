//! Forms: what is typed stays until it is saved, and an error stands beside its field.

use std::future::Future;
use std::sync::atomic::{AtomicU32, Ordering};

use leptos::prelude::*;
use leptos::reactive::owner::Owner;
use leptos::tachys::reactive_graph::OwnedView;
use leptos::task::spawn_local;

use super::problem::Problem;
use super::unsaved::Unsaved;
use crate::api::ApiError;
use crate::browser;
use crate::text::settings as t;

static NEXT: AtomicU32 = AtomicU32::new(0);

/// Returns an id that no other element of the page has.
pub fn unique_id(name: &str) -> String {
    [name, "-", &NEXT.fetch_add(1, Ordering::Relaxed).to_string()].concat()
}

/// The state of a form. Its fields find it in the context.
#[derive(Clone, Copy)]
pub struct FormState {
    number: u32,
    /// The names of the fields, as the service calls them.
    fields: &'static [&'static str],
    is_dirty: Signal<bool>,
    busy: RwSignal<bool>,
    done: RwSignal<bool>,
    problem: RwSignal<Problem>,
}

impl FormState {
    /// Creates the state of a form with these fields, whose present values differ from the saved ones while
    /// `is_dirty`.
    pub fn new(fields: &'static [&'static str], is_dirty: impl Into<Signal<bool>>) -> Self {
        let is_dirty = is_dirty.into();
        if let Some(unsaved) = use_context::<Unsaved>() {
            unsaved.follow(is_dirty);
        }
        let form = Self {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            fields,
            is_dirty,
            busy: RwSignal::new(false),
            done: RwSignal::new(false),
            problem: RwSignal::new(Problem::default()),
        };
        Effect::new(move |_| {
            if is_dirty.get() {
                form.done.set(false);
            }
        });
        form
    }

    /// Returns the id of a field's element.
    pub fn id_of(self, field: &str) -> String {
        format!("form-{}-{}", self.number, field.replace('.', "-"))
    }

    /// Returns the error of a field; empty without one.
    pub fn problem_of(self, field: &str) -> String {
        self.problem.with(|problem| if problem.field == field { problem.text.clone() } else { String::new() })
    }

    /// Returns whether a request is under way.
    pub fn is_busy(self) -> bool {
        self.busy.get()
    }

    /// Shows an error beside a field, and moves the focus there.
    pub fn refuse(self, field: &str, text: &str) {
        self.problem.set(Problem { field: field.to_owned(), text: text.to_owned() });
        browser::focus(&self.id_of(field));
    }

    /// Sends a request, and calls `done` with its response. An error stays on the form, which keeps what was
    /// typed.
    pub fn send<T: 'static>(
        self,
        request: impl Future<Output = Result<T, ApiError>> + 'static,
        done: impl FnOnce(T) + 'static,
    ) {
        if self.busy.get_untracked() {
            return;
        }
        self.busy.set(true);
        self.problem.set(Problem::default());
        spawn_local(async move {
            let response = request.await;
            // The form may be gone.
            if self.busy.try_set(false).is_some() {
                return;
            }
            match response {
                Ok(value) => {
                    done(value);
                    self.done.try_set(true);
                }
                Err(error) => {
                    let problem = Problem::read(&error.message, self.fields);
                    let id = self.id_of(&problem.field);
                    self.problem.set(problem);
                    browser::focus(&id);
                }
            }
        });
    }
}

/// A form.
#[component]
pub fn Form(
    state: FormState,
    /// Called when the operator submits the form.
    on_submit: impl Fn() + 'static,
    children: Children,
) -> impl IntoView {
    // Of its own: a field that is shown later looks for its form when all forms of the page have been made.
    let owner = Owner::current().unwrap_or_default().child();
    let fields = owner.with(|| {
        provide_context(state);
        children()
    });
    let fields = OwnedView::new_with_owner(fields, owner);
    view! {
        <form
            class="form"
            novalidate
            on:submit=move |event| {
                event.prevent_default();
                on_submit();
            }
        >
            {fields}
        </form>
    }
}

/// A form in a dialog, with the button that submits it.
#[component]
pub fn DialogForm(
    state: FormState,
    /// The text of the button.
    #[prop(into)]
    action: String,
    /// Called when the operator submits the form.
    on_submit: impl Fn() + 'static,
    children: Children,
) -> impl IntoView {
    view! {
        <Form state on_submit>
            <div class="modal-body">
                {children()}
                <FormProblem/>
            </div>
            <footer class="modal-foot">
                <button type="submit" class="button is-primary" disabled=move || state.is_busy()>
                    {action}
                </button>
            </footer>
        </Form>
    }
}

/// The error of a form that belongs to none of its fields.
#[component]
pub fn FormProblem() -> impl IntoView {
    let form = expect_context::<FormState>();
    view! {
        <div class="form-problem" role="alert">
            {move || {
                let text = form.problem_of("");
                (!text.is_empty()).then(|| view! { <p class="notice is-error">{text}</p> })
            }}
        </div>
    }
}

/// The end of a form whose changes are saved: what happened, the button that saves, and the one that takes
/// the changes back.
#[component]
pub fn SaveBar(
    /// Takes the changes back.
    on_reset: impl Fn() + 'static,
) -> impl IntoView {
    let form = expect_context::<FormState>();
    let status = move || match (form.busy.get(), form.is_dirty.get(), form.done.get()) {
        (true, ..) => t::SAVING.get(),
        (_, true, _) => t::UNSAVED.get(),
        (_, _, true) => t::SAVED.get(),
        _ => "",
    };
    view! {
        <FormProblem/>
        <div class="save-bar" class:is-dirty=move || form.is_dirty.get()>
            <p class="save-status" role="status" class:is-done=move || form.done.get() && !form.is_dirty.get()>
                {status}
            </p>
            <button
                type="button"
                class="button is-quiet"
                hidden=move || !form.is_dirty.get() || form.busy.get()
                on:click=move |_| {
                    form.problem.set(Problem::default());
                    on_reset();
                }
            >
                {t::DISCARD.get()}
            </button>
            <button
                type="submit"
                class="button is-primary"
                disabled=move || form.busy.get() || !form.is_dirty.get()
            >
                {t::SAVE.get()}
            </button>
        </div>
    }
}
