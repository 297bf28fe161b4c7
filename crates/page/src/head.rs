//! The head of a page: the elements that describe it to browsers and search engines.

use crate::document::{DOCUMENT, Document, Id, Step};

/// The attribute of all elements that an overlay has put into a page.
pub const OVERLAY_MARK: &str = "data-seo-overlay";
/// Maximum seconds after which a page that sends its readers elsewhere counts as a redirect.
const MAX_REDIRECT_SECONDS: f64 = 30.0;

/// A translation of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternate {
    /// The language, or `x-default`.
    pub language: String,
    /// The address, as the page has it.
    pub href: String,
}

/// What a page says about itself. What an overlay has put into it is not among it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// The title, with single spaces.
    pub title: Option<String>,
    /// The content of `<meta name="description">`.
    pub description: Option<String>,
    /// The language of the page, as it is written.
    pub language: Option<String>,
    /// The address of `<link rel="canonical">`, as it is written.
    pub canonical: Option<String>,
    /// The address of `<base>`, to which all others are relative.
    pub base: Option<String>,
    /// The rules for robots, in lower case, from all elements and headers.
    pub robots: Vec<String>,
    /// The address to which the page sends its readers soon; empty for itself.
    pub redirect: Option<String>,
    /// The translations of the page.
    pub alternates: Vec<Alternate>,
    /// Open Graph: properties without `og:`, with their values.
    pub open_graph: Vec<(String, String)>,
    /// JSON-LD, as it is written.
    pub structured_data: Vec<String>,
}

impl Head {
    /// Returns whether the page asks not to be found.
    pub fn is_noindex(&self) -> bool {
        self.robots.iter().any(|rule| rule == "noindex" || rule == "none")
    }

    pub(crate) fn read(document: &Document, elements: &[Id]) -> Self {
        let mut head = Self::default();
        let mut content_language = None;
        for id in elements.iter().copied() {
            if document.attribute(id, OVERLAY_MARK).is_some() {
                continue;
            }
            let attribute =
                |name: &str| document.attribute(id, name).map(str::trim).filter(|text| !text.is_empty());
            match document.name(id) {
                "html" => {
                    let language = attribute("lang").or_else(|| attribute("xml:lang"));
                    head.language = head.language.take().or(language.map(str::to_owned));
                }
                "title" if head.title.is_none() => head.title = Some(title(document, id)),
                "base" => head.base = head.base.take().or(attribute("href").map(str::to_owned)),
                "meta" => head.read_meta(attribute, &mut content_language),
                "link" => head.read_link(attribute),
                "script"
                    if attribute("type")
                        .is_some_and(|kind| kind.eq_ignore_ascii_case("application/ld+json")) =>
                {
                    let text: String =
                        document.children(id).filter_map(|child| document.text(child)).collect();
                    head.structured_data.push(text.trim().to_owned());
                }
                _ => {}
            }
        }
        head.language = head.language.or(content_language);
        head.title = head.title.filter(|title| !title.is_empty());
        head
    }

    fn read_meta<'a>(
        &mut self,
        attribute: impl Fn(&str) -> Option<&'a str>,
        content_language: &mut Option<String>,
    ) {
        let Some(content) = attribute("content") else { return };
        let name = attribute("name").unwrap_or_default().to_ascii_lowercase();
        match name.as_str() {
            "description" => self.description = self.description.take().or(Some(single_spaced(content))),
            "robots" | "googlebot" => self.add_robots(content),
            _ => {}
        }
        let property = attribute("property").map(str::to_ascii_lowercase).unwrap_or(name);
        if let Some(property) = property.strip_prefix("og:") {
            self.open_graph.push((property.to_owned(), content.to_owned()));
        }
        match attribute("http-equiv").unwrap_or_default().to_ascii_lowercase().as_str() {
            "refresh" => self.redirect = self.redirect.take().or_else(|| redirect(content)),
            "content-language" if !content.contains(',') => {
                content_language.get_or_insert_with(|| content.to_owned());
            }
            _ => {}
        }
    }

    fn read_link<'a>(&mut self, attribute: impl Fn(&str) -> Option<&'a str>) {
        let (Some(relation), Some(href)) = (attribute("rel"), attribute("href")) else { return };
        let is = |wanted: &str| relation.split_ascii_whitespace().any(|one| one.eq_ignore_ascii_case(wanted));
        if is("canonical") {
            self.canonical = self.canonical.take().or(Some(href.to_owned()));
        }
        if is("alternate")
            && let Some(language) = attribute("hreflang")
        {
            self.alternates.push(Alternate { language: language.to_owned(), href: href.to_owned() });
        }
    }

    /// Adds the rules of a `<meta name="robots">`, or of a header.
    pub(crate) fn add_robots(&mut self, rules: &str) {
        let rules = rules.split([',', ';']).flat_map(str::split_ascii_whitespace);
        self.robots.extend(rules.map(str::to_ascii_lowercase));
    }

    /// Adds the rules of an `X-Robots-Tag`, unless they are for another crawler than a search engine's usual
    /// one.
    pub(crate) fn add_robots_header(&mut self, value: &str) {
        let (agent, rules) = value.split_once(':').unwrap_or(("", value));
        let agent = agent.trim().to_ascii_lowercase();
        match agent.as_str() {
            "" | "robots" | "googlebot" => self.add_robots(rules),
            // A rule with a value, such as max-snippet:50.
            _ if agent.contains([',', '-', '_']) => self.add_robots(value),
            _ => {}
        }
    }
}

fn title(document: &Document, id: Id) -> String {
    let text: String = document.children(id).filter_map(|child| document.text(child)).collect();
    // As a browser does it: a no-break space stays.
    text.split_ascii_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the address of a refresh, if it happens soon.
fn redirect(content: &str) -> Option<String> {
    let content = content.trim_start();
    let end = content.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(content.len());
    let seconds: f64 = content[..end].parse().unwrap_or(0.0);
    let rest = content[end..].trim_start_matches([' ', '\t', '\n', ';', ',']);
    if seconds > MAX_REDIRECT_SECONDS || rest.is_empty() {
        return None;
    }
    let has_name = rest.get(..3).is_some_and(|name| name.eq_ignore_ascii_case("url"));
    let address = rest.get(3..).filter(|_| has_name).and_then(|rest| rest.trim_start().strip_prefix('='));
    Some(address.unwrap_or(rest).trim().trim_matches(['"', '\'']).to_owned())
}

/// Returns a text with single spaces.
pub(crate) fn single_spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the text of a node without any structure.
pub(crate) fn plain_text(document: &Document, id: Id) -> String {
    let mut text = String::new();
    document.walk(id, |step| {
        if let Step::Enter(id) = step {
            text.push_str(document.text(id).unwrap_or_default());
        }
        true
    });
    single_spaced(&text)
}

/// Returns the elements of a document in its head, or wherever else they may describe it.
pub(crate) fn is_in_head(document: &Document, id: Id) -> bool {
    std::iter::successors(document.parent(id), |parent| document.parent(*parent))
        .take_while(|parent| *parent != DOCUMENT)
        .any(|parent| document.name(parent) == "head")
}
