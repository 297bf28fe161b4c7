//! Page heads that are suggested for synced pages: only what a page lacks, or what is shown to be wrong.
//!
//! Nothing that a page has is replaced by another wording, and no text is cut. A part whose text the page has
//! elsewhere in its head is proved to fit; one that the service has chosen is marked as composed.

use std::net::IpAddr;

use chat_page::opening;
use chat_protocol::admin::publishing::{
    Because, Fault, Field, MAX_DESCRIPTION, MAX_TITLE, MIN_DESCRIPTION, TextSource, repeats_title,
};
use chat_protocol::{ContentItem, Overlay, PageHead, Value};
use reqwest::Url;

use crate::text::truncate_words;

/// Maximum characters of a title in the list.
const MAX_LISTED_TITLE: usize = 200;
/// Maximum bytes of a path; a page with a longer one is not looked at.
const MAX_PATH_BYTES: usize = 2048;

/// A suggested page head of a synced page.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Suggestion {
    pub(super) path: String,
    pub(super) locale: String,
    /// The title in the list.
    pub(super) title: String,
    /// The parts that would be better. Without any, the page needs nothing.
    pub(super) overlay: Overlay,
    pub(super) because: Vec<Because>,
}

impl Suggestion {
    /// Looks at an item that has a path. A page whose head is not known gets no suggestion.
    pub(crate) fn of(item: &ContentItem) -> Option<Self> {
        let path = item.path.clone().filter(|path| path.len() <= MAX_PATH_BYTES && !path.contains('\0'))?;
        let title = item.title.as_deref().map(str::trim).filter(|title| !title.is_empty());
        let mut suggestion = Self {
            locale: item.locale.clone().unwrap_or_default(),
            title: truncate_words(title.unwrap_or(&path), MAX_LISTED_TITLE).replace('\0', ""),
            overlay: Overlay { path: Some(path.clone()), locale: item.locale.clone(), ..Overlay::default() },
            because: Vec::new(),
            path,
        };
        if let Some(head) = PageHead::of(&item.data).filter(PageHead::is_for_search) {
            suggestion.improve(&head, title, item.url.as_deref());
        }
        Some(suggestion)
    }

    fn improve(&mut self, head: &PageHead, name: Option<&str>, url: Option<&str>) {
        let title = head.title.as_deref().or(name);
        let fits = |name: &&str| {
            let is_text = !name.chars().any(char::is_control) && name.chars().any(char::is_alphanumeric);
            is_text && name.chars().count() <= MAX_TITLE
        };
        if head.title.is_none()
            && let Some(heading) = name.filter(fits)
        {
            self.overlay.title = Some(heading.to_owned());
            self.add(Field::Title, Fault::Missing, TextSource::Page);
        }
        let fault = match (&head.description, title) {
            (None, _) => Some(Fault::Missing),
            (Some(own), Some(title)) if repeats_title(own, title) => Some(Fault::RepeatsTitle),
            _ => None,
        };
        let lead = head.lead.as_deref().zip(fault).and_then(|(lead, fault)| {
            let length = MIN_DESCRIPTION..=MAX_DESCRIPTION;
            opening(lead, title.unwrap_or_default(), &length).map(|lead| (lead, fault))
        });
        if let Some((lead, fault)) = lead {
            self.overlay.description = Some(lead);
            self.add(Field::Description, fault, TextSource::Composed);
        }
        if let Some(canonical) = head.canonical.as_deref().and_then(|own| reachable(own, url?)) {
            self.overlay.canonical_url = Some(canonical);
            self.add(Field::Canonical, Fault::Unreachable, TextSource::Page);
        }
        self.preview(head, fault.is_some());
    }

    /// Completes the preview in social networks from the title and the description.
    fn preview(&mut self, head: &PageHead, own_is_wrong: bool) {
        let is_composed = self.overlay.description.is_some();
        let own = head.description.clone().filter(|_| !own_is_wrong);
        let description = self.overlay.description.clone().or(own);
        let title = self.overlay.title.clone().or(head.title.clone());
        // A title alone is what networks show without any preview.
        let (Some(title), Some(description)) = (title, description) else { return };
        for (property, text) in [("title", title), ("description", description)] {
            if head.open_graph(property).is_none_or(|own| own.trim().is_empty()) {
                self.overlay.open_graph.push((property.to_owned(), text));
            }
        }
        let has_description = self.overlay.open_graph.iter().any(|(property, _)| property == "description");
        let source = if is_composed && has_description { TextSource::Composed } else { TextSource::Page };
        if !self.overlay.open_graph.is_empty() {
            self.add(Field::OpenGraph, Fault::Missing, source);
        }
    }

    fn add(&mut self, field: Field, fault: Fault, source: TextSource) {
        self.because.push(Because { field, fault, source });
    }

    /// Removes a part.
    pub(super) fn remove(&mut self, field: Field) {
        self.because.retain(|because| because.field != field);
        match field {
            Field::Title => self.overlay.title = None,
            Field::Description => self.overlay.description = None,
            Field::Canonical => self.overlay.canonical_url = None,
            Field::OpenGraph => self.overlay.open_graph.clear(),
            Field::Robots | Field::StructuredData | Field::Text => {}
        }
    }

    /// Removes the parts that the published overlay of the page has, and keeps the others of that overlay.
    /// Returns whether anything is left to suggest.
    pub(super) fn add_to(&mut self, published: Option<&Overlay>) -> bool {
        let Some(published) = published else { return self.overlay.has_content() };
        for (field, is_there) in [
            (Field::Title, published.title.is_some()),
            (Field::Description, published.description.is_some()),
            (Field::Canonical, published.canonical_url.is_some()),
        ] {
            if is_there {
                self.remove(field);
            }
        }
        let has = |property: &str| published.open_graph.iter().any(|(known, _)| known == property);
        self.overlay.open_graph.retain(|(property, _)| !has(property));
        if self.overlay.open_graph.is_empty() {
            self.remove(Field::OpenGraph);
        }
        let is_new = self.overlay.has_content();
        let overlay = &mut self.overlay;
        let or = |one: &mut Option<String>, other: &Option<String>| *one = one.take().or(other.clone());
        or(&mut overlay.title, &published.title);
        or(&mut overlay.description, &published.description);
        or(&mut overlay.canonical_url, &published.canonical_url);
        or(&mut overlay.robots, &published.robots);
        overlay.open_graph.splice(0..0, published.open_graph.iter().cloned());
        overlay.structured_data.clone_from(&published.structured_data);
        is_new
    }

    /// Returns the overlay as it is stored.
    pub(super) fn body(&self) -> Overlay {
        let because = self.because.iter().map(Value::from).collect::<Vec<_>>();
        let because = if because.is_empty() { Value::Null } else { Value::List(because) };
        Overlay { because, ..self.overlay.clone() }
    }
}

/// Returns a canonical address with the host of the site, if its own is one that only the machine of its
/// author can open and it otherwise names the page itself.
fn reachable(canonical: &str, url: &str) -> Option<String> {
    let (mut canonical, page) = (Url::parse(canonical).ok()?, Url::parse(url).ok()?);
    let is_local = |url: &Url| {
        let name = url.host_str().unwrap_or_default();
        let address = name.trim_matches(['[', ']']).parse::<IpAddr>();
        address.is_ok_and(|address| address.is_loopback() || address.is_unspecified())
            || name == "localhost"
            || name.ends_with(".localhost")
    };
    let name = |url: &Url| {
        let path = url.path().trim_end_matches('/');
        path.strip_suffix("/index.html").unwrap_or(path).to_owned()
    };
    let is_wrong = is_local(&canonical) && !is_local(&page) && page.scheme() == "https";
    if !is_wrong || name(&canonical) != name(&page) || canonical.query().is_some() {
        return None;
    }
    canonical.set_scheme(page.scheme()).ok()?;
    canonical.set_port(page.port()).ok()?;
    canonical.set_host(page.host_str()).ok()?;
    canonical.set_fragment(None);
    Some(canonical.to_string())
}

#[cfg(test)]
mod suggestion_tests;
