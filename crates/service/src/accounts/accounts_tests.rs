//! Attacks on accounts, through the guarded router.

mod browser;
mod enumeration;
mod guessing;
mod isolation;
mod links;
mod origins;
mod owners;
mod roles;
mod sessions;
mod totp;
