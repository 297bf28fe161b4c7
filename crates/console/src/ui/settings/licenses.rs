//! The license codes of the workspace. The setup of a site exchanges one for a token.

use chat_protocol::admin::settings::{License, LicenseRequest, NewLicense, Site};
use leptos::prelude::*;

use super::Sites;
use super::page::{Card, is_past, notices, time};
use super::rows::{Chosen, revoke, rows};
use crate::api::settings as requests;
use crate::text::settings as t;
use crate::ui::forms::{
    Confirm, Dialog, DialogForm, FormState, Loaded, Remote, SecretOnce, SelectField, secret_or,
};

/// The list of licenses.
#[component]
pub fn LicensesCard(site: Site) -> impl IntoView {
    let (sites, notices) = (expect_context::<Sites>(), notices());
    let licenses = Remote::new(requests::licenses);
    let creates = RwSignal::new(false);
    let revoked = Chosen::<License>::new();
    let site = StoredValue::new(site);
    let name_of = move |id: Option<&str>| match id {
        None => t::LICENSE_NEW_SITE.get().to_owned(),
        Some(id) => {
            let sites = sites.get().unwrap_or_default();
            sites.into_iter().find(|site| site.id == id).map_or(id.to_owned(), |site| site.name)
        }
    };
    let row_of = move |license: License| {
        let site = name_of(license.site_id.as_deref());
        row(license, site, revoked)
    };
    view! {
        <Card title=t::LICENSES_TITLE.get() lead=t::LICENSES_LEAD.get()>
            <div class="toolbar">
                <button type="button" class="button" on:click=move |_| creates.set(true)>
                    {t::LICENSE_ADD.get()}
                </button>
            </div>
            <Loaded remote=licenses let:all>
                {rows(all.into_iter().map(row_of).collect(), t::LICENSES_EMPTY)}
            </Loaded>
            <Dialog open=creates title=t::LICENSE_ADD.get()>
                <NewLicenseForm site=site.get_value() licenses/>
            </Dialog>
            <Confirm
                open=revoked.open
                title=t::LICENSE_REVOKE.get()
                text=t::LICENSE_REVOKE_HELP.get()
                action=t::REVOKE.get()
                request=move || {
                    let id = revoked.get().unwrap_or_default().id;
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

fn row(license: License, site: String, chosen: Chosen<License>) -> impl IntoView {
    let this = license.clone();
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
    let button = is_open.then(|| revoke(&site, move || chosen.choose(Some(this.clone()))));
    view! {
        <li class:is-off=!is_open>
            <div class="row-main">
                <p class="row-title" dir="auto">{site}</p>
                <p class="row-facts">{created}</p>
            </div>
            <span class=look>{text}</span>
            {button}
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
    let secret = |new: NewLicense| {
        view! {
            <SecretOnce
                label=t::LICENSE_CODE.get()
                secret=new.license_code
                help=t::LICENSE_CODE_HELP.with(&[("time", &time(&new.info.expires_at))])
            />
        }
        .into_any()
    };
    secret_or(new, secret, move || {
        view! {
            <DialogForm state=form action=t::LICENSE_ADD.get() on_submit=save>
                <SelectField
                    name="siteId"
                    label=t::LICENSE_FOR.get()
                    value=chosen
                    options=options.get_value()
                />
            </DialogForm>
        }
        .into_any()
    })
}
