//! Mails visitors the replies that they have not seen (decision 0067).
//!
//! A reply sets the time at which it is looked whether the visitor's widget has polled past it. If it has
//! not, all such replies of the conversation are one e-mail. A row is stored before the SMTP server gets it,
//! and what has no answer of the server is not sent again: each reply is mailed at most once.

mod compose;
mod due;
mod link;
mod outcome;
#[cfg(test)]
mod reply_mails_tests;
mod stop;
mod worker;

use crate::Service;
use crate::queue_runner::run as run_queue;
use crate::supervisor::supervise;

pub(crate) use link::{is_link, opened};
pub(crate) use stop::routes;

/// Returns whether replies can be mailed. Without a public origin, nobody could end the e-mails.
pub(crate) fn is_available(service: &Service) -> bool {
    origin(service).is_some() && service.0.options.smtp.is_some()
}

/// Returns the service's public origin.
fn origin(service: &Service) -> Option<&str> {
    service.0.options.public_origin.as_deref().map(|origin| origin.trim_end_matches('/'))
}

/// Mails replies until the service closes. Several nodes share the work.
pub(crate) async fn run(service: &Service) {
    supervise("the queue of replies by e-mail", || run_queue::<worker::ReplyQueue>(service)).await;
}

/// Returns the keyed hash by which an address is found again at a site.
fn address_hash(service: &Service, site_id: &str, email: &str) -> Vec<u8> {
    let purpose = format!("address at {site_id}");
    service.0.options.key.keyed_hash(&purpose, &email.trim().to_lowercase())
}
