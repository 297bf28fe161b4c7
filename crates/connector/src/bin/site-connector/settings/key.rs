//! The file of the service's key, which encrypts the secrets in the database.

use std::fs::{self, DirBuilder};
use std::io;
use std::path::{Path, PathBuf};

use chat_connector::private_file::PrivateFile;
use chat_service::ServiceKey;
use chat_service::ops::{generate_key, has_key, parse_key};
use secrecy::ExposeSecret;
use tracing::warn;

use crate::failure::Failure;

/// A key, and whether its file has just been created.
#[derive(Debug)]
pub(crate) struct KeyFile {
    pub(crate) key: ServiceKey,
    pub(crate) path: PathBuf,
    pub(crate) is_new: bool,
}

/// Reads a key file; `None` if there is none.
pub(crate) fn read(path: &Path) -> Result<Option<ServiceKey>, Failure> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Failure::new(format!("cannot read {}: {error}", path.display()))),
    };
    let key = parse_key(&text).ok_or_else(|| {
        Failure::new(format!(
            "invalid key file {}: expected 32 bytes in base64, as in its backup",
            path.display()
        ))
    })?;
    if is_readable_by_others(path) {
        warn!("other users can read the key file {}: run chmod 600 on it", path.display());
    }
    Ok(Some(key))
}

/// Reads a key file, or creates it for a service that begins. A missing key of existing data is an error,
/// because a new one could not decrypt what is stored.
pub(crate) async fn read_or_create(path: &Path, database: &str) -> Result<KeyFile, Failure> {
    if let Some(key) = read(path)? {
        return Ok(KeyFile { key, path: path.to_owned(), is_new: false });
    }
    let has_data = !is_postgres(database)
        && fs::metadata(database).is_ok_and(|found| found.len() > 0)
        && has_key(Path::new(database)).await;
    if has_data {
        return Err(Failure::new(format!(
            "there is data in {database}, but its key file {} is missing: put its copy there, or name it with --key-file",
            path.display()
        )));
    }
    let failed =
        |error: io::Error| Failure::new(format!("cannot create the key file {}: {error}", path.display()));
    create_folder_of(path).map_err(failed)?;
    let text = generate_key();
    let mut file = PrivateFile::begin(path).map_err(failed)?;
    file.write(format!("{}\n", text.expose_secret()).as_bytes()).map_err(failed)?;
    // Of two processes that start at once, one creates the file.
    file.persist(false).map_err(|error| failed(io::Error::other(error.to_string())))?;
    let key = parse_key(text.expose_secret()).ok_or_else(|| failed(io::ErrorKind::InvalidData.into()))?;
    Ok(KeyFile { key, path: path.to_owned(), is_new: true })
}

impl KeyFile {
    /// Removes a file that was created for a database which has another key already.
    pub(crate) fn discard(&self) {
        if self.is_new
            && let Err(error) = fs::remove_file(&self.path)
        {
            warn!("cannot remove {}: {error}", self.path.display());
        }
    }
}

/// Creates the folder of a file, accessible to its owner only. An existing folder stays as it is.
pub(crate) fn create_folder_of(path: &Path) -> io::Result<()> {
    let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) else { return Ok(()) };
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Returns whether an address is that of a PostgreSQL server.
pub(crate) fn is_postgres(database: &str) -> bool {
    database.starts_with("postgres://") || database.starts_with("postgresql://")
}

#[cfg(unix)]
pub(crate) fn is_readable_by_others(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
pub(crate) fn is_readable_by_others(_: &Path) -> bool {
    false
}
