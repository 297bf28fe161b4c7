//! Deterministic simulation of a visitor's chat: one seed decides everything, and the same seed tells the same story.
//!
//! A [`world::World`] has a clock, several tabs on one storage, a network that loses, repeats and delays, and a
//! service that differs in all that the contract leaves open. While it goes on, [`requests`] and [`watch`] see to what
//! holds at any moment; then all works again, and what [`settled`] lists must become true within a bounded time. The
//! [`promises`] have names, so that a seed says which one it breaks.

mod browser;
pub mod network;
pub mod promises;
mod requests;
mod route;
pub mod service;
mod settled;
pub mod storage;
pub mod switches;
pub mod tab;
pub mod tally;
pub mod trace;
mod visitor;
mod watch;
pub mod world;
pub mod written;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use promises::{Promise, Violation};
use tally::Tally;
use trace::Trace;
use world::World;

/// What many worlds came to.
#[derive(Default)]
pub struct Report {
    pub tally: Tally,
    /// The seeds that break each promise.
    pub broken: BTreeMap<Promise, BTreeSet<u64>>,
}

impl Report {
    pub fn violations(&self) -> u64 {
        self.broken.values().map(|seeds| seeds.len() as u64).sum()
    }

    /// The first seed of all that breaks a promise.
    pub fn first_broken(&self) -> Option<u64> {
        self.broken.values().filter_map(BTreeSet::first).min().copied()
    }

    /// Prints which promises were broken, by how many seeds, and some of them.
    pub fn print_broken(&self) {
        for (promise, seeds) in &self.broken {
            let some: Vec<_> = seeds.iter().take(12).map(u64::to_string).collect();
            println!("broken {} times, by seed {}: {promise}", seeds.len(), some.join(", "));
        }
    }

    fn add(&mut self, seed: u64, tally: &Tally, outcome: Result<(), Violation>) {
        self.tally += tally;
        if let Err(violation) = outcome {
            self.broken.entry(violation.promise).or_default().insert(seed);
        }
    }
}

/// How many worlds a thread tries before it reports.
const STRIDE: u64 = 50;

/// Tries the worlds of these seeds on all processors. `progress` is called now and then, with the report so far.
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
                let mut world = World::of_seed(seed, Trace::silent());
                let outcome = world.live_through();
                mine.push((seed, world.into_tally(), outcome));
            }
            let mut all = report.lock().expect("no other thread has panicked");
            for (seed, tally, outcome) in mine {
                all.add(seed, &tally, outcome);
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

/// A broken promise is explained by so many lines before it.
pub const LAST_LINES: usize = 150;

/// The story of a seed: what the world was like, what happened at last, and which promise was broken, if any.
pub fn tell(seed: u64, most_lines: usize) -> String {
    let mut world = World::of_seed(seed, Trace::last(most_lines));
    let switches = format!("{:#?}", world.switches);
    let outcome = world.live_through();
    let end = match outcome {
        Ok(()) => "All promises were kept.".to_owned(),
        Err(violation) => format!("BROKEN: {}\n{}", violation.promise, violation.detail),
    };
    format!(
        "{switches}\n{}\nseed {seed}: {end}\n\nTo see it again:\n\
         SIM_SEED={seed} cargo test -p chat-session --test simulation replay -- --nocapture\n\
         cargo run --release -p chat-session --example soak -- --seed {seed} --trace",
        world.trace
    )
}
