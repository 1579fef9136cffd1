//! Counters in the text format of Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Upper ends of the buckets of durations, in seconds.
const BUCKETS: [f64; 12] =
    [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0];

/// Everything that is counted.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    /// By route, model and status.
    requests: Mutex<BTreeMap<(&'static str, String, u16), u64>>,
    /// By route.
    seconds: Mutex<BTreeMap<&'static str, Histogram>>,
    /// Examples by model.
    examples: Mutex<BTreeMap<String, u64>>,
    /// By model: loaded, and failed to load.
    loads: Mutex<BTreeMap<String, [u64; 2]>>,
    pub(crate) connections: AtomicU64,
    pub(crate) refused: AtomicU64,
    pub(crate) in_flight: AtomicU64,
    pub(crate) panics: AtomicU64,
}

#[derive(Clone, Debug, Default)]
struct Histogram {
    buckets: [u64; BUCKETS.len()],
    sum: f64,
    n: u64,
}

/// What is counted survives a panic of whoever held the lock.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl Metrics {
    pub(crate) fn request(&self, route: &'static str, model: &str, status: u16, took: Duration) {
        *lock(&self.requests).entry((route, model.to_owned(), status)).or_default() += 1;
        let mut seconds = lock(&self.seconds);
        let histogram = seconds.entry(route).or_default();
        let took = took.as_secs_f64();
        for (count, end) in histogram.buckets.iter_mut().zip(BUCKETS) {
            *count += u64::from(took <= end);
        }
        histogram.sum += took;
        histogram.n += 1;
    }

    pub(crate) fn examples(&self, model: &str, n: usize) {
        let mut examples = lock(&self.examples);
        match examples.get_mut(model) {
            Some(count) => *count += n as u64,
            None => {
                examples.insert(model.to_owned(), n as u64);
            }
        }
    }

    pub(crate) fn load(&self, model: &str, failed: bool) {
        lock(&self.loads).entry(model.to_owned()).or_default()[usize::from(failed)] += 1;
    }

    /// The text; `held` bytes are in use.
    pub(crate) fn text(&self, held: usize) -> String {
        let mut out = String::new();
        let head = |out: &mut String, name: &str, kind: &str, help: &str| {
            let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
        };
        head(&mut out, "lineal_requests_total", "counter", "Requests that were answered.");
        for ((route, model, status), n) in lock(&self.requests).iter() {
            let model = escaped(model);
            let _ = writeln!(
                out,
                "lineal_requests_total{{route=\"{route}\",model=\"{model}\",status=\"{status}\"}} {n}"
            );
        }
        let name = "lineal_request_seconds";
        head(&mut out, name, "histogram", "From a request's head to its answer.");
        for (route, histogram) in lock(&self.seconds).iter() {
            for (n, end) in histogram.buckets.iter().zip(BUCKETS) {
                let _ = writeln!(out, "{name}_bucket{{route=\"{route}\",le=\"{end}\"}} {n}");
            }
            let _ = writeln!(out, "{name}_bucket{{route=\"{route}\",le=\"+Inf\"}} {}", histogram.n);
            let _ = writeln!(out, "{name}_sum{{route=\"{route}\"}} {}", histogram.sum);
            let _ = writeln!(out, "{name}_count{{route=\"{route}\"}} {}", histogram.n);
        }
        head(
            &mut out,
            "lineal_examples_total",
            "counter",
            "Examples that were predicted or explained.",
        );
        for (model, n) in lock(&self.examples).iter() {
            let _ = writeln!(out, "lineal_examples_total{{model=\"{}\"}} {n}", escaped(model));
        }
        for (at, name, help) in [
            (0, "lineal_model_loads_total", "Files that became the model in use."),
            (
                1,
                "lineal_model_load_errors_total",
                "Files that could not be loaded: the model before them goes on.",
            ),
        ] {
            head(&mut out, name, "counter", help);
            for (model, counts) in lock(&self.loads).iter() {
                let _ = writeln!(out, "{name}{{model=\"{}\"}} {}", escaped(model), counts[at]);
            }
        }
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        for (name, kind, help, value) in [
            ("lineal_connections", "gauge", "Connections that are open.", of(&self.connections)),
            (
                "lineal_connections_refused_total",
                "counter",
                "Connections beyond the limit.",
                of(&self.refused),
            ),
            (
                "lineal_requests_in_flight",
                "gauge",
                "Requests without an answer yet.",
                of(&self.in_flight),
            ),
            (
                "lineal_memory_bytes",
                "gauge",
                "Bytes of bodies and answers that are held.",
                held as u64,
            ),
            (
                "lineal_panics_total",
                "counter",
                "Faults of the program while it answered.",
                of(&self.panics),
            ),
        ] {
            head(&mut out, name, kind, help);
            let _ = writeln!(out, "{name} {value}");
        }
        out
    }
}

fn escaped(label: &str) -> String {
    label.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_add_up_and_labels_are_escaped() {
        let metrics = Metrics::default();
        metrics.request("predict", "a\"b", 200, Duration::from_micros(700));
        metrics.request("predict", "a\"b", 200, Duration::from_secs(100));
        metrics.load("m", true);
        metrics.examples("m", 3);
        let text = metrics.text(7);
        for line in [
            r#"lineal_requests_total{route="predict",model="a\"b",status="200"} 2"#,
            r#"lineal_request_seconds_bucket{route="predict",le="0.0005"} 0"#,
            r#"lineal_request_seconds_bucket{route="predict",le="0.001"} 1"#,
            r#"lineal_request_seconds_bucket{route="predict",le="+Inf"} 2"#,
            r#"lineal_model_load_errors_total{model="m"} 1"#,
            r#"lineal_model_loads_total{model="m"} 0"#,
            r#"lineal_examples_total{model="m"} 3"#,
            "lineal_memory_bytes 7",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
        }
    }
}
