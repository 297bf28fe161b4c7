//! The check of a site's page and proxy, which the service requests as a browser would.

use chat_protocol::admin::settings::{CheckedPart, ProxyCheck, ProxyChecked, ProxyProblem, Site};
use leptos::prelude::*;

use super::options::WidgetOptions;
use super::service_proxy;
use crate::api::settings as requests;
use crate::browser::window;
use crate::text::{Text, settings as t};
use crate::ui::forms::{Form, FormProblem, FormState, TextField};
use crate::ui::settings::page::Card;

/// The form of the check, and its result.
#[component]
pub fn ProxyCard(site: Site, options: RwSignal<WidgetOptions>) -> impl IntoView {
    let place = site.domain.clone().or_else(|| site.allowed_origins.first().cloned());
    let page = RwSignal::new(place.unwrap_or_default());
    let result = RwSignal::new(None::<Vec<ProxyChecked>>);
    let form = FormState::new(&["page", "proxy"], false);
    let id = StoredValue::new(site.id);
    let proxy = move || {
        options.with(|options| {
            if options.uses_service {
                let origin = window().location().origin().unwrap_or_default();
                [origin, id.with_value(|id| service_proxy(id))].concat()
            } else {
                options.proxy.clone()
            }
        })
    };
    let check = move || {
        result.set(None);
        let request = ProxyCheck { page: page.get_untracked().trim().to_owned(), proxy: untrack(proxy) };
        let id = id.get_value();
        form.send(async move { requests::check_proxy(&id, &request).await }, move |found| {
            result.set(Some(found));
        });
    };
    view! {
        <Card title=t::CHECK_TITLE.get() lead=t::CHECK_LEAD.get()>
            <Form state=form on_submit=check>
                <TextField
                    name="page"
                    label=t::CHECK_PAGE.get()
                    help=t::CHECK_PAGE_HELP.get()
                    placeholder="https://shop.example/"
                    kind="url"
                    value=page
                    is_code=true
                />
                <p class="field-help">{move || t::CHECK_PROXY.with(&[("proxy", &proxy())])}</p>
                <FormProblem/>
                <div class="form-foot">
                    <button type="submit" class="button is-primary" disabled=move || form.is_busy()>
                        {move || if form.is_busy() { t::CHECKING.get() } else { t::CHECK.get() }}
                    </button>
                </div>
            </Form>
            <div role="status">
                {move || {
                    result.get().map(|found| view! { <ul class="findings">{found.iter().map(row).collect_view()}</ul> })
                }}
            </div>
        </Card>
    }
}

fn part_text(part: CheckedPart) -> Text {
    match part {
        CheckedPart::Page => t::CHECKED_PAGE,
        CheckedPart::Widget => t::CHECKED_WIDGET,
        CheckedPart::Proxy => t::CHECKED_PROXY,
        CheckedPart::Chat => t::CHECKED_CHAT,
    }
}

/// Returns what to do about a problem.
fn advice(problem: ProxyProblem) -> Text {
    match problem {
        ProxyProblem::Unreachable => t::CHECK_UNREACHABLE,
        ProxyProblem::Redirect => t::CHECK_REDIRECT,
        ProxyProblem::NotFound => t::CHECK_NOT_FOUND,
        ProxyProblem::Status => t::CHECK_STATUS,
        ProxyProblem::NotTheProxy => t::CHECK_NOT_THE_PROXY,
        ProxyProblem::Token => t::CHECK_TOKEN,
        ProxyProblem::OtherSite => t::CHECK_OTHER_SITE,
        ProxyProblem::NoWidget => t::CHECK_NO_WIDGET,
        ProxyProblem::SwitchedOff => t::CHECK_SWITCHED_OFF,
    }
}

fn row(checked: &ProxyChecked) -> impl IntoView + use<> {
    let (look, mark) = match checked.problem {
        None => ("state is-good", t::CHECK_PASSED),
        Some(ProxyProblem::NoWidget | ProxyProblem::SwitchedOff) => ("state is-warning", t::CHECK_WARNING),
        Some(_) => ("state is-bad", t::CHECK_FAILED),
    };
    let own = (!checked.own_options.is_empty()).then(|| {
        // A list of code is the same in all languages.
        t::CHECK_OWN_OPTIONS.with(&[("attributes", &checked.own_options.join(", "))])
    });
    let status = checked.status.map(|status| t::CHECK_HTTP.with(&[("status", &status.to_string())]));
    view! {
        <li>
            <span class=look>{mark.get()}</span>
            <div>
                <p class="row-title">{part_text(checked.part).get()}</p>
                {checked
                    .problem
                    .map(|problem| {
                        view! { <p>{advice(problem).get()} " " {status}</p> }
                    })}
                {own.map(|text| view! { <p>{text}</p> })}
            </div>
        </li>
    }
}
