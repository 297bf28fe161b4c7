//! What is known of one article: its versions, and the jobs that have made it what it is.

use std::fs;
use std::io;
use std::path::Path;

use chat_protocol::{Fields, JobId, Value};

use super::folder::write_whole;

/// Versions that can be gone back to, and jobs that are remembered.
const KEPT: usize = 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Version {
    pub(super) path: String,
    pub(super) title: String,
    pub(super) locale: Option<String>,
    /// HTML.
    pub(super) content: String,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Record {
    /// Oldest first.
    versions: Vec<Version>,
    withdrawn: bool,
    applied: Vec<JobId>,
}

impl Record {
    /// The record in this file; an empty one when there is none.
    pub(super) fn read(file: &Path) -> io::Result<Self> {
        let text = match fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(error),
        };
        let value: Value = serde_json::from_str(&text)?;
        let mut fields = Fields::of(value).map_err(io::Error::other)?;
        let mut record = Self {
            withdrawn: fields.lenient_bool("withdrawn").unwrap_or(false),
            applied: fields.lenient_texts("applied").into_iter().map(JobId::from).collect(),
            versions: Vec::new(),
        };
        for version in fields.list("versions").map_err(io::Error::other)? {
            let mut fields = Fields::lenient(version);
            let mut text = |name: &str| fields.optional_text(name).map_err(io::Error::other);
            record.versions.push(Version {
                path: text("path")?.unwrap_or_default(),
                title: text("title")?.unwrap_or_default(),
                locale: text("locale")?,
                content: text("content")?.unwrap_or_default(),
            });
        }
        Ok(record)
    }

    pub(super) fn write(&self, file: &Path) -> io::Result<()> {
        let version = |version: &Version| {
            Value::object([
                ("path", version.path.as_str().into()),
                ("title", version.title.as_str().into()),
                ("locale", version.locale.clone().into()),
                ("content", version.content.as_str().into()),
            ])
        };
        let value = Value::object([
            ("versions", Value::List(self.versions.iter().map(version).collect())),
            ("withdrawn", self.withdrawn.into()),
            ("applied", self.applied.iter().map(JobId::as_str).collect()),
        ]);
        write_whole(file, &value.to_string())
    }

    /// The version that visitors see; none when the article is withdrawn.
    pub(super) fn current(&self) -> Option<&Version> {
        self.versions.last().filter(|_| !self.withdrawn)
    }

    /// Where the article was last.
    pub(super) fn last_path(&self) -> Option<&str> {
        self.versions.last().map(|version| version.path.as_str())
    }

    pub(super) fn has_applied(&self, job: &JobId) -> bool {
        self.applied.contains(job)
    }

    pub(super) fn apply(&mut self, job: JobId) {
        self.applied.push(job);
        self.applied.drain(..self.applied.len().saturating_sub(KEPT));
    }

    pub(super) fn publish(&mut self, version: Version) {
        self.withdrawn = false;
        self.versions.push(version);
        self.versions.drain(..self.versions.len().saturating_sub(KEPT));
    }

    pub(super) fn withdraw(&mut self) {
        self.withdrawn = true;
    }

    /// Goes back to the version before; a withdrawn article comes back as it was. `None` when there is none before.
    pub(super) fn roll_back(&mut self) -> Option<()> {
        if self.withdrawn && !self.versions.is_empty() {
            self.withdrawn = false;
            return Some(());
        }
        if self.versions.len() < 2 {
            return None;
        }
        self.versions.pop();
        Some(())
    }
}
