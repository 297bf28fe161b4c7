//! The link of an e-mail, which proves the mailbox, for its conversation only.
//!
//! The page that it opens has a proof in its fragment, which no server, no log and no `Referer` sees. The
//! widget shows the proof once, in the header of visitors' tokens, and is told which conversation it opens.
//! The proof holds for 30 days, however often it is shown: a mail scanner that follows the link does not use
//! it up.

use axum::http::HeaderMap;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use chat_protocol::ConversationId;
use reqwest::Url;
use secrecy::ExposeSecret;

use crate::conversations::notes::{self, Event};
use crate::conversations::{self, NO_CONVERSATION};
use crate::db::{args, transaction};
use crate::error::ApiError;
use crate::sites::Site;
use crate::visitors::proof::{HEADER, MAIL_PREFIX};
use crate::{Service, ServiceKey};

/// The name in the fragment of a page's address.
const FRAGMENT: &str = "chat-widget-mail=";
/// The place of a proof, for which it is encrypted.
const PURPOSE: &str = "link of an e-mail";
/// Maximum bytes of a proof.
const MAX_BYTES: usize = 300;
/// The time for which a proof holds.
const LIFETIME_MS: i64 = 30 * 24 * 60 * 60 * 1000;

const INVALID: ApiError = ApiError::Unauthorized {
    code: "INVALID_VISITOR_TOKEN",
    message: "The link of the e-mail is invalid or has expired.",
};

/// Returns the address of a page with the proof of an e-mail.
pub(super) fn link(key: &ServiceKey, mut page: Url, mail_id: &str) -> String {
    let sealed = BASE64_URL_SAFE_NO_PAD.encode(key.seal(PURPOSE, mail_id));
    page.set_fragment(Some(&format!("{FRAGMENT}{MAIL_PREFIX}{sealed}")));
    page.into()
}

/// Returns the proof of a request, if it has one.
fn proof(headers: &HeaderMap) -> Option<&str> {
    headers.get(HEADER)?.to_str().ok()?.strip_prefix(MAIL_PREFIX)
}

/// Returns whether a request has the proof of an e-mail.
pub(crate) fn is_link(headers: &HeaderMap) -> bool {
    proof(headers).is_some()
}

/// Returns the conversation that the proof of a request opens, and tells the operators the first time.
pub(crate) async fn opened(
    service: &Service,
    site: &Site,
    headers: &HeaderMap,
) -> Result<ConversationId, ApiError> {
    let proof = proof(headers).filter(|proof| proof.len() <= MAX_BYTES).ok_or(INVALID)?;
    let sealed = BASE64_URL_SAFE_NO_PAD.decode(proof).map_err(|_| INVALID)?;
    let mail_id = service.0.options.key.unseal(PURPOSE, &sealed).map_err(|_| INVALID)?;
    let sql = "SELECT r.no, r.created_ms, r.opened_ms, c.id FROM reply_mails r
               JOIN conversations c ON c.no = r.conversation_no
               WHERE r.id = $1 AND r.site_id = $2 AND c.site_id = $2";
    let row = service.db().optional(sql, args![mail_id.expose_secret(), &site.id]).await?.ok_or(INVALID)?;
    let (no, id, now_ms) = (row.int(0)?, ConversationId::from(row.text(3)?), service.now_ms());
    if now_ms.saturating_sub(row.int(1)?) > LIFETIME_MS {
        return Err(INVALID);
    }
    if row.is_null(2)? {
        let (site, id) = (site.clone(), id.clone());
        transaction!(service.db(), |tx| {
            let conversation = conversations::lock(tx, &site.id, &id).await?;
            let sql = "UPDATE reply_mails SET opened_ms = $2 WHERE no = $1 AND opened_ms IS NULL";
            if tx.execute(sql, args![no, now_ms]).await? > 0 {
                notes::record(tx, now_ms, &conversation, None, Event::MailOpened).await?;
                tx.wake(conversation.wake(&site.tenant_id));
            }
            Ok::<_, ApiError>(())
        })
        .await
        .map_err(|error| if error == NO_CONVERSATION { INVALID } else { error })?;
    }
    Ok(id)
}
