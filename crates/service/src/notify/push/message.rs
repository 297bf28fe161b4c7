//! What a push says, and whether the operator still wants it. Both are decided when it is sent, so that it
//! tells what is true then, and visitors' words are not stored a second time.

use chat_protocol::Value;
use sqlx::AssertSqlSafe;

use super::queue::{Cause, Claimed};
use super::subscription::Subscription;
use crate::Service;
use crate::accounts::{preferences, quiet_hours};
use crate::db::{Db, DbError, args};
use crate::mail_texts::Texts;
use crate::notify::excerpt::excerpt;
use crate::presence::CONSOLE_TIMEOUT_MS;

/// Maximum characters of a name and of a text, as in the console's own notifications.
const MAX_NAME_LENGTH: usize = 60;
const MAX_TEXT_LENGTH: usize = 140;

/// The tag of the notification about several conversations, of which a device shows the last one.
const SEVERAL_TAG: &str = "inbox";

/// The pushes of a device (`$1`) whose conversations concern its operator: those of the tenant (`$2`) that
/// are open and not assigned to somebody else (`$3` is the operator).
const OF_RECIPIENT: &str = "\
    FROM pushes p JOIN conversations c ON c.id = p.conversation_id \
    JOIN sites s ON s.id = c.site_id LEFT JOIN operators a ON a.id = c.assignee_id \
    WHERE p.device_id = $1 AND s.tenant_id = $2 AND s.deleted_ms IS NULL AND c.blocked = 0 \
    AND c.status <> 'closed' AND (a.id IS NULL OR a.id = $3 OR a.disabled_ms IS NOT NULL)";

/// What becomes of a claimed push.
#[derive(Debug)]
pub(super) enum Decision {
    /// It is sent.
    Send { subscription: Box<Subscription>, message: Message },
    /// Nobody wants it any more.
    Drop,
    /// The device's session has ended.
    RemoveDevice,
}

/// What a push says.
#[derive(Debug)]
pub(super) struct Message {
    /// The message, as JSON.
    pub(super) json: String,
    /// The conversation; empty when there are several.
    pub(super) conversation_id: String,
    /// Whether a visitor waits for a person.
    pub(super) is_urgent: bool,
    /// The numbers of the events that it tells about.
    pub(super) told: Vec<i64>,
}

/// Something that an operator is told of.
struct Item {
    no: i64,
    conversation_id: String,
    cause: Cause,
    name: Option<String>,
    text: String,
}

/// The operator of a device.
struct Recipient {
    id: String,
    tenant_id: String,
    subscription: Subscription,
    /// The language tags of the console and of the operator's e-mails.
    locales: [Option<String>; 2],
    is_quiet: bool,
    has_console_in_use: bool,
}

/// Decides whether a push is sent, and what it says.
pub(super) async fn decide(service: &Service, claimed: &Claimed, now_ms: i64) -> Result<Decision, DbError> {
    let Some(recipient) = recipient(service, &claimed.device_id, now_ms).await? else {
        return Ok(Decision::RemoveDevice);
    };
    if recipient.is_quiet || recipient.has_console_in_use {
        return Ok(Decision::Drop);
    }
    let Some(message) = compose(service.db(), &recipient, claimed).await? else { return Ok(Decision::Drop) };
    Ok(Decision::Send { subscription: Box::new(recipient.subscription), message })
}

/// Returns the operator of a device; `None` when its session is over, or the operator or the tenant is
/// disabled. A session that was not used for hours still counts: an operator who is not there is the one to
/// be told.
async fn recipient(service: &Service, device_id: &str, now_ms: i64) -> Result<Option<Recipient>, DbError> {
    let sql = "SELECT o.id, o.tenant_id, d.subscription, d.locale, o.email_locale, o.availability, \
                      o.preferences, \
                      (SELECT count(*) FROM consoles c WHERE c.tenant_id = o.tenant_id \
                       AND c.operator_id = o.id AND c.open = 1 AND c.idle = 0 AND c.seen_ms > $3) \
               FROM push_devices d JOIN operators o ON o.id = d.operator_id \
               JOIN operator_sessions s ON s.id = d.session_id JOIN tenants t ON t.id = o.tenant_id \
               WHERE d.id = $1 AND s.operator_id = o.id AND s.expires_ms > $2 \
               AND o.disabled_ms IS NULL AND t.disabled_ms IS NULL";
    let values = args![device_id, now_ms, now_ms - CONSOLE_TIMEOUT_MS];
    let Some(row) = service.db().optional(sql, values).await? else { return Ok(None) };
    let (options, sealed) = (&service.0.options, row.bytes(2)?);
    let subscription = Subscription::unseal(&options.key, device_id, &sealed, options.allow_private_webhooks);
    let Some(subscription) = subscription else { return Ok(None) };
    let quiet = preferences::stored(&row, 5)?.quiet_hours;
    Ok(Some(Recipient {
        id: row.text(0)?,
        tenant_id: row.text(1)?,
        subscription,
        locales: [row.optional_text(3)?, row.optional_text(4)?],
        is_quiet: quiet.is_some_and(|hours| quiet_hours::contain(&hours, now_ms)),
        has_console_in_use: row.int(7)? > 0,
    }))
}

/// Writes the message; `None` when all conversations are closed, gone or another operator's.
async fn compose(db: &Db, recipient: &Recipient, claimed: &Claimed) -> Result<Option<Message>, DbError> {
    let items = items(db, recipient, claimed).await?;
    let Some(first) = items.first() else { return Ok(None) };
    let texts = Texts::of(recipient.locales.each_ref().map(Option::as_deref));
    // The title is the service's own, so that a visitor's name cannot pass for somebody else.
    let (title, conversation, tag) = if items.len() > 1 {
        let before = waiting(db, recipient, claimed).await?;
        let count = before.saturating_add(i64::try_from(items.len()).unwrap_or(i64::MAX));
        (texts.several.replace("{count}", &count.to_string()), "", SEVERAL_TAG)
    } else {
        let title = match first.cause {
            Cause::WantsPerson => texts.hand_off,
            Cause::Unanswered => texts.unanswered,
            Cause::Message => texts.message,
        };
        (title.to_owned(), first.conversation_id.as_str(), first.conversation_id.as_str())
    };
    let message = Value::object([
        ("title", title.as_str().into()),
        ("body", body(first.name.as_deref().unwrap_or_default(), &first.text).into()),
        ("conversation", conversation.into()),
        ("tag", tag.into()),
        ("lang", texts.language.into()),
        ("dir", texts.direction().into()),
    ]);
    Ok(Some(Message {
        json: message.to_json(),
        conversation_id: conversation.to_owned(),
        is_urgent: items.iter().any(|item| item.cause > Cause::Message),
        told: items.iter().map(|item| item.no).collect(),
    }))
}

/// Returns what a claimed push tells about: visitors who want a person first, then those whom the AI could
/// not answer, and then the latest.
async fn items(db: &Db, recipient: &Recipient, claimed: &Claimed) -> Result<Vec<Item>, DbError> {
    let sql = AssertSqlSafe(format!(
        "SELECT p.no, c.id, p.cause, c.profile, \
                      (SELECT m.content FROM messages m \
                       WHERE m.conversation_no = c.no AND m.role = 'visitor' ORDER BY m.seq DESC LIMIT 1) \
               {OF_RECIPIENT} AND p.next_ms = $4 \
               ORDER BY CASE p.cause WHEN 'wants_person' THEN 0 WHEN 'unanswered' THEN 1 ELSE 2 END, \
                        p.queued_ms DESC, p.no DESC"
    ));
    let values = args![&claimed.device_id, &recipient.tenant_id, &recipient.id, claimed.leased_until_ms];
    let mut items = Vec::new();
    for row in db.all(sql, values).await? {
        let profile: Value = serde_json::from_str(&row.text(3)?).unwrap_or(Value::Null);
        items.push(Item {
            no: row.int(0)?,
            conversation_id: row.text(1)?,
            cause: Cause::from_stored(&row.text(2)?),
            name: profile.get("name").and_then(Value::as_text).map(|name| excerpt(name, MAX_NAME_LENGTH)),
            text: excerpt(&row.optional_text(4)?.unwrap_or_default(), MAX_TEXT_LENGTH),
        });
    }
    Ok(items)
}

/// Returns the number of conversations that the device was told of before, and whose visitors still wait. The
/// notification about several replaces the one before, and must not forget them.
async fn waiting(db: &Db, recipient: &Recipient, claimed: &Claimed) -> Result<i64, DbError> {
    let sql = AssertSqlSafe(format!(
        "SELECT count(*) {OF_RECIPIENT} \
         AND p.next_ms IS NULL AND p.sent_ms IS NOT NULL AND c.waiting_since_ms IS NOT NULL"
    ));
    db.one(sql, args![&claimed.device_id, &recipient.tenant_id, &recipient.id]).await?.int(0)
}

/// Joins the name and the text with isolates, so that a name from right to left does not turn the line
/// around.
fn body(name: &str, text: &str) -> String {
    match (name, text) {
        ("", text) => text.to_owned(),
        (name, "") => name.to_owned(),
        (name, text) => format!("\u{2068}{name}\u{2069}: \u{2068}{text}\u{2069}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_and_a_text_are_kept_apart() {
        assert_eq!(body("Ann", "Hello"), "\u{2068}Ann\u{2069}: \u{2068}Hello\u{2069}");
        assert_eq!(body("", "Hello"), "Hello");
        assert_eq!(body("Ann", ""), "Ann");
    }
}
