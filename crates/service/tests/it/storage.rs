//! What visitors and sites store is bounded, and never stops others, on both databases.

mod budgets;
mod disk;
mod flood;
