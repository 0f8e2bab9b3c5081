use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use jurist_core::grade::{Evidence, Outcome, Status};
use jurist_core::quantity::plural;
use jurist_core::report::{
    Format, Rubrics, Tally, gates, github_summary, mean_score, reasons, render, rubrics, shown_score, word,
};
use jurist_core::run::{CaseResult, Run};
use jurist_core::stats::{Estimate, Trials, estimates, trials};

use jurist_engine::load;

use crate::render::printable;

/// A format, and where it goes.
#[derive(Debug, Clone)]
pub struct Reporter {
    /// `None` is what a terminal shows anyway.
    format: Option<Format>,
    file: Option<PathBuf>,
}

/// `junit`, or `junit=results.xml`.
pub fn reporter(text: &str) -> Result<Reporter, String> {
    let (name, file) = text.split_once('=').map_or((text, None), |(name, file)| (name, Some(file)));
    let known = Format::ALL.iter().map(|it| (it.0, Some(it.1))).chain([("pretty", None)]);
    let format = known.clone().find(|it| it.0 == name).map(|it| it.1);
    let format =
        format.ok_or_else(|| format!("one of {}", known.map(|it| it.0).collect::<Vec<_>>().join(", ")))?;
    if format.is_none() && file.is_some() {
        return Err("`pretty` is for the terminal; for a file take md or html".to_owned());
    }
    Ok(Reporter { format, file: file.map(PathBuf::from) })
}

impl Reporter {
    /// Whether it takes the place of what is shown otherwise.
    pub fn is_on_stdout(&self) -> bool {
        self.file.is_none() && self.format.is_some()
    }

    /// Whether it writes what was graded, and not only the grades.
    pub fn shows_material(&self) -> bool {
        matches!(self.format, Some(Format::Json | Format::Ndjson | Format::Html | Format::Otel))
    }

    pub fn is_pretty(&self) -> bool {
        self.format.is_none()
    }

    pub fn write(&self, run: &Run) -> anyhow::Result<()> {
        let Some(format) = self.format else { return Ok(()) };
        let text = render(format, run);
        // The page of a workflow run, besides the annotations.
        if let Some(page) = load::variable("GITHUB_STEP_SUMMARY").filter(|_| format == Format::Github) {
            let page = std::fs::OpenOptions::new().append(true).create(true).open(&page);
            page.and_then(|mut it| it.write_all(github_summary(run).as_bytes()))
                .context("cannot write the summary of the workflow")?;
        }
        match &self.file {
            None => Ok(std::io::stdout().write_all(text.as_bytes())?),
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

/// Case by case, those that did not pass with their reasons; then the means.
pub fn show(out: &mut impl Write, run: &Run, verbose: bool) -> anyhow::Result<()> {
    let width = run.results.iter().map(|it| it.case.chars().count()).max().unwrap_or(0).clamp(12, 60);
    let rubrics = rubrics(run);
    for result in &run.results {
        let (mark, colour) = mark(result.verdict.status);
        let name = line(&result.case);
        writeln!(out, "\x1b[{colour}m{mark}\x1b[0m {name:<width$}  {}", score(result, &rubrics))?;
        if verbose {
            answers(out, result)?;
        } else if result.verdict.status != Status::Pass {
            for reason in reasons(run, result) {
                writeln!(out, "    {}", line(&reason))?;
            }
            for evidence in quotes(result) {
                writeln!(out, "    {}", quoted(evidence))?;
            }
        }
    }
    means(out, run)?;
    let Some(trials) = trials(run) else { return Ok(()) };
    let Trials { k, any, all, flaky, n_cases } = trials;
    writeln!(
        out,
        "{} tried {k} times: {:.0} % pass at least once, {:.0} % every time",
        plural(n_cases, "case"),
        any * 100.0,
        all * 100.0
    )?;
    for it in &flaky {
        writeln!(out, "    flaky: {} passed {} of {}", line(&it.case), it.passed, it.decided)?;
    }
    Ok(())
}

/// One case with everything that was said about it.
pub fn case_in_full(out: &mut impl Write, run: &Run, result: &CaseResult) -> anyhow::Result<()> {
    let (mark, colour) = mark(result.verdict.status);
    let pass_mark =
        run.pass_mark(&result.rubric).map(|it| format!(", pass mark {it:.2}")).unwrap_or_default();
    writeln!(
        out,
        "\x1b[{colour}m{mark}\x1b[0m {}  {}{pass_mark}",
        line(&result.case),
        score(result, &rubrics(run))
    )?;
    for gate in gates(result) {
        writeln!(out, "    {gate}")?;
    }
    answers(out, result)
}

fn mark(status: Status) -> (&'static str, &'static str) {
    match status {
        Status::Pass => ("✓", "32"),
        Status::Fail => ("✗", "31"),
        Status::Error => ("!", "33"),
        Status::Deferred => ("…", "2"),
    }
}

/// On 0..=1, and as its author thinks of it where that is something else.
fn score(result: &CaseResult, rubrics: &Rubrics) -> String {
    let own =
        shown_score(result, rubrics.get(&result.rubric)).map(|it| format!(" ({it})")).unwrap_or_default();
    result.verdict.score.map_or("  – ".to_owned(), |it| format!("{it:.2}{own}"))
}

/// Every answer with its reason and its quotes.
fn answers(out: &mut impl Write, result: &CaseResult) -> anyhow::Result<()> {
    for grade in &result.grades {
        let said = match &grade.outcome {
            Outcome::Scored { value, unit } => {
                unit.map_or_else(|| value.to_string(), |unit| format!("{value} ({unit:.2})"))
            }
            Outcome::NotApplicable => "does not apply".to_owned(),
            Outcome::Abstained { why } => format!("could not tell: {why}"),
            Outcome::Failed { failure, detail } => format!("{}: {detail}", word(failure)),
            Outcome::Deferred { why } => format!("not asked: {}", word(why)),
        };
        let reason = match grade.reason.as_str() {
            "" => String::new(),
            reason => format!(" — {reason}"),
        };
        let by = &grade.grader.name;
        writeln!(
            out,
            "    {}: {}{} \x1b[2m[{by}]\x1b[0m",
            line(&grade.criterion),
            line(&said),
            line(&reason)
        )?;
        for evidence in &grade.evidence {
            writeln!(out, "        {}", quoted(evidence))?;
        }
    }
    Ok(())
}

fn quoted(evidence: &Evidence) -> String {
    let place = evidence.found.as_ref().map(|it| format!("{} {}–{}", it.part, it.start, it.end));
    let place = place.unwrap_or_else(|| "not found".to_owned());
    format!("\x1b[2m“{}” {place}\x1b[0m", line(&evidence.quote))
}

/// The mean of each criterion with its interval, where there are several cases.
fn means(out: &mut impl Write, run: &Run) -> anyhow::Result<()> {
    let (score, criteria) = estimates(run);
    let Some(score) = score.filter(|it| 1 < it.n) else { return Ok(()) };
    let rows: Vec<(&str, &Estimate)> =
        std::iter::once(("score", &score)).chain(criteria.iter().map(|(id, it)| (id.as_str(), it))).collect();
    // A rubric of one question has nothing to add.
    let rows = if criteria.len() == 1 { &rows[..1] } else { &rows[..] };
    let width = rows.iter().map(|it| it.0.chars().count()).max().unwrap_or(0).clamp(5, 40);
    writeln!(out, "\n\x1b[1m{:<width$}  mean  95 % interval    cases\x1b[0m", "")?;
    for (name, it) in rows {
        // Where all are the same, an interval without width would promise too much.
        let interval = it.interval.filter(|it| it.0 < it.1);
        let interval = interval.map(|(low, high)| format!("{low:.2} to {high:.2}")).unwrap_or_default();
        let name: String = line(name).chars().take(width).collect();
        writeln!(out, "{name:<width$}  {:.2}  {interval:<15} {:>6}", it.mean, it.n)?;
    }
    writeln!(out)?;
    Ok(())
}

/// Quotes that were found, for answers that are less than perfect.
fn quotes(result: &CaseResult) -> impl Iterator<Item = &Evidence> {
    let lacking = result.grades.iter().filter(|it| it.outcome.unit().is_some_and(|it| it < 1.0));
    lacking.flat_map(|it| &it.evidence).filter(|it| it.found.is_some()).take(3)
}

/// The run in a line; its id leads to its log.
pub fn summary(run: &Run, took: Duration, log: Option<&Path>) -> String {
    let tally = Tally::of(run);
    let mut parts = vec![format!(
        "{} passed, {} failed, {} errors, {} deferred",
        tally.passed, tally.failed, tally.errors, tally.deferred
    )];
    if let Some((rate, low, high)) = tally.pass_rate() {
        parts.push(format!("pass rate {:.0} % ({:.0} to {:.0})", rate * 100.0, low * 100.0, high * 100.0));
    }
    parts.extend(mean_score(run).map(|it| format!("mean {it:.2}")));
    if run.spend.from_cache && run.spend.tokens_in == 0 {
        parts.push("nothing paid".to_owned());
    } else {
        parts.extend(run.spend.cost.map(|it| it.to_string()));
    }
    if !took.is_zero() {
        parts.push(format!("{:.1} s", took.as_secs_f64()));
    }
    let id = match log.and_then(|it| std::path::absolute(it).ok()) {
        Some(path) => format!("\x1b]8;;file://{}\x1b\\{}\x1b]8;;\x1b\\", path.display(), run.id),
        None => run.id.to_string(),
    };
    format!("\x1b[1m{id}\x1b[0m  {}", parts.join(" · "))
}

/// On one line, and without anything that steers a terminal.
pub fn line(text: &str) -> String {
    printable(text).replace(['\n', '\t'], " ")
}
