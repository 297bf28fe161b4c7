//! The tasks without which a server is of no use.

use tokio::task::{JoinError, JoinHandle, JoinSet};

/// Waits until the server or a task beside it ends, and returns how. Before the server is told to stop, that
/// is a failure, and ends the process, which systemd then starts again.
pub(crate) async fn first_end(server: &mut JoinHandle<()>, beside: &mut JoinSet<()>) -> String {
    tokio::select! {
        ended = server => describe(ended),
        Some(ended) = beside.join_next() => describe(ended),
    }
}

/// Returns how a task has ended.
pub(crate) fn describe(ended: Result<(), JoinError>) -> String {
    match ended {
        Ok(()) => "it ended".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;

    /// Ends by a panic or without one.
    async fn end(panics: bool) {
        tokio::task::yield_now().await;
        assert!(!panics, "a panic of the test");
    }

    #[tokio::test]
    async fn a_task_that_ends_for_good_is_noticed_whichever_it_is() {
        for panics in [false, true] {
            let mut server = tokio::spawn(end(panics));
            let told = first_end(&mut server, &mut JoinSet::new()).await;
            assert_eq!(
                (told == "it ended", told.contains("a panic of the test")),
                (!panics, panics),
                "{told}"
            );

            let mut server = tokio::spawn(pending());
            let mut beside = JoinSet::new();
            beside.spawn(pending());
            beside.spawn(end(panics));
            let told = first_end(&mut server, &mut beside).await;
            assert_eq!(
                (told == "it ended", told.contains("a panic of the test")),
                (!panics, panics),
                "{told}"
            );
            server.abort();
        }
    }
}
