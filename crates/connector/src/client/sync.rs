//! Pushes content of any length page by page, and resumes where it stopped.

use chat_protocol::{ContentItem, ContentPage, Value, limits};
use futures_util::{Stream, StreamExt};

use super::ServerConnectorClient;
use super::error::ConnectorError;

/// Maximum size of a page's body, in bytes. The contract specifies none (8); most servers accept a megabyte.
const MAX_PAGE_BYTES: usize = 1024 * 1024;

/// The settings of a sync of the site's content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncRun {
    /// The snapshot's name, part of each page's key. A resumed sync uses the same name.
    pub snapshot_id: String,
    /// The first page to push, from 1. The items of earlier pages are skipped, so they must come in the same
    /// order as before.
    pub first_page: i64,
    /// Items of a page, 1 to 100.
    pub page_size: usize,
    /// Whether the items are all of the site's content: then the service removes all others.
    pub complete: bool,
}

impl SyncRun {
    /// Returns a complete sync from the first page, with 50 items a page.
    pub fn new(snapshot_id: impl Into<String>) -> Self {
        Self { snapshot_id: snapshot_id.into(), first_page: 1, page_size: 50, complete: true }
    }
}

/// The progress of a sync.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SyncProgress {
    /// The last page that was pushed; 0 before the first.
    pub page: i64,
    /// The number of items pushed.
    pub items: u64,
    /// The number of items that the service accepted; all that it did not reject, if it does not say.
    pub accepted: i64,
    /// The number of items that the service rejected.
    pub rejected: i64,
    /// The number of items that the service removed.
    pub removed: i64,
}

/// A sync that stopped before its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the sync of snapshot {snapshot_id} stopped at page {page}: {error}")]
pub struct SyncStopped {
    /// The snapshot's name.
    pub snapshot_id: String,
    /// The page to resume with ([`SyncRun::first_page`]).
    pub page: i64,
    /// The error that stopped the sync.
    #[source]
    pub error: ConnectorError,
    /// The progress before the error.
    pub progress: SyncProgress,
}

impl ServerConnectorClient {
    /// Pushes a stream of items page by page (4.9). `progress` is called after each page.
    pub async fn sync_content_pages(
        &self,
        items: impl Stream<Item = ContentItem>,
        run: &SyncRun,
        mut progress: impl FnMut(&SyncProgress),
    ) -> Result<SyncProgress, SyncStopped> {
        let mut progress_so_far = SyncProgress::default();
        let mut pages = Pages { items: Box::pin(items), run, held_back: None, page: 0, finished: false };
        while let Some(page) = pages.next_page().await {
            if page.page < run.first_page {
                progress_so_far.page = page.page;
                continue;
            }
            let receipt = self.sync_content(&page).await.map_err(|error| SyncStopped {
                snapshot_id: run.snapshot_id.clone(),
                page: page.page,
                error,
                progress: progress_so_far.clone(),
            })?;
            let pushed = i64::try_from(page.items.len()).unwrap_or(i64::MAX);
            progress_so_far.page = page.page;
            progress_so_far.items += page.items.len() as u64;
            progress_so_far.rejected += receipt.rejected.unwrap_or(0);
            progress_so_far.accepted += receipt.accepted.unwrap_or(pushed - receipt.rejected.unwrap_or(0));
            progress_so_far.removed += receipt.removed.unwrap_or(0);
            progress(&progress_so_far);
        }
        Ok(progress_so_far)
    }
}

/// Splits items into pages by number and size. The same items give the same pages, so that a sync can be
/// resumed.
struct Pages<'a, S> {
    items: S,
    run: &'a SyncRun,
    /// The item that did not fit into the previous page.
    held_back: Option<ContentItem>,
    page: i64,
    finished: bool,
}

impl<S: Stream<Item = ContentItem> + Unpin> Pages<'_, S> {
    async fn next_page(&mut self) -> Option<ContentPage> {
        if self.finished {
            return None;
        }
        let max_items =
            self.run.page_size.clamp(*limits::CONTENT_ITEMS.start(), *limits::CONTENT_ITEMS.end());
        let (mut items, mut bytes) = (Vec::new(), 0);
        loop {
            let next = match self.held_back.take() {
                Some(item) => Some(item),
                None => self.items.next().await,
            };
            let Some(item) = next else {
                self.finished = true;
                break;
            };
            let size = Value::from(&item).to_string().len();
            if items.len() == max_items || (bytes + size > MAX_PAGE_BYTES && !items.is_empty()) {
                self.held_back = Some(item);
                break;
            }
            bytes += size;
            items.push(item);
        }
        let complete = self.finished && self.run.complete;
        if items.is_empty() && !complete {
            return None;
        }
        self.page += 1;
        Some(ContentPage {
            snapshot_id: self.run.snapshot_id.clone(),
            page: self.page,
            complete,
            items,
            refused: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chat_protocol::ContentKind;
    use futures_util::stream;

    async fn pages(items: Vec<ContentItem>, run: &SyncRun) -> Vec<(i64, usize, bool)> {
        let mut pages = Pages { items: stream::iter(items), run, held_back: None, page: 0, finished: false };
        let mut cut = Vec::new();
        while let Some(page) = pages.next_page().await {
            cut.push((page.page, page.items.len(), page.complete));
        }
        cut
    }

    fn items(count: usize, bytes: usize) -> Vec<ContentItem> {
        let item = |number: usize| ContentItem {
            content: Some("x".repeat(bytes)),
            ..ContentItem::new(number.to_string(), ContentKind::Page)
        };
        (0..count).map(item).collect()
    }

    #[tokio::test]
    async fn the_last_page_completes_the_snapshot() {
        let run = SyncRun { page_size: 2, ..SyncRun::new("s") };
        assert_eq!(pages(items(4, 1), &run).await, [(1, 2, false), (2, 2, true)]);
        assert_eq!(pages(items(3, 1), &run).await, [(1, 2, false), (2, 1, true)]);
        assert_eq!(pages(Vec::new(), &run).await, [(1, 0, true)], "a site without content has none left");
        let some = SyncRun { complete: false, ..run };
        assert_eq!(pages(items(2, 1), &some).await, [(1, 2, false)]);
        assert_eq!(pages(Vec::new(), &some).await, []);
    }

    #[tokio::test]
    async fn splits_pages_before_they_exceed_a_megabyte() {
        let run = SyncRun::new("s");
        assert_eq!(pages(items(3, 600_000), &run).await, [(1, 1, false), (2, 1, false), (3, 1, true)]);
    }
}
