//! The record of one article: its versions, and the jobs that were applied.

use std::io;

use chat_protocol::{Fields, JobId, Value};

use super::disk::Disk;

/// Maximum versions, applied jobs and paths that are remembered.
const MAX_VERSIONS: usize = 20;

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
    /// The current and former paths. The article is removed from the former ones.
    paths: Vec<String>,
}

impl Record {
    /// Reads the record of an article; empty if there is none.
    pub(super) fn read(disk: &impl Disk, article: &str) -> io::Result<Self> {
        let Some(bytes) = disk.state(&name(article))? else { return Ok(Self::default()) };
        let value: Value = serde_json::from_slice(&bytes)?;
        let mut fields = Fields::of(value).map_err(io::Error::other)?;
        let mut record = Self {
            withdrawn: fields.lenient_bool("withdrawn").unwrap_or(false),
            applied: fields.lenient_texts("applied").into_iter().map(JobId::from).collect(),
            paths: fields.lenient_texts("paths"),
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

    pub(super) fn write(&self, disk: &impl Disk, article: &str) -> io::Result<()> {
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
            ("paths", self.paths.iter().map(String::as_str).collect()),
        ]);
        disk.write_state(&name(article), value.to_string().as_bytes())
    }

    /// Returns the published version; `None` if the article is withdrawn.
    pub(super) fn current(&self) -> Option<&Version> {
        self.versions.last().filter(|_| !self.withdrawn)
    }

    /// Returns whether the article was published here.
    pub(super) fn is_known(&self) -> bool {
        !self.paths.is_empty()
    }

    /// Returns the current and former paths.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().map(String::as_str)
    }

    /// Returns the paths where the article is no longer published.
    pub(super) fn former_paths(&self) -> impl Iterator<Item = &str> {
        let current = self.current().map(|version| version.path.as_str());
        self.paths.iter().map(String::as_str).filter(move |path| Some(*path) != current)
    }

    pub(super) fn has_applied(&self, job: &JobId) -> bool {
        self.applied.contains(job)
    }

    pub(super) fn apply(&mut self, job: JobId) {
        self.applied.push(job);
        self.applied.drain(..self.applied.len().saturating_sub(MAX_VERSIONS));
    }

    pub(super) fn publish(&mut self, version: Version) {
        self.withdrawn = false;
        self.paths.retain(|path| *path != version.path);
        self.paths.push(version.path.clone());
        self.paths.drain(..self.paths.len().saturating_sub(MAX_VERSIONS));
        self.versions.push(version);
        self.versions.drain(..self.versions.len().saturating_sub(MAX_VERSIONS));
    }

    pub(super) fn withdraw(&mut self) {
        self.withdrawn = true;
    }

    /// Restores the previous version; a withdrawn article is published again. The first version is rolled
    /// back only to an original page. Returns whether there was a version to restore.
    pub(super) fn roll_back(&mut self, has_original: bool) -> bool {
        if self.withdrawn && !self.versions.is_empty() {
            self.withdrawn = false;
            return true;
        }
        let least = if has_original { 1 } else { 2 };
        self.versions.len() >= least && self.versions.pop().is_some()
    }
}

fn name(article: &str) -> String {
    format!("articles/{article}.json")
}
