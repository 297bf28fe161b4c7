//! A site: its name, languages, origins and switches; how it greets; switching it off, and deleting it.

use chat_protocol::admin::settings::{Patch, Site, SiteChange};
use leptos::prelude::*;

use super::danger::DangerRow;
use super::page::{Card, Head, notices, replace_site, time};
use super::site_pages::RefusedOrigins;
use super::{Sites, welcome};
use crate::api::settings as requests;
use crate::location::Page;
use crate::state::{app, watch_setup};
use crate::text::settings as t;
use crate::ui::forms::{
    Editing, Form, FormState, SaveBar, Switch, TextArea, TextField, changed, draft, filled, lines,
};

const FIELDS: &[&str] = &["name", "primaryLocale", "supportedLocales", "allowedOrigins"];

draft!(
    /// The values of the form.
    General, GeneralFields {
        name: String,
        primary_locale: String,
        supported_locales: String,
        allowed_origins: String,
        chat_enabled: bool,
        widget_enabled: bool,
        tracking_enabled: bool,
    }
);

impl From<&Site> for General {
    fn from(site: &Site) -> Self {
        Self {
            name: site.name.clone(),
            primary_locale: site.primary_locale.clone().unwrap_or_default(),
            supported_locales: site.supported_locales.join("\n"),
            allowed_origins: site.allowed_origins.join("\n"),
            chat_enabled: site.chat_enabled,
            widget_enabled: site.widget_enabled,
            tracking_enabled: site.tracking_enabled,
        }
    }
}

impl General {
    /// Returns what differs from the saved values.
    fn change(&self, saved: &Self) -> SiteChange {
        let primary = changed(&self.primary_locale, &saved.primary_locale);
        SiteChange {
            name: changed(&self.name, &saved.name),
            primary_locale: primary.map_or(Patch::Keep, |tag| filled(&tag).into()),
            supported_locales: changed(&self.supported_locales, &saved.supported_locales)
                .map(|text| lines(&text)),
            allowed_origins: changed(&self.allowed_origins, &saved.allowed_origins).map(|text| lines(&text)),
            chat_enabled: changed(&self.chat_enabled, &saved.chat_enabled),
            widget_enabled: changed(&self.widget_enabled, &saved.widget_enabled),
            tracking_enabled: changed(&self.tracking_enabled, &saved.tracking_enabled),
            ..SiteChange::default()
        }
    }
}

/// The page about a site.
#[component]
pub fn SiteSettings(site: Site) -> impl IntoView {
    let facts = [
        (t::SITE_ID, Some(site.id.clone())),
        (t::SITE_DOMAIN, site.domain.clone()),
        (t::SITE_PLATFORM, site.platform.clone()),
        (t::SITE_CREATED, Some(time(&site.created_at))),
        (t::SITE_ACTIVATED, site.activated_at.as_deref().map(time)),
    ];
    let facts = facts.into_iter().filter_map(|(name, value)| {
        let value = value?;
        Some(view! {
            <div>
                <dt>{name.get()}</dt>
                <dd dir="auto">{value}</dd>
            </div>
        })
    });
    view! {
        <Head title=site.name.clone() lead=t::SITE_LEAD.get()/>
        {site.disabled.then(|| view! { <p class="notice is-warning">{t::SITE_IS_OFF.get()}</p> })}
        <dl class="facts">{facts.collect_view()}</dl>
        <GeneralCard site=site.clone()/>
        <welcome::WelcomeCard site=site.clone()/>
        <DangerCard site/>
    }
}

/// Returns the text of the allowed origins once another one is saved. What was typed stays.
fn with_allowed(typed: &str, before: &General, saved: &General, origin: &str) -> String {
    if typed == before.allowed_origins {
        return saved.allowed_origins.clone();
    }
    [typed.trim_end(), "\n", origin].concat().trim_start().to_owned()
}

#[component]
fn GeneralCard(site: Site) -> impl IntoView {
    let sites = expect_context::<Sites>();
    let editing = Editing::<GeneralFields>::new(General::from(&site)).kept(&["site", &site.id].join("."));
    let form = FormState::new(FIELDS, editing.is_dirty());
    let id = site.id;
    let site_id = id.clone();
    let save = move || {
        let (now, id) = (editing.now(), id.clone());
        let change = now.change(&editing.saved());
        form.send(async move { requests::change_site(&id, &change).await }, move |site: Site| {
            editing.accept(&now, General::from(&site));
            replace_site(sites, &site);
        });
    };
    let fields = editing.fields;
    let setup = watch_setup(Signal::stored(Some(site_id.clone())));
    let allowed = move |(origin, site): (String, Site)| {
        let before = editing.saved();
        let saved = General { allowed_origins: General::from(&site).allowed_origins, ..before.clone() };
        let typed = editing.now().allowed_origins;
        fields.allowed_origins.set(with_allowed(&typed, &before, &saved, &origin));
        editing.accept(&before, saved);
    };
    view! {
        <Card title=t::SITE_GENERAL.get()>
            <Form state=form on_submit=save>
                <TextField name="name" label=t::SITE_NAME.get() value=fields.name/>
                <div class="field-row">
                    <TextField
                        name="primaryLocale"
                        label=t::SITE_PRIMARY_LOCALE.get()
                        help=t::SITE_PRIMARY_LOCALE_HELP.get()
                        placeholder="en"
                        value=fields.primary_locale
                        is_code=true
                    />
                    <TextArea
                        name="supportedLocales"
                        label=t::SITE_LOCALES.get()
                        help=t::SITE_LOCALES_HELP.get()
                        placeholder="en\nde"
                        value=fields.supported_locales
                        is_code=true
                    />
                </div>
                <TextArea
                    name="allowedOrigins"
                    label=t::SITE_ORIGINS.get()
                    help=t::SITE_ORIGINS_HELP.get()
                    placeholder="https://shop.example"
                    value=fields.allowed_origins
                    is_code=true
                />
                <RefusedOrigins site_id setup on_allowed=allowed/>
                <fieldset class="field-group">
                    <legend>{t::SITE_SWITCHES.get()}</legend>
                    <Switch label=t::SITE_CHAT.get() help=t::SITE_CHAT_HELP.get() value=fields.chat_enabled/>
                    <Switch label=t::SITE_WIDGET.get() help=t::SITE_WIDGET_HELP.get() value=fields.widget_enabled/>
                    <Switch
                        label=t::SITE_TRACKING.get()
                        help=t::SITE_TRACKING_HELP.get()
                        value=fields.tracking_enabled
                    />
                </fieldset>
                <SaveBar on_reset=move || editing.reset()/>
            </Form>
        </Card>
    }
}

/// Switches the site off or on, and deletes it.
#[component]
fn DangerCard(site: Site) -> impl IntoView {
    let (sites, router, notices) = (expect_context::<Sites>(), app().router, notices());
    let is_off = site.disabled;
    let id = StoredValue::new(site.id);
    let (title, text) =
        if is_off { (t::SITE_ENABLE, t::SITE_ENABLE_HELP) } else { (t::SITE_DISABLE, t::SITE_DISABLE_HELP) };
    view! {
        <Card title=t::DANGER.get() is_danger=true>
            <DangerRow
                title
                text
                request=move || {
                    let id = id.get_value();
                    async move { requests::set_site_disabled(&id, !is_off).await }
                }
                on_done=move |_| {
                    notices.done(if is_off { t::SITE_ENABLED.get() } else { t::SITE_DISABLED.get() });
                    sites.reload();
                }
            />
            <DangerRow
                title=t::SITE_DELETE
                text=t::SITE_DELETE_HELP
                is_final=true
                typed=site.name
                request=move || {
                    let id = id.get_value();
                    async move { requests::delete_site(&id).await }
                }
                on_done=move |_| {
                    notices.done(t::SITE_DELETED.get());
                    sites.update(|sites| sites.retain(|site| site.id != id.get_value()));
                    router.open(Page::settings(&["sites"]));
                }
            />
        </Card>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_that_is_allowed_joins_what_was_typed() {
        let list = |origins: &str| General { allowed_origins: origins.to_owned(), ..General::default() };
        let (before, saved) = (list("https://a.example"), list("https://a.example\nhttps://b.example"));
        let shown = |typed: &str| with_allowed(typed, &before, &saved, "https://b.example");
        assert_eq!(shown("https://a.example"), saved.allowed_origins);
        assert_eq!(shown("https://c.example\n"), "https://c.example\nhttps://b.example");
        assert_eq!(shown(""), "https://b.example");
    }

    #[test]
    fn only_what_was_changed_is_sent() {
        let site = Site { name: "Shop".to_owned(), primary_locale: Some("en".to_owned()), ..Site::default() };
        let saved = General::from(&site);
        assert_eq!(saved.change(&saved), SiteChange::default());
        let now = General {
            primary_locale: " ".to_owned(),
            allowed_origins: "https://a.example\n\n https://b.example ".to_owned(),
            chat_enabled: true,
            ..saved.clone()
        };
        let json = serde_json::to_value(now.change(&saved)).expect("JSON");
        let expected = serde_json::json!({
            "primaryLocale": null,
            "allowedOrigins": ["https://a.example", "https://b.example"],
            "chatEnabled": true,
        });
        assert_eq!(json, expected);
    }
}
