//! The labels of conversations.

use std::future::Future;

use chat_protocol::admin::{Empty, Label, LabelChange};
use leptos::prelude::*;

use super::entries::{Entry, Saved, Texts};
use crate::api::{ApiError, requests as shared, settings as requests};
use crate::text::{Text, settings as t};
use crate::ui::forms::{DialogForm, Editing, FormState, TextField, draft};

/// The colours, by their names in the API.
const COLORS: [(&str, Text); 8] = [
    ("grey", t::COLOR_GREY),
    ("red", t::COLOR_RED),
    ("orange", t::COLOR_ORANGE),
    ("yellow", t::COLOR_YELLOW),
    ("green", t::COLOR_GREEN),
    ("teal", t::COLOR_TEAL),
    ("blue", t::COLOR_BLUE),
    ("violet", t::COLOR_VIOLET),
];

impl Entry for Label {
    const TEXTS: Texts = Texts {
        title: t::SECTION_LABELS,
        lead: t::LABELS_LEAD,
        empty: t::LABELS_EMPTY,
        add: t::LABEL_ADD,
        edit: t::LABEL_EDIT,
        delete: t::LABEL_DELETE,
        delete_help: t::LABEL_DELETE_HELP,
        deleted: t::LABEL_DELETED,
    };
    const IS_WIDE: bool = false;

    fn id(&self) -> String {
        self.id.clone()
    }

    fn name(&self) -> String {
        self.name.clone()
    }

    fn row(self) -> AnyView {
        view! {
            <div class="row-main">
                <span class="label" data-color=self.color dir="auto">{self.name}</span>
            </div>
        }
        .into_any()
    }

    fn form(label: Option<Self>, saved: Saved<Self>) -> AnyView {
        view! { <LabelForm label saved/> }.into_any()
    }

    fn load() -> impl Future<Output = Result<Vec<Self>, ApiError>> + 'static {
        shared::labels()
    }

    async fn delete(id: String) -> Result<Empty, ApiError> {
        requests::delete_label(&id).await
    }
}

draft!(
    /// The values of the form.
    Look, LookFields {
        name: String,
        color: String,
    }
);

#[component]
fn LabelForm(label: Option<Label>, saved: Saved<Label>) -> impl IntoView {
    let id = label.as_ref().map(|label| label.id.clone());
    let look = label.map_or_else(
        || Look { name: String::new(), color: COLORS[0].0.to_owned() },
        |label| Look { name: label.name, color: label.color },
    );
    let editing = Editing::<LookFields>::new(look);
    let form = FormState::new(&["name", "color"], editing.is_dirty());
    let save = move || {
        let (id, Look { name, color }) = (id.clone(), editing.now());
        let change = LabelChange { name, color };
        form.send(async move { requests::save_label(id.as_deref(), &change).await }, move |_| saved.done());
    };
    let fields = editing.fields;
    let group = form.id_of("color");
    let colors = COLORS.map(|(color, text)| {
        view! {
            <label class="swatch" data-color=color>
                <input
                    type="radio"
                    name=group.clone()
                    value=color
                    prop:checked=move || fields.color.with(|chosen| chosen == color)
                    on:change=move |_| fields.color.set(color.to_owned())
                />
                <span class="label" data-color=color>{text.get()}</span>
            </label>
        }
    });
    view! {
        <DialogForm state=form action=t::SAVE.get() on_submit=save>
            <TextField name="name" label=t::LABEL_NAME.get() value=fields.name/>
            <fieldset class="field-group">
                <legend>{t::LABEL_COLOR.get()}</legend>
                <div class="swatches">{colors}</div>
                <p class="field-error" role="alert">{move || form.problem_of("color")}</p>
            </fieldset>
        </DialogForm>
    }
}
