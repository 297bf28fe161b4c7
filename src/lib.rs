//! A chat widget for any website: a Leptos component, compiled to WebAssembly, in a shadow root.
//!
//! One way through: an event of the visitor or the network goes to the driver, from there into the session, whose
//! effects the driver carries out, and whose state the interface shows.
//!
//! - [`ChatWidget`] is the component for Leptos applications.
//! - [`BrowserWidgetClient`] talks to the site's proxy, for those who draw a window of their own.
//! - [`api`] is what the JavaScript entry of the npm package is made of.

pub mod api;
mod browser;
pub mod client;
mod component;
mod driver;
mod mount;
mod settings;
mod text;
mod theme;
mod ui;

pub use client::{BrowserWidgetClient, ClientError};
pub use component::ChatWidget;
pub use settings::Settings;
pub use theme::Theme;

#[cfg(all(target_arch = "wasm32", feature = "small-allocator"))]
#[global_allocator]
static ALLOCATOR: rlsf::SmallGlobalTlsf = rlsf::SmallGlobalTlsf::new();

#[cfg(all(doctest, not(target_arch = "wasm32")))]
#[doc = include_str!("../README.md")]
struct Readme;
