//! Cases of two runs side by side, on a terminal and as Markdown.

use std::io::Write;

use jurist_core::grade::VerdictStatus;
use jurist_core::report::{
    CaseChange, ChangeDirection, CriterionChange, WordChange, WordRun, format_score_change, shorten_same,
    variant_in_words,
};

use super::printable_line;

/// The largest number of letters of one part of a text that are printed; the JSON format has all of them.
const MAX_LETTERS: usize = 800;

/// Prints the verdicts, the answer as a word diff, and the old and new results of the graders; `scale` is the one that
/// all scores share.
pub fn show_case_change(
    out: &mut impl Write,
    change: &CaseChange,
    scale: Option<(f64, f64)>,
) -> anyhow::Result<()> {
    let colour = match (change.direction, change.after.status) {
        (ChangeDirection::Worse, _) => "31",
        (ChangeDirection::Better, _) => "32",
        (_, VerdictStatus::Error | VerdictStatus::Deferred) => "33",
        _ => "1",
    };
    let place = change.origin.as_ref().map(|origin| format!("  \x1b[2m{origin}\x1b[0m")).unwrap_or_default();
    writeln!(
        out,
        "\x1b[{colour}m{}\x1b[0m  {}{place}",
        printable_line(&change.case),
        describe_verdicts(change, scale)
    )?;
    if change.rubric_changed {
        writeln!(out, "    the rubric changed as well")?;
    }
    writeln!(out, "    {}", describe_answers(change, &terminal_diff(&change.answer_diff)))?;
    for criterion in &change.criteria {
        show_criterion_change(out, criterion)?;
    }
    Ok(())
}

fn describe_verdicts(change: &CaseChange, scale: Option<(f64, f64)>) -> String {
    let (before, after) = (&change.before, &change.after);
    let verdicts = match before.status == after.status {
        true => variant_in_words(&after.status),
        false => format!("{} → {}", variant_in_words(&before.status), variant_in_words(&after.status)),
    };
    // Another rubric may have another scale.
    let scale = scale.filter(|_| !change.rubric_changed);
    format!("{verdicts}  {}", format_score_change(before.score, after.score, scale))
}

fn describe_answers(change: &CaseChange, diff: &str) -> String {
    match (&change.before.answer, &change.after.answer) {
        (Some(_), Some(_)) if change.answer_changed => format!("answer: {diff}"),
        (Some(_), Some(answer)) => format!("same answer: {}", cut_line(answer)),
        (Some(answer), None) => format!("answer before: {} (now there is none)", cut_line(answer)),
        (None, Some(answer)) => format!("answer now: {} (before there was none)", cut_line(answer)),
        (None, None) => "the runs hold no answers".to_owned(),
    }
}

fn show_criterion_change(out: &mut impl Write, change: &CriterionChange) -> anyhow::Result<()> {
    let CriterionChange { criterion, before, after } = change;
    let name = printable_line(criterion);
    if before == after {
        for answer in after {
            writeln!(out, "    {name}: same: {}", cut_line(&answer.line()))?;
        }
        return Ok(());
    }
    for (when, answers) in [("before", before), ("after", after)] {
        for answer in answers {
            writeln!(out, "    {name} {when}: {}", cut_line(&answer.line()))?;
            for quote in &answer.evidence {
                writeln!(out, "        \x1b[2m{}\x1b[0m", cut_line(quote))?;
            }
        }
        if answers.is_empty() {
            writeln!(out, "    {name} {when}: not asked")?;
        }
    }
    Ok(())
}

/// As `git diff --word-diff` shows it: `[-removed-]{+added+}`.
fn terminal_diff(runs: &[WordRun]) -> String {
    let show = |(at, run): (usize, &WordRun)| match run.change {
        WordChange::Same => printable_line(&shorten_same(&run.text, at == 0, at + 1 == runs.len())),
        WordChange::Removed => format!("\x1b[31m[-{}-]\x1b[0m", cut_line(&run.visible_text())),
        WordChange::Added => format!("\x1b[32m{{+{}+}}\x1b[0m", cut_line(&run.visible_text())),
    };
    runs.iter().enumerate().map(show).collect()
}

/// On one line, without steering, and cut where it is very long.
fn cut_line(text: &str) -> String {
    let line = printable_line(text);
    match line.char_indices().nth(MAX_LETTERS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// The same as a section of Markdown; texts are in a code block, in which nothing is markup.
pub fn write_case_change_markdown(
    out: &mut impl Write,
    change: &CaseChange,
    scale: Option<(f64, f64)>,
) -> anyhow::Result<()> {
    let mut output = Vec::new();
    show_case_change(&mut output, change, scale)?;
    let output = anstream::adapter::strip_str(&String::from_utf8_lossy(&output)).to_string();
    // Longer than any fence in the text.
    let n_ticks = output.split(|letter| letter != '`').map(str::len).max().unwrap_or(0).max(2) + 1;
    let fence = "`".repeat(n_ticks);
    Ok(writeln!(out, "\n{fence}text\n{output}{fence}")?)
}
