//! The e-mails of accounts: invitations, and links for new passwords.

use tracing::error;

use super::Operator;
use crate::db::{DbError, args};
use crate::mail_texts::Texts;
use crate::{Service, email_queue};

/// Maximum characters of a name in an e-mail to somebody who does not know whose it is.
const MAX_QUOTED_LENGTH: usize = 60;

/// An e-mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mail {
    to: String,
    subject: String,
    text: String,
}

impl Mail {
    /// Takes a link for each account of the address, with the name of its workspace.
    pub(super) fn new_password(to: String, texts: &Texts, links: &[(String, String)]) -> Self {
        let Texts { password_asked, password_open, password_ignore, .. } = texts;
        let of_workspace =
            |(workspace, link): &(String, String)| format!("{}\n{password_open}\n{link}", quoted(workspace));
        let links = links.iter().map(of_workspace).collect::<Vec<_>>().join("\n\n");
        let text = format!("{password_asked}\n\n{links}\n\n{password_ignore}\n");
        Self { to, subject: texts.password.to_owned(), text }
    }

    pub(super) fn invitation(
        to: String,
        texts: &Texts,
        inviter: &Operator,
        tenant: &str,
        link: &str,
    ) -> Self {
        let Texts { invitation_by, invitation_open, invitation_ignore, .. } = texts;
        let inviter = format!("{} ({})", quoted(&inviter.name), inviter.email);
        let by = invitation_by.replace("{tenant}", &quoted(tenant)).replace("{inviter}", &inviter);
        let text = format!("{by}\n\n{invitation_open}\n{link}\n\n{invitation_ignore}\n");
        Self { to, subject: texts.invitation.to_owned(), text }
    }
}

/// Returns a name in quotation marks, for an e-mail to somebody who does not know whose it is. It is short,
/// ends no quotation, changes no direction, and has nothing that becomes a link.
fn quoted(name: &str) -> String {
    let letters = name.chars().map(|letter| match letter {
        // Addresses, quotation marks, and characters that are not seen.
        ':'
        | '/'
        | '\\'
        | '@'
        | '<'
        | '>'
        | '['
        | ']'
        | '('
        | ')'
        | '{'
        | '}'
        | '"'
        | '“'
        | '”'
        | '„'
        | '‟'
        | '«'
        | '»'
        | '\u{ad}'
        | '\u{61c}'
        | '\u{200b}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}' => ' ',
        letter if letter.is_control() || letter.is_whitespace() => ' ',
        letter => letter,
    });
    let letters: String = letters.collect();
    // A dot inside of a word makes it a host for many programs.
    let spaced = letters.replace(['.', '。', '．', '｡'], ". ");
    let words = spaced.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown: String = words.chars().take(MAX_QUOTED_LENGTH).collect();
    let rest = if shown.len() < words.len() { "…" } else { "" };
    format!("“{}{rest}”", shown.trim_end())
}

/// Returns whether e-mails can be sent. Without a public origin they could not contain a link.
pub(super) fn is_set_up(service: &Service) -> bool {
    service.0.options.smtp.is_some() && service.0.options.public_origin.is_some()
}

/// Queues an e-mail, if e-mails can be sent.
pub(super) async fn send(service: &Service, mail: Mail) {
    if is_set_up(service)
        && let Err(error) = email_queue::send(service, &mail.to, &mail.subject, &mail.text).await
    {
        error!("an e-mail of an account cannot be queued: {error}");
    }
}

/// Returns the texts for e-mails to an address: in the language that its operator of the tenant has chosen,
/// else in that of the tenant's first site, else in English.
pub(super) async fn texts(service: &Service, tenant_id: &str, to: &str) -> Result<&'static Texts, DbError> {
    let sql = "SELECT (SELECT email_locale FROM operators WHERE tenant_id = $1 AND email = $2),
                   (SELECT primary_locale FROM sites WHERE tenant_id = $1 AND deleted_ms IS NULL
                    ORDER BY created_ms, id LIMIT 1)";
    let row = service.db().one(sql, args![tenant_id, to]).await?;
    Ok(Texts::of([row.optional_text(0)?.as_deref(), row.optional_text(1)?.as_deref()]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_name_is_a_name_in_every_script_and_nothing_else() {
        for (name, expected) in [
            ("Grace Hopper", "“Grace Hopper”"),
            ("Dr. Müller-Lüdenscheidt, Vertrieb", "“Dr. Müller-Lüdenscheidt, Vertrieb”"),
            ("अर्जुन शर्मा", "“अर्जुन शर्मा”"),
            ("O’Neil & Söhne", "“O’Neil & Söhne”"),
            ("https://evil.example/now", "“https evil. example now”"),
            ("help@bank.example", "“help bank. example”"),
            ("Bank” (bank@bank.example", "“Bank bank bank. example”"),
            ("\u{202e}knaB\u{200b} A", "“knaB A”"),
            ("a\r\n\u{2028}b", "“a b”"),
            (
                "Your account was closed because of a complaint, so that you have to pay now",
                "“Your account was closed because of a complaint, so that you…”",
            ),
        ] {
            assert_eq!(quoted(name), expected);
        }
    }
}
