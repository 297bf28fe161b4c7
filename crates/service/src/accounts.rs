//! The accounts of operators: signing in, sessions, roles, one-time links and the second factor.

mod operator;
mod role;

pub(crate) use operator::Operator;
pub(crate) use role::Role;
