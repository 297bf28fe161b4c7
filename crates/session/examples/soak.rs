//! Tries as many simulated worlds as there is time for, or tells the story of one.

#[path = "../tests/simulation/mod.rs"]
mod simulation;

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use clap::Parser;
use simulation::tally::Fact;
use simulation::{LAST_LINES, tell, try_all};

/// Tries chat sessions in simulated worlds, each decided by one seed.
#[derive(Parser)]
struct Arguments {
    /// How many seeds to try.
    #[arg(long, default_value_t = 1_000_000)]
    seeds: u64,
    /// The first of them.
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// Only this seed.
    #[arg(long)]
    seed: Option<u64>,
    /// Tell all that happened in it.
    #[arg(long, requires = "seed")]
    trace: bool,
}

/// Seeds between two lines of progress.
const PROGRESS: u64 = 20_000;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let (Some(seed), true) = (arguments.seed, arguments.trace) {
        println!("{}", tell(seed, usize::MAX));
    }
    let (from, seeds) = arguments.seed.map_or((arguments.from, arguments.seeds), |seed| (seed, 1));
    let (started, told) = (Instant::now(), AtomicU64::new(0));
    let report = try_all(from..from + seeds, |so_far| {
        let step = so_far.tally.worlds / PROGRESS;
        if told.fetch_max(step, Ordering::Relaxed) < step {
            println!("{:>6.0?}: {}, {} violations", started.elapsed(), so_far.tally, so_far.violations());
        }
    });
    for (fact, name, _) in Fact::ALL {
        println!("{:>12} times {name}", report.tally[fact]);
    }
    report.print_broken();
    println!("{}, violations: {}, in {:.0?}", report.tally, report.violations(), started.elapsed());
    match report.first_broken() {
        Some(seed) if !arguments.trace => {
            println!("{}", tell(seed, LAST_LINES));
            ExitCode::FAILURE
        }
        Some(_) => ExitCode::FAILURE,
        None => ExitCode::SUCCESS,
    }
}
