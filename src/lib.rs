//! A chat widget for any website: a Leptos component, compiled to WebAssembly, in a shadow root.
//!
//! The driver passes events of the visitor and the network to the session and applies its effects. The
//! interface shows the session's state.
//!
//! - [`ChatWidget`] is the component for Leptos applications. They control it through [`ChatControls`], and
//!   receive each [`ChatEvent`].
//! - [`BrowserWidgetClient`] sends the requests of the site's proxy, for applications with a window of their
//!   own. [`protocol`] has its types.
//! - The module `api`, behind the feature `js-api`, has the exports to JavaScript for the entry of the npm
//!   package.
//!
//! Section numbers in these docs are those of the connector API's specification.
//!
//! # Features
//! - `js-api`, on by default: the exports to JavaScript, and `leptos/csr`. An application disables it with
//!   `default-features = false`, and chooses `csr`, `hydrate` or `ssr` of Leptos itself.
//! - `debug-panics`: explains panics on the console of the npm package's module. It enables `js-api`.
//! - `deferred-styles`: leaves `styles/deferred/` out, for an entry that loads them itself, as `dist/` does.
//! - `small-allocator`: a smaller global allocator.

#[cfg(feature = "js-api")]
pub mod api;
mod browser;
mod choices;
pub mod client;
mod component;
mod controls;
mod driver;
mod events;
mod mount;
mod page_events;
mod page_widget;
mod settings;
mod text;
mod theme;
mod ui;

pub use chat_protocol as protocol;

pub use choices::Direction;
pub use client::{BrowserWidgetClient, ClientError, ErrorKind, SendOptions, VisitorToken};
pub use component::ChatWidget;
pub use controls::ChatControls;
pub use events::ChatEvent;
pub use settings::{ColorScheme, EventMode, Offset, Position, Settings};
pub use theme::{Accent, InvalidAccent, Theme};

#[cfg(all(target_arch = "wasm32", feature = "small-allocator"))]
#[global_allocator]
static ALLOCATOR: rlsf::SmallGlobalTlsf = rlsf::SmallGlobalTlsf::new();

#[cfg(all(doctest, not(target_arch = "wasm32")))]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(all(doctest, not(target_arch = "wasm32")))]
#[doc = include_str!("../docs/rust.md")]
struct Guide;
