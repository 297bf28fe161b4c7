//! Bounds what visitors and sites store, so that nobody fills the disk of everybody (decision 0048).
//!
//! The database counts the bytes of each site itself, by triggers in the transaction of each change. A node
//! reads the counts of a tenant at most every [`FRESH_MS`], and adds what it admits in the meantime. It
//! checks before the transaction, so that a refused request costs no write.
//!
//! Each budget, and the free space of the disk, ends earlier for what can be missed ([`Class::Bulk`]) than
//! for messages. Operators, sign-in and deletion have no budget, and the last part of the disk.
//!
//! A command is passed to [`admit`] before its transaction. Content, which replaces other content, gets the
//! [`room`] of its site and is counted within its transaction.

mod budgets;
mod counts;
mod disk;
#[cfg(test)]
mod storage_tests;

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tracing::warn;

use crate::Service;
use crate::db::{Dialect, is_postgres};
use crate::error::ApiError;
use crate::rate::Caller;

pub(crate) use budgets::Class;
pub use budgets::StorageBudgets;
pub(crate) use counts::{fullest, of_tenant, used};
use disk::Disk;
pub(crate) use disk::{DiskSpace, DiskState};

/// The time for which a node believes the counts of a tenant.
const FRESH_MS: i64 = 2000;
/// Maximum tenants whose counts a node keeps.
const MAX_TENANTS: usize = 10_000;
/// The interval at which the rows of a site are merged, where several nodes count.
const MERGE_INTERVAL: Duration = Duration::from_secs(10);

/// The space that a site has left.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Room {
    pub(crate) bytes: u64,
    /// The error of a request that needs more.
    pub(crate) full: ApiError,
    /// The name of the limit in the metrics.
    limit: &'static str,
}

impl Room {
    /// Returns space for everything.
    #[cfg(test)]
    pub(crate) fn endless() -> Self {
        Self { bytes: u64::MAX, full: ApiError::DiskFull, limit: "disk" }
    }

    /// Counts a request that needed more.
    pub(crate) fn count_refusal(&self, service: &Service) {
        service.0.metrics.storage_refused(self.limit);
    }
}

/// The state of the storage of a node.
#[derive(Debug)]
pub(crate) struct Storage {
    budgets: StorageBudgets,
    /// The disk of an SQLite file. The disk of a PostgreSQL server is not visible from here.
    disk: Option<Disk>,
    tenants: Mutex<HashMap<String, TenantCounts>>,
}

/// The bytes of a tenant's sites, as last read, with what this node has admitted since.
#[derive(Clone, Debug, Default)]
struct TenantCounts {
    read_ms: i64,
    sites: HashMap<String, u64>,
}

impl TenantCounts {
    fn is_fresh(&self, now_ms: i64) -> bool {
        // A clock that was set back makes a count old as well.
        (0..FRESH_MS).contains(&now_ms.saturating_sub(self.read_ms))
    }

    fn site(&self, site_id: &str) -> u64 {
        self.sites.get(site_id).copied().unwrap_or_default()
    }

    fn all(&self) -> u64 {
        self.sites.values().fold(0, |all, bytes| all.saturating_add(*bytes))
    }
}

impl Storage {
    pub(crate) fn new(database: &str, budgets: StorageBudgets) -> Self {
        let disk = (!is_postgres(database)).then(|| Disk::of_file(database.as_ref(), budgets.disk_reserve));
        Self { budgets, disk, tenants: Mutex::default() }
    }

    pub(crate) fn budgets(&self) -> &StorageBudgets {
        &self.budgets
    }

    fn tenants(&self) -> MutexGuard<'_, HashMap<String, TenantCounts>> {
        self.tenants.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds what was admitted, until the counts are read again.
    fn add(&self, tenant_id: &str, site_id: &str, bytes: u64) {
        if let Some(counts) = self.tenants().get_mut(tenant_id) {
            let site = counts.sites.entry(site_id.to_owned()).or_default();
            *site = site.saturating_add(bytes);
        }
        if let Some(disk) = &self.disk {
            disk.expect(bytes);
        }
    }
}

/// Returns the space that a site has left for a class.
pub(crate) async fn room(
    service: &Service,
    tenant_id: &str,
    site_id: &str,
    class: Class,
) -> Result<Room, ApiError> {
    if disk_state(service).await.is_some_and(|space| space.state.refuses(class)) {
        return Ok(Room { bytes: 0, full: ApiError::DiskFull, limit: "disk" });
    }
    let (site, tenant) = counts(service, tenant_id, site_id).await?;
    let budgets = service.0.storage.budgets();
    let site_left = class.part(budgets.site).saturating_sub(site);
    let tenant_left = class.part(budgets.tenant).saturating_sub(tenant);
    Ok(if site_left <= tenant_left {
        Room { bytes: site_left, full: full("The storage of this site is used up"), limit: "site" }
    } else {
        Room { bytes: tenant_left, full: full("The storage of this account is used up"), limit: "tenant" }
    })
}

fn full(what: &str) -> ApiError {
    ApiError::StorageFull(format!("{what}: delete something, shorten the retention, or ask for more."))
}

/// Counts what is about to be stored within the [`room`] of a site, until the counts are read again.
pub(crate) fn expect(service: &Service, tenant_id: &str, site_id: &str, bytes: u64) {
    service.0.storage.add(tenant_id, site_id, bytes);
}

/// Admits what a visitor sends, before it is stored.
pub(crate) async fn admit(
    service: &Service,
    (tenant_id, site_id): (&str, &str),
    visitor: Caller,
    class: Class,
    bytes: u64,
) -> Result<(), ApiError> {
    let room = room(service, tenant_id, site_id, class).await?;
    if bytes > room.bytes {
        room.count_refusal(service);
        return Err(room.full);
    }
    let taken = service.0.rates.take_bytes(service, &class.scope(site_id), visitor, bytes).await;
    if matches!(taken, Err(ApiError::RateLimited { .. })) {
        service.0.metrics.storage_refused("address");
    }
    taken?;
    service.0.storage.add(tenant_id, site_id, bytes);
    Ok(())
}

/// Returns the bytes of a site, and those of all sites of its tenant.
async fn counts(service: &Service, tenant_id: &str, site_id: &str) -> Result<(u64, u64), ApiError> {
    let storage = &service.0.storage;
    let now_ms = service.now_ms();
    if let Some(counts) = storage.tenants().get_mut(tenant_id) {
        if counts.is_fresh(now_ms) {
            return Ok((counts.site(site_id), counts.all()));
        }
        // One request reads them again; the others go on with these.
        counts.read_ms = now_ms;
    }
    let sites = of_tenant(service.db(), tenant_id).await?;
    let counts = TenantCounts { read_ms: now_ms, sites };
    let found = (counts.site(site_id), counts.all());
    let mut tenants = storage.tenants();
    if tenants.len() >= MAX_TENANTS {
        tenants.retain(|_, counts| counts.is_fresh(now_ms));
    }
    if tenants.len() < MAX_TENANTS {
        tenants.insert(tenant_id.to_owned(), counts);
    }
    Ok(found)
}

/// Returns the space of the disk and what it allows; `None` for PostgreSQL, or where it cannot be measured.
pub(crate) async fn disk_state(service: &Service) -> Option<DiskSpace> {
    service.0.storage.disk.as_ref()?.space(service.db()).await
}

/// Merges the rows of each site, until the service closes.
pub(crate) async fn run(service: &Service) {
    if service.db().dialect() == Dialect::Sqlite {
        return;
    }
    loop {
        tokio::select! {
            () = service.0.closing.cancelled() => return,
            () = tokio::time::sleep(MERGE_INTERVAL) => {}
        }
        if let Err(error) = counts::merge(service.db()).await {
            warn!("the counts of storage were not merged: {error}");
        }
    }
}
