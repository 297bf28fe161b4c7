//! The browser's own things, one file each. All that listens stops when it is dropped.

pub mod clock;
pub mod connectivity;
pub mod listener;
pub mod page;
pub mod storage;
pub mod style_sheet;
pub mod visibility;
