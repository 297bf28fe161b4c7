//! Prometheus metrics: requests, their durations and their statuses. They identify no visitor.

use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

/// Upper bounds of the histogram, in seconds: a read is quick, and an AI may think for a while.
const BOUNDS: [f64; 11] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 35.0];

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Request {
    call: &'static str,
    status: u16,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Call {
    call: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ConfigLabels {
    found: &'static str,
}

/// The metrics of a proxy. Clones share them.
#[derive(Clone)]
pub struct ProxyMetrics(Arc<Inner>);

struct Inner {
    registry: Registry,
    requests: Family<Request, Counter>,
    seconds: Family<Call, Histogram, fn() -> Histogram>,
    configs: Family<ConfigLabels, Counter>,
}

impl Debug for ProxyMetrics {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str("ProxyMetrics")
    }
}

impl Default for ProxyMetrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("site_connector_proxy");
        let requests = Family::default();
        registry.register("requests", "Requests, by call and status", requests.clone());
        let seconds: Family<Call, Histogram, fn() -> Histogram> =
            Family::new_with_constructor(|| Histogram::new(BOUNDS));
        registry.register("request_seconds", "How long requests took, by call", seconds.clone());
        let configs = Family::default();
        registry.register(
            "configs",
            "Configs returned: fresh or stale from the cache, or fetched from the service",
            configs.clone(),
        );
        Self(Arc::new(Inner { registry, requests, seconds, configs }))
    }
}

impl ProxyMetrics {
    /// Returns all metrics in the `OpenMetrics` text format.
    pub fn render(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = encode(&mut text, &self.0.registry);
        text
    }

    pub(crate) fn record_request(&self, call: &'static str, status: u16, took: Duration) {
        self.0.requests.get_or_create(&Request { call, status }).inc();
        self.0.seconds.get_or_create(&Call { call }).observe(took.as_secs_f64());
    }

    pub(crate) fn record_config(&self, found: &'static str) {
        self.0.configs.get_or_create(&ConfigLabels { found }).inc();
    }
}
