//! TLS with a certificate from files, which are read again when they change.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use rustls::ServerConfig;
use rustls::crypto::CryptoProvider;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tokio_rustls::TlsAcceptor;
use tracing::{info, warn};

mod validity;

pub use validity::{Validity, validity};

/// The files of a certificate and its key, in PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate, followed by those of its issuers.
    pub certificate: PathBuf,
    /// The private key.
    pub key: PathBuf,
}

/// The files cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file contains no certificate.
    #[error("invalid TLS certificate: expected PEM (-----BEGIN CERTIFICATE-----), {} has none", .0.display())]
    NoCertificate(PathBuf),
    /// The file contains no private key.
    #[error("invalid TLS key: expected PEM (-----BEGIN PRIVATE KEY-----) without a password, {} has none", .0.display())]
    NoKey(PathBuf),
    /// The key does not belong to the certificate, or is of an unknown kind.
    #[error("the TLS key {} cannot be used with the certificate {}: {reason}", files.key.display(), files.certificate.display())]
    Mismatch {
        /// The files.
        files: TlsFiles,
        /// The problem with them.
        reason: String,
    },
}

/// The certificate that is in use, and the contents of the files that it comes from.
#[derive(Debug)]
struct Loaded {
    certified: Arc<CertifiedKey>,
    contents: (Vec<u8>, Vec<u8>),
}

/// The certificate of a server. It follows its files.
#[derive(Debug)]
pub(crate) struct Certificate {
    files: TlsFiles,
    provider: Arc<CryptoProvider>,
    loaded: RwLock<Loaded>,
}

impl Certificate {
    pub(crate) fn load(files: TlsFiles) -> Result<Arc<Self>, TlsError> {
        let provider = Arc::new(default_provider());
        let contents = read(&files)?;
        let certified = Arc::new(certified(&files, &contents, &provider)?);
        Ok(Arc::new(Self { files, provider, loaded: RwLock::new(Loaded { certified, contents }) }))
    }

    /// Returns the settings of connections with this certificate.
    pub(crate) fn acceptor(self: &Arc<Self>) -> Result<TlsAcceptor, rustls::Error> {
        let mut config = ServerConfig::builder_with_provider(Arc::clone(&self.provider))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_cert_resolver(Arc::<Self>::clone(self));
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }

    /// Looks at the files at an interval, and reads them again whenever they have changed. Never ends.
    pub(crate) async fn follow(self: Arc<Self>, interval: Duration) {
        let mut is_reported = false;
        loop {
            tokio::time::sleep(interval).await;
            match self.reload() {
                Ok(false) => is_reported = false,
                Ok(true) => info!("the TLS certificate was replaced"),
                // While both files are being replaced, they do not belong together for a moment.
                Err(error) if !is_reported => {
                    is_reported = true;
                    warn!("the TLS certificate has changed and cannot be used; the old one stays: {error}");
                }
                Err(_) => {}
            }
        }
    }

    /// Reads the files, and uses them if they have changed. Returns whether they have.
    fn reload(&self) -> Result<bool, TlsError> {
        let contents = read(&self.files)?;
        if self.loaded.read().unwrap_or_else(PoisonError::into_inner).contents == contents {
            return Ok(false);
        }
        let certified = Arc::new(certified(&self.files, &contents, &self.provider)?);
        *self.loaded.write().unwrap_or_else(PoisonError::into_inner) = Loaded { certified, contents };
        Ok(true)
    }
}

impl ResolvesServerCert for Certificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.loaded.read().unwrap_or_else(PoisonError::into_inner).certified))
    }
}

/// Returns the certificates of a file, the server's own first.
pub(crate) fn certificates(path: &Path, text: &[u8]) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(text).collect();
    chain.ok().filter(|chain| !chain.is_empty()).ok_or_else(|| TlsError::NoCertificate(path.to_owned()))
}

fn read(files: &TlsFiles) -> Result<(Vec<u8>, Vec<u8>), TlsError> {
    let read =
        |path: &Path| fs::read(path).map_err(|source| TlsError::File { path: path.to_owned(), source });
    Ok((read(&files.certificate)?, read(&files.key)?))
}

fn certified(
    files: &TlsFiles,
    (certificate, key): &(Vec<u8>, Vec<u8>),
    provider: &CryptoProvider,
) -> Result<CertifiedKey, TlsError> {
    let chain = certificates(&files.certificate, certificate)?;
    let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| TlsError::NoKey(files.key.clone()))?;
    CertifiedKey::from_der(chain, key, provider)
        .map_err(|error| TlsError::Mismatch { files: files.clone(), reason: error.to_string() })
}
