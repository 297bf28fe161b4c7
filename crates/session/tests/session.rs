//! Random simulations with every kind of fault, and a few scenarios with one fault each. `conversation` has
//! scenarios without a network.

mod conversation;
mod simulation;

use chat_session::{Delivery, Input, Page};
use fastrand::Rng;
use simulation::engine::Simulation;
use simulation::invariants::Violation;
use simulation::scenario::Scenario;
use simulation::stats::Fact;
use simulation::trace::Trace;
use simulation::{MAX_TRACE_LINES, describe, try_all};

/// Reads a number from an environment variable.
fn from_env(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn ten_thousand_simulations_keep_every_invariant() {
    let seeds = from_env("SIM_SEEDS").unwrap_or(10_000);
    let report = try_all(0..seeds, |_| ());
    println!("{}, {} violations", report.stats, report.violations());
    report.print_broken();
    if let Some(seed) = report.first_broken() {
        panic!("{}", describe(seed, MAX_TRACE_LINES));
    }
    if seeds < 10_000 {
        return;
    }
    // The simulations must still exercise every situation.
    for (fact, name, min) in Fact::ALL {
        let times = report.stats[fact];
        assert!(times >= min, "in {seeds} simulations, only {times} times: {name}");
    }
}

#[test]
fn replay() {
    if let Some(seed) = from_env("SIM_SEED") {
        println!("{}", describe(seed, MAX_TRACE_LINES));
    }
}

/// Returns a simulation without random faults.
fn calm(seed: u64) -> Simulation {
    let scenario = Scenario { messages_hint: Some(INTERVAL_MS), ..Scenario::calm() };
    Simulation::new(scenario, Rng::with_seed(seed), Trace::silent())
}

const INTERVAL_MS: i64 = 5_000;

#[test]
fn a_leader_that_crashes_is_replaced_within_two_seconds() -> Result<(), Violation> {
    let mut simulation = calm(1);
    let first = simulation.load(true)?;
    simulation.send(first)?;
    simulation.advance(10_000)?;
    let second = simulation.load(true)?;
    simulation.advance(10_000)?;
    assert!(simulation.tabs[first.0].session.leads() && !simulation.tabs[second.0].session.leads());
    simulation.crash(first);
    let polls = simulation.ledger.message_polls.len();
    simulation.advance(2_000)?;
    assert!(simulation.ledger.message_polls.len() > polls, "the other tab polls");
    Ok(())
}

#[test]
fn resends_in_a_new_tab_after_the_sending_tab_crashed() -> Result<(), Violation> {
    let mut simulation = calm(2);
    simulation.scenario.latency_ms = 1_000;
    let first = simulation.load(true)?;
    simulation.advance(500)?;
    simulation.send(first)?;
    simulation.advance(400)?;
    simulation.crash(first);
    let second = simulation.load(true)?;
    simulation.advance(10_000)?;
    let shown = simulation.tabs[second.0].session.entries();
    assert_eq!((shown[0].delivery, shown.len()), (Delivery::Delivered, 2));
    assert_eq!(simulation.service.copies(0), 1);
    Ok(())
}

#[test]
fn shows_the_newest_messages_of_a_long_history_ahead_and_then_all_in_parts() -> Result<(), Violation> {
    let mut simulation = calm(3);
    (simulation.scenario.part_size, simulation.scenario.earlier_messages) = (3, 4);
    simulation.continue_conversation();
    let tab = simulation.load(true)?;
    let shown = |simulation: &Simulation| -> Vec<String> {
        simulation.tabs[tab.0].session.entries().iter().map(|entry| entry.text.to_string()).collect()
    };
    while shown(&simulation).is_empty() {
        simulation.advance(1)?;
    }
    assert_eq!(shown(&simulation), ["m3", "#8"]);
    simulation.advance(10_000)?;
    assert_eq!(shown(&simulation), ["m0", "#2", "m1", "#4", "m2", "#6", "m3", "#8"]);
    let stats = simulation.into_stats();
    assert_eq!(
        (stats[Fact::NewestShownAhead], stats[Fact::HistoryPart]),
        (1, 2),
        "the last part is not counted"
    );
    Ok(())
}

/// Visitors who arrive at the same moment, as after a television spot, must not keep polling at the same
/// moment.
#[test]
fn spreads_the_polls_of_visitors_who_start_at_the_same_moment() -> Result<(), Violation> {
    const VISITORS: usize = 200;
    let mut polls = Vec::new();
    for seed in 0..VISITORS {
        let mut simulation = calm(seed as u64);
        let tab = simulation.load(true)?;
        simulation.feed(tab, Input::Opened(true, Page::default()))?;
        simulation.send(tab)?;
        simulation.advance(60_000)?;
        polls.push(simulation.ledger.message_polls);
    }
    // The first polls follow the visitor's message at once.
    for nth in 2..9 {
        let mut times: Vec<u64> = polls.iter().map(|polls| polls[nth]).collect();
        times.sort_unstable();
        let spread_ms = times[VISITORS - 1] - times[0];
        assert!(
            spread_ms >= INTERVAL_MS.unsigned_abs() / 5,
            "poll {nth} of all visitors within {spread_ms} ms"
        );
        let crowd = |from: &u64| times.iter().filter(|at| (*from..from + 50).contains(at)).count();
        let largest = times.iter().map(crowd).max();
        assert!(largest <= Some(VISITORS / 10), "{largest:?} visitors make poll {nth} within 50 ms");
    }
    Ok(())
}
