//! TLS: the certificate of the files, and its replacement.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use reqwest::{Certificate, Client};

use crate::serve::{Running, fails, read_all, until};

const ONE: (&str, &str) = (include_str!("../../tls/one.crt"), include_str!("../../tls/one.key"));
const TWO: (&str, &str) = (include_str!("../../tls/two.crt"), include_str!("../../tls/two.key"));

fn install(folder: &Path, certificate: &str, key: &str) {
    fs::write(folder.join("tls.crt"), certificate).expect("written");
    fs::write(folder.join("tls.key"), key).expect("written");
}

fn start(folder: &Path, flags: &[&str]) -> Running {
    let files = ["--tls-certificate", "tls.crt", "--tls-key", "tls.key"];
    Running::start(folder, &[&files, flags].concat())
}

/// Returns whether a client that trusts only this certificate gets an answer over a new connection.
async fn is_served(address: &str, certificate: &str) -> bool {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let trusted = Certificate::from_pem(certificate.as_bytes()).expect("a certificate");
    let client = Client::builder().no_proxy().tls_certs_only([trusted]).build().expect("a client");
    client.get(format!("{address}/livez")).send().await.is_ok_and(|response| response.status() == 200)
}

#[tokio::test]
async fn serves_the_certificate_of_the_files_and_follows_them() {
    let folder = tempfile::tempdir().expect("a folder");
    install(folder.path(), ONE.0, ONE.1);
    let running = start(folder.path(), &["--log", "info", "--tls-reload-interval", "1"]);
    assert!(running.address().starts_with("https://"));
    assert!(is_served(running.address(), ONE.0).await);
    assert!(!is_served(running.address(), TWO.0).await);

    // Files that do not belong together: the old certificate stays, and one line says why.
    install(folder.path(), TWO.0, ONE.1);
    until(async || running.log().contains("the old one stays")).await;
    assert!(is_served(running.address(), ONE.0).await);
    install(folder.path(), TWO.0, TWO.1);
    until(async || is_served(running.address(), TWO.0).await).await;
    assert!(!is_served(running.address(), ONE.0).await);
    let log = running.stop();
    assert_eq!(log.matches("the old one stays").count(), 1, "{log}");
    assert!(log.contains("the TLS certificate was replaced") && !log.contains("PRIVATE KEY"));
}

#[test]
fn refuses_files_that_cannot_be_used() {
    let folder = tempfile::tempdir().expect("a folder");
    let flags = ["serve", "--listen", "127.0.0.1:0", "--tls-certificate", "tls.crt", "--tls-key", "tls.key"];
    let (_, error) = fails(folder.path(), &flags);
    assert!(error.contains("cannot read tls.crt"), "{error}");
    install(folder.path(), ONE.0, TWO.1);
    let (_, error) = fails(folder.path(), &flags);
    assert!(error.contains("tls.key cannot be used with the certificate tls.crt"), "{error}");
    install(folder.path(), "", ONE.1);
    assert!(fails(folder.path(), &flags).1.contains("invalid TLS certificate"));
    install(folder.path(), ONE.0, ONE.0);
    assert!(fails(folder.path(), &flags).1.contains("invalid TLS key"));
}

#[tokio::test]
async fn a_client_that_does_not_speak_tls_or_says_nothing_is_dropped() {
    let folder = tempfile::tempdir().expect("a folder");
    install(folder.path(), ONE.0, ONE.1);
    let running = start(folder.path(), &["--connection-timeout", "1"]);
    let connect = || {
        let stream = TcpStream::connect(running.authority()).expect("connected");
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("set");
        stream
    };
    let mut silent = connect();
    let mut plain = connect();
    plain.write_all(b"GET /livez HTTP/1.1\r\nhost: x\r\n\r\n").expect("written");
    assert!(!read_all(&mut plain).contains("200 OK"));
    assert_eq!(silent.read(&mut [0]).expect("closed, not timed out"), 0);
    assert!(is_served(running.address(), ONE.0).await);
    let _waiting = connect();
    running.stop();
}
