//! Types of schema.org with the properties that search engines require, and the form of values.

use jiff::civil::Date;
use serde_json::{Map, Value};

/// The required properties of a type, each with its alternatives, and whether they are required of an object
/// within another one too. After Google's documentation of rich results.
pub(crate) const REQUIRED: [(&str, &[&str], bool); 22] = [
    ("Product", &["name", "offers|review|aggregateRating"], false),
    ("Offer", &["price|priceSpecification"], true),
    ("AggregateOffer", &["lowPrice", "priceCurrency"], true),
    ("FAQPage", &["mainEntity"], false),
    ("Question", &["name", "acceptedAnswer|suggestedAnswer"], true),
    ("BreadcrumbList", &["itemListElement"], true),
    ("Organization", &["name"], false),
    ("LocalBusiness", &["name", "address"], false),
    ("Restaurant", &["name", "address"], false),
    ("Store", &["name", "address"], false),
    ("Event", &["name", "startDate", "location"], false),
    ("Recipe", &["name", "image"], false),
    ("VideoObject", &["name", "thumbnailUrl", "uploadDate"], false),
    ("AggregateRating", &["ratingValue", "ratingCount|reviewCount"], true),
    ("JobPosting", &["title", "description", "datePosted", "hiringOrganization"], false),
    ("WebSite", &["name", "url"], false),
    ("Person", &["name"], false),
    ("Article", &["headline|name"], false),
    ("NewsArticle", &["headline|name"], false),
    ("BlogPosting", &["headline|name"], false),
    ("Review", &["author", "reviewRating|reviewBody"], false),
    ("SoftwareApplication", &["name", "offers|aggregateRating|review"], false),
];

/// Returns the types of an object, without the vocabulary.
pub(crate) fn types(object: &Map<String, Value>) -> Vec<&str> {
    let names = match object.get("@type") {
        Some(Value::String(name)) => vec![name.as_str()],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    names.into_iter().map(|name| name.rsplit(['/', '#', ':']).next().unwrap_or(name)).collect()
}

/// Returns whether a text is a date of ISO 8601, with or without a time; a year or a month alone is one, too.
pub(crate) fn is_date(text: &str) -> bool {
    let mut parts = text.splitn(2, ['T', ' ']);
    let date = parts.next().unwrap_or_default();
    let digits =
        |part: &str, length: usize| part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit());
    let numbers: Vec<&str> = date.split('-').collect();
    let is_date = match numbers.as_slice() {
        [all] if digits(all, 8) => date.parse::<Date>().is_ok(),
        [year] => digits(year, 4),
        [year, month] => {
            digits(year, 4) && digits(month, 2) && (1..=12).contains(&month.parse().unwrap_or(0))
        }
        _ => date.parse::<Date>().is_ok(),
    };
    let is_time = |time: &str| {
        let clock = time.trim_end_matches('Z').trim();
        clock.is_empty() || clock.bytes().next().is_some_and(|byte| byte.is_ascii_digit())
    };
    is_date && parts.next().is_none_or(is_time)
}

/// Returns the day of a date with year, month and day.
pub(crate) fn day(text: &str) -> Option<Date> {
    text.get(..10)?.parse().ok()
}

/// Returns whether a text is a number, with a point and without a sign of a currency.
pub(crate) fn is_price(text: &str) -> bool {
    !text.is_empty() && text.parse::<f64>().is_ok_and(f64::is_finite)
}

pub(crate) fn is_currency(text: &str) -> bool {
    text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_iso_8601() {
        for valid in [
            "2026-05-31",
            "2026-05-31T10:00:00+02:00",
            "2026-05-31T10:00Z",
            "2026",
            "2026-05",
            "20260531",
            "2026-05-31 10:00:00",
        ] {
            assert!(is_date(valid), "{valid}");
        }
        for invalid in
            ["31.05.2026", "May 31, 2026", "2026-13-01", "2026-02-30", "yesterday", "05/31/2026", "2026-5-1"]
        {
            assert!(!is_date(invalid), "{invalid}");
        }
    }

    #[test]
    fn prices_are_numbers() {
        assert!(is_price("12.90") && is_price("0") && is_currency("EUR"));
        assert!(!is_price("12,90 €") && !is_price("from 5") && !is_price("NaN") && !is_currency("Euro"));
    }
}
