//! The chat's endpoints (4.4 to 4.8), except sending.

use std::sync::Arc;

use chat_protocol::{ChatConfig, ConversationId, EventBatch, History, Value};

use crate::Service;
use crate::ai::Phrases;
use crate::bulk_writes;
use crate::conversations::{self, exists, head, page, reply_time, seen, sequence_of};
use crate::db::{Wake, args, work};
use crate::error::ApiError;
use crate::idempotency::{KeyedRequest, execute_once};
use crate::presence;
use crate::response::ApiResponse;
use crate::sites::Site;
use crate::visitors::events as visitor_events;
use crate::visitors::identity::Identity;

/// The locale of a site that names none.
const DEFAULT_LOCALE: &str = "en";

fn supported_locales(site: &Site) -> Vec<String> {
    match site.supported_locales.as_slice() {
        [] => vec![site.primary_locale.clone().unwrap_or_else(|| DEFAULT_LOCALE.to_owned())],
        locales => locales.to_vec(),
    }
}

/// Returns the visitor's locale if the site supports its language, or else that of the site.
pub(super) fn resolved_locale(site: &Site, locale: Option<&str>) -> String {
    let supported = supported_locales(site);
    let is_supported = |tag: &&str| supported.iter().any(|known| language(known) == language(tag));
    locale
        .filter(is_supported)
        .or(site.primary_locale.as_deref())
        .or(supported.first().map(String::as_str))
        .unwrap_or(DEFAULT_LOCALE)
        .to_owned()
}

pub(super) async fn config(service: &Service, site: &Site, locale: Option<&str>) -> Result<Value, ApiError> {
    // Visitors who wait while the site is closed are told when it opens.
    let is_told = !site.is_ai_only() && site.is_open(service.now_ms());
    let usual = if is_told { reply_time::usual_reply(service, site).await? } else { None };
    let resolved = resolved_locale(site, locale);
    let config = ChatConfig {
        tenant_id: Some(site.opaque_tenant_id()),
        site_id: Some(site.id.clone()),
        enabled: site.chat_enabled,
        widget_enabled: site.widget_enabled,
        people_only: site.answering == "people_only",
        ai_only: site.is_ai_only(),
        usual_reply: usual.and_then(|usual| Phrases::usual_reply(&resolved, usual)).map(str::to_owned),
        // Texts (2.3), empty where the site has none. Widgets have a name in the visitor's language.
        assistant_name: Some(site.assistant_name.clone().unwrap_or_default()),
        welcome_message: Some(welcome(site, &resolved).unwrap_or_default()),
        avatar_url: site.avatar_url.clone(),
        options: widget_options(site),
        locale: Some(resolved),
        supported_locales: supported_locales(site),
        stale: false,
    };
    Ok(Value::from(&config))
}

/// Returns the options of the widget that the site has set; null without any.
fn widget_options(site: &Site) -> Value {
    if site.widget_options.is_empty() {
        return Value::Null;
    }
    let json = serde_json::to_value(&site.widget_options).unwrap_or_default();
    serde_json::from_value(json).unwrap_or_default()
}

fn language(tag: &str) -> String {
    tag.split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase()
}

/// Returns the welcome message for a locale: that of the locale itself, of its language, or of all others.
fn welcome(site: &Site, locale: &str) -> Option<String> {
    let same_language =
        || site.welcome.iter().find(|(tag, _)| language(tag) == language(locale)).map(|(_, text)| text);
    site.welcome.get(locale).or_else(same_language).or_else(|| site.welcome.get("")).cloned()
}

pub(super) async fn messages(
    service: &Service,
    site: &Site,
    id: Option<ConversationId>,
    identity: Option<&Identity>,
    after: Option<&str>,
) -> Result<Value, ApiError> {
    let current = match (id, identity) {
        (Some(id), _) => Some(id),
        (None, Some(identity)) => conversations::current(service.db(), &site.id, identity).await?,
        (None, None) => return Err(ApiError::InvalidRequest("conversationId is missing.".to_owned())),
    };
    // A visitor who has not written yet.
    let Some(id) = &current else {
        return Ok(Value::from(&History {
            conversation_id: None,
            messages: Vec::new(),
            next_after: None,
            operator_typing: None,
        }));
    };
    let head = head(service, &site.id, id).await?;
    if conversations::is_of_another(head.verified.as_deref(), identity) {
        return Err(conversations::NO_CONVERSATION);
    }
    let after_seq = after.map_or(0, |after| sequence_of(id, after));
    seen::record(service, site, id, &head, after_seq);
    let messages: Vec<_> = if after_seq >= head.last_seq && after_seq > 0 {
        Vec::new()
    } else {
        let page = page(service.db(), id, head.no, after_seq).await?;
        page.into_iter().map(|stored| stored.message).collect()
    };
    let next_after = match messages.last() {
        Some(last) => last.id.clone(),
        // A cursor beyond the last message, as of a conversation that was erased, becomes the last message.
        None => (head.last_seq > 0).then(|| conversations::message_id(id, head.last_seq)),
    };
    let operator_typing = operator_typing(service, &site.tenant_id, id).await?;
    Ok(Value::from(&History { conversation_id: Some(id.clone()), messages, next_after, operator_typing }))
}

/// Returns the name of the operator who is writing to the visitor.
async fn operator_typing(
    service: &Service,
    tenant_id: &str,
    id: &ConversationId,
) -> Result<Option<String>, ApiError> {
    let Ok(operator) = service.0.caches.typing.get(&id.as_str().to_owned()) else { return Ok(None) };
    let sql = "SELECT name FROM operators WHERE tenant_id = $1 AND id = $2 AND disabled_ms IS NULL";
    let row = service.db().optional(sql, args![tenant_id, operator]).await?;
    Ok(row.map(|row| row.text(0)).transpose()?)
}

pub(super) async fn presence(
    service: &Service,
    site: &Site,
    conversation_id: Option<&str>,
) -> Result<Value, ApiError> {
    let exists = match conversation_id {
        None => false,
        Some(id) => exists(service, &site.id, &id.into()).await?,
    };
    presence::presence(service, site, exists).await
}

pub(super) async fn events(
    service: &Service,
    site: Arc<Site>,
    batch: EventBatch,
    keyed: Option<KeyedRequest>,
) -> Result<ApiResponse, ApiError> {
    let now_ms = service.now_ms();
    let key = keyed.as_ref().map(|keyed| keyed.key.clone());
    let (writer, tenant) = (service.clone(), site.tenant_id.clone());
    let execute = work!(|tx| {
        let tracking = if site.tracking_enabled {
            tx.wake(Wake::Site { tenant: site.tenant_id.clone(), site: site.id.clone() });
            visitor_events::record(tx, now_ms, &site.id, &batch, key.as_ref()).await?
        } else {
            visitor_events::discard(&batch)
        };
        Ok(ApiResponse::success(Value::from(&tracking)))
    });
    let write = async move { execute_once(&writer, keyed, ApiError::IdempotencyConflict, execute).await };
    bulk_writes::execute(service, &tenant, write).await
}
