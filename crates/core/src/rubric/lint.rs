//! Advice on valid rubrics: what makes graders disagree, and what does nothing.

use std::collections::HashSet;

use super::{Aggregation, AnswerTarget, Criterion, CriterionKind, GraderKind, NodeAnswers, Rubric, Scale};
use crate::diagnostic::Code;

/// One piece of advice, at the place a [`super::RubricFault`] would have.
#[derive(Debug, Clone, PartialEq)]
pub struct Advice {
    pub at: Vec<usize>,
    pub key: &'static str,
    pub code: Code,
    pub message: String,
    pub help: &'static str,
}

/// More criteria than this and people mix them up.
const MANY: usize = 7;

/// Words that mean something else to every reader.
const VAGUE: [&str; 14] = [
    "good",
    "bad",
    "nice",
    "appropriate",
    "appropriately",
    "proper",
    "properly",
    "adequate",
    "reasonable",
    "suitable",
    "high-quality",
    "quality",
    "decent",
    "fine",
];

/// What a rubric's author might want to think about.
pub fn lint(rubric: &Rubric) -> Vec<Advice> {
    let mut advice = Vec::new();
    lint_criteria(&rubric.criteria, rubric.aggregation, &mut Vec::new(), &mut advice);
    lint_idle_thresholds(&rubric.criteria, &requirements(&rubric.criteria), &mut Vec::new(), &mut advice);
    advice
}

/// Ids that some criterion requires.
fn requirements(criteria: &[Criterion]) -> HashSet<&str> {
    let own = criteria.iter().flat_map(|criterion| criterion.requires.iter().map(String::as_str));
    own.chain(criteria.iter().flat_map(|criterion| requirements(criterion.children()))).collect()
}

/// A threshold belongs to a gate, or decides whether a requirement is met.
fn lint_idle_thresholds(
    criteria: &[Criterion],
    required: &HashSet<&str>,
    at: &mut Vec<usize>,
    advice: &mut Vec<Advice>,
) {
    for (index, criterion) in criteria.iter().enumerate() {
        at.push(index);
        let gates = criterion.required
            || criterion.min_score.is_some()
            || criterion.polarity == super::Polarity::Guard;
        if criterion.threshold.is_some() && !gates && !required.contains(criterion.id.as_str()) {
            advice.push(Advice {
                at: at.clone(),
                key: "threshold",
                code: Code::NoEffect,
                message: format!(
                    "the threshold of `{}` has no effect: the criterion is not a gate",
                    criterion.id
                ),
                help: "add `required: true`, or use `min_score`, which gates by itself",
            });
        }
        lint_idle_thresholds(criterion.children(), required, at, advice);
        at.pop();
    }
}

fn lint_criteria(
    criteria: &[Criterion],
    aggregation: Aggregation,
    at: &mut Vec<usize>,
    advice: &mut Vec<Advice>,
) {
    if MANY < criteria.len() {
        advice.push(Advice {
            at: at.clone(),
            key: "criteria",
            code: Code::TooMany,
            message: format!(
                "{} criteria in one list are too many for a grader to distinguish",
                criteria.len()
            ),
            help: "group related ones with nested `criteria:`, or drop the least important",
        });
    }
    let total: f64 = criteria.iter().map(|criterion| criterion.weight.max(0.0)).sum();
    for (index, criterion) in criteria.iter().enumerate() {
        at.push(index);
        // What code computes a score from counts by that score.
        if criterion.weight != 0.0 || !criteria.iter().any(Criterion::needs_scores) {
            lint_weight(criterion, aggregation, total, criteria.len(), at, advice);
        }
        match &criterion.ask {
            CriterionKind::Question(scale) => lint_question(criterion, scale, at, advice),
            CriterionKind::Tree(graph) => {
                for node in &graph.nodes {
                    lint_tree_node(&node.id, &node.answers, at, advice);
                }
            }
            CriterionKind::Group(group) => lint_criteria(&group.criteria, group.aggregation, at, advice),
            CriterionKind::Check(_) | CriterionKind::Recipe(_) => {}
        }
        at.pop();
    }
}

fn lint_weight(
    criterion: &Criterion,
    aggregation: Aggregation,
    total: f64,
    n_criteria: usize,
    at: &[usize],
    advice: &mut Vec<Advice>,
) {
    let gates =
        criterion.required || criterion.min_score.is_some() || criterion.polarity == super::Polarity::Guard;
    let weight = criterion.weight;
    let says_weight = (weight - 1.0).abs() > f64::EPSILON;
    let (message, help) = if weight == 0.0 && gates {
        (
            format!(
                "`{}` is a gate with weight 0: it can fail the verdict and never raise the score",
                criterion.id
            ),
            "keep it so if that is meant; otherwise give it a weight",
        )
    } else if weight == 0.0 {
        (
            format!("`{}` has weight 0, so it is graded for nothing", criterion.id),
            "give it a weight, or make it `required`, or remove it",
        )
    } else if aggregation == Aggregation::Min && says_weight {
        (
            format!("the weight of `{}` does nothing: the worst criterion is the score", criterion.id),
            "remove the weight, or aggregate by `weighted_average`",
        )
    } else if n_criteria == 1 && says_weight {
        (
            format!("the weight of `{}` has no effect: it is the only criterion", criterion.id),
            "remove the weight",
        )
    } else if aggregation == Aggregation::WeightedAverage && !gates && weight.abs() < total / 100.0 {
        (format!("`{}` moves the score by less than 0.01", criterion.id), "raise its weight, or remove it")
    } else {
        return;
    };
    advice.push(Advice { at: at.to_vec(), key: "weight", code: Code::NoEffect, message, help });
}

fn lint_question(criterion: &Criterion, scale: &Scale, at: &[usize], advice: &mut Vec<Advice>) {
    let mut say =
        |key, code, message, help| advice.push(Advice { at: at.to_vec(), key, code, message, help });
    let text = criterion.description.to_lowercase();
    let words: Vec<&str> = text
        .split(|text: char| !text.is_alphanumeric() && text != '-')
        .filter(|part| !part.is_empty())
        .collect();
    let explained =
        !criterion.levels.is_empty() || !criterion.anchors.is_empty() || matches!(scale, Scale::Ranges(_));
    if !explained && let Some(word) = words.iter().find(|word| VAGUE.contains(word)) {
        say(
            "description",
            Code::Vague,
            format!("“{word}” means something else to every grader"),
            "describe what can be observed in the candidate, or add `levels` or `examples`",
        );
    } else if !explained && words.len() < 3 {
        say(
            "description",
            Code::Vague,
            format!("the description of `{}` is too short for consistent grading", criterion.id),
            "describe what can be observed in the candidate",
        );
    }
    if asks_two_things(&text) {
        say(
            "description",
            Code::DoubleBarrelled,
            format!("`{}` asks two things at once", criterion.id),
            "split it in two: a candidate may meet one and miss the other",
        );
    }
    let points = scale.points();
    let n_described =
        points.iter().filter(|point| criterion.levels.iter().any(|(value, _)| *value == **point)).count();
    if matches!(scale, Scale::Likert { .. })
        && n_described < points.len()
        && criterion.by != [GraderKind::Check]
    {
        say(
            "levels",
            Code::MissingLevels,
            format!(
                "{} of {} scale points of `{}` have no text",
                points.len() - n_described,
                points.len(),
                criterion.id
            ),
            "describe each point: graders agree more when they know what a 3 is",
        );
    }
    for (index, (point, text)) in criterion.levels.iter().enumerate() {
        if criterion.levels[..index].iter().any(|level| level.1.trim() == text.trim()) {
            say(
                "levels",
                Code::Unreachable,
                format!(
                    "level {point} of `{}` reads like another one, so graders will not use it",
                    criterion.id
                ),
                "describe the difference",
            );
        }
    }
}

/// “… and …” between two clauses, or words that join two demands.
fn asks_two_things(text: &str) -> bool {
    if text.contains(" as well as ") || text.contains(" and also ") {
        return true;
    }
    // Lists of nouns are joined by “and” as well; two clauses are longer.
    text.split(" and ").map(|part| part.split_whitespace().count()).filter(|n| 4 <= *n).count() >= 2
        && !text.contains(" between ")
        && !text.contains(" both ")
}

fn lint_tree_node(id: &str, answers: &NodeAnswers, at: &[usize], advice: &mut Vec<Advice>) {
    let targets: Vec<&AnswerTarget> = answers.targets().map(|(_, target)| target).collect();
    if targets.windows(2).all(|answer_targets| answer_targets[0] == answer_targets[1]) {
        advice.push(Advice {
            at: at.to_vec(),
            key: "tree",
            code: Code::NoEffect,
            message: format!("every answer to `{id}` leads to the same place"),
            help: "remove the question, or let its answers differ",
        });
    }
}
