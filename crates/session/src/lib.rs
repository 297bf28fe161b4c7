//! A chat conversation as a state machine without I/O.
//!
//! Inputs and the time go in, effects come out: [`Session::handle`] is the only door. The session has no clock, no
//! randomness but the seed that it is given, no async and no browser, so that time, lost answers and hostile services
//! are test inputs.
//!
//! Times are milliseconds since the Unix epoch, on a clock that does not go back while the page lives.

mod back_off;
mod config_loader;
mod effect;
mod election;
mod error_action;
mod identity;
mod in_flight;
mod input;
mod notice;
mod outbox;
mod poller;
mod random;
mod session;
mod stored;
mod tab_sync;
mod timeline;
mod tracking;
mod wait;

/// The table that all clients of the proxy are held to.
#[cfg(test)]
fn clients_table() -> serde_json::Value {
    serde_json::from_str(include_str!("../../../tests/clients.json")).expect("JSON")
}

pub use effect::{Effect, Request, RequestId, SessionEvent};
pub use input::{Answer, Input, Page, Reports, Start};
pub use notice::Notice;
pub use outbox::{Refusal, check_message};
pub use session::Session;
pub use stored::{Stored, keys};
pub use timeline::{Created, Delivery, Entry, EntryKey};
pub use wait::Wait;
