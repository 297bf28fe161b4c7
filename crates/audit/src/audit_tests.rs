//! The audit on whole sites: clean ones, ones with planted faults, and hostile ones.

mod clean_site;
mod docs;
mod faults;
mod hostile;
mod output;
mod planted;
