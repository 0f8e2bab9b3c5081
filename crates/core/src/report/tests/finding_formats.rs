//! Findings for code review: SARIF, GitLab and annotations of GitHub.

#![cfg(test)]

use super::*;
use crate::grade::{FailedGate, Gate};

#[test]
fn the_same_finding_has_the_same_fingerprint_in_every_run() {
    let prints = |run: &Run| {
        let gitlab = json(ReportFormat::Gitlab, run)[0]["fingerprint"].clone();
        (gitlab, json(ReportFormat::Sarif, run)["runs"][0]["results"][0]["partialFingerprints"].clone())
    };
    let first = run();
    let mut again = run();
    again.id = RunId::new(Time::from_micros(9_000_000), [1; 10]);
    again.results.change(|_, result| {
        result.grades[0].reason = Reason::new("something else");
        if result.verdict.status == VerdictStatus::Fail {
            result.grades[0].outcome = Outcome::Scored { value: Value::Number(0.1), unit: Some(0.1) };
        }
    });
    assert_eq!(prints(&first), prints(&again));
    again.results.change(|_, result| result.case = "another".to_owned());
    assert_ne!(prints(&first), prints(&again));
}

#[test]
fn gates_weigh_more_than_a_low_score_and_that_more_than_a_flaw() {
    let severity = |unit: f64, gate: bool| {
        let mut run = hostile("x");
        run.results.change(|_, result| {
            result.grades[0].outcome = Outcome::Scored { value: Value::Number(unit), unit: Some(unit) };
            if gate {
                let criterion = Some("a".to_owned());
                result.verdict.failed_gates = vec![FailedGate { gate: Gate::Required, criterion }];
            }
        });
        let sarif = json(ReportFormat::Sarif, &run)["runs"][0]["results"][0].clone();
        (
            json(ReportFormat::Gitlab, &run)[0]["severity"].clone(),
            sarif["level"].clone(),
            sarif["ruleId"].clone(),
        )
    };
    assert_eq!(severity(0.9, true), (json!("critical"), json!("error"), json!("a")));
    assert_eq!(severity(0.2, false), (json!("major"), json!("error"), json!("a")));
    assert_eq!(severity(0.9, false), (json!("minor"), json!("warning"), json!("a")));
    // A case that failed is never left out, even if all its criteria are met.
    assert_eq!(severity(1.0, false), (json!("major"), json!("error"), json!("verdict")));
}

#[test]
fn an_annotation_has_the_failed_criteria_and_a_rounded_score() {
    let scored = |unit: f64| Outcome::Scored { value: Value::Number(unit), unit: Some(unit) };
    let mut run = hostile("x");
    run.results.change(|_, result| {
        result.verdict.score = Some(0.416_666_7);
        result.grades[0].outcome = scored(0.416_666_7);
        let first = result.grades[0].clone();
        result.grades.push(Grade { criterion: "met".to_owned(), outcome: scored(1.0), ..first });
    });
    let github = render_report(ReportFormat::Github, &run);
    let annotation = github.lines().next().unwrap();
    assert!(annotation.contains("::a: 0.42 — x%0A"), "{annotation}");
    assert!(
        annotation.ends_with("%0Averdict fail, score 0.42, pass mark 0.70, graded by m1, cost $0.0015"),
        "{annotation}"
    );
    assert!(!annotation.contains("met"), "{annotation}");
}

#[test]
fn nobody_commands_githubs_runner_but_us() {
    let github =
        render_report(ReportFormat::Github, &hostile("100%\n::error::x, y\r\n::set-env name=A::b\u{1b}"));
    assert_eq!(github.lines().count(), 2);
    let title = "title=100%25%0A%3A%3Aerror%3A%3Ax%2C y%0D%0A%3A%3Aset-env name=A%3A%3Ab ";
    assert!(github.starts_with(&format!("::error {title}::")), "{github}");
    assert!(
        github.lines().all(|line| line.starts_with("::error title=") || line.starts_with("::notice title="))
    );
    assert!(!github.contains(['\r', '\u{1b}']));
}

#[test]
fn links_in_a_sarif_message_are_only_text() {
    let sarif = json(ReportFormat::Sarif, &hostile("[x](javascript:y)\n{0}"));
    let message = sarif["runs"][0]["results"][0]["message"]["text"].as_str().unwrap();
    assert!(message.contains("[x] (javascript:y)\n{0}"), "{message}");
    assert!(sarif["runs"][0]["results"][0]["locations"][0].get("physicalLocation").is_none());
}

#[test]
fn a_case_is_found_by_its_file_and_line() {
    let mut run = run();
    let origin = crate::suite::CaseOrigin { file: "evals/faq.yaml".to_owned(), line: 17, suite: None };
    run.results.change(|_, result| result.origin = Some(origin.clone()));
    let place = &json(ReportFormat::Sarif, &run)["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(
        (&place["artifactLocation"]["uri"], &place["region"]["startLine"]),
        (&json!("evals/faq.yaml"), &json!(17))
    );
    let place = &json(ReportFormat::Gitlab, &run)[0]["location"];
    assert_eq!((&place["path"], &place["lines"]["begin"]), (&json!("evals/faq.yaml"), &json!(17)));
    let annotations = render_report(ReportFormat::Github, &run);
    assert!(annotations.contains("file=evals/faq.yaml,line=17::"), "{annotations}");
}
