//! Turns synced content into suggestions, and approved suggestions into jobs that sites carry out (1).
//!
//! Functions that change something run in the caller's transaction, so that the change and the stored
//! response of an idempotency key are one commit. They announce nothing: the caller knows the tenant that
//! `Wake::Site` needs.

mod approval;
mod before;
mod drafts;
#[cfg(test)]
mod entry_tests;
mod jobs;
mod publishing_routes;
#[cfg(test)]
mod publishing_tests;
mod recovery;
mod reviews;
#[cfg(test)]
mod route_tests;
#[cfg(test)]
mod rule_route_tests;
mod rules;
mod suggestion;
mod versions;

use std::time::Duration;

use crate::db::{Dialect, Tx};

pub(crate) use approval::{By, approve, approve_overlays, roll_back, withdraw};
pub(crate) use drafts::{draft_article, remove_orphaned_drafts, suggest_overlays};
pub(crate) use jobs::{claim, complete, pending_count};
pub(crate) use publishing_routes::{PublishingApi, routes};
pub(crate) use recovery::run as recover_leases;
pub(crate) use reviews::{ReviewStatus, overlays};
pub(crate) use suggestion::Suggestion;

/// The lease of a claim. The contract specifies no number (8).
pub(crate) const LEASE: Duration = Duration::from_mins(1);
/// Maximum attempts before a job has failed. The contract specifies no number (8). With the waits between
/// them, a site may be away for hours.
pub(crate) const MAX_ATTEMPTS: i64 = 8;
/// The wait after the first failed attempt of a job.
pub(crate) const RETRY: Duration = Duration::from_secs(30);

/// The approval of page heads that no rule matches (1.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Publishing {
    /// A person approves each of them.
    #[default]
    SemiAutomatic,
    /// Those are approved automatically that a rule proves to be better, unless a check finds a problem.
    Automatic,
}

impl Publishing {
    /// Returns the site's setting.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::SemiAutomatic => "semi_automatic",
            Self::Automatic => "automatic",
        }
    }

    /// Reads a site's setting. Anything unknown needs a person.
    pub(crate) fn from_setting(setting: &str) -> Self {
        if setting == "automatic" { Self::Automatic } else { Self::SemiAutomatic }
    }
}

/// Returns the end of a subquery that selects rows to change. On PostgreSQL, nodes that work at the same time
/// skip the rows that another one has selected; SQLite executes one transaction after the other.
fn skip_locked(tx: &Tx) -> &'static str {
    match tx.dialect() {
        Dialect::Postgres => "FOR UPDATE SKIP LOCKED",
        Dialect::Sqlite => "",
    }
}
