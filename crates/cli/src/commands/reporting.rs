use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use jurist_core::grade::{Evidence, Status};
use jurist_core::report::{Format, Tally, mean_score, reasons, render};
use jurist_core::run::{CaseResult, Run};

use crate::render::printable;

/// A format, and where it goes.
#[derive(Debug, Clone)]
pub struct Reporter {
    format: Format,
    file: Option<PathBuf>,
}

/// `junit`, or `junit=results.xml`.
pub fn reporter(text: &str) -> Result<Reporter, String> {
    let (name, file) = text.split_once('=').map_or((text, None), |(name, file)| (name, Some(file)));
    let format = Format::ALL.iter().find(|it| it.0 == name).map(|it| it.1);
    let format = format.ok_or_else(|| format!("one of {}", Format::ALL.map(|it| it.0).join(", ")))?;
    Ok(Reporter { format, file: file.map(PathBuf::from) })
}

impl Reporter {
    pub fn is_on_stdout(&self) -> bool {
        self.file.is_none()
    }

    pub fn write(&self, run: &Run) -> anyhow::Result<()> {
        let text = render(self.format, run);
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

/// Case by case; those that did not pass with their reasons.
pub fn show(out: &mut impl Write, run: &Run) -> anyhow::Result<()> {
    let width = run.results.iter().map(|it| it.case.chars().count()).max().unwrap_or(0).clamp(12, 60);
    for result in &run.results {
        let (mark, colour) = match result.verdict.status {
            Status::Pass => ("✓", "32"),
            Status::Fail => ("✗", "31"),
            Status::Error => ("!", "33"),
            Status::Deferred => ("…", "2"),
        };
        let score = result.verdict.score.map_or("  – ".to_owned(), |it| format!("{it:.2}"));
        let name = line(&result.case);
        writeln!(out, "\x1b[{colour}m{mark}\x1b[0m {name:<width$}  {score}")?;
        if result.verdict.status != Status::Pass {
            for reason in reasons(run, result) {
                writeln!(out, "    {}", line(&reason))?;
            }
            for evidence in quotes(result) {
                let place = evidence.found.as_ref().map(|it| format!("{} {}–{}", it.part, it.start, it.end));
                writeln!(out, "    \x1b[2m“{}” {}\x1b[0m", line(&evidence.quote), place.unwrap_or_default())?;
            }
        }
    }
    Ok(())
}

/// Quotes that were found, for answers that are less than perfect.
fn quotes(result: &CaseResult) -> impl Iterator<Item = &Evidence> {
    let lacking = result.grades.iter().filter(|it| it.outcome.unit().is_some_and(|it| it < 1.0));
    lacking.flat_map(|it| &it.evidence).filter(|it| it.found.is_some()).take(3)
}

/// The run in a line.
pub fn summary(run: &Run, took: Duration) -> String {
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
    format!("\x1b[1m{}\x1b[0m  {}", run.id, parts.join(" · "))
}

/// On one line, and without anything that steers a terminal.
fn line(text: &str) -> String {
    printable(text).replace(['\n', '\t'], " ")
}
