//! The parts of a page that an entry changes, before and after.

use serde::{Deserialize, Serialize};

use super::html::text_of_html;
use super::{Before, Entry, EntryKind, text_of};
use crate::Value;

/// A part of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub enum Field {
    /// The title.
    Title,
    /// The description.
    Description,
    /// The canonical address.
    Canonical,
    /// The instructions for search engines.
    Robots,
    /// The preview in social networks.
    OpenGraph,
    /// Structured data.
    StructuredData,
    /// The text of the page, which only articles change.
    Text,
}

impl Field {
    /// All fields.
    pub const ALL: [Self; 7] = [
        Self::Title,
        Self::Description,
        Self::Canonical,
        Self::Robots,
        Self::OpenGraph,
        Self::StructuredData,
        Self::Text,
    ];

    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Description => "description",
            Self::Canonical => "canonical",
            Self::Robots => "robots",
            Self::OpenGraph => "openGraph",
            Self::StructuredData => "structuredData",
            Self::Text => "text",
        }
    }
}

/// A part of a page, before and after. Both are the same where nothing changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The part.
    pub field: Field,
    /// The property of Open Graph; empty for other fields.
    pub property: String,
    /// The present text; empty without one.
    pub before: String,
    /// The text afterwards. Each object of structured data is one line of JSON.
    pub after: String,
}

impl Change {
    fn new(field: Field, before: String, after: String) -> Self {
        Self { field, property: String::new(), before, after }
    }

    /// Returns the characters that are removed and added, from the first difference to the last one.
    fn size(&self) -> usize {
        let start = self.before.chars().zip(self.after.chars()).take_while(|(one, other)| one == other);
        let start = start.count();
        let (before, after) = (self.before.chars().count() - start, self.after.chars().count() - start);
        let ends = self.before.chars().rev().take(before).zip(self.after.chars().rev().take(after));
        let end = ends.take_while(|(one, other)| one == other).count();
        before + after - 2 * end
    }
}

/// Returns the parts of the head that the page has, or will have. An overlay takes the place of the one that
/// is published now; everything that it leaves out is as the page itself has it.
pub fn head_changes(entry: &Entry<'_>) -> Vec<Change> {
    let Before { page, overlay } = entry.before;
    let page = page.clone().unwrap_or_default();
    let is_article = entry.kind == EntryKind::Article;
    let mut changes = Vec::new();
    let mut add = |field: Field, own: Option<String>, name: &str| {
        let own = own.unwrap_or_default();
        let before = text_of(overlay, name).unwrap_or(&own).to_owned();
        let after = text_of(entry.body, name).unwrap_or(if is_article { &before } else { &own }).to_owned();
        if !(before.is_empty() && after.is_empty()) {
            changes.push(Change::new(field, before, after));
        }
    };
    let own = page.head;
    let title = own.as_ref().map_or(page.title, |head| head.title.clone());
    add(Field::Title, title, "title");
    if is_article {
        return changes;
    }
    let description = own.as_ref().map_or(page.description, |head| head.description.clone());
    let own = own.unwrap_or_default();
    add(Field::Description, description, "description");
    add(Field::Canonical, own.canonical, "canonicalUrl");
    add(Field::Robots, Some(own.robots.join(", ")), "robots");
    changes.extend(open_graph(&own.open_graph, overlay, entry.body));
    // Structured data stands beside that of the page, of which only the types are known.
    let (old, new) = (structured_data(overlay), structured_data(entry.body));
    let with_own = |added: String| [own.structured_data.join("\n"), added].join("\n").trim().to_owned();
    let (old, new) = (with_own(old), with_own(new));
    if !(old.is_empty() && new.is_empty()) {
        changes.push(Change::new(Field::StructuredData, old, new));
    }
    changes
}

fn structured_data(body: &Value) -> String {
    match body.get("structuredData") {
        Some(Value::List(objects)) => objects.iter().map(Value::to_string).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    }
}

fn open_graph(own: &[(String, String)], before: &Value, after: &Value) -> Vec<Change> {
    let members = |body: &Value| -> Vec<(String, String)> {
        let mut texts = Vec::new();
        if let Some(Value::Object(members)) = body.get("openGraph") {
            let known = members.iter();
            texts.extend(known.filter_map(|(name, text)| Some((name.clone(), text.as_text()?.to_owned()))));
        }
        texts.extend(own.iter().cloned());
        texts
    };
    let (before, after) = (members(before), members(after));
    let mut names: Vec<&String> = before.iter().chain(&after).map(|(name, _)| name).collect();
    names.sort_unstable();
    names.dedup();
    let find = |texts: &[(String, String)], name: &str| {
        texts.iter().find(|(known, _)| known == name).map(|(_, text)| text.clone()).unwrap_or_default()
    };
    let change = |name: &String| Change {
        property: name.clone(),
        ..Change::new(Field::OpenGraph, find(&before, name), find(&after, name))
    };
    names.into_iter().map(change).collect()
}

/// Returns all changes, with the text of an article.
fn all_changes(entry: &Entry<'_>) -> Vec<Change> {
    let mut changes = head_changes(entry);
    if entry.kind == EntryKind::Article {
        let before = entry.before.page.as_ref().and_then(|page| page.text.as_deref()).unwrap_or_default();
        let before = before.split_whitespace().collect::<Vec<_>>().join(" ");
        let after = text_of_html(text_of(entry.body, "content").unwrap_or_default());
        changes.push(Change::new(Field::Text, before, after));
    }
    changes
}

/// Returns the fields that change. An article always changes the text: of the page only the words are known,
/// not the HTML.
pub fn changed_fields(entry: &Entry<'_>) -> Vec<Field> {
    let mut fields: Vec<Field> = head_changes(entry)
        .into_iter()
        .filter_map(|change| (change.before != change.after).then_some(change.field))
        .collect();
    fields.dedup();
    fields.extend((entry.kind == EntryKind::Article).then_some(Field::Text));
    fields
}

/// Returns the size of a change: the characters that are removed and added in all fields, each from the first
/// difference to the last one.
pub fn change_size(entry: &Entry<'_>) -> i64 {
    let size = all_changes(entry).iter().map(Change::size).sum::<usize>();
    i64::try_from(size).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::SyncedPage;
    use super::*;

    fn change(field: Field, property: &str, before: &str, after: &str) -> Change {
        Change { property: property.to_owned(), ..Change::new(field, before.to_owned(), after.to_owned()) }
    }

    fn with<T>(
        kind: EntryKind,
        body: serde_json::Value,
        before: serde_json::Value,
        read: fn(&Entry<'_>) -> T,
    ) -> T {
        let body = serde_json::from_value(body).expect("a value");
        let before = serde_json::from_value(before).expect("a state");
        read(&Entry { kind, path: "/mugs", locale: "", body: &body, before: &before })
    }

    #[test]
    fn the_published_overlay_comes_before_the_page_itself() {
        let before = json!({
            "page": {"title": "Mugs", "url": "https://shop.example/mugs"},
            "overlay": {"title": "Old mugs", "openGraph": {"title": "Old"}},
        });
        let body = json!({"title": "New mugs", "openGraph": {"title": "New", "image": "/a.png"}});
        assert_eq!(
            with(EntryKind::Overlay, body.clone(), before.clone(), head_changes),
            [
                change(Field::Title, "", "Old mugs", "New mugs"),
                change(Field::OpenGraph, "image", "", "/a.png"),
                change(Field::OpenGraph, "title", "Old", "New"),
            ]
        );
        let fields = with(EntryKind::Overlay, body, before, changed_fields);
        assert_eq!(fields, [Field::Title, Field::OpenGraph]);
    }

    #[test]
    fn before_is_what_the_page_really_has() {
        let before = json!({
            "page": {
                "title": "The heading", "url": "https://shop.example/mugs",
                "head": {
                    "canonical": "https://x.example/mugs.html", "openGraph": [["title", "Own"]],
                    "structuredData": ["Product"],
                },
            },
            "overlay": {"description": "Published"},
        });
        let body =
            json!({"title": "The heading", "openGraph": {"description": "New"}, "structuredData": [{}]});
        assert_eq!(
            with(EntryKind::Overlay, body, before, head_changes),
            [
                change(Field::Title, "", "", "The heading"),
                change(Field::Description, "", "Published", ""),
                change(Field::Canonical, "", "https://x.example/mugs.html", "https://x.example/mugs.html"),
                change(Field::OpenGraph, "description", "", "New"),
                change(Field::OpenGraph, "title", "Own", "Own"),
                change(Field::StructuredData, "", "Product", "Product\n{}"),
            ]
        );
    }

    #[test]
    fn an_article_for_a_new_page_has_nothing_before() {
        let body = json!({"title": "News", "content": "<p>a b</p>"});
        let changes = with(EntryKind::Article, body.clone(), json!({}), head_changes);
        assert_eq!(changes, [change(Field::Title, "", "", "News")]);
        assert_eq!(
            with(EntryKind::Article, body.clone(), json!({}), changed_fields),
            [Field::Title, Field::Text]
        );
        assert_eq!(with(EntryKind::Article, body, json!({}), change_size), 7);
    }

    #[test]
    fn an_article_with_the_same_words_still_changes_the_text() {
        let before = Before {
            page: Some(SyncedPage {
                title: Some("News".to_owned()),
                text: Some("a\nb".to_owned()),
                ..SyncedPage::default()
            }),
            overlay: Value::Null,
        };
        let body = json!({"title": "News", "content": "<p>a <a href=/x>b</a></p>"});
        let body = serde_json::from_value(body).expect("a value");
        let entry = Entry { kind: EntryKind::Article, path: "/n", locale: "", body: &body, before: &before };
        assert_eq!((changed_fields(&entry), change_size(&entry)), (vec![Field::Text], 0));
    }

    #[test]
    fn the_size_counts_from_the_first_to_the_last_difference() {
        for (before, after, size) in [
            ("", "", 0),
            ("same", "same", 0),
            ("", "añb", 3),
            ("red mugs", "blue mugs", 7),
            ("aaa", "aa", 1),
            ("ab", "ba", 4),
        ] {
            assert_eq!(change(Field::Title, "", before, after).size(), size, "{before:?} {after:?}");
        }
    }
}
