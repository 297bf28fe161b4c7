//! The text of an e-mail with replies. It is written when the e-mail is sent, so that nobody's words are
//! stored a second time. An address that nobody proved gets the replies and nothing else of the
//! conversation.

use std::fmt::Write;

use html_escape::{encode_double_quoted_attribute, encode_text};
use reqwest::Url;

use super::due::Claimed;
use super::{address_hash, link, origin, stop};
use crate::Service;
use crate::conversations::{self, Conversation};
use crate::db::{DbError, args};
use crate::mail_texts::ReplyTexts;
use crate::notify::excerpt::{excerpt, one_line};
use crate::notify::mail::{Composed, VisitorMail};
use crate::sites::origin_of_address;

/// Maximum characters of a reply in an e-mail. The conversation has the rest.
const MAX_REPLY_LENGTH: usize = 8000;
/// Maximum characters of the visitor's own message that an e-mail quotes.
const MAX_QUOTE_LENGTH: usize = 300;
/// Maximum earlier e-mails that a header names.
const MAX_REFERENCES: i64 = 10;

/// A reply as an e-mail shows it.
struct Reply {
    author: Option<String>,
    text: String,
}

/// Everything that an e-mail says.
struct Parts<'a> {
    texts: &'static ReplyTexts,
    site: &'a str,
    quote: Option<String>,
    replies: Vec<Reply>,
    link: Option<String>,
    stop: &'a str,
}

/// Writes an e-mail; `None` when it is not needed any more: the visitor has seen the replies, has another
/// address, or wants no e-mails.
pub(super) async fn compose(service: &Service, claimed: &Claimed) -> Result<Option<VisitorMail>, DbError> {
    let db = service.db();
    let sql = "SELECT r.id, r.conversation_no, r.proved, r.first_seq, r.last_seq, r.address, s.name, s.domain,
                   s.allowed_origins, s.primary_locale, s.assistant_name
               FROM reply_mails r JOIN sites s ON s.id = r.site_id
               WHERE r.no = $1 AND s.mail_replies = 1 AND s.disabled_ms IS NULL AND s.deleted_ms IS NULL
                   AND NOT EXISTS (SELECT 1 FROM mail_stops m WHERE m.site_id = r.site_id AND m.address = r.address)";
    let Some(row) = db.optional(sql, args![claimed.no]).await? else { return Ok(None) };
    let (id, no, proved) = (row.text(0)?, row.int(1)?, row.flag(2)?);
    let (first_seq, last_seq, address) = (row.int(3)?, row.int(4)?, row.bytes(5)?);
    let Some(found) = db.optional(conversations::select("WHERE c.no = $1"), args![no]).await? else {
        return Ok(None);
    };
    let conversation = conversations::read(&found)?;
    let email = conversation.email().unwrap_or_default().to_owned();
    let Some(origin) = origin(service) else { return Ok(None) };
    if address_hash(service, &conversation.site_id, &email) != address {
        return Ok(None);
    }
    let first_seq = first_seq.max(conversation.seen_seq + 1);
    let replies = replies(service, no, first_seq, last_seq, row.optional_text(10)?.as_deref()).await?;
    if replies.is_empty() {
        return Ok(None);
    }
    let primary = row.optional_text(9)?;
    let texts = ReplyTexts::of([conversation.locale.as_deref(), primary.as_deref()]);
    let site = one_line(&row.text(6)?);
    let origins: Vec<String> = serde_json::from_str(&row.text(8)?).unwrap_or_default();
    let page = page(row.optional_text(7)?.as_deref(), &origins, conversation.source_page.as_deref());
    let link = page.map(|page| link::link(&service.0.options.key, page, &id));
    let unsubscribe =
        stop::address(&service.0.options.key, origin, &conversation.site_id, texts.language, &email);
    let quote = if proved { quote(service, &conversation, first_seq).await? } else { None };
    let parts = Parts { texts, site: &site, quote, replies, link, stop: &unsubscribe };
    let composed = Composed {
        subject: format!("{site}: {}", texts.subject),
        text: parts.text(),
        html: Some(parts.html()),
    };
    let earlier = earlier(service, no, claimed.no).await?;
    Ok(Some(VisitorMail { id, from: site, to: email, composed, earlier, unsubscribe }))
}

/// Returns the replies of a range.
async fn replies(
    service: &Service,
    no: i64,
    first_seq: i64,
    last_seq: i64,
    assistant: Option<&str>,
) -> Result<Vec<Reply>, DbError> {
    let sql = "SELECT role, content, operator_name FROM messages
               WHERE conversation_no = $1 AND seq >= $2 AND seq <= $3 AND role IN ('operator', 'assistant')
               ORDER BY seq";
    let mut replies = Vec::new();
    for row in service.db().all(sql, args![no, first_seq, last_seq]).await? {
        let author = match row.text(0)?.as_str() {
            "operator" => row.optional_text(2)?,
            _ => assistant.map(str::to_owned),
        };
        let content = row.text(1)?;
        let text = match content.char_indices().nth(MAX_REPLY_LENGTH) {
            Some((end, _)) => format!("{}…", &content[..end]),
            None => content,
        };
        let author = author.map(|name| one_line(&name)).filter(|name| !name.is_empty());
        replies.push(Reply { author, text });
    }
    Ok(replies)
}

/// Returns the beginning of the visitor's last message before the replies.
async fn quote(
    service: &Service,
    conversation: &Conversation,
    first_seq: i64,
) -> Result<Option<String>, DbError> {
    let sql = "SELECT content FROM messages WHERE conversation_no = $1 AND seq < $2 AND role = 'visitor'
               ORDER BY seq DESC LIMIT 1";
    let row = service.db().optional(sql, args![conversation.no, first_seq]).await?;
    row.map(|row| Ok(excerpt(&row.text(0)?, MAX_QUOTE_LENGTH))).transpose()
}

/// Returns the ids of the e-mails of a conversation before this one, oldest first.
async fn earlier(service: &Service, no: i64, before: i64) -> Result<Vec<String>, DbError> {
    let sql = "SELECT id FROM reply_mails WHERE conversation_no = $1 AND no < $2 AND status = 'accepted'
               ORDER BY no DESC LIMIT $3";
    let rows = service.db().all(sql, args![no, before, MAX_REFERENCES]).await?;
    rows.iter().rev().map(|row| row.text(0)).collect()
}

/// Returns the page of the site on which the conversation began. The visitor's browser has named its path: a
/// page elsewhere, a query and a fragment are left out.
fn page(domain: Option<&str>, origins: &[String], path: Option<&str>) -> Option<Url> {
    let mut known = domain.into_iter().chain(origins.iter().map(String::as_str));
    let origin = known.find_map(|address| origin_of_address(address).ok())?;
    let root: Url = origin.parse().ok()?;
    let joined = path.and_then(|path| root.join(path).ok());
    let mut page = joined.filter(|page| page.origin() == root.origin()).unwrap_or(root);
    let is_plain = page.username().is_empty() && page.password().is_none();
    page.set_query(None);
    page.set_fragment(None);
    is_plain.then_some(page)
}

impl Parts<'_> {
    fn why(&self) -> String {
        self.texts.why.replace("{site}", self.site)
    }

    fn text(&self) -> String {
        let mut text = String::new();
        if let Some(quote) = &self.quote {
            let _ = write!(text, "{}\n> {quote}\n\n", self.texts.wrote);
        }
        for Reply { author, text: reply } in &self.replies {
            if let Some(author) = author {
                let _ = writeln!(text, "{author}:");
            }
            let _ = write!(text, "{}\n\n", reply.trim());
        }
        if let Some(link) = &self.link {
            let _ = write!(text, "{}:\n{link}\n{}\n\n", self.texts.open, self.texts.private);
        }
        let _ = write!(text, "-- \n{}\n{}:\n{}\n", self.why(), self.texts.stop, self.stop);
        text.lines().fold(String::new(), |lines, line| lines + line + "\r\n")
    }

    fn html(&self) -> String {
        let texts = self.texts;
        let mut html = String::new();
        if let Some(quote) = &self.quote {
            let _ = write!(
                html,
                "<p style=\"color:#555\">{}</p><blockquote dir=\"auto\" style=\"color:#555\">{}</blockquote>",
                encode_text(texts.wrote),
                encode_text(quote)
            );
        }
        for Reply { author, text } in &self.replies {
            if let Some(author) = author {
                let _ = write!(
                    html,
                    "<p style=\"margin-bottom:0\"><b dir=\"auto\">{}</b></p>",
                    encode_text(author)
                );
            }
            let text = encode_text(text.trim()).replace("\r\n", "\n").replace('\n', "<br>");
            let _ = write!(html, "<p dir=\"auto\" style=\"margin-top:0.25em\">{text}</p>");
        }
        if let Some(link) = &self.link {
            let _ = write!(
                html,
                "<p><a href=\"{}\" style=\"font-weight:bold\">{}</a><br><small>{}</small></p>",
                encode_double_quoted_attribute(link),
                encode_text(texts.open),
                encode_text(texts.private)
            );
        }
        let _ = write!(
            html,
            "<hr><p style=\"color:#555\"><small>{}<br><a href=\"{}\">{}</a></small></p>",
            encode_text(&self.why()),
            encode_double_quoted_attribute(self.stop),
            encode_text(texts.stop)
        );
        let (language, direction) = (texts.language, texts.direction());
        format!(
            "<!doctype html><html lang=\"{language}\" dir=\"{direction}\"><head><meta charset=\"utf-8\"></head>\
             <body style=\"font-family:sans-serif;line-height:1.4;max-width:40em\">{html}</body></html>"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts() -> Parts<'static> {
        Parts {
            texts: ReplyTexts::of([Some("ar")]),
            site: "A & <b>",
            quote: None,
            replies: vec![Reply {
                author: Some("<Mara>".to_owned()),
                text: "<img src=x onerror=a()>\n.\nok".to_owned(),
            }],
            link: Some("https://shop.example/#\"><script>".to_owned()),
            stop: "https://chat.example/mail/stop/x",
        }
    }

    #[test]
    fn escapes_names_and_words() {
        let html = parts().html();
        assert!(!html.contains("<img") && !html.contains("<script") && !html.contains("<Mara>"), "{html}");
        assert!(
            html.contains("dir=\"rtl\"") && html.contains("A &amp; &lt;b&gt;") && html.contains("<br>ok"),
            "{html}"
        );
        assert!(parts().text().contains("\r\n.\r\nok\r\n"), "{}", parts().text());
    }

    #[test]
    fn links_to_pages_of_the_site_only() {
        let page = |domain: Option<&str>, path| {
            page(domain, &["https://b.example".to_owned()], path).map(|page| page.to_string())
        };
        let shop = Some("https://shop.example");
        for (path, expected) in [
            (Some("/en/shoes?to=https://evil.example#x"), "https://shop.example/en/shoes"),
            (Some("//evil.example/x"), "https://shop.example/"),
            (Some("/\\evil.example/x"), "https://shop.example/"),
            (Some("https://evil.example"), "https://shop.example/"),
            (Some("javascript:alert(1)"), "https://shop.example/"),
            (Some("https://a:b@shop.example/x"), ""),
            (None, "https://shop.example/"),
        ] {
            assert_eq!(page(shop, path).unwrap_or_default(), expected, "{path:?}");
        }
        assert_eq!(page(None, Some("/x")).as_deref(), Some("https://b.example/x"));
        assert_eq!(page(Some("shop.example"), None).as_deref(), Some("https://shop.example/"));
        assert_eq!(super::page(None, &[], Some("/x")), None);
    }
}
