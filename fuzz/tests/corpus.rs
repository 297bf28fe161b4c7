//! Runs every target on its corpus, and then for a moment on mutations of it.
//!
//! `FUZZ_SECONDS` is the time for each target's mutations, 1 where it is not given; `FUZZ_SEED` repeats a
//! run. An input that fails is written to `failures/<target>/`.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use chat_fuzz::{TARGETS, Target, target};
use fastrand::Rng;

/// Maximum bytes of a mutated input, the default of libFuzzer.
const MAX_LENGTH: usize = 4096;

fn folder(kind: &str, target: Target) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(kind).join(target.name)
}

/// Returns the corpus of a target: names and inputs.
fn corpus(target: Target) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder("corpus", target)).expect("a corpus");
    let mut inputs: Vec<_> = entries
        .map(|entry| entry.expect("an entry"))
        .map(|entry| {
            (entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path()).expect("an input"))
        })
        .collect();
    inputs.sort();
    assert!(inputs.len() > 2, "the corpus of {} has {} inputs", target.name, inputs.len());
    inputs
}

/// Returns the words of `dictionary.txt`, which libFuzzer reads too.
fn dictionary() -> Vec<Vec<u8>> {
    let text = include_str!("../dictionary.txt");
    let words = text.lines().filter_map(|line| line.strip_prefix('"')?.strip_suffix('"'));
    words.map(unescaped).collect()
}

/// Decodes a word as libFuzzer does: `\\`, `\"` and `\xAB` stand for a byte.
fn unescaped(word: &str) -> Vec<u8> {
    let (mut bytes, mut rest) = (Vec::new(), word.as_bytes());
    while let [first, after @ ..] = rest {
        let escaped = (*first == b'\\').then(|| match after {
            [b'x', high, low, ..] => {
                let digits = [*high, *low];
                let digits = std::str::from_utf8(&digits).expect("digits");
                (u8::from_str_radix(digits, 16).expect("two hexadecimal digits"), 3)
            }
            [byte, ..] => (*byte, 1),
            [] => panic!("a backslash ends {word}"),
        });
        let (byte, length) = escaped.unwrap_or((*first, 0));
        bytes.push(byte);
        rest = &after[length..];
    }
    bytes
}

/// Runs a target on an input, and saves the input if it fails.
fn survives(target: Target, name: &str, input: &[u8]) {
    let outcome = catch_unwind(AssertUnwindSafe(|| (target.run)(input)));
    if let Err(panic) = outcome {
        let folder = folder("failures", target);
        fs::create_dir_all(&folder).expect("a folder");
        let file = folder.join(format!("{:016x}", digest(input)));
        fs::write(&file, input).expect("written");
        eprintln!("{} fails for {name}, kept as {}", target.name, file.display());
        std::panic::resume_unwind(panic);
    }
}

/// Returns the FNV-1a hash of an input, for its name.
fn digest(input: &[u8]) -> u64 {
    input
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Mutates an input: flips bits, removes or repeats pieces, or inserts pieces of the dictionary or of another
/// input.
fn mutated(random: &mut Rng, input: &[u8], other: &[u8], words: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = input.to_vec();
    for _ in 0..random.usize(1..6) {
        let from = random.usize(0..=bytes.len());
        let to = (from + random.usize(0..=32)).min(bytes.len());
        match random.u8(0..6) {
            0 if from < bytes.len() => bytes[from] ^= 1 << random.u8(0..8),
            1 => drop(bytes.drain(from..to)),
            2 => {
                let piece = bytes[from..to].repeat(random.usize(1..4));
                bytes.splice(from..from, piece);
            }
            3 if !other.is_empty() => {
                let start = random.usize(0..other.len());
                let end = (start + random.usize(1..=64)).min(other.len());
                bytes.splice(from..to, other[start..end].iter().copied());
            }
            4 => bytes.truncate(from),
            _ => _ = bytes.splice(from..from, random.choice(words).into_iter().flatten().copied()),
        }
    }
    bytes.truncate(MAX_LENGTH);
    bytes
}

/// Replays the corpus of a target, and continues with mutations of it.
fn run(name: &str) {
    let target = target(name).expect("a target");
    let inputs = corpus(target);
    for (name, input) in &inputs {
        survives(target, name, input);
    }
    let number = |variable: &str| std::env::var(variable).ok().and_then(|text| text.parse::<u64>().ok());
    let seed = number("FUZZ_SEED").unwrap_or_else(|| fastrand::u64(..));
    let limit = Duration::from_secs(number("FUZZ_SECONDS").unwrap_or(1));
    let (mut random, words, started) = (Rng::with_seed(seed), dictionary(), Instant::now());
    let mut cases = 0_u64;
    while started.elapsed() < limit {
        let (_, input) = random.choice(&inputs).expect("an input");
        let (_, other) = random.choice(&inputs).expect("an input");
        let input = mutated(&mut random, input, other, &words);
        survives(target, &format!("case {cases} of FUZZ_SEED={seed}"), &input);
        cases += 1;
    }
    println!("{name}: {} kept inputs, {cases} mutations, FUZZ_SEED={seed}", inputs.len());
}

macro_rules! targets {
    ($($name:ident),* $(,)?) => {
        $(#[test]
        fn $name() {
            run(stringify!($name));
        })*

        #[test]
        fn every_target_is_run_and_has_a_corpus() {
            let names = [$(stringify!($name)),*];
            assert_eq!(names.as_slice(), TARGETS.map(|target| target.name));
            let folders = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")).expect("corpora");
            for folder in folders {
                let name = folder.expect("an entry").file_name();
                assert!(names.iter().any(|known| name == *known), "a corpus without a target: {name:?}");
            }
        }
    };
}

targets!(
    proxy_request,
    proxy_answer,
    client_answer,
    json,
    language_tag,
    stored_state,
    tab_messages,
    markdown,
    page_html,
    published_job,
    journal,
);
