//! The addresses that belong to a source: those of its website, and pages only.

use std::collections::HashSet;

use chat_protocol::admin::settings::Site;
use reqwest::Url;

use super::fetch::Fetcher;
use super::queue::Link;
use crate::content::{address_key, host_key, path_key, remove_tracking};

/// Endings of files that are no pages, which are not requested.
const FILES: [&str; 41] = [
    "7z", "avi", "avif", "bmp", "bz2", "css", "csv", "dmg", "doc", "docx", "eot", "epub", "exe", "gif", "gz",
    "ico", "ics", "iso", "jpeg", "jpg", "js", "json", "mov", "mp3", "mp4", "ogg", "pdf", "png", "ppt",
    "pptx", "rar", "rss", "svg", "tar", "webm", "webp", "woff", "woff2", "xls", "xlsx", "zip",
];

/// The websites of a source.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    hosts: HashSet<String>,
    /// The host that a path without a host means, as in a sync.
    own: String,
}

impl Scope {
    /// Returns the scope of a source's address and its site. A site's own hosts are those of its allowed
    /// origins.
    pub(super) fn new(address: &Url, site: &Site) -> Self {
        let origins = site.allowed_origins.iter().filter_map(|origin| Url::parse(origin).ok());
        let own: Vec<String> = origins.map(|origin| host_key(&origin)).collect();
        let first = own.first().cloned().unwrap_or_else(|| host_key(address));
        Self { hosts: own.into_iter().chain([host_key(address)]).collect(), own: first }
    }

    /// Returns whether an address is on one of the hosts.
    pub(super) fn contains(&self, url: &Url) -> bool {
        self.hosts.contains(&host_key(url))
    }

    /// Returns the key of the path of an address that a sync may have as a path.
    pub(super) fn path_key(&self, url: &Url) -> Option<String> {
        (host_key(url) == self.own).then(|| path_key(url))
    }

    /// Returns an address of the scope as one to read; `None` if it is no page of it. Answers link to it, so
    /// that it has no session of somebody.
    pub(super) fn page(&self, fetcher: &Fetcher, mut url: Url) -> Option<Link> {
        url.set_fragment(None);
        remove_tracking(&mut url);
        let name = url.path().rsplit('/').next().unwrap_or_default();
        let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
        let is_file = ending.is_some_and(|ending| FILES.contains(&ending.as_str()));
        let is_page = fetcher.may_request(&url) && self.contains(&url) && !is_file;
        is_page.then(|| Link { key: address_key(&url), address: url.into() })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn only_pages_of_the_own_hosts_are_read() {
        let site = Site { allowed_origins: vec!["https://www.shop.example".to_owned()], ..Site::default() };
        let scope = Scope::new(&Url::parse("https://docs.shop.example/x").expect("an address"), &site);
        let fetcher = Fetcher::new(false, None, Duration::from_secs(1)).expect("a client");
        let page = |address: &str| scope.page(&fetcher, Url::parse(address).expect("an address"));
        for address in
            ["https://shop.example/a#b", "http://www.shop.example/", "https://docs.shop.example/v1.2"]
        {
            assert!(page(address).is_some(), "{address}");
        }
        assert_eq!(page("https://shop.example/a#b").expect("a page").address, "https://shop.example/a");
        let session = page("https://shop.example/a?x=1&PHPSESSID=2").expect("a page");
        assert_eq!(session.address, "https://shop.example/a?x=1");
        for address in [
            "https://other.example/",
            "https://shop.example.evil.example/",
            "https://shop.example/a.PDF",
            "mailto:ann@shop.example",
            "https://user@shop.example/",
            "https://shop.example:8443/",
        ] {
            assert_eq!(page(address), None, "{address}");
        }
    }
}
