//! JUnit's XML, as CI systems read it: failures, errors and skipped cases are three things.

use std::fmt::Write as _;

use super::{Tally, judges, reasons};
use crate::grade::Status;
use crate::run::Run;

pub(super) fn render(run: &Run) -> String {
    let tally = Tally::of(run);
    let name = escaped(run.suite.as_deref().unwrap_or("jurist"));
    let counts = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"",
        run.results.len(),
        tally.failed,
        tally.errors,
        tally.deferred
    );
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(out, "<testsuites name=\"{name}\" {counts}>");
    let _ = writeln!(out, "  <testsuite name=\"{name}\" {counts} timestamp=\"{}\">", run.started);
    for result in &run.results {
        let _ = writeln!(out, "    <testcase name=\"{}\" classname=\"{name}\">", escaped(&result.case));
        let score = result.verdict.score.map(|it| it.to_string()).unwrap_or_default();
        let cost = result.spend.cost.map(|it| it.to_string()).unwrap_or_default();
        let (rubric, judges) = (result.rubric.as_str().to_owned(), judges(result));
        let mark = run.pass_mark(&result.rubric).map(|it| it.to_string()).unwrap_or_default();
        let _ = writeln!(out, "      <properties>");
        for (key, value) in
            [("score", score), ("pass_mark", mark), ("rubric", rubric), ("judges", judges), ("cost", cost)]
        {
            let _ = writeln!(out, "        <property name=\"{key}\" value=\"{}\"/>", escaped(&value));
        }
        let _ = writeln!(out, "      </properties>");
        let why = reasons(run, result);
        let first = escaped(why.first().map_or("", String::as_str));
        let all = escaped(&why.join("\n"));
        let _ = match result.verdict.status {
            Status::Pass => Ok(()),
            Status::Fail => writeln!(out, "      <failure message=\"{first}\">{all}</failure>"),
            Status::Error => writeln!(out, "      <error message=\"{first}\">{all}</error>"),
            Status::Deferred => writeln!(out, "      <skipped message=\"{first}\"/>"),
        };
        let _ = writeln!(out, "    </testcase>");
    }
    out + "  </testsuite>\n</testsuites>\n"
}

/// Text inside XML; characters that XML cannot hold are replaced.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            it if it.is_control() || matches!(it, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            it => out.push(it),
        }
    }
    out
}
