use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::candidate::diff::FileChange;
use crate::candidate::{JudgeInput, StepRole, ToolCall, ToolResult, Trace, TraceStep};
use crate::grade::{FORMAT, Grade, GradedPoint, Reason, RubricHash};
use crate::report::declared_score_scale;
use crate::run::RunId;

fn grade(criterion: &str, unit: f64, evidence: &Json) -> Grade {
    serde_json::from_value(json!({
        "candidate": "c", "criterion": criterion, "grader": { "kind": "judge", "name": "m1" },
        "outcome": { "kind": "scored", "value": unit, "unit": unit }, "evidence": evidence,
    }))
    .unwrap()
}

fn quote_at(part: &str, start: usize, end: usize) -> Json {
    json!({ "quote": "q", "found": { "in": part, "start": start, "end": end } })
}

fn version(name: &str) -> RubricHash {
    serde_json::from_value(json!(name)).unwrap()
}

fn result(grades: Vec<Grade>, material: JudgeInput) -> CaseResult {
    let verdict = json!({ "status": "fail", "score": 0.5, "counts": {} });
    CaseResult {
        case: "case".to_owned(),
        candidate: "case".to_owned(),
        origin: None,
        trial: None,
        base: None,
        parts: None,
        rubric: version("r"),
        verdict: serde_json::from_value(verdict).unwrap(),
        grades,
        spend: Spend::default(),
        panel: None,
        projected_calls: None,
        metadata: BTreeMap::new(),
        material,
    }
}

fn run(rubric: Json, results: Vec<CaseResult>) -> Run {
    Run {
        format: FORMAT,
        id: RunId::new(Time::from_micros(0), [7; 10]),
        suite: None,
        provenance: Default::default(),
        started: Time::from_micros(0),
        ended: None,
        seed: 0,
        rubrics: [(version("r"), rubric)].into(),
        results: results.into_iter().collect(),
        spend: Spend::default(),
        summary: None,
    }
}

fn criteria(names: &[&str]) -> Json {
    let criteria: Vec<Json> = names.iter().map(|name| json!({ "name": name, "description": "…" })).collect();
    json!({ "criteria": criteria })
}

/// A page with its marks as `[1: …]`.
fn simple(html: &str) -> String {
    let mark = regex::Regex::new("<mark [^>]*>").unwrap();
    let badge = regex::Regex::new("<a class=\"badge\" id=[^>]*>([0-9]+)</a>").unwrap();
    badge.replace_all(&mark.replace_all(html, "["), "$1:").replace("</mark>", "]")
}

#[track_caller]
fn check_marks(text: &str, places: &[(usize, usize)], expected: &str) {
    let evidence = places.iter().map(|place| quote_at("response", place.0, place.1)).collect();
    let grades = [grade("a", 1.0, &evidence)];
    let mut quotes = Quotes::new(1, &grades, |_| 0);
    assert_eq!(simple(&quotes.text("response", text, 10_000)), expected);
}

#[test]
fn quotes_are_marked_where_they_stand() {
    check_marks("one two three", &[(4, 7)], "one [1:two] three");
    check_marks("one two three", &[(0, 13)], "[1:one two three]");
    check_marks("<b>&", &[(0, 3)], "[1:&lt;b&gt;]&amp;");
}

#[test]
fn quotes_that_overlap_never_cross() {
    check_marks("abcdef", &[(0, 4), (2, 6)], "[1:ab][2:cd][ef]");
    check_marks("abcdef", &[(0, 6), (2, 4)], "[1:ab][2:cd][ef]");
    check_marks("abcdef", &[(1, 3), (1, 3), (3, 5)], "a[1:2:bc][3:de]f");
    let grades = [grade("a", 1.0, &json!([quote_at("diff", 0, 9)]))];
    let mut quotes = Quotes::new(1, &grades, |_| 0);
    let diff = simple(&quotes.diff("diff", "-old\n+new\n same", 1000));
    assert_eq!(
        diff,
        "<span class=\"del\">[1:-old\n]</span><span class=\"add\">[+new]\n</span><span class=\"same\"> same</span>"
    );
}

#[test]
fn a_place_that_is_none_is_not_marked_and_the_row_says_so() {
    let text = "é né";
    for (start, end) in [(1, 4), (0, 1), (0, 99), (99, 100), (4, 2), (2, 2), (usize::MAX, usize::MAX)] {
        check_marks(text, &[(start, end)], text);
    }
    let grades = [grade(
        "a",
        1.0,
        &json!([quote_at("response", 1, 4), quote_at("elsewhere", 0, 1), { "quote": "q" }]),
    )];
    let material = JudgeInput { response: Some(text.to_owned()), ..JudgeInput::default() };
    let html = render_html_report(&run(criteria(&["a"]), vec![result(grades.to_vec(), material)]));
    assert!(html.contains("response, 1 to 4: no such place in the candidate"), "{html}");
    assert!(html.contains("elsewhere, 0 to 1: no such place in the candidate"), "{html}");
    assert!(html.contains("not found in the candidate") && !html.contains("<mark"), "{html}");
}

/// Every part that a material can have, each with this text.
fn material(text: &str) -> JudgeInput {
    let text = || text.to_owned();
    let step = TraceStep {
        agent: Some(text()),
        reasoning: text(),
        tool_calls: vec![ToolCall::new(None, text(), &json!({ text(): text() }))],
        results: vec![ToolResult { name: Some(text()), text: text(), error: true, call: None }],
        files: vec![FileChange { path: text(), ..Default::default() }],
        screenshot: Some(text()),
        ..TraceStep::new(StepRole::Assistant, text())
    };
    let (files, status) = (step.files.clone(), Some(text()));
    let steps = vec![TraceStep::new(StepRole::User, text()), step];
    JudgeInput {
        task: text(),
        context: vec![text(), text()],
        reference: Some(text()),
        response: Some(text()),
        trace: Some(Trace { steps, files, status, ..Trace::default() }),
        diff: Some(text()),
        requirements: vec![text()],
        raw_output: Some(json!(text())),
        ..JudgeInput::default()
    }
}

#[test]
fn every_part_can_be_quoted_and_leads_back() {
    let material = material("some words");
    let mut evidence: Vec<Json> = Vec::new();
    for part in material.parts() {
        let place = quote_at(&part.name, 0, part.text.len());
        evidence.push(json!({ "quote": part.text, "found": place["found"] }));
    }
    evidence.push(quote_at("trace", 0, 5));
    let n = evidence.len();
    let html = render_html_report(&run(
        criteria(&["a"]),
        vec![result(vec![grade("a", 1.0, &json!(evidence))], material)],
    ));
    for number in 1..=n {
        for link in [format!("id=\"m1-{number}\" href=\"#q1-{number}\""), format!("id=\"q1-{number}\"")] {
            assert_eq!(html.matches(&link).count(), 1, "{link} of {n}");
        }
        assert!(html.contains(&format!("href=\"#m1-{number}\"")), "{number}");
    }
    // What a user said is nobody's evidence.
    let material = self::material("some words");
    let grades = vec![grade("a", 1.0, &json!([quote_at("trace.1.text", 0, 4)]))];
    assert!(!render_html_report(&run(criteria(&["a"]), vec![result(grades, material)])).contains("<mark"));
}

/// What a stranger would write to break out of a text, an attribute or a script.
const HOSTILE: &str = "</script><b>\"'&</mark></div>";

fn hostile() -> Run {
    let quote = json!({ "quote": HOSTILE, "found": { "in": "response", "start": 3, "end": HOSTILE.len() } });
    let answer = grade(HOSTILE, 0.2, &json!([quote, { "quote": HOSTILE }, quote_at(HOSTILE, 0, 1)]));
    let mut grades = vec![
        Grade {
            reason: Reason::new(HOSTILE),
            points: vec![GradedPoint {
                text: HOSTILE.to_owned(),
                holds: false,
                evidence: answer.evidence.clone(),
            }],
            ..answer
        },
        grade("root", 1.0, &json!([quote_at("diff", 2, 9), quote_at("trace.2.call.1", 0, 12)])),
    ];
    grades[0].grader.name = HOSTILE.to_owned();
    let broken = json!({ "kind": "failed", "failure": "crashed", "detail": HOSTILE });
    grades.push(Grade { outcome: serde_json::from_value(broken).unwrap(), ..grades[0].clone() });
    let abstained = json!({ "kind": "abstained", "why": HOSTILE });
    grades.push(Grade { outcome: serde_json::from_value(abstained).unwrap(), ..grades[0].clone() });
    let text = json!({ "kind": "scored", "value": HOSTILE });
    grades.push(Grade { outcome: serde_json::from_value(text).unwrap(), ..grades[0].clone() });
    let mut result = result(grades, material(HOSTILE));
    (result.case, result.candidate) = (HOSTILE.to_owned(), HOSTILE.to_owned() + "2");
    let step = json!([{ "node": HOSTILE, "answer": HOSTILE, "score": 0.5, "reason": HOSTILE }]);
    result.verdict.path = serde_json::from_value(step).unwrap();
    let gate = json!([{ "gate": "required", "criterion": HOSTILE }]);
    result.verdict.failed_gates = serde_json::from_value(gate).unwrap();
    let mut tree = result.clone();
    tree.rubric = version(HOSTILE);
    let leaf = json!({ "score": 1, "reason": HOSTILE });
    let rubric = json!({ "description": HOSTILE, "criteria": [
        { "name": HOSTILE, "label": HOSTILE, "description": HOSTILE },
        { "name": "t", "tree": { "ask": HOSTILE, "yes": leaf, "no": { "ask": HOSTILE, "yes": leaf, "no": leaf } } },
    ] });
    let mut run = run(criteria(&["a"]), vec![result, tree]);
    run.rubrics.insert(version(HOSTILE), rubric);
    run.suite = Some(HOSTILE.to_owned());
    run
}

#[test]
fn texts_of_strangers_stay_texts() {
    let run = hostile();
    assert!(parse_run_rubrics(&run).contains_key(&version(HOSTILE)));
    let html = render_html_report(&run);
    assert!(!html.contains("<b>\"") && !html.contains("<b>'") && !html.contains("<b>&"));
    assert_eq!((html.matches("<script").count(), html.matches("</script").count()), (1, 1));
    // Every element that is opened is closed: no text took part.
    let body = &html[html.find("<body>").unwrap()..html.find("<script>").unwrap()];
    let tag = regex::Regex::new("<(/?)([a-z0-9]+)([^>]*)>").unwrap();
    let mut depth: BTreeMap<&str, i64> = BTreeMap::new();
    for it in tag.captures_iter(body) {
        let (name, rest) = (it.get(2).unwrap().as_str(), &it[3]);
        if !rest.ends_with('/') && !["br", "input"].contains(&name) {
            *depth.entry(name).or_default() += if it[1].is_empty() { 1 } else { -1 };
        }
    }
    assert_eq!(
        (depth.remove("body"), depth.values().find(|value| **value != 0)),
        (Some(1), None),
        "{depth:?}"
    );
    // And every `<` begins an element that this page has.
    let known: BTreeSet<&str> = depth.keys().copied().collect();
    assert!(!known.contains("script") && known.contains("mark"), "{known:?}");
    assert_eq!(body.matches('<').count(), tag.find_iter(body).count());
}

#[test]
fn the_page_asks_nobody_for_anything() {
    let html = render_html_report(&hostile());
    assert!(!html.contains("http://") && !html.contains("https://") && !html.contains("url("));
    assert!(!html.contains("src=") && !html.contains("<link") && !html.contains("@import"));
    assert!(html.contains(
        "content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
    ));
}

#[track_caller]
fn check_radar(cases: &[&str], expected: bool) {
    let grades = |names: &&str| names.split(' ').map(|part| grade(part, 0.5, &json!([]))).collect();
    let results = cases.iter().map(|case| result(grades(case), JudgeInput::default())).collect();
    let html = render_html_report(&run(criteria(&["a"]), results));
    assert_eq!(html.contains("<polygon"), expected, "{cases:?}");
    assert!(html.contains("<th scope=\"row\"><bdi>a</bdi></th>"), "a table in any case");
}

#[test]
fn a_radar_needs_three_to_twelve_criteria_that_the_cases_share() {
    check_radar(&["a b"], false);
    check_radar(&["a b c"], true);
    check_radar(&["a b c d", "a b c"], true);
    check_radar(&["a b c", "a b d"], false);
    check_radar(&["a b c d e f g h i j k l"], true);
    check_radar(&["a b c d e f g h i j k l m"], false);
}

#[test]
fn what_must_not_hold_counts_by_its_absence() {
    let rubric = json!({ "criteria": [{ "name": "leak", "description": "Leaks.", "guard": true }] });
    let run = run(rubric, vec![result(vec![grade("leak", 0.0, &json!([]))], JudgeInput::default())]);
    let means = criteria::compute_criterion_means(&run, &parse_run_rubrics(&run));
    assert_eq!((means[0].name.label.as_str(), means[0].mean), ("not leak", Some(1.0)));
}

#[test]
fn rubrics_are_numbered_as_the_cases_name_them() {
    let of = |name: &str| {
        let mut result = result(Vec::new(), JudgeInput::default());
        result.rubric = version(name);
        result
    };
    let mut run = run(criteria(&["a"]), vec![of("r"), of("b"), of("r")]);
    for name in ["a", "b"] {
        run.rubrics.insert(version(name), criteria(&["a"]));
    }
    let uses: Vec<(String, usize)> =
        count_rubric_uses(&run).into_iter().map(|it| (it.version.to_string(), it.n)).collect();
    let expected = [("r", 2), ("b", 1), ("a", 0)].map(|(name, n)| (name.to_owned(), n));
    assert_eq!(uses, expected);
    let html = render_html_report(&run);
    assert_eq!(html.matches("<span title=\"version r\">rubric 1</span>").count(), 2);
    assert_eq!(html.matches("<span title=\"version b\">rubric 2</span>").count(), 1);
}

#[test]
fn means_of_criteria_are_on_their_own_scale_first() {
    let likert = json!({ "likert": { "min": 1, "max": 5 } });
    let criterion = |name: &str, scale: &Json| json!({ "name": name, "description": "…", "scale": scale });
    let mut rude = criterion("rude", &likert);
    rude["guard"] = json!(true);
    let rubric =
        json!({ "criteria": [criterion("tone", &likert), criterion("met", &json!("binary")), rude] });
    let grades = ["tone", "met", "rude"].map(|name| grade(name, 0.25, &json!([])));
    let html = render_html_report(&run(rubric, vec![result(grades.into(), JudgeInput::default())]));
    let mean = |label: &str| {
        let row = html.split_once(&format!("<bdi>{label}</bdi></th>")).unwrap().1;
        row.split_once("</span> ").unwrap().1.split_once("</td>").unwrap().0.to_owned()
    };
    // Of what must not hold, the mean is of its absence.
    assert_eq!(["tone", "met", "not rude"].map(mean), ["2.0&#x2f;5 (0.25)", "0.25", "0.75"]);
    for label in ["tone 2.00/5<", "met 0.25<", "not rude 0.75<"] {
        assert!(html.contains(label), "{label} is no label of the radar");
    }
}

#[test]
fn the_distribution_and_pass_marks_are_on_the_scale_of_the_rubric_first() {
    let rubric = json!({
        "criteria": [{ "name": "tone", "description": "…" }],
        "scale": { "likert": { "min": 1, "max": 5 } },
    });
    let case = || vec![result(Vec::new(), JudgeInput::default())];
    let html = render_html_report(&run(rubric, case()));
    for text in [
        "3.0 to 3.4 (0.5 to 0.6 from 0 to 1): 1 failed",
        ">pass mark 3.8 (0.7)<",
        "<th>Range</th><th>From 0 to 1</th><th>Failed</th><th>Passed</th>",
        "<th scope=\"row\">3.0 to 3.4</th><td>0.5 to 0.6</td><td>1</td><td>0</td>",
        "score 0.50, pass mark 3.8&#x2f;5 (0.70)",
        "<td>3.8&#x2f;5 (0.70)</td>",
    ] {
        assert!(html.contains(text), "{text}");
    }
    let plain = render_html_report(&run(criteria(&["tone"]), case()));
    for text in [
        "0.5 to 0.6: 1 failed",
        ">pass mark 0.7<",
        "<th>Range</th><th>Failed</th><th>Passed</th>",
        "score 0.50, pass mark 0.70<",
    ] {
        assert!(plain.contains(text), "{text}");
    }
}

#[test]
fn a_text_and_a_tree_are_two_rows_and_trials_are_one_case() {
    let tree = json!({ "tree": { "ask": "Did it?", "yes": { "score": 1.0 }, "no": { "score": 0.0 } } });
    let mut first = result(Vec::new(), JudgeInput::default());
    let walked = json!([{ "node": "rubric/1", "answer": "yes", "score": 1.0 }]);
    first.verdict.path = serde_json::from_value(walked).unwrap();
    let trial = |n: u32| {
        let mut result = result(vec![grade(crate::rubric::WHOLE, 0.5, &json!([]))], JudgeInput::default());
        (result.case, result.trial, result.rubric) =
            (format!("greets [trial {n} of 2]"), Some(n), version("text"));
        result
    };
    let mut run = run(tree, vec![first, trial(1), trial(2)]);
    run.rubrics.insert(version("text"), criteria(&[crate::rubric::WHOLE]));
    let means = criteria::compute_criterion_means(&run, &parse_run_rubrics(&run));
    let labels: Vec<(&str, usize)> = means.iter().map(|mean| (mean.name.label.as_str(), mean.n)).collect();
    assert_eq!(labels, [("decision path", 1), ("rubric as a whole", 1)]);
    assert!(render_html_report(&run).contains("<h2>2 cases, tried 3 times</h2>"));
}

#[test]
fn huge_candidates_make_a_page_that_opens() {
    let long = "\"<long> ".repeat(100_000);
    let text = format!("{long}the end");
    let step = || TraceStep {
        results: vec![ToolResult { text: "x".repeat(10_000), ..Default::default() }],
        ..TraceStep::default()
    };
    let steps: Vec<TraceStep> = (0..500).map(|_| step()).collect();
    let material = JudgeInput {
        task: long.clone(),
        context: vec![long.clone(), long.clone()],
        diff: Some("+a\n".repeat(300_000)),
        response: Some(text.clone()),
        trace: Some(Trace { steps, ..Trace::default() }),
        requirements: vec![long.clone()],
        ..JudgeInput::default()
    };
    let evidence =
        json!([quote_at("response", text.len() - 7, text.len()), quote_at("trace.250.result.1", 9, 12)]);
    let html =
        render_html_report(&run(criteria(&["a"]), vec![result(vec![grade("a", 1.0, &evidence)], material)]));
    assert!(html.len() < 600_000, "{}", html.len());
    // What is quoted is shown wherever it stands.
    assert!(simple(&html).contains("[1:the end]") && simple(&html).contains("[2:xxx]"));
    assert!(html.contains("kB left out") && html.contains("steps left out"));
}

#[test]
fn many_cases_share_the_room_there_is() {
    let one = || {
        let material = JudgeInput { response: Some("<words> ".repeat(5_000)), ..JudgeInput::default() };
        let reason = Reason::new(&"why ".repeat(600));
        result(vec![Grade { reason, ..grade("a", 1.0, &json!([])) }], material)
    };
    let html = render_html_report(&run(criteria(&["a"]), (0..400).map(|_| one()).collect()));
    assert!(html.len() < 2 * ROOM, "{}", html.len());
}

/// A path through a tree of two questions.
fn walked(answers: Json) -> String {
    let rubric = json!({ "tree": { "ask": "Builds?", "no": { "score": 0, "reason": "broken" },
        "yes": { "ask": "Tested?", "yes": { "score": 1 }, "no": { "score": 0.5, "reason": "hope" } } } });
    let mut result = result(vec![grade("root", 1.0, &json!([]))], JudgeInput::default());
    result.verdict.path = serde_json::from_value(answers).unwrap();
    path::draw(parse_run_rubrics(&run(rubric, Vec::new())).get(&version("r")), &result.verdict.path, None)
}

#[test]
fn questions_of_a_case_have_the_values_of_its_row() {
    let row = json!({ "unit": "<km>" }).as_object().cloned();
    let material = || JudgeInput { row: row.clone(), response: Some("3".into()), ..JudgeInput::default() };
    let unit = json!({ "criteria": [{ "name": "a", "description": "It is in {{ row.unit }}." }] });
    let html = render_html_report(&run(unit, vec![result(vec![grade("a", 1.0, &json!([]))], material())]));
    assert!(html.contains("It is in &lt;km&gt;.") && !html.contains("{{ row.unit }}"), "{html}");
    let tree =
        json!({ "tree": { "ask": "Is it in {{ row.unit }}?", "no": { "score": 0 }, "yes": { "score": 1 } } });
    let mut result = result(vec![grade("root", 1.0, &json!([]))], material());
    result.verdict.path = serde_json::from_value(json!([{ "node": "root", "answer": "yes" }])).unwrap();
    let html = render_html_report(&run(tree, vec![result]));
    assert_eq!(html.matches("Is it in &lt;km&gt;?").count(), 2, "{html}");
    assert!(!html.contains("{{ row.unit }}"), "{html}");
}

#[test]
fn a_path_stands_out_from_the_ways_not_taken() {
    let whole = walked(
        json!([{ "node": "root", "answer": "yes" }, { "node": "root.yes", "answer": "no", "score": 0.5 }]),
    );
    assert_eq!(whole.matches("class=\"taken\"").count(), 2, "{whole}");
    assert!(whole.contains("<li class=\"end\"><b class=\"leaf\">0.50</b> <span>hope</span></li>"), "{whole}");
    assert!(whole.contains(
        "<li class=\"faint\"><span class=\"answer\">no</span> <b class=\"leaf\">0.00</b> <span>broken"
    ));
    let half = walked(json!([{ "node": "root", "answer": "yes" }]));
    assert_eq!(half.matches("class=\"taken\"").count(), 1);
    assert!(half.contains("no answer, so the path ends here"), "{half}");
    let steps = json!([{ "node": "root", "answer": "yes", "score": 1.0 }]);
    let steps = serde_json::from_value::<Vec<crate::grade::TreePathStep>>(steps).unwrap();
    let alone = path::draw(None, &steps, None);
    assert!(alone.contains("root") && alone.contains("1.00") && !alone.contains("faint"), "{alone}");
}

#[test]
fn a_score_is_shown_on_the_scale_of_its_rubric() {
    let score_text = |rubric: Json, native: Option<f64>| {
        let mut result = result(Vec::new(), JudgeInput::default());
        result.verdict.native = native;
        let run = run(rubric, Vec::new());
        format_native_score(&result, parse_run_rubrics(&run).get(&version("r")))
    };
    let likert = json!({ "likert": { "min": 1, "max": 5 } });
    // What people mean by a judge's 5 is something else, so that the 5 is not what counts.
    let rubric = json!({ "criteria": [{ "name": "a", "description": "A.", "scale": likert }] });
    for (unit, expected, mean) in [(1.0, Some("5.0/5"), "5.0/5 (1.00)"), (0.84, None, "0.84")] {
        let mut grade = grade("a", unit, &json!([]));
        grade.outcome =
            serde_json::from_value(json!({ "kind": "scored", "value": 5.0, "unit": unit })).unwrap();
        let mut result = result(vec![grade], JudgeInput::default());
        (result.verdict.native, result.verdict.score) = (Some(5.0), Some(unit));
        let run = run(rubric.clone(), vec![result]);
        assert_eq!(
            format_native_score(&run.results.get(0), parse_run_rubrics(&run).get(&version("r"))).as_deref(),
            expected
        );
        assert_eq!(format_mean_score(&run).as_deref(), Some(mean));
    }
    let criterion = |scale: &Json| json!([{ "name": "a", "description": "A.", "scale": scale }]);
    assert_eq!(score_text(json!({ "criteria": criterion(&likert) }), Some(3.0)).as_deref(), Some("3.0/5"));
    assert_eq!(
        score_text(json!({ "scale": likert, "criteria": criterion(&json!("unit")) }), None).as_deref(),
        Some("3.0/5")
    );
    assert_eq!(
        score_text(json!({ "scale": "letter", "criteria": criterion(&json!("unit")) }), None).as_deref(),
        Some("F")
    );
    assert_eq!(score_text(criteria(&["a"]), Some(0.5)), None);
}

#[test]
fn rubrics_have_one_scale_if_all_their_scores_are_on_it() {
    let likert = |max: u8| json!({ "likert": { "min": 1, "max": max } });
    let criterion = |name: &str, scale: &Json| json!({ "name": name, "description": "A.", "scale": scale });
    let on_five = || json!({ "criteria": [criterion("a", &likert(5)), criterion("b", &likert(5))] });
    let with = |key: &str, value: Json| {
        let mut rubric = on_five();
        rubric[key] = value;
        rubric
    };
    let displayed = |scale: Json| json!({ "scale": scale, "criteria": [criterion("a", &json!("unit"))] });
    let mut penalised = on_five();
    penalised["criteria"][1]["weight"] = json!(-1.0);
    let mixed = json!({ "criteria": [criterion("a", &likert(5)), criterion("b", &json!("binary"))] });
    let expected = [
        (vec![on_five()], Some((1.0, 5.0))),
        (vec![displayed(likert(7))], Some((1.0, 7.0))),
        (vec![on_five(), displayed(likert(5))], Some((1.0, 5.0))),
        (vec![on_five(), displayed(likert(7))], None),
        (vec![on_five(), mixed], None),
        (vec![penalised], None),
        (vec![with("aggregation", json!("min"))], None),
        (vec![displayed(json!("letter"))], None),
        (vec![json!({ "threshold": 0.5 })], None),
        (vec![], None),
    ];
    for (rubrics, scale) in expected {
        let named: BTreeMap<RubricHash, Json> = rubrics
            .into_iter()
            .enumerate()
            .map(|(nth, rubric)| (version(&format!("r{nth}")), rubric))
            .collect();
        assert_eq!(declared_score_scale(&named), scale, "{named:?}");
    }
}

#[test]
fn errors_and_deferrals_read_as_no_failures() {
    let case = |status: VerdictStatus, outcome: Json| {
        let outcome = serde_json::from_value(outcome).unwrap();
        let mut result =
            result(vec![Grade { outcome, ..grade("a", 0.0, &json!([])) }], JudgeInput::default());
        (result.verdict.status, result.verdict.score) = (status, None);
        result
    };
    let results = vec![
        case(VerdictStatus::Deferred, json!({ "kind": "deferred", "why": "no_key" })),
        case(VerdictStatus::Error, json!({ "kind": "failed", "failure": "timeout", "detail": "60 s" })),
    ];
    let html = render_html_report(&run(criteria(&["a"]), results));
    assert!(html.contains("No case has a verdict yet."), "{html}");
    assert!(html.contains("grader error (timeout). The candidate did not fail."), "{html}");
    assert!(html.contains("No verdict yet: grades are missing (no key)."), "{html}");
    assert!(!html.contains("class=\"case fail\""));
}
