//! E-mails: notifications of operators, and messages of the service such as invitations.
//!
//! A notification is stored in the transaction of its cause. When it is due, it joins an e-mail to each
//! operator who wants it, and a worker hands the e-mails to the SMTP server. An e-mail that was handed over
//! is deleted in the next transaction: when the process dies in between, it is sent again, with the same
//! `Message-ID`.

mod compose;
mod connection;
mod digest;
mod mailer;
mod options;
mod outbox;
mod pending;
mod routes;
mod texts;
mod worker;

use tracing::error;

use crate::Service;
use crate::accounts::set_mailer;

pub use options::{SmtpOptions, SmtpOptionsError, SmtpTls};

pub(super) use compose::excerpt;
pub(crate) use outbox::send;
pub(crate) use pending::{Notice, NoticeKind, answered, notify};
pub(crate) use routes::{NotificationsApi, routes};
pub(crate) use texts::Texts;
pub(super) use worker::MailQueue;

#[cfg(test)]
pub(super) use digest::collect;

/// Connects to the SMTP server, and signs in. Returns what is wrong, if anything.
pub async fn check_smtp(options: &SmtpOptions) -> Result<(), String> {
    let mailer = mailer::Mailer::new(options).map_err(|error| error.to_string())?;
    mailer.check().await
}

/// Lets the accounts send their e-mails, if an SMTP server is set.
pub(super) fn connect_accounts(service: &Service) {
    if service.0.options.smtp.is_some() {
        set_mailer(service, |service, mail| {
            Box::pin(async move {
                if let Err(error) = send(&service, &mail.to, &mail.subject, &mail.text).await {
                    error!("an e-mail of an account cannot be queued: {error}");
                }
            })
        });
    }
}
