//! The measurements of a run, as a table and as one line of JSON.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::histogram::Histogram;
use crate::process;

/// The measurements of a run.
#[derive(Debug)]
pub(crate) struct Measured {
    /// The kinds of requests, each with its latencies since the time at which the request was due.
    kinds: Vec<(&'static str, Histogram)>,
    /// The delay of the generator itself: from the time at which a request was due to the time at which it
    /// was sent.
    lag: Histogram,
    errors: u64,
    refused: u64,
    pids: Vec<String>,
    begun: Instant,
    cpu: Duration,
    own_cpu: Duration,
}

impl Measured {
    /// Begins a measurement. `pids` are the processes of the service.
    pub(crate) fn begin(kinds: &[&'static str], pids: Vec<String>) -> Self {
        Self {
            kinds: kinds.iter().map(|kind| (*kind, Histogram::default())).collect(),
            lag: Histogram::default(),
            errors: 0,
            refused: 0,
            begun: Instant::now(),
            cpu: process::cpu_time(&pids),
            own_cpu: process::cpu_time(&["self".to_owned()]),
            pids,
        }
    }

    /// Records a response, or that there was none.
    pub(crate) fn record(&mut self, kind: &str, due: Instant, sent: Instant, status: Option<u16>) {
        self.lag.record(sent.saturating_duration_since(due));
        match status {
            None => self.errors += 1,
            Some(200) => {
                if let Some((_, histogram)) = self.kinds.iter_mut().find(|(name, _)| *name == kind) {
                    histogram.record(due.elapsed());
                }
            }
            Some(_) => self.refused += 1,
        }
    }

    /// Ends the measurement, and returns it as JSON.
    pub(crate) fn finish(&self) -> Value {
        let seconds = self.begun.elapsed().as_secs_f64();
        let requests: u64 = self.kinds.iter().map(|(_, histogram)| histogram.count()).sum();
        let cpu = process::cpu_time(&self.pids).saturating_sub(self.cpu);
        let own_cpu = process::cpu_time(&["self".to_owned()]).saturating_sub(self.own_cpu);
        let each = |total: Duration| round(total.as_secs_f64() * 1e6 / to_f64(requests.max(1)));
        let kinds =
            self.kinds.iter().map(|(kind, histogram)| ((*kind).to_owned(), latencies(histogram, seconds)));
        json!({
            "seconds": round(seconds),
            "requests": requests,
            "perSecond": round(to_f64(requests) / seconds),
            "errors": self.errors,
            "refused": self.refused,
            "kinds": kinds.collect::<serde_json::Map<_, _>>(),
            "generatorLagMs": { "p99": round(self.lag.quantile_ms(990)), "max": round(self.lag.max_ms()) },
            "serviceCpuMicrosPerRequest": each(cpu),
            "generatorCpuMicrosPerRequest": each(own_cpu),
            "serviceMemoryMiB": round(process::resident_mib(&self.pids)),
        })
    }
}

fn latencies(histogram: &Histogram, seconds: f64) -> Value {
    json!({
        "count": histogram.count(),
        "perSecond": round(to_f64(histogram.count()) / seconds),
        "p50Ms": round(histogram.quantile_ms(500)),
        "p99Ms": round(histogram.quantile_ms(990)),
        "p999Ms": round(histogram.quantile_ms(999)),
        "maxMs": round(histogram.max_ms()),
    })
}

/// Prints a measurement: one line of JSON, and a table on standard error unless `json` is set.
pub(crate) fn print(measured: &Value, json: bool) {
    println!("{measured}");
    if json {
        return;
    }
    eprintln!(
        "{:>10} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "", "count", "per s", "p50 ms", "p99 ms", "p99.9 ms", "max ms"
    );
    for (kind, row) in measured["kinds"].as_object().into_iter().flatten() {
        let cell = |name: &str| row[name].to_string();
        let [count, rate] = ["count", "perSecond"].map(cell);
        let [p50, p99, p999, max] = ["p50Ms", "p99Ms", "p999Ms", "maxMs"].map(cell);
        eprintln!("{kind:>10} {count:>9} {rate:>9} {p50:>9} {p99:>9} {p999:>9} {max:>9}");
    }
    for (name, value) in measured.as_object().into_iter().flatten().filter(|(name, _)| *name != "kinds") {
        eprintln!("{name}: {value}");
    }
}

fn round(value: f64) -> f64 {
    (value * 100.0).round() / 100.0 + 0.0
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn to_f64(count: u64) -> f64 {
    count as f64
}
