//! The operator's presence: an open page makes the operator online, and so does a test.

use futures_util::Stream;
use tokio::sync::mpsc;
use tokio::time::MissedTickBehavior;
use tokio_stream::wrappers::ReceiverStream;
use tracing::warn;

use super::{TENANT_ID, TestMode};
use crate::Service;
use crate::db::{DbError, Tx, Wake, args};
use crate::demo_site::OPERATOR_ID;
use crate::error::ApiError;
use crate::presence::{RENEWAL_INTERVAL, open_console, operators_online, renew_console};

/// Maximum open pages.
const MAX_PAGES: i64 = 100;
/// The id of the console that records when the operator was last seen without a page.
const SEEN_ID: &str = "console_test_mode";

/// Records that the operator did something, with or without an open page.
pub(super) async fn mark_seen(tx: &mut Tx, now_ms: i64) -> Result<(), DbError> {
    tx.execute(
        "INSERT INTO consoles (id, tenant_id, operator_id, seen_ms, open) VALUES ($1, $2, $3, $4, 0)
         ON CONFLICT (id) DO UPDATE SET seen_ms = excluded.seen_ms",
        args![SEEN_ID, TENANT_ID, OPERATOR_ID, now_ms],
    )
    .await?;
    tx.wake(Wake::Presence { tenant: TENANT_ID.to_owned() });
    Ok(())
}

impl TestMode {
    /// Opens a page, and returns the numbers of the changes that it is told of, the current one first. The
    /// page is closed when the stream is dropped.
    pub(super) async fn open_page(&self) -> Result<impl Stream<Item = u64> + use<>, ApiError> {
        let service = &self.0.service;
        if operators_online(service, TENANT_ID).await?.consoles >= MAX_PAGES {
            return Err(ApiError::TooManyConsoles);
        }
        let console = open(service).await?;
        let (events, received) = mpsc::channel(1);
        let mut changes = self.0.changes.clone();
        // The current number is sent even if the service stops now.
        let _ = events.try_send(*changes.borrow_and_update());
        let following = service.clone();
        service.0.tasks.spawn(async move {
            let renewing = renew_until(&following, &console, async {
                while changes.changed().await.is_ok() {
                    let version = *changes.borrow_and_update();
                    tokio::select! {
                        sent = events.send(version) => if sent.is_err() { break },
                        () = following.0.closing.cancelled() => break,
                    }
                }
            });
            tokio::select! {
                () = renewing => {}
                () = events.closed() => {}
                () = following.0.closing.cancelled() => {}
            }
            renew(&following, &console, false).await;
        });
        Ok(ReceiverStream::new(received))
    }

    /// Holds the operator online without a page, or no longer.
    pub(super) async fn force_online(&self, online: bool) -> Result<(), ApiError> {
        let service = &self.0.service;
        let mut held = self.0.forced_online.lock().await;
        match (online, held.take()) {
            (true, None) => {
                let console = open(service).await?;
                let released = service.0.closing.child_token();
                *held = Some((console.clone(), released.clone()));
                let service = service.clone();
                tokio::spawn(async move {
                    renew_until(&service, &console, released.cancelled_owned()).await;
                });
            }
            (false, Some((console, released))) => {
                released.cancel();
                renew(service, &console, false).await;
            }
            (_, unchanged) => *held = unchanged,
        }
        Ok(())
    }
}

async fn open(service: &Service) -> Result<String, ApiError> {
    let now_ms = service.now_ms();
    service
        .db()
        .write(move |tx| Box::pin(async move { open_console(tx, now_ms, TENANT_ID, OPERATOR_ID).await }))
        .await
}

/// Renews a console until `end` is ready.
async fn renew_until(service: &Service, console: &str, end: impl Future<Output = ()>) {
    let mut renewal = tokio::time::interval(RENEWAL_INTERVAL);
    renewal.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // The first tick is at once, and the console is new.
    renewal.tick().await;
    tokio::pin!(end);
    loop {
        tokio::select! {
            () = &mut end => return,
            _ = renewal.tick() => renew(service, console, true).await,
        }
    }
}

async fn renew(service: &Service, console: &str, open: bool) {
    let (now_ms, console) = (service.now_ms(), console.to_owned());
    let renewed: Result<(), ApiError> = service
        .db()
        .write(move |tx| Box::pin(async move { renew_console(tx, now_ms, TENANT_ID, &console, open).await }))
        .await;
    if let Err(error) = renewed {
        warn!("the presence of the operator is not renewed: {error}");
    }
}
