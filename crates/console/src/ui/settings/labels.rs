//! The labels of conversations.

use chat_protocol::admin::{Label, LabelChange};
use leptos::prelude::*;

use super::page::{Empty, Head, notices};
use crate::api::{requests as shared, settings as requests};
use crate::text::{Text, settings as t};
use crate::ui::forms::{
    Confirm, Dialog, Editing, Form, FormProblem, FormState, Loaded, Remote, TextField, draft,
};

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

/// The page about labels.
#[component]
pub fn Labels() -> impl IntoView {
    let notices = notices();
    let labels = Remote::new(shared::labels);
    let edited = RwSignal::new(None::<Label>);
    let (edits, deletes) = (RwSignal::new(false), RwSignal::new(false));
    let edit = move |label: Option<Label>| {
        edited.set(label);
        edits.set(true);
    };
    let title = Signal::derive(move || {
        if edited.with(Option::is_some) { t::LABEL_EDIT.get() } else { t::LABEL_ADD.get() }.to_owned()
    });
    view! {
        <Head title=t::SECTION_LABELS.get() lead=t::LABELS_LEAD.get()>
            <button type="button" class="button is-primary" on:click=move |_| edit(None)>
                {t::LABEL_ADD.get()}
            </button>
        </Head>
        <Loaded remote=labels let:all>
            {if all.is_empty() {
                view! { <Empty text=t::LABELS_EMPTY.get()/> }.into_any()
            } else {
                let rows = all.into_iter().map(|label| {
                    let (for_edit, for_delete) = (label.clone(), label.clone());
                    let edit_label = t::EDIT_NAMED.with(&[("name", &label.name)]);
                    let delete_label = t::DELETE_NAMED.with(&[("name", &label.name)]);
                    view! {
                        <li>
                            <div class="row-main">
                                <span class="label" data-color=label.color dir="auto">{label.name}</span>
                            </div>
                            <div class="row-actions">
                                <button
                                    type="button"
                                    class="button"
                                    aria-label=edit_label
                                    on:click=move |_| edit(Some(for_edit.clone()))
                                >
                                    {t::EDIT.get()}
                                </button>
                                <button
                                    type="button"
                                    class="button is-quiet"
                                    aria-label=delete_label
                                    on:click=move |_| {
                                        edited.set(Some(for_delete.clone()));
                                        deletes.set(true);
                                    }
                                >
                                    {t::DELETE.get()}
                                </button>
                            </div>
                        </li>
                    }
                });
                view! { <ul class="rows">{rows.collect_view()}</ul> }.into_any()
            }}
        </Loaded>
        <Dialog open=edits title>
            <LabelForm label=edited.get_untracked() labels open=edits/>
        </Dialog>
        <Confirm
            open=deletes
            title=t::LABEL_DELETE.get()
            text=t::LABEL_DELETE_HELP.get()
            action=t::DELETE.get()
            request=move || {
                let id = edited.get_untracked().unwrap_or_default().id;
                async move { requests::delete_label(&id).await }
            }
            on_done=move |_| {
                notices.done(t::LABEL_DELETED.get());
                labels.reload();
            }
        />
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
fn LabelForm(label: Option<Label>, labels: Remote<Vec<Label>>, open: RwSignal<bool>) -> impl IntoView {
    let notices = notices();
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
        form.send(async move { requests::save_label(id.as_deref(), &change).await }, move |_| {
            notices.done(t::SAVED.get());
            labels.reload();
            open.set(false);
        });
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
        <Form state=form on_submit=save>
            <div class="modal-body">
                <TextField name="name" label=t::LABEL_NAME.get() value=fields.name/>
                <fieldset class="field-group">
                    <legend>{t::LABEL_COLOR.get()}</legend>
                    <div class="swatches">{colors}</div>
                    <p class="field-error" role="alert">{move || form.problem_of("color")}</p>
                </fieldset>
                <FormProblem/>
            </div>
            <footer class="modal-foot">
                <button type="submit" class="button is-primary" disabled=move || form.is_busy()>
                    {t::SAVE.get()}
                </button>
            </footer>
        </Form>
    }
}
