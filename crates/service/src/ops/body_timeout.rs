//! The time limit of a request's body.

use std::error::Error;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, BodyDataStream, Bytes, HttpBody};
use futures_util::Stream;
use tokio::time::{Sleep, sleep};

/// Returns a body that fails when it has not arrived in time, so that a client which sends it byte by byte
/// does not hold its connection. The time begins when the service first waits for the body.
pub(super) fn with_timeout(body: Body, limit: Duration) -> Body {
    if body.is_end_stream() {
        return body;
    }
    Body::from_stream(Limited { body: body.into_data_stream(), limit, deadline: None })
}

/// Returns whether a body was refused because it did not arrive in time.
pub(crate) fn is_body_timeout(error: &(dyn Error + 'static)) -> bool {
    let mut causes = std::iter::successors(Some(error), |&error| error.source());
    causes.any(<dyn Error>::is::<TooSlow>)
}

struct Limited {
    body: BodyDataStream,
    limit: Duration,
    deadline: Option<Pin<Box<Sleep>>>,
}

/// A body did not arrive in time.
#[derive(Debug, thiserror::Error)]
#[error("the body did not arrive within {0:?}")]
struct TooSlow(Duration);

impl Stream for Limited {
    type Item = Result<Bytes, axum::Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Poll::Ready(chunk) = Pin::new(&mut self.body).poll_next(context) {
            return Poll::Ready(chunk);
        }
        let limit = self.limit;
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(sleep(limit)));
        deadline.as_mut().poll(context).map(|()| Some(Err(axum::Error::new(TooSlow(limit)))))
    }
}
