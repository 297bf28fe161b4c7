//! Erases everything that is stored about a person.
//!
//! An erasure is a sequence of transactions, each of a limited number of rows. The visitor's row goes with
//! the last one, together with the entry of the audit log. An erasure that was interrupted is repeated by its
//! caller, and goes on where it stopped.

use chat_protocol::admin::Erased;

use super::removal::{self, BATCH, Removed};
use super::scrub;
use super::subject::Subject;
use crate::Service;
use crate::accounts::Actor;
use crate::db::{DbError, Tx, Wake, args, transaction};
use crate::error::ApiError;
use crate::sites::Site;

/// Maximum conversations that one transaction removes.
const MAX_CONVERSATIONS: i64 = 20;
/// Maximum attempts of a transaction that collided with another one.
const MAX_ATTEMPTS: u32 = 5;

fn add(erased: &mut Erased, other: Erased) {
    erased.visitors += other.visitors;
    erased.conversations += other.conversations;
    erased.messages += other.messages;
    erased.events += other.events;
}

/// The data that remains to be erased.
#[derive(Clone, Debug)]
enum Target {
    Visitor {
        no: i64,
        id: String,
    },
    /// A conversation alone.
    Conversation {
        no: i64,
        id: String,
    },
}

/// Erases the data of a person, also from the free pages of the database's file.
pub(super) async fn erase(
    service: &Service,
    site: &Site,
    actor: &Actor,
    subject: Subject,
) -> Result<Erased, ApiError> {
    let visitors = subject.visitors.into_iter().map(|(no, id)| Target::Visitor { no, id });
    let conversations = subject.conversations.into_iter().map(|(no, id)| Target::Conversation { no, id });
    let mut erased = Erased::default();
    for target in visitors.chain(conversations) {
        loop {
            let (step, finished) = execute(service, site, actor, &target).await?;
            add(&mut erased, step);
            if finished {
                break;
            }
        }
    }
    scrub::scrub(service.db(), service.now_ms()).await?;
    Ok(erased)
}

/// Executes one transaction, again if it collided with one of a visitor who writes at the same time.
async fn execute(
    service: &Service,
    site: &Site,
    actor: &Actor,
    target: &Target,
) -> Result<(Erased, bool), ApiError> {
    let mut attempt = 1;
    loop {
        let now_ms = service.now_ms();
        let (site, actor, target) = (site.clone(), actor.clone(), target.clone());
        let outcome: Result<_, DbError> =
            transaction!(service.db(), |tx| step(tx, now_ms, &site, &actor, &target).await).await;
        match outcome {
            Err(error) if error.is_transient() && attempt < MAX_ATTEMPTS => attempt += 1,
            outcome => return Ok(outcome?),
        }
    }
}

/// Erases a part of the data. Returns whether nothing is left.
async fn step(
    tx: &mut Tx,
    now_ms: i64,
    site: &Site,
    actor: &Actor,
    target: &Target,
) -> Result<(Erased, bool), DbError> {
    scrub::request(tx, now_ms).await?;
    let (erased, finished, id) = match target {
        Target::Visitor { no, id } => {
            let (erased, finished) = visitor_step(tx, site, *no, id).await?;
            (erased, finished, id)
        }
        Target::Conversation { no, id } => {
            let (erased, finished) = conversations_step(tx, site, vec![(*no, id.clone())], BATCH).await?;
            (erased, finished, id)
        }
    };
    if finished {
        actor.record(tx, now_ms, "visitor.erase", &format!("{}/{id}", site.id)).await?;
        tx.wake(Wake::Site { tenant: site.tenant_id.clone(), site: site.id.clone() });
    }
    Ok((erased, finished))
}

/// Conversations are locked before the visitor, as sending a message does, so that neither waits for the
/// other. A message that began a conversation in between is found by the second look.
async fn visitor_step(tx: &mut Tx, site: &Site, no: i64, id: &str) -> Result<(Erased, bool), DbError> {
    let (mut erased, finished) = remove_conversations(tx, site, no).await?;
    if !finished {
        return Ok((erased, false));
    }
    let lock = "UPDATE visitors SET page_views = page_views WHERE no = $1 AND site_id = $2";
    tx.execute(lock, args![no, &site.id]).await?;
    if !conversations(tx, site, no).await?.is_empty() {
        return Ok((erased, false));
    }
    let events = "DELETE FROM events WHERE no IN
                  (SELECT no FROM events WHERE site_id = $1 AND visitor_id = $2 ORDER BY no LIMIT $3)";
    erased.events += count(tx.execute(events, args![&site.id, id, BATCH]).await?);
    if erased.events >= BATCH {
        return Ok((erased, false));
    }
    let visitor = "DELETE FROM visitors WHERE no = $1 AND site_id = $2";
    erased.visitors += count(tx.execute(visitor, args![no, &site.id]).await?);
    Ok((erased, true))
}

async fn conversations(tx: &mut Tx, site: &Site, visitor_no: i64) -> Result<Vec<(i64, String)>, DbError> {
    let sql = "SELECT no, id FROM conversations WHERE site_id = $1 AND visitor_no = $2 ORDER BY no LIMIT $3";
    let rows = tx.all(sql, args![&site.id, visitor_no, MAX_CONVERSATIONS]).await?;
    rows.iter().map(|row| Ok((row.int(0)?, row.text(1)?))).collect()
}

async fn remove_conversations(tx: &mut Tx, site: &Site, visitor_no: i64) -> Result<(Erased, bool), DbError> {
    let found = conversations(tx, site, visitor_no).await?;
    let all = count(found.len() as u64) < MAX_CONVERSATIONS;
    let (erased, finished) = conversations_step(tx, site, found, BATCH).await?;
    Ok((erased, finished && all))
}

/// Removes conversations, with their events, up to a number of rows. Returns whether nothing is left.
async fn conversations_step(
    tx: &mut Tx,
    site: &Site,
    conversations: Vec<(i64, String)>,
    mut limit: i64,
) -> Result<(Erased, bool), DbError> {
    let mut erased = Erased::default();
    for (no, id) in conversations {
        let events = "DELETE FROM events WHERE no IN
                      (SELECT no FROM events WHERE site_id = $1 AND conversation_id = $2 ORDER BY no LIMIT $3)";
        let removed = count(tx.execute(events, args![&site.id, &id, limit]).await?);
        erased.events += removed;
        limit -= removed;
        if limit <= 0 {
            return Ok((erased, false));
        }
        let conversation = Removed { no, id, site_id: site.id.clone(), tenant_id: site.tenant_id.clone() };
        let (messages, gone) = removal::remove(tx, &conversation, limit).await?;
        erased.messages += messages;
        erased.conversations += i64::from(gone);
        limit -= messages;
        if !gone {
            return Ok((erased, false));
        }
    }
    Ok((erased, true))
}

fn count(rows: u64) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}
