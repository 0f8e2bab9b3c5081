use proptest::prelude::*;

use super::*;
use crate::grade::{Deferral, Failure};
use crate::rubric::{Group, Leaf, Scale, TreeNode, Value, WHOLE, When};
use crate::suite::{Aggregate, TieBreak};

/// `safety required x2, clarity guard t0.9, (a, b x2) x3`: criteria on the unit scale, groups in brackets.
pub(super) fn rubric(text: &str) -> Rubric {
    rubric_with(text, Draft::default())
}

pub(super) fn rubric_with(text: &str, draft: Draft) -> Rubric {
    let mut rest = text;
    let criteria = criteria(&mut rest);
    Rubric::new(Draft { criteria, ..draft }).unwrap_or_else(|faults| panic!("{text}: {faults:?}"))
}

fn criteria(rest: &mut &str) -> Vec<Criterion> {
    let mut list = Vec::new();
    loop {
        *rest = rest.trim_start();
        let mut criterion = if let Some(inner) = rest.strip_prefix('(') {
            *rest = inner;
            let group = Group { criteria: criteria(rest), aggregation: Aggregation::WeightedAverage };
            let id = format!("g-{}", group.criteria[0].id);
            *rest = rest.strip_prefix(')').expect("a closing bracket");
            Criterion::new(id, "", CriterionKind::Group(group))
        } else {
            let end = rest.find([',', ')', ' ']).unwrap_or(rest.len());
            let criterion = Criterion::new(&rest[..end], "…", CriterionKind::Question(Scale::Unit));
            *rest = &rest[end..];
            criterion
        };
        let end = rest.find([',', ')']).unwrap_or(rest.len());
        for word in rest[..end].split_whitespace() {
            match word {
                "required" => criterion.required = true,
                "guard" => criterion.polarity = Polarity::Guard,
                "not" => criterion.polarity = Polarity::Negated,
                "when" => criterion.when = Some(When::Contains("x".to_owned())),
                "skip" => criterion.cannot_assess = Some(CannotAssess::Skip),
                "pass" => criterion.cannot_assess = Some(CannotAssess::Pass),
                "zero" => criterion.cannot_assess = Some(CannotAssess::Zero),
                "fail" => criterion.cannot_assess = Some(CannotAssess::Fail),
                "or_na" => criterion.unmet = Unmet::NotApplicable,
                _ => match word.split_at(1) {
                    ("x", weight) => criterion.weight = weight.parse().unwrap(),
                    ("t", threshold) => criterion.threshold = threshold.parse().ok(),
                    ("m", min_score) => criterion.min_score = min_score.parse().ok(),
                    (">", required) => criterion.requires.push(required.to_owned()),
                    _ => panic!("`{word}`"),
                },
            }
        }
        list.push(criterion);
        *rest = &rest[end..];
        match rest.strip_prefix(',') {
            Some(more) => *rest = more,
            None => return list,
        }
    }
}

/// `1 0.5 na ? failed deferred`: one outcome per question.
pub(super) fn outcomes(text: &str) -> Vec<Outcome> {
    let outcome = |word: &str| match word {
        "na" => Outcome::NotApplicable,
        "?" => Outcome::Abstained { why: String::new() },
        "failed" => Outcome::Failed { failure: Failure::Timeout, detail: String::new() },
        "unproven" => Outcome::Failed { failure: Failure::EvidenceNotFound, detail: String::new() },
        "deferred" => Outcome::Deferred { why: Deferral::NoKey },
        _ => match word.parse() {
            Ok(number) => Outcome::Scored { value: Value::Number(number), unit: Some(number) },
            Err(_) => Outcome::Scored { value: Value::Text(word.to_owned()), unit: None },
        },
    };
    text.split_whitespace().map(outcome).collect()
}

pub(super) fn say(rubric: &Rubric, grades: &str) -> Verdict {
    quoted(rubric, grades, QuoteStatus::NotAsked)
}

fn quoted(rubric: &Rubric, grades: &str, quote: QuoteStatus) -> Verdict {
    let outcomes = outcomes(grades);
    let answers: Vec<QuestionAnswer<'_>> =
        outcomes.iter().map(|outcome| QuestionAnswer { outcome, quote }).collect();
    compute_verdict(rubric, &answers, 0.0)
}

#[track_caller]
pub(super) fn check(criteria: &str, grades: &str, status: VerdictStatus, score: Option<f64>) {
    check_rubric(&rubric(criteria), grades, status, score);
}

#[track_caller]
pub(super) fn check_rubric(rubric: &Rubric, grades: &str, status: VerdictStatus, score: Option<f64>) {
    let verdict = say(rubric, grades);
    let close = match (verdict.score, score) {
        (Some(a), Some(b)) => (a - b).abs() < 1e-12,
        (a, b) => a == b,
    };
    assert!(close && verdict.status == status, "{grades}: {verdict:?}");
}

use VerdictStatus::{Deferred, Error, Fail, Pass};

#[test]
fn the_score_is_the_weighted_mean() {
    check("a, b", "1 0.5", Pass, Some(0.75));
    check("a x3, b", "1 0", Pass, Some(0.75));
    check("a x3, b", "0 1", Fail, Some(0.25));
    check("a x0, b", "0 1", Pass, Some(1.0));
}

#[test]
fn rounding_does_not_fail_a_score_that_reaches_the_mark() {
    // On paper 0.7; in doubles a hair under it.
    check(
        "a x0.1, b x0.1, c x0.1, d x0.1, e x0.1, f x0.1, g x0.1, h x0.3",
        "1 1 1 1 1 1 1 0",
        Pass,
        Some(0.7),
    );
}

#[test]
fn unscored_criteria_leave_the_denominator() {
    check("a, b", "1 na", Pass, Some(1.0));
    check("a, b", "1 ?", Pass, Some(1.0));
    check("a zero, b", "? 1", Fail, Some(0.5));
    check("a fail, b x9", "? 1", Fail, Some(0.9));
}

#[test]
fn a_broken_grader_is_an_error_and_never_a_number() {
    check("a, b", "1 failed", Error, None);
    check("a guard, b", "failed 1", Error, None);
    let with = |on_error| rubric_with("a, b guard", Draft { on_error, ..Draft::default() });
    check_rubric(&with(OnError::Fail), "1 failed", Fail, Some(1.0));
    check_rubric(&with(OnError::Skip), "failed 0", Pass, Some(1.0));
    // Missing evidence is a gate of every criterion.
    check_rubric(&with(OnError::Skip), "unproven 0", Error, None);
    // A gate that nobody looked at has not been passed.
    check_rubric(&with(OnError::Skip), "1 failed", Error, None);
}

#[test]
fn what_was_not_asked_defers_the_verdict() {
    check("a, b", "1 deferred", Deferred, None);
    check("a, b", "failed deferred", Error, None);
}

#[test]
fn nothing_to_grade_is_vacuous_only_by_condition() {
    let verdict = say(&rubric("a when, b when"), "na na");
    assert!(verdict.vacuous && verdict.status == Pass && verdict.score.is_none());
    let verdict = say(&rubric("(a, b) when"), "na na");
    assert!(verdict.vacuous && verdict.status == Pass);
    check("a, b", "na na", Error, None);
    check("a when, b when", "na ?", Error, None);
}

#[test]
fn required_is_held_against_its_own_threshold_or_the_rubrics() {
    check("a required, b x9", "0.6 1", Fail, Some(0.96));
    check("a required t0.5, b x9", "0.6 1", Pass, Some(0.96));
    check("a required t0.9, b", "0.8 1", Fail, Some(0.9));
    check("a required, b x9", "na 1", Pass, Some(1.0));
}

#[test]
fn a_guard_fails_when_its_bad_thing_is_there() {
    check("a guard, b x9", "1 1", Fail, Some(0.9));
    check("a guard, b", "0 1", Pass, Some(1.0));
    check("a guard, b x9", "0.5 1", Fail, Some(0.95));
    check("a guard, b x9", "0.49 1", Pass, Some(0.951));
    check("a guard t0.9, b x9", "0.2 1", Fail, Some(0.98));
    check("a not, b", "1 1", Fail, Some(0.5));
}

#[test]
fn a_minimum_gates_by_itself() {
    check("a m0.5, b x9", "0.4 1", Fail, Some(0.94));
    check("a m0.5, b x9", "0.5 1", Pass, Some(0.95));
}

#[test]
fn penalties_subtract_and_have_no_share_of_the_denominator() {
    check("a x3, b x1, bad x-2", "1 1 1", Fail, Some(0.5));
    check("a x3, b x1, bad x-2", "1 1 0", Pass, Some(1.0));
    check("a, bad x-5", "1 1", Fail, Some(0.0));
}

#[test]
fn strict_wants_all_of_it() {
    let strict = rubric_with("a, b", Draft { strict: true, ..Draft::default() });
    check_rubric(&strict, "1 1", Pass, Some(1.0));
    check_rubric(&strict, "1 0.99", Fail, Some(0.995));
}

#[test]
fn the_worst_criterion_can_be_the_score() {
    let min = rubric_with("a x9, b", Draft { aggregation: Aggregation::Min, ..Draft::default() });
    check_rubric(&min, "1 0.6", Fail, Some(0.6));
    check_rubric(&min, "1 na", Pass, Some(1.0));
}

#[test]
fn groups_are_criteria_whose_gates_hold() {
    check("(a, b x3) x2, c", "0 1 1", Pass, Some((2.0 * 0.75 + 1.0) / 3.0));
    check("(a required, b x9) x2, c", "0 1 1", Fail, Some(2.8 / 3.0));
    check("(a, b), c", "na na 1", Pass, Some(1.0));
    check("((a, b) required, c x9), d x9", "0 1 1 1", Fail, Some((0.95 + 9.0) / 10.0));
}

#[test]
fn unmet_requirements_score_zero_or_leave() {
    check("a, b >a", "1 1", Pass, Some(1.0));
    check("a, b >a", "0 1", Fail, Some(0.0));
    check("a, b >a or_na", "0 1", Fail, Some(0.0));
    check("a x0, b, c >a or_na", "0 1 1", Pass, Some(1.0));
    // Not met because what it requires is not met: requirements carry on.
    check("c >b, b >a, a, d", "1 1 0 1", Fail, Some(0.25));
    check("(a, b), c >g-a", "0 0 1", Fail, Some(0.0));
    check("a, (b, c) >a", "0 1 1", Fail, Some(0.0));
    check("a, b >a", "na 1", Pass, Some(1.0));
}

#[test]
fn a_broken_requirement_is_not_an_unmet_one() {
    check("a, b >a required", "failed deferred", Error, None);
    check("a, b >a required", "deferred deferred", Deferred, None);
    let skip = rubric_with("a, b >a, c", Draft { on_error: OnError::Skip, ..Draft::default() });
    check_rubric(&skip, "failed 0 1", Pass, Some(1.0));
    let gate = rubric_with("a, b >a required, c", Draft { on_error: OnError::Skip, ..Draft::default() });
    check_rubric(&gate, "failed 0 1", Error, None);
    check_rubric(&gate, "deferred 0 1", Deferred, None);
    // A guard that was never looked at has found nothing, but scores 0 like everything that is not met.
    let verdict = say(&rubric("a, b guard >a, c x9"), "0 deferred 1");
    assert_eq!((verdict.failed_gates.len(), verdict.counts.unmet), (0, 1));
}

#[test]
fn a_required_group_cannot_be_skipped() {
    let skip = rubric_with("(a) required, b", Draft { on_error: OnError::Skip, ..Draft::default() });
    check_rubric(&skip, "failed 1", Error, None);
    check_rubric(&skip, "1 1", Pass, Some(1.0));
}

#[test]
fn what_is_absent_needs_no_quote() {
    let rubric = |criteria: &str| rubric_with(criteria, Draft { require_evidence: true, ..Draft::default() });
    for criteria in ["a guard", "a not", "b, a x-1"] {
        let grades = if criteria.starts_with('b') { "na 0" } else { "0" };
        let verdict = quoted(&rubric(criteria), grades, QuoteStatus::Missing);
        assert!(verdict.failed_gates.is_empty(), "{criteria}: {verdict:?}");
    }
}

#[test]
fn sums_do_not_depend_on_their_order() {
    let scores =
        ["a x0.1, b x0.7, c x0.2", "b x0.7, a x0.1, c x0.2", "c x0.2, b x0.7, a x0.1"].map(|criteria| {
            let grades = criteria.split(", ").map(|part| if part.starts_with('c') { "0" } else { "1" });
            say(&rubric(criteria), &grades.collect::<Vec<_>>().join(" ")).score
        });
    assert_eq!(scores, [scores[0]; 3]);
}

#[test]
fn native_units_are_left_out_where_they_would_say_something_else() {
    for (criteria, grades) in
        [("a guard, b", "0 1"), ("(a) x9, b", "1 0"), ("a zero, b", "? 1"), ("a, b >a", "0 1")]
    {
        assert_eq!(say(&rubric(criteria), grades).native, None, "{criteria}");
    }
}

#[test]
fn evidence_is_found_or_the_answer_does_not_count() {
    let strict = rubric_with("a, b guard", Draft { require_evidence: true, ..Draft::default() });
    assert_eq!(quoted(&strict, "1 0", QuoteStatus::Found).status, Pass);
    let verdict = quoted(&strict, "1 0", QuoteStatus::Missing);
    // The clean guard needs no quote; the other criterion does.
    assert_eq!((verdict.status, verdict.score), (Fail, Some(0.5)));
    assert_eq!(verdict.failed_gates, [FailedGate { gate: Gate::Evidence, criterion: Some("a".to_owned()) }]);
    assert_eq!(quoted(&strict, "1 0", QuoteStatus::NotAsked).status, Pass);
}

pub(super) fn leaf(score: f64) -> AnswerTarget {
    AnswerTarget::Leaf(Leaf { score, reason: Some(format!("worth {score}")) })
}

pub(super) fn node(id: &str, answers: NodeAnswers) -> TreeNode {
    TreeNode { id: id.to_owned(), ask: "?".to_owned(), answers }
}

#[test]
fn a_tree_walks_to_an_authored_score_and_keeps_its_path() {
    let graph = Graph {
        root: "first".to_owned(),
        nodes: vec![
            node("second", NodeAnswers::YesNo { yes: leaf(1.0), no: leaf(0.4) }),
            node(
                "first",
                NodeAnswers::Choices(vec![
                    ("sure".to_owned(), AnswerTarget::Node("second".to_owned())),
                    ("no".to_owned(), leaf(0.0)),
                ]),
            ),
        ],
    };
    let criteria = vec![Criterion::new(WHOLE, "", CriterionKind::Tree(graph))];
    let rubric = Rubric::new(Draft { criteria, ..Draft::default() }).unwrap();
    check_rubric(&rubric, "0.5 sure", Pass, Some(1.0));
    check_rubric(&rubric, "0.49 sure", Fail, Some(0.4));
    check_rubric(&rubric, "failed no", Fail, Some(0.0));
    check_rubric(&rubric, "failed sure", Error, None);
    check_rubric(&rubric, "deferred sure", Deferred, None);
    let path = say(&rubric, "1 sure").path;
    let steps: Vec<(&str, &str, Option<f64>)> =
        path.iter().map(|path| (path.node.as_str(), path.answer.as_str(), path.score)).collect();
    assert_eq!(steps, [("first", "sure", None), ("second", "yes", Some(1.0))]);
}

#[test]
fn native_units_stand_beside_the_score() {
    let weights = [3.0, 2.0, 1.5, 1.0, 1.5];
    let criterion = |(at, weight): (usize, &f64)| Criterion {
        weight: *weight,
        ..Criterion::new(format!("c{at}"), "…", CriterionKind::Question(Scale::likert(1, 5)))
    };
    let criteria = weights.iter().enumerate().map(criterion).collect();
    let rubric = Rubric::new(Draft { criteria, ..Draft::default() }).unwrap();
    let rated = [4.0, 3.0, 5.0, 2.0, 3.0]
        .map(|it| Outcome::Scored { value: Value::Number(it), unit: Some((it - 1.0) / 4.0) });
    let answers = rated.each_ref().map(|outcome| QuestionAnswer { outcome, quote: QuoteStatus::NotAsked });
    let verdict = compute_verdict(&rubric, &answers, 0.0);
    assert_eq!(verdict.native, Some(32.0 / 9.0));
    assert!((verdict.score.unwrap() - (32.0 / 9.0 - 1.0) / 4.0).abs() < 1e-12);
}

#[test]
fn a_length_penalty_is_taken_off_the_aggregate() {
    let rubric = rubric("a");
    let outcomes = outcomes("0.9");
    let answers = [QuestionAnswer { outcome: &outcomes[0], quote: QuoteStatus::NotAsked }];
    assert!((compute_verdict(&rubric, &answers, 0.25).score.unwrap() - 0.65).abs() < 1e-12);
}

fn combine(aggregate: Aggregate) -> Combine {
    Combine::Panel { aggregate, tie_break: TieBreak::Fail }
}

#[track_caller]
fn check_panel(criteria: &str, members: &[&str], how: Combine, status: VerdictStatus) {
    let rubric = rubric(criteria);
    let verdicts: Vec<Verdict> = members.iter().map(|member| say(&rubric, member)).collect();
    let panel = combine_panel(&verdicts, how, rubric.pass_mark);
    assert_eq!(panel.status, status, "{panel:?}");
}

#[test]
fn panels_combine_scores_or_passes() {
    check_panel("a", &["1", "0.5", "0.5"], combine(Aggregate::Mean), Fail);
    check_panel("a", &["1", "0.6", "0.6"], combine(Aggregate::Mean), Pass);
    check_panel("a", &["1", "0.9", "0"], combine(Aggregate::Median), Pass);
    check_panel("a", &["1", "0.9", "0"], combine(Aggregate::Majority), Pass);
    check_panel("a", &["1", "0"], combine(Aggregate::Majority), Fail);
    let lenient = Combine::Panel { aggregate: Aggregate::Majority, tie_break: TieBreak::Pass };
    check_panel("a", &["1", "0"], lenient, Pass);
}

#[test]
fn panels_keep_gates() {
    let members = ["0 1", "0 1", "1 1"];
    for aggregate in [Aggregate::Mean, Aggregate::Median, Aggregate::Majority] {
        check_panel("a required, b x99", &members, combine(aggregate), Fail);
    }
    check_panel("a required, b x99", &["0 1", "1 1", "1 1"], combine(Aggregate::Mean), Pass);
    // By default, an even split of gates is no pass.
    check_panel("a required, b x99", &["0 1", "1 1"], combine(Aggregate::Mean), Fail);
}

#[test]
fn broken_members_abstain_until_too_few_are_left() {
    check_panel("a", &["1", "1", "failed"], combine(Aggregate::Mean), Pass);
    check_panel("a", &["1", "failed"], combine(Aggregate::Mean), Pass);
    check_panel("a", &["1", "failed", "failed"], combine(Aggregate::Mean), Error);
    check_panel("a", &["deferred", "deferred"], combine(Aggregate::Mean), Deferred);
    check_panel("a", &[], combine(Aggregate::Mean), Error);
}

#[test]
fn a_panel_that_does_not_pass_says_why_and_has_units_of_its_own() {
    let explanation = |members: &[&str], combine: Combine| {
        let rubric = rubric("a required, b x99");
        let verdicts: Vec<Verdict> = members.iter().map(|member| say(&rubric, member)).collect();
        combine_panel(&verdicts, combine, rubric.pass_mark).why
    };
    let why = |members: &[&str], combine: Combine| explanation(members, combine).unwrap();
    assert_eq!(explanation(&["1 1", "1 1"], combine(Aggregate::Mean)), None);
    assert_eq!(
        why(&["1 0", "1 0.5"], combine(Aggregate::Mean)),
        "the mean of 2 members is 0.26, below the pass mark 0.70"
    );
    assert_eq!(why(&["0 1", "0 1", "1 1"], combine(Aggregate::Median)), "a gate failed for 2 of 3 members");
    assert_eq!(why(&["0 1", "1 1"], combine(Aggregate::Majority)), "1 of 2 members passed it; a tie fails");
    assert_eq!(
        why(&["0 1", "0 1", "1 1"], combine(Aggregate::Majority)),
        "1 of 3 members passed it; a majority has to"
    );
    assert_eq!(
        why(&["1 1", "0 0", "0 0"], Combine::Jury { consensus: 0.66 }),
        "1 of 3 members passed it; 2 have to"
    );
    assert_eq!(
        why(&["1 1", "failed failed", "failed failed"], combine(Aggregate::Mean)),
        "1 of 3 members gave a verdict"
    );
    let verdict = |native: Option<f64>| Verdict { native, ..say(&rubric("a"), "1") };
    let native = |members: &[Verdict]| combine_panel(members, combine(Aggregate::Mean), 0.7).native;
    assert_eq!(native(&[verdict(Some(4.0)), verdict(Some(5.0))]), Some(4.5));
    assert_eq!(native(&[verdict(Some(4.0)), verdict(None)]), None);
}

#[test]
fn a_jury_passes_by_consensus() {
    check_panel("a", &["1", "1", "0"], Combine::Jury { consensus: 0.66 }, Pass);
    check_panel("a", &["1", "0", "0"], Combine::Jury { consensus: 0.66 }, Fail);
    check_panel("a", &["1", "1", "failed"], Combine::Jury { consensus: 1.0 }, Pass);
}

#[track_caller]
pub(super) fn check_undecided(rubric: &Rubric, grades: &str, gates: &[(Gate, Option<&str>)]) {
    let verdict = say(rubric, grades);
    let undecided: Vec<(Gate, Option<&str>)> = verdict
        .undecided_gates
        .iter()
        .map(|undecided_gate| (undecided_gate.gate, undecided_gate.criterion.as_deref()))
        .collect();
    assert_eq!((verdict.status, verdict.score, undecided.as_slice()), (Error, None, gates), "{verdict:?}");
}

#[test]
fn a_gate_that_nobody_could_decide_is_an_error() {
    let undecided = |criteria: &str, grades: &str, gate, id| {
        check_undecided(&rubric(criteria), grades, &[(gate, Some(id))]);
    };
    undecided("a required, b x9", "? 1", Gate::Required, "a");
    undecided("a guard, b x9", "? 1", Gate::Guard, "a");
    undecided("a m0.1, b x9", "? 1", Gate::MinScore, "a");
    undecided("(a) required, b", "? 1", Gate::Required, "g-a");
    undecided("(a required), b", "? 1", Gate::Required, "a");
    // An answer that leads to no number decides nothing either.
    undecided("a required, b", "perhaps 1", Gate::Required, "a");
    // Another gate that failed decides.
    check("a required, b required", "? 0", Fail, None);
    // Without a gate, abstaining only leaves the denominator; not applicable is an answer.
    check("a, b", "? 1", Pass, Some(1.0));
    check("a required, b", "na 1", Pass, Some(1.0));
    let reason = &say(&rubric("a required, b"), "failed 1").undecided_gates[0].reason;
    assert_eq!(reason, "its grader failed: timeout");
}

#[test]
fn an_author_says_what_abstaining_does() {
    check("a required skip, b", "? 1", Pass, Some(1.0));
    check("a required pass, b x3", "? 0.6", Pass, Some(0.7));
    check("a guard pass, b", "? 1", Pass, Some(1.0));
    check("a required fail, b x9", "? 1", Fail, Some(0.9));
    check("(a) required skip, b", "? 1", Pass, Some(1.0));
    check("(a, b) required pass, c", "? ? 1", Pass, Some(1.0));
    check("(a, b) required fail, c", "1 ? 1", Fail, Some(1.0));
}

#[test]
fn a_group_gate_is_decided_if_missing_answers_cannot_turn_it() {
    // Whatever b is, the group stays at or over 0.7.
    check("(a x9, b) required, c", "1 ? 1", Pass, Some(1.0));
    check_undecided(&rubric("(a, b) required, c"), "1 ? 1", &[(Gate::Required, Some("g-a"))]);
    check("(a, b skip) required, c", "1 ? 1", Pass, Some(1.0));
    // A penalty that nobody could assess may take something off.
    check_undecided(&rubric("(a, b x-1) required, c"), "1 ? 1", &[(Gate::Required, Some("g-a"))]);
    let skip = rubric_with("(a, b) required, c", Draft { on_error: OnError::Skip, ..Draft::default() });
    check_undecided(&skip, "1 failed 1", &[(Gate::Required, Some("g-a"))]);
    check("(a, b) required, c", "1 deferred 1", Deferred, None);
}

#[test]
fn strict_is_a_gate_of_its_own() {
    let strict = rubric_with("a, b, c x0", Draft { strict: true, ..Draft::default() });
    check_undecided(&strict, "1 ? 1", &[(Gate::Strict, None)]);
    check_rubric(&strict, "1 1 ?", Pass, Some(1.0));
    check_rubric(&strict, "0.9 ? 1", Fail, Some(0.9));
}

#[test]
fn a_gate_behind_a_requirement_that_could_not_be_assessed_is_undecided() {
    check_undecided(&rubric("a x0, b >a or_na required, c"), "? 1 1", &[(Gate::Required, Some("b"))]);
    check_undecided(&rubric("a x0, b >a guard, c x9"), "? 0 1", &[(Gate::Guard, Some("b"))]);
    check_undecided(&rubric("a x0, (b required) >a or_na, c"), "? 1 1", &[(Gate::Required, Some("b"))]);
    check("a x0 skip, b >a or_na required, c", "? 1 1", Pass, Some(1.0));
    // It is not met, so a score of 0 is under the gate.
    check("a x0, b >a required, c x9", "? 1 1", Fail, Some(0.9));
    let skip = rubric_with("a x0, (b required) >a, c", Draft { on_error: OnError::Skip, ..Draft::default() });
    check_undecided(&skip, "failed 1 1", &[(Gate::Required, Some("b"))]);
}

#[test]
fn a_gate_around_a_criterion_that_was_not_asked_is_undecided_if_its_answer_could_turn_it() {
    let group = [(Gate::Required, Some("g-b"))];
    check_undecided(&rubric("a x0, (b >a or_na) required, c"), "? 1 1", &group);
    check_undecided(&rubric("a x0, (b >a or_na, d) required, c"), "? 1 1 1", &group);
    check("a x0, (b >a or_na, d x9) required, c", "? 1 1 1", Pass, Some(1.0));
    // A penalty that nobody looked at may take something off.
    check_undecided(&rubric("a x0, (b x-1 >a, d) required, c"), "? 1 1 1", &group);
    // Without such a requirement, or where its author excused it, there is nothing to decide.
    check("a x0, (b >a or_na) required, c", "0 1 1", Pass, Some(1.0));
    check("a x0 skip, (b >a or_na) required, c", "? 1 1", Pass, Some(1.0));
    let strict = rubric_with("a x0, b >a or_na, c", Draft { strict: true, ..Draft::default() });
    check_undecided(&strict, "? 1 1", &[(Gate::Strict, None)]);
    // What requires it is asked as before.
    check("a x0, b >a or_na, c >b", "? 1 1", Pass, Some(1.0));
}

#[test]
fn a_tree_that_is_a_gate_is_decided_at_a_leaf() {
    let graph = Graph {
        root: "first".to_owned(),
        nodes: vec![node(
            "first",
            NodeAnswers::Choices(vec![("sure".to_owned(), leaf(1.0)), ("no".to_owned(), leaf(0.0))]),
        )],
    };
    let tree = Criterion { required: true, ..Criterion::new("t", "", CriterionKind::Tree(graph)) };
    let base = Criterion::new("base", "…", CriterionKind::Question(Scale::Unit));
    let rubric = Rubric::new(Draft { criteria: vec![tree, base], ..Draft::default() }).unwrap();
    check_rubric(&rubric, "sure 1", Pass, Some(1.0));
    check_undecided(&rubric, "? 1", &[(Gate::Required, Some("t"))]);
    check_undecided(&rubric, "maybe 1", &[(Gate::Required, Some("t"))]);
}

#[test]
fn members_that_could_not_decide_a_gate_are_not_outvoted_by_those_who_could() {
    let criteria = "a required, b x9";
    for how in [combine(Aggregate::Mean), combine(Aggregate::Majority), Combine::Jury { consensus: 0.6 }] {
        check_panel(criteria, &["1 1", "? 1"], how, Error);
        check_panel(criteria, &["1 1", "1 1", "? 1"], how, Pass);
        check_panel(criteria, &["0 1", "0 1", "? 1"], how, Fail);
        check_panel(criteria, &["1 1", "deferred 1"], how, Deferred);
    }
    let rubric = rubric(criteria);
    let members = ["1 1", "? 1"].map(|grades| say(&rubric, grades));
    let panel = combine_panel(&members, combine(Aggregate::Mean), rubric.pass_mark);
    assert_eq!(panel.undecided_gates, members[1].undecided_gates);
}

/// Random rubrics of up to six criteria with random answers.
fn graded() -> impl Strategy<Value = Vec<(f64, u8, Option<f64>)>> {
    let weight = prop_oneof![4 => 0.1..5.0_f64, 1 => Just(0.0), 1 => -3.0..-0.1_f64];
    let answer = prop_oneof![5 => (0.0..=1.0_f64).prop_map(Some), 1 => Just(None)];
    proptest::collection::vec((weight, 0..4_u8, answer), 1..6)
}

fn build(graded: &[(f64, u8, Option<f64>)], gates: bool) -> (Rubric, Vec<Outcome>) {
    // A criterion that always counts keeps every random rubric valid.
    let mut criteria = vec![Criterion::new("base", "…", CriterionKind::Question(Scale::Unit))];
    let mut outcomes = vec![Outcome::Scored { value: Value::Number(0.5), unit: Some(0.5) }];
    for (at, (weight, kind, answer)) in graded.iter().enumerate() {
        let mut criterion = Criterion::new(format!("c{at}"), "…", CriterionKind::Question(Scale::Unit));
        criterion.weight = *weight;
        match kind {
            1 if gates && 0.0 <= *weight => criterion.required = true,
            2 if gates && 0.0 <= *weight => criterion.polarity = Polarity::Guard,
            3 => criterion.threshold = Some(0.5),
            _ => {}
        }
        criteria.push(criterion);
        outcomes.push(answer.map_or(Outcome::NotApplicable, |it| Outcome::Scored {
            value: Value::Number(it),
            unit: Some(it),
        }));
    }
    (Rubric::new(Draft { criteria, ..Draft::default() }).expect("valid by construction"), outcomes)
}

fn judge(rubric: &Rubric, outcomes: &[Outcome]) -> Verdict {
    let answers: Vec<QuestionAnswer<'_>> =
        outcomes.iter().map(|outcome| QuestionAnswer { outcome, quote: QuoteStatus::NotAsked }).collect();
    compute_verdict(rubric, &answers, 0.0)
}

/// Every way in which a rubric can be a gate, and every answer that is none.
fn gated() -> impl Strategy<Value = (String, String, u8)> {
    let word = |words: &'static [&'static str]| (0..words.len()).prop_map(move |at| words[at]);
    let gate = word(&["", "required", "guard", "m0.4", "not required", "required or_na >base"]);
    let group_gate = word(&["", "", "required", "m0.4"]);
    let weight = word(&["", "x0", "x3", "x0.2"]);
    let answer = word(&["1", "0.8", "0", "na", "?", "failed", "deferred", "perhaps"]);
    let leaf = (gate, weight, answer);
    let group = (group_gate, proptest::collection::vec(leaf, 1..4));
    (proptest::collection::vec(group, 1..4), answer_of_base(), 0..4_u8).prop_map(|(groups, base, how)| {
        let (mut criteria, mut answers) = (vec!["base".to_owned()], vec![base]);
        for (at, (gate, leaves)) in groups.into_iter().enumerate() {
            let inside: Vec<String> = leaves
                .iter()
                .enumerate()
                .map(|(nth, (gate, weight, _))| format!("c{at}{nth} {gate} {weight}"))
                .collect();
            answers.extend(leaves.iter().map(|leaf| leaf.2));
            criteria.push(format!("({}, k{at}) {gate}", inside.join(", ")));
            answers.push("1");
        }
        (criteria.join(", "), answers.join(" "), how)
    })
}

fn answer_of_base() -> impl Strategy<Value = &'static str> {
    prop_oneof![4 => Just("1"), 1 => Just("?"), 1 => Just("failed"), 1 => Just("0")]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 4_000,
        rng_seed: proptest::test_runner::RngSeed::Fixed(19),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn no_verdict_passes_while_a_gate_has_no_answer((criteria, grades, how) in gated()) {
        let on_error = [OnError::Error, OnError::Skip, OnError::Skip, OnError::Fail][usize::from(how)];
        let rubric = rubric_with(&criteria, Draft { on_error, strict: how == 2, ..Draft::default() });
        let verdict = say(&rubric, &grades);
        let is_answer = |word: &str| word == "na" || word.parse::<f64>().is_ok();
        let words: Vec<&str> = grades.split_whitespace().collect();
        // A criterion that was ruled out for a reason that is known needs no answer.
        let base_is_known = is_answer(words[0]);
        let open: Vec<String> = rubric
            .questions()
            .zip(&words)
            .filter(|(question, word)| {
                let waits = !question.criterion.requires.is_empty();
                let is_asked = !waits || words[0] != "0";
                gate_of(question.criterion).is_some()
                    && ((is_asked && !is_answer(word)) || (waits && !base_is_known))
            })
            .map(|(question, _)| question.id())
            .collect();
        prop_assert!(open.is_empty() || verdict.status != Pass, "{} | {}: {:?}", criteria, grades, open);
        prop_assert!(verdict.undecided_gates.is_empty() || verdict.status != Pass);
    }
}

proptest! {
    #[test]
    fn scores_stay_in_range(graded in graded()) {
        let (rubric, outcomes) = build(&graded, true);
        let score = judge(&rubric, &outcomes).score.expect("all are scored or not applicable");
        prop_assert!((0.0..=1.0).contains(&score));
    }

    #[test]
    fn permuting_criteria_changes_nothing(graded in graded(), turn in 0..6_usize) {
        let (rubric, outcomes) = build(&graded, true);
        let turn = turn % outcomes.len();
        let rotate = |list: &[Criterion]| [&list[turn..], &list[..turn]].concat();
        let turned = Rubric::new(Draft { criteria: rotate(&rubric.criteria), ..Draft::default() }).unwrap();
        let moved: Vec<Outcome> = [&outcomes[turn..], &outcomes[..turn]].concat();
        let (a, b) = (judge(&rubric, &outcomes), judge(&turned, &moved));
        prop_assert_eq!(a.status, b.status);
        prop_assert!((a.score.unwrap() - b.score.unwrap()).abs() < 1e-12);
        let sorted = |verdict: &Verdict| {
            let mut gates: Vec<_> = verdict.failed_gates.iter().map(|failed_gate| (failed_gate.criterion.clone(), failed_gate.gate)).collect();
            gates.sort();
            gates
        };
        prop_assert_eq!(sorted(&a), sorted(&b));
    }

    #[test]
    fn a_failed_gate_always_fails(graded in graded()) {
        let (rubric, outcomes) = build(&graded, true);
        let verdict = judge(&rubric, &outcomes);
        prop_assert!(verdict.failed_gates.is_empty() || verdict.status == Fail);
    }

    #[test]
    fn raising_a_grade_never_lowers_the_aggregate_without_guards(graded in graded(), at in 0..5_usize, by in 0.0..1.0_f64) {
        // Penalties are raised by being met, so they are left out like guards.
        let graded: Vec<_> = graded.into_iter().map(|(weight, kind, answer)| (weight.abs(), kind, answer)).collect();
        let (rubric, mut outcomes) = build(&graded, false);
        let before = judge(&rubric, &outcomes).score.unwrap();
        let at = 1 + at % graded.len();
        if let Outcome::Scored { unit: Some(unit), .. } = &mut outcomes[at] {
            *unit = (*unit + by).min(1.0);
        }
        prop_assert!(before <= judge(&rubric, &outcomes).score.unwrap() + 1e-12);
    }

    #[test]
    fn skipped_criteria_leave_the_denominator(graded in graded(), at in 0..5_usize) {
        let (rubric, mut outcomes) = build(&graded, false);
        let at = 1 + at % graded.len();
        outcomes[at] = Outcome::NotApplicable;
        let with = judge(&rubric, &outcomes);
        let mut criteria = rubric.criteria.clone();
        criteria.remove(at);
        outcomes.remove(at);
        let without = judge(&Rubric::new(Draft { criteria, ..Draft::default() }).unwrap(), &outcomes);
        prop_assert_eq!((with.score, with.status), (without.score, without.status));
    }

    #[test]
    fn a_panel_passes_no_gate_that_a_majority_failed(answers in proptest::collection::vec((0.0..=1.0_f64, 0.0..=1.0_f64), 1..7)) {
        let rubric = rubric("a required, b x99");
        let verdicts: Vec<Verdict> = answers.iter().map(|(a, b)| say(&rubric, &format!("{a} {b}"))).collect();
        let n_gated = verdicts.iter().filter(|verdict| !verdict.failed_gates.is_empty()).count();
        for aggregate in [Aggregate::Mean, Aggregate::Median, Aggregate::Majority] {
            let panel = combine_panel(&verdicts, combine(aggregate), rubric.pass_mark);
            prop_assert!(2 * n_gated < verdicts.len() || panel.status != Pass, "{:?}", panel);
        }
    }
}

#[test]
fn evidence_stands_while_no_more_quotes_are_invented_than_found() {
    for (n_found, n_quotes, expected) in [
        (0, 0, QuoteStatus::Missing),
        (0, 1, QuoteStatus::Missing),
        (1, 1, QuoteStatus::Found),
        (1, 2, QuoteStatus::Found),
        (1, 3, QuoteStatus::Missing),
        (2, 4, QuoteStatus::Found),
        (3, 6, QuoteStatus::Found),
        (3, 7, QuoteStatus::Missing),
    ] {
        assert_eq!(QuoteStatus::of(n_found, n_quotes), expected, "{n_found} of {n_quotes}");
    }
}

fn compare_scores(criteria: &str, grades: &str) -> Result<Vec<(String, f64)>, NotComparable> {
    let outcomes = outcomes(grades);
    let answers: Vec<QuestionAnswer<'_>> =
        outcomes.iter().map(|outcome| QuestionAnswer { outcome, quote: QuoteStatus::NotAsked }).collect();
    let scores = scores_to_compare(&rubric(criteria), &answers)?;
    Ok(scores.into_iter().map(|scored| (scored.names[0].clone(), scored.score)).collect())
}

#[test]
fn candidates_are_compared_by_complete_scores_alone() {
    let named =
        |pairs: &[(&str, f64)]| Ok(pairs.iter().map(|(name, score)| ((*name).to_owned(), *score)).collect());
    let refused =
        |criterion: &str, deferred| Err(NotComparable { criterion: criterion.to_owned(), deferred });
    assert_eq!(compare_scores("a, b", "1 0.5"), named(&[("a", 1.0), ("b", 0.5)]));
    // What does not apply is left out; what is not known is no score.
    assert_eq!(compare_scores("a, b", "na 0.5"), named(&[("b", 0.5)]));
    assert_eq!(compare_scores("a, b", "1 ?"), refused("b", false));
    assert_eq!(compare_scores("a skip, b", "? 1"), refused("a", false));
    assert_eq!(compare_scores("a, b", "1 failed"), refused("b", false));
    assert_eq!(compare_scores("a, b", "deferred 1"), refused("a", true));
    // A failure of one criterion says nothing about the one after it.
    assert_eq!(compare_scores("(a, b), c", "1 failed 1"), refused("g-a", false));
    assert_eq!(compare_scores("(a, b), c", "1 deferred 1"), refused("g-a", true));
}

#[test]
fn a_verdict_from_outcomes_needs_all_of_them() {
    let rubric = rubric("a, b");
    let all = outcomes("1 0.5");
    let outcome = |id: &str| all.get(usize::from(id == "b")).cloned();
    assert_eq!(verdict_from_outcomes(&rubric, outcome), Some(say(&rubric, "1 0.5")));
    assert_eq!(verdict_from_outcomes(&rubric, |id| outcome(id).filter(|_| id == "a")), None);
}
