//! JUnit, TAP, Markdown and summaries: reasons, scales, and text that must not break out of the format.

#![cfg(test)]

use super::*;
use crate::grade::{FailedGate, Gate};
use crate::run::Packed;

#[test]
fn a_failure_lists_what_caused_it() {
    let render_failure = |score: f64| {
        let mut run = run();
        let mut result = run.results.get(1);
        let grade = |criterion: &str, unit: f64| Grade {
            criterion: criterion.to_owned(),
            outcome: Outcome::Scored { value: Value::Number(unit), unit: Some(unit) },
            reason: Reason::default(),
            ..result.grades[0].clone()
        };
        let grades = vec![grade("a", 0.75), grade("b", 0.0), grade("c", 1.0)];
        result.grades = grades;
        result.verdict.score = Some(score);
        result.verdict.failed_gates =
            vec![FailedGate { gate: Gate::Required, criterion: Some("b".to_owned()) }];
        run.results = RunResults::from_iter([result]);
        let junit = render_report(ReportFormat::Junit, &run);
        let text = junit.split("<failure").nth(1).unwrap().split("</failure>").next().unwrap().to_owned();
        (text, json(ReportFormat::Gitlab, &run).as_array().unwrap().len())
    };
    // The score reaches the pass mark of 0.7: only the gate failed the case.
    let (text, n_findings) = render_failure(0.8);
    assert!(text.contains("gate required of b failed") && text.contains("b: 0.00"), "{text}");
    assert!(!text.contains("a: 0.75") && !text.contains("c: 1.00"), "{text}");
    assert_eq!(n_findings, 1);
    let (text, n_findings) = render_failure(0.6);
    assert!(text.contains("a: 0.75") && text.contains("b: 0.00") && !text.contains("c: 1.00"), "{text}");
    assert_eq!(n_findings, 2);
}

#[test]
fn reasons_name_every_criterion_and_show_answers_on_their_own_scale() {
    let mut run = hostile("x");
    run.results.change(|_, result| {
        result.grades[0].outcome = Outcome::Scored { value: Value::Number(4.0), unit: Some(0.75) };
        let first = result.grades[0].clone();
        result.grades.push(Grade { criterion: "tone".to_owned(), ..first });
    });
    assert_eq!(reasons(&run, &run.results.get(0)), ["a, tone: 4 (0.75) — x"]);
}

#[test]
fn a_long_page_is_cut_where_github_would_drop_it() {
    let mut run = hostile(&"x".repeat(400));
    assert_eq!(github_summary(&run, ReportContext::default()), render_report(ReportFormat::Markdown, &run));
    let one = Packed::new(&run.results.get(0));
    run.results = std::iter::repeat_n(one, 2_000).collect();
    let page = github_summary(&run, ReportContext::default());
    assert!(page.len() < 1024 * 1024 && page.starts_with("This summary is truncated"), "{}", page.len());
}

#[test]
fn no_text_breaks_out_of_xml() {
    let junit = render_report(
        ReportFormat::Junit,
        &hostile("]]></system-out>&\u{0}\u{fffe}\u{ffff}\r\n[[[ATTACHMENT|/etc/passwd]]"),
    );
    assert!(!junit.contains("]]>") && !junit.contains(['\u{0}', '\u{fffe}', '\u{ffff}', '\r']), "{junit}");
    assert!(!junit.contains("[[ATTACHMENT") && junit.contains("]]&gt;&lt;/system-out&gt;&amp;"), "{junit}");
    assert_eq!(junit.matches("</system-out>").count(), 1);
}

#[test]
fn marks_of_direction_are_in_no_report_of_lines() {
    let text = "a\u{202e}b\u{2066}c\u{9b}d\u{200f}e";
    for format in [ReportFormat::Junit, ReportFormat::Markdown, ReportFormat::Tap, ReportFormat::Github] {
        let report = render_report(format, &hostile(text));
        assert!(!report.contains(crate::source::is_hidden_steering), "{format:?}: {report}");
        assert!(report.contains("a b c"), "{format:?}: {report}");
    }
}

#[test]
fn no_text_breaks_out_of_tap() {
    let tap = render_report(
        ReportFormat::Tap,
        &hostile("a # SKIP\nok 2 - b\n  ...\nBail out! \\ \u{7f}\u{9b}\u{2028} {"),
    );
    let at_start: Vec<&str> = tap.lines().filter(|line| !line.starts_with([' ', '#'])).collect();
    assert_eq!(at_start.len(), 3, "{tap}");
    assert!(
        at_start[2].starts_with("not ok 1 - a   SKIP ok 2 - b")
            && !at_start[2].contains(['#', '\\', '\u{2028}', '{']),
        "{tap}"
    );
    assert!(tap.contains(r"Bail out! \\ \u007f\u009b\u2028"), "{tap}");
}

#[test]
fn no_text_breaks_out_of_a_markdown_table_or_calls_anybody() {
    let markdown = render_report(
        ReportFormat::Markdown,
        &hostile("- a | b\n\n# c\n<img src=x> [d](e) `f` @everyone &lt; ~~g~~"),
    );
    let text = "\\- a \\| b  \\# c \\<img src=x\\> \\[d\\](e) \\`f\\` @\u{200b}everyone \\&lt; \\~\\~g\\~\\~";
    assert!(markdown.starts_with(&format!("# {text}.yaml\n")), "{markdown}");
    assert!(markdown.contains(&format!("\n| {text} | fail | 0.25 | 0.70 | m1 | $0.0015 |")), "{markdown}");
    assert!(
        markdown.contains(&format!("\n## {text}: fail\n")) && !markdown.contains("@everyone"),
        "{markdown}"
    );
}

#[test]
fn what_cost_the_most_points_comes_first_and_a_low_score_is_named() {
    let rubric = json!({ "criteria": [
        { "name": "tone" },
        { "name": "figures", "criteria": [{ "name": "dates", "weight": 3.0 }, { "name": "sums" }] },
        { "name": "cost", "weight": 2.0 },
    ] });
    let mut run = run();
    let mut failed = run.results.get(1);
    run.rubrics.insert(failed.rubric.clone(), rubric);
    let template = failed.grades.remove(0);
    let grade = |criterion: &str, unit: f64| Grade {
        criterion: criterion.to_owned(),
        outcome: Outcome::Scored { value: Value::Number(unit), unit: Some(unit) },
        reason: Reason::new("why"),
        ..template.clone()
    };
    // 0.05, 0.1875, 0.03125 and 0.35 of the score.
    failed.grades = vec![grade("tone", 0.8), grade("dates", 0.0), grade("sums", 0.5), grade("cost", 0.3)];
    failed.verdict.score = Some(0.695_2);
    run.results = RunResults::from_iter([failed.clone()]);
    let lines = reasons(&run, &failed);
    let order: Vec<&str> = lines.iter().filter_map(|line| Some(line.split_once(':')?.0)).collect();
    assert_eq!(order, ["cost", "dates", "tone", "sums"]);
    let junit = render_report(ReportFormat::Junit, &run);
    let message = "message=\"score 0.695 is under the pass mark 0.700; cost: 0.30 — why\"";
    assert!(junit.contains(message), "{junit}");
}

#[test]
fn formats_of_ci_servers_have_the_score_on_the_scale_of_the_rubric_before_the_one_from_0_to_1() {
    let rubric = json!({
        "criteria": [{ "name": "tone", "description": "How friendly is it?" }],
        "scale": { "likert": { "min": 1, "max": 5 } },
    });
    let mut run = run();
    let mut failed = run.results.get(1);
    run.rubrics.insert(failed.rubric.clone(), rubric);
    failed.verdict.score = Some(0.5);
    run.results = RunResults::from_iter([failed]);
    let junit = render_report(ReportFormat::Junit, &run);
    assert!(junit.contains("message=\"score 3.0/5 (0.50) is under the pass mark "), "{junit}");
    assert!(junit.contains("[[PROPERTY|own_score=3.0/5]]\n[[PROPERTY|score=0.5]]"), "{junit}");
    let tap = render_report(ReportFormat::Tap, &run);
    assert!(tap.contains("  own_score: \"3.0/5\"\n  score: 0.5\n"), "{tap}");
    let sarif = json(ReportFormat::Sarif, &run);
    let properties = &sarif["runs"][0]["results"][0]["properties"];
    assert_eq!((&properties["ownScore"], &properties["score"]), (&json!("3.0/5"), &json!(0.5)), "{sarif}");
    let markdown = render_report(ReportFormat::Markdown, &run);
    assert!(markdown.contains("| fail | 3.0/5 (0.50) | 3.8/5 (0.70) |"), "{markdown}");
    // A rubric without a scale of its own has the score from 0 to 1 only.
    let plain = super::run();
    assert!(!render_report(ReportFormat::Junit, &plain).contains("own_score"));
    assert!(!render_report(ReportFormat::Tap, &plain).contains("own_score"));
}
