//! Decides what asks for an operator's attention: sounds, notifications, the count in the title, idleness.

mod alert;
mod badge;
mod idle;
mod plain;
mod push;
mod rung;

pub use alert::{Alert, Cause, Situation, alert};
pub use badge::{favicon, page_title};
pub use idle::Idle;
pub use plain::plain;
pub use push::{PushChoice, Resume};
pub use rung::claim;
