//! What the interface says, and how it writes times.

pub mod strings;
pub mod time;
