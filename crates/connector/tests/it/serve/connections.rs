//! Limits of connections, clients behind reverse proxies, and an orderly end.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::serve::{Running, get, read_all, until};

fn connect(running: &Running) -> TcpStream {
    let stream = TcpStream::connect(running.authority()).expect("connected");
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("set");
    stream
}

#[tokio::test]
async fn slow_heads_and_idle_connections_are_closed() {
    let folder = tempfile::tempdir().expect("a folder");
    let running = Running::start(folder.path(), &["--connection-timeout", "1"]);
    let mut silent = connect(&running);
    let mut half = connect(&running);
    half.write_all(b"GET /livez HTTP/1.1\r\nho").expect("written");
    let mut idle = connect(&running);
    idle.write_all(b"GET /livez HTTP/1.1\r\nhost: x\r\n\r\n").expect("written");
    let began = Instant::now();
    for stream in [&mut silent, &mut half, &mut idle] {
        read_all(stream);
    }
    assert!(began.elapsed() < Duration::from_secs(20), "all were closed by the service");
}

#[tokio::test]
async fn connections_beyond_the_limit_of_one_address_get_503() {
    let folder = tempfile::tempdir().expect("a folder");
    let running = Running::start(folder.path(), &["--connections-per-address", "2"]);
    // An answer shows that the connection is counted.
    let open: Vec<_> = (0..2)
        .map(|_| {
            let mut stream = connect(&running);
            stream.write_all(b"GET /livez HTTP/1.1\r\nhost: x\r\n\r\n").expect("written");
            assert_ne!(stream.read(&mut [0; 512]).expect("an answer"), 0);
            stream
        })
        .collect();
    assert!(read_all(&mut connect(&running)).starts_with("HTTP/1.1 503"));
    let metrics = get(running.text("metrics")).await;
    assert_eq!(metrics.0, 200, "the operator's port is not affected");
    drop(open);
    until(async || {
        let mut stream = connect(&running);
        let _ = stream.write_all(b"GET /livez HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        read_all(&mut stream).starts_with("HTTP/1.1 200")
    })
    .await;
}

#[tokio::test]
async fn warns_about_a_reverse_proxy_that_is_not_trusted() {
    let folder = tempfile::tempdir().expect("a folder");
    let warned = async |flags: &[&str]| {
        let running = Running::start(folder.path(), flags);
        for client in ["198.51.100.1", "198.51.100.2"] {
            let request = crate::serve::http()
                .get(format!("{}/livez", running.address()))
                .header("x-forwarded-for", client);
            assert_eq!(request.send().await.expect("an answer").status(), 200);
        }
        let log = running.stop();
        assert!(!log.contains("198.51.100"), "the log contains no visitors: {log}");
        log.matches("--trusted-hop 127.0.0.1").count()
    };
    assert_eq!(warned(&[]).await, 1);
    assert_eq!(warned(&["--trusted-hop", "127.0.0.1"]).await, 0);
}

#[tokio::test]
async fn idle_connections_do_not_delay_the_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let running = Running::start(folder.path(), &["--grace", "30"]);
    let mut idle = connect(&running);
    idle.write_all(b"GET /livez HTTP/1.1\r\nhost: x\r\n\r\n").expect("written");
    assert_ne!(idle.read(&mut [0; 512]).expect("an answer"), 0);
    let began = Instant::now();
    running.stop();
    assert!(began.elapsed() < Duration::from_secs(15));
}

#[tokio::test]
async fn an_endless_request_is_aborted_after_the_grace_period() {
    let folder = tempfile::tempdir().expect("a folder");
    let running = Running::start(folder.path(), &["--grace", "1"]);
    let mut stream = connect(&running);
    stream
        .write_all(
            b"POST /api/connector/v1/chat/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n{",
        )
        .expect("written");
    let began = Instant::now();
    running.stop();
    assert!(began.elapsed() < Duration::from_secs(20));
}

#[tokio::test]
async fn a_request_in_progress_is_finished_before_the_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let running = Running::start(folder.path(), &[]);
    let site = crate::serve::json(folder.path(), &["admin", "site", "create", "--name", "Shop"]);
    let site = site["site"]["id"].as_str().expect("an id");
    let token = crate::serve::json(folder.path(), &["admin", "token", "create", "--site", site]);
    let body = r#"{"message":"Hello"}"#;
    let head = format!(
        "POST /api/connector/v1/chat/messages HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        token["token"].as_str().expect("a token"),
        body.len()
    );
    let (first, rest) = body.split_at(5);
    let mut stream = connect(&running);
    stream.write_all(format!("{head}{first}").as_bytes()).expect("written");
    // The request has begun when the service counts it.
    let metrics = running.text("metrics").to_owned();
    until(async || get(&metrics).await.1.contains("requests_in_flight 1\n")).await;
    running.process.signal("-TERM");
    let ready = metrics.replace("/metrics", "/readyz");
    until(async || get(&ready).await == (503, "stopping\n".to_owned())).await;
    assert!(TcpStream::connect(running.authority()).is_err(), "no more connections are accepted");
    stream.write_all(rest.as_bytes()).expect("written");
    let answer = read_all(&mut stream);
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("conversationId"), "{answer}");
    running.stop();
}
