//! The addresses that webhooks may send to.

use std::net::IpAddr;

use crate::notify::webhooks::{TargetUrl, is_public};

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

#[test]
fn tells_public_addresses_from_all_others() {
    for (address, expected) in [
        ("8.8.8.8", true),
        ("172.15.255.255", true),
        ("172.16.0.0", false),
        ("172.31.255.255", false),
        ("172.32.0.0", true),
        ("100.63.255.255", true),
        ("100.64.0.0", false),
        ("100.127.255.255", false),
        ("198.17.255.255", true),
        ("198.19.0.1", false),
        ("168.63.129.16", false),
        ("224.0.0.1", false),
        ("255.255.255.255", false),
        ("2a00:1450::1", true),
        ("2001:4860::1", true),
        ("2001::1", false),
        ("2001:db8::1", false),
        ("2002:808:808::1", true),
        ("2002:a00:1::1", false),
        ("64:ff9b::808:808", true),
        ("64:ff9b:1::808:808", false),
        ("::808:808", false),
        ("fc00::1", false),
        ("fec0::1", false),
        ("ff02::1", false),
        ("100::1", false),
        ("5f00::1", false),
    ] {
        let parsed: IpAddr = address.parse().expect("an address");
        assert_eq!(is_public(parsed), expected, "{address}");
    }
}
