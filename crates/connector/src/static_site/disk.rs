//! The storage of a static site: the published pages, and the private state.

use std::io::{self, Read};
use std::path::PathBuf;

use super::site_path::SitePath;
use super::tree::{MAX_PAGE_BYTES, Tree};
use crate::private_file;

/// Maximum size of a state file, in bytes: 20 versions of an article.
const MAX_STATE_BYTES: u64 = 20 * 2 * MAX_PAGE_BYTES;

/// Reads and changes pages and state. Each change is atomic.
pub(super) trait Disk {
    /// Reads a page; `None` if it does not exist.
    fn page(&self, page: &SitePath) -> io::Result<Option<Vec<u8>>>;
    /// Fails if the page could not be written.
    fn check_page(&self, page: &SitePath) -> io::Result<()>;
    fn write_page(&self, page: &SitePath, bytes: &[u8]) -> io::Result<()>;
    fn remove_page(&self, page: &SitePath) -> io::Result<()>;
    /// Reads the state under a name; `None` if it does not exist.
    fn state(&self, name: &str) -> io::Result<Option<Vec<u8>>>;
    fn write_state(&self, name: &str, bytes: &[u8]) -> io::Result<()>;
    fn remove_state(&self, name: &str) -> io::Result<()>;
}

/// The folder that the web server serves, and the state folder.
#[derive(Debug)]
pub(super) struct SiteDisk {
    pub(super) tree: Tree,
    pub(super) state: PathBuf,
}

impl Disk for SiteDisk {
    fn page(&self, page: &SitePath) -> io::Result<Option<Vec<u8>>> {
        self.tree.read(page)
    }

    fn check_page(&self, page: &SitePath) -> io::Result<()> {
        self.tree.check(page)
    }

    fn write_page(&self, page: &SitePath, bytes: &[u8]) -> io::Result<()> {
        self.tree.write(page, bytes)
    }

    fn remove_page(&self, page: &SitePath) -> io::Result<()> {
        self.tree.remove(page)
    }

    fn state(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        let file = match std::fs::File::open(self.state.join(name)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut bytes = Vec::new();
        file.take(MAX_STATE_BYTES).read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }

    fn write_state(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        private_file::write(&self.state.join(name), bytes)
    }

    fn remove_state(&self, name: &str) -> io::Result<()> {
        match std::fs::remove_file(self.state.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}
