//! The site's own server side.
//!
//! [`client`] calls the connector API with the site token. [`proxy`] stands between the chat widget in the browser and
//! that API, so that no browser ever holds the token. [`demo`] is a customer's site with that proxy, and the API's
//! sandbox behind it, in one process.

pub mod client;
mod connection;
pub mod demo;
mod origin;
pub mod proxy;
mod site;
