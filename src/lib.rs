//! A chat widget for any website: a Leptos component, compiled to WebAssembly, in a shadow root.
//!
//! One way through: an event of the visitor or the network goes to the [`driver`], from there into the session, whose
//! effects the driver carries out, and whose state it publishes as signals for the [`ui`].

pub mod api;
mod browser;
pub mod client;
mod driver;
mod mount;
pub mod settings;
mod text;
mod ui;
