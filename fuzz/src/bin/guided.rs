//! Runs a target under libFuzzer: `FUZZ_TARGET` names the target, and the arguments are those of libFuzzer.

#![no_main]
#![allow(unsafe_code)]

use std::sync::OnceLock;

use chat_fuzz::{TARGETS, Target, target};
use libfuzzer_sys::fuzz_target;

static CHOSEN: OnceLock<Target> = OnceLock::new();

fn chosen() -> Target {
    let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
    target(&name).unwrap_or_else(|| {
        let names = TARGETS.map(|target| target.name).join(", ");
        eprintln!("invalid FUZZ_TARGET: expected one of {names}, got {name:?}");
        std::process::exit(2)
    })
}

fuzz_target!(|data: &[u8]| (CHOSEN.get_or_init(chosen).run)(data));
