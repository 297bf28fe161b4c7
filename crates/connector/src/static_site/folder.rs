//! Applies jobs to the folder. All functions block on the disk, so call them on a blocking thread only.
//!
//! The site's own page is preserved before it is replaced, and the intended state is recorded before the page
//! is written. If the process is killed in between, the next execution completes the job.

use std::borrow::Cow;
use std::io;
use std::sync::{Mutex, PoisonError};

use chat_protocol::{ArticlePayload, ContentItem, Done, Job, JobType, Overlay, Value};

use super::digest::digest;
use super::disk::{Disk, SiteDisk};
use super::head::apply_to_head;
use super::options::StaticSiteOptions;
use super::page_record::{PageRecord, ShownArticle};
use super::pages::items_of;
use super::record::{Record, Version};
use super::site_path::SitePath;
use super::template::render;
use super::tree::Tree;
use crate::jobs::JobFailure;
use crate::printable::Printable;

#[derive(Debug)]
pub(super) struct Folder<D> {
    pub(super) disk: D,
    origin: String,
    template: Option<String>,
    /// Serialises jobs and overlays that are applied by hand.
    writing: Mutex<()>,
}

impl Folder<SiteDisk> {
    pub(super) fn new(options: StaticSiteOptions) -> Self {
        let disk = SiteDisk { tree: Tree::new(options.root), state: options.state };
        Self::on(disk, options.origin, options.template)
    }

    /// Returns the pages as content items. An overlay is not read as the site's own head: of a page that a
    /// job has written, the article or the original is read.
    pub(super) fn items(&self) -> io::Result<Vec<ContentItem>> {
        items_of(&self.disk.tree, &self.origin, |path, html| self.without_overlay(path, html))
    }

    fn without_overlay(&self, path: &str, html: Vec<u8>) -> io::Result<Vec<u8>> {
        // A job may have named a page with its last `/`.
        for path in [path, &format!("{}/", path.trim_end_matches('/'))] {
            let Ok(page) = SitePath::new(path) else { continue };
            let record = PageRecord::read(&self.disk, &page)?;
            if record.is_written_by_job(&html) {
                return match record.shown {
                    Some(shown) => Ok(shown.html.into_bytes()),
                    None => Ok(record.original(&self.disk, &page)?.unwrap_or(html)),
                };
            }
        }
        Ok(html)
    }
}

impl<D: Disk> Folder<D> {
    pub(super) fn on(disk: D, origin: String, template: Option<String>) -> Self {
        Self { disk, origin, template, writing: Mutex::new(()) }
    }

    /// Publishes, deletes or rolls back an article.
    pub(super) fn article(&self, job: &Job) -> Result<Done, JobFailure> {
        let payload = ArticlePayload::try_from(job.payload.clone()).map_err(JobFailure::from_permanent)?;
        let name = [&payload.content_id, &payload.external_id, &payload.path].into_iter().flatten().next();
        let name = name.ok_or(JobFailure::permanent("The payload names no content."))?.clone();
        let article = digest(name.as_bytes());
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut record = Record::read(&self.disk, &article).map_err(JobFailure::from_error)?;
        let action = payload.action.as_deref().unwrap_or_default();
        let wants = match (&job.job_type, action) {
            (JobType::DeleteArticle, _) | (_, "delete" | "unpublish") => "deleted",
            (JobType::RollbackArticle, _) | (_, "rollback" | "roll_back") => "restored",
            _ => "published",
        };
        let shown_before = match wants {
            "deleted" => self.shows(&record, payload.path.as_deref())?,
            _ => false,
        };
        let asked_path = payload.path.clone();
        if shown_before && !record.is_known() {
            // Another runner may know the article: the job waits for it.
            return Err(JobFailure::new(format!(
                "The page {} is still there, and this state folder has not published it. Run the jobs with the \
                 state folder that has, or remove the page by hand.",
                Printable(asked_path.as_deref().unwrap_or_default())
            )));
        }
        if !record.has_applied(&job.id) {
            match wants {
                "deleted" => record.withdraw(),
                "restored" => {
                    if !record
                        .roll_back(self.has_original(&article, &record).map_err(JobFailure::from_error)?)
                    {
                        return Err(JobFailure::permanent("There is no earlier version to go back to."));
                    }
                }
                _ => record.publish(version(payload)?),
            }
            record.apply(job.id.clone());
            if let Some(version) = record.current() {
                let page = SitePath::new(&version.path).map_err(JobFailure::from_permanent)?;
                self.disk.check_page(&page).map_err(JobFailure::from_error)?;
            }
            record.write(&self.disk, &article).map_err(JobFailure::from_error)?;
        }
        if let Some(current) = record.current() {
            let html = render(current, self.template.as_deref());
            self.set_article(
                &SitePath::new(&current.path).map_err(JobFailure::from_error)?,
                &article,
                Some(html),
            )
            .map_err(JobFailure::from_error)?;
        }
        let mut is_restored = false;
        for path in record.former_paths() {
            let page = SitePath::new(path).map_err(JobFailure::from_error)?;
            is_restored |= self.set_article(&page, &article, None).map_err(JobFailure::from_error)?;
        }
        let Some(current) = record.current() else {
            let is_there = self.shows(&record, asked_path.as_deref())?;
            let message = match (is_restored, shown_before && !is_there) {
                (true, _) => "The page that was there before is back.",
                (false, true) => "This run has removed the page.",
                (false, false) if is_there => "Another page is there now.",
                (false, false) => "The page was gone already.",
            };
            let data = Value::object([("removed", (is_restored || (shown_before && !is_there)).into())]);
            let (external_id, status) = (Some(name), Some(wants.to_owned()));
            return Ok(Done {
                external_id,
                status,
                message: Some(message.to_owned()),
                data,
                ..Done::default()
            });
        };
        Ok(Done {
            external_id: Some(name),
            url: Some(format!("{}{}", self.origin.trim_end_matches('/'), current.path)),
            path: Some(current.path.clone()),
            status: Some("published".to_owned()),
            ..Done::default()
        })
    }

    /// Returns whether one of an article's pages, or the page at `path`, is in the folder.
    fn shows(&self, record: &Record, path: Option<&str>) -> Result<bool, JobFailure> {
        for path in record.paths().chain(path) {
            // A path that names no file of a page shows none.
            let Ok(page) = SitePath::new(path) else { continue };
            if self.disk.page(&page).map_err(JobFailure::from_error)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Puts an overlay into the head of its page. An empty overlay removes the previous one.
    pub(super) fn apply_overlay(&self, overlay: &Overlay) -> Result<(), JobFailure> {
        let path = overlay.path.as_deref().ok_or(JobFailure::permanent("The overlay names no page."))?;
        let page = SitePath::new(path).map_err(JobFailure::from_permanent)?;
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let before = PageRecord::read(&self.disk, &page).map_err(JobFailure::from_error)?;
        let found = self.disk.page(&page).map_err(JobFailure::from_error)?;
        let mut record = before.clone();
        self.preserve_own_page(&mut record, &page, found.as_deref()).map_err(JobFailure::from_error)?;
        if found.is_none() || (record.shown.is_none() && !record.has_original()) {
            return Err(JobFailure::new(format!("The site has no page {}.", Printable(path))));
        }
        record.overlay = Some(overlay.clone()).filter(Overlay::has_content);
        self.reconcile(&page, &before, record, found.as_deref()).map_err(JobFailure::from_error)
    }

    /// Publishes an article on a page, or removes it with `None`. Returns whether the site's own page is
    /// restored.
    fn set_article(&self, page: &SitePath, article: &str, html: Option<String>) -> io::Result<bool> {
        let before = PageRecord::read(&self.disk, page)?;
        let found = self.disk.page(page)?;
        let is_shown = before.shown.as_ref().is_some_and(|shown| shown.article == article);
        let is_written = found.as_ref().is_some_and(|found| before.is_written_by_job(found));
        // A page of another article is left alone, unless it is the rest of an interrupted removal.
        if html.is_none() && !is_shown && !is_written {
            return Ok(before.shown.is_none() && found.is_some());
        }
        let mut record = before.clone();
        self.preserve_own_page(&mut record, page, found.as_deref())?;
        match html {
            Some(html) => record.shown = Some(ShownArticle { article: article.to_owned(), html }),
            None if is_shown => record.shown = None,
            None => {}
        }
        let is_restored = record.shown.is_none() && record.has_original();
        self.reconcile(page, &before, record, found.as_deref())?;
        Ok(is_restored)
    }

    /// Preserves the page that was found if it is the site's own.
    fn preserve_own_page(
        &self,
        record: &mut PageRecord,
        page: &SitePath,
        found: Option<&[u8]>,
    ) -> io::Result<()> {
        match found {
            Some(own) if !record.is_written_by_job(own) => record.preserve(&self.disk, page, own)?,
            None if record.shown.is_none() => record.clear_original(),
            _ => {}
        }
        Ok(())
    }

    /// Makes a page match its record: the article, or else the site's own page, with the overlay.
    fn reconcile(
        &self,
        page: &SitePath,
        before: &PageRecord,
        mut record: PageRecord,
        found: Option<&[u8]>,
    ) -> io::Result<()> {
        let source = match &record.shown {
            Some(shown) => Some(Cow::Borrowed(shown.html.as_bytes())),
            None => record.original(&self.disk, page)?.map(Cow::Owned),
        };
        let wanted = match (source, &record.overlay) {
            (Some(source), Some(overlay)) => Some(apply_to_head(&source, overlay).map_err(io::Error::other)?),
            (source, _) => source.map(Cow::into_owned),
        };
        let is_own = record.shown.is_none() && record.overlay.is_none();
        // A missing page is restored before its record says that it shows no article. With that record alone,
        // the page would count as removed by hand.
        let returned =
            if found.is_none() && record.shown.is_none() { record.original(&self.disk, page)? } else { None };
        if let Some(returned) = &returned {
            self.disk.write_page(page, returned)?;
        }
        let found = found.or(returned.as_deref());
        if let Some(wanted) = wanted.as_deref().filter(|_| !is_own) {
            record.record_write(wanted, found);
        }
        if record != *before {
            record.write(&self.disk, page)?;
        }
        match &wanted {
            _ if wanted.as_deref() == found => Ok(()),
            Some(wanted) => self.disk.write_page(page, wanted),
            None => self.disk.remove_page(page),
        }
    }

    /// Returns whether the article's page has an original of the site's own.
    fn has_original(&self, article: &str, record: &Record) -> io::Result<bool> {
        let Some(page) = record.current().and_then(|current| SitePath::new(&current.path).ok()) else {
            return Ok(false);
        };
        let page = PageRecord::read(&self.disk, &page)?;
        Ok(page.has_original() && page.shown.is_some_and(|shown| shown.article == article))
    }
}

fn version(payload: ArticlePayload) -> Result<Version, JobFailure> {
    let missing = |field: &str| JobFailure::permanent(format!("The payload has no {field}."));
    Ok(Version {
        path: payload.path.ok_or_else(|| missing("path"))?,
        title: payload.title.ok_or_else(|| missing("title"))?,
        locale: payload.locale,
        content: payload.content.ok_or_else(|| missing("content"))?,
    })
}
