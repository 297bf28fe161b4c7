//! The crate's integration tests: one program, as each is linked with the whole service.

mod audit;
mod calls;
mod check;
mod client;
mod client_log;
mod command;
mod commands;
mod damaged_journal;
mod demo;
mod exit_codes;
mod hostile_folders;
mod hostile_service;
mod jobs;
mod kept_pages;
mod proxy;
mod proxy_server;
mod repeated_jobs;
mod secrets;
mod serve;
mod service;
mod site_connector;
mod static_site;
mod sync_limits;
