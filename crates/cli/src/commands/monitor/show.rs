//! Monitors and their figures as people read them.

use std::io::Write;

use jurist_core::grade::{Usd, VerdictStatus};
use jurist_core::quantity::plural;
use jurist_core::report::{
    format_beside_own_scale, format_difference_with_interval, format_mean, format_mean_with_interval,
    format_score_distance, format_score_interval,
};
use jurist_server::monitor::{
    ComparisonPlan, ComparisonView, CriterionEstimate, DecisionView, Estimates, MonitorBudgetView,
    MonitorTrend, MonitorView, RescorePlan, RescoreView, ScoreScale, TrafficView,
};

use crate::render::printable;
use crate::version_names::VersionNames;

pub fn show_monitor_list(
    out: &mut impl Write,
    all: &[MonitorView],
    versions: &VersionNames,
) -> std::io::Result<()> {
    if all.is_empty() {
        writeln!(out, "there are no monitors; create one with `jurist monitor apply FILE`")?;
    }
    for it in all {
        let paused = it.paused.as_ref().map(|why| format!("  paused: {}", printable(why)));
        let budget =
            it.budget.as_ref().map(|budget| format!(", budget {} a month", printable(&budget.to_string())));
        writeln!(
            out,
            "\x1b[1m{}\x1b[0m  {} of {}, judged by {}, rubric {}{}{}",
            printable(&it.name),
            format_share_as_percent(it.sample_rate),
            printable(&it.agents.join(", ")),
            printable(&format_judge_names(it)),
            versions.name(&it.version.rubric_version),
            budget.unwrap_or_default(),
            paused.unwrap_or_default()
        )?;
    }
    Ok(())
}

fn format_judge_names(monitor: &MonitorView) -> String {
    if monitor.judges.is_empty() { "the default judge".to_owned() } else { monitor.judges.join(", ") }
}

pub fn show_monitor_estimates(
    out: &mut impl Write,
    monitor: &MonitorView,
    found: &Estimates,
    versions: &VersionNames,
    over_budget: Option<&DecisionView>,
) -> std::io::Result<()> {
    show_monitor_list(out, std::slice::from_ref(monitor), versions)?;
    let total: u64 = found.states.iter().map(|state| state.n).sum();
    let states: Vec<String> =
        found.states.iter().map(|state| format!("{} {}", state.n, state.state.replace('_', " "))).collect();
    writeln!(
        out,
        "{} from {} until {}",
        plural(usize::try_from(total).unwrap_or(usize::MAX), "trace"),
        found.from,
        found.until
    )?;
    if !states.is_empty() {
        writeln!(out, "  {}", states.join(", "))?;
    }
    if let Some(decision) = over_budget {
        let name = printable(&monitor.name);
        writeln!(out, "  over budget: {}", printable(newest_note(decision)))?;
        writeln!(
            out,
            "  to judge those traces, raise the budget if it is too small, then run: jurist monitor rescore {name} --over-budget"
        )?;
    }
    for it in &found.judges {
        let now = if it.is_current { "" } else { " (an earlier version)" };
        let version = versions.name(&it.rubric_version);
        writeln!(out, "\n\x1b[1mrubric {version}\x1b[0m, judged by {}{now}", printable(&it.judge))?;
        for criterion in &it.criteria {
            show_criterion_estimate(out, criterion)?;
        }
    }
    Ok(())
}

fn show_criterion_estimate(out: &mut impl Write, it: &CriterionEstimate) -> std::io::Result<()> {
    let name = printable(it.criterion.as_deref().unwrap_or("overall"));
    let Some(score) = &it.score else {
        let why = it.not_estimable.as_deref().unwrap_or_default();
        return writeln!(out, "  {name:<20} no estimate: {why}");
    };
    let passes = it.pass_rate.as_ref().map(|traffic_view| format!("   passes {}", shares(traffic_view)));
    let scale = it.native.map(|native| (native.min, native.max));
    writeln!(
        out,
        "  {name:<20} score {}{}",
        format_mean_with_interval(score.mean, score.interval, scale),
        passes.unwrap_or_default()
    )?;
    if let Some(score) = &it.corrected {
        let passes = it.corrected_pass_rate.as_ref().map(|corrected_view| {
            let (low, high) = corrected_view.interval;
            format!(
                "   passes {} [{}, {}]",
                format_share_as_percent(corrected_view.mean),
                format_share_as_percent(low),
                format_share_as_percent(high)
            )
        });
        writeln!(
            out,
            "  {:<20} with {}: {}{}",
            "",
            plural(score.n_labels, "label"),
            format_mean_with_interval(score.mean, score.interval, scale),
            passes.unwrap_or_default()
        )?;
    }
    if it.criterion.is_some() {
        return Ok(());
    }
    writeln!(
        out,
        "  {:<20} {} scored, effective sample size {:.0}; unweighted mean {}",
        "",
        score.n,
        score.n_eff,
        format_mean(score.naive, scale)
    )?;
    if 0.0 < score.error_rate {
        writeln!(out, "  {:<20} judge errors {}", "", format_share_as_percent(score.error_rate))?;
    }
    for stratum in &score.strata {
        let told = match (stratum.mean, stratum.interval, &stratum.not_estimable) {
            (Some(mean), Some(interval), _) => format_mean_with_interval(mean, interval, scale),
            (_, _, Some(why)) => format!("no estimate: {why}"),
            _ => String::new(),
        };
        writeln!(out, "    {:<18} {} of {} scored   {told}", stratum.name, stratum.n, stratum.n_seen)?;
    }
    for warning in &score.warnings {
        writeln!(out, "    {warning}")?;
    }
    Ok(())
}

fn shares(it: &TrafficView) -> String {
    let (low, high) = it.interval;
    format!(
        "{} [{}, {}]",
        format_share_as_percent(it.mean),
        format_share_as_percent(low),
        format_share_as_percent(high)
    )
}

fn format_share_as_percent(share: f64) -> String {
    format!("{} %", (1000.0 * share).round() / 10.0)
}

pub fn show_daily_trend(
    out: &mut impl Write,
    all: &[MonitorTrend],
    versions: &VersionNames,
) -> std::io::Result<()> {
    for it in all {
        let of = it
            .criterion
            .as_deref()
            .map(|criterion| format!(", {}", printable(criterion)))
            .unwrap_or_default();
        let (version, scale) = (versions.name(&it.rubric_version), it.scale.map(ScoreScale::ends));
        writeln!(out, "\x1b[1mrubric {version}\x1b[0m, judged by {}{of}", printable(&it.judge))?;
        writeln!(
            out,
            "  day         scored of traces   mean [95 % interval]      interval for all days so far"
        )?;
        for point in &it.points {
            let day = point.day.split('T').next().unwrap_or_default();
            let told = match (point.mean, point.interval) {
                (Some(mean), Some(interval)) => format_mean_with_interval(mean, interval, scale),
                _ => "no estimate".to_owned(),
            };
            let so_far =
                point.sequence.map(|interval| format!("   {}", format_score_interval(interval, scale)));
            writeln!(
                out,
                "  {day}  {:>6} of {:<8} {told}{}",
                point.n,
                point.n_seen,
                so_far.unwrap_or_default()
            )?;
        }
    }
    Ok(())
}

pub fn show_trace_decisions(out: &mut impl Write, trace: &str, all: &[DecisionView]) -> std::io::Result<()> {
    if all.is_empty() {
        return writeln!(out, "no monitor watches the agent of {}, or it has not finished", printable(trace));
    }
    for it in all {
        let name = it.monitor_name.as_deref().unwrap_or(&it.monitor);
        let note = it.history.last().map(|event| event.note.as_str()).filter(|note| !note.is_empty());
        writeln!(
            out,
            "\x1b[1m{}\x1b[0m  {} ({}){}",
            printable(name),
            it.judge_status,
            it.state.replace('_', " "),
            note.map(|note| format!(": {}", printable(note))).unwrap_or_default()
        )?;
        if let Some(verdict) = it.verdict {
            let score = own_scale_score(it).map(|score| format!(", score {score}")).unwrap_or_default();
            writeln!(out, "  verdict {}{score}", verdict.as_str())?;
        }
        writeln!(
            out,
            "  {}; stratum {}, sampled with probability {}",
            printable(&it.reason),
            it.stratum,
            format_share_as_percent(it.probability)
        )?;
        if it.upstream < 1.0 {
            writeln!(
                out,
                "  sampled by the sender with probability {}",
                format_share_as_percent(it.upstream)
            )?;
        }
        for event in &it.history {
            writeln!(
                out,
                "  {}  {:<12} {}",
                event.time,
                event.state.replace('_', " "),
                printable(&event.note)
            )?;
        }
    }
    Ok(())
}

/// Columns of a score from 0 to 1 in a list.
const NARROWEST_SCORE: usize = 5;

pub fn show_decision_list(out: &mut impl Write, all: &[DecisionView]) -> std::io::Result<()> {
    if all.is_empty() {
        return writeln!(out, "no decision matches");
    }
    let widths = all.iter().filter_map(own_scale_score).map(|score| score.chars().count());
    let width = widths.max().unwrap_or(0).max(NARROWEST_SCORE);
    for it in all {
        let verdict = it.verdict.map_or("–", VerdictStatus::as_str);
        let score = own_scale_score(it).unwrap_or_else(|| "–".to_owned());
        let state = it.state.replace('_', " ");
        writeln!(out, "{}  {state:<16} {verdict:<8} {score:>width$}  {}", it.decided, printable(&it.trace))?;
    }
    Ok(())
}

/// The score of a decision, on the author's scale first.
fn own_scale_score(decision: &DecisionView) -> Option<String> {
    Some(format_beside_own_scale(decision.score?, decision.scale.map(ScoreScale::ends)))
}

/// Why the newest trace without a usable answer has none.
pub fn show_newest_error(out: &mut impl Write, decision: &DecisionView) -> std::io::Result<()> {
    writeln!(out, "\nnewest judge error: {}", printable(newest_note(decision)))?;
    writeln!(out, "  more: jurist monitor why {}", printable(&decision.trace))
}

/// Why a trace is in its current state.
fn newest_note(decision: &DecisionView) -> &str {
    decision.history.last().map_or("no reason is stored", |event| event.note.as_str())
}

pub fn show_disputed_traces(out: &mut impl Write, all: &[DecisionView]) -> std::io::Result<()> {
    if all.is_empty() {
        writeln!(out, "no trace has judges that disagree by more than the margin")?;
    }
    for it in all {
        let spread =
            format_score_distance(it.spread.unwrap_or_default(), it.spread_scale.map(ScoreScale::ends));
        writeln!(out, "{}  {spread} apart  {}", printable(&it.trace), it.decided)?;
    }
    Ok(())
}

pub fn show_rescore_plan(
    out: &mut impl Write,
    name: &str,
    plan: &RescorePlan,
    versions: &VersionNames,
) -> std::io::Result<()> {
    // The currency of the monitor's budget, where it has one.
    let cap = plan.budget.as_ref().and_then(MonitorBudgetView::cap);
    let money = |dollars: f64| match cap {
        Some(cap) => cap.format_amount(Usd::from_nanos((dollars * 1e9).round() as i64)),
        None => format_dollars(dollars),
    };
    let price =
        plan.price.map_or_else(|| "unknown price".to_owned(), |price| format!("about {}", money(price)));
    writeln!(
        out,
        "{} of {}, {}, {price}, judged by rubric {}",
        plural(plan.n_traces, "trace"),
        plan.n_of,
        plural(plan.n_calls, "call"),
        versions.name(&plan.rubric_version)
    )?;
    if let (Some(price), Some(left)) = (plan.price, plan.budget_left)
        && left < price
    {
        writeln!(
            out,
            "only {} of this month's budget are left, so some traces stay without a score; raise `budget` in the \
             monitor's file and run `jurist monitor apply`, or raise the project's cap with `jurist spend cap`",
            money(left)
        )?;
    }
    match &plan.id {
        Some(id) => {
            writeln!(out, "started {id}; `jurist monitor rescores {}` shows its progress", printable(name))
        }
        None if plan.is_begun => {
            writeln!(out, "they are queued again; see `jurist monitor show {}`", printable(name))
        }
        None => writeln!(out, "nothing was started; add --yes to start"),
    }
}

/// Dollars with two digits, or four for less than a dollar.
fn format_dollars(amount: f64) -> String {
    if amount < 1.0 { format!("${amount:.4}") } else { format!("${amount:.2}") }
}

pub fn show_rescore_results(
    out: &mut impl Write,
    all: &[RescoreView],
    versions: &VersionNames,
) -> std::io::Result<()> {
    if all.is_empty() {
        writeln!(out, "nothing was re-scored")?;
    }
    for it in all {
        writeln!(
            out,
            "\x1b[1m{}\x1b[0m  {} of {} re-scored by rubric {}, {} errors",
            it.id,
            it.n_scored,
            it.n_traces,
            versions.name(&it.rubric_version),
            it.n_errors
        )?;
        if 0 < it.n_waiting {
            writeln!(out, "  {} still to be judged", it.n_waiting)?;
        }
        if let Some(note) = &it.note {
            writeln!(out, "  {}", printable(note))?;
        }
        if let Some(score) = &it.score {
            let scale = it.scale.map(ScoreScale::ends);
            let score = format_mean_with_interval(score.mean, score.interval, scale);
            writeln!(out, "  estimated score of that time range {score}")?;
        }
        for offset in &it.offsets {
            let scale = offset.scale.map(ScoreScale::ends);
            writeln!(
                out,
                "  {:<20} {} from {}, on {}",
                printable(offset.criterion.as_deref().unwrap_or("overall")),
                format_difference_with_interval(offset.mean, offset.interval, scale),
                versions.name(&offset.from_version),
                plural(offset.n, "trace")
            )?;
        }
    }
    Ok(())
}

pub fn show_comparison_plan(out: &mut impl Write, name: &str, plan: &ComparisonPlan) -> std::io::Result<()> {
    writeln!(out, "{} of the same task, {}", plural(plan.n_pairs, "pair"), plural(plan.n_calls, "call"))?;
    match &plan.id {
        Some(id) => {
            writeln!(out, "started {id}; `jurist monitor comparisons {}` shows its progress", printable(name))
        }
        None => writeln!(out, "nothing was started; add --yes to start"),
    }
}

pub fn show_comparison_results(out: &mut impl Write, all: &[ComparisonView]) -> std::io::Result<()> {
    if all.is_empty() {
        writeln!(out, "nothing was compared")?;
    }
    for it in all {
        let ComparisonView { n_a, n_b, n_ties, n_errors, .. } = it;
        writeln!(
            out,
            "\x1b[1m{} against {}\x1b[0m, judged by {}: {n_a} to {n_b}, {n_ties} ties, {n_errors} errors",
            printable(&it.a),
            printable(&it.b),
            printable(&it.judge)
        )?;
        if 0 < it.n_waiting {
            writeln!(
                out,
                "  {} still to be judged",
                plural(usize::try_from(it.n_waiting).unwrap_or(usize::MAX), "pair")
            )?;
        }
        let told = [("wins", it.rate, it.interval), ("shown first wins", it.first_rate, it.first_interval)];
        for (what, rate, interval) in told {
            if let (Some(rate), Some((low, high))) = (rate, interval) {
                writeln!(
                    out,
                    "  {what:<20} {} [{}, {}]",
                    format_share_as_percent(rate),
                    format_share_as_percent(low),
                    format_share_as_percent(high)
                )?;
            }
        }
    }
    Ok(())
}
