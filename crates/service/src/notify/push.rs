//! Web Push: tells operators who have no console in use, by the push service of their browser.
//!
//! What happens in a conversation queues a push for each device of the operators that it concerns, in the
//! transaction of its cause. A worker decides whether the operator still wants it, encrypts it for the
//! browser and sends it. An operator whose push was accepted gets no e-mail about the same.

mod devices;
mod encryption;
mod message;
mod push_routes;
mod queue;
mod subscription;
mod vapid;
mod worker;

use crate::Service;
use crate::error::ApiError;

pub(crate) use push_routes::{PushApi, routes};
pub(crate) use queue::{Cause, PushEvent, answered, queue, told};
pub(crate) use vapid::PushKey;
pub(super) use worker::PushQueue;

#[cfg(test)]
pub(super) use {devices::NewDevice, subscription::Subscription};

/// Returns the key pair of the service, which is created if there is none.
pub(crate) async fn key(service: &Service) -> Result<&PushKey, ApiError> {
    let (db, options) = (service.db(), &service.0.options);
    service.0.push_key.get_or_try_init(|| PushKey::load(db, &options.key)).await
}
