//! Servers that tests of the service need. They panic when something fails.

#![allow(clippy::missing_panics_doc, reason = "a test that panics has failed")]

pub mod databases;
pub mod push;
