//! Answers by the AI for visitors whom no person has answered in time, where people answer first.
//!
//! `conversations.ai_due_ms` is the queue, which all nodes share. A node claims a conversation that is due by
//! moving this time to the end of its lease. The AI answers outside of any transaction. One transaction then
//! stores the answer, if the claim is still there: a person who answers or takes over, and a conversation
//! that is closed, remove it. A node that dies leaves its claim to the others, from the end of the lease on.

#[cfg(test)]
mod late_reply_tests;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use chat_protocol::{ConversationId, Role, VisitorId};
use tracing::warn;

use super::record::Recorded;
use super::reply::team;
use super::send::store_answer;
use crate::Service;
use crate::ai::{self, Answer, MAX_HISTORY, Turn, VisitorMessage, recent_events};
use crate::conversations::{self, Conversation, Status, StoredMessage, answered_seq, last_messages, store};
use crate::db::{DbError, args, transaction};
use crate::error::ApiError;
use crate::lead::Behaviour;
use crate::presence::operators_online;
use crate::queue_runner::{self, Queue};
use crate::rate::Caller;
use crate::sites::{self, Answerer, Site};
use crate::text::truncate_bytes;
use crate::visitors::events::Trail;

/// The time for which a node has a claim, in milliseconds.
const LEASE_MS: i64 = 5 * 60_000;
/// Maximum time of an answer. It ends before the lease, so that no other node answers meanwhile.
const ANSWER_TIMEOUT: Duration = Duration::from_mins(4);
/// The time by which an answer is postponed, if the site has had too many, in milliseconds.
const POSTPONED_MS: i64 = 60_000;
/// Maximum answers of a node at a time for one tenant, whose AI may be slow.
const MAX_PER_TENANT: usize = 4;
/// Maximum bytes of what the visitor has written since the last reply.
const MAX_TURN_BYTES: usize = 16 * 1024;

/// Answers what is due until the service stops.
pub(crate) async fn run(service: &Service) {
    queue_runner::run::<LateReplies>(service).await;
}

/// The conversations in which the AI answers late.
#[derive(Debug)]
pub(super) struct LateReplies {
    service: Service,
    /// The answers in progress at this node, by tenant.
    in_progress: Arc<Mutex<HashMap<String, usize>>>,
}

/// A claimed conversation.
#[derive(Debug)]
pub(super) struct Claimed {
    id: ConversationId,
    site_id: String,
    /// The end of the lease, by which the claim is told from a later one.
    until_ms: i64,
    _place: Place,
}

/// A place of a tenant, which is free again when it is dropped.
#[derive(Debug)]
struct Place {
    tenant_id: String,
    in_progress: Arc<Mutex<HashMap<String, usize>>>,
}

impl Place {
    /// Takes a place of a tenant, if one is free.
    fn take(in_progress: &Arc<Mutex<HashMap<String, usize>>>, tenant_id: &str) -> Option<Self> {
        let mut counts = in_progress.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(tenant_id.to_owned()).or_default();
        if *count >= MAX_PER_TENANT {
            return None;
        }
        *count += 1;
        Some(Self { tenant_id: tenant_id.to_owned(), in_progress: Arc::clone(in_progress) })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut counts = self.in_progress.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.tenant_id) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.tenant_id);
            }
        }
    }
}

impl Queue for LateReplies {
    const NAME: &'static str = "answers in place of people";
    const MAX_CONCURRENT: usize = 16;
    type Claimed = Claimed;

    fn open(service: &Service) -> Result<Option<Self>, String> {
        Ok(Some(Self { service: service.clone(), in_progress: Arc::default() }))
    }

    async fn claim(&self, now_ms: i64, limit: usize) -> Result<(Vec<Claimed>, Option<i64>), DbError> {
        let db = self.service.db();
        // One step of the index for each tenant, however many of its visitors wait.
        let tenants = "WITH RECURSIVE waiting (tenant_id) AS (
                SELECT min(tenant_id) FROM conversations WHERE ai_due_ms IS NOT NULL
                UNION ALL
                SELECT (SELECT min(c.tenant_id) FROM conversations c
                    WHERE c.ai_due_ms IS NOT NULL AND c.tenant_id > waiting.tenant_id)
                FROM waiting WHERE waiting.tenant_id IS NOT NULL)
            SELECT tenant_id, due_ms FROM (
                SELECT tenant_id, (SELECT min(c.ai_due_ms) FROM conversations c
                    WHERE c.tenant_id = waiting.tenant_id AND c.ai_due_ms IS NOT NULL) AS due_ms
                FROM waiting WHERE tenant_id IS NOT NULL) due
            WHERE due_ms IS NOT NULL ORDER BY due_ms";
        let (mut claimed, mut next_due_ms) = (Vec::new(), None);
        for row in db.all(tenants, args![]).await? {
            let (tenant_id, due_ms) = (row.text(0)?, row.int(1)?);
            if due_ms > now_ms {
                next_due_ms = next_due_ms.or(Some(due_ms));
                break;
            }
            if claimed.len() == limit {
                break;
            }
            // A tenant without a place has one again when one of its answers is there.
            let Some(place) = Place::take(&self.in_progress, &tenant_id) else { continue };
            claimed.extend(self.claim_one(now_ms, place).await?);
        }
        Ok((claimed, next_due_ms))
    }

    async fn send(self: Arc<Self>, claimed: Claimed, _now_ms: i64) -> Result<(), DbError> {
        let service = &self.service;
        match tokio::time::timeout(ANSWER_TIMEOUT, answer(service, &claimed)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(ApiError::Unavailable)) | Err(_) => {
                warn!(site = claimed.site_id, "a visitor was not answered in place of people yet");
                Ok(())
            }
            // It would fail again.
            Ok(Err(error)) => {
                warn!(site = claimed.site_id, "a visitor is not answered in place of people: {error}");
                move_due(service, &claimed, None).await
            }
        }
    }
}

impl LateReplies {
    /// Claims the conversation of a tenant that is due the longest, unless another node was faster.
    async fn claim_one(&self, now_ms: i64, place: Place) -> Result<Option<Claimed>, DbError> {
        let db = self.service.db();
        let sql = "SELECT id, site_id, ai_due_ms FROM conversations
            WHERE tenant_id = $1 AND ai_due_ms <= $2 ORDER BY ai_due_ms LIMIT 1";
        let Some(row) = db.optional(sql, args![&place.tenant_id, now_ms]).await? else { return Ok(None) };
        let (id, site_id, due_ms) = (row.text(0)?, row.text(1)?, row.int(2)?);
        let until_ms = now_ms.saturating_add(LEASE_MS);
        let changed: Result<u64, DbError> = transaction!(db, |tx| {
            let sql = "UPDATE conversations SET ai_due_ms = $1 WHERE id = $2 AND ai_due_ms = $3";
            tx.execute(sql, args![until_ms, &id, due_ms]).await
        })
        .await;
        let is_claimed = changed? == 1;
        let id = ConversationId::from(row.text(0)?);
        Ok(is_claimed.then_some(Claimed { id, site_id, until_ms, _place: place }))
    }
}

/// Answers what the visitor has written since the last reply, unless a person has answered or taken over.
async fn answer(service: &Service, claimed: &Claimed) -> Result<(), ApiError> {
    let db = service.db();
    let site = sites::find(db, &claimed.site_id).await?.filter(Site::is_active);
    let conversation = match conversations::find(db, &claimed.site_id, &claimed.id).await {
        Ok(conversation) if is_claimed(&conversation, claimed) => conversation,
        // A person was faster, or the conversation was erased.
        Ok(_) | Err(ApiError::NotFound(_)) => return Ok(()),
        Err(error) => return Err(error),
    };
    let Some(site) = site else { return Ok(move_due(service, claimed, None).await?) };
    let (now_ms, online) = (service.now_ms(), operators_online(service, &site.tenant_id).await?.is_online());
    // The settings may have changed since.
    let steps_in = site.answerer(now_ms, online) != Answerer::People { ai_after_ms: None };
    if !steps_in || !conversation.ai_answers(now_ms, online) {
        return Ok(move_due(service, claimed, None).await?);
    }
    let answered = answered_seq(db, conversation.no).await?;
    let history = last_messages(db, &claimed.id, conversation.no, MAX_HISTORY).await?;
    let is_owed = |stored: &StoredMessage| stored.message.role == Role::Visitor && stored.seq > answered;
    let (turn, history): (Vec<_>, Vec<_>) = history.into_iter().partition(is_owed);
    let Some(last) = turn.last() else { return Ok(move_due(service, claimed, None).await?) };
    let seq = last.seq;
    if !service.0.rates.take_late_ai_reply(service, &site.id).await? {
        return Ok(move_due(service, claimed, Some(now_ms + POSTPONED_MS)).await?);
    }
    let texts: Vec<&str> = turn.iter().map(|stored| stored.message.content.as_str()).collect();
    let text = truncate_bytes(&texts.join("\n"), MAX_TURN_BYTES).to_owned();
    let mut history: Vec<Turn> = history.into_iter().map(StoredMessage::into_turn).collect();
    history.push(Turn { role: Role::Visitor, content: text.clone() });
    let trail = Trail::Conversation(claimed.id.as_str());
    let began = Instant::now();
    let message = VisitorMessage {
        text: &text,
        locale: conversation.locale.as_deref(),
        page_origin: None,
        // The address of the visitor is not stored.
        caller: Caller::Anybody,
        visitor_id: conversation.profile.visitor_id.as_ref().map(VisitorId::as_str),
        trail,
        countries: conversation.countries(&site),
        has_contact: conversation.notes.has_contact(&conversation.profile),
        team: team(service, &site, online, false).await?,
        history,
    };
    let answer = ai::answer(service, &site, message).await?;
    service.0.metrics.ai_reply(&answer, began.elapsed());
    let behaviour = Behaviour::of(&recent_events(db, &site.id, trail).await?);
    finish(service, &site, claimed, Recorded::of_late_turn(&conversation, seq), answer, behaviour).await
}

/// Stores the answer, if the claim is still there. What the visitor has written meanwhile is due at once.
async fn finish(
    service: &Service,
    site: &Site,
    claimed: &Claimed,
    recorded: Recorded,
    answer: Answer,
    behaviour: Behaviour,
) -> Result<(), ApiError> {
    let online = operators_online(service, &site.tenant_id).await?.is_online();
    let (db, until_ms) = (service.db(), claimed.until_ms);
    let (service, site, id) = (service.clone(), site.clone(), claimed.id.clone());
    transaction!(db, |tx| {
        let mut conversation = match conversations::lock(tx, &site.id, &id).await {
            Ok(conversation) if conversation.ai_due_ms == Some(until_ms) => conversation,
            Ok(_) | Err(ApiError::NotFound(_)) => return Ok(()),
            Err(error) => return Err(error),
        };
        let more =
            "SELECT 1 FROM messages WHERE conversation_no = $1 AND seq > $2 AND role = 'visitor' LIMIT 1";
        let has_more = tx.optional(more, args![conversation.no, recorded.seq]).await?.is_some();
        conversation.ai_due_ms = has_more.then(|| service.now_ms());
        if answer.text.is_some() {
            conversation.notes.record_stand_in();
        }
        store(tx, &conversation).await?;
        store_answer(tx, &service, &site, &recorded, &answer, &behaviour, online).await.map(drop)
    })
    .await
}

/// Returns whether the AI still owes the answer of a claim.
fn is_claimed(conversation: &Conversation, claimed: &Claimed) -> bool {
    conversation.status == Status::Waiting && conversation.ai_due_ms == Some(claimed.until_ms)
}

/// Gives a claim up: the AI answers at a later time, or not at all.
async fn move_due(service: &Service, claimed: &Claimed, due_ms: Option<i64>) -> Result<(), DbError> {
    let (id, until_ms) = (claimed.id.clone(), claimed.until_ms);
    let write: Result<u64, DbError> = transaction!(service.db(), |tx| {
        let sql = "UPDATE conversations SET ai_due_ms = $1 WHERE id = $2 AND ai_due_ms = $3";
        tx.execute(sql, args![due_ms, &id, until_ms]).await
    })
    .await;
    write.map(drop)
}
