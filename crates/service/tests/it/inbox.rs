//! The inbox by its API, as the operators' consoles use it, on both databases.

mod actions;
mod answering;
mod business_hours;
pub mod desk;
mod identity;
mod lists;
mod many;
mod nodes;
mod presence;
mod push;
mod reports;
mod seen;
mod settings;
mod stream;
mod talk;
mod visitors;
