//! Elements that a reader does not see, or did not come for.

use crate::document::{Document, Id, Step};
use crate::elements::SILENT;

/// The ids and classes of menus.
const MENUS: [&str; 11] = [
    "nav",
    "navbar",
    "navigation",
    "navheader",
    "navfooter",
    "main-nav",
    "main-menu",
    "site-nav",
    "breadcrumb",
    "breadcrumbs",
    "pagination",
];
/// The ids and classes of consent banners that are widely used.
const CONSENT: [&str; 22] = [
    "onetrust",
    "cybot",
    "cookiebot",
    "usercentrics",
    "cmplz",
    "didomi",
    "borlabs",
    "klaro",
    "truste",
    "qc-cmp2",
    "iubenda",
    "cky-consent",
    "cookieconsent",
    "cookie-law",
    "cookie-notice",
    "cookienotice",
    "cookie-consent",
    "cookie-banner",
    "cookiebanner",
    "eu-cookie",
    "gdpr",
    "cc-window",
];
/// Words that tell a banner from a page about cookies, or about biscuits.
const BANNER: [&str; 14] = [
    "banner",
    "consent",
    "notice",
    "bar",
    "popup",
    "modal",
    "dialog",
    "overlay",
    "alert",
    "disclaimer",
    "message",
    "hint",
    "hinweis",
    "compliance",
];
/// The word for cookies, as banners in all languages have it.
pub(crate) const COOKIE: [&str; 9] =
    ["cookie", "куки", "кукі", "クッキー", "쿠키", "คุกกี้", "कुकी", "ملفات تعريف الارتباط", "עוגיות"];
/// Maximum letters of a consent banner.
const MAX_BANNER_LENGTH: usize = 4000;

/// How strictly elements are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strictness {
    /// All that is not for readers.
    Full,
    /// Only what a browser does not show, for a page that has nothing else.
    Hidden,
}

/// Returns whether an element and everything in it is left out.
pub(crate) fn is_left_out(document: &Document, id: Id, strictness: Strictness) -> bool {
    let name = document.name(id);
    if name.is_empty() {
        return false;
    }
    if SILENT.contains(&name) || is_hidden(document, id, name) {
        return true;
    }
    if strictness == Strictness::Hidden {
        return false;
    }
    let role = document.attribute(id, "role").unwrap_or_default();
    is_menu(document, id, name)
        || role.eq_ignore_ascii_case("navigation")
        || document.attribute(id, "aria-hidden").is_some_and(|hidden| hidden.eq_ignore_ascii_case("true"))
        || is_skip_link(document, id, name)
        || is_consent(document, id, name, role)
}

/// Returns whether an element is a menu, by its name or by the names that sites give to one.
fn is_menu(document: &Document, id: Id, name: &str) -> bool {
    let is_named = |mark: String| MENUS.contains(&mark.as_str());
    name == "nav" || (matches!(name, "div" | "ul" | "table") && marks(document, id).any(is_named))
}

fn is_hidden(document: &Document, id: Id, name: &str) -> bool {
    let hidden = document.attribute(id, "hidden");
    hidden.is_some_and(|value| !value.eq_ignore_ascii_case("until-found"))
        || (name == "dialog" && document.attribute(id, "open").is_none())
        || document.attribute(id, "style").is_some_and(hides)
}

/// Returns whether an inline style hides its element.
fn hides(style: &str) -> bool {
    style.split(';').filter_map(|declaration| declaration.split_once(':')).any(|(property, value)| {
        let value = value.split('!').next().unwrap_or_default().trim();
        let is = |wanted: &str, expected: &str| {
            property.trim().eq_ignore_ascii_case(wanted) && value.eq_ignore_ascii_case(expected)
        };
        is("display", "none") || is("visibility", "hidden")
    })
}

/// Returns whether an element is a link within the page such as "Skip to content", or the sign beside a
/// heading that links to it.
fn is_skip_link(document: &Document, id: Id, name: &str) -> bool {
    if name != "a" || !document.attribute(id, "href").is_some_and(|address| address.starts_with('#')) {
        return false;
    }
    let mut texts = document.children(id).filter_map(|child| document.text(child));
    texts.next().is_some_and(|text| ["¶", "#", "§", "🔗"].contains(&text.trim()))
        || marks(document, id).any(|mark| mark.contains("skip") || mark.contains("screen-reader"))
}

fn is_consent(document: &Document, id: Id, name: &str, role: &str) -> bool {
    if !matches!(name, "div" | "section" | "aside" | "dialog" | "form" | "footer" | "p") {
        return false;
    }
    let is_known = |mark: &str| CONSENT.iter().any(|known| mark.contains(known));
    let is_banner = |mark: &str| {
        (mark.contains("cookie") || mark.contains("consent") || mark.contains("dsgvo"))
            && BANNER.iter().any(|word| mark.contains(word))
    };
    let is_marked = marks(document, id).any(|mark| is_known(&mark) || is_banner(&mark));
    let is_dialog = role.eq_ignore_ascii_case("dialog") || role.eq_ignore_ascii_case("alertdialog");
    (is_marked || is_dialog) && asks_for_consent(document, id)
}

/// Returns whether an element is short, speaks of cookies or consent, and has something to press.
fn asks_for_consent(document: &Document, id: Id) -> bool {
    let (mut text, mut has_control) = (String::new(), false);
    document.walk(id, |step| {
        let Step::Enter(id) = step else { return true };
        if let Some(part) = document.text(id) {
            text.push_str(part);
        }
        has_control |= matches!(document.name(id), "button" | "a" | "input");
        text.len() <= MAX_BANNER_LENGTH && !matches!(document.name(id), "script" | "style")
    });
    let text_lower = text.to_lowercase();
    has_control
        && text.len() <= MAX_BANNER_LENGTH
        && (COOKIE.iter().any(|word| text_lower.contains(word)) || text_lower.contains("consent"))
}

/// Returns the id and the classes of an element, in lower case.
pub(crate) fn marks(document: &Document, id: Id) -> impl Iterator<Item = String> {
    let values = ["id", "class"].into_iter().filter_map(move |name| document.attribute(id, name));
    values.flat_map(str::split_ascii_whitespace).map(str::to_ascii_lowercase)
}
