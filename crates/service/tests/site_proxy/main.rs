//! The proxy paths of a site, which pages call without a token.

#[path = "../support/mod.rs"]
mod support;

mod calls;
mod limits;
mod origins;
mod page;
mod paths;
