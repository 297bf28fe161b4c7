//! A folder of static HTML that jobs publish into: articles with their versions, and overlays in the heads of
//! pages.
//!
//! Published content is stored in a state folder beside the site, and pages are generated from it. Jobs are
//! idempotent: a repeated job changes nothing, and an interrupted one is completed by its next execution. The
//! site's own page is preserved before an article replaces it, and restored when the article is deleted.

mod digest;
mod disk;
mod folder;
mod head;
mod options;
mod page_record;
mod pages;
mod record;
mod site_path;
mod template;
mod tree;

#[cfg(test)]
mod crashes;

use std::io;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chat_protocol::{ContentItem, Done, Job, JobType, Overlay, Value};
use futures_util::stream;

use crate::client::{ServerConnectorClient, SyncRun};
use crate::jobs::{JobFailure, JobHandler};

pub use head::{HeadError, apply_to_head};
pub use options::StaticSiteOptions;
pub use pages::items;
pub use site_path::PageError;

use disk::SiteDisk;
use folder::Folder;

/// Passes each HTML page of a folder to `page`, as a sync reads them: with its path in the folder and its
/// bytes. The paths of all else are passed to `other`, with whether each is a link, which is not followed;
/// those of folders end with a slash.
pub fn walk(
    root: &Path,
    page: &mut dyn FnMut(&str, Vec<u8>),
    other: &mut dyn FnMut(&str, bool),
) -> io::Result<()> {
    tree::Tree::new(root).walk_all(page, other)
}

/// Reads a file of a folder by its path in it; `None` if it does not exist. Links are not followed.
pub fn read_file(root: &Path, path: &str) -> io::Result<Option<Vec<u8>>> {
    tree::Tree::new(root).read_file(path)
}

/// A job handler that publishes into a folder.
///
/// A job whose future is dropped, because its lease expires, still runs to its end. Its next execution finds
/// it done.
#[derive(Debug)]
pub struct StaticSite {
    folder: Arc<Folder<SiteDisk>>,
    state: PathBuf,
    client: Option<ServerConnectorClient>,
}

impl StaticSite {
    /// Creates a handler for a folder.
    pub fn new(options: StaticSiteOptions) -> Self {
        Self { state: options.state.clone(), folder: Arc::new(Folder::new(options)), client: None }
    }

    /// Returns the same site with a client, which `sync_content` jobs need.
    #[must_use]
    pub fn syncing(self, client: ServerConnectorClient) -> Self {
        Self { client: Some(client), ..self }
    }

    /// Puts an overlay into the head of its page, replacing the previous one. The page must exist. An article
    /// that is published there later gets the overlay too.
    pub async fn apply_overlay(&self, overlay: &Overlay) -> Result<(), JobFailure> {
        let overlay = overlay.clone();
        self.run_blocking(move |folder| folder.apply_overlay(&overlay)).await
    }

    /// Returns the pages as [`items`] does, without the overlays that were applied to them.
    pub async fn items(&self) -> Result<Vec<ContentItem>, JobFailure> {
        self.run_blocking(|folder| folder.items().map_err(JobFailure::from_error)).await
    }

    /// Works on the folder on a blocking thread.
    async fn run_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Folder<SiteDisk>) -> Result<T, JobFailure> + Send + 'static,
    ) -> Result<T, JobFailure> {
        let folder = Arc::clone(&self.folder);
        let done = tokio::task::spawn_blocking(move || work(&folder)).await;
        done.unwrap_or_else(|error| match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            Err(_) => Err(JobFailure::new("The connector is stopping.")),
        })
    }

    async fn sync(&self, job: &Job) -> Result<Done, JobFailure> {
        let client =
            self.client.as_ref().ok_or(JobFailure::permanent("This handler cannot sync content."))?;
        let items = self.items().await?;
        let count = i64::try_from(items.len()).unwrap_or(i64::MAX);
        // No confirmation of removals is possible here.
        let mut record = client.sync_record(&self.state).await.map_err(JobFailure::from_error)?;
        record.plan(&items, true).check(None).map_err(JobFailure::from_error)?;
        record.begin(&items).map_err(JobFailure::from_error)?;
        // A repeated job has the same snapshot id, and so pushes the same pages under the same keys.
        let snapshot = match job.payload.get("snapshotId").and_then(Value::as_text) {
            Some(snapshot) => snapshot.to_owned(),
            None => job.id.as_str().to_owned(),
        };
        let run = SyncRun::new(snapshot);
        let pushed = stream::iter(items.iter().cloned());
        let progress =
            client.sync_content_pages(pushed, &run, |_| ()).await.map_err(JobFailure::from_error)?;
        record.finish(&items, true).map_err(JobFailure::from_error)?;
        let data = Value::object([("items", count.into()), ("accepted", progress.accepted.into())]);
        Ok(Done { status: Some("synced".to_owned()), data, ..Done::default() })
    }
}

impl JobHandler for StaticSite {
    async fn execute(&self, job: &Job) -> Result<Done, JobFailure> {
        match &job.job_type {
            JobType::PublishArticle | JobType::DeleteArticle | JobType::RollbackArticle => {
                let job = job.clone();
                self.run_blocking(move |folder| folder.article(&job)).await
            }
            JobType::ApplySeoOverlay => {
                let payload = match job.payload.get("overlay") {
                    Some(overlay) => overlay.clone(),
                    None => job.payload.clone(),
                };
                let overlay = Overlay::try_from(payload).map_err(JobFailure::from_permanent)?;
                self.apply_overlay(&overlay).await?;
                Ok(Done { path: overlay.path, status: Some("applied".to_owned()), ..Done::default() })
            }
            JobType::SyncContent => self.sync(job).await,
            JobType::Other(name) => Err(JobFailure::permanent(format!("Unknown job type {name}."))),
        }
    }
}
