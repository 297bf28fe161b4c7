//! The site's folder, opened handle by handle without following links: nothing outside of it is read or
//! written, even if a link is put into it at the same time.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata, OpenOptions};
use tracing::warn;
use uuid::Uuid;

use super::site_path::{SitePath, case_folded, is_html};
use crate::printable::{Printable, is_unprintable};

/// Maximum size of a page, in bytes.
pub(super) const MAX_PAGE_BYTES: u64 = 16 * 1024 * 1024;
/// Maximum pages, entries, bytes and depth of one walk.
const MAX_PAGES: usize = 100_000;
const MAX_ENTRIES: usize = 1_000_000;
const MAX_TOTAL_BYTES: usize = 1024 * 1024 * 1024;
const MAX_DEPTH: usize = 32;

/// A folder of pages.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    root: PathBuf,
}

impl Tree {
    pub(super) fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Reads a page; `None` if it does not exist.
    pub(super) fn read(&self, page: &SitePath) -> io::Result<Option<Vec<u8>>> {
        match self.folder_of(page, false)? {
            Some(folder) => read(&folder, page.file()),
            None => Ok(None),
        }
    }

    /// Fails if the page cannot be written: something else has its name, or a name that differs only in case
    /// or accents exists.
    pub(super) fn check(&self, page: &SitePath) -> io::Result<()> {
        let Some(mut folder) = self.open(false)? else { return Ok(()) };
        for name in page.folders() {
            check_name_collision(&folder, name)?;
            match open_subfolder(&folder, name)? {
                Some(next) => folder = next,
                None => return Ok(()),
            }
        }
        check_name_collision(&folder, page.file())?;
        regular_file(&folder, page.file()).map(drop)
    }

    /// Writes a page atomically, and creates its folders. An existing page keeps its permissions.
    pub(super) fn write(&self, page: &SitePath, bytes: &[u8]) -> io::Result<()> {
        let folder = self.folder_of(page, true)?.ok_or(io::ErrorKind::NotFound)?;
        check_name_collision(&folder, page.file())?;
        let before = regular_file(&folder, page.file())?;
        let unfinished = format!(".{}.tmp", Uuid::new_v4().simple());
        let write = || {
            let mut options = OpenOptions::new();
            options.write(true).create_new(true).follow(FollowSymlinks::No);
            let mut file = folder.open_with(&unfinished, &options)?;
            file.write_all(bytes)?;
            if let Some(before) = before {
                file.set_permissions(before.permissions())?;
            }
            // The journal records the job as done next, so the page must survive a power cut.
            file.sync_all()?;
            folder.rename(&unfinished, &folder, page.file())?;
            sync(&folder);
            Ok(())
        };
        let written = write();
        if written.is_err() {
            let _ = folder.remove_file(&unfinished);
        }
        written
    }

    /// Removes a page if it exists.
    pub(super) fn remove(&self, page: &SitePath) -> io::Result<()> {
        let Some(folder) = self.folder_of(page, false)? else { return Ok(()) };
        if regular_file(&folder, page.file())?.is_some() {
            folder.remove_file(page.file())?;
            sync(&folder);
        }
        Ok(())
    }

    /// Passes each page to `each`, with its path in the folder, in order of the paths. Skips names that begin
    /// with a dot and `404.html`; skips links, pipes, oversized pages and unprintable names with a warning.
    pub(super) fn walk(&self, each: &mut dyn FnMut(&str, Vec<u8>)) -> io::Result<()> {
        self.walk_all(each, &mut |_, _| ())
    }

    /// Walks like [`Self::walk`], and passes the paths of all else to `other`, with whether each is a link:
    /// files that are no pages, what is skipped, and folders, with a slash at their end.
    pub(super) fn walk_all(
        &self,
        each: &mut dyn FnMut(&str, Vec<u8>),
        other: &mut dyn FnMut(&str, bool),
    ) -> io::Result<()> {
        let root = self.open(false)?.ok_or(io::ErrorKind::NotFound)?;
        Walk { pages: 0, entries: 0, bytes: 0, each, other }.folder(&root, "", 0)
    }

    /// Reads a file by its path in the folder; `None` if it does not exist.
    pub(super) fn read_file(&self, path: &str) -> io::Result<Option<Vec<u8>>> {
        let Some(mut folder) = self.open(false)? else { return Ok(None) };
        let mut names: Vec<&str> = path.split('/').filter(|name| !matches!(*name, "" | "." | "..")).collect();
        let Some(file) = names.pop() else { return Ok(None) };
        for name in names {
            match open_subfolder(&folder, name)? {
                Some(next) => folder = next,
                None => return Ok(None),
            }
        }
        read(&folder, file)
    }

    /// The root itself may be a link, as the operator has named it.
    fn open(&self, create: bool) -> io::Result<Option<Dir>> {
        if create {
            std::fs::create_dir_all(&self.root)?;
        }
        none_if_missing(Dir::open_ambient_dir(&self.root, ambient_authority()))
    }

    /// Opens the folder of a page. If it does not exist, creates it or returns `None`.
    fn folder_of(&self, page: &SitePath, create: bool) -> io::Result<Option<Dir>> {
        let Some(mut folder) = self.open(create)? else { return Ok(None) };
        for name in page.folders() {
            if create {
                check_name_collision(&folder, name)?;
            }
            folder = match open_subfolder(&folder, name)? {
                Some(next) => next,
                None if create => {
                    folder.create_dir(name)?;
                    sync(&folder);
                    open_subfolder(&folder, name)?.ok_or(io::ErrorKind::NotFound)?
                }
                None => return Ok(None),
            };
        }
        Ok(Some(folder))
    }
}

/// Opens a subfolder; `None` if it does not exist.
fn open_subfolder(folder: &Dir, name: &str) -> io::Result<Option<Dir>> {
    match none_if_missing(folder.symlink_metadata(name))? {
        None => return Ok(None),
        Some(metadata) if metadata.is_dir() => {}
        Some(metadata) => return Err(wrong_file_kind(name, &metadata, "a folder")),
    }
    // A link that has replaced it since is not followed.
    none_if_missing(folder.open_dir_nofollow(name))
}

/// Reads a regular file of limited size; `None` if it does not exist. Never blocks: a pipe is opened
/// non-blocking, and refused.
fn read(folder: &Dir, name: &str) -> io::Result<Option<Vec<u8>>> {
    if regular_file(folder, name)?.is_none() {
        return Ok(None);
    }
    let mut options = OpenOptions::new();
    options.read(true).follow(FollowSymlinks::No).nonblock(true);
    let Some(file) = none_if_missing(folder.open_with(name, &options))? else { return Ok(None) };
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(wrong_file_kind(name, &metadata, "a regular file"));
    }
    let mut bytes = Vec::new();
    file.take(MAX_PAGE_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_PAGE_BYTES {
        let text = format!("{} has more than 16 MiB", Printable(name));
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
    }
    Ok(Some(bytes))
}

/// Returns the metadata of a regular file; `None` if it does not exist. Fails for anything else.
fn regular_file(folder: &Dir, name: &str) -> io::Result<Option<Metadata>> {
    match none_if_missing(folder.symlink_metadata(name))? {
        Some(metadata) if !metadata.is_file() => Err(wrong_file_kind(name, &metadata, "a regular file")),
        metadata => Ok(metadata),
    }
}

/// Fails if the folder has a name that differs from this one only in case or accents.
fn check_name_collision(folder: &Dir, name: &str) -> io::Result<()> {
    let wanted = case_folded(name);
    let mut twin = None;
    for (seen, entry) in folder.entries()?.enumerate() {
        if seen > MAX_ENTRIES {
            return Err(io::Error::other("a folder has more than 1,000,000 entries"));
        }
        let entry = entry?.file_name();
        let Some(entry) = entry.to_str() else { continue };
        if entry == name {
            return Ok(());
        }
        if case_folded(entry) == wanted {
            twin = Some(entry.to_owned());
        }
    }
    let Some(twin) = twin else { return Ok(()) };
    Err(io::Error::other(format!(
        "{} differs from {} only in case or accents, which many systems do not tell apart: use one of the two names",
        Printable(name),
        Printable(&twin)
    )))
}

fn wrong_file_kind(name: &str, metadata: &Metadata, expected: &str) -> io::Error {
    let got = if metadata.is_symlink() {
        "a link, and links are not followed"
    } else if metadata.is_dir() {
        "a folder"
    } else if metadata.is_file() {
        "a file"
    } else {
        "a pipe, socket or device"
    };
    io::Error::other(format!(
        "{} in the site's folder is not usable: expected {expected}, got {got}",
        Printable(name)
    ))
}

fn none_if_missing<T>(outcome: io::Result<T>) -> io::Result<Option<T>> {
    match outcome {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Flushes a folder, where the system supports it.
fn sync(folder: &Dir) {
    if let Ok(folder) = folder.try_clone() {
        let _ = folder.into_std_file().sync_all();
    }
}

/// The state of a walk through the folder.
struct Walk<'a> {
    pages: usize,
    entries: usize,
    bytes: usize,
    each: &'a mut dyn FnMut(&str, Vec<u8>),
    other: &'a mut dyn FnMut(&str, bool),
}

impl Walk<'_> {
    fn folder(&mut self, folder: &Dir, below: &str, depth: usize) -> io::Result<()> {
        let too_much = |what: &str| {
            Err(io::Error::other(format!("the folder has {what}: check that it is the site's folder")))
        };
        if depth > MAX_DEPTH {
            return too_much("folders in each other, more than 32 deep");
        }
        let mut names = Vec::new();
        for entry in folder.entries()? {
            let entry = entry?;
            self.entries += 1;
            if self.entries > MAX_ENTRIES {
                return too_much("more than 1,000,000 files");
            }
            names.push((entry.file_name(), entry.file_type()?));
        }
        names.sort_by(|one, other| one.0.cmp(&other.0));
        for (name, kind) in names {
            let Some(text) = name.to_str().filter(|text| !text.chars().any(is_unprintable)) else {
                let name = name.to_string_lossy();
                warn!("skipped {}: no address can have this name", Printable(&format!("{below}{name}")));
                continue;
            };
            let path = format!("{below}{text}");
            if text.starts_with('.') || matches!(text, "404.html" | "404.htm") {
                (self.other)(&path, false);
                continue;
            }
            if !is_html(text) || !kind.is_file() {
                let path = if kind.is_dir() { format!("{path}/") } else { path.clone() };
                (self.other)(&path, kind.is_symlink());
            }
            if kind.is_dir() {
                // It may have been replaced since.
                let Some(inner) = open_subfolder(folder, text)? else { continue };
                self.folder(&inner, &format!("{path}/"), depth + 1)?;
            } else if kind.is_symlink() {
                if is_html(text) || Path::new(text).extension().is_none() {
                    warn!("skipped {}: it is a link, and links are not followed", Printable(&path));
                }
            } else if is_html(text) && !kind.is_file() {
                warn!("skipped {}: it is not a regular file", Printable(&path));
            } else if is_html(text) {
                self.pages += 1;
                if self.pages > MAX_PAGES {
                    return too_much("more than 100,000 pages");
                }
                let bytes = match read(folder, text) {
                    Ok(Some(bytes)) => bytes,
                    Ok(None) => continue,
                    Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                        warn!("skipped {}: it has more than 16 MiB", Printable(&path));
                        (self.other)(&path, false);
                        continue;
                    }
                    Err(error) => {
                        return Err(io::Error::new(error.kind(), format!("{}: {error}", Printable(&path))));
                    }
                };
                self.bytes += bytes.len();
                if self.bytes > MAX_TOTAL_BYTES {
                    return too_much("more than 1 GiB of pages");
                }
                (self.each)(&path, bytes);
            }
        }
        Ok(())
    }
}
