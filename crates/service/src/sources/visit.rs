//! Requests to the websites of a source: each at its host's turn, by its rules, and with every redirect
//! checked.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use axum::http::header;
use chat_page::Robots;
use chat_protocol::admin::settings::SkipReason;
use reqwest::{StatusCode, Url};
use tokio::time::Instant;

use super::claim::Claimed;
use super::fetch::{AGENT, Answer, Failure, Fetcher, Limit, Validators};
use super::host_turns::{self, Turn};
use super::scope::Scope;
use crate::Service;
use crate::clock::millis;
use crate::content::{address_key, host_key};
use crate::db::{DbError, Work, args, transaction};
use crate::error::ApiError;
use crate::storage::{self, Class};

/// Maximum redirects of a page.
const MAX_REDIRECTS: usize = 5;
/// Maximum pause that a busy server can ask for, which is that of the source alone.
const MAX_RETRY_AFTER: Duration = Duration::from_mins(15);
/// Maximum pause of a host for all sources, so that one that makes a server busy delays no others for long.
const MAX_SHARED_PAUSE: Duration = Duration::from_mins(1);
/// The pause after a busy server that asks for none.
const RETRY_AFTER: Duration = Duration::from_mins(1);
/// Maximum time of a page with its redirects and the pauses between them, so that a turn gets on.
pub(super) const PAGE_TIMEOUT: Duration = Duration::from_mins(1);
/// Maximum time that a worker waits for a host before it leaves the source to a later turn.
const MAX_WAIT: Duration = Duration::from_secs(15);
/// The time after which a turn ends whose node has died, beyond the time of a request.
const TURN_MARGIN: Duration = Duration::from_secs(5);

/// Why a worker leaves a source.
#[derive(Debug)]
pub(super) enum Stopped {
    /// Another worker has it, or it was removed.
    Lost,
    /// It goes on at this time.
    Later(i64),
    /// It cannot be read.
    Failed(SkipReason),
    /// The database or the service had an error; the lease ends by itself.
    Error(ApiError),
}

impl From<DbError> for Stopped {
    fn from(error: DbError) -> Self {
        Self::Error(error.into())
    }
}

impl From<ApiError> for Stopped {
    fn from(error: ApiError) -> Self {
        Self::Error(error)
    }
}

/// A worker's turn with a source.
pub(super) struct Visit<'a> {
    pub(super) service: &'a Service,
    pub(super) source: Claimed,
    pub(super) tenant_id: String,
    pub(super) scope: Scope,
    pub(super) fetcher: &'a Fetcher,
    /// The beginning of the turn, and its end.
    pub(super) began: Instant,
    pub(super) ends: Instant,
    /// The time until which a busy server asked to wait.
    pub(super) paused_until_ms: AtomicI64,
}

/// The end of a way through redirects.
#[derive(Debug)]
pub(super) enum Followed {
    /// A response that is no redirect.
    Answer {
        answer: Box<Answer>,
        /// Its address.
        url: Url,
        /// Whether all redirects to it are for good.
        is_permanent: bool,
    },
    Skipped(SkipReason),
    /// The server asks to come again later.
    Busy,
}

impl Visit<'_> {
    /// Ends the turn when its time is over, a server asked to wait or the service closes. Called after each
    /// step, so that every turn gets on.
    pub(super) fn check_turn(&self) -> Result<(), Stopped> {
        let paused_until_ms = self.paused_until_ms.load(Ordering::Relaxed);
        if paused_until_ms > self.service.now_ms() {
            return Err(Stopped::Later(paused_until_ms));
        }
        if self.service.0.closing.is_cancelled() || Instant::now() >= self.ends {
            return Err(Stopped::Later(self.service.now_ms()));
        }
        Ok(())
    }

    /// Executes a part in a transaction, as long as the source is this worker's own.
    pub(super) async fn change<T: Send + 'static>(&self, work: impl Work<T, DbError>) -> Result<T, Stopped> {
        let (lease, now_ms) = (self.source.lease.clone(), self.service.now_ms());
        let site_id = self.source.site_id.clone();
        let done: Result<Option<T>, DbError> = transaction!(self.service.db(), |tx| {
            // As in a sync: one change of a site's content at a time, so that no two wait for each other.
            tx.execute("UPDATE sites SET name = name WHERE id = $1", args![&site_id]).await?;
            if !lease.renew(tx, now_ms).await? {
                return Ok(None);
            }
            work(tx).await.map(Some)
        })
        .await;
        done?.ok_or(Stopped::Lost)
    }

    /// Requests an address, once its host has a turn for it. If it has none before `ends`, the source goes on
    /// later.
    async fn request(
        &self,
        url: &Url,
        validators: &Validators,
        limit: Limit,
        delay: Duration,
        ends: Instant,
    ) -> Result<Result<Answer, Failure>, Stopped> {
        let (db, host, lease) = (self.service.db(), host_key(url), &self.source.lease);
        let timeout = self.service.0.options.crawl.timeout + TURN_MARGIN;
        loop {
            let now_ms = self.service.now_ms();
            let until_ms = now_ms.saturating_add(millis(timeout));
            match host_turns::take(db, lease, &host, now_ms, until_ms).await? {
                Turn::Taken => break,
                Turn::Lost => return Err(Stopped::Lost),
                Turn::Later(at_ms) if Instant::now() >= ends => return Err(Stopped::Later(at_ms)),
                Turn::Later(at_ms) => self.wait_until(at_ms).await?,
            }
        }
        let answer = self.fetcher.get(url, validators, limit).await;
        let pause = match &answer {
            Ok(answer) if is_busy(answer.status) => {
                let pause = answer.retry_after().unwrap_or(RETRY_AFTER).min(MAX_RETRY_AFTER);
                let until_ms = self.service.now_ms().saturating_add(millis(pause));
                self.paused_until_ms.fetch_max(until_ms, Ordering::Relaxed);
                pause.min(MAX_SHARED_PAUSE)
            }
            _ => Duration::ZERO,
        };
        let pause = pause.max(delay).max(self.service.0.options.crawl.pause);
        let next_ms = self.service.now_ms().saturating_add(millis(pause));
        host_turns::give_back(db, lease, &host, next_ms).await?;
        match answer {
            Ok(answer) if answer.is_packed => {
                Ok(self.blocking(move || answer.unpacked(limit)).await.unwrap_or(Err(Failure::Unreadable)))
            }
            answer => Ok(answer),
        }
    }

    /// Waits for a host. A longer time is left to others.
    async fn wait_until(&self, at_ms: i64) -> Result<(), Stopped> {
        let wait_ms = u64::try_from(at_ms.saturating_sub(self.service.now_ms())).unwrap_or_default();
        let wait = Duration::from_millis(wait_ms.max(5));
        if wait > MAX_WAIT {
            return Err(Stopped::Later(at_ms));
        }
        tokio::select! {
            () = self.service.0.closing.cancelled() => Err(Stopped::Later(at_ms)),
            () = tokio::time::sleep(wait) => Ok(()),
        }
    }

    /// Requests an address and follows its redirects, as far as `robots.txt` allows. Without a change, the
    /// response is 304 where `validators` say so.
    pub(super) async fn follow(
        &self,
        mut url: Url,
        validators: &Validators,
        limit: Limit,
    ) -> Result<Followed, Stopped> {
        let first = address_key(&url);
        let none = Validators::default();
        let ends = Instant::now() + PAGE_TIMEOUT;
        let mut is_permanent = true;
        for _ in 0..=MAX_REDIRECTS {
            if !self.fetcher.may_request(&url) || !self.scope.contains(&url) {
                return Ok(Followed::Skipped(SkipReason::Elsewhere));
            }
            if Instant::now() >= ends {
                return Ok(Followed::Skipped(SkipReason::Timeout));
            }
            let robots = match self.robots(&url, ends).await? {
                Ok(robots) => robots,
                Err(reason) => return Ok(Followed::Skipped(reason)),
            };
            if !self.allows(&robots, &url).await {
                return Ok(Followed::Skipped(SkipReason::Robots));
            }
            // Another address has other validators.
            let validators = if address_key(&url) == first { validators } else { &none };
            let answer = match self.request(&url, validators, limit, robots.delay, ends).await? {
                Ok(answer) => answer,
                Err(failure) => return Ok(Followed::Skipped(reason_of(failure))),
            };
            if is_busy(answer.status) {
                return Ok(Followed::Busy);
            }
            let Some(target) = redirect(&answer, &url) else {
                return Ok(Followed::Answer { answer: Box::new(answer), url, is_permanent });
            };
            is_permanent &= matches!(answer.status.as_u16(), 301 | 308);
            url = target;
        }
        Ok(Followed::Skipped(SkipReason::Redirects))
    }

    async fn allows(&self, robots: &Arc<Robots>, url: &Url) -> bool {
        let (robots, url) = (Arc::clone(robots), url.clone());
        // A file that the parser cannot read allows nothing.
        self.service.run_blocking(move || robots.allows(AGENT, &url)).await.unwrap_or_default()
    }

    /// Returns the rules of an address's website, which are read once in a run.
    pub(super) async fn robots(
        &self,
        url: &Url,
        ends: Instant,
    ) -> Result<Result<Arc<Robots>, SkipReason>, Stopped> {
        let key = (self.source.lease.source_id.clone(), self.source.run, host_key(url));
        if let Some(known) = self.service.0.sources.robots(&key) {
            return Ok(known);
        }
        let robots = match self.read_robots(url, ends).await? {
            // A parser that fails has not allowed anything.
            Ok(body) => {
                self.blocking(move || Robots::parse(&body, AGENT)).await.ok_or(SkipReason::RobotsUnavailable)
            }
            Err(reason) => Err(reason),
        };
        let robots = robots.map(Arc::new);
        // The time may have been that of a redirect before.
        if robots.is_ok() || Instant::now() < ends {
            self.service.0.sources.keep_robots(key, robots.clone());
        }
        Ok(robots)
    }

    /// Reads a website's `robots.txt`; an empty one where there is none. As RFC 9309 says, an error of the
    /// server forbids everything, and so does a redirect to a website that must not be read.
    async fn read_robots(&self, page: &Url, ends: Instant) -> Result<Result<Vec<u8>, SkipReason>, Stopped> {
        let Ok(mut url) = page.join("/robots.txt") else { return Ok(Ok(Vec::new())) };
        url.set_query(None);
        let limit = Limit::Beginning(Robots::MAX_BYTES);
        for _ in 0..=MAX_REDIRECTS {
            if !self.fetcher.may_request(&url) || !self.scope.contains(&url) {
                return Ok(Err(SkipReason::RobotsUnavailable));
            }
            if Instant::now() >= ends {
                return Ok(Err(SkipReason::Timeout));
            }
            let validators = Validators::default();
            let answer = match self.request(&url, &validators, limit, Duration::ZERO, ends).await? {
                Ok(answer) => answer,
                Err(Failure::Timeout) => return Ok(Err(SkipReason::Timeout)),
                Err(Failure::Unreachable) => return Ok(Err(SkipReason::Unreachable)),
                Err(Failure::TooLarge | Failure::Unreadable) => {
                    return Ok(Err(SkipReason::RobotsUnavailable));
                }
            };
            if answer.status.is_server_error() || answer.status == StatusCode::TOO_MANY_REQUESTS {
                return Ok(Err(SkipReason::RobotsUnavailable));
            }
            match redirect(&answer, &url) {
                Some(target) => url = target,
                None if answer.status.is_success() => return Ok(Ok(answer.body)),
                None => return Ok(Ok(Vec::new())),
            }
        }
        Ok(Err(SkipReason::RobotsUnavailable))
    }

    /// Returns whether the site has space for these bytes, and counts them.
    pub(super) async fn has_room(&self, bytes: usize) -> Result<bool, Stopped> {
        let (tenant_id, site_id) = (&self.tenant_id, &self.source.site_id);
        let room = storage::room(self.service, tenant_id, site_id, Class::Bulk).await?;
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        if bytes > room.bytes {
            room.count_refusal(self.service);
            return Ok(false);
        }
        storage::expect(self.service, tenant_id, site_id, bytes);
        Ok(true)
    }

    /// Runs slow work on another thread; `None` if it failed.
    pub(super) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let done: Result<T, ApiError> = self.service.run_blocking(work).await;
        done.ok()
    }
}

fn is_busy(status: StatusCode) -> bool {
    matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE)
}

/// Returns the target of a redirect.
fn redirect(answer: &Answer, url: &Url) -> Option<Url> {
    let is_redirect = matches!(answer.status.as_u16(), 301 | 302 | 303 | 307 | 308);
    let target = answer.header(header::LOCATION).filter(|_| is_redirect)?;
    url.join(target).ok()
}

fn reason_of(failure: Failure) -> SkipReason {
    match failure {
        Failure::Timeout => SkipReason::Timeout,
        Failure::Unreachable => SkipReason::Unreachable,
        Failure::TooLarge => SkipReason::TooLarge,
        Failure::Unreadable => SkipReason::NotPage,
    }
}
