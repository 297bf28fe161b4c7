//! The connector API on both databases, and on two nodes of one.

mod activation;
mod contract;
mod idempotency;
mod nodes;
mod rates;
mod sites;
