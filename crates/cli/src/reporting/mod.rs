//! Reports of runs: files that reporters write, and what the terminal shows.

mod candidate;
pub mod case_changes;
pub mod comparison;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use jurist_core::grade::{Evidence, Grade, GraderKind, Outcome, VerdictStatus};
use jurist_core::quantity::plural;
use jurist_core::report::{
    ReportContext, ReportFormat, Rubrics, RunTally, case_notes, criterion_score_scales, describe_deferral,
    format_case_score, format_mean_score, format_on_scale, format_pass_mark, format_run_cost, github_summary,
    is_cause, parse_run_rubrics, reasons, render_compared, shared_score_scale, short_verdict_grounds,
    ungraded_reason, variant_in_words, with_evidence, without_traceback,
};
use jurist_core::run::{CaseResult, NotGraded, Run};
use jurist_core::source::path_text;
use jurist_core::stats::basics::Proportion;
use jurist_core::stats::summaries::{
    Estimate, Trials, estimate_run_means, estimate_run_pass_rate, summarise_trials,
};

use jurist_engine::load;

use self::candidate::show_candidate;
use crate::render::printable;

/// A format, and the place of its output.
#[derive(Debug, Clone)]
pub struct Reporter {
    /// `None` is what a terminal shows anyway.
    format: Option<ReportFormat>,
    file: Option<PathBuf>,
}

/// `junit`, or `junit=results.xml`.
pub fn reporter(text: &str) -> Result<Reporter, String> {
    let (name, file) = text.split_once('=').map_or((text, None), |(name, file)| (name, Some(file)));
    let known =
        ReportFormat::ALL.iter().map(|(name, format)| (*name, Some(*format))).chain([("pretty", None)]);
    let format = known.clone().find(|(known, _)| *known == name).map(|(_, format)| format);
    let format = format
        .ok_or_else(|| format!("one of {}", known.map(|(name, _)| name).collect::<Vec<_>>().join(", ")))?;
    Ok(Reporter { format, file: file.map(PathBuf::from) })
}

impl Reporter {
    /// The reporter that is used where the command line names none for standard output.
    pub fn pretty() -> Self {
        Self { format: None, file: None }
    }

    /// Whether it writes to standard output.
    pub fn is_on_stdout(&self) -> bool {
        self.file.is_none()
    }

    /// Whether it writes what was graded, and not only the grades.
    pub fn shows_material(&self) -> bool {
        matches!(
            self.format,
            Some(
                ReportFormat::Json
                    | ReportFormat::Ndjson
                    | ReportFormat::Html
                    | ReportFormat::Otel
                    | ReportFormat::PrComment
            )
        )
    }

    /// Whether it is what a terminal shows anyway, on the terminal.
    pub fn is_shown(&self) -> bool {
        self.format.is_none() && self.file.is_none()
    }

    /// The address of the file that is a page for people.
    pub fn page(&self) -> Option<String> {
        let file = self.file.as_deref().filter(|_| self.format == Some(ReportFormat::Html))?;
        let path = path_text(&std::path::absolute(file).ok()?);
        Some(format!("file://{}{path}", if path.starts_with('/') { "" } else { "/" }))
    }

    /// The same for one of several suites: its file is named after the suite as well.
    #[must_use]
    pub fn for_suite(&self, label: &str) -> Self {
        let named = |file: &PathBuf| {
            let stem = file.file_stem().unwrap_or_default().to_string_lossy();
            let ending = file
                .extension()
                .map(|extension| format!(".{}", extension.to_string_lossy()))
                .unwrap_or_default();
            file.with_file_name(format!("{stem}-{label}{ending}"))
        };
        Self { format: self.format, file: self.file.as_ref().map(named) }
    }

    /// Whether the texts of several runs can be written to the same place.
    pub fn takes_several(&self) -> bool {
        let can_follow = matches!(
            self.format,
            None | Some(ReportFormat::Ndjson | ReportFormat::Markdown | ReportFormat::Github)
        );
        self.file.is_some() || can_follow
    }

    /// As the command line gives it.
    pub fn name(&self) -> &'static str {
        ReportFormat::ALL.iter().find(|it| Some(it.1) == self.format).map_or("pretty", |it| it.0)
    }

    pub fn write(&self, run: &Run, context: ReportContext<'_>) -> anyhow::Result<()> {
        let text = match self.format {
            Some(format) => render_compared(format, run, context),
            None if self.file.is_none() => return Ok(()),
            None => render_plain_text(run)?,
        };
        // The page of a workflow run, in addition to the annotations.
        if let Some(page) =
            load::variable("GITHUB_STEP_SUMMARY").filter(|_| self.format == Some(ReportFormat::Github))
        {
            let page = std::fs::OpenOptions::new().append(true).create(true).open(&page);
            page.and_then(|mut file| file.write_all(github_summary(run, context).as_bytes()))
                .context("cannot write the job summary")?;
        }
        match &self.file {
            None => Ok(crate::render::data_writer(anstream::stdout()).write_all(text.as_bytes())?),
            Some(path) => {
                if let Some(folder) = path.parent() {
                    std::fs::create_dir_all(folder)
                        .with_context(|| format!("cannot write `{}`", path.display()))?;
                }
                std::fs::write(path, text).with_context(|| format!("cannot write `{}`", path.display()))
            }
        }
    }
}

/// What a terminal shows, as plain text.
fn render_plain_text(run: &Run) -> anyhow::Result<String> {
    let mut output = Vec::new();
    show_run(&mut output, run, false, None)?;
    writeln!(output, "{}", format_run_summary(run, Duration::ZERO, None, None))?;
    show_not_graded(&mut output, run)?;
    Ok(anstream::adapter::strip_str(&String::from_utf8_lossy(&output)).to_string())
}

/// Prints which cases were not graded, if any; this is the last message about a run.
pub fn show_not_graded(out: &mut impl Write, run: &Run) -> anyhow::Result<()> {
    if let Some(not_graded) = NotGraded::of(run) {
        writeln!(out, "\x1b[1;33m{}\x1b[0m", printable_line(&not_graded.statement))?;
    }
    Ok(())
}

/// Columns that a mark and a score need next to a name.
const COLUMNS_OF_MARK_AND_SCORE: usize = 16;

/// A reason that is longer than this is not printed twice.
const LONG: usize = 60;

/// Case by case, those that did not pass with their reasons; then the means. Names are cut where a terminal has few
/// columns.
pub fn show_run(
    out: &mut impl Write,
    run: &Run,
    verbose: bool,
    columns: Option<usize>,
) -> anyhow::Result<()> {
    let width = run.results.iter().map(|result| result.case.chars().count()).max().unwrap_or(0).clamp(12, 60);
    let room = columns.map(|column| column.saturating_sub(COLUMNS_OF_MARK_AND_SCORE).max(12));
    let width = room.map_or(width, |n| width.min(n));
    let rubrics = parse_run_rubrics(run);
    let last_reason = last_line_reason(run);
    // The same problem often prevents the verdicts of all cases, so it is printed once.
    let mut first_case_of: BTreeMap<String, String> = BTreeMap::new();
    for result in run.results.iter() {
        let (mark, colour) = status_mark(result.verdict.status);
        let name = room.map_or_else(
            || printable_line(&result.case),
            |_| shorten_name(&printable_line(&result.case), width),
        );
        writeln!(out, "\x1b[{colour}m{mark}\x1b[0m {name:<width$}  {}", score(&result, &rubrics))?;
        for note in case_notes(&result) {
            writeln!(out, "    note: {note}")?;
        }
        if verbose {
            for ground in short_verdict_grounds(run, &result) {
                writeln!(out, "    {}", printable_line(&ground))?;
            }
            show_answers(out, run, &result)?;
        } else if result.verdict.status != VerdictStatus::Pass {
            let shared = describe_obstacle(&result).filter(|shared| Some(shared) != last_reason.as_ref());
            if let Some(first) = shared.as_ref().and_then(|shared| first_case_of.get(shared)) {
                writeln!(out, "    as `{first}`")?;
                continue;
            }
            first_case_of.extend(shared.map(|shared| (shared, printable_line(&result.case))));
            for reason in list_case_reasons(run, &result, last_reason.as_deref()) {
                writeln!(out, "    {}", printable_line(&reason))?;
            }
            for evidence in imperfect_answer_quotes(run, &result) {
                writeln!(out, "    {}", format_evidence(evidence))?;
            }
        } else if let Some(line) = describe_lost_criteria(run, &result) {
            writeln!(out, "    \x1b[2m{}\x1b[0m", printable_line(&line))?;
        }
    }
    show_criterion_means(out, run, columns)?;
    let Some(trials) = summarise_trials(run) else { return Ok(()) };
    let Trials { k, any, all, flaky, n_cases } = trials;
    writeln!(
        out,
        "{} tried {k} times: {:.0} % pass at least once, {:.0} % every time",
        plural(n_cases, "case"),
        any * 100.0,
        all * 100.0
    )?;
    for it in &flaky {
        writeln!(out, "    flaky: {} passed {} of {}", printable_line(&it.case), it.passed, it.decided)?;
    }
    Ok(())
}

/// The most frequent reason for deferred cases if it is long. The last line about a run gives it with their number, so
/// their own lines do not repeat it.
pub fn last_line_reason(run: &Run) -> Option<String> {
    let reason = NotGraded::of(run)?.reasons.into_iter().next()?.reason;
    (LONG < reason.chars().count()).then_some(reason)
}

/// The reasons of a case. Of the reason that the last line about the run gives for all deferred cases, they have the cause
/// without the advice.
pub fn list_case_reasons(run: &Run, result: &CaseResult, last_reason: Option<&str>) -> Vec<String> {
    let is_deferred = result.verdict.status == VerdictStatus::Deferred;
    let cause = last_reason.and_then(|reason| reason.split_once(';')).map_or("", |(cause, _)| cause);
    let shorten = |line: String| match last_reason.and_then(|reason| line.strip_suffix(reason)) {
        Some(start) if is_deferred => format!("{start}{cause}").trim_end_matches([' ', '—', ':']).to_owned(),
        _ => line,
    };
    reasons(run, result).into_iter().map(shorten).collect()
}

/// The criteria of a case that passes although they have the worst answer or none.
fn describe_lost_criteria(run: &Run, result: &CaseResult) -> Option<String> {
    let (mut worst, mut undecided) = (Vec::new(), Vec::new());
    // Without a panel, the last judge decides, such as the stronger one.
    let is_decided_by_another = |grade: &Grade| {
        let is_answer = |other: &Grade| {
            other.criterion == grade.criterion && matches!(other.outcome, Outcome::Scored { .. })
        };
        result.panel.is_none() && result.grades.iter().any(is_answer)
    };
    for grade in &result.grades {
        match &grade.outcome {
            Outcome::Scored { .. } if run.answer_worth(result, grade) == Some(0.0) => {
                worst.push(run.worth_name(result, &grade.criterion));
            }
            Outcome::Abstained { .. } | Outcome::Failed { .. } | Outcome::Deferred { .. }
                if !is_decided_by_another(grade) =>
            {
                undecided.push(run.worth_name(result, &grade.criterion));
            }
            _ => {}
        }
    }
    let parts = [("scored 0", worst), ("not decided", undecided)];
    let parts = parts.into_iter().filter(|(_, names)| !names.is_empty());
    let parts: Vec<String> = parts.map(|(what, names)| format!("{what}: {}", names.join(", "))).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// The reason why a case has no verdict, if the reason is long and all grades share it.
fn describe_obstacle(result: &CaseResult) -> Option<String> {
    let of = |grade: &Grade| match &grade.outcome {
        Outcome::Failed { detail, .. } => Some(detail.clone()),
        Outcome::Deferred { .. } => Some(grade.reason.as_str().to_owned()),
        _ => None,
    };
    let first = of(result.grades.first()?).filter(|text| LONG < text.chars().count())?;
    let same = result.grades.iter().all(|grade| of(grade).as_ref() == Some(&first));
    same.then_some(first)
}

/// Prints one case with the graded material and all grades.
pub fn case_in_full(out: &mut impl Write, run: &Run, result: &CaseResult) -> anyhow::Result<()> {
    let (mark, colour) = status_mark(result.verdict.status);
    let rubrics = parse_run_rubrics(run);
    let pass_mark = format_pass_mark(run, result, &rubrics)
        .map(|pass_mark| format!(", pass mark {pass_mark}"))
        .unwrap_or_default();
    let score = match result.verdict.score {
        Some(_) => score(result, &rubrics),
        None => "no score".to_owned(),
    };
    writeln!(out, "\x1b[{colour}m{mark}\x1b[0m {}  {score}{pass_mark}", printable_line(&result.case))?;
    show_candidate(out, &result.material)?;
    for ground in short_verdict_grounds(run, result)
        .into_iter()
        .chain(case_notes(result).iter().map(|note| format!("note: {note}")))
    {
        writeln!(out, "    {}", printable_line(&ground))?;
    }
    show_answers(out, run, result)?;
    show_tracebacks(out, result)
}

/// The tracebacks of programs that crashed, each once.
fn show_tracebacks(out: &mut impl Write, result: &CaseResult) -> anyhow::Result<()> {
    let mut known: Vec<&str> = Vec::new();
    for grade in &result.grades {
        let Outcome::Failed { detail, .. } = &grade.outcome else { continue };
        let traceback = detail[without_traceback(detail).len()..].trim_start();
        if traceback.is_empty() || known.contains(&traceback) {
            continue;
        }
        known.push(traceback);
        for line in printable(traceback).lines() {
            writeln!(out, "        {line}")?;
        }
    }
    Ok(())
}

pub fn status_mark(status: VerdictStatus) -> (&'static str, &'static str) {
    match status {
        VerdictStatus::Pass => ("✓", "32"),
        VerdictStatus::Fail => ("✗", "31"),
        VerdictStatus::Error => ("!", "33"),
        VerdictStatus::Deferred => ("…", "2"),
    }
}

/// The score of a case, or a dash if it has none.
fn score(result: &CaseResult, rubrics: &Rubrics) -> String {
    format_case_score(result, rubrics).unwrap_or_else(|| "  – ".to_owned())
}

/// Every answer with its reason and its quotes.
fn show_answers(out: &mut impl Write, run: &Run, result: &CaseResult) -> anyhow::Result<()> {
    if let Some(why) = ungraded_reason(result) {
        return Ok(writeln!(out, "    {}", printable_line(why))?);
    }
    for grade in &result.grades {
        // A check answers yes or no. If the right answer is no, its score is printed.
        let is_negated = grade.grader.kind == GraderKind::Check && run.is_negative(result, &grade.criterion);
        let criterion = if is_negated {
            run.worth_name(result, &grade.criterion)
        } else {
            Cow::Borrowed(grade.criterion.as_str())
        };
        let answer = match &grade.outcome {
            Outcome::Scored { unit: Some(unit), .. } if is_negated => format!("{:.2}", 1.0 - unit),
            Outcome::Scored { value, unit } => {
                unit.map_or_else(|| value.to_string(), |unit| format!("{value} ({unit:.2})"))
            }
            Outcome::NotApplicable => "does not apply".to_owned(),
            Outcome::Abstained { why } => format!("cannot assess: {why}"),
            Outcome::Failed { failure, detail } => {
                format!("{}: {}", variant_in_words(failure), without_traceback(detail))
            }
            Outcome::Deferred { why } => describe_deferral(*why, grade.reason.as_str()),
        };
        let answer = with_evidence(grade, answer);
        let reason = match without_traceback(grade.reason.as_str()) {
            reason if answer.ends_with(reason) => String::new(),
            reason => format!(" — {reason}"),
        };
        let by = &grade.grader.name;
        writeln!(
            out,
            "    {}: {}{} \x1b[2m[{by}]\x1b[0m",
            printable_line(&criterion),
            printable_line(&answer),
            printable_line(&reason)
        )?;
        for evidence in &grade.evidence {
            writeln!(out, "        {}", format_evidence(evidence))?;
        }
    }
    Ok(())
}

fn format_evidence(evidence: &Evidence) -> String {
    let place = evidence
        .found
        .as_ref()
        .map(|location| format!("{} {}–{}", location.part, location.start, location.end));
    let place = place.unwrap_or_else(|| "not found".to_owned());
    format!("\x1b[2m“{}” {place}\x1b[0m", printable_line(&evidence.quote))
}

/// Columns that a mean, its interval and its number of cases need next to a name.
const COLUMNS_OF_MEAN: usize = 30;

struct MeanRow {
    name: String,
    estimate: Estimate,
    /// The mean on the criterion's own scale of whole numbers.
    native: Option<String>,
}

/// The mean of each criterion with its interval, if there is more than one case.
fn show_criterion_means(out: &mut impl Write, run: &Run, columns: Option<usize>) -> anyhow::Result<()> {
    let (score, criteria) = estimate_run_means(run);
    let Some(score) = score.filter(|estimate| 1 < estimate.n) else { return Ok(()) };
    let scales = criterion_score_scales(run);
    let criterion_row = |(id, estimate): &(String, Estimate)| MeanRow {
        name: id.clone(),
        native: scales.get(id).map(|scale| format_on_scale(estimate.mean, *scale)),
        estimate: *estimate,
    };
    let native = shared_score_scale(run).map(|scale| format_on_scale(score.mean, scale));
    let mut rows = vec![MeanRow { name: "score".to_owned(), native, estimate: score }];
    // With one question, the score of the rubric is that of the question.
    if criteria.len() != 1 {
        rows.extend(criteria.iter().map(criterion_row));
    }
    let own_scale = if rows.iter().any(|row| row.native.is_some()) { "  own scale" } else { "" };
    let other_columns = COLUMNS_OF_MEAN + own_scale.len();
    let width = rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0).clamp(5, 40);
    let width = columns.map_or(width, |n| width.min(n.saturating_sub(other_columns)).max(5));
    writeln!(out, "\n\x1b[1m{:<width$}  mean  95 % interval    cases{own_scale}\x1b[0m", "")?;
    for MeanRow { name, native, estimate } in rows {
        // If all scores are equal, the interval has no width, which would look more certain than the data is.
        let interval = estimate.interval.filter(|interval| interval.0 < interval.1);
        let interval = interval.map(|(low, high)| format!("{low:.2} to {high:.2}")).unwrap_or_default();
        let name = shorten_name(&printable_line(&name), width);
        let native = native.map(|native| format!("  {native:>9}")).unwrap_or_default();
        writeln!(out, "{name:<width$}  {:.2}  {interval:<15} {:>6}{native}", estimate.mean, estimate.n)?;
    }
    writeln!(out)?;
    Ok(())
}

/// Quotes that were found, for answers that are less than perfect and may have caused the verdict.
fn imperfect_answer_quotes<'a>(run: &Run, result: &'a CaseResult) -> impl Iterator<Item = &'a Evidence> {
    let lacking = result
        .grades
        .iter()
        .filter(|grade| grade.outcome.unit().is_some_and(|unit| unit < 1.0))
        .filter(move |grade| is_cause(run, result, &grade.criterion));
    lacking.flat_map(|grade| &grade.evidence).filter(|evidence| evidence.found.is_some()).take(3)
}

/// The summary of a run in one line, or in more lines on a narrow terminal; its id is a link to its page.
pub fn format_run_summary(
    run: &Run,
    elapsed: Duration,
    address: Option<&str>,
    columns: Option<usize>,
) -> String {
    let tally = RunTally::of(run);
    let mut parts = vec![format!(
        "{} passed, {} failed, {}, {} deferred",
        tally.passed,
        tally.failed,
        plural(tally.errors, "error"),
        tally.deferred
    )];
    if let Some(Proportion { rate, interval: (low, high), .. }) = estimate_run_pass_rate(run) {
        // Cases without a verdict are not part of the rate.
        let base = match tally.errors + tally.deferred {
            0 => String::new(),
            _ => format!(" of {}", tally.passed + tally.failed),
        };
        let [rate, low, high] = [rate, low, high].map(|share| 100.0 * share);
        parts.push(format!("pass rate {rate:.0} %{base} ({low:.0} to {high:.0})"));
    }
    parts.extend(format_mean_score(run).map(|mean| format!("mean {mean}")));
    parts.extend(format_run_cost(run).map(|cost| format!("cost {cost}")));
    if !elapsed.is_zero() {
        parts.push(format!("{:.1} s", elapsed.as_secs_f64()));
    }
    let mut summary = match address {
        Some(address) => format!("\x1b[1m\x1b]8;;{address}\x1b\\{}\x1b]8;;\x1b\\\x1b[0m", run.id),
        None => format!("\x1b[1m{}\x1b[0m", run.id),
    };
    let mut used = run.id.to_string().len();
    for (at, part) in parts.iter().enumerate() {
        let between = if at == 0 { "  " } else { " · " };
        let more = between.chars().count() + part.chars().count();
        if columns.is_some_and(|column| column < used + more) {
            summary += &format!("\n  {part}");
            used = 2 + part.chars().count();
        } else {
            summary += &format!("{between}{part}");
            used += more;
        }
    }
    summary
}

/// Shortens a name. Rows and trials differ at the end of the name, so its middle is left out.
pub fn shorten_name(name: &str, width: usize) -> String {
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= width {
        return name.to_owned();
    }
    let n_last = width.saturating_sub(1) / 2;
    let n_first = width.saturating_sub(1) - n_last;
    letters[..n_first].iter().chain(&['…']).chain(&letters[letters.len() - n_last..]).collect()
}

/// On one line, and without anything that steers a terminal.
pub fn printable_line(text: &str) -> String {
    printable(text).replace(['\n', '\t'], " ")
}

#[cfg(test)]
mod tests {
    use jurist_core::grade::Spend;
    use serde_json::json;

    use super::*;

    fn run() -> Run {
        let result = |n: u32| {
            json!({
                "case": format!("a long name of a case [trial {n} of 2]"), "candidate": "c", "trial": n,
                "rubric": "r", "verdict": { "status": "pass", "score": 1.0, "counts": {} }, "grades": [],
                "spend": Spend::default(),
            })
        };
        let run = json!({
            "format": 1, "id": "run_01a1e208bf657103a463bf4f97a01021", "started": "2026-03-01T00:00:00Z",
            "seed": 0, "rubrics": {}, "results": [result(1), result(2)], "spend": Spend::default(),
        });
        serde_json::from_value(run).expect("a run")
    }

    #[test]
    fn a_narrow_terminal_gets_names_that_fit_and_a_summary_in_lines() {
        let mut output = Vec::new();
        show_run(&mut output, &run(), false, Some(40)).expect("memory is writable");
        let output = String::from_utf8(output).expect("text")
            + &format_run_summary(&run(), Duration::ZERO, None, Some(40));
        let output = anstream::adapter::strip_str(&output).to_string();
        assert!(output.contains("✓ a long name …ial 1 of 2]  1.00\n"), "{output}");
        assert!(output.ends_with("0 deferred\n  pass rate 100 % (2 to 100) · mean 1.00"), "{output}");
    }

    #[test]
    fn the_id_of_a_run_leads_to_where_it_can_be_looked_at() {
        let summary =
            format_run_summary(&run(), Duration::ZERO, Some("https://jurist.example.org/runs/x"), None);
        assert!(summary.contains("\x1b]8;;https://jurist.example.org/runs/x\x1b\\run_01a1"), "{summary:?}");
    }
}
