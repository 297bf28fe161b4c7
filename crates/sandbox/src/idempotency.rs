//! A request with a key is carried out once, however often it comes (4.1).

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Bytes;
use chat_protocol::{Endpoint, IdempotencyKey};
use tokio::sync::OnceCell;

use crate::answer::Answer;
use crate::error::ApiError;

/// What was answered under each key, for as long as the process lives.
#[derive(Debug, Default)]
pub(crate) struct Replays {
    known: Mutex<HashMap<(&'static str, IdempotencyKey), Arc<Known>>>,
}

#[derive(Debug)]
struct Known {
    body: Bytes,
    answer: OnceCell<Answer>,
}

impl Replays {
    /// The answer under this key: the one given before, or the one that `process` gives now.
    ///
    /// Who comes while the first is still being answered waits for it. A failure is not kept, as it has changed
    /// nothing: the next attempt is carried out. The key stays bound to its body all the same.
    pub(crate) async fn once(
        &self,
        endpoint: Endpoint,
        key: IdempotencyKey,
        body: &Bytes,
        process: impl Future<Output = Result<Answer, ApiError>>,
    ) -> Result<Answer, ApiError> {
        let known = {
            let mut all = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            let first = || Arc::new(Known { body: body.clone(), answer: OnceCell::new() });
            Arc::clone(all.entry((endpoint.path(), key)).or_insert_with(first))
        };
        if known.body != *body {
            return Err(ApiError::IdempotencyConflict);
        }
        known.answer.get_or_try_init(|| process).await.cloned()
    }

    pub(crate) fn forget(&self) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
