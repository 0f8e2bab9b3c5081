//! Results of an annotation task in the database.

use std::io::Write;

use anyhow::Context;
use jurist_core::quantity::plural;
use jurist_core::report::results_radar;
use jurist_core::task_results::{QuestionKind, QuestionResult, TaskResults};

use crate::database::DatabaseArgs;
use crate::grades::AnalysisOutputArgs;
use crate::outcome::CommandOutcome;
use crate::reporting::printable_line;
use crate::runtime::wait_for;
use crate::stored_runs::StoredRuns;

/// Prints the means of a task on their own scales, over everything or by a field of the data.
pub fn show_task_results(
    task: &str,
    by: Option<&str>,
    place: &DatabaseArgs,
    output: &AnalysisOutputArgs,
) -> anyhow::Result<CommandOutcome> {
    let results = wait_for(async { StoredRuns::of_database(place).task_results(task, by).await })?;
    anyhow::ensure!(0 < results.n_answers, "the task `{task}` has no annotations yet");
    if let Some(by) = by.filter(|_| results.groups.is_empty()) {
        let known = match results.fields.as_slice() {
            [] => "its items have no metadata field".to_owned(),
            fields => format!("there are {}", fields.join(", ")),
        };
        anyhow::bail!("no item of the task `{task}` has a field `{by}`; {known}");
    }
    let mut out = crate::render::stdout();
    if output.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&results)?)?;
    } else {
        show_task_tables(&mut out, task, by, &results)?;
    }
    if let Some(picture) = &output.chart {
        let title = by.map_or_else(|| task.to_owned(), |by| format!("{task} by {by}"));
        picture.draw(&results_radar(&results, &title)).context("cannot draw the radar")?;
    }
    Ok(CommandOutcome::Passed)
}

fn show_task_tables(
    out: &mut impl Write,
    task: &str,
    by: Option<&str>,
    results: &TaskResults,
) -> anyhow::Result<()> {
    writeln!(
        out,
        "\x1b[1m{}\x1b[0m  {} about {} by {}",
        printable_line(task),
        plural(results.n_answers, "answer"),
        plural(results.n_items, "item"),
        plural(results.n_people, "annotator")
    )?;
    match by {
        None => show_questions(out, &results.questions)?,
        Some(by) => {
            for group in &results.groups {
                let n_answers = plural(group.n_answers, "answer");
                writeln!(
                    out,
                    "\n{} \x1b[1m{}\x1b[0m  {n_answers}",
                    printable_line(by),
                    printable_line(&group.value)
                )?;
                show_questions(out, &group.questions)?;
            }
        }
    }
    Ok(())
}

fn show_questions(out: &mut impl Write, questions: &[QuestionResult]) -> anyhow::Result<()> {
    let width =
        questions.iter().map(|question| question.name.chars().count()).max().unwrap_or(0).clamp(6, 40);
    writeln!(out, "\x1b[1m{:<width$}   mean  95 % interval    scale        n\x1b[0m", "")?;
    for question in questions {
        let name: String = printable_line(&question.name).chars().take(width).collect();
        let n_scored = question.n_scored;
        if question.kind == QuestionKind::Choice {
            let counts = question.counts.iter().map(|(answer, n)| format!("{} {n}", printable_line(answer)));
            let counts = counts.collect::<Vec<_>>().join(", ");
            writeln!(out, "{name:<width$}  {counts}  ({n_scored})")?;
            continue;
        }
        let mean = question.mean.map_or("–".to_owned(), |mean| format!("{mean:.2}"));
        let interval = question.interval.map(|(low, high)| format!("{low:.2} to {high:.2}"));
        let interval = interval.unwrap_or_default();
        let scale = question.scale.map(|(low, high)| format!("{low} to {high}")).unwrap_or_default();
        let silent = [(question.n_not_applicable, "not applicable"), (question.n_abstained, "cannot tell")];
        let silent: String =
            silent.iter().filter(|(n, _)| 0 < *n).map(|(n, word)| format!("  {n} {word}")).collect();
        writeln!(out, "{name:<width$} {mean:>6}  {interval:<15}  {scale:<8} {n_scored:>5}{silent}")?;
    }
    Ok(())
}
