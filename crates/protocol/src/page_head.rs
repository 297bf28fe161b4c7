//! What a page has in its own head: `data.head` of a content item, an extension of ours. What an overlay has
//! put there is not among it.

#[cfg(any(feature = "admin", test))]
use serde::{Deserialize, Serialize};

use crate::{Fields, Value};

/// Maximum characters of a text that is kept, and maximum entries of a list.
const MAX_TEXT: usize = 1000;
const MAX_ENTRIES: usize = 40;

/// The head of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(any(feature = "admin", test), derive(Serialize, Deserialize))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(any(feature = "admin", test), serde(rename_all = "camelCase", default))]
pub struct PageHead {
    /// `title`: the content of `<title>`.
    pub title: Option<String>,
    /// `description`: the content of `<meta name="description">`.
    pub description: Option<String>,
    /// `canonical`: the address of `<link rel="canonical">`.
    pub canonical: Option<String>,
    /// `robots`: the rules for robots.
    pub robots: Vec<String>,
    /// `redirect`: whether the page sends its readers elsewhere.
    pub redirect: bool,
    /// `openGraph`: the values by property, without `og:`.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<Vec<String>>))]
    pub open_graph: Vec<(String, String)>,
    /// `structuredData`: the types of the JSON-LD objects.
    pub structured_data: Vec<String>,
    /// `lead`: the whole sentences at the beginning of the page, which no other page has.
    pub lead: Option<String>,
}

impl PageHead {
    /// Reads `data` of a content item; `None` if it does not say what the head has.
    pub fn of(data: &Value) -> Option<Self> {
        let head @ Value::Object(_) = data.get("head")?.clone() else { return None };
        let mut fields = Fields::lenient(head);
        let mut text = |name: &str| {
            let text = fields.lenient_text(name)?;
            Some(text.trim()).filter(|text| !text.is_empty()).map(bounded)
        };
        let (title, description, canonical, lead) =
            (text("title"), text("description"), text("canonical"), text("lead"));
        let open_graph = match fields.take("openGraph") {
            Value::Object(members) => members,
            _ => Vec::new(),
        };
        let list = |texts: Vec<String>| texts.iter().take(MAX_ENTRIES).map(|text| bounded(text)).collect();
        Some(Self {
            title,
            description,
            canonical,
            lead,
            robots: list(fields.lenient_texts("robots")),
            redirect: fields.lenient_bool("redirect").unwrap_or(false),
            open_graph: open_graph
                .iter()
                .filter_map(|(name, value)| Some((bounded(name), bounded(value.as_text()?))))
                .take(MAX_ENTRIES)
                .collect(),
            structured_data: list(fields.lenient_texts("structuredData")),
        })
    }

    /// Returns `data` of a content item.
    pub fn into_data(self) -> Value {
        let text = |text: Option<String>| Value::from(text.as_deref().map(bounded));
        let list = |texts: Vec<String>| {
            Some(texts).filter(|texts| !texts.is_empty()).map_or(Value::Null, |texts| {
                texts.iter().take(MAX_ENTRIES).map(|text| Value::from(bounded(text))).collect()
            })
        };
        // The first one of a property counts, as for the services that read it.
        let mut open_graph: Vec<(String, Value)> = Vec::new();
        for (name, value) in self.open_graph.into_iter().take(MAX_ENTRIES) {
            if !open_graph.iter().any(|(known, _)| *known == name) {
                open_graph.push((name, bounded(&value).into()));
            }
        }
        let head = Value::object([
            ("title", text(self.title)),
            ("description", text(self.description)),
            ("canonical", text(self.canonical)),
            ("robots", list(self.robots)),
            ("redirect", self.redirect.then_some(true).into()),
            ("openGraph", if open_graph.is_empty() { Value::Null } else { Value::Object(open_graph) }),
            ("structuredData", list(self.structured_data)),
            ("lead", text(self.lead)),
        ]);
        Value::object([("head", head)])
    }

    /// Returns a value of Open Graph.
    pub fn open_graph(&self, property: &str) -> Option<&str> {
        self.open_graph.iter().find(|(name, _)| name == property).map(|(_, value)| value.as_str())
    }

    /// Returns whether the page is for search engines: it neither hides nor sends its readers elsewhere.
    pub fn is_for_search(&self) -> bool {
        let hides = |rule: &String| {
            let rule = rule.to_ascii_lowercase();
            rule.contains("noindex") || rule.split([',', ' ', ':']).any(|part| part == "none")
        };
        !self.redirect && !self.robots.iter().any(hides)
    }
}

/// Returns a text of a bounded length, without NUL, which a database may not store.
fn bounded(text: &str) -> String {
    text.chars().filter(|letter| *letter != '\0').take(MAX_TEXT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_survives_a_round_trip() {
        let head = PageHead {
            title: Some("Mugs".to_owned()),
            canonical: Some("/mugs".to_owned()),
            robots: vec!["noarchive".to_owned()],
            open_graph: vec![("title".to_owned(), "Mugs".to_owned())],
            structured_data: vec!["Product".to_owned()],
            ..PageHead::default()
        };
        assert_eq!(PageHead::of(&head.clone().into_data()), Some(head));
        assert_eq!(PageHead::of(&PageHead::default().into_data()), Some(PageHead::default()));
    }

    #[test]
    fn a_site_that_does_not_describe_the_head_says_nothing_about_it() {
        for data in
            [Value::Null, Value::object([("price", "24".into())]), Value::object([("head", "x".into())])]
        {
            assert_eq!(PageHead::of(&data), None);
        }
    }

    #[test]
    fn hostile_values_are_bounded_or_left_out() {
        let json = format!(
            r#"{{"head": {{"title": [], "description": "{}", "robots": "none", "openGraph": {{"title": [], "a": "b"}}}}}}"#,
            "x".repeat(5000)
        );
        let head = PageHead::of(&serde_json::from_str(&json).expect("JSON")).expect("a head");
        assert_eq!((head.title, head.description.map(|text| text.len())), (None, Some(MAX_TEXT)));
        assert_eq!(head.open_graph, [("a".to_owned(), "b".to_owned())]);
    }

    #[test]
    fn a_hidden_page_is_not_for_search() {
        let with = |robots: &str| PageHead { robots: vec![robots.to_owned()], ..PageHead::default() };
        for robots in ["noindex", "NONE", "noindex, follow"] {
            assert!(!with(robots).is_for_search(), "{robots}");
        }
        assert!(with("noarchive").is_for_search() && PageHead::default().is_for_search());
        assert!(!PageHead { redirect: true, ..PageHead::default() }.is_for_search());
    }
}
