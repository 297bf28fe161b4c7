//! E-mails: notifications of operators, and messages of the service such as invitations.
//!
//! A notification is stored in the transaction of its cause. When it is due, it joins an e-mail to each
//! operator who wants it, and a worker hands the e-mails to the SMTP server. An e-mail that was handed over
//! is deleted in the next transaction: when the process dies in between, it is sent again, with the same
//! `Message-ID`.

mod compose;
mod connection;
mod digest;
mod mail_routes;
mod mailer;
mod options;
mod outbox;
mod pause;
mod pending;
mod worker;

pub use options::{SmtpOptions, SmtpOptionsError, SmtpTls};

pub(crate) use mail_routes::{NotificationsApi, routes};
pub(crate) use mailer::{Composed, MAX_CONNECTIONS, Mailer, SendError, VisitorMail};
pub(crate) use outbox::retry_ms;
pub(crate) use pause::Pause;
pub(crate) use pending::{Notice, NoticeKind, answered, notify};
pub(super) use worker::MailQueue;

#[cfg(test)]
pub(super) use digest::collect;

/// Connects to the SMTP server, and signs in. Returns what is wrong, if anything.
pub async fn check_smtp(options: &SmtpOptions) -> Result<(), String> {
    let mailer = mailer::Mailer::new(options).map_err(|error| error.to_string())?;
    mailer.check().await
}
