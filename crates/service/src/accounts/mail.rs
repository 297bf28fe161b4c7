//! The e-mails of accounts: invitations, and links for new passwords.

use std::fmt;
use std::sync::OnceLock;

use futures_util::future::BoxFuture;

use crate::Service;
use crate::db::{DbError, args};
use crate::notify::mail::Texts;

/// An e-mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mail {
    pub(crate) to: String,
    pub(crate) subject: String,
    pub(crate) text: String,
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

type Send = dyn Fn(Service, Mail) -> BoxFuture<'static, ()> + std::marker::Send + Sync;

/// Sends e-mails, once it is set.
#[derive(Default)]
pub(super) struct Mailer(OnceLock<Box<Send>>);

impl fmt::Debug for Mailer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Mailer(…)")
    }
}

/// Sets what sends e-mails, where SMTP is set up. The first call counts.
pub(crate) fn set_mailer<F>(service: &Service, send: F)
where
    F: Fn(Service, Mail) -> BoxFuture<'static, ()> + std::marker::Send + Sync + 'static,
{
    let _ = service.0.accounts.mailer.0.set(Box::new(send));
}

/// Returns whether e-mails can be sent. Without a public origin they could not contain a link.
pub(super) fn is_set_up(service: &Service) -> bool {
    service.0.accounts.mailer.0.get().is_some() && service.0.options.public_origin.is_some()
}

/// Sends an e-mail, if e-mails can be sent.
pub(super) async fn send(service: &Service, mail: Mail) {
    if let Some(send) = service.0.accounts.mailer.0.get()
        && is_set_up(service)
    {
        send(service.clone(), mail).await;
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
