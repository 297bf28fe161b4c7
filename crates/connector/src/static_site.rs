//! A folder of static HTML that jobs publish into: articles with their versions, and overlays in the heads of pages.
//!
//! What was published is kept in a state folder beside the site, and pages are written from it: a job that is executed
//! again changes nothing, and a job that was cut off half way is completed by the next execution.

mod head;
mod pages;
mod record;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use chat_protocol::{ArticlePayload, Done, Job, JobType, Overlay, Value};
use futures_util::stream;
use uuid::Uuid;

use crate::client::{ServerConnectorClient, SyncRun};
use crate::jobs::{JobFailure, JobHandler};

pub use head::{HeadError, apply_to_head};
pub use pages::{PageError, items};

use pages::{file_of, is_ours, render};
use record::{Record, Version};

/// Where a static site is, and where what was published into it is remembered.
#[derive(Clone, Debug)]
pub struct StaticSiteOptions {
    /// The folder that the web server serves.
    pub root: PathBuf,
    /// The folder for what visitors need not see: versions, overlays, and pages as they were.
    pub state: PathBuf,
    /// The site's public origin, such as `https://shop.example`.
    pub origin: String,
    /// A page to publish articles in, with `{{title}}`, `{{content}}` and `{{locale}}`; without one, a plain page.
    pub template: Option<String>,
}

/// A handler of jobs that publishes into a folder.
#[derive(Debug)]
pub struct StaticSite {
    options: StaticSiteOptions,
    client: Option<ServerConnectorClient>,
    /// Jobs are done one at a time; who applies overlays by hand meanwhile waits.
    writing: Mutex<()>,
}

impl StaticSite {
    /// A site in a folder.
    pub fn new(options: StaticSiteOptions) -> Self {
        Self { options, client: None, writing: Mutex::new(()) }
    }

    /// The same site, which can also answer `sync_content` jobs.
    #[must_use]
    pub fn syncing(self, client: ServerConnectorClient) -> Self {
        Self { client: Some(client), ..self }
    }

    fn article(&self, job: &Job) -> Result<Done, JobFailure> {
        let payload = ArticlePayload::try_from(job.payload.clone()).map_err(failed)?;
        let name = [&payload.content_id, &payload.external_id, &payload.path].into_iter().flatten().next();
        let name = name.ok_or(JobFailure::new("The payload names no content."))?.clone();
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let file = self.options.state.join("articles").join(format!("{}.json", digest(&name)));
        let mut record = Record::read(&file).map_err(failed)?;
        let before = record.current().map(|version| version.path.clone());
        let action = payload.action.as_deref().unwrap_or_default();
        if !record.has_applied(&job.id) {
            match (&job.job_type, action) {
                (JobType::DeleteArticle, _) | (_, "delete" | "unpublish") => record.withdraw(),
                (JobType::RollbackArticle, _) | (_, "rollback" | "roll_back") => {
                    record
                        .roll_back()
                        .ok_or(JobFailure::new("There is no earlier version to go back to."))?;
                }
                _ => record.publish(version(payload)?),
            }
            record.apply(job.id.clone());
            // First what is to be, then the pages: who is killed in between does the rest on the next execution.
            if let Some(version) = record.current() {
                file_of(&self.options.root, &version.path).map_err(failed)?;
            }
            record.write(&file).map_err(failed)?;
        }
        let current = record.current();
        if let Some(before) = before.filter(|before| current.is_none_or(|current| current.path != *before)) {
            remove(&file_of(&self.options.root, &before).map_err(failed)?).map_err(failed)?;
        }
        let Some(current) = current else {
            if let Some(last) = record.last_path() {
                remove(&file_of(&self.options.root, last).map_err(failed)?).map_err(failed)?;
            }
            let status = Some("deleted".to_owned());
            return Ok(Done { external_id: Some(name), status, ..Done::default() });
        };
        self.write_page(&current.path, &render(current, self.options.template.as_deref())).map_err(failed)?;
        Ok(Done {
            external_id: Some(name),
            url: Some(format!("{}{}", self.options.origin.trim_end_matches('/'), current.path)),
            path: Some(current.path.clone()),
            status: Some("published".to_owned()),
            ..Done::default()
        })
    }

    /// Puts an overlay into the head of its page, in place of the one before. The page has to exist; an article that is
    /// published later gets it too.
    pub fn apply_overlay(&self, overlay: &Overlay) -> Result<(), JobFailure> {
        let path = overlay.path.as_deref().ok_or(JobFailure::new("The overlay names no page."))?;
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let page = file_of(&self.options.root, path).map_err(failed)?;
        let written = match fs::read_to_string(&page) {
            Ok(written) => written,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(JobFailure::new(format!("The site has no page {path}.")));
            }
            Err(error) => return Err(failed(error)),
        };
        let original = self.options.state.join("originals").join(format!("{}.html", digest(path)));
        let source =
            if is_ours(&written) { fs::read_to_string(&original).unwrap_or(written) } else { written };
        let known = self.overlay_file(path);
        write_whole(&known, &Value::from(overlay).to_string()).map_err(failed)?;
        self.write_page(path, &source).map_err(failed)
    }

    fn overlay_file(&self, path: &str) -> PathBuf {
        self.options.state.join("overlays").join(format!("{}.json", digest(path)))
    }

    /// Writes a page, with its overlay if it has one; the page without it is kept for the next overlay.
    fn write_page(&self, path: &str, source: &str) -> io::Result<()> {
        let page = file_of(&self.options.root, path).map_err(io::Error::other)?;
        let overlay = fs::read_to_string(self.overlay_file(path)).ok();
        let overlay = overlay.and_then(|text| serde_json::from_str::<Value>(&text).ok());
        let Some(overlay) = overlay.and_then(|overlay| Overlay::try_from(overlay).ok()) else {
            return write_whole(&page, source);
        };
        write_whole(&self.options.state.join("originals").join(format!("{}.html", digest(path))), source)?;
        write_whole(&page, &apply_to_head(source, &overlay).map_err(io::Error::other)?)
    }

    async fn sync(&self, job: &Job) -> Result<Done, JobFailure> {
        let client = self.client.as_ref().ok_or(JobFailure::new("This handler cannot sync content."))?;
        let items = items(&self.options.root, &self.options.origin).map_err(failed)?;
        let count = i64::try_from(items.len()).unwrap_or(i64::MAX);
        // The job's name is the snapshot's: a repetition pushes the same pages under the same keys.
        let snapshot = match job.payload.get("snapshotId").and_then(Value::as_text) {
            Some(snapshot) => snapshot.to_owned(),
            None => job.id.as_str().to_owned(),
        };
        let run = SyncRun::new(snapshot);
        let progress = client.sync_content_pages(stream::iter(items), &run, |_| ()).await.map_err(failed)?;
        let data = Value::object([("items", count.into()), ("accepted", progress.accepted.into())]);
        Ok(Done { status: Some("synced".to_owned()), data, ..Done::default() })
    }
}

impl JobHandler for StaticSite {
    async fn execute(&self, job: &Job) -> Result<Done, JobFailure> {
        match &job.job_type {
            JobType::PublishArticle | JobType::DeleteArticle | JobType::RollbackArticle => self.article(job),
            JobType::ApplySeoOverlay => {
                let payload = match job.payload.get("overlay") {
                    Some(overlay) => overlay.clone(),
                    None => job.payload.clone(),
                };
                let overlay = Overlay::try_from(payload).map_err(failed)?;
                self.apply_overlay(&overlay)?;
                Ok(Done { path: overlay.path, status: Some("applied".to_owned()), ..Done::default() })
            }
            JobType::SyncContent => self.sync(job).await,
            JobType::Other(name) => {
                Err(JobFailure::new(format!("This connector knows no jobs of the type {name}.")))
            }
        }
    }
}

fn version(payload: ArticlePayload) -> Result<Version, JobFailure> {
    let missing = |field: &str| JobFailure::new(format!("The payload has no {field}."));
    Ok(Version {
        path: payload.path.ok_or_else(|| missing("path"))?,
        title: payload.title.ok_or_else(|| missing("title"))?,
        locale: payload.locale,
        content: payload.content.ok_or_else(|| missing("content"))?,
    })
}

fn failed(error: impl std::fmt::Display) -> JobFailure {
    JobFailure::new(error.to_string())
}

/// A file name for any text.
fn digest(text: &str) -> String {
    Uuid::new_v5(&Uuid::NAMESPACE_OID, text.as_bytes()).simple().to_string()
}

/// Writes a file in one piece: who reads it meanwhile sees the old one or the new one.
fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    let directory = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    fs::create_dir_all(directory)?;
    let unfinished = directory.join(format!(".{}.tmp", Uuid::new_v4().simple()));
    let written = fs::write(&unfinished, text).and_then(|()| fs::rename(&unfinished, path));
    if written.is_err() {
        let _ = fs::remove_file(&unfinished);
    }
    written
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
