//! A folder of static HTML that jobs publish into: articles with their versions, and overlays in the heads of pages.
//!
//! What was published is kept in a state folder beside the site, and pages are written from it: a job that is executed
//! again changes nothing, and a job that was cut off half way is completed by the next execution. A page of the site's
//! own is kept before anything is published over it, and comes back when that is deleted.

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

use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::Arc;

use chat_protocol::{Done, Job, JobType, Overlay, Value};
use futures_util::stream;

use crate::client::{ServerConnectorClient, SyncRun};
use crate::jobs::{JobFailure, JobHandler};

pub use head::{HeadError, apply_to_head};
pub use options::StaticSiteOptions;
pub use pages::items;
pub use site_path::PageError;

use disk::SiteDisk;
use folder::Folder;

/// A handler of jobs that publishes into a folder.
///
/// A job that is dropped, because its lease runs out, is done to its end all the same: whoever executes it again finds
/// it done.
#[derive(Debug)]
pub struct StaticSite {
    folder: Arc<Folder<SiteDisk>>,
    state: PathBuf,
    client: Option<ServerConnectorClient>,
}

impl StaticSite {
    /// A site in a folder.
    pub fn new(options: StaticSiteOptions) -> Self {
        Self { state: options.state.clone(), folder: Arc::new(Folder::new(options)), client: None }
    }

    /// The same site, which can also answer `sync_content` jobs.
    #[must_use]
    pub fn syncing(self, client: ServerConnectorClient) -> Self {
        Self { client: Some(client), ..self }
    }

    /// Puts an overlay into the head of its page, in place of the one before. The page has to exist; an article that is
    /// published later gets it too.
    pub async fn apply_overlay(&self, overlay: &Overlay) -> Result<(), JobFailure> {
        let overlay = overlay.clone();
        self.run_blocking(move |folder| folder.apply_overlay(&overlay)).await
    }

    /// Works on the folder where waiting for the disk keeps nobody up.
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
        let client = self.client.as_ref().ok_or(JobFailure::new("This handler cannot sync content."))?;
        let items = self.run_blocking(|folder| folder.items().map_err(JobFailure::from_error)).await?;
        let count = i64::try_from(items.len()).unwrap_or(i64::MAX);
        // Nobody is there to ask whether this is the right folder.
        let mut record = client.sync_record(&self.state).await.map_err(JobFailure::from_error)?;
        record.plan(&items, true).check(None).map_err(JobFailure::from_error)?;
        record.begin(&items).map_err(JobFailure::from_error)?;
        // The job's name is the snapshot's: a repetition pushes the same pages under the same keys.
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
                let overlay = Overlay::try_from(payload).map_err(JobFailure::from_error)?;
                self.apply_overlay(&overlay).await?;
                Ok(Done { path: overlay.path, status: Some("applied".to_owned()), ..Done::default() })
            }
            JobType::SyncContent => self.sync(job).await,
            JobType::Other(name) => {
                Err(JobFailure::new(format!("This connector knows no jobs of the type {name}.")))
            }
        }
    }
}
