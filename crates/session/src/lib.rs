//! A chat conversation as a state machine without I/O.
//!
//! [`Session::handle`] takes an input and the time, and returns effects. The session has no clock, no
//! randomness except a seed, no async and no browser. Time, lost responses and hostile services
//! are test inputs.
//!
//! Times are milliseconds since the Unix epoch, on a clock that is monotonic while the page lives.

mod back_off;
mod config_loader;
mod effect;
mod election;
mod error_action;
mod identity;
mod in_flight;
mod input;
mod leftovers;
mod notice;
mod outbox;
mod parts;
mod poller;
mod random;
mod session;
mod stored;
mod tab_sync;
mod timeline;
mod tracking;
mod wait;

/// The table of cases that every client of the proxy is tested with.
#[cfg(test)]
fn clients_table() -> serde_json::Value {
    serde_json::from_str(include_str!("../../../tests/clients.json")).expect("JSON")
}

pub use effect::{Effect, Request, RequestId, SessionEvent};
pub use input::{Answer, Input, Page, Reports, Start};
pub use notice::Notice;
pub use outbox::{Refusal, check_message};
pub use parts::{first_part_start, part_end};
pub use session::Session;
pub use stored::{Stored, VERIFIED, VERSION as STORED_VERSION, keys, visitor as stored_visitor};
pub use timeline::{Created, Delivery, Entry, EntryKey};
pub use wait::Wait;
