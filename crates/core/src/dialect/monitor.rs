//! The monitor dialect: a prompt with a scoring scale, over a sample of one agent's live traces.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use regex::Regex;

use super::context::Context;
use super::fields::MappingReader;
use super::lower::{Spot, accept, accept_without_advice};
use super::rubric::{EvalRubricAdditions, NamedRubrics, read_rubric_definition};
use crate::diagnostic::{Code, Diagnostic};
use crate::rubric::{Criterion, CriterionKind, Display, Draft, Rubric, Scale};
use crate::source::{NodeShape, SourceNode, SourceSpan};
use crate::suite::{
    AgentOverride, AlertLimits, AlertMetric, AlertRule, Expensive, Monitor, MonitorBudget, MonitorFilter,
    Pacing, check_schedule, schedule_names,
};

/// Keys that make a file with `rubric` a monitor.
pub(super) const MARKS: [&str; 2] = ["agent", "agents"];

/// Share of traces judged unless the file says otherwise.
const SAMPLE_RATE: f64 = 0.1;

/// Fewer anchors than this hardly steer a judge.
const FEW_ANCHORS: usize = 4;

/// One monitor: a file of its own, or an entry of a native file's `monitors`.
pub(super) fn read_monitor_definition(fields: MappingReader<'_>, named: &NamedRubrics) -> Option<Monitor> {
    let cx = fields.cx;
    let agents = read_monitor_agents(&fields);
    let pass_mark =
        fields.get("pass_threshold").and_then(|node| Some((cx.number(node, "pass_threshold")?, node.span)));
    let rubric = fields.need("rubric").and_then(|node| match &node.shape {
        NodeShape::Scalar(_) => from_prompt(cx, node),
        _ => read_rubric_definition(cx, node, named, EvalRubricAdditions::default()),
    });
    let rubric = rubric.and_then(|rubric| with_pass_mark(cx, rubric, pass_mark));
    fields.exclusive("judge_model", "judges", "one judge, or several");
    if fields.list_is_empty("judges") {
        cx.error(Code::Empty, fields.key_span("judges"), "`judges` is empty");
    }
    let judges = match fields.text("judge_model") {
        Some(model) => vec![model],
        None => fields.texts("judges"),
    };
    let (good_anchors, bad_anchors) = fields
        .fields("calibration_anchors", "set of anchors")
        .map(read_calibration_anchors)
        .unwrap_or_default();
    let n_anchors = good_anchors.len() + bad_anchors.len();
    if fields.has("calibration_anchors") && n_anchors < FEW_ANCHORS {
        let count = if n_anchors == 1 { "1 anchor".to_owned() } else { format!("{n_anchors} anchors") };
        cx.report(
            Diagnostic::warning(
                Code::NoEffect,
                fields.key_span("calibration_anchors"),
                format!("{count} will hardly steer a judge"),
            )
            .help("10 to 20 good and bad examples work best"),
        );
    }
    let alerts = fields.fields("alerts", "alerts").map(|limits| {
        let watched = RuleSubjects {
            agents: agents.iter().map(|(agent, _)| agent.clone()).collect(),
            criteria: rubric
                .as_ref()
                .map(|rubric| rubric.questions().map(|question| question.id()).collect()),
            has_budget: fields.has("budget"),
        };
        read_alert_limits(limits, &watched)
    });
    let monitor = Monitor {
        name: fields.name("name"),
        agents,
        judges,
        disagreement_margin: fields.number_in("disagreement_margin", 0.0..=1.0),
        sample_rate: fields.number_in("sample_rate", 0.01..=1.0).unwrap_or(SAMPLE_RATE),
        expensive: fields.fields("expensive", "expensive").map(expensive),
        salt: fields.text("salt"),
        good_anchors,
        bad_anchors,
        schedule: fields.get("schedule").and_then(|node| schedule(cx, node)),
        filter: fields.fields("filter", "filter").map(filter).unwrap_or_default(),
        budget: fields.fields("budget", "budget").and_then(read_monitor_budget),
        pacing: fields.fields("pacing", "pacing").map(read_pacing_settings),
        alerts,
        rubric: match rubric {
            Some(rubric) => rubric,
            None => {
                fields.finish();
                return None;
            }
        },
    };
    fields.finish();
    Some(monitor)
}

fn read_monitor_agents(fields: &MappingReader<'_>) -> Vec<(String, AgentOverride)> {
    fields.exclusive("agent", "agents", "one agent, or several");
    if let Some(agent) = fields.name("agent") {
        return vec![(agent, AgentOverride::default())];
    }
    let Some(node) = fields.get("agents") else {
        fields.missing("agent");
        return Vec::new();
    };
    if node.list().is_some_and(<[SourceNode]>::is_empty) || node.map().is_some_and(<[_]>::is_empty) {
        fields.cx.error(Code::Empty, fields.key_span("agents"), "`agents` is empty");
    }
    match &node.shape {
        NodeShape::List(_) => {
            fields.texts("agents").into_iter().map(|text| (text, AgentOverride::default())).collect()
        }
        _ => {
            let entries = fields.cx.entries(node, "agents").unwrap_or_default();
            entries.iter().map(|entry| (entry.key.clone(), agent_override(fields.cx, &entry.value))).collect()
        }
    }
}

fn agent_override(cx: &Context<'_>, node: &SourceNode) -> AgentOverride {
    if node.is_null() {
        return AgentOverride::default();
    }
    let Some(fields) = MappingReader::new(cx, node, "agent") else { return AgentOverride::default() };
    let sample_rate = fields.number_in("sample_rate", 0.01..=1.0);
    fields.finish();
    AgentOverride { sample_rate }
}

fn read_calibration_anchors(fields: MappingReader<'_>) -> (Vec<String>, Vec<String>) {
    let ids = |key| {
        let items = fields.list(key).unwrap_or_default().iter();
        items.filter_map(|node| read_anchor_id(fields.cx, node)).collect::<Vec<String>>()
    };
    let read = (ids("good"), ids("bad"));
    fields.finish();
    read
}

/// `{run_id: …}`, `{trace_id: …}` or the id alone.
fn read_anchor_id(cx: &Context<'_>, node: &SourceNode) -> Option<String> {
    if node.map().is_none() {
        return cx.plain_text(node, "calibration_anchors");
    }
    let fields = MappingReader::new(cx, node, "anchor")?;
    let id = fields.any(&["run_id", "trace_id"]).and_then(|node| cx.plain_text(node, "run_id"));
    if id.is_none() {
        fields.missing("run_id");
    }
    fields.finish();
    id
}

fn expensive(fields: MappingReader<'_>) -> Expensive {
    let read = Expensive {
        above: fields.number_in("above", 0.0..=1e6),
        sample_rate: fields.number_in("sample_rate", 0.01..=1.0),
    };
    fields.finish();
    read
}

fn filter(fields: MappingReader<'_>) -> MonitorFilter {
    let limit = |key| fields.number_in(key, 0.0..=1e9);
    let read = MonitorFilter {
        status: fields.texts("status"),
        session: fields.texts("session"),
        min_cost: limit("min_cost"),
        max_cost: limit("max_cost"),
        min_duration: limit("min_duration"),
        max_duration: limit("max_duration"),
        min_steps: fields.integer("min_steps", 0..=1_000_000).map(|integer| integer as u64),
        metadata: fields.json_map("metadata"),
    };
    let ends = [
        ("min_cost", "max_cost", read.min_cost, read.max_cost),
        ("min_duration", "max_duration", read.min_duration, read.max_duration),
    ];
    for (least, most, from, to) in ends {
        if from.zip(to).is_some_and(|(from, to)| to < from) {
            fields.cx.error(
                Code::Conflict,
                fields.span(least),
                format!("no trace has more than `{least}` and less than `{most}`"),
            );
        }
    }
    fields.finish();
    read
}

fn read_monitor_budget(fields: MappingReader<'_>) -> Option<MonitorBudget> {
    let monthly = fields.need("monthly").and_then(|node| fields.cx.number_in(node, "monthly", 0.0..=1e9));
    let currency = fields.text("currency").unwrap_or_else(|| "GBP".to_owned());
    if currency.len() != 3 || !currency.chars().all(|letter| letter.is_ascii_uppercase()) {
        let span = fields.span("currency");
        fields.cx.error(
            Code::BadValue,
            span,
            format!("`{currency}` is not a currency code such as GBP, EUR or USD"),
        );
    }
    fields.finish();
    Some(MonitorBudget { monthly: monthly?, currency })
}

fn read_pacing_settings(fields: MappingReader<'_>) -> Pacing {
    let usual = Pacing::default();
    let read = Pacing {
        floor: fields.number_in("floor", 0.01..=1.0).unwrap_or(usual.floor),
        kept_for_failures: fields
            .number_in("kept_for_failures", 0.0..=0.9)
            .unwrap_or(usual.kept_for_failures),
    };
    fields.finish();
    read
}

/// What rules of alerts can be about.
struct RuleSubjects {
    agents: Vec<String>,
    /// None where the rubric cannot be read.
    criteria: Option<Vec<String>>,
    has_budget: bool,
}

fn read_alert_limits(fields: MappingReader<'_>, subjects: &RuleSubjects) -> AlertLimits {
    let usual = AlertLimits::default();
    let rules = fields.list("rules").unwrap_or_default();
    if AlertRule::MOST < rules.len() {
        let message =
            format!("a monitor has at most {} rules, and these are {}", AlertRule::MOST, rules.len());
        fields.cx.error(Code::BadValue, fields.key_span("rules"), message);
    }
    let read = AlertLimits {
        error_rate: fields.number_in("error_rate", 0.0..=1.0).unwrap_or(usual.error_rate),
        disagreement_rate: fields
            .number_in("disagreement_rate", 0.0..=1.0)
            .unwrap_or(usual.disagreement_rate),
        silence_hours: fields.number_in("silence_hours", 0.1..=10_000.0).unwrap_or(usual.silence_hours),
        rules: rules.iter().filter_map(|rule| read_alert_rule(fields.cx, rule, subjects)).collect(),
    };
    fields.finish();
    read
}

/// `{when: score < 0.7, over: 7d, agent: …, criterion: …}`.
fn read_alert_rule(cx: &Context<'_>, node: &SourceNode, subjects: &RuleSubjects) -> Option<AlertRule> {
    let fields = MappingReader::new(cx, node, "rule")?;
    let when = fields.need("when").and_then(|when| {
        let text = cx.plain_text(when, "when")?;
        text.parse().map_err(|why: String| cx.error(Code::BadValue, when.span, why)).ok()
    });
    let over = fields.get("over").and_then(|over| read_window_days(cx, over));
    let (agent, criterion) = (fields.text("agent"), fields.text("criterion"));
    let (agent_span, criterion_span) = (fields.span("agent"), fields.span("criterion"));
    let (has_over, over_span) = (fields.has("over"), fields.key_span("over"));
    fields.finish();
    let condition: crate::suite::AlertCondition = when?;
    let metric = condition.metric;
    let name = metric.as_str();
    if let Some(agent) = agent.as_ref().filter(|agent| !subjects.agents.contains(agent)) {
        cx.error(Code::UnknownName, agent_span, format!("this monitor does not watch `{agent}`"));
    }
    if let Some(criterion) = &criterion {
        if !metric.is_by_criterion() {
            let message = format!("`{name}` is of whole traces and not of a criterion");
            cx.error(Code::Conflict, criterion_span, message);
        } else if subjects.criteria.as_ref().is_some_and(|criteria| !criteria.contains(criterion)) {
            cx.error(Code::UnknownName, criterion_span, format!("the rubric has no criterion `{criterion}`"));
        }
    }
    if metric == AlertMetric::Budget {
        if !subjects.has_budget {
            cx.error(Code::MissingKey, node.span, "this monitor has no `budget` to spend a share of");
        }
        if has_over {
            cx.error(Code::Conflict, over_span, "a budget is of a month, and of no other time");
        }
        if agent.is_some() {
            cx.error(Code::Conflict, agent_span, "a budget is of the monitor and not of an agent");
        }
    }
    Some(AlertRule { condition, days: over.unwrap_or(AlertRule::DAYS), agent, criterion })
}

/// `7d`.
fn read_window_days(cx: &Context<'_>, node: &SourceNode) -> Option<u32> {
    let text = cx.plain_text(node, "over")?;
    let days = text.strip_suffix('d').and_then(|days| days.trim().parse::<u32>().ok());
    let days = days.filter(|days| (1..=AlertRule::MAX_DAYS).contains(days));
    if days.is_none() {
        let message = format!(
            "`{text}` is not a number of days from 1d to {}d; sums are kept by day",
            AlertRule::MAX_DAYS
        );
        cx.error(Code::BadValue, node.span, message);
    }
    days
}

/// Five fields of a cron table, or one of its names.
fn schedule(cx: &Context<'_>, node: &SourceNode) -> Option<String> {
    let text = cx.plain_text(node, "schedule")?;
    let Err(why) = check_schedule(&text) else { return Some(text) };
    let names: Vec<&str> = schedule_names().collect();
    cx.report(Diagnostic::error(Code::BadValue, node.span, format!("`{text}` {why}")).note(format!(
        "a schedule is five cron fields (minute hour day month weekday) or {}",
        names.join(", ")
    )));
    None
}

/// Applies a pass mark given in the units of the one scale that all criteria share.
fn with_pass_mark(
    cx: &Context<'_>,
    rubric: Arc<Rubric>,
    pass_mark: Option<(f64, SourceSpan)>,
) -> Option<Arc<Rubric>> {
    let Some((mark, span)) = pass_mark else { return Some(rubric) };
    let mut bounds = rubric.questions().map(|question| match &question.criterion.ask {
        CriterionKind::Question(scale) => scale.bounds(),
        _ => None,
    });
    let first = bounds.next().flatten();
    let Some((min, max)) = first.filter(|_| bounds.all(|bound| bound == first)) else {
        cx.report(
            Diagnostic::error(
                Code::Conflict,
                span,
                "`pass_threshold` needs criteria that share one scale of numbers",
            )
            .help("give the rubric a `threshold` from 0 to 1 instead"),
        );
        return None;
    };
    drop(bounds);
    if !(min..=max).contains(&mark) {
        cx.report(
            Diagnostic::error(Code::BadValue, span, format!("`pass_threshold` is {mark}"))
                .label(format!("the scale goes from {min} to {max}")),
        );
        return None;
    }
    let draft = Draft { pass_mark: (mark - min) / (max - min), ..Draft::clone(&rubric) };
    accept_without_advice(cx, draft, &Spot::new(span)).map(Arc::new)
}

static NUMBERED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^\s*\d+[.)]\s+(.+?)\s*(?:[(\[]\s*(-?\d+)\s*(?:-|–|to)\s*(-?\d+)\s*[)\]])?\s*[.:;]?\s*$")
        .expect("a valid pattern")
});
static FIELD: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#""([^"]+)"\s*:\s*"?<?([A-Za-z0-9]+)[^,}]*"#).expect("a valid pattern"));

/// The dimensions of a prompt: its numbered lines, named by the JSON it asks for.
fn from_prompt(cx: &Context<'_>, node: &SourceNode) -> Option<Arc<Rubric>> {
    let text = cx.text(node, "rubric")?;
    let span = cx.head(node);
    let explain = |diagnostic: Diagnostic| {
        diagnostic
            .note("a monitor's prompt numbers its dimensions (`1. Right department (1-5)`) and ends with the JSON to answer with: {\"department\": int, \"reasoning\": string}")
            .help("or write the dimensions as `rubric: {criteria: [...]}`")
    };
    let Some(names) = dimensions(&text) else {
        cx.report(explain(Diagnostic::error(
            Code::MissingKey,
            span,
            "the prompt names no dimensions to score",
        )));
        return None;
    };
    let lines: Vec<(String, (i64, i64))> = text.lines().filter_map(parse_numbered_dimension).collect();
    if !lines.is_empty() && lines.len() != names.len() {
        cx.report(explain(Diagnostic::error(
            Code::Conflict,
            span,
            format!(
                "the prompt numbers {} dimensions, but its JSON has {} scores ({})",
                lines.len(),
                names.len(),
                names.join(", ")
            ),
        )));
        return None;
    }
    let default = |name: &String| (name.replace(['_', '-'], " "), (1, 5));
    let mut spot = Spot::new(span);
    let criteria: Vec<Criterion> = names
        .iter()
        .enumerate()
        .map(|(at, name)| {
            let (label, (min, max)) = lines.get(at).cloned().unwrap_or_else(|| default(name));
            let scale = Scale::Likert { min, max, labels: BTreeMap::new() };
            spot.children.push(Spot::new(span));
            Criterion::new(name, label, CriterionKind::Question(scale))
        })
        .collect();
    let display = match lines.first().map_or((1, 5), |it| it.1) {
        (min, max) if lines.iter().all(|line| line.1 == (min, max)) => Display::Likert { min, max },
        _ => Display::Unit,
    };
    let draft = Draft { description: Some(text), criteria, display, ..Draft::default() };
    accept(cx, draft, &spot).map(Arc::new)
}

fn parse_numbered_dimension(line: &str) -> Option<(String, (i64, i64))> {
    let found = NUMBERED.captures(line)?;
    let bound = |at: usize| found.get(at).and_then(|found| found.as_str().parse().ok());
    Some((found[1].to_owned(), (bound(2).unwrap_or(1), bound(3).unwrap_or(5))))
}

/// Prompts hold no longer reply, and no more braces after it.
const MAX_REPLY_BYTES: usize = 4096;
const MAX_BRACES: usize = 1000;

/// The numeric fields of the last JSON object in the prompt.
fn dimensions(text: &str) -> Option<Vec<String>> {
    let closing = |at: usize| text.bytes().skip(at).take(MAX_REPLY_BYTES).position(|byte| byte == b'}');
    let braces = text.rmatch_indices('{').take(MAX_BRACES);
    let objects = braces.map(|(at, _)| &text[at..at + closing(at).unwrap_or(0)]);
    let numeric = |kind: &str| {
        matches!(
            kind.to_ascii_lowercase().as_str(),
            "int" | "integer" | "number" | "float" | "double" | "score"
        ) || kind.parse::<f64>().is_ok()
    };
    objects
        .map(|object| {
            let fields = FIELD.captures_iter(object).filter(|captures| numeric(&captures[2]));
            fields.map(|captures| captures[1].to_owned()).collect::<Vec<String>>()
        })
        .find(|texts| !texts.is_empty())
}
