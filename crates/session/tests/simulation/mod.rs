//! Deterministic simulation of a visitor's chat: a seed decides everything, and the same seed repeats the
//! same run.
//!
//! A [`engine::Simulation`] has a clock, several tabs on one storage, a network that loses, repeats and
//! delays, and a service that uses the freedoms of the contract. While it runs, [`requests`] and [`watch`]
//! check what must always hold. Then all faults end, and [`settled`] checks what must become true within a
//! bounded time. The [`invariants`] have names, so that a failing seed names the one it breaks.

mod browser;
pub mod engine;
mod faults;
pub mod invariants;
mod long_history;
pub mod messages;
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

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use engine::Simulation;
use invariants::{Invariant, Violation};
use stats::Stats;
use trace::Trace;

/// The results of many simulations.
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

    /// Returns the smallest seed that breaks an invariant.
    pub fn first_broken(&self) -> Option<u64> {
        self.broken.values().filter_map(BTreeSet::first).min().copied()
    }

    /// Prints the broken invariants, each with the number of seeds and some of them.
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

/// The number of simulations that a thread runs before it reports.
const STRIDE: u64 = 50;

/// Runs the simulations of these seeds on all processors. Calls `progress` regularly with the report so far.
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
                let outcome = simulation.run();
                mine.push((seed, simulation.into_stats(), outcome));
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

/// Maximum number of trace lines that explain a broken invariant.
pub const MAX_TRACE_LINES: usize = 150;

/// Runs a seed. Returns its scenario, the last lines of its trace, and the invariant that it breaks, if any.
pub fn describe(seed: u64, max_lines: usize) -> String {
    let mut simulation = Simulation::of_seed(seed, Trace::last(max_lines));
    let scenario = format!("{:#?}", simulation.scenario);
    let outcome = simulation.run();
    let end = match outcome {
        Ok(()) => "All invariants hold.".to_owned(),
        Err(violation) => format!("BROKEN: {}\n{}", violation.invariant, violation.detail),
    };
    format!(
        "{scenario}\n{}\nseed {seed}: {end}\n\nTo replay it:\n\
         SIM_SEED={seed} cargo test -p chat-session --test session replay -- --nocapture\n\
         cargo run --release -p chat-session --example soak -- --seed {seed} --trace",
        simulation.trace
    )
}
