//! What is known of one page: whose article it shows, its overlay, what was written, and the page that was there before.

use std::io;

use chat_protocol::{Fields, Overlay, Value};

use super::digest::digest;
use super::disk::Disk;
use super::site_path::SitePath;

/// Texts that are known as written by jobs; the oldest are forgotten first.
const MAX_DIGESTS: usize = 20;
/// Pages of the site's own that are kept of one path; the oldest are removed first.
const MAX_ORIGINALS: u32 = 10;

/// An article on a page.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ShownArticle {
    /// The digest of the article's name.
    pub(super) article: String,
    /// The page without its overlay.
    pub(super) html: String,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct PageRecord {
    pub(super) shown: Option<ShownArticle>,
    pub(super) overlay: Option<Overlay>,
    /// Digests of what was written, or was about to be when the process ended.
    written: Vec<String>,
    /// The number of the site's own page that comes back when nothing is published any more.
    original: Option<u32>,
    /// The number of the next page that is kept.
    next: u32,
}

impl PageRecord {
    /// The record of a page; an empty one if there is none.
    pub(super) fn read(disk: &impl Disk, page: &SitePath) -> io::Result<Self> {
        let Some(bytes) = disk.state(&name(page))? else { return Ok(Self::default()) };
        Self::parse(&bytes)
    }

    fn parse(bytes: &[u8]) -> io::Result<Self> {
        let mut fields = Fields::of(serde_json::from_slice(bytes)?).map_err(io::Error::other)?;
        let article = fields.optional_text("article").map_err(io::Error::other)?;
        let html = fields.optional_text("html").map_err(io::Error::other)?;
        let overlay = match fields.take("overlay") {
            Value::Null => None,
            overlay => Some(Overlay::try_from(overlay).map_err(io::Error::other)?),
        };
        let number = |value: Option<i64>| value.and_then(|number| u32::try_from(number).ok());
        Ok(Self {
            shown: article.zip(html).map(|(article, html)| ShownArticle { article, html }),
            overlay,
            written: fields.lenient_texts("written"),
            original: number(fields.lenient_integer("original")),
            next: number(fields.lenient_integer("next")).unwrap_or(0),
        })
    }

    pub(super) fn write(&self, disk: &impl Disk, page: &SitePath) -> io::Result<()> {
        let shown = self.shown.as_ref();
        let value = Value::object([
            ("path", page.as_str().into()),
            ("article", shown.map(|shown| shown.article.clone()).into()),
            ("html", shown.map(|shown| shown.html.clone()).into()),
            ("overlay", self.overlay.as_ref().map_or(Value::Null, Value::from)),
            ("written", self.written.iter().map(String::as_str).collect()),
            ("original", self.original.map(i64::from).into()),
            ("next", i64::from(self.next).into()),
        ]);
        disk.write_state(&name(page), value.to_string().as_bytes())
    }

    /// Whether these bytes were written by a job, and not by the site's own people.
    pub(super) fn is_written_by_job(&self, bytes: &[u8]) -> bool {
        self.written.contains(&digest(bytes))
    }

    /// Notes what is about to be written, in place of what was found.
    pub(super) fn record_write(&mut self, bytes: &[u8], found: Option<&[u8]>) {
        // What is found stays known however often a process ends between this and the writing.
        let found = found.filter(|found| self.is_written_by_job(found));
        for digest in [found, Some(bytes)].into_iter().flatten().map(digest) {
            self.written.retain(|written| *written != digest);
            self.written.push(digest);
        }
        self.written.drain(..self.written.len().saturating_sub(MAX_DIGESTS));
    }

    pub(super) fn has_original(&self) -> bool {
        self.original.is_some()
    }

    /// The page that was there before anything was published.
    pub(super) fn original(&self, disk: &impl Disk, page: &SitePath) -> io::Result<Option<Vec<u8>>> {
        let Some(number) = self.original else { return Ok(None) };
        match disk.state(&original_name(page, number))? {
            Some(original) => Ok(Some(original)),
            None => {
                Err(io::Error::other(format!("the state folder has lost {}", original_name(page, number))))
            }
        }
    }

    /// Keeps a page of the site's own, before anything takes its place. The record has to be written next.
    pub(super) fn preserve(&mut self, disk: &impl Disk, page: &SitePath, own: &[u8]) -> io::Result<()> {
        if let Some(number) = self.original
            && disk.state(&original_name(page, number))?.as_deref() == Some(own)
        {
            return Ok(());
        }
        disk.write_state(&original_name(page, self.next), own)?;
        self.original = Some(self.next);
        self.next += 1;
        if let Some(oldest) = self.next.checked_sub(MAX_ORIGINALS + 1) {
            disk.remove_state(&original_name(page, oldest))?;
        }
        Ok(())
    }

    /// Forgets the page that was there before: the site's own people have removed it.
    pub(super) fn clear_original(&mut self) {
        self.original = None;
    }
}

fn name(page: &SitePath) -> String {
    format!("pages/{}.json", digest(page.as_str().as_bytes()))
}

/// The name of a page that is kept. The path's digest is that of the record beside it, which says the path.
fn original_name(page: &SitePath, number: u32) -> String {
    format!("originals/{}.{number}.html", digest(page.as_str().as_bytes()))
}
