//! The first steps of a site: whether a page with its chat was seen, and which websites asked for the chat
//! and were refused.

#[cfg(test)]
mod onboarding_tests;
mod refused;
mod seen;
mod steps;

pub(crate) use refused::record_refused;
pub(crate) use seen::record_seen;
pub(crate) use steps::steps;

/// What this node has noticed of the sites' pages, until it is stored.
#[derive(Debug, Default)]
pub(crate) struct Onboarding {
    seen: seen::SeenSites,
    refusals: refused::Refusals,
}
