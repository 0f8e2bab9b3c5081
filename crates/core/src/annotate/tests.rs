use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::*;
use crate::dialect::{self, ProjectEnvironment, ReadError, VariableExpansion};
use crate::grade::{Grade, GradesFileLine, Outcome, Time, read_grade_table, step_grades};

const TUTORIAL: &str = include_str!("../../tests/dialects/potato/coding-agent.yaml");

fn annotation(yaml: &str) -> crate::suite::AnnotationTask {
    annotation_with(yaml, &[])
}

fn annotation_with(yaml: &str, files: &[(&str, &str)]) -> crate::suite::AnnotationTask {
    let world = ProjectEnvironment {
        root: PathBuf::from("/"),
        read: &|path| match path == Path::new("/config.yaml") {
            true => Ok(yaml.into()),
            false => match files.iter().find(|file| Path::new("/").join(file.0) == path) {
                Some(file) => Ok(file.1.into()),
                None => Err(ReadError::Missing),
            },
        },
        glob: &|_| Ok(Vec::new()),
        variable: &|_| None,
        variables: VariableExpansion::Filled,
        call: &dialect::refuse_scripts,
    };
    let loaded = dialect::read_suite(Path::new("/config.yaml"), None, &world);
    loaded.suite.unwrap().annotation.unwrap()
}

fn rated(ratings: &[(&str, f64)]) -> BTreeMap<String, Rated> {
    ratings.iter().map(|(name, value)| ((*name).to_owned(), Rated::of(Value::Number(*value)))).collect()
}

/// The ratings that the tutorial exports.
fn tutorial() -> (Vec<Scheme>, AnswerDraft) {
    let criteria = rated(&[
        ("correctness", 4.0),
        ("code_quality", 3.0),
        ("efficiency", 5.0),
        ("documentation", 2.0),
        ("error_handling", 3.0),
    ]);
    let overall = Some(Rated::of(Value::Number(4.0)));
    let notes = Some("Agent found and fixed the bug.".to_owned());
    let answer = Answer::Rubric { criteria, overall, notes };
    (build_schemes(&annotation(TUTORIAL)), AnswerDraft::from([("agent_quality".to_owned(), answer)]))
}

fn exported(schemes: &[Scheme], draft: &AnswerDraft) -> Json {
    let time = Time::parse("2026-03-20T10:15:32.25Z").unwrap();
    let form = ExportedForm {
        id_key: "trace_id",
        candidate: "trace_042",
        written_id: None,
        annotator: "annotator_03",
        time,
        schemes,
        draft,
        decisions: &[],
        is_excluded: false,
    };
    Json::Object(form_to_json(&form))
}

#[test]
fn the_export_is_the_one_of_the_tutorial_field_by_field() {
    let (schemes, draft) = tutorial();
    assert_eq!(gaps(&schemes, &draft), []);
    let expected = json!({
        "trace_id": "trace_042",
        "annotator": "annotator_03",
        "timestamp": "2026-03-20T10:15:32Z",
        "rubric": {
            "criteria_ratings": {
                "correctness": 4, "code_quality": 3, "efficiency": 5, "documentation": 2, "error_handling": 3
            },
            "overall": 4,
            "notes": "Agent found and fixed the bug.",
            "weighted_score": 3.56
        }
    });
    let actual = exported(&schemes, &draft);
    assert_eq!(actual, expected);
    let time = Time::parse("2026-03-20T10:15:32Z").unwrap();
    let written = form_to_json_line(&ExportedForm {
        id_key: "trace_id",
        candidate: "trace_042",
        written_id: None,
        annotator: "annotator_03",
        time,
        schemes: &schemes,
        draft: &draft,
        decisions: &[],
        is_excluded: false,
    });
    let begin =
        r#"{"trace_id": "trace_042", "annotator": "annotator_03", "timestamp": "2026-03-20T10:15:32Z", "#;
    assert!(written.starts_with(begin), "{written}");
    assert!(written.contains(r#""criteria_ratings": {"correctness": 4, "code_quality": 3, "#), "{written}");
    assert_eq!(serde_json::from_str::<Json>(&written).unwrap(), expected);
    let GradesFileLine::Grades(grades) = GradesFileLine::parse(&actual.to_string()).unwrap() else {
        panic!("no grades")
    };
    assert_eq!(grades.len(), 5);
}

#[test]
fn every_row_that_is_not_rated_is_named_and_the_whole_is_not_asked_for() {
    let (schemes, mut draft) = tutorial();
    let Some(Answer::Rubric { criteria, overall, .. }) = draft.get_mut("agent_quality") else { panic!() };
    criteria.remove("efficiency");
    *overall = None;
    let rows = |draft: &AnswerDraft| gaps(&schemes, draft).into_iter().map(|gap| gap.row).collect::<Vec<_>>();
    assert_eq!(rows(&draft), ["efficiency"]);
    assert_eq!(rows(&AnswerDraft::new()).len(), 5);
    let Some(Answer::Rubric { criteria, .. }) = draft.get_mut("agent_quality") else { panic!() };
    criteria.insert("efficiency".into(), Rated::of(Value::Number(7.0)));
    criteria.insert("speed".into(), Rated::of(Value::Number(1.0)));
    assert_eq!(rows(&draft), ["speed", "efficiency"]);
    assert!(gaps(&schemes, &draft)[1].why.contains("not on the scale"));
    let odd = AnswerDraft::from([("agent_quality".to_owned(), Answer::Text { text: "good".into() })]);
    assert!(gaps(&schemes, &odd)[0].why.contains("another kind"));
    let odd = AnswerDraft::from([("other".to_owned(), Answer::Text { text: "good".into() })]);
    assert!(gaps(&schemes, &odd)[0].why.contains("no such scheme"));
}

#[test]
fn what_is_not_applicable_leaves_the_score_and_stays_apart_in_export_and_grades() {
    let (schemes, mut draft) = tutorial();
    let Some(Answer::Rubric { criteria, .. }) = draft.get_mut("agent_quality") else { panic!() };
    let quote =
        Quote { part: Some("trace.2.text".into()), quote: "try:".into(), start: Some(0), end: Some(4) };
    let row = criteria.get_mut("correctness").unwrap();
    (row.comment, row.evidence) = (Some("catches it".into()), vec![quote]);
    criteria.insert("efficiency".into(), Rated { rating: Some(Rating::NotApplicable), ..Rated::default() });
    criteria.insert("documentation".into(), Rated { rating: Some(Rating::Abstained), ..Rated::default() });
    assert_eq!(gaps(&schemes, &draft), []);
    let row = exported(&schemes, &draft);
    assert_eq!(row["rubric"]["weighted_score"], json!(3.46));
    assert_eq!(row["rubric"]["criteria_ratings"]["efficiency"], Json::Null);
    assert_eq!(
        row["rubric"]["unrated"],
        json!({"efficiency": "not_applicable", "documentation": "abstained"})
    );
    let SchemeKind::Rubric { .. } = &schemes[0].kind else { panic!() };
    let version = annotation(TUTORIAL).schemes.iter().find_map(|scheme| match &scheme.kind {
        crate::suite::TaskSchemeKind::Rubric { rubric, .. } => Some(rubric.version().clone()),
        _ => None,
    });
    let rubrics = BTreeMap::from([("agent_quality".to_owned(), version.unwrap())]);
    let grades = build_human_grades(&schemes, &draft, &rubrics, "t", "ann", Time::from_micros(0));
    let of = |name: &str| grades.iter().find(|grade| grade.criterion == name).unwrap();
    assert_eq!(of("correctness").outcome, Outcome::Scored { value: Value::Number(4.0), unit: Some(0.75) });
    assert_eq!(of("correctness").reason.as_str(), "catches it");
    assert_eq!(of("correctness").evidence[0].found.as_ref().unwrap().part, "trace.2.text");
    assert_eq!(of("efficiency").outcome, Outcome::NotApplicable);
    assert!(matches!(of("documentation").outcome, Outcome::Abstained { .. }));
}

const BOTH: &str = "
annotation_task_name: both
annotation_schemes:
  - annotation_type: rubric_eval
    name: quality
    scale: {min: 1, max: 5}
    criteria: [{name: correctness, weight: 3}, {name: efficiency}]
  - annotation_type: trajectory_eval
    name: step_eval
    step_correctness: {labels: [correct, incorrect]}
    error_taxonomy: [{category: action, types: [{name: wrong_tool}]}]
    severity_levels: [{name: minor, weight: -1}, {name: critical, weight: -150}]
    running_score: {initial: 100}
  - {annotation_type: multiselect, name: tags, labels: [a, b, c]}
";

fn both() -> Vec<Scheme> {
    let mut schemes = build_schemes(&annotation(BOTH));
    let SchemeKind::Trajectory { steps, .. } = &mut schemes[0].kind else { panic!("steps come first") };
    *steps = vec![2, 4];
    schemes
}

fn wrong(severity: Option<&str>) -> Marked {
    Marked {
        mark: Some("incorrect".into()),
        error: Some("wrong_tool".into()),
        severity: severity.map(str::to_owned),
        rationale: Some("asks the wrong table".into()),
    }
}

#[test]
fn steps_and_ratings_of_one_trace_stand_in_one_row() {
    let schemes = both();
    let right = Marked { mark: Some("correct".into()), ..Marked::default() };
    let steps = BTreeMap::from([("2".to_owned(), right), ("4".to_owned(), wrong(Some("minor")))]);
    let criteria = rated(&[("correctness", 5.0), ("efficiency", 1.0)]);
    let draft = AnswerDraft::from([
        ("quality".to_owned(), Answer::Rubric { criteria, overall: None, notes: None }),
        ("step_eval".to_owned(), Answer::Trajectory { steps }),
        ("tags".to_owned(), Answer::Choice { labels: vec!["a".into(), "c".into()] }),
    ]);
    assert_eq!(gaps(&schemes, &draft), []);
    let row = exported(&schemes, &draft);
    assert_eq!(
        row["rubric"],
        json!({"criteria_ratings": {"correctness": 5, "efficiency": 1}, "weighted_score": 4})
    );
    assert_eq!(
        row["step_eval"],
        json!({"score": 99, "steps": [{"step_index": 2, "correctness": "correct"},
            {"step_index": 4, "correctness": "incorrect", "error_type": "action", "error_subtype": "wrong_tool",
             "severity": "minor", "rationale": "asks the wrong table"}]})
    );
    assert_eq!(row["tags"], json!(["a", "c"]));
    assert_eq!(step_grades(&row.to_string()).unwrap().len(), 4);
    let form = ExportedForm {
        id_key: "uid",
        candidate: "t",
        written_id: None,
        annotator: "=1+1",
        time: Time::from_micros(0),
        schemes: &schemes,
        draft: &draft,
        decisions: &[],
        is_excluded: false,
    };
    let cells = export_cells(&form);
    assert_eq!(
        export_columns("uid", &schemes, false),
        [
            "uid",
            "annotator",
            "timestamp",
            "step_eval.n_wrong",
            "step_eval.score",
            "step_eval.steps",
            "correctness",
            "efficiency",
            "weighted_score",
            "correctness.unrated",
            "correctness.comment",
            "correctness.quotes",
            "efficiency.unrated",
            "efficiency.comment",
            "efficiency.quotes",
            "correctness.scale",
            "efficiency.scale",
            "weighted_score.scale",
            "tags",
            "tags.scale"
        ]
    );
    assert_eq!(cells[3..5], [json!(1), json!(99)]);
    assert!(cells[5].as_str().unwrap().contains("asks the wrong table"));
    assert_eq!(cells[6..9], [json!(5), json!(1), json!(4)]);
    assert_eq!(cells[15], json!("1 to 5"));
    assert_eq!(cells[18..], [json!("a; c"), json!("multiselect")]);
    assert_eq!(form_to_json(&form)["candidate"], "t");
}

#[test]
fn a_rubric_with_several_scales_is_exported_with_them_and_read_back() {
    let rubric = json!({ "criteria": [
        { "name": "resolved", "description": "It is.", "scale": "binary" },
        { "name": "tone", "description": "How?", "scale": { "likert": { "min": 1, "max": 5 } } },
        { "name": "style", "description": "Which?", "scale": { "choices": { "plain": 1, "7": 0.6, "stilted": 0 } } },
    ] });
    let rubric = dialect::read_canonical_rubric(&rubric).unwrap();
    let schemes = vec![schemes_of_rubric(&rubric, "quality", false).unwrap()];
    let ratings = [
        ("resolved", Value::Bool(true)),
        ("tone", Value::Number(4.0)),
        ("style", Value::Text("7".to_owned())),
    ];
    let criteria = ratings.map(|(name, value)| (name.to_owned(), Rated::of(value))).into_iter().collect();
    let answer = Answer::Rubric { criteria, overall: None, notes: None };
    let draft = AnswerDraft::from([("quality".to_owned(), answer)]);
    let row = exported(&schemes, &draft);
    let scales = json!({ "resolved": "binary", "tone": "1 to 5", "style": "radio" });
    assert_eq!(row["rubric"]["scales"], scales);
    let (GradesFileLine::Grades(of_line), _) = GradesFileLine::with_fields(&row.to_string()).unwrap() else {
        panic!("no grades")
    };
    let form = ExportedForm {
        id_key: "trace_id",
        candidate: "trace_042",
        written_id: None,
        annotator: "annotator_03",
        time: Time::parse("2026-03-20T10:15:32Z").unwrap(),
        schemes: &schemes,
        draft: &draft,
        decisions: &[],
        is_excluded: false,
    };
    let cells: Vec<String> = export_cells(&form)
        .iter()
        .map(|cell| {
            cell.as_str()
                .map_or_else(|| if cell.is_null() { String::new() } else { cell.to_string() }, str::to_owned)
        })
        .collect();
    let table = format!("{}\n{}\n", export_columns("trace_id", &schemes, false).join(","), cells.join(","));
    let of_table = read_grade_table(&table, b',').unwrap().grades.into_iter().map(|(grade, _)| grade);
    let outcomes = |grades: Vec<Grade>| {
        let pair = |grade: Grade| (grade.criterion, grade.outcome);
        grades.into_iter().map(pair).collect::<BTreeMap<String, Outcome>>()
    };
    let expected = outcomes(of_line);
    assert_eq!(expected["style"], Outcome::Scored { value: Value::Text("7".to_owned()), unit: None });
    assert_eq!(expected["resolved"], Outcome::Scored { value: Value::Bool(true), unit: None });
    assert_eq!(expected["tone"], Outcome::Scored { value: Value::Number(4.0), unit: Some(0.75) });
    assert_eq!(outcomes(of_table.collect()), expected);
}

#[test]
fn the_running_score_is_withheld_until_all_is_said_and_never_under_zero() {
    let schemes = both();
    let score = |steps: &[(&str, Marked)]| {
        running_score(
            &schemes[0].kind,
            &steps.iter().map(|(n, marked)| ((*n).to_owned(), marked.clone())).collect(),
        )
    };
    assert_eq!(score(&[("2", wrong(Some("minor")))]), None);
    assert_eq!(score(&[("2", wrong(Some("minor"))), ("4", wrong(None))]), None, "how bad is not said");
    assert_eq!(score(&[("2", wrong(Some("minor"))), ("4", wrong(Some("minor")))]), Some(98.0));
    assert_eq!(score(&[("2", wrong(Some("critical"))), ("4", wrong(Some("minor")))]), Some(0.0));
}

proptest! {
    #[test]
    fn the_weighted_score_lies_between_the_lowest_and_the_highest_rating(ratings in prop::collection::vec(1..=5_i32, 5)) {
        let (schemes, _) = tutorial();
        let SchemeKind::Rubric { criteria, .. } = &schemes[0].kind else { panic!() };
        let rated: BTreeMap<String, Rated> = criteria.iter().zip(&ratings)
            .map(|(it, rating)| (it.name.clone(), Rated::of(Value::Number(f64::from(*rating))))).collect();
        let score = weighted_score(criteria, &rated).unwrap();
        let (low, high) = (*ratings.iter().min().unwrap(), *ratings.iter().max().unwrap());
        prop_assert!(f64::from(low) - 1e-9 <= score && score <= f64::from(high) + 1e-9);
    }

    #[test]
    fn drafts_read_back_as_they_were_written(value in 1..=5_i32, comment in ".{0,20}", label in "[a-z]{1,8}") {
        let mut criteria = rated(&[("a", f64::from(value))]);
        criteria.get_mut("a").unwrap().comment = Some(comment);
        let draft = AnswerDraft::from([
            ("r".to_owned(), Answer::Rubric { criteria, overall: None, notes: Some(label.clone()) }),
            ("p".to_owned(), Answer::Pairwise { label: Some(label) }),
        ]);
        let text = serde_json::to_string(&draft).unwrap();
        prop_assert_eq!(serde_json::from_str::<AnswerDraft>(&text).unwrap(), draft);
    }
}

#[test]
fn a_claim_about_a_case_has_the_values_of_its_row() {
    let rubric = json!({ "criteria": [{ "name": "unit", "description": "It is in {{ row.unit }}." }] });
    let rubric = dialect::read_canonical_rubric(&rubric).unwrap();
    let grade = json!({ "candidate": "t", "criterion": "unit", "grader": { "kind": "judge", "name": "m" },
        "outcome": { "kind": "scored", "value": 1.0, "unit": 1.0 } });
    let judged: Grade = serde_json::from_value(grade).unwrap();
    let row = json!({ "unit": "km" });
    let of_case = claims(&rubric, std::slice::from_ref(&judged), row.as_object());
    assert_eq!(of_case[0].text.as_deref(), Some("It is in km."));
    let of_case = claims(&rubric, &[judged], None);
    assert_eq!(of_case[0].text.as_deref(), Some("It is in {{ row.unit }}."));
}

#[test]
fn a_judge_is_confirmed_or_corrected_branch_by_branch() {
    let annotation = annotation(TUTORIAL);
    let rubric = annotation.schemes.iter().find_map(|scheme| match &scheme.kind {
        crate::suite::TaskSchemeKind::Rubric { rubric, .. } => Some(rubric.clone()),
        _ => None,
    });
    let rubric = rubric.unwrap();
    let grade = r#"{"candidate": "t", "criterion": "correctness", "grader": {"kind": "judge", "name": "m"},
        "outcome": {"kind": "scored", "value": 2, "unit": 0.25}, "reason": "it fails", "spend": {},
        "points": [{"text": "it compiles", "holds": true}]}"#;
    let judged: Grade = serde_json::from_str(grade).unwrap();
    let judged_claims = claims(&rubric, &[judged], None);
    assert_eq!(
        judged_claims.iter().map(|claim| claim.id.as_str()).collect::<Vec<_>>(),
        ["correctness", "correctness#1"]
    );
    let scheme = Scheme {
        name: "v".into(),
        description: None,
        required: true,
        shown_when: None,
        kind: SchemeKind::Verify { claims: judged_claims },
    };
    let schemes = [scheme];
    let verified = |verdict, rating: Option<f64>| Verified {
        verdict: Some(verdict),
        rating: rating.map(|rating| Rating::Scored { value: Value::Number(rating) }),
        comment: None,
    };
    let draft = |first: Verified| {
        let confirmed = verified(Verification::Confirmed, None);
        let claims =
            BTreeMap::from([("correctness".to_owned(), first), ("correctness#1".to_owned(), confirmed)]);
        AnswerDraft::from([("v".to_owned(), Answer::Verify { claims })])
    };
    assert_eq!(gaps(&schemes, &AnswerDraft::new()).len(), 2);
    assert_eq!(gaps(&schemes, &draft(verified(Verification::Corrected, None))).len(), 1);
    assert_eq!(gaps(&schemes, &draft(verified(Verification::Corrected, Some(9.0)))).len(), 1);
    let corrected = draft(verified(Verification::Corrected, Some(5.0)));
    assert_eq!(gaps(&schemes, &corrected), []);
    let rubrics = BTreeMap::from([("v".to_owned(), rubric.version().clone())]);
    let grades = build_human_grades(&schemes, &corrected, &rubrics, "t", "ann", Time::from_micros(0));
    assert_eq!(
        grades.iter().map(|grade| grade.criterion.as_str()).collect::<Vec<_>>(),
        ["correctness", "correctness#1"]
    );
    assert_eq!(grades[0].outcome.unit(), Some(1.0));
    let confirmed = draft(verified(Verification::Confirmed, None));
    assert_eq!(
        build_human_grades(&schemes, &confirmed, &rubrics, "t", "ann", Time::from_micros(0))[0]
            .outcome
            .unit(),
        Some(0.25)
    );
}

#[test]
fn items_with_known_answers_come_from_files_of_their_own() {
    let config = "
annotation_task_name: tone
item_properties: {id_key: id}
annotation_schemes:
  - {annotation_type: multiselect, name: tone, labels: [friendly, hurried]}
  - {annotation_type: likert, name: overall, size: 5}
max_annotations_per_item: 3
max_annotations_per_user: 40
assignment_strategy: fixed_order
completion_code: THANKS
instance_reclaim: {timeout_hours: 2}
training: {data_file: training.json}
attention_checks: {items_file: attention.json, frequency: 12, min_response_time: 3.0}
gold_standards: {items_file: gold.json, frequency: 20}
login: {type: url_direct, url_argument: PROLIFIC_PID}
";
    let training = r#"{"training_instances": [{"id": "try", "text": "Sure!", "explanation": "It is warm.",
        "correct_answers": {"tone": ["friendly"], "overall": 4}}]}"#;
    let attention = r#"[{"id": "look", "text": "Choose 5.", "expected_answer": {"overall": 5}}]"#;
    let gold = r#"[{"id": "gold", "text": "Hm.", "gold_label": {"overall": 3}}]"#;
    let files = [("training.json", training), ("attention.json", attention), ("gold.json", gold)];
    let annotation = annotation_with(config, &files);
    let settings = AnnotationSettings::of(&annotation);
    assert_eq!(settings.check(), Ok(()));
    assert_eq!(
        (settings.annotators_per_item, settings.quota, settings.stale_minutes),
        (Some(3), Some(40), 120)
    );
    assert_eq!(
        (settings.order, settings.check_every, settings.min_seconds),
        (AssignmentOrder::Fixed, 12, Some(3.0))
    );
    assert_eq!((settings.completion_code.as_deref(), settings.crowd), (Some("THANKS"), true));
    let named = |all: &[ItemAnswerKey]| {
        all.iter().map(|item_answer_key| item_answer_key.item.clone()).collect::<Vec<_>>()
    };
    assert_eq!(
        [named(&settings.training), named(&settings.attention), named(&settings.gold)],
        [["try"], ["look"], ["gold"]]
    );
    assert_eq!(settings.training[0].why.as_deref(), Some("It is warm."));
    let draft = AnswerDraft::from([
        ("tone".to_owned(), Answer::Choice { labels: vec!["friendly".into()] }),
        ("overall".to_owned(), Answer::Likert { value: Some(4) }),
    ]);
    assert!(
        compare_expected_answers(&settings.training[0], &draft)
            .iter()
            .all(|compare_expected_answer| compare_expected_answer.ok)
    );
}

#[test]
fn answers_outside_of_limits_are_refused() {
    let yaml = "annotation_schemes:
  - {annotation_type: multiselect, name: faults, labels: [a, b, c, d], min_selections: 1, max_selections: 2}
  - {annotation_type: text, name: why, min_chars: 3, max_chars: 5}
  - {annotation_type: text, name: note, min_chars: 3}
";
    let schemes = build_schemes(&annotation(yaml));
    let draft = |labels: &[&str], why: &str| {
        let labels = labels.iter().map(|label| (*label).to_owned()).collect();
        AnswerDraft::from([
            ("faults".to_owned(), Answer::Choice { labels }),
            ("why".to_owned(), Answer::Text { text: why.to_owned() }),
        ])
    };
    let whys = |draft: &AnswerDraft| gaps(&schemes, draft).into_iter().map(|gap| gap.why).collect::<Vec<_>>();
    assert_eq!(whys(&draft(&["a", "b"], " über. ")), [""; 0], "characters count, not bytes");
    assert_eq!(whys(&draft(&["a"], "  ")), [""; 0], "no text is no answer, and none is required");
    assert_eq!(whys(&draft(&["a", "b", "c"], "abc")), ["1 to 2 labels expected, 3 given"]);
    assert_eq!(whys(&draft(&["a"], "abcdef")), ["3 to 5 characters expected, 6 given"]);
    assert_eq!(whys(&AnswerDraft::new()), ["1 to 2 labels expected, 0 given"], "no tick is an answer");
    let mut short = draft(&["a"], "abc");
    short.insert("note".to_owned(), Answer::Text { text: "no".to_owned() });
    assert_eq!(whys(&short), ["at least 3 characters expected, 2 given"]);
}

#[test]
fn words_to_mark_come_from_the_task_its_schemes_and_a_file() {
    let yaml = "keyword_highlights: [fee*]
keyword_highlights_file: words.csv
annotation_schemes:
  - {annotation_type: radio, name: right, labels: [yes, no], keyword_highlights: [{word: refund, label: promise}]}
";
    let layout =
        RowLayout::of(&annotation_with(yaml, &[("words.csv", "keyword,label\nopen,hours\nshut,\n")]));
    let marked: Vec<(&str, Option<&str>)> =
        layout.keywords.iter().map(|keyword| (keyword.word.as_str(), keyword.label.as_deref())).collect();
    let expected = [("fee*", None), ("refund", Some("promise")), ("open", Some("hours")), ("shut", None)];
    assert_eq!(marked, expected);
}

#[test]
fn an_item_is_called_by_its_first_words() {
    let check = |row: Json, expected: Option<&str>| {
        let row = row.as_object().unwrap().clone();
        let item = build_item("itm_1".to_owned(), &row, &RowLayout::default(), &[], false);
        assert_eq!(item.title().as_deref(), expected);
    };
    check(
        json!({"task": "Fix\n  page_count().", "steps": [{"thought": "Look.", "action": "ls"}]}),
        Some("Fix page_count()."),
    );
    check(json!({"messages": [{"role": "user", "content": "Where is it?"}]}), Some("Where is it?"));
    check(json!({"text": "ä".repeat(200)}), Some(&format!("{}…", "ä".repeat(120))));
    check(json!({"messages": [{"role": "assistant", "content": "Hello."}]}), None);
}
