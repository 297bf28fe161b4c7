//! Ten thousand worlds in which everything goes wrong that can, and a few in which one thing does.

#[path = "simulation/mod.rs"]
mod simulation;

use chat_session::{Delivery, Input, Page};
use fastrand::Rng;
use simulation::promises::Violation;
use simulation::switches::Switches;
use simulation::tally::Fact;
use simulation::trace::Trace;
use simulation::world::World;
use simulation::{LAST_LINES, tell, try_all};

/// A number that whoever runs the tests may set.
fn from_env(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn ten_thousand_worlds_keep_the_promises() {
    let seeds = from_env("SIM_SEEDS").unwrap_or(10_000);
    let report = try_all(0..seeds, |_| ());
    println!("{}, {} violations", report.tally, report.violations());
    report.print_broken();
    if let Some(seed) = report.first_broken() {
        panic!("{}", tell(seed, LAST_LINES));
    }
    if seeds < 10_000 {
        return;
    }
    // What is never tried is never proved: the worlds must not go tame.
    for (fact, name, least) in Fact::ALL {
        let times = report.tally[fact];
        assert!(times >= least, "in {seeds} worlds, {name} only {times} times");
    }
}

#[test]
fn replay() {
    if let Some(seed) = from_env("SIM_SEED") {
        println!("{}", tell(seed, LAST_LINES));
    }
}

/// A world in which nothing goes wrong by itself.
fn calm(seed: u64) -> World {
    let switches = Switches { messages_hint: Some(INTERVAL_MS), ..Switches::calm() };
    World::new(switches, Rng::with_seed(seed), Trace::silent())
}

const INTERVAL_MS: i64 = 5_000;

#[test]
fn a_leader_that_crashes_is_replaced_within_two_seconds() -> Result<(), Violation> {
    let mut world = calm(1);
    let first = world.load(true)?;
    world.say(first)?;
    world.pass(10_000)?;
    let second = world.load(true)?;
    world.pass(10_000)?;
    assert!(world.tabs[first.0].session.leads() && !world.tabs[second.0].session.leads());
    world.crash(first);
    let polls = world.ledger.polls.len();
    world.pass(2_000)?;
    assert!(world.ledger.polls.len() > polls, "the other tab polls");
    Ok(())
}

#[test]
fn a_message_goes_on_where_its_tab_crashed() -> Result<(), Violation> {
    let mut world = calm(2);
    world.switches.latency_ms = 1_000;
    let first = world.load(true)?;
    world.pass(500)?;
    world.say(first)?;
    world.pass(400)?;
    world.crash(first);
    let second = world.load(true)?;
    world.pass(10_000)?;
    let shown = world.tabs[second.0].session.entries();
    assert_eq!((shown[0].delivery, shown.len()), (Delivery::Delivered, 2));
    assert_eq!(world.service.copies(0), 1);
    Ok(())
}

/// Visitors who come at the same moment, as after a television spot, must not ask the service at the same moment for
/// ever after.
#[test]
fn two_hundred_visitors_who_begin_in_step_do_not_stay_in_step() -> Result<(), Violation> {
    const VISITORS: usize = 200;
    let mut polls = Vec::new();
    for seed in 0..VISITORS {
        let mut world = calm(seed as u64);
        let tab = world.load(true)?;
        world.feed(tab, Input::Opened(true, Page::default()))?;
        world.say(tab)?;
        world.pass(60_000)?;
        polls.push(world.ledger.polls);
    }
    // The first reads come at once, to each visitor who sends a message.
    for nth in 2..9 {
        let mut times: Vec<u64> = polls.iter().map(|polls| polls[nth]).collect();
        times.sort_unstable();
        let spread_ms = times[VISITORS - 1] - times[0];
        assert!(spread_ms >= INTERVAL_MS.unsigned_abs() / 5, "read {nth} of all within {spread_ms} ms");
        let crowd = |from: &u64| times.iter().filter(|at| (*from..from + 50).contains(at)).count();
        let most = times.iter().map(crowd).max();
        assert!(most <= Some(VISITORS / 10), "{most:?} visitors make read {nth} within 50 ms");
    }
    Ok(())
}
