//! Deterministic simulation of a visitor's chat: one seed decides everything, and the same seed tells the same story.
//!
//! A [`simulation::Simulation`] has a clock, several tabs on one storage, a network that loses, repeats and delays, and a
//! service that differs in all that the contract leaves open. While it goes on, [`requests`] and [`watch`] see to what
//! holds at any moment; then all works again, and what [`settled`] lists must become true within a bounded time. The
//! [`invariants`] have names, so that a seed says which one it breaks.

mod browser;
pub mod engine;
pub mod invariants;
pub mod network;
mod requests;
mod route;
pub mod scenario;
pub mod service;
mod settled;
pub mod stats;
pub mod storage;
pub mod tab;
pub mod trace;
mod visitor;
mod watch;
pub mod written;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use engine::Simulation;
use invariants::{Invariant, Violation};
use stats::Stats;
use trace::Trace;

/// What many simulations came to.
#[derive(Default)]
pub struct Report {
    pub stats: Stats,
    /// The seeds that break each invariant.
    pub broken: BTreeMap<Invariant, BTreeSet<u64>>,
}

impl Report {
    pub fn violations(&self) -> u64 {
        self.broken.values().map(|seeds| seeds.len() as u64).sum()
    }

    /// The first seed of all that breaks a invariant.
    pub fn first_broken(&self) -> Option<u64> {
        self.broken.values().filter_map(BTreeSet::first).min().copied()
    }

    /// Prints which invariants were broken, by how many seeds, and some of them.
    pub fn print_broken(&self) {
        for (invariant, seeds) in &self.broken {
            let some: Vec<_> = seeds.iter().take(12).map(u64::to_string).collect();
            println!("broken {} times, by seed {}: {invariant}", seeds.len(), some.join(", "));
        }
    }

    fn add(&mut self, seed: u64, stats: &Stats, outcome: Result<(), Violation>) {
        self.stats += stats;
        if let Err(violation) = outcome {
            self.broken.entry(violation.invariant).or_default().insert(seed);
        }
    }
}

/// How many simulations a thread tries before it reports.
const STRIDE: u64 = 50;

/// Tries the simulations of these seeds on all processors. `progress` is called now and then, with the report so far.
pub fn try_all(seeds: Range<u64>, progress: impl Fn(&Report) + Sync) -> Report {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let (next, report) = (AtomicU64::new(seeds.start), Mutex::new(Report::default()));
    let work = || {
        loop {
            let from = next.fetch_add(STRIDE, Ordering::Relaxed);
            if from >= seeds.end {
                break;
            }
            let mut mine = Vec::new();
            for seed in from..seeds.end.min(from + STRIDE) {
                let mut simulation = Simulation::of_seed(seed, Trace::silent());
                let outcome = simulation.live_through();
                mine.push((seed, simulation.into_tally(), outcome));
            }
            let mut all = report.lock().expect("no other thread has panicked");
            for (seed, stats, outcome) in mine {
                all.add(seed, &stats, outcome);
            }
            progress(&all);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    report.into_inner().expect("no thread has panicked")
}

/// A broken invariant is explained by so many lines before it.
pub const MAX_TRACE_LINES: usize = 150;

/// The story of a seed: what the simulation was like, what happened at last, and which invariant was broken, if any.
pub fn describe(seed: u64, max_lines: usize) -> String {
    let mut simulation = Simulation::of_seed(seed, Trace::last(max_lines));
    let scenario = format!("{:#?}", simulation.scenario);
    let outcome = simulation.live_through();
    let end = match outcome {
        Ok(()) => "All invariants were kept.".to_owned(),
        Err(violation) => format!("BROKEN: {}\n{}", violation.invariant, violation.detail),
    };
    format!(
        "{scenario}\n{}\nseed {seed}: {end}\n\nTo see it again:\n\
         SIM_SEED={seed} cargo test -p chat-session --test simulation replay -- --nocapture\n\
         cargo run --release -p chat-session --example soak -- --seed {seed} --trace",
        simulation.trace
    )
}
