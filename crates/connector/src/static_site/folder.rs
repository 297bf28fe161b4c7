//! The folder itself: what a job changes in it. Everything here waits for the disk, so none of it is called where other
//! work would wait along.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use chat_protocol::{ArticlePayload, ContentItem, Done, Job, JobType, Overlay, Value};
use uuid::Uuid;

use super::head::apply_to_head;
use super::pages::{file_of, is_ours, items, render};
use super::record::{Record, Version};
use super::{StaticSiteOptions, failed};
use crate::jobs::JobFailure;

#[derive(Debug)]
pub(super) struct Folder {
    options: StaticSiteOptions,
    /// Jobs are done one at a time; who applies overlays by hand meanwhile waits.
    writing: Mutex<()>,
}

impl Folder {
    pub(super) fn new(options: StaticSiteOptions) -> Self {
        Self { options, writing: Mutex::new(()) }
    }

    /// What the pages say, to be synced.
    pub(super) fn items(&self) -> io::Result<Vec<ContentItem>> {
        items(&self.options.root, &self.options.origin)
    }

    /// Publishes, deletes or rolls back an article.
    pub(super) fn article(&self, job: &Job) -> Result<Done, JobFailure> {
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

    /// Puts an overlay into the head of its page.
    pub(super) fn apply_overlay(&self, overlay: &Overlay) -> Result<(), JobFailure> {
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

/// A file name for any text.
fn digest(text: &str) -> String {
    Uuid::new_v5(&Uuid::NAMESPACE_OID, text.as_bytes()).simple().to_string()
}

/// Writes a file in one piece: who reads it meanwhile sees the old one or the new one.
pub(super) fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    let directory = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    fs::create_dir_all(directory)?;
    let unfinished = directory.join(format!(".{}.tmp", Uuid::new_v4().simple()));
    let write = || {
        let mut file = File::create(&unfinished)?;
        file.write_all(text.as_bytes())?;
        // The journal says next that this was done: then it has to be so after a power cut, too.
        file.sync_all()?;
        fs::rename(&unfinished, path)
    };
    let written = write();
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn whoever_reads_a_page_while_it_is_written_sees_all_of_the_old_one_or_all_of_the_new_one() {
        let directory = tempfile::tempdir().expect("a directory");
        let page = directory.path().join("page.html");
        write_whole(&page, "old").expect("written");
        let mut reading = File::open(&page).expect("a page");
        write_whole(&page, "newer").expect("written");
        let mut read = String::new();
        reading.read_to_string(&mut read).expect("text");
        assert_eq!(read, "old", "who has begun to read is not disturbed");
        assert_eq!(fs::read_to_string(&page).expect("a page"), "newer");
        assert_eq!(fs::read_dir(directory.path()).expect("a directory").count(), 1, "nothing else is left");
    }
}
