//! What the interface says, how it writes times, and what the markup of messages means.

pub mod emoji;
mod intl;
pub mod markup;
pub mod strings;
pub mod time;
