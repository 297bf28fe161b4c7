//! Attacks on accounts, through a real router.
