//! The two places of a static site: pages that visitors see, and what is remembered of them.

use std::io::{self, Read};
use std::path::PathBuf;

use super::site_path::SitePath;
use super::tree::{MAX_PAGE_BYTES, Tree};
use crate::private_file;

/// The largest file of the state folder that is read, in bytes: 20 versions of an article, each a page.
const MAX_STATE_BYTES: u64 = 20 * 2 * MAX_PAGE_BYTES;

/// Reads and changes pages and what is remembered. Each change happens as a whole or not at all.
pub(super) trait Disk {
    /// The bytes of a page; none if there is none.
    fn page(&self, page: &SitePath) -> io::Result<Option<Vec<u8>>>;
    /// Fails if the page could not be written.
    fn check_page(&self, page: &SitePath) -> io::Result<()>;
    fn write_page(&self, page: &SitePath, bytes: &[u8]) -> io::Result<()>;
    fn remove_page(&self, page: &SitePath) -> io::Result<()>;
    /// What is remembered under a name; none if nothing is.
    fn state(&self, name: &str) -> io::Result<Option<Vec<u8>>>;
    fn write_state(&self, name: &str, bytes: &[u8]) -> io::Result<()>;
    fn remove_state(&self, name: &str) -> io::Result<()>;
}

/// A folder that the web server serves, and a private one beside it.
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
