//! The e-mails of accounts: invitations, and links for new passwords.

use std::fmt;
use std::sync::OnceLock;

use futures_util::future::BoxFuture;

use crate::Service;

/// An e-mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mail {
    pub(crate) to: String,
    pub(crate) subject: String,
    pub(crate) text: String,
}

impl Mail {
    pub(super) fn new_password(to: String, link: &str) -> Self {
        let text = format!(
            "Somebody, probably you, asked for a new password for your account.\n\n\
             Open this link within an hour to set one:\n{link}\n\n\
             If it was not you, ignore this e-mail: your password stays as it is.\n"
        );
        Self { to, subject: "Set a new password".to_owned(), text }
    }

    pub(super) fn invitation(to: String, inviter: &str, tenant: &str, link: &str) -> Self {
        let text = format!(
            "{inviter} invites you to answer the chats of {tenant}.\n\n\
             Open this link within seven days to set up your account:\n{link}\n\n\
             If you do not know what this is about, ignore this e-mail.\n"
        );
        Self { to, subject: "You are invited".to_owned(), text }
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
