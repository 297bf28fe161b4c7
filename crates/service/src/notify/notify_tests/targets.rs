//! The URLs that webhooks may send to.

use crate::notify::target::TargetUrl;

#[test]
fn accepts_https_to_public_addresses() {
    for url in [
        "https://hooks.example/chat?key=1#part",
        "https://hooks.example:8443/",
        "https://93.184.216.34/",
        "https://[2606:2800:220:1::1]/",
        "https://xn--bcher-kva.example/",
    ] {
        assert!(TargetUrl::parse(url, false).is_ok(), "{url}");
    }
}

#[test]
fn refuses_what_is_not_https_or_not_public() {
    for url in [
        "",
        "hooks.example",
        "http://hooks.example/",
        "ftp://hooks.example/",
        "file:///etc/passwd",
        "https://",
        "https://user:word@hooks.example/",
        "https://user@hooks.example/",
        "https://localhost/",
        "https://LOCALHOST./",
        "https://a.localhost/",
        "https://LOCALHOST:8080/",
        "http://127.0.0.1/",
        "https://127.0.0.1/",
        "https://127.1/",
        "https://2130706433/",
        "https://0x7f.1/",
        "https://0177.0.0.1/",
        "https://0/",
        "https://10.0.0.1/",
        "https://192.168.1.1/",
        "https://169.254.169.254/latest/meta-data/",
        "https://[::1]/",
        "https://[::]/",
        "https://[::ffff:127.0.0.1]/",
        "https://[::ffff:7f00:1]/",
        "https://[fe80::1]/",
        "https://[fd00:ec2::254]/",
        "https://[64:ff9b::7f00:1]/",
        "https://[2002:7f00:1::]/",
    ] {
        assert!(TargetUrl::parse(url, false).is_err(), "{url}");
    }
    let long = format!("https://hooks.example/{}", "a".repeat(2000));
    assert!(TargetUrl::parse(&long, true).is_err());
}

#[test]
fn private_targets_exclude_link_local_and_need_tls_beyond_this_machine() {
    for url in [
        "http://127.0.0.1:1/",
        "http://localhost/",
        "http://[::1]/",
        "https://10.0.0.1/",
        "https://[fd00::1]/",
    ] {
        assert!(TargetUrl::parse(url, true).is_ok(), "{url}");
    }
    for url in [
        "http://10.0.0.1/",
        "http://hooks.example/",
        "https://169.254.169.254/",
        "https://[fe80::1]/",
        "https://0.0.0.0/",
    ] {
        assert!(TargetUrl::parse(url, true).is_err(), "{url}");
    }
}
