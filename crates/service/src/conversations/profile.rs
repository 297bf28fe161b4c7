//! What operators write into a visitor's profile, and visitors that are blocked.
//!
//! A visitor whom the site has proved has one profile, and every conversation of theirs a copy. Without a
//! proof, every conversation has a profile of its own. What an operator wrote, or the site has proved, is not
//! replaced by what the visitor's page sends: the names of those fields are stored beside the profile.

use chat_protocol::admin::ProfileChange;
use chat_protocol::{ConversationId, Value, VisitorProfile};

use super::{Conversation, VISITOR_ID, lock, store};
use crate::db::{DbError, Dialect, Tx, args};
use crate::error::ApiError;
use crate::limits::check_text;
use crate::sites::Site;
use crate::visitors::identity::Identity;
use crate::visitors::profile::fields;
use crate::visitors::{self, Known};

/// Maximum characters of a field.
const MAX_LENGTH: usize = 500;

impl Conversation {
    /// Returns the visitor's address for e-mails, from the profile or a message.
    pub(crate) fn email(&self) -> Option<&str> {
        let found =
            || self.notes.email.as_deref().filter(|_| !self.edited.iter().any(|name| name == "email"));
        self.profile.email.as_deref().or_else(found).map(str::trim).filter(|email| !email.is_empty())
    }

    /// Returns whether the site has proved the visitor's address.
    pub(crate) fn is_email_verified(&self) -> bool {
        self.profile.email.is_some() && self.verified.iter().any(|name| name == "email")
    }

    /// Takes the fields that an operator wrote over from the visitor's profile.
    pub(crate) fn take_edited(&mut self, mut visitor: VisitorProfile, edited: &[String]) {
        if edited.is_empty() {
            return;
        }
        for name in edited {
            if !self.edited.contains(name) {
                self.edited.push(name.clone());
            }
        }
        for ((name, own), (_, known)) in fields(&mut self.profile).into_iter().zip(fields(&mut visitor)) {
            if edited.iter().any(|edited| edited == name) {
                own.clone_from(known);
            }
        }
        // They are the operator's words now.
        self.verified.retain(|name| !edited.contains(name));
    }

    /// Makes the conversation that of a verified visitor, whose stored data is `known`: what the site has
    /// proved, now or earlier, and what operators wrote. The claims of this conversation fill the rest.
    pub(super) fn verify(&mut self, identity: &Identity, mut known: Known) {
        self.visitor_no = Some(known.no);
        self.blocked |= known.blocked;
        self.profile.visitor_id = Some(identity.id.clone());
        self.verified = vec![VISITOR_ID.to_owned()];
        for ((name, own), (_, known)) in fields(&mut self.profile).into_iter().zip(fields(&mut known.profile))
        {
            if known.is_some() && !self.edited.iter().any(|edited| edited == name) {
                own.clone_from(known);
                self.verified.push(name.to_owned());
            }
        }
        // After the proved fields: operators know better.
        self.take_edited(known.profile, &known.edited);
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
    let (mut profile, mut edited) = match conversation.verified_visitor_no() {
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
    if let Some(visitor) = conversation.verified_visitor_no() {
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

/// Blocks a verified visitor or, without a proof, the conversation alone, so that nobody is blocked by what
/// another page claims; or ends that. The caller stores the conversation.
pub(super) async fn block(
    tx: &mut Tx,
    site: &Site,
    conversation: &mut Conversation,
    blocked: bool,
) -> Result<(), DbError> {
    let others = lock_others(tx, conversation).await?;
    if let Some(visitor) = conversation.verified_visitor_no() {
        tx.execute("UPDATE visitors SET blocked = $1 WHERE no = $2", args![blocked, visitor]).await?;
    }
    if !blocked {
        visitors::unblock_claimed(tx, &site.id, conversation.profile.visitor_id.as_ref()).await?;
    }
    for mut other in others {
        other.blocked = blocked;
        store(tx, &other).await?;
        tx.wake(other.wake(&site.tenant_id));
    }
    conversation.blocked = blocked;
    Ok(())
}

/// Returns the other conversations of the same verified visitor, locked. Conversations are locked before
/// their visitor, as sending a message does.
async fn lock_others(tx: &mut Tx, conversation: &Conversation) -> Result<Vec<Conversation>, DbError> {
    let Some(visitor) = conversation.verified_visitor_no() else { return Ok(Vec::new()) };
    let sql = match tx.dialect() {
        Dialect::Sqlite => super::select("WHERE c.visitor_no = $1 AND c.no <> $2 ORDER BY c.no"),
        Dialect::Postgres => super::select("WHERE c.visitor_no = $1 AND c.no <> $2 ORDER BY c.no FOR UPDATE"),
    };
    let rows = tx.all(sql, args![visitor, conversation.no]).await?;
    rows.iter().map(super::read).collect()
}

#[cfg(test)]
mod tests {
    use chat_protocol::{Role, SendMessage};
    use serde_json::{Value, json};

    use super::*;
    use crate::Service;
    use crate::conversations::{NewMessage, receive};
    use crate::databases::{Kind, TestDatabase, on_both_databases};
    use crate::db::transaction;
    use crate::sites::find;
    use crate::visitors::fixture::{execute, rows, service};

    /// Writes to the site `shop`, and returns the conversation.
    async fn write(
        service: &Service,
        id: Option<ConversationId>,
        visitor: Option<&str>,
        identity: Option<Identity>,
    ) -> Result<Conversation, ApiError> {
        let (site, now_ms) = (find(service.db(), "shop").await?.expect("a site"), service.now_ms());
        let body = SendMessage {
            conversation_id: id,
            message: "Hello".to_owned(),
            locale: None,
            source_page: None,
            visitor: VisitorProfile { visitor_id: visitor.map(Into::into), ..VisitorProfile::default() },
        };
        let db = service.db();
        let service = service.clone();
        transaction!(db, |tx| {
            let message = NewMessage::new(Role::Visitor, "Hello");
            receive(tx, &service, now_ms, &site, &body, identity.as_ref(), message).await
        })
        .await
        .map(|(conversation, ..)| conversation)
    }

    fn proved(email: Option<&str>) -> Identity {
        Identity::new("v-1", VisitorProfile { email: email.map(str::to_owned), ..VisitorProfile::default() })
    }

    on_both_databases! {
        async fn a_block_of_an_earlier_version_stays_until_an_operator_ends_it(database: &TestDatabase) {
            let service = service(database).await;
            let mut conversation = write(&service, None, Some("v-1"), None).await.expect("stored");
            // Earlier versions blocked whoever claims the id.
            execute(service.db(), "UPDATE visitors SET blocked = 1 WHERE id = 'v-1'", args![]).await;
            let claim = async |visitor| write(&service, None, Some(visitor), None).await.map(|_| ());
            let refused = ApiError::Forbidden("No messages are accepted from this visitor.");
            assert_eq!(claim("v-1").await, Err(refused.clone()));
            assert_eq!(write(&service, None, None, Some(proved(None))).await.map(|_| ()), Err(refused.clone()));
            assert_eq!(claim("v-2").await, Ok(()));

            let site = find(service.db(), "shop").await.expect("read").expect("a site");
            let ended = transaction!(service.db(), |tx| block(tx, &site, &mut conversation, false).await);
            ended.await.expect("unblocked");
            assert_eq!(claim("v-1").await, Ok(()));
            assert!(write(&service, None, None, Some(proved(None))).await.is_ok());
        }

        async fn what_was_proved_or_written_by_an_operator_is_in_every_conversation_of_the_visitor(database: &TestDatabase) {
            let service = service(database).await;
            let claimed = write(&service, None, Some("v-1"), None).await.expect("stored");
            let (id, site) = (claimed.id, find(service.db(), "shop").await.expect("read").expect("a site"));
            let change = ProfileChange { name: Some("Ada".to_owned()), ..ProfileChange::default() };
            let (edited, shop) = (id.clone(), site.clone());
            transaction!(service.db(), |tx| edit(tx, &shop, &edited, change).await).await.expect("edited");
            write(&service, None, None, Some(proved(Some("ada@shop.example")))).await.expect("stored");
            // The visitor signs in, with a token that proves nothing but the id.
            let signed_in = write(&service, Some(id), None, Some(proved(None))).await.expect("stored");
            assert_eq!(signed_in.verified_visitor(), Some("verified:v-1"));
            assert_eq!(signed_in.verified, ["visitorId", "email"]);
            assert_eq!(signed_in.profile.email.as_deref(), Some("ada@shop.example"));
            assert_eq!((signed_in.profile.name.as_deref(), signed_in.edited), (Some("Ada"), vec!["name".to_owned()]));
        }

        async fn webhooks_are_told_which_fields_of_the_profile_are_proved(database: &TestDatabase) {
            let service = service(database).await;
            let shop = find(service.db(), "shop").await.expect("read").expect("a site");
            let sql = "INSERT INTO webhooks (id, tenant_id, site_id, url, events, secret, created_ms) \
                       VALUES ('hook', $1, NULL, 'https://crm.example/', $2, $3, 1)";
            let events = r#"["conversation.created","lead.updated"]"#;
            execute(service.db(), sql, args![shop.tenant_id.as_str(), events, vec![1_u8]]).await;
            write(&service, None, Some("v-1"), None).await.expect("stored");
            write(&service, None, Some("v-1"), Some(proved(Some("ada@shop.example")))).await.expect("stored");
            let told = rows(service.db(), "SELECT event, body FROM deliveries ORDER BY no", args![]).await;
            let told: Vec<_> = told.iter().map(|row| {
                let body: Value = serde_json::from_str(&row.text(1).expect("a body")).expect("JSON");
                (row.text(0).expect("a name"), body["data"]["verifiedFields"].clone())
            }).collect();
            let (created, proved) = ("conversation.created".to_owned(), json!(["visitorId", "email"]));
            let lead = ("lead.updated".to_owned(), proved.clone());
            assert_eq!(told, [(created.clone(), json!([])), (created, proved), lead]);
        }
    }
}
