//! Drafts of suggestions and articles, which the rules of their site may publish.

use std::collections::HashMap;

use chat_protocol::admin::publishing::{Because, Field};
use chat_protocol::{ArticlePayload, Overlay, Value};

use super::Suggestion;
use super::approval::check_path;
use super::reviews::{self, NewDraft, ReviewKind, ReviewStatus, add_draft};
use super::rules::SiteRules;
use crate::db::{Tx, args};
use crate::error::ApiError;

/// Adds page heads to the list as drafts, and publishes those that the site's rules publish. `suggestions`
/// has all pages that are new or changed: a draft of one that needs nothing any more is removed.
pub(crate) async fn suggest_overlays(
    tx: &mut Tx,
    now_ms: i64,
    site_id: &str,
    mut suggestions: Vec<Suggestion>,
) -> Result<(), ApiError> {
    if suggestions.is_empty() {
        return Ok(());
    }
    remove_repeated(&mut suggestions);
    let mut rules = SiteRules::lock(tx, now_ms, site_id).await?;
    for mut suggestion in suggestions {
        let known = reviews::heads_of(tx, site_id, &suggestion.path, &suggestion.locale).await?;
        let published = known.iter().find(|known| known.is_wanted());
        let published = published.and_then(|known| Overlay::try_from(known.body.clone()).ok());
        for declined in known.iter().filter(|known| known.is_declined()) {
            for declined in Because::of(&declined.body) {
                let is_same =
                    |because: &Because| because.field == declined.field && because.fault == declined.fault;
                if suggestion.because.iter().any(is_same) {
                    suggestion.remove(declined.field);
                }
            }
        }
        let needs_something = suggestion.add_to(published.as_ref());
        let body = suggestion.body();
        let is_same = |draft: &reviews::Review| {
            let drafted = Overlay::try_from(draft.body.clone());
            drafted.is_ok_and(|drafted| Overlay { id: None, ..drafted } == body)
        };
        let waits = known.iter().find(|known| known.status == ReviewStatus::Draft);
        if needs_something && waits.is_some_and(is_same) {
            continue;
        }
        for outdated in known.iter().filter(|known| known.is_outdated()) {
            reviews::remove(tx, site_id, &outdated.id).await?;
        }
        if !needs_something {
            continue;
        }
        let new = NewDraft {
            kind: ReviewKind::Overlay,
            path: &suggestion.path,
            locale: &suggestion.locale,
            title: &suggestion.title,
        };
        let id = add_draft(tx, now_ms, site_id, new, |id| {
            Value::from(&Overlay { id: Some(id.to_owned()), ..body })
        })
        .await?;
        rules.apply(tx, now_ms, site_id, &id).await?;
    }
    Ok(())
}

/// Removes the titles and descriptions that several pages would get.
fn remove_repeated(suggestions: &mut [Suggestion]) {
    let mut counts: HashMap<String, usize> = HashMap::new();
    let texts = |suggestion: &Suggestion| {
        let Overlay { title, description, .. } = &suggestion.overlay;
        [(Field::Title, title.clone()), (Field::Description, description.clone())]
    };
    for text in suggestions.iter().flat_map(texts).filter_map(|(_, text)| text) {
        *counts.entry(text).or_default() += 1;
    }
    for suggestion in suggestions {
        for (field, text) in texts(suggestion) {
            if text.is_some_and(|text| counts.get(&text).is_some_and(|count| *count > 1)) {
                suggestion.remove(field);
                suggestion.remove(Field::OpenGraph);
            }
        }
    }
}

/// Removes the drafts of page heads whose pages the site no longer has.
pub(crate) async fn remove_orphaned_drafts(tx: &mut Tx, site_id: &str) -> Result<(), ApiError> {
    let sql = "DELETE FROM reviews WHERE site_id = $1 AND kind = 'overlay' AND status = 'draft'
               AND NOT EXISTS (SELECT 1 FROM content c WHERE c.site_id = reviews.site_id
                               AND c.location = reviews.path)";
    tx.execute(sql, args![site_id]).await?;
    Ok(())
}

/// Adds an article to the list as a draft, and returns its id. The site's rules may publish it.
pub(crate) async fn draft_article(
    tx: &mut Tx,
    now_ms: i64,
    site_id: &str,
    article: &ArticlePayload,
) -> Result<String, ApiError> {
    let path = article.path.as_deref().unwrap_or_default();
    let title = article.title.as_deref().unwrap_or_default();
    if title.trim().is_empty() || !path.starts_with('/') {
        return Err(ApiError::InvalidRequest(
            "An article needs a title, and a path that begins with /.".to_owned(),
        ));
    }
    let mut rules = SiteRules::lock(tx, now_ms, site_id).await?;
    check_path(tx, site_id, None, path).await?;
    let locale = article.locale.as_deref().unwrap_or_default();
    let new = NewDraft { kind: ReviewKind::Article, path, locale, title };
    let id = add_draft(tx, now_ms, site_id, new, |id| {
        Value::from(&ArticlePayload { content_id: Some(id.to_owned()), ..article.clone() })
    })
    .await?;
    rules.apply(tx, now_ms, site_id, &id).await?;
    Ok(id)
}
