//! The head and the text of a page, before and after.

use chat_protocol::admin::publishing::{
    Before, Change, Field, Review, SyncedPage, head_changes, text_of_html,
};
use leptos::prelude::*;

use crate::diff::{Piece, words};
use crate::text::publishing;

/// Returns the name of a part of a page.
pub(super) fn field_name(field: Field, property: &str) -> String {
    let text = match field {
        Field::Title => publishing::FIELD_TITLE,
        Field::Description => publishing::FIELD_DESCRIPTION,
        Field::Canonical => publishing::FIELD_CANONICAL,
        Field::Robots => publishing::FIELD_ROBOTS,
        Field::OpenGraph if property.is_empty() => publishing::FIELD_OPEN_GRAPH_ALL,
        Field::OpenGraph => return publishing::FIELD_OPEN_GRAPH.with(&[("name", property)]),
        Field::StructuredData => publishing::FIELD_STRUCTURED,
        Field::Text => publishing::FIELD_TEXT,
    };
    text.get().to_owned()
}

/// Returns a text as it is compared: structured data in lines.
fn shown(field: Field, text: &str) -> String {
    if field != Field::StructuredData {
        return text.to_owned();
    }
    let objects = text.lines().map(|line| {
        let object = serde_json::from_str::<serde_json::Value>(line);
        object.and_then(|object| serde_json::to_string_pretty(&object)).unwrap_or_else(|_| line.to_owned())
    });
    objects.collect::<Vec<_>>().join("\n")
}

/// The comparison.
#[component]
pub(super) fn Differences(review: Review, before: Before) -> impl IntoView {
    let changes = head_changes(&review.entry(&before));
    let is_synced = before.page.is_some();
    let rows = changes.into_iter().map(|Change { field, property, before, after }| {
        let (before, after) = (shown(field, &before), shown(field, &after));
        let pieces = words(&before, &after).into_iter().map(OwnedPiece::from).collect::<Vec<_>>();
        let is_same = before == after;
        view! {
            <tr>
                <th scope="row">{field_name(field, &property)}</th>
                <td dir="auto">{old_side(&pieces)}</td>
                <td dir="auto">
                    {if is_same {
                        view! { <span class="hint">{publishing::UNCHANGED.get()}</span> }.into_any()
                    } else {
                        new_side(&pieces)
                    }}
                </td>
            </tr>
        }
    });
    view! {
        <section class="card" aria-labelledby="review-differences">
            <h3 id="review-differences">{publishing::DIFFERENCES.get()}</h3>
            <p class="hint" hidden=is_synced>{publishing::NOT_SYNCED.get()}</p>
            <h4>{publishing::SNIPPET.get()}</h4>
            <Snippet review=review.clone() page=before.page.clone() />
            <h4>{publishing::HEAD.get()}</h4>
            <div class="differences-scroll" tabindex="0" role="region" aria-label=publishing::HEAD.get()>
                <table class="differences">
                    <thead>
                        <tr>
                            <th scope="col">{publishing::FIELD.get()}</th>
                            <th scope="col">{publishing::BEFORE.get()}</th>
                            <th scope="col">{publishing::AFTER.get()}</th>
                        </tr>
                    </thead>
                    <tbody>{rows.collect_view()}</tbody>
                </table>
            </div>
            <h4>{publishing::PAGE_TEXT.get()}</h4>
            <Body review page=before.page />
        </section>
    }
}

/// The page as a search engine would show it.
#[component]
fn Snippet(review: Review, page: Option<SyncedPage>) -> impl IntoView {
    let page = page.unwrap_or_default();
    let title = review.text("title").map(str::to_owned).or(page.title).unwrap_or_default();
    let description = review.text("description").map(str::to_owned).or(page.description);
    let url = review.text("canonicalUrl").map(str::to_owned).or(page.url).unwrap_or(review.path);
    view! {
        <div class="snippet">
            <bdi class="snippet-url" dir="ltr">{url}</bdi>
            <p class="snippet-title" dir="auto">{title}</p>
            <p dir="auto">{description}</p>
        </div>
    }
}

/// The text of the page, word by word.
#[component]
fn Body(review: Review, page: Option<SyncedPage>) -> impl IntoView {
    if !review.is_article() {
        return view! { <p class="hint">{publishing::PAGE_UNCHANGED.get()}</p> }.into_any();
    }
    let before = page.and_then(|page| page.text).unwrap_or_default();
    let before = before.split_whitespace().collect::<Vec<_>>().join(" ");
    let after = text_of_html(review.text("content").unwrap_or_default());
    let pieces = words(&before, &after).into_iter().map(|piece| match piece {
        Piece::Kept(text) => text.to_owned().into_any(),
        Piece::Removed(text) => removed(text),
        Piece::Added(text) => added(text),
    });
    view! {
        <div class="page-text" dir="auto" tabindex="0" role="region" aria-label=publishing::PAGE_TEXT.get()>
            {pieces.collect_view()}
        </div>
    }
    .into_any()
}

/// A piece that outlives the texts.
#[derive(Clone, Debug)]
enum OwnedPiece {
    Kept(String),
    Removed(String),
    Added(String),
}

impl From<Piece<'_>> for OwnedPiece {
    fn from(piece: Piece) -> Self {
        match piece {
            Piece::Kept(text) => Self::Kept(text.to_owned()),
            Piece::Removed(text) => Self::Removed(text.to_owned()),
            Piece::Added(text) => Self::Added(text.to_owned()),
        }
    }
}

fn old_side(pieces: &[OwnedPiece]) -> AnyView {
    side(pieces, |piece| match piece {
        OwnedPiece::Kept(text) => Some(text.clone().into_any()),
        OwnedPiece::Removed(text) => Some(removed(text)),
        OwnedPiece::Added(_) => None,
    })
}

fn new_side(pieces: &[OwnedPiece]) -> AnyView {
    side(pieces, |piece| match piece {
        OwnedPiece::Kept(text) => Some(text.clone().into_any()),
        OwnedPiece::Added(text) => Some(added(text)),
        OwnedPiece::Removed(_) => None,
    })
}

fn side(pieces: &[OwnedPiece], show: impl Fn(&OwnedPiece) -> Option<AnyView>) -> AnyView {
    let shown: Vec<AnyView> = pieces.iter().filter_map(show).collect();
    if shown.is_empty() {
        return view! { <span class="hint">{publishing::NOTHING.get()}</span> }.into_any();
    }
    shown.into_any()
}

fn removed(text: &str) -> AnyView {
    let text = text.to_owned();
    view! { <del><span class="for-readers">{publishing::REMOVED_WORDS.get()}</span>{text}</del> }.into_any()
}

fn added(text: &str) -> AnyView {
    let text = text.to_owned();
    view! { <ins><span class="for-readers">{publishing::ADDED_WORDS.get()}</span>{text}</ins> }.into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structured_data_is_compared_line_by_line() {
        assert_eq!(shown(Field::StructuredData, r#"{"@type":"Product"}"#), "{\n  \"@type\": \"Product\"\n}");
        assert_eq!(shown(Field::StructuredData, "{broken"), "{broken");
        assert_eq!(shown(Field::Title, r#"{"a":1}"#), r#"{"a":1}"#);
    }

    #[test]
    fn a_property_of_the_preview_is_named() {
        assert_eq!(field_name(Field::OpenGraph, "image"), "Social preview: image");
    }
}
