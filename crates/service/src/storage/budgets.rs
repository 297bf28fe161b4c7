//! The settings of the storage, and how much of a budget each class of data may use.

const MIB: u64 = 1024 * 1024;

/// Maximum bytes that visitors and sites store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StorageBudgets {
    /// Maximum bytes of a site.
    pub site: u64,
    /// Maximum bytes of all sites of a tenant.
    pub tenant: u64,
    /// Maximum bytes that visitors of one IPv4 address, or of the /48 of an IPv6 address, store at a site
    /// within an hour: of events, and again of messages.
    pub address: u32,
    /// Bytes of the disk of an SQLite file that events and content leave free; `None` is a quarter of the
    /// disk, at most 256 MiB. Messages leave a quarter of it.
    pub disk_reserve: Option<u64>,
}

impl StorageBudgets {
    /// Returns the budgets of sites and tenants with these maxima. An address may store a 128th of a site's
    /// within an hour.
    pub fn new(site: u64, tenant: u64) -> Self {
        let address = u32::try_from(site / 128).unwrap_or(u32::MAX);
        Self { site, tenant, address, disk_reserve: None }
    }
}

impl Default for StorageBudgets {
    /// 4 GiB for a site, 16 GiB for a tenant, and 32 MiB an hour for an address.
    fn default() -> Self {
        Self::new(4096 * MIB, 16_384 * MIB)
    }
}

/// What is stored, by how long it is accepted while space runs out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Events and content: they may use three quarters of a budget.
    Bulk,
    /// Messages of visitors.
    Message,
}

impl Class {
    /// Returns the part of a budget that this class may fill.
    pub(super) fn part(self, budget: u64) -> u64 {
        match self {
            Self::Bulk => budget / 4 * 3,
            Self::Message => budget,
        }
    }

    /// Returns the scope in which the bytes of each address are counted. Events take no space of messages.
    pub(super) fn scope(self, site_id: &str) -> String {
        match self {
            Self::Bulk => format!("bulk {site_id}"),
            Self::Message => format!("messages {site_id}"),
        }
    }
}
