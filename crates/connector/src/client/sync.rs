//! Content of any length, pushed page by page, and taken up again where it stopped.

use chat_protocol::{ContentItem, ContentPage, Value, limits};
use futures_util::{Stream, StreamExt};

use super::ServerConnectorClient;
use super::error::ConnectorError;

/// The largest body of a page, in bytes. The contract shows no number (8); most servers take a megabyte.
const MAX_PAGE_BYTES: usize = 1024 * 1024;

/// A run over all of a site's content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncRun {
    /// The snapshot's name: part of every page's key. A run that is taken up again has the same one.
    pub snapshot_id: String,
    /// The first page to push, from 1. A run that stopped says where; the items before are read and passed over, so they
    /// have to come in the same order again.
    pub first_page: i64,
    /// Items of a page, 1 to 100.
    pub page_size: usize,
    /// Whether these items are all there is: then the service forgets what is not among them.
    pub complete: bool,
}

impl SyncRun {
    /// A run from the beginning, 50 items a page, over all content.
    pub fn new(snapshot_id: impl Into<String>) -> Self {
        Self { snapshot_id: snapshot_id.into(), first_page: 1, page_size: 50, complete: true }
    }
}

/// How far a run is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SyncProgress {
    /// The last page that was pushed; 0 before the first.
    pub page: i64,
    /// Items that were pushed.
    pub items: u64,
    /// Items that the service took over, where it says so.
    pub accepted: i64,
    /// Items that it refused.
    pub rejected: i64,
    /// Items that it forgot.
    pub removed: i64,
}

/// A run that stopped before its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the sync of snapshot {snapshot_id} stopped at page {page}: {error}")]
pub struct SyncStopped {
    /// The snapshot.
    pub snapshot_id: String,
    /// The page to go on with ([`SyncRun::first_page`]).
    pub page: i64,
    /// Why it stopped.
    #[source]
    pub error: ConnectorError,
    /// How far it came.
    pub progress: SyncProgress,
}

impl ServerConnectorClient {
    /// Pushes a stream of items in pages, one after the other (4.9). `progress` is called after each page.
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

/// Cuts items into pages, by number and by size. The same items give the same pages, which a resumed run needs.
struct Pages<'a, S> {
    items: S,
    run: &'a SyncRun,
    /// The item that the page before had no room for.
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
    async fn the_last_page_of_all_content_closes_the_snapshot() {
        let run = SyncRun { page_size: 2, ..SyncRun::new("s") };
        assert_eq!(pages(items(4, 1), &run).await, [(1, 2, false), (2, 2, true)]);
        assert_eq!(pages(items(3, 1), &run).await, [(1, 2, false), (2, 1, true)]);
        assert_eq!(pages(Vec::new(), &run).await, [(1, 0, true)], "a site without content has none left");
        let some = SyncRun { complete: false, ..run };
        assert_eq!(pages(items(2, 1), &some).await, [(1, 2, false)]);
        assert_eq!(pages(Vec::new(), &some).await, []);
    }

    #[tokio::test]
    async fn a_page_is_cut_before_it_grows_past_a_megabyte() {
        let run = SyncRun::new("s");
        assert_eq!(pages(items(3, 600_000), &run).await, [(1, 1, false), (2, 1, false), (3, 1, true)]);
    }
}
