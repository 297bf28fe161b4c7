//! The settings of the SMTP server.

use std::net::IpAddr;
use std::time::Duration;

use lettre::message::Mailbox;
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Certificate, Tls, TlsParameters};
use lettre::transport::smtp::extension::ClientId;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use secrecy::{ExposeSecret, SecretString};

use super::connection::Server;

/// The encryption of the connection to an SMTP server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SmtpTls {
    /// Begins without, and switches to TLS before anything is said; usually on port 587.
    StartTls,
    /// Begins with TLS; usually on port 465.
    Tls,
    /// Without encryption; for a server on this machine only.
    None,
}

/// The server that sends e-mails, and what they say.
#[derive(Clone, Debug)]
pub struct SmtpOptions {
    /// The server's host name, which its certificate must have.
    pub host: String,
    /// The server's port.
    pub port: u16,
    /// The encryption of the connection.
    pub tls: SmtpTls,
    /// A certificate in PEM format that is trusted beside those of the system.
    pub root_certificate: Option<Vec<u8>>,
    /// The user name; `None` for a server that needs none.
    pub user: Option<String>,
    /// The password.
    pub password: Option<SecretString>,
    /// The name by which the service introduces itself to the server: a public host name or an IP address.
    /// `None` is the name of this machine, which some servers refuse.
    pub hello: Option<String>,
    /// The sender, such as `Chat <chat@shop.example>`.
    pub from: String,
    /// The address that answers go to; `None` is the sender.
    pub reply_to: Option<String>,
    /// Quotes the beginning of a visitor's message.
    pub excerpts: bool,
    /// The time after which operators are told that a visitor waits for an answer.
    pub unanswered_after: Duration,
}

impl SmtpOptions {
    /// The default time after which operators are told that a visitor waits for an answer.
    pub const UNANSWERED_AFTER: Duration = Duration::from_mins(5);

    /// Returns the default settings for a server and a sender: STARTTLS on port 587, without a user.
    pub fn new(host: impl Into<String>, from: impl Into<String>) -> Self {
        Self {
            host: host.into(),
            port: 587,
            tls: SmtpTls::StartTls,
            root_certificate: None,
            user: None,
            password: None,
            hello: None,
            from: from.into(),
            reply_to: None,
            excerpts: true,
            unanswered_after: Self::UNANSWERED_AFTER,
        }
    }

    /// Checks the settings, without connecting to the server.
    pub fn validate(&self) -> Result<(), SmtpOptionsError> {
        self.mailboxes()?;
        self.server().map(drop)
    }

    /// Returns whether the service can introduce itself by a name.
    pub fn is_hello(name: &str) -> bool {
        client_id(name).is_some()
    }

    /// Returns the sender and the address for answers.
    pub(super) fn mailboxes(&self) -> Result<(Mailbox, Option<Mailbox>), SmtpOptionsError> {
        let from = self.from.parse().map_err(|_| SmtpOptionsError::From(self.from.clone()))?;
        let reply_to = self
            .reply_to
            .as_ref()
            .map(|address| address.parse().map_err(|_| SmtpOptionsError::ReplyTo(address.clone())));
        Ok((from, reply_to.transpose()?))
    }

    /// Returns the server of these settings, or what is wrong with them.
    pub(super) fn server(&self) -> Result<Server, SmtpOptionsError> {
        // Does nothing in an application that has already installed a provider.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let credentials = match (&self.user, &self.password) {
            (Some(user), Some(password)) => {
                Some(Credentials::new(user.clone(), password.expose_secret().to_owned()))
            }
            (None, None) => None,
            _ => return Err(SmtpOptionsError::Credentials),
        };
        Ok(Server {
            host: self.host.clone(),
            port: self.port,
            tls: self.tls()?,
            credentials,
            hello: self.hello()?,
        })
    }

    fn hello(&self) -> Result<ClientId, SmtpOptionsError> {
        let Some(name) = &self.hello else { return Ok(ClientId::default()) };
        client_id(name).ok_or_else(|| SmtpOptionsError::Hello(name.clone()))
    }

    fn tls(&self) -> Result<Tls, SmtpOptionsError> {
        if self.tls == SmtpTls::None {
            return if self.is_loopback() { Ok(Tls::None) } else { Err(SmtpOptionsError::NotEncrypted) };
        }
        let mut parameters = TlsParameters::builder(self.host.clone());
        if let Some(pem) = &self.root_certificate {
            let mut found = false;
            for certificate in CertificateDer::pem_slice_iter(pem) {
                let certificate = certificate.map_err(|_| SmtpOptionsError::RootCertificate)?;
                let certificate =
                    Certificate::from_der(certificate.to_vec()).map_err(SmtpOptionsError::Tls)?;
                parameters = parameters.add_root_certificate(certificate);
                found = true;
            }
            if !found {
                return Err(SmtpOptionsError::RootCertificate);
            }
        }
        let parameters = parameters.build_rustls().map_err(SmtpOptionsError::Tls)?;
        Ok(match self.tls {
            SmtpTls::Tls => Tls::Wrapper(parameters),
            _ => Tls::Required(parameters),
        })
    }

    /// Returns whether the server is on this machine.
    fn is_loopback(&self) -> bool {
        let address: Option<IpAddr> = self.host.parse().ok();
        self.host == "localhost" || address.is_some_and(|address| address.is_loopback())
    }
}

/// Returns the name of a client: a host, or an address, with or without brackets.
fn client_id(name: &str) -> Option<ClientId> {
    match name.trim_start_matches('[').trim_end_matches(']').parse() {
        Ok(IpAddr::V4(address)) => Some(ClientId::Ipv4(address)),
        Ok(IpAddr::V6(address)) => Some(ClientId::Ipv6(address)),
        Err(_) => is_host_name(name).then(|| ClientId::Domain(name.to_owned())),
    }
}

/// Returns whether a text is a host name in ASCII (RFC 1123).
fn is_host_name(text: &str) -> bool {
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    text.len() <= 253 && text.split('.').all(is_label)
}

/// The settings of the SMTP server are not valid.
#[derive(Debug, thiserror::Error)]
pub enum SmtpOptionsError {
    /// The sender is not an address.
    #[error("invalid SMTP sender: expected an address such as Chat <chat@shop.example>, got {0:?}")]
    From(String),
    /// The address for answers is not an address.
    #[error("invalid SMTP reply-to: expected an address such as chat@shop.example, got {0:?}")]
    ReplyTo(String),
    /// The service cannot introduce itself by this name.
    #[error(
        "invalid SMTP hello: expected a host name such as chat.shop.example, or an IP address, got {0:?}"
    )]
    Hello(String),
    /// The connection would carry passwords and visitors' words without encryption.
    #[error(
        "invalid SMTP TLS mode: expected starttls or tls, got none, which is for a server on this machine only"
    )]
    NotEncrypted,
    /// A user name needs a password, and a password a user name.
    #[error("invalid SMTP credentials: expected a user name and a password, or neither")]
    Credentials,
    /// The trusted certificate is not in PEM format.
    #[error("invalid SMTP root certificate: expected a PEM file with -----BEGIN CERTIFICATE-----")]
    RootCertificate,
    /// The certificate or the host name cannot be used for TLS.
    #[error("invalid SMTP TLS settings: {0}")]
    Tls(#[source] lettre::transport::smtp::Error),
}
