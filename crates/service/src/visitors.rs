//! The visitors of sites, and everything that is stored about them.

#[cfg(test)]
pub(crate) mod fixture;
