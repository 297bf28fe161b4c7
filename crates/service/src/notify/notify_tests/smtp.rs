//! A small SMTP server, which speaks the protocol on real connections, with STARTTLS if it has a certificate.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use tokio::sync::Notify;

use crate::SmtpOptions;

/// An e-mail as it arrived.
#[derive(Clone, Debug)]
pub(crate) struct Mail {
    pub(crate) recipients: Vec<String>,
    /// Header and body, with the lines as they were sent.
    pub(crate) data: String,
    pub(crate) encrypted: bool,
}

impl Mail {
    /// Returns a header, with its continuation lines.
    pub(crate) fn header(&self, name: &str) -> String {
        let (head, _) = self.data.split_once("\r\n\r\n").expect("a head");
        let unfolded = head.replace("\r\n ", " ").replace("\r\n\t", " ");
        let prefix = format!("{name}: ");
        let values: Vec<&str> = unfolded.lines().filter_map(|line| line.strip_prefix(&prefix)).collect();
        assert!(values.len() <= 1, "{name} is there once: {values:?}");
        values.first().copied().unwrap_or_default().to_owned()
    }

    /// Returns the text without the line breaks of quoted-printable.
    pub(crate) fn text(&self) -> String {
        self.data.replace("=\r\n", "").replace("=3D", "=")
    }
}

/// The behaviour of the server.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Behaviour {
    /// The answer to every recipient with this beginning, instead of 250.
    pub(crate) refuse: Option<(&'static str, &'static str)>,
    /// The answer to each message, instead of 250.
    pub(crate) data: Option<&'static str>,
    /// Offers no encryption, although it has a certificate.
    pub(crate) hide_tls: bool,
    /// Takes each message, and then closes the connection without an answer.
    pub(crate) hang_up: bool,
    /// The percentage of e-mails whose connection breaks: when they are begun, before their text, or between
    /// it and its answer.
    pub(crate) lost: u8,
    /// Never answers `QUIT`.
    pub(crate) ignore_quit: bool,
}

/// A certificate for `localhost`, and its key.
#[derive(Clone)]
pub(crate) struct Identity {
    pub(crate) certificate: String,
    key: String,
}

impl Identity {
    pub(crate) fn generate() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let [key, certificate] = ["key.pem", "certificate.pem"].map(|name| folder.path().join(name));
        let output = Command::new("openssl")
            .args(["req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=localhost"])
            .args(["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"])
            .args(["-addext", "subjectAltName=DNS:localhost"])
            .args(["-addext", "basicConstraints=critical,CA:FALSE"])
            .arg("-keyout")
            .arg(&key)
            .arg("-out")
            .arg(&certificate)
            .output()
            .expect("openssl is installed");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let read = |path| std::fs::read_to_string(path).expect("a file");
        Self { certificate: read(certificate), key: read(key) }
    }

    fn config(&self) -> Arc<ServerConfig> {
        let certificate = CertificateDer::from_pem_slice(self.certificate.as_bytes()).expect("a certificate");
        let key = PrivateKeyDer::from_pem_slice(self.key.as_bytes()).expect("a key");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = config.expect("versions").with_no_client_auth();
        Arc::new(config.with_single_cert(vec![certificate], key).expect("a configuration"))
    }
}

#[derive(Default)]
struct Shared {
    mails: Mutex<Vec<Mail>>,
    /// Commands that came without encryption.
    plain: Mutex<Vec<String>>,
    behaviour: Mutex<Behaviour>,
    arrived: Notify,
}

/// A server on a port of its own. Its threads end with the test.
#[derive(Clone)]
pub(crate) struct SmtpServer {
    pub(crate) port: u16,
    shared: Arc<Shared>,
}

impl SmtpServer {
    pub(crate) fn start() -> Self {
        Self::listen(TcpListener::bind("127.0.0.1:0").expect("a port"), None)
    }

    pub(crate) fn start_with(identity: &Identity) -> Self {
        Self::listen(TcpListener::bind("127.0.0.1:0").expect("a port"), Some(identity.config()))
    }

    pub(crate) fn listen(listener: TcpListener, tls: Option<Arc<ServerConfig>>) -> Self {
        let port = listener.local_addr().expect("an address").port();
        let server = Self { port, shared: Arc::default() };
        let shared = Arc::clone(&server.shared);
        std::thread::spawn(move || {
            for connection in listener.incoming() {
                let (shared, tls) = (Arc::clone(&shared), tls.clone());
                // A connection that breaks off ends its thread.
                std::thread::spawn(move || converse(&shared, connection.ok()?, tls).ok());
            }
        });
        server
    }

    /// Returns settings for this server, without encryption.
    pub(crate) fn options(&self) -> SmtpOptions {
        let mut options = SmtpOptions::new("127.0.0.1", "Chat <chat@service.example>");
        options.port = self.port;
        options.tls = crate::SmtpTls::None;
        options
    }

    pub(crate) fn behave(&self, behaviour: Behaviour) {
        *self.shared.behaviour.lock().expect("no panic") = behaviour;
    }

    pub(crate) fn mails(&self) -> Vec<Mail> {
        self.shared.mails.lock().expect("no panic").clone()
    }

    /// Returns the commands that came without encryption.
    pub(crate) fn plain_commands(&self) -> Vec<String> {
        self.shared.plain.lock().expect("no panic").clone()
    }

    pub(crate) async fn wait_for(&self, count: usize) {
        let arrived = async {
            loop {
                let next = self.shared.arrived.notified();
                if self.mails().len() >= count {
                    return;
                }
                next.await;
            }
        };
        super::in_time(arrived).await;
    }
}

/// Speaks with a client until it leaves.
fn converse(shared: &Shared, connection: TcpStream, tls: Option<Arc<ServerConfig>>) -> std::io::Result<()> {
    connection.set_read_timeout(Some(Duration::from_mins(1)))?;
    let mut plain = connection.try_clone()?;
    plain.write_all(b"220 localhost ESMTP\r\n")?;
    let Some(()) = session(shared, BufReader::new(plain), tls.is_some(), false)? else { return Ok(()) };
    let Some(config) = tls else { return Ok(()) };
    let server = ServerConnection::new(config).map_err(std::io::Error::other)?;
    session(shared, BufReader::new(StreamOwned::new(server, connection)), false, true)?;
    Ok(())
}

/// Answers commands, until the client leaves (`None`) or begins with TLS.
fn session<S: Read + Write>(
    shared: &Shared,
    mut stream: BufReader<S>,
    offers_tls: bool,
    encrypted: bool,
) -> std::io::Result<Option<()>> {
    let mut recipients: Vec<String> = Vec::new();
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let line = line.trim_end();
        if !encrypted {
            shared.plain.lock().expect("no panic").push(line.to_owned());
        }
        let behaviour = *shared.behaviour.lock().expect("no panic");
        let offers_tls = offers_tls && !behaviour.hide_tls;
        let breaks = || fastrand::u8(..100) < behaviour.lost / 3;
        let command = line.split(' ').next().unwrap_or_default().to_ascii_uppercase();
        let answer = match command.as_str() {
            "EHLO" if offers_tls => "250-localhost\r\n250-STARTTLS\r\n250 8BITMIME".to_owned(),
            "EHLO" => "250-localhost\r\n250-AUTH PLAIN\r\n250 8BITMIME".to_owned(),
            "STARTTLS" if offers_tls => {
                stream.get_mut().write_all(b"220 go ahead\r\n")?;
                return Ok(Some(()));
            }
            "AUTH" if line == "AUTH PLAIN AHVzZXIAcGFzcw==" => "235 welcome".to_owned(),
            "AUTH" => "535 who are you?".to_owned(),
            "RCPT" => match behaviour.refuse {
                Some((name, answer)) if line.contains(name) => answer.to_owned(),
                _ => {
                    recipients.push(line.trim_start_matches("RCPT TO:").to_owned());
                    "250 ok".to_owned()
                }
            },
            "MAIL" | "DATA" if breaks() => return Ok(None),
            "DATA" => {
                stream.get_mut().write_all(b"354 go ahead\r\n")?;
                let data = read_data(&mut stream)?;
                let recipients = std::mem::take(&mut recipients);
                if behaviour.data.is_none() {
                    let mail = Mail { recipients, data, encrypted };
                    shared.mails.lock().expect("no panic").push(mail);
                    shared.arrived.notify_waiters();
                }
                if behaviour.hang_up || breaks() {
                    return Ok(None);
                }
                behaviour.data.unwrap_or("250 accepted").to_owned()
            }
            "MAIL" | "NOOP" | "RSET" => "250 ok".to_owned(),
            "QUIT" if behaviour.ignore_quit => continue,
            "QUIT" => "221 bye".to_owned(),
            _ => "500 what?".to_owned(),
        };
        stream.get_mut().write_all(answer.as_bytes())?;
        stream.get_mut().write_all(b"\r\n")?;
        stream.get_mut().flush()?;
    }
}

/// Reads a message up to the line with a single dot.
fn read_data(stream: &mut impl BufRead) -> std::io::Result<String> {
    let mut data = String::new();
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        if line == ".\r\n" {
            return Ok(data);
        }
        data.push_str(line.strip_prefix('.').unwrap_or(&line));
    }
}
