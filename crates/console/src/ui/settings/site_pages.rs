//! The pages of a site, as the service has noticed them: that one was seen, and the websites that were
//! refused, which can be allowed here.

use chat_protocol::admin::settings::{Site, SiteChange, SiteSetup};
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::Sites;
use super::page::{notices, replace_site};
use crate::api::{ApiError, settings as requests};
use crate::browser::clock;
use crate::location::Page;
use crate::state::{app, watch_setup};
use crate::text::{self, settings, setup as t};
use crate::ui::controls::{Icon, icon};

/// Returns how long ago a time of the service is, and follows the clock.
fn ago(time: &str) -> String {
    let now_ms = app().now_ms.get();
    clock::parse_ms(time).map(|time_ms| text::relative(time_ms, now_ms)).unwrap_or_default()
}

/// Allows an origin beside those that the site has at the moment: a colleague may have changed them.
async fn allow(site_id: &str, origin: &str) -> Result<Site, ApiError> {
    let sites = requests::sites().await?;
    let site = sites.into_iter().find(|site| site.id == site_id).unwrap_or_default();
    let origins = with_origin(site.allowed_origins, origin);
    requests::change_site(site_id, &SiteChange { allowed_origins: Some(origins), ..SiteChange::default() })
        .await
}

/// Adds an origin to a list, once.
fn with_origin(mut origins: Vec<String>, origin: &str) -> Vec<String> {
    if !origins.iter().any(|known| known == origin) {
        origins.push(origin.to_owned());
    }
    origins
}

/// The websites that asked for the chat and were refused, each with a button that allows it.
#[component]
pub fn RefusedOrigins(
    site_id: String,
    setup: RwSignal<Option<SiteSetup>>,
    /// Is called with the origin and the changed site.
    #[prop(optional, into)]
    on_allowed: Option<Callback<(String, Site)>>,
) -> impl IntoView {
    let (sites, notices) = (expect_context::<Sites>(), notices());
    let site_id = StoredValue::new(site_id);
    let allow = move |origin: String| {
        let id = site_id.get_value();
        spawn_local(async move {
            match allow(&id, &origin).await {
                Ok(site) => {
                    replace_site(sites, &site);
                    notices.done(t::ALLOWED.with(&[("origin", &origin)]));
                    setup.try_update(|setup| {
                        if let Some(setup) = setup {
                            setup.has_address = true;
                            setup.refused_origins.retain(|refused| refused.origin != origin);
                        }
                    });
                    if let Some(on_allowed) = on_allowed {
                        on_allowed.try_run((origin, site));
                    }
                }
                Err(error) => notices.problem(error.message),
            }
        });
    };
    let refused = Memo::new(move |_| {
        setup.with(|setup| setup.as_ref().map(|setup| setup.refused_origins.clone()).unwrap_or_default())
    });
    let is_any = Memo::new(move |_| !refused.read().is_empty());
    let origins = move || refused.get().into_iter().map(|refused| refused.origin).collect::<Vec<_>>();
    let facts = move |origin: &str| {
        let found = refused.get().into_iter().find(|refused| refused.origin == origin);
        found.map(|refused| t::REFUSED_TIMES.with(refused.count, &[("time", &ago(&refused.last_at))]))
    };
    view! {
        <Show when=move || is_any.get()>
            <div class="refused-origins">
                <p>{t::REFUSED.get()}</p>
                <ul class="rows">
                    // A row that stays keeps the focus of its button.
                    <For each=origins key=String::clone let:origin>
                        {
                            let label = t::ALLOW_NAMED.with(&[("origin", &origin)]);
                            let [of_facts, allowed] = [(); 2].map(|()| origin.clone());
                            view! {
                                <li>
                                    <div class="row-main">
                                        <p class="row-title" dir="ltr">{origin}</p>
                                        <p class="row-facts">{move || facts(&of_facts)}</p>
                                    </div>
                                    <div class="row-actions">
                                        <button
                                            type="button"
                                            class="button"
                                            aria-label=label
                                            on:click=move |_| allow(allowed.clone())
                                        >
                                            {t::ALLOW.get()}
                                        </button>
                                    </div>
                                </li>
                            }
                        }
                    </For>
                </ul>
            </div>
        </Show>
    }
}

/// Tells whether a page with the chat was seen, and which websites were refused. `connects`: whether the
/// pages connect to the service directly, for which their origin has to be allowed.
#[component]
pub fn PageSeen(site_id: String, #[prop(into)] connects: Signal<bool>) -> impl IntoView {
    let sites = expect_context::<Sites>();
    let setup = watch_setup(Signal::stored(Some(site_id.clone())));
    let is_seen =
        Memo::new(move |_| setup.with(|setup| setup.as_ref().map(|setup| setup.page_last_seen_at.is_some())));
    let seen = move || {
        let time = setup.with(|setup| setup.as_ref().and_then(|setup| setup.page_last_seen_at.clone()));
        time.map(|time| t::SEEN.with(&[("time", &ago(&time))]))
    };
    let id = site_id.clone();
    let needs_address = Memo::new(move |_| {
        let has_origin = |site: &Site| site.id == id && !site.allowed_origins.is_empty();
        connects.get() && sites.get().is_some_and(|sites| !sites.iter().any(has_origin))
    });
    let general = Page::settings(&["site", &site_id]).href();
    view! {
        <div class="page-seen" class:set-card=move || is_seen.get().is_some()>
            <div role="status">
                {move || match is_seen.get() {
                    // That it was seen is announced, not that time goes by.
                    Some(true) => view! {
                        <p class="is-seen">
                            {icon(Icon::Check)}
                            <span aria-live="off">{seen}</span>
                        </p>
                    }
                    .into_any(),
                    Some(false) => view! {
                        <p>{t::WAITING.get()}</p>
                        <p class="field-help">{t::WAITING_HELP.get()}</p>
                    }
                    .into_any(),
                    None => ().into_any(),
                }}
            </div>
            <Show when=move || needs_address.get()>
                <p class="notice is-warning"><a href=general.clone()>{settings::CODE_SERVICE_HELP.get()}</a></p>
            </Show>
            <RefusedOrigins site_id setup/>
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_added_once_after_those_that_are_allowed() {
        let origins = vec!["https://shop.example".to_owned()];
        let both = with_origin(origins, "https://www.shop.example");
        assert_eq!(both, ["https://shop.example", "https://www.shop.example"]);
        assert_eq!(with_origin(both.clone(), "https://shop.example"), both);
    }
}
