//! The accounts of operators: signing in, sessions, roles, one-time links and the second factor.

mod account;
mod accounts_routes;
#[cfg(test)]
mod accounts_tests;
mod actor;
mod client;
mod command;
pub(crate) mod context;
mod cookie;
mod email;
mod guard;
mod hasher;
pub(crate) mod links;
mod mail;
mod operator;
mod password;
mod people;
pub(crate) mod preferences;
mod qr;
pub(crate) mod quiet_hours;
mod role;
pub(crate) mod session;
mod site_change;
mod throttle;
mod totp;

pub(crate) use accounts_routes::{AccountsApi, routes};
pub(crate) use actor::Actor;
pub use command::{
    CommandError, OneTimeLink, OperatorSummary, confirm_operator, first_owner_link, list_operators,
    owner_link, reset_operator_password, set_operator_disabled,
};
pub(crate) use guard::{check_source, guarded, guarded_pages};
pub(crate) use operator::Operator;
pub(crate) use role::{Right, Role};
pub(crate) use session::{Session, valid_sessions};
pub(crate) use site_change::SiteChange;

/// The state that all accounts of a running service share.
#[derive(Debug, Default)]
pub(crate) struct Accounts {
    hasher: hasher::Hasher,
}
