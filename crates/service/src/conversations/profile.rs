//! What operators write into a visitor's profile, and visitors that are blocked.
//!
//! A visitor has one profile, and every conversation of theirs a copy. What an operator wrote is not replaced
//! by what the visitor's page sends: the names of those fields are stored beside the profile.

use chat_protocol::admin::ProfileChange;
use chat_protocol::{ConversationId, Value, VisitorProfile};

use super::{Conversation, lock, store};
use crate::db::{DbError, Dialect, Tx, args};
use crate::error::ApiError;
use crate::limits::check_text;
use crate::sites::Site;
use crate::visitors;
use crate::visitors::profile::fields;

/// Maximum characters of a field.
const MAX_LENGTH: usize = 500;

impl Conversation {
    /// Takes the fields that an operator wrote over from the visitor's profile.
    pub(crate) fn take_edited(&mut self, mut visitor: VisitorProfile, edited: &[String]) {
        if edited.is_empty() {
            return;
        }
        self.edited = edited.to_vec();
        for ((name, own), (_, known)) in fields(&mut self.profile).into_iter().zip(fields(&mut visitor)) {
            if edited.iter().any(|edited| edited == name) {
                own.clone_from(known);
            }
        }
    }
}

/// Changes the profile of a conversation's visitor, and returns the conversation.
pub(crate) async fn edit(
    tx: &mut Tx,
    site: &Site,
    id: &ConversationId,
    change: ProfileChange,
) -> Result<Conversation, ApiError> {
    let ProfileChange { name, email, phone, company, wechat, whatsapp, country } = change;
    let mut conversation = lock(tx, &site.id, id).await?;
    let others = lock_others(tx, &conversation).await?;
    let (mut profile, mut edited) = match conversation.visitor_no {
        Some(visitor) => visitors::lock_profile(tx, visitor).await?,
        None => (conversation.profile.clone(), conversation.edited.clone()),
    };
    let changes = [name, email, phone, company, wechat, whatsapp, country];
    for ((name, field), change) in fields(&mut profile).into_iter().zip(changes) {
        let Some(change) = change else { continue };
        let text = check_text(name, &change, 0, MAX_LENGTH)?;
        *field = Some(text).filter(|text| !text.is_empty());
        if !edited.iter().any(|edited| edited == name) {
            edited.push(name.to_owned());
        }
    }
    if let Some(visitor) = conversation.visitor_no {
        let sql = "UPDATE visitors SET profile = $1, edited = $2 WHERE no = $3";
        let names = serde_json::to_string(&edited).unwrap_or_default();
        tx.execute(sql, args![&Value::from(&profile), names, visitor]).await?;
    }
    for mut other in others {
        other.take_edited(profile.clone(), &edited);
        store(tx, &other).await?;
        tx.wake(other.wake(&site.tenant_id));
    }
    conversation.take_edited(profile, &edited);
    store(tx, &conversation).await?;
    tx.wake(conversation.wake(&site.tenant_id));
    Ok(conversation)
}

/// Blocks the visitor of a conversation, or ends that. The caller stores the conversation.
pub(super) async fn block(
    tx: &mut Tx,
    site: &Site,
    conversation: &mut Conversation,
    blocked: bool,
) -> Result<(), DbError> {
    let others = lock_others(tx, conversation).await?;
    if let Some(visitor) = conversation.visitor_no {
        tx.execute("UPDATE visitors SET blocked = $1 WHERE no = $2", args![blocked, visitor]).await?;
    }
    for mut other in others {
        other.blocked = blocked;
        store(tx, &other).await?;
        tx.wake(other.wake(&site.tenant_id));
    }
    conversation.blocked = blocked;
    Ok(())
}

/// Returns the other conversations of the same visitor, locked. Conversations are locked before their
/// visitor, as sending a message does.
async fn lock_others(tx: &mut Tx, conversation: &Conversation) -> Result<Vec<Conversation>, DbError> {
    let Some(visitor) = conversation.visitor_no else { return Ok(Vec::new()) };
    let sql = match tx.dialect() {
        Dialect::Sqlite => super::select("WHERE c.visitor_no = $1 AND c.no <> $2 ORDER BY c.no"),
        Dialect::Postgres => super::select("WHERE c.visitor_no = $1 AND c.no <> $2 ORDER BY c.no FOR UPDATE"),
    };
    let rows = tx.all(sql, args![visitor, conversation.no]).await?;
    rows.iter().map(super::read).collect()
}
