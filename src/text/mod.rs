//! What the interface says, how it writes times, and what the markup of messages means.

mod intl;
pub mod markup;
pub mod strings;
pub mod time;
