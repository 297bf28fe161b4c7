//! The record of one page: its article, its overlay, what jobs have written, and the site's own original.

use std::io;

use chat_protocol::{Fields, Overlay, Value};

use super::digest::digest;
use super::disk::Disk;
use super::site_path::SitePath;

/// Maximum digests of pages written by jobs; the oldest are forgotten first.
const MAX_DIGESTS: usize = 20;
/// Maximum originals that are preserved for one path; the oldest are removed first.
const MAX_ORIGINALS: u32 = 10;

/// The article that a page shows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ShownArticle {
    /// The digest of the article's id.
    pub(super) article: String,
    /// The page without its overlay.
    pub(super) html: String,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct PageRecord {
    pub(super) shown: Option<ShownArticle>,
    pub(super) overlay: Option<Overlay>,
    /// Digests of the pages that jobs have written, or were about to write.
    written: Vec<String>,
    /// The number of the original that is restored when nothing is published any more.
    original: Option<u32>,
    /// The number of the next original.
    next: u32,
}

impl PageRecord {
    /// Reads the record of a page; empty if there is none.
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

    /// Returns whether a job wrote these bytes, as opposed to the site's own people.
    pub(super) fn is_written_by_job(&self, bytes: &[u8]) -> bool {
        self.written.contains(&digest(bytes))
    }

    /// Records the page that is about to replace the one found.
    pub(super) fn record_write(&mut self, bytes: &[u8], found: Option<&[u8]>) {
        // Keeps the digest of the current page, even if the process is killed repeatedly before the write.
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

    /// Reads the original, the page from before anything was published.
    pub(super) fn original(&self, disk: &impl Disk, page: &SitePath) -> io::Result<Option<Vec<u8>>> {
        let Some(number) = self.original else { return Ok(None) };
        match disk.state(&original_name(page, number))? {
            Some(original) => Ok(Some(original)),
            None => {
                Err(io::Error::other(format!("the state folder has lost {}", original_name(page, number))))
            }
        }
    }

    /// Preserves the site's own page before it is replaced. The record must be written next.
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

    /// Forgets the original, which was removed by hand.
    pub(super) fn clear_original(&mut self) {
        self.original = None;
    }
}

fn name(page: &SitePath) -> String {
    format!("pages/{}.json", digest(page.as_str().as_bytes()))
}

/// Returns the name of an original. It has the digest of the record beside it, which contains the path.
fn original_name(page: &SitePath, number: u32) -> String {
    format!("originals/{}.{number}.html", digest(page.as_str().as_bytes()))
}
