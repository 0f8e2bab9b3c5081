//! Traces to add, by what they have in common.

use std::collections::BTreeMap;

use jurist_core::grade::{Time, VerdictStatus};
use jurist_server::datasets::{DEFAULT_FILTERED_TRACES, MOST_ADDED_TRACES};
use jurist_store::traces::TraceListFilter;
use serde_json::Value as Json;

use crate::commands::monitor::parse_date_or_time;
use crate::connection::remote::encode_url_part;

/// Which traces; all conditions hold together, and the newest traces are added.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Filter of traces")]
pub(super) struct TraceFilterArgs {
    /// Add traces of this agent
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Add traces of this session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Add traces with this verdict: pass, fail, error or deferred
    #[arg(long, value_name = "VERDICT", value_parser = parse_verdict_status)]
    verdict: Option<VerdictStatus>,
    /// Add traces whose agent ended with an error
    #[arg(long)]
    failed: bool,
    /// Add traces that began at this time or later, such as 2026-03-01
    #[arg(long, value_name = "TIME", value_parser = parse_date_or_time)]
    since: Option<Time>,
    /// Add traces that began before this time
    #[arg(long, value_name = "TIME", value_parser = parse_date_or_time)]
    until: Option<Time>,
    /// Add traces with this text in their id, agent, session or title
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,
    /// Number of traces to add at most, up to 10000 [default: 1000]
    #[arg(long, value_name = "N", value_parser = parse_trace_limit)]
    max_traces: Option<usize>,
}

fn parse_verdict_status(text: &str) -> Result<VerdictStatus, String> {
    let all = [VerdictStatus::Pass, VerdictStatus::Fail, VerdictStatus::Error, VerdictStatus::Deferred];
    let named = all.into_iter().find(|status| status.as_str() == text);
    named.ok_or_else(|| "one of pass, fail, error, deferred".to_owned())
}

fn parse_trace_limit(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=MOST_ADDED_TRACES).contains(number));
    number.ok_or_else(|| format!("a number from 1 to {MOST_ADDED_TRACES}"))
}

impl TraceFilterArgs {
    pub(super) fn is_given(&self) -> bool {
        self.max_traces.is_some() || self.list_filter() != TraceListFilter::default()
    }

    pub(super) fn limit(&self) -> usize {
        self.max_traces.unwrap_or(DEFAULT_FILTERED_TRACES)
    }

    pub(super) fn list_filter(&self) -> TraceListFilter {
        TraceListFilter {
            agent: self.agent.clone(),
            session: self.session.clone(),
            verdict: self.verdict,
            is_failed: self.failed.then_some(true),
            from: self.since,
            until: self.until,
            search: self.search.clone(),
            ..TraceListFilter::default()
        }
    }

    /// The message for a filter that finds nothing, with the flags that were given.
    pub(super) fn describe_no_match(&self) -> String {
        let text = |text: &str| match text.contains(char::is_whitespace) {
            true => format!("'{text}'"),
            false => text.to_owned(),
        };
        let flags = [
            ("--agent", self.agent.as_deref().map(text)),
            ("--session", self.session.as_deref().map(text)),
            ("--verdict", self.verdict.map(|status| status.as_str().to_owned())),
            ("--failed", self.failed.then(String::new)),
            ("--since", self.since.map(|time| time.to_string())),
            ("--until", self.until.map(|time| time.to_string())),
            ("--search", self.search.as_deref().map(text)),
        ];
        let given = flags.iter().filter_map(|(flag, value)| Some(format!("{flag} {}", value.as_ref()?)));
        let given = given.map(|flag| flag.trim_end().to_owned()).collect::<Vec<_>>().join(" ");
        match given.as_str() {
            "" => "the project has no traces".to_owned(),
            given => format!("no trace matches `{given}`"),
        }
    }

    /// As parameters of `GET /traces`, for the first `limit` traces.
    pub(super) fn to_query(&self, limit: usize) -> String {
        let mut fields = self.to_request();
        fields.insert("limit".to_owned(), Json::from(limit));
        let parameters = fields.iter().map(|(name, value)| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            format!("{name}={}", encode_url_part(&text))
        });
        parameters.collect::<Vec<_>>().join("&")
    }

    /// As the API takes it.
    pub(super) fn to_request(&self) -> BTreeMap<String, Json> {
        let time = |time: Time| Json::from(time.to_string());
        let fields = [
            ("agent", self.agent.clone().map(Json::from)),
            ("session", self.session.clone().map(Json::from)),
            ("verdict", self.verdict.map(|status| Json::from(status.as_str()))),
            ("failed", self.failed.then_some(Json::from(true))),
            ("from", self.since.map(time)),
            ("until", self.until.map(time)),
            ("search", self.search.clone().map(Json::from)),
            ("limit", Some(Json::from(self.limit()))),
        ];
        fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }
}
