//! The head and the text of a page, before and after.

use leptos::prelude::*;
use serde_json::Value;

use super::checks::text_of_html;
use crate::api::publishing::{Before, Review, SyncedPage, text_of};
use crate::diff::{Piece, words};
use crate::text::publishing;

/// A part of the head, before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Change {
    field: String,
    before: String,
    after: String,
}

/// The comparison.
#[component]
pub(super) fn Differences(review: Review, before: Before) -> impl IntoView {
    let changes = head_changes(&review, &before);
    let is_synced = before.page.is_some();
    let rows = changes.into_iter().map(|change| {
        let pieces =
            words(&change.before, &change.after).into_iter().map(OwnedPiece::from).collect::<Vec<_>>();
        let is_same = change.before == change.after;
        view! {
            <tr>
                <th scope="row">{change.field}</th>
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

/// Returns the parts of the head that the page has, or will have. What the overlay leaves out stays as the
/// page has it.
fn head_changes(review: &Review, before: &Before) -> Vec<Change> {
    let page = before.page.clone().unwrap_or_default();
    let overlay = &before.overlay;
    let mut changes = Vec::new();
    let mut add = |field: &str, own: Option<String>, name: &str| {
        let before = text_of(overlay, name).map(str::to_owned).or(own).unwrap_or_default();
        let after = review.text(name).map_or_else(|| before.clone(), str::to_owned);
        if !(before.is_empty() && after.is_empty()) {
            changes.push(Change { field: field.to_owned(), before, after });
        }
    };
    add(publishing::FIELD_TITLE.get(), page.title, "title");
    if review.is_article() {
        return changes;
    }
    add(publishing::FIELD_DESCRIPTION.get(), page.description, "description");
    add(publishing::FIELD_CANONICAL.get(), page.url, "canonicalUrl");
    add(publishing::FIELD_ROBOTS.get(), None, "robots");
    changes.extend(open_graph(overlay, &review.body));
    let structured = |body: &Value| match body.get("structuredData") {
        Some(Value::Array(objects)) if !objects.is_empty() => {
            let objects =
                objects.iter().map(|object| serde_json::to_string_pretty(object).unwrap_or_default());
            objects.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    };
    let (old, new) = (structured(overlay), structured(&review.body));
    if !(old.is_empty() && new.is_empty()) {
        changes.push(Change {
            field: publishing::FIELD_STRUCTURED.get().to_owned(),
            before: old,
            after: new,
        });
    }
    changes
}

fn open_graph(before: &Value, after: &Value) -> Vec<Change> {
    let members = |body: &Value| -> Vec<(String, String)> {
        let members = body.get("openGraph").and_then(Value::as_object);
        let texts = members.into_iter().flatten();
        texts.filter_map(|(name, text)| Some((name.clone(), text.as_str()?.to_owned()))).collect()
    };
    let (before, after) = (members(before), members(after));
    let mut names: Vec<&String> = before.iter().chain(&after).map(|(name, _)| name).collect();
    names.sort_unstable();
    names.dedup();
    let find = |texts: &[(String, String)], name: &str| {
        texts.iter().find(|(known, _)| known == name).map(|(_, text)| text.clone()).unwrap_or_default()
    };
    let change = |name: &String| Change {
        field: publishing::FIELD_OPEN_GRAPH.with(&[("name", name)]),
        before: find(&before, name),
        after: find(&after, name),
    };
    names.into_iter().map(change).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn change(field: &str, before: &str, after: &str) -> Change {
        Change { field: field.to_owned(), before: before.to_owned(), after: after.to_owned() }
    }

    #[test]
    fn the_published_overlay_comes_before_the_page_itself() {
        let page = SyncedPage {
            title: Some("Mugs".to_owned()),
            url: Some("https://shop.example/mugs".to_owned()),
            ..SyncedPage::default()
        };
        let before =
            Before { page: Some(page), overlay: json!({"title": "Old mugs", "openGraph": {"title": "Old"}}) };
        let body = json!({"title": "New mugs", "openGraph": {"title": "New", "image": "/a.png"}});
        let review = Review { kind: "overlay".to_owned(), body, ..Review::default() };
        assert_eq!(
            head_changes(&review, &before),
            [
                change("Title", "Old mugs", "New mugs"),
                change("Canonical address", "https://shop.example/mugs", "https://shop.example/mugs"),
                change("Social preview: image", "", "/a.png"),
                change("Social preview: title", "Old", "New"),
            ]
        );
    }

    #[test]
    fn an_article_for_a_new_page_has_nothing_before() {
        let body = json!({"title": "News", "content": "<p>a</p>"});
        let review = Review { kind: "article".to_owned(), body, ..Review::default() };
        assert_eq!(head_changes(&review, &Before::default()), [change("Title", "", "News")]);
    }
}
