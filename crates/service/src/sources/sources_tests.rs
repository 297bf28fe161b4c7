//! Tests of the reading of websites, against servers that are polite, broken or hostile.

mod changes;
mod gone;
mod hostile;
mod polite;
mod website;
mod workers;

use std::time::Duration;

use chat_protocol::admin::settings::{NewSource, Refresh, SkipReason, Source};

use super::reader::once;
use super::{Sources, records};
use crate::databases::TestDatabase;
use crate::db::{args, transaction};
use crate::error::ApiError;
use crate::knowledge::search::fixture::search;
use crate::queue_runner::Next;
use crate::visitors::fixture::{add_sites, execute};
use crate::{CrawlPace, Service, ServiceKey, ServiceOptions};

/// The key of all nodes of a test.
const KEY: [u8; 32] = [7; 32];

/// A quick pace.
const PACE: CrawlPace = CrawlPace {
    pause: Duration::from_millis(1),
    timeout: Duration::from_secs(5),
    turn: Duration::from_secs(30),
};

fn options(database: &TestDatabase) -> ServiceOptions {
    let key = ServiceKey::new(&KEY).expect("a key");
    ServiceOptions {
        allow_private_webhooks: true,
        public_origin: Some("https://chat.example".to_owned()),
        crawl: PACE,
        ..ServiceOptions::new(&database.address, key)
    }
}

async fn open(database: &TestDatabase) -> Service {
    open_with(options(database)).await
}

async fn open_with(options: ServiceOptions) -> Service {
    let service = Service::open(options).await.expect("opened");
    add_sites(service.db()).await;
    service
}

/// Adds a source of a site, and returns its id.
async fn add(service: &Service, site: &'static str, address: &str, max_pages: i64) -> String {
    let new = NewSource { address: address.to_owned(), max_pages: Some(max_pages), refresh: Refresh::Off };
    let fetcher = Sources::fetcher(service).expect("a client").clone();
    let now_ms = service.now_ms();
    let added: Result<String, ApiError> =
        transaction!(service.db(), |tx| records::add(tx, now_ms, site, &new, &fetcher).await).await;
    added.expect("added")
}

/// Reads everything that is due, as a worker does.
async fn read_all(service: &Service) {
    while once(service).await.expect("read") == Next::Now {}
}

/// Reads a source again.
async fn read_again(service: &Service, site: &'static str, id: &str) {
    let (id, now_ms) = (id.to_owned(), service.now_ms());
    let asked: Result<(), ApiError> =
        transaction!(service.db(), |tx| records::read_again(tx, now_ms, site, &id).await).await;
    asked.expect("asked");
    read_all(service).await;
}

async fn source(service: &Service, site: &str, id: &str) -> Source {
    records::find(service.db(), site, id).await.expect("a source")
}

/// Adds a source, reads it, and returns it.
async fn read_site(service: &Service, address: &str, max_pages: i64) -> Source {
    let id = add(service, "shop", address, max_pages).await;
    read_all(service).await;
    source(service, "shop", &id).await
}

/// Returns the paths and the reasons of the pages that were not read.
fn skipped(source: &Source) -> Vec<(String, SkipReason)> {
    let path = |address: &str| reqwest::Url::parse(address).expect("an address").path().to_owned();
    let mut skipped: Vec<_> = source.skipped.iter().map(|page| (path(&page.address), page.reason)).collect();
    skipped.sort_by(|one, other| one.0.cmp(&other.0));
    skipped
}

/// Returns the paths of the pages of a site that answer a question.
async fn found(service: &Service, site: &str, question: &str) -> Vec<String> {
    let passages = search(service.db(), site, question, Some("en")).await.expect("searched");
    let path = |location: String| match reqwest::Url::parse(&location) {
        Ok(url) => url.path().to_owned(),
        Err(_) => location,
    };
    passages.into_iter().map(|passage| path(passage.location.expect("a page"))).collect()
}

/// Ends the leases of a node that died.
async fn end_leases(service: &Service) {
    execute(service.db(), "UPDATE sources SET lease_until_ms = 0", args![]).await;
    execute(service.db(), "UPDATE crawl_hosts SET until_ms = 0", args![]).await;
}
