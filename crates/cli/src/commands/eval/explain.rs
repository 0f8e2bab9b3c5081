//! The plan of a suite for people: `jurist eval --explain`.

use std::collections::BTreeMap;
use std::io::Write;

use jurist_core::candidate::Candidate;
use jurist_core::grade::Usd;
use jurist_core::plan::{CallRange, Plan};
use jurist_core::quantity::plural;
use jurist_core::rubric::Rubric;
use jurist_core::suite::{Case, Judge, Suite};
use jurist_engine::judge::estimate_candidate_cost;

use super::refused_programs::RefusedPrograms;
use super::{EvalArgs, PreparedEval};
use crate::reporting::printable_line;

/// The plan, case by case: what is graded, by whom, in how many calls, for how much, and what cannot be run.
pub(super) fn explain_eval_plan(
    out: &mut impl Write,
    args: &EvalArgs,
    loaded: &PreparedEval<'_>,
    plan: &Plan,
) -> anyhow::Result<()> {
    let (mut sum, mut costs) = (CallRange::default(), Some((0.0, 0.0)));
    let mut prepared = loaded.new_judges();
    let (mut most_tokens, mut n_wrong) = (0.0, 0);
    let mut refused = RefusedPrograms::default();
    writeln!(out, "\x1b[1m{}\x1b[0m", loaded.file.display())?;
    for unit in &plan.units {
        let problems = loaded.find_problems(args, unit, &mut prepared);
        let resolved = loaded.judges_for_unit(args, unit, &mut prepared).ok();
        let case = unit.cell.case().expect("it was filled when it was planned");
        let names: Vec<&str> = resolved
            .iter()
            .flat_map(|resolved_judges| resolved_judges.judges())
            .map(|judge_model| judge_model.line.name.as_str())
            .collect();
        let judges = match (unit.calls.most, names.as_slice()) {
            (0, _) => "checks alone".to_owned(),
            (_, []) => describe_stated_judge(&loaded.request.judge(&unit.cell.judge())),
            (_, names) => count_distinct_names(names),
        };
        let expected = resolved.as_ref().map(|resolved_judges| {
            estimate_candidate_cost(resolved_judges, candidate_text_size(&case.candidate), unit.calls)
        });
        let cost = expected.and_then(|candidate_cost_estimate| candidate_cost_estimate.cost);
        most_tokens += expected.map_or(0.0, |candidate_cost_estimate| candidate_cost_estimate.tokens);
        let rubric = describe_rubric(&loaded.suite, &case.rubric, args.running.is_verbose());
        writeln!(out, "  {}", unit.name)?;
        writeln!(
            out,
            "      {} · {rubric} · {judges} · {}",
            describe_answer_source(&case),
            describe_expected_calls(unit.calls, None, cost)
        )?;
        let missing = resolved
            .iter()
            .flat_map(|resolved_judges| resolved_judges.judges())
            .find_map(|judge_model| judge_model.line.model.missing_key());
        let missing =
            missing.filter(|_| 0 < unit.calls.most).map(|missing| format!("will not be graded: {missing}"));
        let embedding = loaded.find_embedding_problem(&case.rubric);
        let embedding = embedding.map(|problem| format!("will not be graded: {problem}"));
        let needs_flag = (!problems.refused.is_empty()).then(|| "needs --allow-commands".to_owned());
        let reasons: Vec<String> = needs_flag.into_iter().chain(problems.others).collect();
        n_wrong += usize::from(!reasons.is_empty());
        refused.add(loaded, unit, problems.refused);
        let reasons = reasons.into_iter().map(|reason| format!("cannot be run: {reason}"));
        for problem in reasons.chain(missing).chain(embedding) {
            writeln!(out, "      \x1b[33m{}\x1b[0m", printable_line(&problem))?;
        }
        sum = sum.plus(unit.calls);
        costs = costs.zip(cost).map(|((least, most), (low, high))| (least + low, most + high));
    }
    writeln!(
        out,
        "{} · {}; estimate, without repair turns and without the agents' own calls",
        plural(plan.units.len(), "unit"),
        describe_expected_calls(sum, Some(most_tokens).filter(|tokens| 0.0 < *tokens), costs)
    )?;
    if 0 < n_wrong {
        writeln!(out, "{n_wrong} of {} cannot be run as written", plural(plan.units.len(), "unit"))?;
    }
    if let Some(message) = refused.message(loaded.file) {
        writeln!(out, "\x1b[33m{}\x1b[0m", printable_line(&message))?;
    }
    Ok(())
}

/// The models of a judge that is not available; the reason is in the line below.
fn describe_stated_judge(judge: &Judge) -> String {
    let models: Vec<&str> = judge.model.iter().chain(&judge.panel).map(String::as_str).collect();
    if models.is_empty() { "no judge".to_owned() } else { count_distinct_names(&models) }
}

/// A rubric by its name, where it has one; its hash is part of the full output only.
fn describe_rubric(suite: &Suite, rubric: &Rubric, verbose: bool) -> String {
    let named = suite.rubrics.iter().find(|(_, it)| it.version() == rubric.version()).map(|(name, _)| name);
    let name = named
        .or(rubric.name.as_ref())
        .map_or_else(|| "its own rubric".to_owned(), |text| format!("rubric `{text}`"));
    let n = rubric.n_questions();
    let questions = if n == 1 { "1 criterion".to_owned() } else { format!("{n} criteria") };
    let hash = if verbose { format!(" {}", rubric.version().short()) } else { String::new() };
    format!("{name}{hash} ({questions})")
}

fn count_distinct_names(names: &[&str]) -> String {
    let mut counted: BTreeMap<&str, usize> = BTreeMap::new();
    for name in names {
        *counted.entry(name).or_default() += 1;
    }
    let one = |(name, n): (&str, usize)| if n == 1 { name.to_owned() } else { format!("{n} × {name}") };
    counted.into_iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Calls, tokens and cost, such as `1 call · up to 754 tokens · about $0.0012`.
fn describe_expected_calls(calls: CallRange, tokens: Option<f64>, cost: Option<(f64, f64)>) -> String {
    if calls.most == 0 {
        return "no calls".to_owned();
    }
    let tokens = tokens.map(|tokens| format!(" · up to {tokens:.0} tokens")).unwrap_or_default();
    format!("{}{tokens} · {}", format_call_range(calls), format_cost_range(cost))
}

fn format_call_range(range: CallRange) -> String {
    match range {
        CallRange { least, most, .. } if least == most => plural(most as usize, "call"),
        CallRange { least, most, .. } => format!("{least} to {most} calls"),
    }
}

fn format_cost_range(cost: Option<(f64, f64)>) -> String {
    let Some((least, most)) = cost else { return "cost not known".to_owned() };
    let dollars = |value: f64| Usd::from_nanos((value * 1e9).round() as i64).to_string();
    if (least - most).abs() < 1e-9 {
        format!("about {}", dollars(most))
    } else {
        format!("about {} to {}", dollars(least), dollars(most))
    }
}

/// Where the answer comes from.
fn describe_answer_source(case: &Case) -> String {
    let Candidate { response, trace, diff, .. } = &case.candidate;
    let live = || match (case.targets.first(), &case.server, &case.agent.model) {
        (Some(target), None, _) => format!("run by {}", target.name()),
        (Some(target), Some(server), _) => format!("run by {} with {server}", target.name()),
        (None, Some(server), Some(model)) => format!("run by {model} with {server}"),
        (None, Some(server), None) => format!("run with {server}, but no model is set (deferred)"),
        (None, None, Some(model)) => format!("run by {model}"),
        (None, None, None) => "no response and no target (deferred)".to_owned(),
    };
    match (response, trace, diff) {
        (Some(_), ..) => "fixed response".to_owned(),
        (_, Some(_), _) => "trace".to_owned(),
        (_, _, Some(_)) => "diff".to_owned(),
        _ => live(),
    }
}

fn candidate_text_size(candidate: &Candidate) -> usize {
    let texts = [&candidate.input, &candidate.response, &candidate.diff];
    texts.into_iter().flatten().map(String::len).sum::<usize>()
        + candidate.context.iter().map(String::len).sum::<usize>()
}
