//! The license codes of the workspace. The setup of a site exchanges one for a token.

use chat_protocol::admin::settings::{License, LicenseRequest, NewLicense, Site};
use leptos::prelude::*;

use super::Sites;
use super::page::{Card, Empty, is_past, notices, time};
use crate::api::settings as requests;
use crate::text::settings as t;
use crate::ui::forms::{
    Confirm, Dialog, Form, FormProblem, FormState, Loaded, Remote, SecretOnce, SelectField,
};

/// The list of licenses.
#[component]
pub fn LicensesCard(site: Site) -> impl IntoView {
    let (sites, notices) = (expect_context::<Sites>(), notices());
    let licenses = Remote::new(requests::licenses);
    let (creates, revokes) = (RwSignal::new(false), RwSignal::new(false));
    let chosen = RwSignal::new(License::default());
    let site = StoredValue::new(site);
    let name_of = move |id: Option<&str>| match id {
        None => t::LICENSE_NEW_SITE.get().to_owned(),
        Some(id) => {
            let sites = sites.get_untracked().unwrap_or_default();
            sites.into_iter().find(|site| site.id == id).map_or(id.to_owned(), |site| site.name)
        }
    };
    view! {
               <Card title=t::LICENSES_TITLE.get() lead=t::LICENSES_LEAD.get()>
                   <div class="toolbar">
                       <button type="button" class="button" on:click=move |_| creates.set(true)>
                           {t::LICENSE_ADD.get()}
                       </button>
                   </div>
                   <Loaded remote=licenses let:all>
                       {if all.is_empty() {
                           view! { <Empty text=t::LICENSES_EMPTY.get()/> }.into_any()
                       } else {
                           let rows = all.into_iter().map(|license| {
                               let this = license.clone();
    let site = name_of(license.site_id.as_deref());
    row(license, site, move || {
    chosen.set(this.clone());
    revokes.set(true);
    })
                           });
                           view! { <ul class="rows">{rows.collect_view()}</ul> }.into_any()
                       }}
                   </Loaded>
                   <Dialog open=creates title=t::LICENSE_ADD.get()>
                       <NewLicenseForm site=site.get_value() licenses/>
                   </Dialog>
                   <Confirm
                       open=revokes
                       title=t::LICENSE_REVOKE.get()
                       text=t::LICENSE_REVOKE_HELP.get()
                       action=t::REVOKE.get()
                       request=move || {
                           let id = chosen.get_untracked().id;
                           async move { requests::revoke_license(&id).await }
                       }
                       on_done=move |_| {
                           notices.done(t::LICENSE_REVOKED.get());
                           licenses.reload();
                       }
                   />
               </Card>
           }
}

fn row(license: License, site: String, on_revoke: impl Fn() + 'static) -> impl IntoView {
    let License { used_at, expires_at, created_at, revoked, .. } = license;
    let (look, text, is_open) = match used_at.as_deref() {
        Some(at) => ("state is-good", t::USED_AT.with(&[("time", &time(at))]), false),
        None if revoked => ("state is-bad", t::REVOKED.get().to_owned(), false),
        None if is_past(&expires_at) => {
            ("state is-bad", t::EXPIRED_AT.with(&[("time", &time(&expires_at))]), false)
        }
        None => ("state is-warning", t::EXPIRES_AT.with(&[("time", &time(&expires_at))]), true),
    };
    let created = t::CREATED.with(&[("time", &time(&created_at))]);
    let label = t::REVOKE_NAMED.with(&[("name", &site)]);
    view! {
        <li class:is-off=!is_open>
            <div class="row-main">
                <p class="row-title" dir="auto">{site}</p>
                <p class="row-facts">{created}</p>
            </div>
            <span class=look>{text}</span>
            {is_open
                .then(|| {
                    view! {
                        <div class="row-actions">
                            <button
                                type="button"
                                class="button is-quiet"
                                aria-label=label
                                on:click=move |_| on_revoke()
                            >
                                {t::REVOKE.get()}
                            </button>
                        </div>
                    }
                })}
        </li>
    }
}

#[component]
fn NewLicenseForm(site: Site, licenses: Remote<Vec<License>>) -> impl IntoView {
    let chosen = RwSignal::new(site.id.clone());
    let new = RwSignal::new(None::<NewLicense>);
    let form = FormState::new(&["siteId"], false);
    let options = vec![
        (site.id, t::LICENSE_THIS_SITE.with(&[("name", &site.name)])),
        (String::new(), t::LICENSE_NEW_SITE.get().to_owned()),
    ];
    let options = StoredValue::new(options);
    let save = move || {
        let site_id = Some(chosen.get_untracked()).filter(|id| !id.is_empty());
        let request = LicenseRequest { site_id, expires_in_s: None };
        form.send(async move { requests::create_license(&request).await }, move |license| {
            new.set(Some(license));
            licenses.reload();
        });
    };
    move || match new.get() {
        Some(new) => view! {
            <div class="modal-body">
                <SecretOnce
                    label=t::LICENSE_CODE.get()
                    secret=new.license_code
                    help=t::LICENSE_CODE_HELP.with(&[("time", &time(&new.info.expires_at))])
                />
            </div>
        }
        .into_any(),
        None => view! {
            <Form state=form on_submit=save>
                <div class="modal-body">
                    <SelectField
                        name="siteId"
                        label=t::LICENSE_FOR.get()
                        value=chosen
                        options=options.get_value()
                    />
                    <FormProblem/>
                </div>
                <footer class="modal-foot">
                    <button type="submit" class="button is-primary" disabled=move || form.is_busy()>
                        {t::LICENSE_ADD.get()}
                    </button>
                </footer>
            </Form>
        }
        .into_any(),
    }
}
