//! Marks, weights and counts at their edges: what one wrong sign or comparison would change.

use serde_json::json;

use super::tests::{check, check_rubric, check_undecided, leaf, node, outcomes, rubric, rubric_with, say};
use super::*;
use crate::catalogue::{CHECKS, GradingMethod, find_catalogue_entry};
use crate::rubric::{Draft, Operator, Scale, Value};
use crate::suite::{Aggregate, TieBreak};
use VerdictStatus::{Error, Fail, Pass};

fn answers(outcomes: &[Outcome]) -> Vec<QuestionAnswer<'_>> {
    outcomes.iter().map(|outcome| QuestionAnswer { outcome, quote: QuoteStatus::NotAsked }).collect()
}

fn likert(weights: &[f64], top: i64) -> Vec<Criterion> {
    let criterion = |(at, weight): (usize, &f64)| Criterion {
        weight: *weight,
        ..Criterion::new(format!("c{top}-{at}"), "…", CriterionKind::Question(Scale::likert(1, top)))
    };
    weights.iter().enumerate().map(criterion).collect()
}

/// The verdict on criteria that all have 3, half of a scale from 1 to 5.
fn rate_three(draft: Draft, penalty: f64) -> Verdict {
    let rubric = Rubric::new(draft).unwrap();
    let three = Outcome::Scored { value: Value::Number(3.0), unit: Some(0.5) };
    let outcomes = vec![three; rubric.n_questions()];
    compute_verdict(&rubric, &answers(&outcomes), penalty)
}

#[test]
fn every_answer_is_counted_under_its_kind() {
    let counts = say(&rubric("a, b, c, d, e, f"), "1 0 na na ? ?").counts;
    assert_eq!((counts.scored, counts.not_applicable, counts.abstained), (2, 2, 2));
}

#[test]
fn a_mark_is_reached_by_the_same_number() {
    check("a, b >a", "0.7 1", Pass, Some(0.85));
    check("a guard t0.7, b", "0.3 1", Pass, Some(0.85));
    check("a guard t0.7, b", "0.4 1", Fail, Some(0.8));
}

#[test]
fn what_is_skipped_takes_its_members_with_it() {
    check("a, (b, c) >a, d, e >a", "0 1 1 1 1", Fail, Some(0.25));
    check("a, (b, (c, d)) >a, e, f >a", "0 1 1 1 1 1", Fail, Some(0.25));
}

#[test]
fn a_group_that_is_excused_meets_no_requirement() {
    check("(a skip), b >g-a", "? 1", Fail, Some(0.0));
    check("(a), b >g-a", "na 1", Pass, Some(1.0));
}

#[test]
fn a_broken_member_is_no_excuse_for_its_group() {
    let skip = rubric_with("(a) required pass, b", Draft { on_error: OnError::Skip, ..Draft::default() });
    check_rubric(&skip, "failed 1", Error, None);
    check_rubric(&skip, "? 1", Pass, Some(1.0));
}

#[test]
fn the_reason_of_a_group_names_what_is_missing() {
    let verdict = say(&rubric("(a, b) required, c"), "? ? 1");
    assert_eq!(verdict.undecided_gates[0].reason, "no grader could assess a, b");
}

#[test]
fn questions_after_a_tree_have_their_own_answers() {
    let graph = Graph {
        root: "first".to_owned(),
        nodes: vec![
            node("second", NodeAnswers::YesNo { yes: leaf(1.0), no: leaf(0.0) }),
            node("first", NodeAnswers::YesNo { yes: AnswerTarget::Node("second".to_owned()), no: leaf(0.0) }),
        ],
    };
    let tree = Criterion::new("t", "", CriterionKind::Tree(graph));
    let question = |id: &str| Criterion::new(id, "…", CriterionKind::Question(Scale::Unit));
    let criteria = vec![question("before"), tree, question("after")];
    let rubric = Rubric::new(Draft { criteria, ..Draft::default() }).unwrap();
    check_rubric(&rubric, "1 1 1 0.4", Pass, Some(0.8));
    // Of a tree, only the node on the way is open.
    let all = outcomes("1 1 1 0.4");
    let open = |known: [bool; 4]| {
        let answers = answers(&all);
        let known: Vec<Option<QuestionAnswer<'_>>> =
            known.into_iter().zip(answers).map(|(is_known, answer)| is_known.then_some(answer)).collect();
        open_questions(&rubric, &known)
    };
    assert_eq!(open([false; 4]), [0, 2, 3]);
    assert_eq!(open([true, false, true, true]), [1]);
    assert_eq!(open([true; 4]), [0; 0]);
    let no = outcomes("1 1 0 0.4");
    let known: Vec<Option<QuestionAnswer<'_>>> =
        answers(&no).into_iter().enumerate().map(|(at, answer)| (at != 1).then_some(answer)).collect();
    assert_eq!(open_questions(&rubric, &known), [0; 0], "the other branch ends at a leaf");
}

#[test]
fn strict_fails_where_a_penalty_takes_the_rest() {
    let strict = rubric_with("a, b", Draft { strict: true, ..Draft::default() });
    let outcomes = outcomes("1 ?");
    let verdict = compute_verdict(&strict, &answers(&outcomes), 0.2);
    assert_eq!((verdict.status, verdict.score), (Fail, Some(0.8)), "{verdict:?}");
}

#[test]
fn the_worst_counts_penalties_by_what_they_take() {
    let worst = |text| rubric_with(text, Draft { aggregation: Aggregation::Min, ..Draft::default() });
    check_rubric(&worst("a x-1, b"), "1 0.9", Fail, Some(0.0));
    check_rubric(&worst("a x-1, b"), "0.2 0.9", Pass, Some(0.8));
    check_rubric(&worst("a x0, b"), "1 0.8", Pass, Some(0.8));
    // Criteria without weight say nothing about a mean.
    check("a x0, b", "1 na", Error, None);
}

#[test]
fn native_units_need_one_scale_and_weights_that_add() {
    let native = |criteria: Vec<Criterion>| rate_three(Draft { criteria, ..Draft::default() }, 0.0).native;
    assert_eq!(native(likert(&[1.0, 3.0], 5)), Some(3.0));
    assert_eq!(native(likert(&[-1.0, 3.0], 5)), None);
    assert_eq!(native(likert(&[3.0, -1.0], 5)), None);
    assert_eq!(native([likert(&[1.0], 5), likert(&[1.0], 7)].concat()), None);
    let draft = || Draft { criteria: likert(&[1.0, 3.0], 5), ..Draft::default() };
    assert_eq!(rate_three(draft(), 0.1).native, None);
    assert_eq!(rate_three(Draft { aggregation: Aggregation::Min, ..draft() }, 0.0).native, None);
}

#[test]
fn answers_need_a_quote_unless_they_deny_something() {
    let draft = Draft { require_evidence: true, ..Draft::default() };
    let criterion = || Criterion::new("a", "…", CriterionKind::Question(Scale::Unit));
    let lacks = |criterion: &Criterion, unit| lacks_evidence(&draft, criterion, QuoteStatus::Missing, unit);
    assert!(lacks(&Criterion { weight: 0.0, ..criterion() }, 0.2));
    let guard = Criterion { polarity: Polarity::Guard, ..criterion() };
    assert!(lacks(&guard, 0.5) && !lacks(&guard, 0.4));
    let penalty = Criterion { weight: -1.0, ..criterion() };
    assert!(lacks(&penalty, 1.0) && !lacks(&penalty, 0.0));
    let contradiction = Criterion { operator: Some(Operator::Contradiction), ..criterion() };
    assert!(lacks(&contradiction, 0.4) && !lacks(&contradiction, 0.5));
}

#[test]
fn code_gets_the_scores_of_all_criteria_that_do_not_wait_for_it() {
    let method = |name: &str, params: serde_json::Value| GradingMethod {
        entry: find_catalogue_entry(CHECKS, name).unwrap(),
        params: params.as_object().cloned().unwrap(),
    };
    let criterion = |id: &str, ask| Criterion::new(id, "…", ask);
    let criteria = vec![
        criterion("a", CriterionKind::Question(Scale::Unit)),
        criterion("code", CriterionKind::Check(method("javascript", json!({ "scores": {} })))),
        criterion("best", CriterionKind::Check(method("max-score", json!({})))),
    ];
    let rubric = Rubric::new(Draft { criteria, ..Draft::default() }).unwrap();
    let outcomes = outcomes("0.5 1 1");
    let named = |scores: Vec<ScoredCriterion>| -> Vec<(String, f64)> {
        scores.into_iter().map(|scored| (scored.names[0].clone(), scored.score)).collect()
    };
    let for_code = scores_for_code(&rubric, &answers(&outcomes)).map(named);
    assert_eq!(for_code, Ok(vec![("a".to_owned(), 0.5)]));
    let to_compare = scores_to_compare(&rubric, &answers(&outcomes)).map(named);
    assert_eq!(to_compare, Ok(vec![("a".to_owned(), 0.5), ("code".to_owned(), 1.0)]));
}

#[test]
fn panels_are_exact_at_their_marks() {
    let panel = |criteria: &str, members: &[&str], how: Combine| {
        let rubric = rubric(criteria);
        let verdicts: Vec<Verdict> = members.iter().map(|member| say(&rubric, member)).collect();
        combine_panel(&verdicts, how, rubric.pass_mark)
    };
    let by = |aggregate| Combine::Panel { aggregate, tie_break: TieBreak::Fail };
    assert_eq!(panel("a", &["0.7", "0.7"], by(Aggregate::Mean)).status, Pass);
    // Without a score, all voters must have passed.
    assert_eq!(panel("a when", &["na", "na"], by(Aggregate::Mean)).status, Pass);
    let why = |criteria, members, how| panel(criteria, members, how).why.unwrap();
    let gated = why("a required t0.9, b", &["0.4 1", "0.4 1"], by(Aggregate::Mean));
    assert_eq!(gated, "a gate failed for 2 of 2 members");
    let jury = why("a", &["1", "1", "0"], Combine::Jury { consensus: 1.0 });
    assert_eq!(jury, "2 of 3 members passed it; 3 have to");
    let median = |members: &[&str]| panel("a when", members, by(Aggregate::Median)).median;
    assert_eq!(median(&["0.2", "0.9", "0.4"]), Some(0.4));
    assert_eq!(median(&["0.25", "0.5", "0.75", "1"]), Some(0.625));
    assert_eq!(median(&["na", "na"]), None);
    let agreement = |members: &[&str]| panel("a", members, by(Aggregate::Mean)).agreement;
    assert_eq!(agreement(&["1", "1", "0"]), Some(1.0 / 3.0));
    assert_eq!(agreement(&["1", "1", "0", "0"]), Some(1.0 / 3.0));
    assert_eq!(agreement(&["1", "1"]), Some(1.0));
    assert_eq!(agreement(&["1"]), None);
}

#[test]
fn a_panel_without_a_verdict_has_no_units() {
    let verdict = |grades: &str, native| Verdict { native, ..say(&rubric("a"), grades) };
    let members = [verdict("1", Some(4.0)), verdict("failed", None), verdict("failed", None)];
    let combined = combine_panel(&members, Combine::Jury { consensus: 0.5 }, 0.7);
    assert_eq!((combined.status, combined.native, combined.score), (Error, None, None));
    check_undecided(&rubric("a required, b"), "? 1", &[(Gate::Required, Some("a"))]);
}
