//! Conversations and their messages.

mod announce;
pub(crate) mod change;
pub(crate) mod desk;
mod head;
pub(crate) mod list;
mod message;
pub(crate) mod notes;
pub(crate) mod profile;
mod receive;
pub(crate) mod reply_time;
pub(crate) mod report;
pub(crate) mod search_text;
pub(crate) mod seen;
pub(crate) mod snooze;
mod status;
pub(crate) mod summary;
pub(crate) mod unanswered;

use chat_protocol::{ConversationId, Lead, SendMessage, Value, VisitorId, VisitorProfile};

use crate::db::{Db, DbError, Dialect, Row, Tx, Wake, args};
use crate::error::ApiError;
use crate::lead::{Countries, LeadNotes};
use crate::secrets::new_id;
use crate::sites::Site;
use crate::text::truncate_bytes;
use crate::visitors::events::Trail;
use crate::visitors::identity::{Identity, is_verified};
use crate::visitors::profile::without;

pub(crate) use head::{Head, exists, head};
pub(crate) use message::{
    Author, NewMessage, StoredMessage, add_message, answer_to, answered_seq, last_messages, last_of_each,
    message_id, page, page_before, record_outcome, sequence_of,
};
pub(crate) use receive::{is_of_another, receive};
pub(crate) use status::Status;

pub(crate) const NO_CONVERSATION: ApiError = ApiError::NotFound("This conversation");

/// A time that never comes, in milliseconds since 1970: an AI that is paused until it is told to go on.
const NEVER_MS: i64 = 253_370_764_800_000;
/// Maximum characters of a profile field; the rest is cut off.
const MAX_PROFILE_FIELD_LENGTH: usize = 500;

/// A conversation.
#[derive(Clone, Debug)]
pub(crate) struct Conversation {
    pub(crate) no: i64,
    pub(crate) id: ConversationId,
    pub(crate) site_id: String,
    pub(crate) visitor_no: Option<i64>,
    pub(crate) status: Status,
    pub(crate) assignee_id: Option<String>,
    /// The AI does not answer before this time.
    pub(crate) ai_paused_until_ms: i64,
    pub(crate) locale: Option<String>,
    pub(crate) source_page: Option<String>,
    pub(crate) profile: VisitorProfile,
    pub(crate) notes: LeadNotes,
    /// The lead's score, 0 to 100.
    pub(crate) score: i64,
    /// The number of the visitor's messages that no operator has read.
    pub(crate) unread: i64,
    pub(crate) last_seq: i64,
    pub(crate) created_ms: i64,
    /// The time of the last message.
    pub(crate) updated_ms: i64,
    pub(crate) closed_ms: Option<i64>,
    /// The time since which the visitor has waited for a person.
    pub(crate) waiting_since_ms: Option<i64>,
    /// The conversation is put aside until then; 0 when it is not.
    pub(crate) snoozed_until_ms: i64,
    /// Whether messages of the visitor are refused.
    pub(crate) blocked: bool,
    /// The names of the fields of the profile that an operator wrote.
    pub(crate) edited: Vec<String>,
    /// The names of the fields of the profile that the site has proved, such as `visitorId`.
    pub(crate) verified: Vec<String>,
    /// The visitor's widget has polled past the messages up to this number.
    pub(crate) seen_seq: i64,
    /// The time at which the visitor first asked for a person.
    pub(crate) person_asked_ms: Option<i64>,
    /// The time at which the visitor asked for a person, or an operator took over.
    pub(crate) handed_off_ms: Option<i64>,
    /// The time at which the AI answers, unless a person answers or takes over before.
    pub(crate) ai_due_ms: Option<i64>,
    /// The place in the lists, descending.
    pub(crate) sort_key: i64,
}

const COLUMNS: &str = "c.no, c.id, c.site_id, c.visitor_no, c.status, c.assignee_id, c.ai_paused_until_ms,
    c.locale, c.source_page, c.profile, c.notes, c.score, c.unread, c.last_seq, c.created_ms, c.updated_ms,
    c.closed_ms, c.waiting_since_ms, c.snoozed_until_ms, c.blocked, c.edited, c.seen_seq, c.person_asked_ms,
    c.handed_off_ms, c.sort_key, c.verified, c.ai_due_ms";
/// The number of [`COLUMNS`].
const COLUMN_COUNT: usize = 27;
/// The name of the visitor's id among the proved fields.
const VISITOR_ID: &str = "visitorId";
/// The `sort_key` of a conversation whose visitor waits is above this one, and that of all others below.
const MIN_WAITING_KEY: i64 = 4_000_000_000_000_000;

/// Returns a query of conversations `c` with more tables and conditions.
pub(crate) fn select(rest: &str) -> sqlx::AssertSqlSafe<String> {
    sqlx::AssertSqlSafe(format!("SELECT {COLUMNS} FROM conversations c {rest}"))
}

pub(crate) fn read(row: &Row) -> Result<Conversation, DbError> {
    let parsed = |text: String| -> Value { serde_json::from_str(&text).unwrap_or_default() };
    Ok(Conversation {
        no: row.int(0)?,
        id: ConversationId::from(row.text(1)?),
        site_id: row.text(2)?,
        visitor_no: row.optional_int(3)?,
        status: Status::from_stored(&row.text(4)?),
        assignee_id: row.optional_text(5)?,
        ai_paused_until_ms: row.int(6)?,
        locale: row.optional_text(7)?,
        source_page: row.optional_text(8)?,
        profile: VisitorProfile::try_from(parsed(row.text(9)?)).unwrap_or_default(),
        notes: serde_json::from_str(&row.text(10)?).unwrap_or_default(),
        score: row.int(11)?,
        unread: row.int(12)?,
        last_seq: row.int(13)?,
        created_ms: row.int(14)?,
        updated_ms: row.int(15)?,
        closed_ms: row.optional_int(16)?,
        waiting_since_ms: row.optional_int(17)?,
        snoozed_until_ms: row.int(18)?,
        blocked: row.flag(19)?,
        edited: serde_json::from_str(&row.text(20)?).unwrap_or_default(),
        seen_seq: row.int(21)?,
        person_asked_ms: row.optional_int(22)?,
        handed_off_ms: row.optional_int(23)?,
        sort_key: row.int(24)?,
        verified: serde_json::from_str(&row.text(25)?).unwrap_or_default(),
        ai_due_ms: row.optional_int(26)?,
    })
}

/// Returns a conversation of a site, locked until the transaction ends.
pub(crate) async fn lock(tx: &mut Tx, site_id: &str, id: &ConversationId) -> Result<Conversation, ApiError> {
    let sql = match tx.dialect() {
        // The only writer has the lock already.
        Dialect::Sqlite => select("WHERE c.id = $1 AND c.site_id = $2"),
        Dialect::Postgres => select("WHERE c.id = $1 AND c.site_id = $2 FOR UPDATE"),
    };
    let row = tx.optional(sql, args![id, site_id]).await?;
    Ok(read(&row.ok_or(NO_CONVERSATION)?)?)
}

/// Returns a conversation of a site.
pub(crate) async fn find(db: &Db, site_id: &str, id: &ConversationId) -> Result<Conversation, ApiError> {
    let row = db.optional(select("WHERE c.id = $1 AND c.site_id = $2"), args![id, site_id]).await?;
    Ok(read(&row.ok_or(NO_CONVERSATION)?)?)
}

/// Returns the id of the conversation that a verified visitor has written in last, if there is one.
pub(crate) async fn current(
    db: &Db,
    site_id: &str,
    identity: &Identity,
) -> Result<Option<ConversationId>, DbError> {
    let sql = "SELECT c.id FROM conversations c JOIN visitors v ON v.no = c.visitor_no
               WHERE v.site_id = $1 AND v.id = $2 ORDER BY c.updated_ms DESC, c.no DESC LIMIT 1";
    let row = db.optional(sql, args![site_id, identity.id.as_str()]).await?;
    row.map(|row| Ok(row.text(0)?.into())).transpose()
}

/// Creates a conversation.
pub(crate) async fn create(tx: &mut Tx, now_ms: i64, site_id: &str) -> Result<Conversation, ApiError> {
    let id = ConversationId::from(new_id("conv"));
    let row = tx
        .one(
            "INSERT INTO conversations (id, site_id, tenant_id, status, created_ms, updated_ms)
             VALUES ($1, $2, (SELECT tenant_id FROM sites WHERE id = $2), $3, $4, $4) RETURNING no",
            args![&id, site_id, Status::Open.as_str(), now_ms],
        )
        .await?;
    Ok(Conversation::new(row.int(0)?, id, site_id, now_ms))
}

/// Stores the fields of a conversation that messages and operators change. The caller holds its lock.
pub(crate) async fn store(tx: &mut Tx, conversation: &Conversation) -> Result<(), DbError> {
    let Conversation { visitor_no, status, assignee_id, ai_paused_until_ms, locale, source_page, .. } =
        conversation;
    tx.execute(
        "UPDATE conversations SET visitor_no = $1, status = $2, assignee_id = $3, ai_paused_until_ms = $4,
             locale = $5, source_page = $6, profile = $7, notes = $8, score = $9, unread = $10,
             closed_ms = $11, waiting_since_ms = $12, snoozed_until_ms = $13, blocked = $14, edited = $15,
             person_asked_ms = $16, handed_off_ms = $17, search_text = $18, is_lead = $19, verified = $20,
             ai_due_ms = $21
         WHERE no = $22",
        args![
            *visitor_no,
            status.as_str(),
            assignee_id.clone(),
            *ai_paused_until_ms,
            locale.clone(),
            source_page.clone(),
            &Value::from(&conversation.profile),
            serde_json::to_string(&conversation.notes).unwrap_or_default(),
            conversation.score,
            conversation.unread,
            conversation.closed_ms,
            conversation.waiting_since_ms,
            conversation.snoozed_until_ms,
            conversation.blocked,
            serde_json::to_string(&conversation.edited).unwrap_or_default(),
            conversation.person_asked_ms,
            conversation.handed_off_ms,
            conversation.search_text(),
            conversation.notes.has_contact(&conversation.profile),
            serde_json::to_string(&conversation.verified).unwrap_or_default(),
            conversation.ai_due_ms,
            conversation.no,
        ],
    )
    .await
    .map(drop)
}

impl Conversation {
    /// Returns a conversation without messages.
    fn new(no: i64, id: ConversationId, site_id: &str, now_ms: i64) -> Self {
        Self {
            no,
            id,
            site_id: site_id.to_owned(),
            visitor_no: None,
            status: Status::Open,
            assignee_id: None,
            ai_paused_until_ms: 0,
            locale: None,
            source_page: None,
            profile: VisitorProfile::default(),
            notes: LeadNotes::default(),
            score: 0,
            unread: 0,
            last_seq: 0,
            created_ms: now_ms,
            updated_ms: now_ms,
            closed_ms: None,
            waiting_since_ms: None,
            snoozed_until_ms: 0,
            blocked: false,
            edited: Vec::new(),
            verified: Vec::new(),
            seen_seq: 0,
            person_asked_ms: None,
            handed_off_ms: None,
            ai_due_ms: None,
            sort_key: now_ms,
        }
    }

    /// Merges the profile that a message claims into the stored one. Missing fields keep their value, and so
    /// do those that an operator wrote or the site has proved.
    ///
    /// The first claimed id stays. A message that claims a different one, or none, fills empty fields and
    /// replaces no value, unless its visitor `is_proved`. Otherwise a client that knows a conversation's id
    /// could assign it to another visitor.
    pub(crate) fn merge_profile(&mut self, body: &SendMessage, is_proved: bool) {
        let sent = without(&without(&body.visitor, &self.edited), &self.verified);
        let claimed =
            sent.visitor_id.as_ref().map(|id| truncate_bytes(id.as_str(), MAX_PROFILE_FIELD_LENGTH));
        let known = &mut self.profile;
        let first = known.visitor_id.as_ref().map(VisitorId::as_str).filter(|id| !id.is_empty());
        let may_replace = is_proved || first.is_none() || first == claimed;
        if first.is_none()
            && let Some(id) = claimed
        {
            known.visitor_id = Some(id.into());
        }
        for (known, sent) in [
            (&mut known.name, &sent.name),
            (&mut known.email, &sent.email),
            (&mut known.phone, &sent.phone),
            (&mut known.company, &sent.company),
            (&mut known.wechat, &sent.wechat),
            (&mut known.whatsapp, &sent.whatsapp),
            (&mut known.country, &sent.country),
        ] {
            if let Some(sent) = sent
                && (may_replace || known.is_none())
            {
                *known = Some(stored_field(sent));
            }
        }
        if let Some(locale) = &body.locale {
            self.locale = Some(stored_field(locale));
        }
        // The page on which the conversation began.
        if self.source_page.is_none() {
            let page = body.source_page.as_deref().filter(|page| !page.is_empty());
            self.source_page = page.map(stored_field);
        }
    }

    /// Returns the id of the visitor, if the site has proved it.
    pub(crate) fn verified_visitor(&self) -> Option<&str> {
        let is_proved = self.verified.iter().any(|name| name == VISITOR_ID);
        self.profile.visitor_id.as_ref().map(VisitorId::as_str).filter(|id| is_proved && is_verified(id))
    }

    /// Returns the number of the visitor, if the site has proved who that is. Only such a visitor has a
    /// profile and a block in common with other conversations.
    pub(crate) fn verified_visitor_no(&self) -> Option<i64> {
        self.verified_visitor().and(self.visitor_no)
    }

    /// Returns the events that tell operators what the visitor did.
    pub(crate) fn trail(&self) -> Trail<'_> {
        self.verified_visitor().map_or(Trail::Conversation(self.id.as_str()), Trail::Visitor)
    }

    /// Returns the countries in which the visitor's phone may be: the visitor's, that of the language of the
    /// page, and the site's.
    pub(crate) fn countries(&self, site: &Site) -> Countries {
        let own = [self.profile.country.as_deref(), self.locale.as_deref()];
        let of_site = [site.primary_locale.as_deref(), site.domain.as_deref()];
        let origins = site.allowed_origins.iter().map(String::as_str);
        Countries::of(own.into_iter().chain(of_site).flatten().chain(origins))
    }

    /// Stores the score of a lead, rounded.
    pub(crate) fn set_score(&mut self, lead: &Lead) {
        self.score = rounded_score(lead);
    }

    /// Changes the state, with the times that belong to it.
    pub(crate) fn set_status(&mut self, now_ms: i64, status: Status) {
        self.status = status;
        self.closed_ms = (status == Status::Closed).then_some(now_ms);
        self.waiting_since_ms = match status {
            Status::Waiting => self.waiting_since_ms.or(Some(now_ms)),
            Status::Open | Status::Closed => None,
        };
        // The AI steps in for visitors who wait.
        self.ai_due_ms = self.ai_due_ms.filter(|_| status == Status::Waiting);
        if status == Status::Closed {
            self.notes.record_closed();
            self.unread = 0;
            self.snoozed_until_ms = 0;
            // The next visit begins with the AI again.
            self.ai_paused_until_ms = 0;
        }
    }

    /// Silences the AI until it is told to go on.
    pub(crate) fn pause_ai(&mut self) {
        self.ai_paused_until_ms = NEVER_MS;
        self.ai_due_ms = None;
    }

    /// Returns whether the visitor talks to a person: after a message of an operator until the end of the
    /// pause, and longer if the visitor has written since and waits for an answer.
    pub(crate) fn is_with_person(&self, now_ms: i64) -> bool {
        let waits = self.ai_paused_until_ms > 0 && self.status == Status::Waiting;
        waits || self.ai_paused_until_ms > now_ms
    }

    /// Returns whether the AI answers: not after a person took over, until it is told to go on. To a visitor
    /// who talks to a person it answers only if nobody of the tenant is online.
    pub(crate) fn ai_answers(&self, now_ms: i64, operator_online: bool) -> bool {
        let is_taken_over = self.ai_paused_until_ms >= NEVER_MS;
        !self.blocked && !is_taken_over && (!operator_online || !self.is_with_person(now_ms))
    }

    /// Returns the visitor's name and contact details, for searches.
    fn search_text(&self) -> String {
        let VisitorProfile { visitor_id: _, name, email, phone, company, wechat, whatsapp, country: _ } =
            &self.profile;
        let known = [name, email, phone, company, wechat, whatsapp, &self.notes.email, &self.notes.phone];
        search_text::search_text(known.into_iter().filter_map(Option::as_deref))
    }

    /// Returns the announcement that the conversation has changed.
    pub(crate) fn wake(&self, tenant_id: &str) -> Wake {
        Wake::Conversation {
            tenant: tenant_id.to_owned(),
            site: self.site_id.clone(),
            conversation: self.id.as_str().to_owned(),
        }
    }
}

/// Returns what is stored of a field that a page sends.
fn stored_field(text: &str) -> String {
    text.chars().take(MAX_PROFILE_FIELD_LENGTH).collect()
}

/// Returns the score of a lead, 0 to 100, without decimal places.
pub(crate) fn rounded_score(lead: &Lead) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "a score is 0 to 100")]
    let score = lead.score.unwrap_or_default().clamp(0.0, 100.0).round() as i64;
    score
}
