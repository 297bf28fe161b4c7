//! The secret with which a site proves who its visitors are: create, rotate with an overlap, remove.

use chat_protocol::admin::settings::{NewVisitorSecret, Site, VisitorSecretRotation};
use leptos::prelude::*;

use super::Sites;
use super::page::{Card, notices, time};
use super::tokens::{DAY_S, overlaps};
use crate::api::settings as requests;
use crate::text::settings as t;
use crate::ui::forms::{Confirm, Dialog, DialogForm, FormState, SecretOnce, SelectField, secret_or};

/// The state of the secret, and what can be done with it.
#[component]
pub fn VisitorSecretCard(site: Site) -> impl IntoView {
    let (sites, notices) = (expect_context::<Sites>(), notices());
    let created_at = RwSignal::new(site.visitor_secret_created_at);
    let site_id = StoredValue::new(site.id);
    // The other pages have the site as well.
    let set = move |at: Option<String>| {
        created_at.set(at.clone());
        sites.update(|sites| {
            if let Some(site) = sites.iter_mut().find(|site| site.id == site_id.get_value()) {
                site.visitor_secret_created_at = at;
            }
        });
    };
    let (rotates, removes) = (RwSignal::new(false), RwSignal::new(false));
    let exists = Memo::new(move |_| created_at.read().is_some());
    let action = move || if exists.get() { t::PROOF_ROTATE.get() } else { t::PROOF_CREATE.get() };
    let state = move || match created_at.read().as_deref() {
        Some(at) => t::CREATED.with(&[("time", &time(at))]),
        None => t::PROOF_NONE.get().to_owned(),
    };
    view! {
        <Card title=t::PROOF_TITLE.get() lead=t::PROOF_LEAD.get()>
            <Dialog open=rotates title=t::PROOF_TITLE.get()>
                <RotationForm site=site_id.get_value() exists=exists.get_untracked() on_new=move |at| set(Some(at))/>
            </Dialog>
            <Confirm
                open=removes
                title=t::PROOF_REMOVE.get()
                text=t::PROOF_REMOVE_HELP.get()
                action=t::PROOF_REMOVE.get()
                request=move || {
                    let site = site_id.get_value();
                    async move { requests::remove_visitor_secret(&site).await }
                }
                on_done=move |_| {
                    notices.done(t::PROOF_REMOVED.get());
                    set(None);
                }
            />
            <div class="toolbar">
                <p>{state}</p>
                <button type="button" class="button" on:click=move |_| rotates.set(true)>{action}</button>
                <button type="button" class="button" hidden=move || !exists.get() on:click=move |_| removes.set(true)>
                    {t::PROOF_REMOVE.get()}
                </button>
            </div>
        </Card>
    }
}

fn secret(new: NewVisitorSecret) -> AnyView {
    view! { <SecretOnce label=t::PROOF_SECRET.get() secret=new.secret help=t::PROOF_SECRET_HELP.get()/> }
        .into_any()
}

/// Creates a secret. The one before, if it `exists`, stays valid for a time that the operator chooses.
#[component]
fn RotationForm(
    site: String,
    exists: bool,
    /// Called with the time of the new secret.
    on_new: impl Fn(String) + Copy + Send + 'static,
) -> impl IntoView {
    let options = StoredValue::new(overlaps());
    let overlap = RwSignal::new(DAY_S.to_string());
    let new = RwSignal::new(None::<NewVisitorSecret>);
    let form = FormState::new(&["overlapS"], false);
    let site = StoredValue::new(site);
    let save = move || {
        let rotation = VisitorSecretRotation { overlap_s: overlap.get_untracked().parse().ok() };
        let site = site.get_value();
        form.send(async move { requests::rotate_visitor_secret(&site, &rotation).await }, move |secret| {
            on_new(secret.created_at.clone());
            new.set(Some(secret));
        });
    };
    let action = if exists { t::PROOF_ROTATE } else { t::PROOF_CREATE };
    secret_or(new, secret, move || {
        view! {
            <DialogForm state=form action=action.get() on_submit=save>
                {if exists {
                    view! {
                        <p>{t::PROOF_ROTATE_HELP.get()}</p>
                        <SelectField
                            name="overlapS"
                            label=t::PROOF_OVERLAP.get()
                            help=t::OVERLAP_HELP.get()
                            value=overlap
                            options=options.get_value()
                        />
                    }
                    .into_any()
                } else {
                    view! { <p>{t::PROOF_LEAD.get()}</p> }.into_any()
                }}
            </DialogForm>
        }
        .into_any()
    })
}
