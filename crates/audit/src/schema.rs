//! Structured data: JSON-LD with the vocabulary of schema.org.

use std::ops::Range;

use serde_json::{Map, Value};

use crate::facts::Reading;
use crate::rule::{
    ARTICLE_FUTURE, ARTICLE_NO_AUTHOR, ARTICLE_NO_DATE, ARTICLE_OLD, ARTICLE_ORDER, DATA_BREADCRUMB,
    DATA_INVALID_JSON, DATA_MISSING, DATA_NO_CONTEXT, DATA_NO_TYPE, DATA_NOT_VISIBLE, DATA_VALUE,
};
use crate::schema_types::{REQUIRED, day, is_currency, is_date, is_price, types};

/// Maximum bytes of structured data that are read.
const MAX_BYTES: usize = 512 * 1024;
/// Maximum objects of a page that are checked.
const MAX_OBJECTS: usize = 2000;
/// Maximum depth of objects in each other.
const MAX_DEPTH: usize = 64;
/// Days after which an article counts as old.
const OLD_DAYS: i32 = 730;
/// The characters of an answer that are looked for on the page.
const COMPARED: usize = 60;

pub(crate) fn check(reading: &mut Reading<'_>) {
    let blocks = std::mem::take(&mut reading.head.data);
    let mut objects = 0;
    let mut text = None;
    for (json, at) in &blocks {
        if json.trim().is_empty() || json.len() > MAX_BYTES {
            continue;
        }
        let value: Value = match serde_json::from_str(json) {
            Ok(value) => value,
            // Valid, but too deep to be read here.
            Err(error) if error.to_string().contains("recursion limit") => continue,
            Err(error) => {
                let line = json.lines().nth(error.line().saturating_sub(1)).unwrap_or_default().trim();
                let excerpt: String = line.chars().take(80).collect();
                reading.note_text(&DATA_INVALID_JSON, at.clone(), format!("{error}: {excerpt}"), None);
                continue;
            }
        };
        for root in roots(&value) {
            let context = root.get("@context").or(value.get("@context"));
            if context.is_none() {
                let evidence = format!("{{\"@type\": {}", types(root).first().copied().unwrap_or("…"));
                reading.note_text(&DATA_NO_CONTEXT, at.clone(), evidence, None);
            }
            let is_schema = context.is_none_or(|context| context.to_string().contains("schema.org"));
            if !is_schema {
                continue;
            }
            if types(root).is_empty() && !root.contains_key("@graph") && !root.contains_key("@reverse") {
                let first: String = root.keys().take(3).cloned().collect::<Vec<_>>().join(", ");
                reading.note_text(&DATA_NO_TYPE, at.clone(), format!("{{ {first} … }}"), None);
            }
            let mut pending = vec![(root, 0, true)];
            if let Some(Value::Array(graph)) = root.get("@graph") {
                pending.extend(graph.iter().filter_map(Value::as_object).map(|object| (object, 1, true)));
            }
            while let Some((object, depth, is_root)) = pending.pop() {
                objects += 1;
                if objects > MAX_OBJECTS || depth > MAX_DEPTH {
                    break;
                }
                check_object(reading, object, at, is_root, &mut text);
                let inner =
                    object.iter().filter(|(name, _)| *name != "@graph").flat_map(|(_, value)| match value {
                        Value::Array(values) => values.iter().collect(),
                        other => vec![other],
                    });
                pending.extend(inner.filter_map(Value::as_object).map(|object| (object, depth + 1, false)));
            }
        }
    }
}

/// Returns the outermost objects.
fn roots(value: &Value) -> Vec<&Map<String, Value>> {
    match value {
        Value::Array(values) => values.iter().filter_map(Value::as_object).collect(),
        other => other.as_object().into_iter().collect(),
    }
}

fn check_object(
    reading: &mut Reading<'_>,
    object: &Map<String, Value>,
    at: &Range<usize>,
    is_root: bool,
    text: &mut Option<String>,
) {
    let names = types(object);
    // A reference to an object that is elsewhere.
    let is_reference = object.keys().all(|name| matches!(name.as_str(), "@id" | "@type"));
    if is_reference {
        return;
    }
    for name in &names {
        for (required, is_nested) in
            REQUIRED.iter().filter(|(kind, ..)| kind == name).map(|(_, all, nested)| (all, *nested))
        {
            // A part of another object, such as the publisher of an article, may be short.
            if !is_root && !is_nested {
                continue;
            }
            for any in *required {
                if !any.split('|').any(|property| has(object, property)) {
                    let evidence = format!("{name} without {}", any.replace('|', " or "));
                    reading.note_text(&DATA_MISSING, at.clone(), evidence, None);
                }
            }
        }
    }
    values(reading, object, at);
    for name in names {
        match name {
            "BreadcrumbList" => breadcrumb(reading, object, at),
            "Question" => question(reading, object, at, text),
            "Article" | "NewsArticle" | "BlogPosting" | "TechArticle" | "Report" => {
                article(reading, object, at, is_root);
            }
            _ => {}
        }
    }
}

fn has(object: &Map<String, Value>, property: &str) -> bool {
    match object.get(property) {
        None | Some(Value::Null) => false,
        Some(Value::String(text)) => !text.trim().is_empty(),
        Some(Value::Array(values)) => !values.is_empty(),
        Some(_) => true,
    }
}

/// Checks the values whose form is defined. Texts with the template marks of a site are left alone.
fn values(reading: &mut Reading<'_>, object: &Map<String, Value>, at: &Range<usize>) {
    for (name, value) in object {
        let text = match value {
            Value::String(text) => text.trim().to_owned(),
            Value::Number(number) => number.to_string(),
            _ => continue,
        };
        let is_valid = match name.as_str() {
            "datePublished" | "dateModified" | "dateCreated" | "uploadDate" | "datePosted"
            | "validThrough" | "startDate" | "endDate" | "priceValidUntil" => {
                text.is_empty() || is_date(&text)
            }
            "price" | "lowPrice" | "highPrice" => is_price(&text),
            "priceCurrency" => is_currency(&text),
            "ratingValue" => rating(object, &text),
            "reviewCount" | "ratingCount" => text.parse::<u64>().is_ok(),
            _ => true,
        };
        if !is_valid {
            reading.note_text(&DATA_VALUE, at.clone(), format!("\"{name}\": {value}"), None);
        }
    }
}

/// Returns whether a rating is within its scale, 1 to 5 if it has none. Words and percentages have none.
fn rating(object: &Map<String, Value>, text: &str) -> bool {
    let number = |value: &Value| match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    let Ok(rating) = text.replace(',', ".").parse::<f64>() else {
        return text.ends_with('%') || text.contains('/');
    };
    let best = object.get("bestRating").and_then(number).unwrap_or(5.0);
    let worst = object.get("worstRating").and_then(number).unwrap_or(0.0);
    (worst.min(best)..=best.max(worst)).contains(&rating)
}

fn breadcrumb(reading: &mut Reading<'_>, object: &Map<String, Value>, at: &Range<usize>) {
    let Some(Value::Array(items)) = object.get("itemListElement") else { return };
    let position = |item: &Value| match item.get("position") {
        Some(Value::Number(number)) => number.as_u64(),
        Some(Value::String(text)) => text.trim().parse().ok(),
        _ => None,
    };
    let positions: Vec<Option<u64>> = items.iter().map(position).collect();
    let mut sorted: Vec<u64> = positions.iter().flatten().copied().collect();
    sorted.sort_unstable();
    if !sorted.iter().copied().eq(1..=items.len() as u64) {
        let shown: Vec<String> = positions
            .iter()
            .map(|at| at.map_or_else(|| "none".to_owned(), |at| at.to_string()))
            .take(20)
            .collect();
        reading.note_text(&DATA_BREADCRUMB, at.clone(), format!("positions {}", shown.join(", ")), None);
    }
}

/// Checks that the page shows a question with its answer.
fn question(
    reading: &mut Reading<'_>,
    object: &Map<String, Value>,
    at: &Range<usize>,
    text: &mut Option<String>,
) {
    let answer = object.get("acceptedAnswer").and_then(|answer| answer.get("text")).and_then(Value::as_str);
    let parts = [object.get("name").and_then(Value::as_str), answer];
    let page = text.get_or_insert_with(|| letters(&reading.all_text));
    let mut unseen = Vec::new();
    for part in parts.into_iter().flatten() {
        let wanted: String = letters(&chat_page::text_of_html(part)).chars().take(COMPARED).collect();
        if !wanted.is_empty() && !page.contains(&wanted) {
            unseen.push(part.to_owned());
        }
    }
    for part in unseen {
        reading.note_text(&DATA_NOT_VISIBLE, at.clone(), part, None);
    }
}

/// Returns the letters and digits of a text in lower case.
fn letters(text: &str) -> String {
    text.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn article(reading: &mut Reading<'_>, object: &Map<String, Value>, at: &Range<usize>, is_root: bool) {
    let text =
        |name: &str| object.get(name).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
    let (published, modified) = (text("datePublished"), text("dateModified"));
    if is_root {
        if published.is_none() && modified.is_none() {
            reading.note_text(&ARTICLE_NO_DATE, at.clone(), title_of(object), None);
        }
        if !has(object, "author") {
            reading.note_text(&ARTICLE_NO_AUTHOR, at.clone(), title_of(object), None);
        }
    }
    let days = (published.and_then(day), modified.and_then(day));
    if let (Some(published), Some(modified)) = days
        && modified < published
    {
        let evidence = format!("published {published}, modified {modified}");
        reading.note_text(&ARTICLE_ORDER, at.clone(), evidence, None);
    }
    let (Some(today), Some(last)) = (reading.site.today, days.1.max(days.0)) else { return };
    // The day after: somewhere it is tomorrow already.
    let age = today.since(last).map_or(0, |span| span.get_days());
    if age < -1 {
        reading.note_text(&ARTICLE_FUTURE, at.clone(), last.to_string(), None);
    } else if age > OLD_DAYS {
        reading.note_text(&ARTICLE_OLD, at.clone(), format!("last changed {last}"), None);
    }
}

fn title_of(object: &Map<String, Value>) -> String {
    let name = object.get("headline").or(object.get("name")).and_then(Value::as_str).unwrap_or("Article");
    name.chars().take(80).collect()
}
