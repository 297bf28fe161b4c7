//! The text of an e-mail about conversations. It is written when the e-mail is sent, so that it tells what is
//! true then, and visitors' words are not stored a second time.

use std::fmt::Write;

use html_escape::{encode_double_quoted_attribute, encode_text};

use super::mailer::Composed;
use super::{NoticeKind, SmtpOptions};
use crate::db::{Db, DbError, args};
use crate::mail_texts::Texts;
use crate::notify::excerpt::{excerpt, one_line};

/// Maximum characters of a visitor's message that an e-mail quotes.
const MAX_EXCERPT_LENGTH: usize = 200;
/// Maximum conversations that an e-mail lists.
const MAX_LISTED: usize = 20;

/// A conversation that an e-mail tells about.
#[derive(Clone, Debug)]
struct Item {
    kind: NoticeKind,
    conversation_id: String,
    site: String,
    /// The language tag of the site.
    locale: Option<String>,
    /// The beginning of the visitor's last message, in one line.
    excerpt: Option<String>,
}

impl Item {
    fn sentence(&self, texts: &Texts) -> &'static str {
        match self.kind {
            NoticeKind::Unanswered => texts.unanswered,
            NoticeKind::Lead => texts.lead,
            NoticeKind::HandOff => texts.hand_off,
        }
    }
}

/// Writes an e-mail; `None` when nothing of it is true any more.
pub(super) async fn compose(
    db: &Db,
    smtp: &SmtpOptions,
    public_origin: Option<&str>,
    email_no: i64,
    tenant_id: &str,
) -> Result<Option<Composed>, DbError> {
    let Some(operator_locale) = operator_locale(db, email_no, tenant_id).await? else { return Ok(None) };
    let items = items(db, smtp, email_no, tenant_id).await?;
    let Some(first) = items.first() else { return Ok(None) };
    let texts = Texts::of([operator_locale.as_deref(), first.locale.as_deref()]);
    let subject = match items.len() {
        1 => format!("{}: {}", first.site, first.sentence(texts)),
        count => format!("{}: {}", first.site, texts.several.replace("{count}", &count.to_string())),
    };
    let (mut text, mut html) = (String::new(), String::new());
    for item in items.iter().take(MAX_LISTED) {
        write_item(&mut text, &mut html, item, texts, public_origin);
    }
    if let Some(more) = items.len().checked_sub(MAX_LISTED).filter(|more| *more > 0) {
        let more = texts.more.replace("{count}", &more.to_string());
        let _ = write!(text, "{more}\r\n\r\n");
        let _ = write!(html, "<p>{}</p>", encode_text(&more));
    }
    let _ = write!(text, "-- \r\n{}\r\n", texts.footer);
    let _ = write!(html, "<hr><p><small>{}</small></p>", encode_text(texts.footer));
    let (language, direction) = (texts.language, texts.direction());
    let html = format!(
        "<!doctype html><html lang=\"{language}\" dir=\"{direction}\"><head><meta charset=\"utf-8\"></head>\
         <body>{html}</body></html>"
    );
    Ok(Some(Composed { subject, text, html: Some(html) }))
}

/// Returns the language tag that the recipient has chosen, if any; `None` when the recipient is no operator
/// of the tenant any more, who must not learn what visitors write.
async fn operator_locale(db: &Db, email_no: i64, tenant_id: &str) -> Result<Option<Option<String>>, DbError> {
    let sql = "SELECT o.email_locale FROM emails e JOIN operators o ON o.email = e.recipient \
               WHERE e.no = $1 AND o.tenant_id = $2 AND o.disabled_ms IS NULL";
    db.optional(sql, args![email_no, tenant_id]).await?.map(|row| row.optional_text(0)).transpose()
}

/// Returns what an e-mail tells about, except what has been settled since: visitors that were answered,
/// closed conversations and deleted sites.
async fn items(db: &Db, smtp: &SmtpOptions, email_no: i64, tenant_id: &str) -> Result<Vec<Item>, DbError> {
    let sql = "SELECT n.kind, c.id, s.name, c.waiting_since_ms, c.status, \
                      (SELECT m.content FROM messages m \
                       WHERE m.conversation_no = c.no AND m.role = 'visitor' ORDER BY m.seq DESC LIMIT 1), \
                      s.primary_locale \
               FROM email_notifications e \
               JOIN notifications n ON n.no = e.notification_no \
               JOIN conversations c ON c.id = n.conversation_id AND c.site_id = n.site_id \
               JOIN sites s ON s.id = c.site_id \
               WHERE e.email_no = $1 AND s.tenant_id = $2 AND s.deleted_ms IS NULL ORDER BY n.no";
    let mut items = Vec::new();
    for row in db.all(sql, args![email_no, tenant_id]).await? {
        let Some(kind) = NoticeKind::stored(&row.text(0)?) else { continue };
        let (waits, closed) = (!row.is_null(3)?, row.text(4)? == "closed");
        let holds = match kind {
            NoticeKind::Unanswered => waits && !closed,
            NoticeKind::HandOff => !closed,
            NoticeKind::Lead => true,
        };
        if holds {
            let excerpt = row
                .optional_text(5)?
                .filter(|_| smtp.excerpts)
                .map(|text| excerpt(&text, MAX_EXCERPT_LENGTH));
            let (site, locale) = (one_line(&row.text(2)?), row.optional_text(6)?);
            items.push(Item { kind, conversation_id: row.text(1)?, site, locale, excerpt });
        }
    }
    Ok(items)
}

fn write_item(text: &mut String, html: &mut String, item: &Item, texts: &Texts, public_origin: Option<&str>) {
    let (site, sentence) = (&item.site, item.sentence(texts));
    let _ = write!(text, "{site}: {sentence}\r\n");
    let _ = write!(html, "<p><b>{}</b>: {}</p>", encode_text(site), encode_text(sentence));
    if let Some(excerpt) = &item.excerpt {
        let _ = write!(text, "> {excerpt}\r\n");
        let _ = write!(html, "<blockquote>{}</blockquote>", encode_text(excerpt));
    }
    if let Some(origin) = public_origin {
        let link = format!("{}/console/inbox/{}", origin.trim_end_matches('/'), item.conversation_id);
        let _ = write!(text, "{link}\r\n");
        let href = encode_double_quoted_attribute(&link);
        let _ = write!(html, "<p><a href=\"{href}\">{}</a></p>", encode_text(texts.open));
    }
    text.push_str("\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_what_visitors_wrote() {
        let item = Item {
            kind: NoticeKind::Lead,
            conversation_id: "\"><script>".to_owned(),
            site: "A & <b>".to_owned(),
            locale: None,
            excerpt: Some("<img src=x onerror=alert(1)>".to_owned()),
        };
        let (mut text, mut html) = (String::new(), String::new());
        let texts = Texts::of([None]);
        write_item(&mut text, &mut html, &item, texts, Some("https://chat.example"));
        assert!(
            !html.contains("<img") && !html.contains("<script") && html.contains("A &amp; &lt;b&gt;"),
            "{html}"
        );
        assert!(text.contains("> <img src=x"), "{text}");
    }
}
