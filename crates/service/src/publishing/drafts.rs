//! Drafts of suggestions and articles, which the rules of their site may publish.

use chat_protocol::{ArticlePayload, Overlay, Value};

use super::Suggestion;
use super::reviews::{ReviewKind, add_draft};
use super::rules::SiteRules;
use crate::db::Tx;
use crate::error::ApiError;

/// Adds overlays to the list as drafts, and publishes those that the site's rules publish.
pub(crate) async fn suggest_overlays(
    tx: &mut Tx,
    now_ms: i64,
    site_id: &str,
    suggestions: Vec<Suggestion>,
) -> Result<(), ApiError> {
    if suggestions.is_empty() {
        return Ok(());
    }
    let mut rules = SiteRules::lock(tx, now_ms, site_id).await?;
    for Suggestion { path, locale, title, overlay } in suggestions {
        let page = (path.as_str(), locale.as_str(), title.as_str());
        let id = add_draft(tx, now_ms, site_id, ReviewKind::Overlay, page, |id| {
            Value::from(&Overlay { id: Some(id.to_owned()), ..overlay })
        })
        .await?;
        rules.apply(tx, now_ms, site_id, &id).await?;
    }
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
    let page = (path, article.locale.as_deref().unwrap_or_default(), title);
    let id = add_draft(tx, now_ms, site_id, ReviewKind::Article, page, |id| {
        Value::from(&ArticlePayload { content_id: Some(id.to_owned()), ..article.clone() })
    })
    .await?;
    SiteRules::lock(tx, now_ms, site_id).await?.apply(tx, now_ms, site_id, &id).await?;
    Ok(id)
}
