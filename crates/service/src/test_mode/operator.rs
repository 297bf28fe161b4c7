//! The owner of the demo, as a test controls them: writes messages, and is online without a console.

use chat_protocol::{ConversationId, Value};
use tokio::time::MissedTickBehavior;
use tracing::warn;

use super::TestMode;
use super::site::{OPERATOR_ID, OPERATOR_NAME, SITE_ID, TENANT_ID};
use crate::Service;
use crate::conversations::Author;
use crate::conversations::desk::{self, OperatorMessage, check_text};
use crate::db::transaction;
use crate::error::ApiError;
use crate::presence::{RENEWAL_INTERVAL, close_consoles, open_console, renew_consoles};
use crate::sites;

/// Adds a message of the operator to a conversation, and returns it.
pub(super) async fn write(mode: &TestMode, id: ConversationId, content: &str) -> Result<Value, ApiError> {
    let (now_ms, text) = (mode.now_ms(), check_text(content)?);
    let stored = transaction!(mode.db(), |tx| {
        let site = sites::load(tx, SITE_ID).await?;
        let author = Author { id: OPERATOR_ID.to_owned(), name: OPERATOR_NAME.to_owned() };
        let message = OperatorMessage { text, key: None, close: false };
        desk::answer(tx, now_ms, &site, &id, author, message).await
    })
    .await?;
    Ok(Value::from(&stored.message))
}

impl TestMode {
    /// Holds the operator online without a console, or no longer.
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
                close_consoles(service, TENANT_ID, vec![console]).await?;
            }
            (_, unchanged) => *held = unchanged,
        }
        Ok(())
    }
}

async fn open(service: &Service) -> Result<String, ApiError> {
    let now_ms = service.now_ms();
    transaction!(service.db(), |tx| open_console(tx, now_ms, TENANT_ID, OPERATOR_ID).await).await
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
            _ = renewal.tick() => {
                if let Err(error) = renew_consoles(service, TENANT_ID, vec![console.to_owned()]).await {
                    warn!("the presence of the operator is not renewed: {error}");
                }
            }
        }
    }
}
