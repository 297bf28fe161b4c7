//! The content of a site, pushed to the service (4.9).
//!
//! The contract does not specify this request. Its fields are defined here: a page of items, the snapshot
//! that the pages belong to, and whether this page is its last.

use crate::{FieldError, Fields, Value, limits};

/// The kind of a content item (1). The contract names four; other kinds may occur.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContentKind {
    /// `page`.
    Page,
    /// `article`, also `post`.
    Article,
    /// `product`.
    Product,
    /// `category`.
    Category,
    /// Any other kind, as the site sent it.
    Other(String),
}

impl ContentKind {
    /// Returns the kind's name on the wire.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Page => "page",
            Self::Article => "article",
            Self::Product => "product",
            Self::Category => "category",
            Self::Other(name) => name,
        }
    }
}

impl From<&str> for ContentKind {
    fn from(name: &str) -> Self {
        match name {
            "page" => Self::Page,
            "article" | "post" => Self::Article,
            "product" => Self::Product,
            "category" => Self::Category,
            _ => Self::Other(name.to_owned()),
        }
    }
}

/// The format of an item's texts: an extension of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextFormat {
    /// `text`: nothing in them is markup. `<b>` is what the reader reads.
    Text,
    /// `html`.
    Html,
}

impl TextFormat {
    /// Returns the format's name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Html => "html",
        }
    }
}

/// One page, article, product or category of the site.
#[derive(Clone, Debug, PartialEq)]
pub struct ContentItem {
    /// `externalId`: the site's id of the item, by which a later sync replaces it.
    pub external_id: String,
    /// `type`.
    pub kind: ContentKind,
    /// `locale`.
    pub locale: Option<String>,
    /// `path`: the path on the site.
    pub path: Option<String>,
    /// `url`: the public URL.
    pub url: Option<String>,
    /// `title`.
    pub title: Option<String>,
    /// `summary`.
    pub summary: Option<String>,
    /// `content`: HTML or plain text.
    pub content: Option<String>,
    /// `format`: the format of `summary` and `content`, where the site says it.
    pub format: Option<TextFormat>,
    /// `updatedAt`, ISO 8601.
    pub updated_at: Option<String>,
    /// `deleted`: whether the site has deleted the item.
    pub deleted: bool,
    /// `data`: an object of further data, or null.
    pub data: Value,
}

impl ContentItem {
    /// Creates an item with an id and a kind only.
    pub fn new(external_id: impl Into<String>, kind: ContentKind) -> Self {
        Self {
            external_id: external_id.into(),
            kind,
            locale: None,
            path: None,
            url: None,
            title: None,
            summary: None,
            content: None,
            format: None,
            updated_at: None,
            deleted: false,
            data: Value::Null,
        }
    }
}

impl TryFrom<Value> for ContentItem {
    type Error = FieldError;

    fn try_from(value: Value) -> Result<Self, FieldError> {
        let mut fields = Fields::of(value)?;
        let external_id = fields.text("externalId")?;
        let kind = ContentKind::from(fields.text("type")?.as_str());
        let locale = fields.optional_language_tag("locale")?;
        let names = ["path", "url", "title", "summary", "content", "updatedAt"];
        let [path, url, title, summary, content, updated_at] = fields.optional_texts(names)?;
        Ok(Self {
            external_id,
            kind,
            locale,
            path,
            url,
            title,
            summary,
            content,
            // A format that is not known yet is as good as none.
            format: match fields.lenient_text("format").as_deref() {
                Some("text") => Some(TextFormat::Text),
                Some("html") => Some(TextFormat::Html),
                _ => None,
            },
            updated_at,
            deleted: fields.lenient_bool("deleted").unwrap_or(false),
            data: match fields.take("data") {
                data @ (Value::Null | Value::Object(_)) => data,
                _ => return Err(FieldError::new("data", "must be an object")),
            },
        })
    }
}

impl From<&ContentItem> for Value {
    fn from(item: &ContentItem) -> Self {
        let text = |text: &Option<String>| Value::from(text.clone());
        Value::object([
            ("externalId", item.external_id.as_str().into()),
            ("type", item.kind.as_str().into()),
            ("locale", text(&item.locale)),
            ("path", text(&item.path)),
            ("url", text(&item.url)),
            ("title", text(&item.title)),
            ("summary", text(&item.summary)),
            ("content", text(&item.content)),
            ("format", item.format.map_or(Value::Null, |format| format.as_str().into())),
            ("updatedAt", text(&item.updated_at)),
            ("deleted", item.deleted.then_some(true).into()),
            ("data", item.data.clone()),
        ])
    }
}

/// The body of `POST /content/sync`: 1 to 100 items, or none on a page that only completes its snapshot.
#[derive(Clone, Debug, PartialEq)]
pub struct ContentPage {
    /// `snapshotId`: shared by the pages of one sync. Part of the idempotency key (4.1).
    pub snapshot_id: String,
    /// `page`: the number of the page, from 1. Part of the idempotency key.
    pub page: i64,
    /// `complete`: whether this is the snapshot's last page. Items on none of its pages are removed.
    pub complete: bool,
    /// `items`.
    pub items: Vec<ContentItem>,
    /// The errors of the invalid items; not on the wire.
    pub refused: Vec<FieldError>,
}

impl TryFrom<Value> for ContentPage {
    type Error = FieldError;

    fn try_from(value: Value) -> Result<Self, FieldError> {
        let mut fields = Fields::of(value)?;
        let snapshot_id = fields.text("snapshotId")?;
        let page = fields.lenient_integer("page").filter(|page| *page > 0);
        let page = page.ok_or_else(|| FieldError::new("page", "must be a number from 1"))?;
        let complete = fields.lenient_bool("complete").unwrap_or(false);
        let listed = fields.list("items")?;
        let max = *limits::CONTENT_ITEMS.end();
        if listed.len() > max || (listed.is_empty() && !complete) {
            let problem = format!("must have 1 to {max} items, not {}", listed.len());
            return Err(FieldError::new("items", problem));
        }
        let mut body = Self { snapshot_id, page, complete, items: Vec::new(), refused: Vec::new() };
        for (index, item) in listed.into_iter().enumerate() {
            match ContentItem::try_from(item) {
                Ok(item) => body.items.push(item),
                Err(error) => body.refused.push(error.within(&format!("[{index}]")).within("items")),
            }
        }
        Ok(body)
    }
}

impl From<&ContentPage> for Value {
    fn from(body: &ContentPage) -> Self {
        Value::object([
            ("snapshotId", body.snapshot_id.as_str().into()),
            ("page", body.page.into()),
            ("complete", body.complete.then_some(true).into()),
            ("items", body.items.iter().collect()),
        ])
    }
}

/// `data` of `POST /content/sync`. The contract does not specify it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SyncReceipt {
    /// `accepted`: the number of accepted items.
    pub accepted: Option<i64>,
    /// `rejected`: the number of rejected items.
    pub rejected: Option<i64>,
    /// `removed`: the number of removed items.
    pub removed: Option<i64>,
    /// Further members.
    pub extra: Value,
}

impl TryFrom<Value> for SyncReceipt {
    type Error = FieldError;

    fn try_from(value: Value) -> Result<Self, FieldError> {
        let mut fields = Fields::lenient(value);
        Ok(Self {
            accepted: fields.lenient_integer("accepted").or_else(|| fields.lenient_integer("synced")),
            rejected: fields.lenient_integer("rejected"),
            removed: fields.lenient_integer("removed"),
            extra: fields.rest(),
        })
    }
}

impl From<&SyncReceipt> for Value {
    fn from(receipt: &SyncReceipt) -> Self {
        Value::object([
            ("accepted", receipt.accepted.into()),
            ("rejected", receipt.rejected.into()),
            ("removed", receipt.removed.into()),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(items: Vec<ContentItem>, complete: bool) -> ContentPage {
        ContentPage { snapshot_id: "2026-01".into(), page: 3, complete, items, refused: Vec::new() }
    }

    #[test]
    fn a_page_survives_a_round_trip() {
        let mut item = ContentItem::new("42", ContentKind::Product);
        item.path = Some("/mugs".into());
        item.content = Some("<p>Holds 320 ml</p>".into());
        item.format = Some(TextFormat::Html);
        item.data = Value::object([("price", "24.00".into())]);
        let mut deleted_item = ContentItem::new("43", ContentKind::Other("recipe".into()));
        deleted_item.deleted = true;
        let page = page(vec![item, deleted_item], true);
        assert_eq!(ContentPage::try_from(Value::from(&page)), Ok(page));
    }

    #[test]
    fn accepts_1_to_100_items_or_none_on_a_completing_page() {
        let of = |count: usize, complete| {
            let items = vec![ContentItem::new("1", ContentKind::Page); count];
            ContentPage::try_from(Value::from(&page(items, complete)))
        };
        assert_eq!(of(0, false).unwrap_err().to_string(), "items must have 1 to 100 items, not 0");
        assert!(of(0, true).is_ok() && of(100, false).is_ok() && of(101, false).is_err());
    }

    #[test]
    fn skips_an_invalid_item() {
        let body = Value::object([
            ("snapshotId", "s".into()),
            ("page", 1_i64.into()),
            (
                "items",
                [
                    Value::object([("externalId", "1".into()), ("type", "post".into())]),
                    Value::object([("externalId", "2".into())]),
                ]
                .into_iter()
                .collect(),
            ),
        ]);
        let read = ContentPage::try_from(body).expect("usable");
        assert_eq!(read.items[0].kind, ContentKind::Article);
        assert_eq!(read.refused[0].to_string(), "items[1].type is missing");
    }

    #[test]
    fn accepts_a_receipt_of_any_shape() {
        for data in [Value::Null, "done".into(), Value::object([("synced", 4_i64.into())])] {
            assert!(SyncReceipt::try_from(data).is_ok());
        }
    }
}
