//! A folder of static HTML, as a web server serves it.

use std::collections::HashSet;
use std::io;
use std::path::Path;

use chat_audit::{Audit, PageSource, Report, Site};
use chat_connector::static_site::{read_file, walk};
use chat_page::{Headers, Robots};
use jiff::civil::Date;
use reqwest::Url;

/// The origin of a folder whose public one is not known; nobody can have it.
const UNKNOWN_ORIGIN: &str = "https://folder.invalid";
/// Files with which hosts redirect addresses.
const REDIRECT_RULES: [&str; 5] = ["_redirects", ".htaccess", "web.config", "vercel.json", "netlify.toml"];
/// Maximum sitemaps that are read.
const MAX_SITEMAPS: usize = 50;

/// Audits the pages of a folder.
pub(super) fn audit(root: &Path, origin: Option<&str>, today: Date) -> io::Result<Report> {
    let url = Url::parse(origin.unwrap_or(UNKNOWN_ORIGIN)).map_err(io::Error::other)?;
    let site = Site {
        root: url.clone(),
        is_public: origin.is_some(),
        is_folder: true,
        is_complete: true,
        today: Some(today),
    };
    let mut audit = Audit::new(site);
    let mut files = Vec::new();
    let mut page = |path: &str, html: Vec<u8>| {
        if !is_proof(path, &html)
            && let Some(url) = address(&url, path)
        {
            let headers = Headers::default();
            audit.add_page(PageSource { url: &url, file: Some(path), status: 200, headers, html: &html });
        } else {
            files.extend(address(&url, path));
        }
    };
    let mut others = Vec::new();
    walk(root, &mut page, &mut |path, is_link| others.push((path.to_owned(), is_link)))?;
    for (path, is_link) in &others {
        match address(&url, path) {
            // A web server may follow it, to a file or a folder.
            Some(url) if *is_link => audit.add_unknown(&url),
            url => files.extend(url),
        }
    }
    for file in &files {
        audit.add_file(file);
    }
    for name in REDIRECT_RULES {
        if let Ok(Some(rules)) = read_file(root, name) {
            audit.add_redirect_rules(&String::from_utf8_lossy(&rules));
        }
    }
    let mut sitemaps = vec!["/sitemap.xml".to_owned()];
    if let Ok(Some(robots)) = read_file(root, "robots.txt") {
        audit.set_robots(&robots);
        let named = Robots::parse(&robots, "*").sitemaps;
        sitemaps.extend(named.iter().filter_map(|address| path_of(&url, address)));
    }
    let mut known = HashSet::new();
    while let Some(path) = sitemaps.pop() {
        if known.len() < MAX_SITEMAPS
            && known.insert(path.clone())
            && let Ok(Some(body)) = read_file(root, path.trim_start_matches('/'))
        {
            let listed = audit.add_sitemap(&path, &body);
            sitemaps.extend(listed.iter().filter_map(|address| path_of(&url, address)));
        }
    }
    Ok(audit.finish())
}

/// Returns the path of a sitemap, wherever the site may be served.
fn path_of(root: &Url, address: &str) -> Option<String> {
    root.join(address).ok().map(|url| url.path().to_owned())
}

/// Returns the address of a file. That of a folder's page is the folder.
fn address(root: &Url, path: &str) -> Option<Url> {
    let path = path
        .strip_suffix("index.html")
        .filter(|folder| folder.is_empty() || folder.ends_with('/'))
        .unwrap_or(path);
    let mut url = root.clone();
    let parts: Vec<&str> = path.split('/').collect();
    // Encodes what an address cannot have, such as % and ?.
    url.path_segments_mut().ok()?.clear().extend(parts);
    Some(url)
}

/// Returns whether a file is no page, but proves to a search engine who owns the site.
fn is_proof(path: &str, html: &[u8]) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    html.starts_with(b"google-site-verification:")
        || (name.starts_with("yandex_") && html.len() < 1000)
        || (name.starts_with("BingSiteAuth") && html.len() < 1000)
}
