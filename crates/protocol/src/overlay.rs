//! Overlays: the service's changes to the heads of the site's pages (4.10).
//!
//! The contract does not specify the fields of an overlay. They are defined here, one for each element of the
//! head. There is no field for raw HTML, so that an overlay cannot add a script to a page.

use crate::{FieldError, Fields, Value};

/// A published overlay for the head of one page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overlay {
    /// `id`.
    pub id: Option<String>,
    /// `path`: the path of the page, such as `/mugs`.
    pub path: Option<String>,
    /// `locale`.
    pub locale: Option<String>,
    /// `title`: replaces the page's title.
    pub title: Option<String>,
    /// `description`: the content of `<meta name="description">`.
    pub description: Option<String>,
    /// `canonicalUrl`: the address of `<link rel="canonical">`.
    pub canonical_url: Option<String>,
    /// `robots`: the content of `<meta name="robots">`.
    pub robots: Option<String>,
    /// `openGraph`: an object of texts, keyed by property without `og:`.
    pub open_graph: Vec<(String, String)>,
    /// `structuredData`: JSON-LD objects.
    pub structured_data: Vec<Value>,
    /// `because`: what each part mends, as the service says it; an extension of ours.
    pub because: Value,
    /// `updatedAt`, ISO 8601.
    pub updated_at: Option<String>,
}

impl Overlay {
    /// Returns whether the overlay changes the head.
    pub fn has_content(&self) -> bool {
        self.title.is_some()
            || self.description.is_some()
            || self.canonical_url.is_some()
            || self.robots.is_some()
            || !self.open_graph.is_empty()
            || !self.structured_data.is_empty()
    }
}

impl TryFrom<Value> for Overlay {
    type Error = FieldError;

    fn try_from(value: Value) -> Result<Self, FieldError> {
        let mut fields = Fields::of(value)?;
        let mut either = |one: &str, other: &str| {
            let first = fields.lenient_text(one);
            first.or_else(|| fields.lenient_text(other))
        };
        let id = either("id", "overlayId");
        let path = either("path", "pagePath");
        let title = either("title", "metaTitle");
        let description = either("description", "metaDescription");
        let canonical_url = either("canonicalUrl", "canonical");
        let structured = match fields.take("structuredData") {
            Value::Null => fields.take("jsonLd"),
            sent => sent,
        };
        let mut open_graph = Vec::new();
        if let Value::Object(members) = fields.take("openGraph") {
            for (name, value) in members {
                if let Value::Text(text) = value {
                    let name = name.strip_prefix("og:").unwrap_or(&name).to_owned();
                    open_graph.push((name, text));
                }
            }
        }
        Ok(Self {
            id,
            path,
            locale: fields.lenient_language_tag("locale"),
            title,
            description,
            canonical_url,
            robots: fields.lenient_text("robots"),
            open_graph,
            structured_data: match structured {
                Value::List(items) => {
                    items.into_iter().filter(|item| matches!(item, Value::Object(_))).collect()
                }
                object @ Value::Object(_) => vec![object],
                _ => Vec::new(),
            },
            because: fields.take("because"),
            updated_at: fields.lenient_text("updatedAt"),
        })
    }
}

impl From<&Overlay> for Value {
    fn from(overlay: &Overlay) -> Self {
        let text = |text: &Option<String>| Value::from(text.clone());
        let open_graph: Vec<_> = overlay
            .open_graph
            .iter()
            .map(|(name, content)| (name.clone(), Value::from(content.as_str())))
            .collect();
        Value::object([
            ("id", text(&overlay.id)),
            ("path", text(&overlay.path)),
            ("locale", text(&overlay.locale)),
            ("title", text(&overlay.title)),
            ("description", text(&overlay.description)),
            ("canonicalUrl", text(&overlay.canonical_url)),
            ("robots", text(&overlay.robots)),
            ("openGraph", if open_graph.is_empty() { Value::Null } else { Value::Object(open_graph) }),
            (
                "structuredData",
                if overlay.structured_data.is_empty() {
                    Value::Null
                } else {
                    Value::List(overlay.structured_data.clone())
                },
            ),
            ("because", overlay.because.clone()),
            ("updatedAt", text(&overlay.updated_at)),
        ])
    }
}

/// `data` of `GET /seo/overlays`: `{"overlays": […]}`, `{"items": […]}` or the array itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OverlayList {
    /// The overlays. Invalid ones are skipped.
    pub overlays: Vec<Overlay>,
}

impl TryFrom<Value> for OverlayList {
    type Error = FieldError;

    fn try_from(value: Value) -> Result<Self, FieldError> {
        let items = match value {
            Value::List(items) => items,
            other => {
                let mut fields = Fields::of(other)?;
                match fields.take("overlays") {
                    Value::List(items) => items,
                    Value::Null => {
                        fields.list("items").map_err(|_| FieldError::new("overlays", "is missing"))?
                    }
                    _ => return Err(FieldError::new("overlays", "must be an array")),
                }
            }
        };
        Ok(Self { overlays: items.into_iter().filter_map(|item| Overlay::try_from(item).ok()).collect() })
    }
}

impl From<&OverlayList> for Value {
    fn from(list: &OverlayList) -> Self {
        Value::object([("overlays", list.overlays.iter().collect())])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overlay_survives_a_round_trip() {
        let list = OverlayList {
            overlays: vec![Overlay {
                id: Some("o1".into()),
                path: Some("/mugs".into()),
                title: Some("Mugs".into()),
                open_graph: vec![("title".into(), "Mugs".into())],
                structured_data: vec![Value::object([("@type", "Product".into())])],
                ..Overlay::default()
            }],
        };
        assert_eq!(OverlayList::try_from(Value::from(&list)), Ok(list));
    }

    #[test]
    fn accepts_the_list_in_each_supported_shape() {
        let overlay = || Value::List(vec![Value::object([("metaTitle", "Mugs".into())]), 7_i64.into()]);
        for data in
            [overlay(), Value::object([("overlays", overlay())]), Value::object([("items", overlay())])]
        {
            let list = OverlayList::try_from(data).expect("usable");
            assert_eq!(list.overlays.len(), 1);
            assert!(list.overlays[0].has_content());
        }
        assert_eq!(OverlayList::try_from(Value::object([])).unwrap_err().to_string(), "overlays is missing");
    }
}
