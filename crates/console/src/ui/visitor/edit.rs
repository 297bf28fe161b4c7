//! The form that changes a visitor's contact details.

use chat_protocol::admin::{ConversationSummary, ProfileChange, Visitor};
use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

use crate::api;
use crate::browser::is_composing;
use crate::location::encode;
use crate::state::app;
use crate::text::{Text, visitor};

/// The fields: name, label and type.
const FIELDS: [(&str, Text, &str); 7] = [
    ("name", visitor::NAME, "text"),
    ("email", visitor::EMAIL, "email"),
    ("phone", visitor::PHONE, "tel"),
    ("company", visitor::COMPANY, "text"),
    ("country", visitor::COUNTRY, "text"),
    ("wechat", visitor::WECHAT, "text"),
    ("whatsapp", visitor::WHATSAPP, "tel"),
];

/// The form.
#[component]
pub(super) fn EditContact(
    /// The conversation's id.
    conversation: String,
    /// The details when the form was opened.
    person: Visitor,
    /// Called when the form closes.
    on_close: Callback<()>,
) -> impl IntoView {
    let app = app();
    let values = FIELDS.map(|(name, ..)| RwSignal::new(value(&person, name).cloned().unwrap_or_default()));
    let is_saving = RwSignal::new(false);
    let problem = RwSignal::new(None::<String>);
    let form = NodeRef::<leptos::html::Form>::new();
    Effect::new(move |_| {
        let first = form.get().and_then(|form| form.query_selector("input").ok().flatten());
        if let Some(input) = first.and_then(|input| input.dyn_into::<HtmlElement>().ok()) {
            _ = input.focus();
        }
    });
    let save = move |event: SubmitEvent| {
        event.prevent_default();
        let change = change(&person, &values.map(|value| value.get_untracked()));
        if change == ProfileChange::default() {
            on_close.run(());
            return;
        }
        let path = format!("conversations/{}/visitor", encode(&conversation));
        is_saving.set(true);
        spawn_local(async move {
            match api::patch::<ConversationSummary>(&path, &change).await {
                Ok(summary) => {
                    app.conversations.changed(&summary);
                    app.notices.done(visitor::SAVED.get());
                    // Another conversation may be open by now.
                    _ = on_close.try_run(());
                }
                Err(error) => {
                    problem.set(Some(visitor::SAVE_FAILED.with(&[("reason", &error.message)])));
                    is_saving.set(false);
                }
            }
        });
    };
    let fields = FIELDS.into_iter().zip(values).map(|((_, label, kind), value)| {
        view! {
            <label class="stacked-field">
                <span>{label.get()}</span>
                <input type=kind autocomplete="off" dir="auto" maxlength="300" bind:value=value/>
            </label>
        }
    });
    let fields = fields.collect_view();
    view! {
        <form
            node_ref=form
            class="edit-contact"
            aria-label=visitor::EDIT_TITLE.get()
            novalidate
            on:submit=save
            on:keydown=move |event| {
                if event.key() == "Escape" && !is_composing(&event) {
                    event.stop_propagation();
                    on_close.run(());
                }
            }
        >
            {fields}
            {move || problem.get().map(|text| view! { <p class="problem" role="alert">{text}</p> })}
            <footer>
                <button type="button" class="quiet" on:click=move |_| on_close.run(())>{visitor::CANCEL.get()}</button>
                <button type="submit" class="loud" disabled=is_saving>{visitor::SAVE.get()}</button>
            </footer>
        </form>
    }
}

fn value<'a>(person: &'a Visitor, name: &str) -> Option<&'a String> {
    match name {
        "name" => person.name.as_ref(),
        "email" => person.email.as_ref(),
        "phone" => person.phone.as_ref(),
        "company" => person.company.as_ref(),
        "country" => person.country.as_ref(),
        "wechat" => person.wechat.as_ref(),
        "whatsapp" => person.whatsapp.as_ref(),
        _ => None,
    }
}

/// Returns what differs from the stored details. What others have changed meanwhile stays as they left it.
fn change(person: &Visitor, values: &[String; 7]) -> ProfileChange {
    let changed = |index: usize| {
        let (name, ..) = FIELDS[index];
        let typed = values[index].trim();
        (typed != value(person, name).map_or("", |known| known.trim())).then(|| typed.to_owned())
    };
    ProfileChange {
        name: changed(0),
        email: changed(1),
        phone: changed(2),
        company: changed(3),
        country: changed(4),
        wechat: changed(5),
        whatsapp: changed(6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_changed_is_sent() {
        let person = Visitor {
            name: Some("Ann".to_owned()),
            email: Some("ann@example.org".to_owned()),
            ..Visitor::default()
        };
        let mut values = FIELDS.map(|(name, ..)| value(&person, name).cloned().unwrap_or_default());
        assert_eq!(change(&person, &values), ProfileChange::default());
        values[0] = " Ann Lee ".to_owned();
        values[1] = String::new();
        values[3] = "  ".to_owned();
        let expected = ProfileChange {
            name: Some("Ann Lee".to_owned()),
            email: Some(String::new()),
            ..ProfileChange::default()
        };
        assert_eq!(change(&person, &values), expected);
    }
}
