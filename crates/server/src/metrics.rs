//! Metrics of the server in the text format of Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jurist_core::grade::{Failure, Usd};
use jurist_store::decisions::DecisionState;
use jurist_store::jobs::JobCount;

/// Upper bounds in seconds.
const BOUNDS: [f64; 10] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];

#[derive(Debug, Default)]
pub struct Metrics {
    /// By method, route and status; routes are patterns, so there are few.
    requests: Mutex<BTreeMap<(String, String, u16), Histogram>>,
    /// By kind and outcome.
    jobs: Mutex<BTreeMap<(String, &'static str), Histogram>>,
    spent_nanos: AtomicU64,
    /// Decisions of monitors by state.
    decisions: Mutex<BTreeMap<&'static str, u64>>,
    refused_pieces: AtomicU64,
    cut_traces: AtomicU64,
    refused_connections: Mutex<BTreeMap<ConnectionRefusal, u64>>,
    /// By judge and the kind of failure.
    judge_errors: Mutex<BTreeMap<(String, String), u64>>,
}

/// Why a connection was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConnectionRefusal {
    /// The total limit is reached.
    Full,
    /// The limit of the address is reached.
    AddressFull,
}

impl ConnectionRefusal {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Full => "all",
            Self::AddressFull => "address",
        }
    }
}

#[derive(Debug, Default)]
struct Histogram {
    counts: [u64; BOUNDS.len()],
    n: u64,
    sum: f64,
}

impl Histogram {
    fn add(&mut self, took: Duration) {
        let seconds = took.as_secs_f64();
        for (count, bound) in self.counts.iter_mut().zip(BOUNDS) {
            *count += u64::from(seconds <= bound);
        }
        self.n += 1;
        self.sum += seconds;
    }

    fn write(&self, out: &mut String, name: &str, labels: &str) {
        for (count, bound) in self.counts.iter().zip(BOUNDS) {
            let _ = writeln!(out, "{name}_bucket{{{labels},le=\"{bound}\"}} {count}");
        }
        let _ = writeln!(out, "{name}_bucket{{{labels},le=\"+Inf\"}} {}", self.n);
        let _ = writeln!(out, "{name}_sum{{{labels}}} {}", self.sum);
        let _ = writeln!(out, "{name}_count{{{labels}}} {}", self.n);
    }
}

impl Metrics {
    pub fn request(&self, method: &str, route: &str, status: u16, took: Duration) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.entry((method.to_owned(), route.to_owned(), status)).or_default().add(took);
    }

    pub fn job(&self, kind: &str, outcome: &'static str, took: Duration) {
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        jobs.entry((kind.to_owned(), outcome)).or_default().add(took);
    }

    pub fn add_spend(&self, cost: Usd) {
        self.spent_nanos.fetch_add(u64::try_from(cost.nanos()).unwrap_or(0), Ordering::Relaxed);
    }

    pub fn count_decision(&self, state: DecisionState) {
        let mut decisions = self.decisions.lock().unwrap_or_else(PoisonError::into_inner);
        *decisions.entry(state.as_str()).or_default() += 1;
    }

    pub fn judge_failed(&self, judge: &str, failure: Failure) {
        let mut errors = self.judge_errors.lock().unwrap_or_else(PoisonError::into_inner);
        *errors.entry((judge.to_owned(), failure_name(failure))).or_default() += 1;
    }

    /// Pieces beyond what a trace may have.
    pub fn pieces_refused(&self, n_pieces: usize) {
        self.refused_pieces.fetch_add(n_pieces as u64, Ordering::Relaxed);
    }

    /// A trace that was put together from a part of its pieces.
    pub fn trace_cut(&self) {
        self.cut_traces.fetch_add(1, Ordering::Relaxed);
    }

    pub fn connection_refused(&self, why: ConnectionRefusal) {
        let mut refused = self.refused_connections.lock().unwrap_or_else(PoisonError::into_inner);
        *refused.entry(why).or_default() += 1;
    }

    /// All metrics, including the lengths of job queues.
    pub fn text(&self, queue: &[JobCount]) -> String {
        let mut out = String::new();
        let head = |out: &mut String, name: &str, kind: &str, help: &str| {
            let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
        };
        head(&mut out, "jurist_build_info", "gauge", "The version that runs.");
        let _ = writeln!(out, "jurist_build_info{{version=\"{}\"}} 1", env!("CARGO_PKG_VERSION"));
        let name = "jurist_http_request_duration_seconds";
        head(&mut out, name, "histogram", "Duration of requests, by route and status.");
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        for ((method, route, status), histogram) in &*requests {
            let labels =
                format!("method=\"{method}\",route=\"{}\",status=\"{status}\"", escape_label_value(route));
            histogram.write(&mut out, name, &labels);
        }
        drop(requests);
        let name = "jurist_job_duration_seconds";
        head(&mut out, name, "histogram", "Duration of jobs in this process, by kind and outcome.");
        for ((kind, outcome), histogram) in &*self.jobs.lock().unwrap_or_else(PoisonError::into_inner) {
            let labels = format!("kind=\"{}\",outcome=\"{outcome}\"", escape_label_value(kind));
            histogram.write(&mut out, name, &labels);
        }
        head(&mut out, "jurist_jobs", "gauge", "Jobs in the queue, by kind and state.");
        for count in queue {
            let (kind, state) = (escape_label_value(&count.kind), count.state.as_str());
            let _ = writeln!(out, "jurist_jobs{{kind=\"{kind}\",state=\"{state}\"}} {}", count.n);
        }
        let name = "jurist_monitor_decisions_total";
        head(&mut out, name, "counter", "Decisions of monitors about traces in this process, by state.");
        for (state, n) in &*self.decisions.lock().unwrap_or_else(PoisonError::into_inner) {
            let _ = writeln!(out, "{name}{{state=\"{state}\"}} {n}");
        }
        let name = "jurist_refused_pieces_total";
        head(&mut out, name, "counter", "Spans and events over the limit of one trace.");
        let _ = writeln!(out, "{name} {}", self.refused_pieces.load(Ordering::Relaxed));
        let name = "jurist_cut_traces_total";
        head(&mut out, name, "counter", "Traces of which only the first pieces were read.");
        let _ = writeln!(out, "{name} {}", self.cut_traces.load(Ordering::Relaxed));
        let name = "jurist_refused_connections_total";
        head(&mut out, name, "counter", "Connections that were refused, by the limit that was reached.");
        for (why, n) in &*self.refused_connections.lock().unwrap_or_else(PoisonError::into_inner) {
            let _ = writeln!(out, "{name}{{limit=\"{}\"}} {n}", why.as_str());
        }
        let name = "jurist_judge_errors_total";
        head(&mut out, name, "counter", "Failed judge calls of monitors, by judge and kind of failure.");
        for ((judge, kind), n) in &*self.judge_errors.lock().unwrap_or_else(PoisonError::into_inner) {
            let _ =
                writeln!(out, "{name}{{judge=\"{}\",error_type=\"{kind}\"}} {n}", escape_label_value(judge));
        }
        head(&mut out, "jurist_spend_dollars_total", "counter", "Dollars spent on judges by this process.");
        let spent = self.spent_nanos.load(Ordering::Relaxed) as f64 / 1e9;
        let _ = writeln!(out, "jurist_spend_dollars_total {spent}");
        out
    }
}

/// As the value of a label.
fn escape_label_value(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// Name of a failure in grades and metrics.
pub fn failure_name(failure: Failure) -> String {
    serde_json::to_value(failure).ok().and_then(|value| Some(value.as_str()?.to_owned())).unwrap_or_default()
}
