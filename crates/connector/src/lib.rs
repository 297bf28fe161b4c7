//! The server side of a site.
//!
//! - [`client`] calls the connector API with the site token.
//! - [`proxy`] forwards the chat widget's calls to that API, so that no browser ever holds the token.
//! - [`jobs`] executes the service's jobs, and [`static_site`] is a site that they publish into.
//! - [`printable`] makes untrusted text safe to print, and [`private_file`] writes files for their
//!   owner only.
//! - [`check`] checks a proxy against the contract, whatever it is written in.
//! - `serve` serves the service behind that API, and `tls` its certificate.
//! - `demo` runs a site with the proxy, and a sandbox of the API behind it, in one process.
//!
//! The feature `command`, on by default, provides the command `site-connector`. An application that uses the
//! library only can disable it. The feature `demo` adds the demo, for development.

#![warn(
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "the macros panic when a line cannot be written, on a full disk or to a closed pipe"
)]

mod bounded_body;
pub mod check;
pub mod client;
mod connection;
#[cfg(feature = "demo")]
pub mod demo;
pub mod jobs;
mod origin;
pub mod printable;
pub mod private_file;
pub mod proxy;
#[cfg(feature = "command")]
pub mod serve;
#[cfg(feature = "demo")]
mod site;
pub mod static_site;
#[cfg(feature = "command")]
pub mod tls;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/server.md")]
struct ForServers;
