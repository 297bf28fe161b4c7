//! The site's own server side.
//!
//! - [`client`] calls the connector API with the site token.
//! - [`proxy`] stands between the chat widget in the browser and that API, so that no browser ever holds the token.
//! - [`jobs`] does what the service asks for, and [`static_site`] is a site for it to publish into.
//! - [`printable`] makes text from outside safe to print, and [`private_file`] writes for the owner alone.
//! - [`check`] says whether a proxy does what the contract asks, whoever wrote it.
//! - `demo` is a customer's site with the proxy, and the API's sandbox behind it, in one process.
//!
//! The feature `command`, on by default, is the command `site-connector` and the demo. An application that calls the
//! rest does without it.

mod bounded_body;
pub mod check;
pub mod client;
mod connection;
#[cfg(feature = "command")]
pub mod demo;
pub mod jobs;
mod origin;
pub mod printable;
pub mod private_file;
pub mod proxy;
#[cfg(feature = "command")]
mod site;
pub mod static_site;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/server.md")]
struct ForServers;
