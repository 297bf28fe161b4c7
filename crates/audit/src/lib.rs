//! Audits the pages of a site: what readers, search engines and answer engines would stumble over, with the
//! evidence, and how to mend it.
//!
//! Create an [`Audit`] for a [`Site`], add its pages and files in any order, and [`Audit::finish`] it. The
//! [`Report`] has findings of pages and of the site as a whole, and a score. [`text`], [`json`] and [`sarif`]
//! write it down. Nothing is read from disk or network, and the same input gives the same report.
//!
//! A rule has the severity [`Severity::Error`] only if what it finds is wrong beyond doubt.

mod address;
#[cfg(test)]
mod audit_tests;
mod crawlers;
mod element_checks;
mod facts;
mod findings;
mod head_checks;
mod head_facts;
mod json;
mod known;
mod language;
mod link_checks;
mod measure;
mod page_checks;
mod robots_checks;
mod rule;
mod sarif;
mod schema;
mod schema_types;
mod similar;
mod site_checks;
mod sitemap_checks;
mod text;

use chat_page::{Robots, Sitemap};
use jiff::civil::Date;
use url::Url;

pub use findings::{Finding, PageSummary, Place, Report, Work};
pub use json::json;
pub use rule::{Rule, Severity, rules};
pub use sarif::sarif;
pub use text::text;

use address::key;
use facts::{Facts, is_same};
use findings::Findings;
use known::{Known, Pages};

/// A site, and what is known of it.
#[derive(Clone, Debug)]
pub struct Site {
    /// The address of its front page. For a folder whose public address is not known, any address.
    pub root: Url,
    /// Whether `root` is the public address.
    pub is_public: bool,
    /// Whether the pages are files: then each file is known, and an address without a file does not exist.
    pub is_folder: bool,
    /// Whether all pages of the site are added.
    pub is_complete: bool,
    /// The date of the audit; without it, dates are not compared with it.
    pub today: Option<Date>,
}

impl Site {
    /// Returns whether an address belongs to the site, with or without `www.`, by http or https.
    pub(crate) fn contains(&self, url: &Url) -> bool {
        fn host(url: &Url) -> &str {
            let host = url.host_str().unwrap_or_default();
            host.strip_prefix("www.").unwrap_or(host)
        }
        matches!(url.scheme(), "http" | "https")
            && host(url) == host(&self.root)
            && url.port() == self.root.port()
    }
}

/// Reads the other forms of a sitemap that search engines accept: a list of addresses, or a feed, whose
/// entries are not looked at.
fn plain_sitemap(body: &[u8]) -> Option<Sitemap> {
    let text = str::from_utf8(body).ok()?.trim_start_matches('\u{feff}').trim();
    let start = text.get(..500).unwrap_or(text);
    if start.contains("<rss") || start.contains("<feed") {
        return Some(Sitemap::default());
    }
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let is_list = lines().next().is_some() && lines().all(|line| line.starts_with("http"));
    is_list.then(|| Sitemap { pages: lines().map(str::to_owned).collect(), sitemaps: Vec::new() })
}

/// A page of a site.
#[derive(Clone, Copy, Debug)]
pub struct PageSource<'a> {
    /// The address.
    pub url: &'a Url,
    /// The file, relative to the folder.
    pub file: Option<&'a str>,
    /// The status of the response; 200 for a file.
    pub status: u16,
    /// The headers of the response.
    pub headers: chat_page::Headers<'a>,
    /// The HTML.
    pub html: &'a [u8],
}

/// An audit that is under way.
#[derive(Debug)]
pub struct Audit {
    site: Site,
    pages: Vec<Facts>,
    known: Pages,
    findings: Findings,
    robots: Option<(Robots, String)>,
    sitemaps: Vec<(String, Option<Sitemap>)>,
    work: Work,
}

impl Audit {
    /// Begins an audit.
    pub fn new(site: Site) -> Self {
        let known = Pages::new(site.is_folder);
        Self {
            site,
            pages: Vec::new(),
            known,
            findings: Findings::default(),
            robots: None,
            sitemaps: Vec::new(),
            work: Work::default(),
        }
    }

    /// Says whether all pages of the site are added.
    pub fn set_complete(&mut self, is_complete: bool) {
        self.site.is_complete = is_complete;
    }

    /// Adds a page. Returns the addresses within the site to which it links.
    pub fn add_page(&mut self, source: PageSource<'_>) -> Vec<Url> {
        let index = self.pages.len();
        let mut facts = facts::read(&self.site, source, &mut self.work);
        for note in std::mem::take(&mut facts.notes) {
            self.findings.add_note(note, index);
        }
        self.known.add(facts.key.clone(), Known::Page(index));
        let links = std::mem::take(&mut facts.links);
        self.pages.push(facts);
        links
    }

    /// Adds a file that is no page, such as a picture, by its address.
    pub fn add_file(&mut self, url: &Url) {
        self.known.add(key(url, self.site.is_folder), Known::File);
    }

    /// Says that it is not known what is at and below an address, such as behind a link to another folder.
    pub fn add_unknown(&mut self, url: &Url) {
        self.known.add_unknown(key(url, self.site.is_folder));
    }

    /// Adds an address that answers with an error.
    pub fn add_failed(&mut self, url: &Url, status: u16) {
        if status >= 500 {
            self.findings.add_file(&rule::PAGE_ERROR, url.path(), 1, format!("status {status}"), None);
        }
        self.known.add(key(url, self.site.is_folder), Known::Missing(status));
    }

    /// Adds a redirect.
    pub fn add_redirect(&mut self, from: &Url, to: &Url) {
        let target = self.site.contains(to).then(|| key(to, self.site.is_folder));
        self.known.add(key(from, self.site.is_folder), Known::Redirect(target));
    }

    /// Adds the text of a file with which a host redirects addresses, such as `_redirects` or `.htaccess`:
    /// what it may serve is not taken for missing.
    pub fn add_redirect_rules(&mut self, text: &str) {
        self.known.add_rules(text);
    }

    /// Sets `robots.txt`.
    pub fn set_robots(&mut self, body: &[u8]) {
        let body = &body[..body.len().min(Robots::MAX_BYTES)];
        self.robots = Some((Robots::parse(body, "*"), String::from_utf8_lossy(body).into_owned()));
    }

    /// Adds a sitemap by its path, such as `/sitemap.xml`. Returns the sitemaps that it lists.
    pub fn add_sitemap(&mut self, path: &str, body: &[u8]) -> Vec<String> {
        let sitemap = Sitemap::parse(body).or_else(|| plain_sitemap(body));
        let listed = sitemap.as_ref().map(|sitemap| sitemap.sitemaps.clone()).unwrap_or_default();
        self.sitemaps.push((path.to_owned(), sitemap));
        listed
    }

    /// Compares the pages with each other, and returns what was found.
    pub fn finish(mut self) -> Report {
        let origin = self.inferred_origin().map(|root| Site { root, is_public: true, ..self.site.clone() });
        let mut context = site_checks::Context {
            site: &self.site,
            origin: origin.as_ref(),
            pages: &self.pages,
            known: &self.known,
            robots: self.robots.as_ref().map(|(robots, _)| robots),
            findings: &mut self.findings,
            work: &mut self.work,
        };
        head_checks::check(&mut context);
        link_checks::check(&mut context);
        site_checks::check(&mut context);
        similar::check(&mut context);
        let crawlers =
            robots_checks::check(&mut context, self.robots.as_ref().map(|(_, text)| text.as_str()));
        sitemap_checks::check(&mut context, &self.sitemaps);
        findings::report(&self.pages, self.findings, crawlers, self.work)
    }

    /// Returns the public origin of a folder, by its canonical addresses, if most pages name themselves
    /// there.
    fn inferred_origin(&self) -> Option<Url> {
        if self.site.is_public {
            return None;
        }
        let own = self.pages.iter().filter_map(|page| {
            let (url, _) = page.canonical.as_ref()?;
            let is_own = is_same(&key(url, true), &page.key) && !self.site.contains(url) && url.has_host();
            is_own.then_some(url)
        });
        let own: Vec<&Url> = own.collect();
        let first = own.first()?;
        let is_most = own.len() * 2 > self.pages.len();
        (is_most && own.iter().all(|url| url.origin() == first.origin())).then(|| first.join("/").ok())?
    }
}
