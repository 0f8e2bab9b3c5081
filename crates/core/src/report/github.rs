//! What a GitHub workflow shows: an annotation for each case that did not pass, and the page of the step.

use super::said::{all, figure_lines, seconds};
use super::{Tally, finding, grounds, markdown, notes};
use crate::grade::Status;
use crate::quantity::plural;
use crate::run::{CaseResult, NotGraded, Run};
use crate::stats::Comparison;

/// GitHub drops a page of more than a mebibyte; what tells that it was cut needs room too.
const PAGE: usize = 1024 * 1024 - 200;

/// Commands to the runner, a line each. Failed cases are errors, broken graders warnings, what waits a notice.
pub(super) fn render(run: &Run) -> String {
    let mut out: String = run.results.iter().filter_map(|it| annotation(run, &it)).collect();
    let tally = Tally::of(run);
    let cost = run.spend.cost.map(|it| format!(" Cost {it}.")).unwrap_or_default();
    let took = seconds(run).map(|it| format!(" Took {it:.1} s.")).unwrap_or_default();
    let text = format!(
        "{} passed, {} failed, {}, {} deferred.{cost}{took} Run {}.",
        tally.passed,
        tally.failed,
        plural(tally.errors, "error"),
        tally.deferred,
        run.id
    );
    let title = run.suite.as_deref().unwrap_or("Jurist");
    if let Some(not_graded) = NotGraded::of(run) {
        out.push_str(&command("warning", &[("title", title)], &not_graded.statement));
    }
    out.push_str(&command("notice", &[("title", title)], &text));
    out
}

/// The run in Markdown, for the file that `GITHUB_STEP_SUMMARY` names.
pub fn summary(run: &Run, compared: Option<&Comparison>) -> String {
    let page = markdown::render(run, compared);
    if page.len() <= PAGE {
        return page;
    }
    let end = page.floor_char_boundary(PAGE);
    let end = page[..end].rfind('\n').unwrap_or(end);
    format!(
        "This page is cut; `jurist runs report {} --reporter md` has all of it.\n\n{}\n",
        run.id,
        &page[..end]
    )
}

fn annotation(run: &Run, result: &CaseResult) -> Option<String> {
    let kind = match result.verdict.status {
        Status::Pass => return None,
        Status::Fail => "error",
        Status::Error => "warning",
        Status::Deferred => "notice",
    };
    let said = all(result).into_iter().flat_map(|it| it.lines());
    let lines: Vec<String> = grounds(result)
        .into_iter()
        .chain(notes(result))
        .chain(figure_lines(run, result))
        .chain(said)
        .collect();
    let location = finding::location(run, result);
    let line = location.as_ref().and_then(|it| it.line).map(|it| it.to_string());
    let mut properties = vec![("title", result.case.as_str())];
    properties.extend(location.as_ref().map(|it| ("file", it.file.as_str())));
    properties.extend(line.as_deref().map(|it| ("line", it)));
    Some(command(kind, &properties, &lines.join("\n")))
}

/// One line that the runner reads as a command, whatever is in its texts.
fn command(kind: &str, properties: &[(&str, &str)], text: &str) -> String {
    let properties: Vec<String> =
        properties.iter().map(|(key, value)| format!("{key}={}", property(value))).collect();
    format!("::{kind} {}::{}\n", properties.join(","), data(text))
}

/// Line breaks as the runner wants them; no other control character has a use there.
fn data(text: &str) -> String {
    let text = text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    text.replace(char::is_control, " ")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
