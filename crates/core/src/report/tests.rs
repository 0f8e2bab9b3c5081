use super::*;
use crate::candidate::JudgeInput;
use crate::grade::{
    Counts, Evidence, FailedGate, Failure, Gate, Grade, GraderKind, GradesFileLine, MetadataFields, Reason,
    Spend, Time, Usd, Verdict,
};
use crate::rubric::{Criterion, CriterionKind, Draft, Rubric, Scale};
use crate::run::{CaseResult, Packed, RunId, RunResults};
use serde_json::{Value as Json, json};

/// A run with a case of each kind, and a name that would break out of every format.
fn run() -> Run {
    let criteria = vec![Criterion::new("a", "A.", CriterionKind::Question(Scale::Unit))];
    let rubric = Rubric::new(Draft { criteria, ..Draft::default() }).unwrap();
    let result = |case: &str, status: VerdictStatus, outcome: Outcome| {
        let grade: Grade = serde_json::from_value(serde_json::json!({
            "candidate": case, "criterion": "a", "grader": { "kind": "judge", "name": "m1" }, "outcome": outcome,
        }))
        .unwrap();
        CaseResult {
            case: case.to_owned(),
            origin: None,
            trial: None,
            base: None,
            parts: None,
            candidate: case.to_owned(),
            rubric: rubric.version().clone(),
            verdict: Verdict {
                status,
                score: outcome.unit(),
                native: None,
                vacuous: false,
                failed_gates: Vec::new(),
                undecided_gates: Vec::new(),
                path: Vec::new(),
                counts: Counts::default(),
            },
            grades: vec![Grade { reason: Reason::new("=cmd() <b>\"why\"</b> | # \u{1b}[31m"), ..grade }],
            spend: Spend::default(),
            panel: None,
            projected_calls: None,
            metadata: [("agent".to_owned(), "=a1".into()), ("tags".to_owned(), vec!["x", "y"].into())].into(),
            material: JudgeInput::default(),
        }
    };
    let scored = |unit: f64| Outcome::Scored { value: Value::Number(unit), unit: Some(unit) };
    Run {
        format: crate::grade::FORMAT,
        id: RunId::new(Time::from_micros(1_000_000), [7; 10]),
        suite: Some("a <suite> & more".into()),
        provenance: Default::default(),
        started: Time::from_micros(1_000_000),
        ended: None,
        seed: 0,
        rubrics: [(rubric.version().clone(), rubric.to_json())].into(),
        results: RunResults::from_iter([
            result("good", VerdictStatus::Pass, scored(1.0)),
            result("bad | <x> # y", VerdictStatus::Fail, scored(0.25)),
            result(
                "broken",
                VerdictStatus::Error,
                Outcome::Failed { failure: Failure::Timeout, detail: "60 s".into() },
            ),
            result("later", VerdictStatus::Deferred, Outcome::Deferred { why: Deferral::NoKey }),
        ]),
        spend: Spend::default(),
        summary: None,
    }
}

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

/// What reports say about a candidate that holds text shaped like a verdict.
const PLANTED: &str = "the candidate contains text shaped like a verdict";

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

/// The failed case alone, about which a judge, the candidate and the suite's author say the worst there is.
fn hostile(text: &str) -> Run {
    let mut run = run();
    let mut result = run.results.get(1);
    result.case = text.to_owned();
    let found = crate::grade::QuoteLocation { part: "response".to_owned(), start: 3, end: 9 };
    result.grades[0].reason = Reason::new(text);
    result.grades[0].evidence = vec![Evidence { quote: text.to_owned(), found: Some(found) }];
    result.grades[0].spend.cost = Some(Usd::from_nanos(1_500_000));
    result.spend = result.grades[0].spend;
    run.results = RunResults::from_iter([result]);
    run.suite = Some(format!("{text}.yaml"));
    run.ended = Some(Time::from_micros(13_250_000));
    run
}

fn json(format: ReportFormat, run: &Run) -> Json {
    serde_json::from_str(&render_report(format, run)).unwrap()
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
fn rows_hold_every_grade_and_no_number_where_there_is_none() {
    let mut run = hostile("-1+1");
    let mut results: Vec<CaseResult> = run.results.iter().chain(self::run().results.iter().skip(2)).collect();
    results[0].grades[0].time = Some(Time::from_micros(2_500_000));
    results[0].grades[0].flags = vec![GradeFlag::NoVerifiableEvidence];
    run.results = results.iter().cloned().collect();
    let rows: Vec<GradeRow<'_>> = results.iter().flat_map(|result| grade_rows(&run, result)).collect();
    for row in &rows {
        for column in COLUMNS {
            let kind = (column.cell)(row).map(|grade_cell| match grade_cell {
                GradeCell::Text(_) => ColumnKind::Text,
                GradeCell::Number(_) => ColumnKind::Number,
                GradeCell::Count(_) => ColumnKind::Count,
                GradeCell::Flag(_) => ColumnKind::Flag,
                GradeCell::Time(_) => ColumnKind::Time,
                GradeCell::Json(_) => ColumnKind::Json,
            });
            assert!(kind.is_none_or(|kind| kind == column.kind), "{}: {kind:?}", column.name);
        }
    }
    let [scored, failed, deferred] = [0, 1, 2].map(|index| serde_json::to_value(rows[index]).unwrap());
    assert_eq!(
        (&scored["unit"], &scored["value"], &scored["status"]),
        (&json!(0.25), &json!("0.25"), &json!("fail"))
    );
    assert_eq!(
        (&scored["cost_usd"], &scored["time"]),
        (&json!(0.0015), &json!("1970-01-01T00:00:02.500000Z"))
    );
    assert_eq!((&scored["agent"], &scored["metadata"]["tags"]), (&json!("=a1"), &json!(["x", "y"])));
    assert_eq!(scored["evidence"][0]["quote"], "-1+1");
    assert_eq!(scored["flags"], json!(["no_verifiable_evidence"]));
    assert_eq!(
        (&failed["outcome"], &failed["why"], &failed["detail"]),
        (&json!("failed"), &json!("timeout"), &json!("60 s"))
    );
    assert_eq!((&deferred["outcome"], &deferred["why"]), (&json!("deferred"), &json!("no_key")));
    for row in [&failed, &deferred] {
        for name in ["value", "number", "unit", "score", "tokens_in", "cost_usd"] {
            assert_eq!(row[name], Json::Null, "{name}");
        }
    }
    let table = csv_head() + &csv_rows(&rows);
    let mut table = ::csv::Reader::from_reader(table.as_bytes());
    let names = table.headers().unwrap().clone();
    let cells = table.records().next().unwrap().unwrap();
    let cell = |name: &str| &cells[names.iter().position(|text| text == name).unwrap()];
    assert_eq!([cell("reason"), cell("agent"), cell("number")], ["'-1+1", "'=a1", "0.25"]);
    assert_eq!(names.len(), COLUMNS.len());
}

#[test]
fn rows_can_be_looked_at_by_columns_and_metadata() {
    let run = run();
    let mut result = run.results.get(0);
    result.metadata.insert("model".to_owned(), json!({ "size": 7 }));
    let row = grade_rows(&run, &result).next().unwrap();
    let check = |name: &str, expected: &[&str]| assert_eq!(row.grouping_values(name), expected, "{name}");
    check("criterion", &["a"]);
    check("grader_kind", &["judge"]);
    check("agent", &["=a1"]);
    check("tags", &["x", "y"]);
    check("model.size", &["7"]);
    check("metadata.model.size", &["7"]);
    check("model", &[]);
    check("trial", &[]);
    check("language", &[]);
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
fn the_cost_of_a_run_is_the_same_in_all_reports() {
    let mut run = run();
    run.spend = Spend { cost: Some(Usd::default()), from_cache: true, ..Spend::default() };
    // The judge of the failed case has no price.
    let junit = render_report(ReportFormat::Junit, &run);
    assert!(junit.contains("<property name=\"cost\" value=\"not known\"/>"), "{junit}");
    assert!(render_report(ReportFormat::Github, &run).contains("Cost not known."));
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
fn no_cell_is_a_formula_and_no_case_is_lost() {
    for text in ["=cmd()", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1"] {
        let csv = render_report(ReportFormat::Csv, &hostile(text));
        let mut reader = ::csv::Reader::from_reader(csv.as_bytes());
        let row = reader.records().next().unwrap().unwrap();
        assert_eq!((&row[0], &row[10]), (format!("'{text}").as_str(), format!("'{text}").as_str()));
    }
    let mut run = hostile("a, \"b\"\nc");
    run.results.change(|_, result| result.grades.clear());
    let csv = render_report(ReportFormat::Csv, &run);
    assert!(csv.contains("\n\"a, \"\"b\"\"\nc\",bad"), "{csv}");
}

#[test]
fn links_in_a_sarif_message_are_only_text() {
    let sarif = json(ReportFormat::Sarif, &hostile("[x](javascript:y)\n{0}"));
    let message = sarif["runs"][0]["results"][0]["message"]["text"].as_str().unwrap();
    assert!(message.contains("[x] (javascript:y)\n{0}"), "{message}");
    assert!(sarif["runs"][0]["results"][0]["locations"][0].get("physicalLocation").is_none());
}

#[test]
fn evaluation_events_have_a_score_or_an_error() {
    let mut run = run();
    let id = Some("4BF92F3577B34DA6A3CE929D0E0E4736".to_owned());
    let trace = crate::candidate::Trace { id, ..crate::candidate::Trace::default() };
    run.results.change(|at, result| result.material.trace = (at == 1).then(|| trace.clone()));
    let otel = render_report(ReportFormat::Otel, &run);
    assert_eq!(otel.lines().count(), 1);
    assert_eq!(otel, render_report(ReportFormat::Otel, &run));
    let otel: Json = serde_json::from_str(&otel).unwrap();
    let records = otel["resourceLogs"][0]["scopeLogs"][0]["logRecords"].as_array().unwrap();
    let told = |at: usize, key: &str| {
        let attributes = records[at]["attributes"].as_array().unwrap();
        attributes.iter().find(|attribute| attribute["key"] == key).map(|at| at["value"].clone())
    };
    let text = |text: &str| Some(json!({ "stringValue": text }));
    assert_eq!(records.len(), 8);
    assert!(records.iter().all(|record| record["eventName"] == "gen_ai.evaluation.result"));
    let (score, label) = ("gen_ai.evaluation.score.value", "gen_ai.evaluation.score.label");
    // The grade and the verdict of the failed case.
    assert_eq!(
        (told(2, "gen_ai.evaluation.name"), told(3, "gen_ai.evaluation.name")),
        (text("a"), text("verdict"))
    );
    assert_eq!((told(2, score), told(3, score)), (Some(json!({ "doubleValue": 0.25 })), told(2, score)));
    assert_eq!((told(2, label), told(3, label)), (None, text("fail")));
    assert_eq!(
        (told(2, "jurist.judge"), told(2, "jurist.weight")),
        (text("m1"), Some(json!({ "doubleValue": 1.0 })))
    );
    assert_eq!(records[2]["traceId"], "4bf92f3577b34da6a3ce929d0e0e4736");
    assert_eq!(records[2]["timeUnixNano"], "1000000000");
    // What broke, then what was not asked.
    for at in [4, 5] {
        assert_eq!((told(at, "error.type"), told(at, score), told(at, label)), (text("timeout"), None, None));
    }
    for at in [6, 7] {
        assert_eq!(
            (told(at, "error.type"), told(at, score), told(at, label)),
            (None, None, text("deferred"))
        );
    }
    assert!(records[4].get("traceId").is_none());
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
    let plain = self::run();
    assert!(!render_report(ReportFormat::Junit, &plain).contains("own_score"));
    assert!(!render_report(ReportFormat::Tap, &plain).contains("own_score"));
}

#[test]
fn rows_of_an_export_are_read_back() {
    let outcomes = [
        json!({ "kind": "scored", "value": 4.0, "unit": 0.75 }),
        json!({ "kind": "scored", "value": true, "unit": 1.0 }),
        json!({ "kind": "scored", "value": "chatty", "unit": 0.6 }),
        json!({ "kind": "scored", "value": "4" }),
        json!({ "kind": "not_applicable" }),
        json!({ "kind": "abstained", "why": "not rated" }),
        json!({ "kind": "failed", "failure": "timeout", "detail": "30 s" }),
        json!({ "kind": "deferred", "why": "no_key" }),
    ];
    let fields: MetadataFields = [("agent", "desk"), ("annotation_task", "Replies")]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), Json::from(value)))
        .collect();
    for outcome in outcomes {
        let grade: Grade = serde_json::from_value(json!({
            "candidate": "a", "criterion": "style", "outcome": outcome, "reason": "short",
            "grader": { "kind": "judge", "name": "m", "configuration": "c1" },
            "time": "2026-03-20T10:15:32Z",
        }))
        .unwrap();
        let row = GradeRow { grade: &grade, of: None, fields: Some(&fields) };
        let line = serde_json::to_string(&row).unwrap();
        let read = GradesFileLine::with_fields(&line).unwrap();
        assert_eq!(read, (GradesFileLine::Grades(vec![grade]), fields.clone()), "{line}");
    }
}
