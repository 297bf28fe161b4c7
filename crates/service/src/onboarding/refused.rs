//! The origins whose pages were refused, so that the owner of a site can allow them.
//!
//! Clients can invent any number of origins. A site keeps at most [`MAX_ORIGINS`], of which a new one
//! replaces the one with the fewest refusals. A node stores the refusals of a site at most once per
//! [`INTERVAL`], and holds as many in between.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tracing::debug;

use crate::Service;
use crate::db::{DbError, args, work};
use crate::sites::checked_origin;

/// Maximum origins of a site.
pub(super) const MAX_ORIGINS: usize = 10;
/// Maximum length of an origin, in bytes.
pub(super) const MAX_ORIGIN_BYTES: usize = 200;
/// The time after which an origin that is no longer refused is forgotten, in milliseconds: 7 days.
pub(super) const LIFETIME_MS: i64 = 7 * 24 * 60 * 60 * 1000;
/// The time between two writes of a site.
const INTERVAL: Duration = Duration::from_secs(5);
/// Maximum sites with refusals that a node holds.
const MAX_SITES: usize = 1000;

/// An origin that was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Refused {
    pub(super) origin: String,
    pub(super) count: i64,
    pub(super) last_ms: i64,
}

/// The refusals that are not stored yet, by site. A site is in the map while a task writes its refusals.
#[derive(Debug, Default)]
pub(super) struct Refusals(Mutex<HashMap<String, Vec<Refused>>>);

impl Refusals {
    fn sites(&self) -> MutexGuard<'_, HashMap<String, Vec<Refused>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a refusal. Returns whether a task has to be started that writes it.
    fn add(&self, site_id: &str, refused: Refused) -> bool {
        let mut sites = self.sites();
        if let Some(waiting) = sites.get_mut(site_id) {
            add(waiting, refused);
            return false;
        }
        let has_room = sites.len() < MAX_SITES;
        if has_room {
            sites.insert(site_id.to_owned(), vec![refused]);
        }
        has_room
    }

    /// Takes the refusals of a site that wait. Without any, the site leaves the map.
    fn take(&self, site_id: &str) -> Vec<Refused> {
        let mut sites = self.sites();
        let waiting = sites.get_mut(site_id).map(std::mem::take).unwrap_or_default();
        if waiting.is_empty() {
            sites.remove(site_id);
        }
        waiting
    }
}

/// Adds refusals of an origin to a list of at most [`MAX_ORIGINS`].
pub(super) fn add(list: &mut Vec<Refused>, refused: Refused) {
    if let Some(known) = list.iter_mut().find(|known| known.origin == refused.origin) {
        known.count = known.count.saturating_add(refused.count);
        known.last_ms = known.last_ms.max(refused.last_ms);
        return;
    }
    if list.len() >= MAX_ORIGINS {
        let least = list.iter().enumerate().min_by_key(|(_, known)| (known.count, known.last_ms));
        if let Some((place, _)) = least {
            list.remove(place);
        }
    }
    list.push(refused);
}

/// Returns the stored origins of a site that were refused within [`LIFETIME_MS`].
pub(super) fn read(text: &str, now_ms: i64) -> Vec<Refused> {
    let mut list: Vec<Refused> = serde_json::from_str(text).unwrap_or_default();
    list.retain(|refused| refused.last_ms > now_ms - LIFETIME_MS);
    list
}

/// Records that a page was refused. Only an origin as browsers write it is recorded. The request does not
/// wait for it, and a record that fails is lost.
pub(crate) fn record_refused(service: &Service, site_id: &str, origin: Option<&str>) {
    let is_origin = |origin: &&str| {
        origin.len() <= MAX_ORIGIN_BYTES && checked_origin(origin).is_ok_and(|checked| checked == **origin)
    };
    let Some(origin) = origin.filter(is_origin) else { return };
    let refused = Refused { origin: origin.to_owned(), count: 1, last_ms: service.now_ms() };
    if service.0.onboarding.refusals.add(site_id, refused) {
        service.0.tasks.spawn(write_all(service.clone(), site_id.to_owned()));
    }
}

/// Writes the refusals of a site, at once and then in intervals, until there are no more.
async fn write_all(service: Service, site_id: String) {
    loop {
        let waiting = service.0.onboarding.refusals.take(&site_id);
        if waiting.is_empty() {
            return;
        }
        if let Err(error) = write(&service, &site_id, waiting).await {
            debug!("refused origins were not stored: {error}");
        }
        tokio::select! {
            () = service.0.closing.cancelled() => return,
            () = tokio::time::sleep(INTERVAL) => {}
        }
    }
}

/// Adds refusals to those of a site. Nothing is stored if another node has changed them in the meantime.
async fn write(service: &Service, site_id: &str, new: Vec<Refused>) -> Result<(), DbError> {
    let (site_id, now_ms) = (site_id.to_owned(), service.now_ms());
    let write = service.db().write_unflushed(work!(|tx| {
        let sql = "SELECT refused_origins FROM sites WHERE id = $1";
        let Some(row) = tx.optional(sql, args![&site_id]).await? else { return Ok(()) };
        let before = row.text(0)?;
        let mut list = read(&before, now_ms);
        for refused in new {
            add(&mut list, refused);
        }
        let after = serde_json::to_string(&list).unwrap_or_default();
        let sql = "UPDATE sites SET refused_origins = $1 WHERE id = $2 AND refused_origins = $3";
        tx.execute(sql, args![after, &site_id, before]).await?;
        Ok(())
    }));
    write.await
}
