//! The e-mails of accounts: invitations, and links for new passwords.

use tracing::error;

use crate::db::{DbError, args};
use crate::mail_texts::Texts;
use crate::{Service, email_queue};

/// An e-mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mail {
    to: String,
    subject: String,
    text: String,
}

impl Mail {
    pub(super) fn new_password(to: String, texts: &Texts, link: &str) -> Self {
        let Texts { password_asked, password_open, password_ignore, .. } = texts;
        let text = format!("{password_asked}\n\n{password_open}\n{link}\n\n{password_ignore}\n");
        Self { to, subject: texts.password.to_owned(), text }
    }

    pub(super) fn invitation(to: String, texts: &Texts, inviter: &str, tenant: &str, link: &str) -> Self {
        let Texts { invitation_by, invitation_open, invitation_ignore, .. } = texts;
        let by = invitation_by.replace("{tenant}", tenant).replace("{inviter}", inviter);
        let text = format!("{by}\n\n{invitation_open}\n{link}\n\n{invitation_ignore}\n");
        Self { to, subject: texts.invitation.to_owned(), text }
    }
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
