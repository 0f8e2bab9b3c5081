//! What every format shows: statuses, figures, reasons, gates and warnings of grades.

#![cfg(test)]

use super::*;
use crate::grade::{FailedGate, Gate, GraderKind};

#[test]
fn flags_of_grades_are_told_in_every_report() {
    let mut run = run();
    let mut planted = run.results.get(0);
    planted.grades[0].flags = vec![GradeFlag::VerdictInCandidate];
    let mut unproven = run.results.get(0);
    unproven.case = "unproven".to_owned();
    unproven.verdict.status = VerdictStatus::Fail;
    unproven.verdict.failed_gates =
        vec![FailedGate { gate: Gate::Evidence, criterion: Some("a".to_owned()) }];
    unproven.grades[0].flags = vec![GradeFlag::NoVerifiableEvidence];
    run.results = RunResults::from_iter([planted, unproven]);
    for format in [
        ReportFormat::Json,
        ReportFormat::Ndjson,
        ReportFormat::Otel,
        ReportFormat::Junit,
        ReportFormat::Markdown,
        ReportFormat::Html,
    ] {
        let text = render_report(format, &run);
        let is_json = matches!(format, ReportFormat::Json | ReportFormat::Ndjson | ReportFormat::Otel);
        let flags = if is_json {
            ["verdict_in_candidate", "no_verifiable_evidence"]
        } else {
            [PLANTED, "no verifiable evidence (answer of the judge: 1"]
        };
        for flag in flags {
            assert!(text.contains(flag), "{format:?}: {flag} is not in {text}");
        }
    }
    for format in [
        ReportFormat::Csv,
        ReportFormat::Github,
        ReportFormat::Sarif,
        ReportFormat::Gitlab,
        ReportFormat::Tap,
    ] {
        let text = render_report(format, &run);
        assert!(text.contains("no verifiable evidence"), "{format:?}: {text}");
        assert!(text.contains(PLANTED), "{format:?}: {text}");
    }
}

#[test]
fn a_planted_verdict_is_told_whatever_the_verdict_of_its_case() {
    for status in [VerdictStatus::Pass, VerdictStatus::Fail, VerdictStatus::Error, VerdictStatus::Deferred] {
        let mut run = run();
        let mut result = run.results.iter().find(|result| result.verdict.status == status).unwrap();
        result.grades[0].flags = vec![GradeFlag::VerdictInCandidate];
        run.results = RunResults::from_iter([result]);
        for format in [
            ReportFormat::Junit,
            ReportFormat::Markdown,
            ReportFormat::Html,
            ReportFormat::Github,
            ReportFormat::Sarif,
            ReportFormat::Gitlab,
            ReportFormat::Tap,
        ] {
            let text = render_report(format, &run);
            assert!(text.contains(PLANTED), "{format:?}, {status:?}: {text}");
        }
    }
}

#[test]
fn a_planted_verdict_is_a_note_and_no_failure() {
    let mut run = run();
    let mut result = run.results.get(0);
    result.grades[0].flags = vec![GradeFlag::VerdictInCandidate];
    run.results = RunResults::from_iter([result]);
    let annotation = render_report(ReportFormat::Github, &run);
    let text = format!("::notice title=good::{PLANTED}%0Averdict pass, score 1.00");
    assert!(annotation.starts_with(&text), "{annotation}");
    let sarif = json(ReportFormat::Sarif, &run);
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), 1);
    assert_eq!(
        (&results[0]["ruleId"], &results[0]["level"], &results[0]["message"]["text"]),
        (&json!("verdict_in_candidate"), &json!("note"), &json!(format!("good: {PLANTED}")))
    );
    let rule =
        &sarif["runs"][0]["tool"]["driver"]["rules"][results[0]["ruleIndex"].as_u64().unwrap() as usize];
    assert_eq!((&rule["id"], &rule["help"]["text"]), (&json!("verdict_in_candidate"), &json!(PLANTED)));
    let gitlab = json(ReportFormat::Gitlab, &run);
    assert_eq!(
        (gitlab.as_array().unwrap().len(), &gitlab[0]["severity"], &gitlab[0]["check_name"]),
        (1, &json!("info"), &json!("verdict_in_candidate"))
    );
    let tap = render_report(ReportFormat::Tap, &run);
    assert!(tap.contains("\nok 1 - good\n") && tap.contains(&format!("  notes: [\"{PLANTED}\"]\n")), "{tap}");
}

#[test]
fn every_format_keeps_failures_errors_and_deferrals_apart() {
    let run = run();
    let junit = render_report(ReportFormat::Junit, &run);
    assert!(junit.contains("tests=\"4\" failures=\"1\" errors=\"1\" skipped=\"1\""), "{junit}");
    // Its schema has no such count for all suites together.
    assert!(junit.contains("tests=\"4\" failures=\"1\" errors=\"1\">"), "{junit}");
    assert_eq!(
        [
            junit.matches("<failure ").count(),
            junit.matches("<error ").count(),
            junit.matches("<skipped ").count()
        ],
        [1, 1, 1]
    );
    assert!(junit.contains("[[PROPERTY|pass_mark=0.7]]") && junit.contains("[[PROPERTY|score=0.25]]"));
    assert!(!junit.contains("<b>") && !junit.contains('\u{1b}'));
    let tap = render_report(ReportFormat::Tap, &run);
    assert!(
        tap.contains("not ok 2 - bad | <x>   y\n")
            && tap.contains("not ok 3 - broken # TODO")
            && tap.contains("ok 4 - later # SKIP"),
        "{tap}"
    );
    let markdown = render_report(ReportFormat::Markdown, &run);
    assert!(markdown.contains("1 passed, 1 failed, 1 error, 1 deferred"), "{markdown}");
    assert!(markdown.contains("| bad \\| \\<x\\> \\# y | fail | 0.25 | 0.70 | m1 |"), "{markdown}");
    let csv = render_report(ReportFormat::Csv, &run);
    assert_eq!(csv.lines().count(), 5);
    assert!(csv.contains("'=cmd()"), "{csv}");
    let html = render_report(ReportFormat::Html, &run);
    assert!(
        html.contains("bad | &lt;x&gt; # y") && !html.contains("<b>\"why\"") && !html.contains("<x>"),
        "{html}"
    );
    assert_eq!(html.matches("<details class=\"case ").count(), 4);
    let sarif = json(ReportFormat::Sarif, &run);
    assert_eq!(sarif["runs"][0]["results"].as_array().unwrap().len(), 1);
    let told = &sarif["runs"][0]["invocations"][0]["toolExecutionNotifications"];
    assert_eq!((&told[0]["level"], &told[1]["level"]), (&"error".into(), &"note".into()));
    assert_eq!(told.as_array().unwrap().len(), 3, "one of the whole run");
    assert_eq!(json(ReportFormat::Gitlab, &run).as_array().unwrap().len(), 1);
    let github = render_report(ReportFormat::Github, &run);
    let kinds: Vec<&str> = github.lines().map(|line| line.split_once(' ').unwrap().0).collect();
    assert_eq!(kinds, ["::error", "::error", "::notice", "::warning", "::notice"]);
    let context = ReportContext { no_defer: true, ..ReportContext::default() };
    let github = render_compared(ReportFormat::Github, &run, context);
    let kinds: Vec<&str> = github.lines().map(|line| line.split_once(' ').unwrap().0).collect();
    assert_eq!(kinds, ["::error", "::error", "::error", "::error", "::notice"]);
    assert_eq!(render_report(ReportFormat::Ndjson, &run).lines().count(), 4);
    let back: Run = serde_json::from_str(&render_report(ReportFormat::Json, &run)).unwrap();
    assert_eq!(back, run);
}

#[test]
fn every_format_tells_the_figures_the_reason_and_the_quote() {
    let mut run = hostile("said so");
    run.suite = Some("./suites/a b.yaml".to_owned());
    let version = run.results.get(0).rubric.short().to_owned();
    for (name, format) in ReportFormat::ALL {
        let text = render_report(format, &run);
        // A comment has the reason and links to the run for the rest.
        if format == ReportFormat::PrComment {
            assert!(text.contains("said so") && text.contains("0.25"), "{text}");
            continue;
        }
        for part in ["said so", "0.25", "m1", "0.0015"] {
            assert!(text.contains(part), "{name} lacks {part}: {text}");
        }
        // Formats that people read have no hash.
        let is_for_people = matches!(
            format,
            ReportFormat::Markdown
                | ReportFormat::Github
                | ReportFormat::Gitlab
                | ReportFormat::Junit
                | ReportFormat::Tap
        );
        assert_eq!(text.contains(&version), !is_for_people, "{name}: {text}");
        // The run itself has the whole rubric, which leaves out a pass mark that is the usual one.
        assert!(format == ReportFormat::Json || text.contains("0.7"), "{name}: {text}");
    }
    for format in [
        ReportFormat::Junit,
        ReportFormat::Tap,
        ReportFormat::Markdown,
        ReportFormat::Csv,
        ReportFormat::Gitlab,
        ReportFormat::Github,
    ] {
        assert!(render_report(format, &run).contains("“said so” (response, 3–9)"), "{format:?}");
    }
    let sarif = json(ReportFormat::Sarif, &run);
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(
        (&result["ruleId"], &result["kind"], &result["level"]),
        (&json!("a"), &json!("fail"), &json!("error"))
    );
    assert_eq!(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "suites/a%20b.yaml");
    assert_eq!(sarif["runs"][0]["tool"]["driver"]["rules"][0]["fullDescription"]["text"], "A.");
    assert_eq!(json(ReportFormat::Gitlab, &run)[0]["location"]["path"], "suites/a b.yaml");
}

#[test]
fn an_unknown_cost_is_not_zero() {
    let costs = |spend: Spend, kind: GraderKind| {
        let mut result = run().results.get(0);
        result.grades[0].grader.kind = kind;
        result.metadata.clear();
        result.spend = spend;
        let run = Run { results: RunResults::from_iter([result.clone()]), spend, ..run() };
        (format_case_cost(&result), format_run_cost(&run))
    };
    let both = |text: &str| (text.to_owned(), Some(text.to_owned()));
    let unpriced = Spend { tokens_in: 300, ..Spend::default() };
    let cached = Spend { cost: Some(Usd::default()), from_cache: true, ..Spend::default() };
    let paid = Spend { cost: Some(Usd::from_nanos(1_500_000)), ..unpriced };
    assert_eq!(costs(unpriced, GraderKind::Judge), both("not known"));
    assert_eq!(costs(cached, GraderKind::Judge), both("$0 (cached)"));
    assert_eq!(costs(paid, GraderKind::Judge), both("$0.0015"));
    assert_eq!(costs(Spend::default(), GraderKind::Check), ("no calls".to_owned(), None));
}

#[test]
fn the_cost_of_a_run_is_the_same_in_all_reports() {
    let mut run = run();
    run.spend = Spend { cost: Some(Usd::default()), from_cache: true, ..Spend::default() };
    // The judge of the failed case has no price.
    let junit = render_report(ReportFormat::Junit, &run);
    assert!(junit.contains("<property name=\"cost\" value=\"not known\"/>"), "{junit}");
    assert!(render_report(ReportFormat::Github, &run).contains("Cost not known."));
}

#[test]
fn every_format_tells_where_a_tree_ended_and_why_a_panel_failed() {
    let mut run = run();
    run.results.change(|_, result| {
        result.verdict.path = vec![crate::grade::TreePathStep {
            node: "a".to_owned(),
            answer: "no".to_owned(),
            score: Some(0.25),
            reason: Some("never called the weather tool".to_owned()),
        }];
        let verdicts = vec![result.verdict.clone(); 3];
        let combine = crate::score::Combine::Jury { consensus: 0.66 };
        result.panel = Some(crate::score::combine_panel(&verdicts, combine, 0.7));
    });
    for (name, format) in ReportFormat::ALL {
        assert!(render_report(format, &run).contains("never called the weather tool"), "{name}");
    }
    let failed = run.results.get(1);
    assert!(reasons(&run, &failed).contains(&"panel: 0 of 3 members passed it; 2 have to".to_owned()));
    for format in [
        ReportFormat::Json,
        ReportFormat::Junit,
        ReportFormat::Markdown,
        ReportFormat::Tap,
        ReportFormat::Html,
        ReportFormat::Github,
    ] {
        assert!(render_report(format, &run).contains("0 of 3 members passed it"), "{format:?}");
    }
}

#[test]
fn what_nobody_graded_is_said_wherever_there_is_room_for_it() {
    let mut run = run();
    let statement = "1 of 4 cases was not graded";
    for format in [
        ReportFormat::Json,
        ReportFormat::Junit,
        ReportFormat::Markdown,
        ReportFormat::Tap,
        ReportFormat::Html,
        ReportFormat::Sarif,
        ReportFormat::Github,
    ] {
        assert!(render_report(format, &run).contains(statement), "{format:?}");
    }
    assert!(github_summary(&run, ReportContext::default()).contains(statement));
    let read: Run = serde_json::from_str(&render_report(ReportFormat::Json, &run)).unwrap();
    assert_eq!(read, run, "the summary is for readers and is not read back");
    run.results.change(|_, result| result.verdict.status = VerdictStatus::Pass);
    for (name, format) in ReportFormat::ALL {
        assert!(!render_report(format, &run).contains("not graded"), "{name}");
    }
}

#[test]
fn a_failed_gate_of_the_run_is_shown_where_reviewers_look() {
    let run = run();
    let failed_gates = [
        FailedRunGate {
            gate: "--min-pass-rate 0.9".to_owned(),
            reasons: vec!["1 of 4 cases passed".to_owned()],
        },
        FailedRunGate {
            gate: "--fail-on-regression".to_owned(),
            reasons: vec!["1 case regressed: a".to_owned(), "1 case has no verdict: b".to_owned()],
        },
    ];
    let context = ReportContext { failed_gates: &failed_gates, ..ReportContext::default() };
    let junit = render_compared(ReportFormat::Junit, &run, context);
    assert!(junit.contains("tests=\"6\" failures=\"3\" errors=\"1\""), "{junit}");
    let gate = "<testcase name=\"gate: --min-pass-rate 0.9\" classname=\"a &lt;suite&gt; &amp; more\">\n      \
                <failure type=\"gate\" message=\"1 of 4 cases passed\">";
    assert!(junit.contains(gate), "{junit}");
    assert!(junit.contains("message=\"1 case regressed: a&#10;1 case has no verdict: b\""), "{junit}");
    let github = render_compared(ReportFormat::Github, &run, context);
    let annotation = "::error title=a <suite> & more::--min-pass-rate 0.9: 1 of 4 cases passed\n";
    assert!(github.contains(annotation), "{github}");
    let line = "**Failed gate:** \\--min-pass-rate 0.9: 1 of 4 cases passed\n";
    for format in [ReportFormat::Markdown, ReportFormat::PrComment] {
        assert!(render_compared(format, &run, context).contains(line), "{format:?}");
    }
    assert!(github_summary(&run, context).contains(line));
}
