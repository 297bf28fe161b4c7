//! A chat widget for any website: a Leptos component, compiled to WebAssembly, in a shadow root.
//!
//! One way through: an event of the visitor or the network goes to the driver, from there into the session, whose
//! effects the driver carries out, and whose state the interface shows.
//!
//! - [`ChatWidget`] is the component for Leptos applications; [`ChatControls`] and [`ChatEvent`] are how the application
//!   and the widget talk to each other.
//! - [`BrowserWidgetClient`] talks to the site's proxy, for those who draw a window of their own. [`protocol`] has what
//!   it takes and gives.
//! - The module `api`, behind the feature `js-api`, is what the JavaScript entry of the npm package is made of.
//!
//! Section numbers in these docs are those of the connector API's specification.
//!
//! # Features
//! - `js-api`, on by default: the exports to JavaScript, and `leptos/csr`. An application does without:
//!   `default-features = false`, and chooses `csr`, `hydrate` or `ssr` of Leptos itself.
//! - `debug-panics`: panics are explained on the console. It is for a module of its own, and brings `js-api` along.
//! - `deferred-styles`: leaves `styles/deferred/` out, for an entry that gives it to the widget itself, as `dist/` does.
//! - `small-allocator`: brings a smaller allocator, as the program's global one.

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

pub use choices::{ColorScheme, Direction, EventMode, Position};
pub use client::{BrowserWidgetClient, ClientError, ErrorKind, SendOptions};
pub use component::ChatWidget;
pub use controls::ChatControls;
pub use events::ChatEvent;
pub use settings::{Offset, Settings};
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
