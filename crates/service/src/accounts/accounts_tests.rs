//! Attacks on accounts, through the guarded router.

mod browser;
mod commands;
mod enumeration;
mod guessing;
mod isolation;
mod links;
mod origins;
mod owners;
mod roles;
mod same_address;
mod sessions;
mod squatting;
mod totp;
mod workspaces;
