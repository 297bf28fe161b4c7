//! What the interface says, and how it writes times.

mod intl;
pub mod strings;
pub mod time;
