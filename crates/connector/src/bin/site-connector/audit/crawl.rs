//! A website, read page by page: one request at a time, with a pause, as its `robots.txt` allows. Requests
//! and rules are those of the service's sources.

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use chat_audit::{Audit, PageSource, Report, Site};
use chat_page::{Headers, Robots, Sitemap};
use chat_service::fetch::{self, AGENT, Answer, Fetcher, Limit, Validators};
use indicatif::{ProgressBar, ProgressStyle};
use jiff::civil::Date;
use reqwest::{StatusCode, Url, header};
use tokio::time::{Instant, sleep_until};

use crate::failure::Failure;

/// Maximum time for a response.
const TIMEOUT: Duration = Duration::from_secs(20);
/// Maximum time that a busy server can make the command wait.
const MAX_WAIT: Duration = Duration::from_mins(1);
/// Maximum sitemaps that are read.
const MAX_SITEMAPS: usize = 20;
/// Maximum redirects of `robots.txt` and sitemaps.
const MAX_REDIRECTS: usize = 5;
/// Maximum requests for each page, as redirects and missing pages need some too.
const REQUESTS_PER_PAGE: usize = 4;
/// Endings of files that are no pages, which are not requested.
const FILES: [&str; 24] = [
    "avif", "bmp", "css", "csv", "doc", "docx", "epub", "gif", "gz", "ico", "jpeg", "jpg", "js", "json",
    "mp3", "mp4", "pdf", "png", "svg", "webm", "webp", "xls", "xlsx", "zip",
];

/// Audits a website, up to a number of pages.
pub(super) async fn audit(start: Url, max: usize, pause: Duration, today: Date) -> Result<Report, Failure> {
    let fetcher = Fetcher::new(true, None, TIMEOUT).map_err(|error| Failure::new(error.to_string()))?;
    if !fetcher.may_request(&start) {
        return Err(Failure::usage(format!("the address {start} cannot be requested")));
    }
    let mut crawl = Crawl { fetcher, pause, next: Instant::now(), robots: None };
    let root = root_of(&start)?;
    let mut body = crawl.robots(&root).await?;
    let robots = Robots::parse(body.as_deref().unwrap_or_default(), AGENT);
    if !robots.allows(AGENT, &start) {
        return Err(Failure::new(format!("{root}robots.txt forbids {AGENT} to read {start}")));
    }
    crawl.pause = pause.max(robots.delay);
    // The website decides which of its hosts is the right one.
    let start = crawl.final_start(start).await;
    let (root, first) = (root_of(&start)?, root);
    if root != first {
        body = crawl.robots(&root).await?;
    }
    let site = Site {
        root: root.clone(),
        is_public: true,
        is_folder: false,
        is_complete: false,
        today: Some(today),
    };
    let mut audit = Audit::new(site);
    if let Some(body) = &body {
        audit.set_robots(body);
    }
    let robots = Robots::parse(body.as_deref().unwrap_or_default(), AGENT);
    crawl.pause = pause.max(robots.delay);
    let mut queue = VecDeque::from([start]);
    crawl.sitemaps(&root, &robots, &mut audit, &mut queue).await;
    crawl.robots = Some(robots);
    let rest = crawl.pages(&root, max, &mut audit, queue).await;
    audit.set_complete(rest == 0);
    Ok(audit.finish())
}

fn root_of(url: &Url) -> Result<Url, Failure> {
    url.join("/").map_err(|error| Failure::usage(error.to_string()))
}

struct Crawl {
    fetcher: Fetcher,
    pause: Duration,
    next: Instant,
    robots: Option<Robots>,
}

impl Crawl {
    /// Requests an address once, after the pause. Waits once for a server that is busy.
    async fn get(&mut self, url: &Url, limit: Limit) -> Result<Answer, fetch::Failure> {
        sleep_until(self.next).await;
        let answer = self.fetcher.get(url, &Validators::default(), limit).await;
        self.next = Instant::now() + self.pause;
        let answer = answer?;
        let wait = answer.retry_after().filter(|wait| *wait <= MAX_WAIT);
        let is_busy =
            matches!(answer.status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE);
        let answer = match wait.filter(|_| is_busy) {
            Some(wait) => {
                sleep_until(Instant::now() + wait).await;
                let answer = self.fetcher.get(url, &Validators::default(), limit).await;
                self.next = Instant::now() + self.pause;
                answer?
            }
            None => answer,
        };
        if answer.is_packed { answer.unpacked(limit) } else { Ok(answer) }
    }

    /// Follows redirects, such as one to another host of the same website.
    async fn final_start(&mut self, start: Url) -> Url {
        let mut url = start;
        for _ in 0..MAX_REDIRECTS {
            let Ok(answer) = self.get(&url, Limit::Beginning(1)).await else { break };
            match target(&url, &answer) {
                Some(next) if self.fetcher.may_request(&next) => url = next,
                _ => break,
            }
        }
        url
    }

    /// Requests a file, and follows its redirects.
    async fn file(&mut self, url: &Url, limit: Limit) -> Result<Answer, fetch::Failure> {
        let mut url = url.clone();
        let mut answer = self.get(&url, limit).await?;
        for _ in 0..MAX_REDIRECTS {
            match target(&url, &answer).filter(|next| self.fetcher.may_request(next)) {
                Some(next) => url = next,
                None => break,
            }
            answer = self.get(&url, limit).await?;
        }
        Ok(answer)
    }

    /// Reads `robots.txt`; `None` where there is none. As RFC 9309 says, an error of the server forbids
    /// everything.
    async fn robots(&mut self, root: &Url) -> Result<Option<Vec<u8>>, Failure> {
        let Ok(url) = root.join("/robots.txt") else { return Ok(None) };
        let answer = self.file(&url, Limit::Beginning(Robots::MAX_BYTES)).await;
        let answer = answer
            .map_err(|failure| Failure::transient(format!("cannot read {url}: {}", reason(failure))))?;
        match answer.status {
            status if status.is_success() => Ok(Some(answer.body)),
            status if status.is_client_error() => Ok(None),
            status => Err(Failure::transient(format!(
                "cannot read {url}: status {}, which forbids robots everything",
                status.as_u16()
            ))),
        }
    }

    /// Reads the sitemaps, and adds their pages to the queue.
    async fn sitemaps(&mut self, root: &Url, robots: &Robots, audit: &mut Audit, queue: &mut VecDeque<Url>) {
        let is_named = !robots.sitemaps.is_empty();
        let named = if is_named { robots.sitemaps.clone() } else { vec!["/sitemap.xml".to_owned()] };
        let mut pending: VecDeque<Url> = named.iter().filter_map(|address| root.join(address).ok()).collect();
        let mut known = HashSet::new();
        while let Some(url) = pending.pop_front() {
            let is_own = self.fetcher.may_request(&url) && url.host_str() == root.host_str();
            if !is_own || known.len() >= MAX_SITEMAPS || !known.insert(url.clone()) {
                continue;
            }
            let Ok(answer) = self.file(&url, Limit::Whole(Sitemap::MAX_BYTES)).await else { continue };
            let is_there = answer.status.is_success() && (is_named || Sitemap::parse(&answer.body).is_some());
            if is_there {
                let listed = audit.add_sitemap(url.path(), &answer.body);
                pending.extend(listed.iter().filter_map(|address| url.join(address).ok()));
                let pages = Sitemap::parse(&answer.body).unwrap_or_default().pages;
                queue.extend(pages.iter().filter_map(|address| url.join(address).ok()));
            }
        }
    }

    /// Reads the pages. Returns how many addresses are left.
    async fn pages(&mut self, root: &Url, max: usize, audit: &mut Audit, mut queue: VecDeque<Url>) -> usize {
        // On standard error, and only if it is a terminal.
        let bar = ProgressBar::new(u64::try_from(max).unwrap_or(u64::MAX));
        bar.set_style(
            ProgressStyle::with_template("{bar:30} {pos} of at most {len} pages")
                .unwrap_or_else(|_| ProgressStyle::default_bar()),
        );
        let (mut known, mut pages, mut requests) = (HashSet::new(), 0, 0);
        while pages < max && requests < max.saturating_mul(REQUESTS_PER_PAGE) {
            let Some(mut url) = queue.pop_front() else { break };
            url.set_fragment(None);
            let is_wanted = url.host_str() == root.host_str()
                && url.port() == root.port()
                && self.fetcher.may_request(&url)
                && !is_file(&url)
                && self.robots.as_ref().is_none_or(|robots| robots.allows(AGENT, &url));
            if !is_wanted || !known.insert(url.as_str().to_owned()) {
                continue;
            }
            requests += 1;
            let Ok(answer) = self.get(&url, Limit::Beginning(fetch::MAX_PAGE_BYTES)).await else { continue };
            if let Some(next) = target(&url, &answer) {
                audit.add_redirect(&url, &next);
                queue.push_back(next);
                continue;
            }
            let status = answer.status.as_u16();
            let kind = answer.header(header::CONTENT_TYPE).map(str::to_owned);
            let is_html = kind.as_deref().is_none_or(|kind| kind.contains("html"));
            if !answer.status.is_success() {
                audit.add_failed(&url, status);
            } else if is_html {
                let robots = answer.robots();
                let headers = Headers { content_type: kind.as_deref(), robots: &robots };
                let source = PageSource { url: &url, file: None, status: 200, headers, html: &answer.body };
                queue.extend(audit.add_page(source));
                pages += 1;
                bar.set_position(u64::try_from(pages).unwrap_or(u64::MAX));
            } else {
                audit.add_file(&url);
            }
        }
        bar.finish_and_clear();
        queue.iter().filter(|url| !known.contains(url.as_str()) && !is_file(url)).count()
    }
}

/// Returns the target of a redirect.
fn target(url: &Url, answer: &Answer) -> Option<Url> {
    let location = answer.header(header::LOCATION).filter(|_| answer.status.is_redirection())?;
    url.join(location).ok()
}

fn is_file(url: &Url) -> bool {
    let name = url.path().rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.').is_some_and(|(_, ending)| FILES.contains(&ending.to_ascii_lowercase().as_str()))
}

fn reason(failure: fetch::Failure) -> &'static str {
    match failure {
        fetch::Failure::Timeout => "no response in time",
        fetch::Failure::Unreachable => "no connection",
        fetch::Failure::TooLarge => "it is too large",
        fetch::Failure::Unreadable => "its encoding is not known",
    }
}
