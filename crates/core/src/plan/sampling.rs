//! Which traces a monitor looks at: decided by a hash, so that everybody decides the same, and so that
//! turning the dial up keeps what was picked before.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::quantity::Usd;
use crate::suite::{AgentOverride, Monitor, MonitorFilter};

/// Expensive traces are looked at so many times as often as others, unless a monitor says otherwise.
const EXPENSIVE_TIMES: f64 = 3.0;

/// What the rule looks at.
#[derive(Debug, Clone, Copy)]
pub struct TraceFacts<'a> {
    pub id: &'a str,
    pub agent: Option<&'a str>,
    pub session: Option<&'a str>,
    /// In the words of its framework.
    pub status: Option<&'a str>,
    pub is_failed: bool,
    pub cost: Option<Usd>,
    /// Seconds.
    pub duration: Option<f64>,
    pub n_steps: u64,
    pub metadata: Option<&'a Map<String, Json>>,
}

/// Traces that are sampled alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TraceStratum {
    /// Always looked at.
    Failed,
    Expensive,
    Other,
}

/// What a monitor makes of a trace.
#[derive(Debug, Clone, PartialEq)]
pub enum SamplingDecision {
    /// The monitor does not cover this trace, so the trace does not count in its estimates.
    NotWatched,
    /// The reason is that of its filter.
    Filtered(String),
    Drawn {
        stratum: TraceStratum,
        probability: f64,
        is_sampled: bool,
    },
}

/// Decides about one trace. `expensive_from` is where the dearest traces of its agent begin, if that is known, and
/// `pace` what shares are multiplied with, except for those that failed.
pub fn pick_trace(
    monitor: &Monitor,
    trace: &TraceFacts<'_>,
    expensive_from: Option<Usd>,
    pace: f64,
) -> SamplingDecision {
    let watched = trace.agent.and_then(|name| monitor.agents.iter().find(|(agent, _)| agent == name));
    let Some((_, own)) = watched else { return SamplingDecision::NotWatched };
    if let Some(why) = filter_refusal(&monitor.filter, trace) {
        return SamplingDecision::Filtered(why);
    }
    let above =
        monitor.expensive.and_then(|expensive| expensive.above).map(usd_from_dollars).or(expensive_from);
    let is_expensive = trace.cost.zip(above).is_some_and(|(cost, above)| above.nanos() <= cost.nanos());
    let (stratum, pace) = match (trace.is_failed, is_expensive) {
        (true, _) => (TraceStratum::Failed, 1.0),
        (false, true) => (TraceStratum::Expensive, pace),
        (false, false) => (TraceStratum::Other, pace),
    };
    let probability = pace * stratum_sample_rate(monitor, *own, stratum);
    let is_sampled = hash_position(monitor.salt.as_deref().unwrap_or_default(), trace.id) < probability;
    SamplingDecision::Drawn { stratum, probability, is_sampled }
}

/// The share of a stratum that is looked at, before money slows anything down. `own` is what holds for the agent.
pub fn stratum_sample_rate(monitor: &Monitor, own: AgentOverride, stratum: TraceStratum) -> f64 {
    let dial = own.sample_rate.unwrap_or(monitor.sample_rate);
    let expensive = || monitor.expensive.unwrap_or_default().sample_rate.unwrap_or(EXPENSIVE_TIMES * dial);
    match stratum {
        TraceStratum::Failed => 1.0,
        TraceStratum::Expensive => expensive().clamp(dial, 1.0),
        TraceStratum::Other => dial,
    }
}

/// The position of an id on 0..1: equal for equal salts, independent for different ones.
pub fn hash_position(salt: &str, id: &str) -> f64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(salt.len() as u64).to_le_bytes()).update(salt.as_bytes()).update(id.as_bytes());
    let bytes = hasher.finalize();
    let head = bytes.as_bytes()[..8].try_into().expect("a hash is longer than that");
    // As many bits as a float keeps.
    (u64::from_le_bytes(head) >> 11) as f64 / (1_u64 << 53) as f64
}

/// Why a filter does not let a trace through.
fn filter_refusal(filter: &MonitorFilter, trace: &TraceFacts<'_>) -> Option<String> {
    let is_status = |text: &String| match text.as_str() {
        "failed" => trace.is_failed,
        "ok" => !trace.is_failed,
        word => trace.status == Some(word),
    };
    if !filter.status.is_empty() && !filter.status.iter().any(is_status) {
        return Some(format!("its status is not one of {}", filter.status.join(", ")));
    }
    if !filter.session.is_empty() && !filter.session.iter().any(|session| trace.session == Some(session)) {
        return Some("it belongs to another session".to_owned());
    }
    let cost = trace.cost.map(|usd| usd.nanos() as f64 / 1e9);
    let bounds = [
        ("cost", cost, filter.min_cost, filter.max_cost),
        ("duration", trace.duration, filter.min_duration, filter.max_duration),
        (
            "number of steps",
            Some(trace.n_steps as f64),
            filter.min_steps.map(|min_step| min_step as f64),
            None,
        ),
    ];
    for (what, value, least, most) in bounds {
        let Some(value) = value else {
            if least.or(most).is_some() {
                return Some(format!("its {what} is unknown"));
            }
            continue;
        };
        if least.is_some_and(|least| value < least) || most.is_some_and(|most| most < value) {
            return Some(format!("its {what} is {value}"));
        }
    }
    let differs = |(key, wanted): &(&String, &Json)| {
        let actual = trace.metadata.and_then(|metadata| metadata.get(*key));
        match wanted {
            Json::Array(any) => !actual.is_some_and(|actual| any.contains(actual)),
            one => actual != Some(one),
        }
    };
    filter.metadata.iter().find(differs).map(|(key, _)| format!("its metadata `{key}` differs"))
}

fn usd_from_dollars(amount: f64) -> Usd {
    Usd::from_nanos((amount * 1e9).round() as i64)
}

impl TraceStratum {
    pub const ALL: [Self; 3] = [Self::Failed, Self::Expensive, Self::Other];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Expensive => "expensive",
            Self::Other => "other",
        }
    }
}

impl std::str::FromStr for TraceStratum {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.map(Self::as_str).join(", ");
        Self::ALL
            .into_iter()
            .find(|trace_stratum| trace_stratum.as_str() == text)
            .ok_or_else(|| format!("`{text}` is not a stratum; there are {known}"))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::rubric::{Criterion, CriterionKind, Draft, Rubric, Scale};
    use crate::suite::Expensive;

    fn monitor(sample_rate: f64) -> Monitor {
        let criteria = vec![Criterion::new("tone", "It is kind.", CriterionKind::Question(Scale::Binary))];
        let own = AgentOverride { sample_rate: Some(1.0) };
        Monitor {
            name: None,
            agents: vec![("desk".into(), AgentOverride::default()), ("critical".into(), own)],
            rubric: Arc::new(Rubric::new(Draft { criteria, ..Draft::default() }).unwrap()),
            judges: Vec::new(),
            disagreement_margin: None,
            sample_rate,
            expensive: None,
            salt: None,
            good_anchors: Vec::new(),
            bad_anchors: Vec::new(),
            schedule: None,
            filter: MonitorFilter::default(),
            budget: None,
            pacing: None,
            alerts: None,
        }
    }

    fn trace(id: &str) -> TraceFacts<'_> {
        TraceFacts {
            id,
            agent: Some("desk"),
            session: None,
            status: None,
            is_failed: false,
            cost: None,
            duration: None,
            n_steps: 3,
            metadata: None,
        }
    }

    fn expect_drawn(pick: &SamplingDecision) -> (TraceStratum, f64, bool) {
        let SamplingDecision::Drawn { stratum, probability, is_sampled } = pick else { panic!("{pick:?}") };
        (*stratum, *probability, *is_sampled)
    }

    #[test]
    fn as_many_are_sampled_as_the_dial_says_and_turning_it_up_keeps_them() {
        let ids: Vec<String> = (0..20_000).map(|n| format!("trace {n}")).collect();
        let sampled = |rate: f64, salt: Option<&str>| -> Vec<bool> {
            let monitor = Monitor { salt: salt.map(str::to_owned), ..monitor(rate) };
            ids.iter().map(|id| expect_drawn(&pick_trace(&monitor, &trace(id), None, 1.0)).2).collect()
        };
        let few = sampled(0.1, None);
        let n = few.iter().filter(|few| **few).count();
        assert!((1_850..2_150).contains(&n), "{n}");
        let more = sampled(0.3, None);
        assert!(few.iter().zip(&more).all(|(few, more)| !few || *more));
        assert_eq!(few, sampled(0.1, None));
        let other = sampled(0.1, Some("other"));
        let both = few.iter().zip(&other).filter(|few| *few.0 && *few.1).count();
        assert!((140..260).contains(&both), "monitors of other salts are not paired: {both}");
        assert!(sampled(1.0, None).iter().all(|sampled| *sampled));
    }

    #[test]
    fn failed_ones_always_and_expensive_ones_more_often() {
        let usd = |value: f64| Some(usd_from_dollars(value));
        let failed = TraceFacts { is_failed: true, cost: usd(9.0), ..trace("a") };
        assert_eq!(
            expect_drawn(&pick_trace(&monitor(0.01), &failed, usd(1.0), 1.0)),
            (TraceStratum::Failed, 1.0, true)
        );
        let dear = TraceFacts { cost: usd(2.0), ..trace("a") };
        let (stratum, probability, _) = expect_drawn(&pick_trace(&monitor(0.1), &dear, usd(2.0), 1.0));
        assert!(stratum == TraceStratum::Expensive && (probability - 0.3).abs() < 1e-9);
        assert_eq!(expect_drawn(&pick_trace(&monitor(0.1), &dear, usd(2.01), 1.0)).0, TraceStratum::Other);
        let with_limit = Expensive { above: Some(0.5), sample_rate: Some(0.05) };
        let with_limit = Monitor { expensive: Some(with_limit), ..monitor(0.1) };
        // Never less often than the others.
        let (stratum, probability, _) = expect_drawn(&pick_trace(&with_limit, &dear, usd(9.0), 1.0));
        assert!(stratum == TraceStratum::Expensive && (probability - 0.1).abs() < 1e-9);
        let critical = TraceFacts { agent: Some("critical"), ..trace("a") };
        assert_eq!(
            expect_drawn(&pick_trace(&monitor(0.1), &critical, None, 1.0)),
            (TraceStratum::Other, 1.0, true)
        );
        assert_eq!(
            pick_trace(&monitor(0.1), &TraceFacts { agent: None, ..trace("a") }, None, 1.0),
            SamplingDecision::NotWatched
        );
    }

    #[test]
    fn a_slower_pace_picks_fewer_of_the_same_and_all_that_failed() {
        let at = |id: &str, is_failed: bool, pace: f64| {
            expect_drawn(&pick_trace(&monitor(0.5), &TraceFacts { is_failed, ..trace(id) }, None, pace))
        };
        let ids: Vec<String> = (0..2_000).map(|n| format!("trace {n}")).collect();
        let picked = |pace: f64| ids.iter().map(|id| at(id, false, pace).2).collect::<Vec<_>>();
        let (slow, full) = (picked(0.3), picked(1.0));
        assert!(slow.iter().zip(&full).all(|(slow, full)| !slow || *full));
        let n = slow.iter().filter(|slow| **slow).count();
        assert!((250..350).contains(&n), "{n}");
        assert!((at("a", false, 0.3).1 - 0.15).abs() < 1e-12);
        assert_eq!(at("a", true, 0.3), (TraceStratum::Failed, 1.0, true));
    }

    #[test]
    fn filters_say_why_they_let_nothing_through() {
        let check = |filter: MonitorFilter, expected: Option<&str>| {
            let metadata = json!({ "plan": "pro" }).as_object().unwrap().clone();
            let trace = TraceFacts { is_failed: true, metadata: Some(&metadata), ..trace("a") };
            match (pick_trace(&Monitor { filter, ..monitor(1.0) }, &trace, None, 1.0), expected) {
                (SamplingDecision::Filtered(why), Some(expected)) => assert!(why.contains(expected), "{why}"),
                (SamplingDecision::Drawn { .. }, None) => {}
                (pick, _) => panic!("{pick:?}, and expected was {expected:?}"),
            }
        };
        let status = |text: &str| MonitorFilter { status: vec![text.to_owned()], ..MonitorFilter::default() };
        check(MonitorFilter::default(), None);
        check(status("failed"), None);
        check(status("ok"), Some("not one of ok"));
        check(status("cancelled"), Some("not one of cancelled"));
        check(MonitorFilter { min_cost: Some(1.0), ..MonitorFilter::default() }, Some("cost is unknown"));
        check(MonitorFilter { min_steps: Some(4), ..MonitorFilter::default() }, Some("number of steps is 3"));
        let metadata = |value: Json| value.as_object().unwrap().clone();
        let with = |value: Json| MonitorFilter { metadata: metadata(value), ..MonitorFilter::default() };
        check(with(json!({ "plan": ["free", "pro"] })), None);
        check(with(json!({ "plan": "free" })), Some("`plan`"));
        check(with(json!({ "region": "eu" })), Some("`region`"));
    }

    #[test]
    fn a_filter_says_why_it_refuses_a_trace() {
        let filter = |json: serde_json::Value| {
            let mut filter = MonitorFilter::default();
            for (key, value) in json.as_object().unwrap() {
                match key.as_str() {
                    "status" => filter.status = vec![value.as_str().unwrap().to_owned()],
                    "session" => filter.session = vec![value.as_str().unwrap().to_owned()],
                    "min_cost" => filter.min_cost = value.as_f64(),
                    "max_cost" => filter.max_cost = value.as_f64(),
                    "min_duration" => filter.min_duration = value.as_f64(),
                    "max_duration" => filter.max_duration = value.as_f64(),
                    _ => panic!("{key}"),
                }
            }
            filter
        };
        let facts = TraceFacts {
            cost: Some(Usd::from_nanos(2_500_000_000)),
            duration: Some(4.0),
            status: Some("slow"),
            session: Some("s1"),
            ..trace("t")
        };
        let refusal = |json| filter_refusal(&filter(json), &facts);
        for passes in [
            json!({ "status": "ok" }),
            json!({ "status": "slow" }),
            json!({ "session": "s1" }),
            json!({ "min_cost": 2.5, "max_cost": 2.5 }),
            json!({ "min_duration": 4.0, "max_duration": 4.0 }),
        ] {
            assert_eq!(refusal(passes.clone()), None, "{passes}");
        }
        for (refused, why) in [
            (json!({ "status": "failed" }), "its status is not one of failed"),
            (json!({ "status": "fast" }), "its status is not one of fast"),
            (json!({ "session": "s2" }), "it belongs to another session"),
            (json!({ "min_cost": 2.6 }), "its cost is 2.5"),
            (json!({ "max_cost": 2.4 }), "its cost is 2.5"),
            (json!({ "min_duration": 5.0 }), "its duration is 4"),
            (json!({ "max_duration": 3.0 }), "its duration is 4"),
        ] {
            assert_eq!(refusal(refused).as_deref(), Some(why));
        }
        assert_eq!(
            filter_refusal(&filter(json!({ "min_cost": 0.0 })), &trace("t")).as_deref(),
            Some("its cost is unknown")
        );
    }

    #[test]
    fn strata_are_read_as_they_are_written() {
        let names = TraceStratum::ALL.map(TraceStratum::as_str);
        assert_eq!(names, ["failed", "expensive", "other"]);
        assert_eq!(names.map(|name| name.parse::<TraceStratum>().unwrap()), TraceStratum::ALL);
        assert!("none".parse::<TraceStratum>().is_err());
    }
}
