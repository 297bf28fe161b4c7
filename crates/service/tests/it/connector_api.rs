//! The connector API on both databases, and on two nodes of one.

mod activation;
mod contract;
mod nodes;
mod rates;
mod sites;
