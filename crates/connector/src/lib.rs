//! The site's own server side.
//!
//! [`proxy`] stands between the chat widget in the browser and the connector API: it holds the site token, so that no
//! browser ever does. [`demo`] is a customer's site with that proxy, and the API's sandbox behind it, in one process.

pub mod demo;
pub mod proxy;
mod site;
