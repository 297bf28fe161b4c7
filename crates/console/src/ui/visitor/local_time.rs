//! The time where the visitor is. It says how it is known, and does not pretend.

use chat_protocol::admin::Visitor;
use leptos::prelude::*;

use super::history::Pages;
use crate::state::app;
use crate::text::{Text, units, visitor};
use crate::ui::controls::{Icon, icon};

/// A time zone, and how it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Zone {
    /// The visitor's browser has reported it.
    Reported(String),
    /// The only one of the visitor's country.
    OfCountry(String),
    /// The only one of the region in the visitor's language.
    OfLanguage(String),
    /// Nothing tells.
    Unknown,
}

impl Zone {
    /// Finds the zone. `only_zone` returns the only zone of a region.
    fn find(
        reported: Option<&str>,
        country: Option<&str>,
        locale: Option<&str>,
        only_zone: impl Fn(&str) -> Option<String>,
    ) -> Self {
        if let Some(zone) = reported {
            return Self::Reported(zone.to_owned());
        }
        if let Some(zone) = country.and_then(region_code).and_then(|code| only_zone(&code)) {
            return Self::OfCountry(zone);
        }
        match locale.and_then(region_of_tag).and_then(|code| only_zone(&code)) {
            Some(zone) => Self::OfLanguage(zone),
            None => Self::Unknown,
        }
    }

    /// Returns the zone's name and the text that says how it is known.
    fn parts(&self) -> Option<(&str, Text)> {
        match self {
            Self::Reported(zone) => Some((zone, visitor::TIME_REPORTED)),
            Self::OfCountry(zone) => Some((zone, visitor::TIME_FROM_COUNTRY)),
            Self::OfLanguage(zone) => Some((zone, visitor::TIME_FROM_LANGUAGE)),
            Self::Unknown => None,
        }
    }
}

/// The visitor's time.
#[component]
pub(super) fn LocalTime(person: Memo<Visitor>, locale: Memo<Option<String>>, pages: Pages) -> impl IntoView {
    let app = app();
    let zone = Memo::new(move |_| {
        let reported = pages.time_zone().filter(|zone| units::time_in_zone(0.0, zone).is_some());
        let country = person.read().country.clone();
        Zone::find(reported.as_deref(), country.as_deref(), locale.read().as_deref(), units::zone_of_region)
    });
    let shown = move || {
        let zone = zone.read();
        let (name, how) = zone.parts()?;
        let time = units::time_in_zone(app.now_ms.get(), name)?;
        Some((time, how.with(&[("zone", &name.replace('_', " "))])))
    };
    // Nothing is said where nothing is known.
    move || {
        shown().map(|(time, how)| {
            view! {
                <p class="local-time">
                    {icon(Icon::Clock)}
                    <span class="for-readers">{visitor::LOCAL_TIME.get()}</span>
                    <strong>{time}</strong>
                    <span class="hint">{how}</span>
                </p>
            }
        })
    }
}

/// Returns a two-letter code in upper case.
fn region_code(text: &str) -> Option<String> {
    let text = text.trim();
    let is_code = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_alphabetic());
    is_code.then(|| text.to_ascii_uppercase())
}

/// Returns the region of a language tag such as `de-CH` or `zh-Hans-SG`.
fn region_of_tag(tag: &str) -> Option<String> {
    tag.split('-').skip(1).find_map(region_code)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only_zone(code: &str) -> Option<String> {
        match code {
            "CH" => Some("Europe/Zurich".to_owned()),
            "JP" => Some("Asia/Tokyo".to_owned()),
            _ => None,
        }
    }

    #[test]
    fn what_the_browser_reports_comes_before_any_guess() {
        let zone = Zone::find(Some("Asia/Tokyo"), Some("CH"), Some("de-CH"), only_zone);
        assert_eq!(zone, Zone::Reported("Asia/Tokyo".to_owned()));
    }

    #[test]
    fn a_country_with_one_zone_is_a_guess_and_so_is_a_language_with_a_region() {
        let find = |country, locale| Zone::find(None, country, locale, only_zone);
        assert_eq!(find(Some("jp"), Some("de-CH")), Zone::OfCountry("Asia/Tokyo".to_owned()));
        assert_eq!(find(Some("US"), Some("de-CH")), Zone::OfLanguage("Europe/Zurich".to_owned()));
        assert_eq!(find(Some("Atlantis"), Some("zh-Hans-JP")), Zone::OfLanguage("Asia/Tokyo".to_owned()));
    }

    #[test]
    fn a_language_alone_says_nothing() {
        assert_eq!(Zone::find(None, None, Some("de"), only_zone), Zone::Unknown);
        assert_eq!(Zone::find(None, Some("US"), Some("en-US"), only_zone), Zone::Unknown);
        assert_eq!(Zone::find(None, None, None, only_zone), Zone::Unknown);
    }
}
