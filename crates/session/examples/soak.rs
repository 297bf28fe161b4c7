//! Runs any number of simulations, or traces one.

#[path = "../tests/simulation/mod.rs"]
mod simulation;

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use clap::Parser;
use simulation::stats::Fact;
use simulation::{MAX_TRACE_LINES, describe, try_all};

/// Runs simulations of chat sessions, each from one seed.
#[derive(Parser)]
struct Arguments {
    /// The number of seeds.
    #[arg(long, default_value_t = 1_000_000)]
    seeds: u64,
    /// The first seed.
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// Run only this seed.
    #[arg(long)]
    seed: Option<u64>,
    /// Print the whole trace of the seed.
    #[arg(long, requires = "seed")]
    trace: bool,
}

/// The number of seeds between two lines of progress.
const PROGRESS: u64 = 20_000;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let (Some(seed), true) = (arguments.seed, arguments.trace) {
        println!("{}", describe(seed, usize::MAX));
    }
    let (from, seeds) = arguments.seed.map_or((arguments.from, arguments.seeds), |seed| (seed, 1));
    let (started, printed) = (Instant::now(), AtomicU64::new(0));
    let report = try_all(from..from + seeds, |so_far| {
        let step = so_far.stats.simulations / PROGRESS;
        if printed.fetch_max(step, Ordering::Relaxed) < step {
            println!("{:>6.0?}: {}, {} violations", started.elapsed(), so_far.stats, so_far.violations());
            so_far.print_broken();
        }
    });
    for (fact, name, _) in Fact::ALL {
        println!("{:>12} times: {name}", report.stats[fact]);
    }
    report.print_broken();
    println!("{}, violations: {}, in {:.0?}", report.stats, report.violations(), started.elapsed());
    match report.first_broken() {
        Some(seed) if !arguments.trace => {
            println!("{}", describe(seed, MAX_TRACE_LINES));
            ExitCode::FAILURE
        }
        Some(_) => ExitCode::FAILURE,
        None => ExitCode::SUCCESS,
    }
}
