//! The proxy paths of a site, which pages call without a token.

mod calls;
mod limits;
mod origins;
mod page;
mod paths;
mod setup;
