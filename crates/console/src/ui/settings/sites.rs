//! All sites, and a new one.

use leptos::prelude::*;

use super::Sites;
use super::page::{Empty, Head, notices};
use crate::api::settings as requests;
use crate::location::Page;
use crate::state::app;
use crate::text::{settings as t, setup};
use crate::ui::forms::{Dialog, DialogForm, FormState, Loaded, TextField, filled};

/// The list of sites.
#[component]
pub fn SiteList(sites: Sites) -> impl IntoView {
    let adds = RwSignal::new(false);
    view! {
        <Head title=t::SECTION_SITES.get() lead=t::SITES_LEAD.get()>
            <button type="button" class="button is-primary" on:click=move |_| adds.set(true)>
                {t::SITES_ADD.get()}
            </button>
        </Head>
        <Loaded remote=sites let:all>
            {if all.is_empty() {
                view! { <Empty text=t::NO_SITES.get()/> }.into_any()
            } else {
                let rows = all.into_iter().map(|site| {
                    let state = match (site.disabled, site.chat_enabled && site.widget_enabled) {
                        (true, _) => ("state is-bad", t::STATE_OFF),
                        (false, false) => ("state is-warning", t::STATE_CHAT_OFF),
                        (false, true) => ("state is-good", t::STATE_ON),
                    };
                    let place = site.domain.clone().or_else(|| site.allowed_origins.first().cloned());
                    view! {
                        <li>
                            <div class="row-main">
                                <a href=Page::settings(&["site", &site.id]).href() dir="auto">{site.name}</a>
                                <p dir="ltr">{place.unwrap_or_default()}</p>
                            </div>
                            <span class=state.0>{state.1.get()}</span>
                        </li>
                    }
                });
                view! { <ul class="rows">{rows.collect_view()}</ul> }.into_any()
            }}
        </Loaded>
        <Dialog open=adds title=t::SITES_ADD.get()>
            <NewSite sites open=adds/>
        </Dialog>
    }
}

#[component]
fn NewSite(sites: Sites, open: RwSignal<bool>) -> impl IntoView {
    let (router, notices) = (app().router, notices());
    let (name, address) = (RwSignal::new(String::new()), RwSignal::new(String::new()));
    let is_dirty = move || !name.get().is_empty() || !address.get().is_empty();
    let form = FormState::new(&["name", "address"], Signal::derive(is_dirty));
    let save = move || {
        let (name, address) = (name.get_untracked(), filled(&address.get_untracked()));
        form.send(async move { requests::create_site(&name, address).await }, move |site| {
            notices.done(t::SITE_ADDED.get());
            let id = site.id.clone();
            sites.update(|sites| sites.push(site));
            open.set(false);
            set_timeout(move || router.open(Page::widget_code(&id)), std::time::Duration::ZERO);
        });
    };
    view! {
        <DialogForm state=form action=t::SITES_ADD.get() on_submit=save>
            <TextField name="name" label=t::SITE_NAME.get() help=t::SITE_NAME_HELP.get() value=name/>
            <TextField
                name="address"
                label=setup::ADDRESS.get()
                help=setup::ADDRESS_HELP.get()
                placeholder="https://shop.example"
                inputmode="url"
                value=address
                is_code=true
            />
        </DialogForm>
    }
}
