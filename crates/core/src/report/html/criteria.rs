//! What each criterion came to over all cases.

use std::collections::BTreeMap;

use crate::grade::Outcome;
use crate::report::Rubrics;
use crate::rubric::{CriterionKind, Question, Rubric, WHOLE};
use crate::run::{CaseResult, Run};

/// A criterion over all cases.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mean {
    pub name: CriterionName,
    /// On 0..=1, best is 1; absent when no grader could score it.
    pub mean: Option<f64>,
    /// How many cases it was scored in; the trials of one are one.
    pub n: usize,
    /// Whether it was asked in every case that was graded.
    pub shared: bool,
}

/// What a criterion is known by. Two rubrics may call different things the same: of a text and of a tree, the
/// whole.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CriterionName {
    pub id: String,
    /// What to call it; of what must not hold, its absence is what is scored.
    pub label: String,
    /// It must not hold, so that its mean is not on the scale of its answers.
    pub is_negative: bool,
}

/// What is counted of a criterion on the way.
#[derive(Default)]
struct CriterionSum {
    place: usize,
    n_cases: usize,
    n_scored: f64,
    /// Trials of one case follow each other.
    last: Option<String>,
}

/// Every criterion, in the order in which the cases name them. A tree is one of them.
pub(super) fn compute_criterion_means(run: &Run, rubrics: &Rubrics) -> Vec<Mean> {
    let mut means: Vec<Mean> = Vec::new();
    let mut sums: BTreeMap<CriterionName, CriterionSum> = BTreeMap::new();
    let mut n_graded = 0;
    for result in run.results.iter() {
        let scored = case_criterion_scores(run, rubrics, &result);
        n_graded += usize::from(!scored.is_empty());
        for (name, worth) in scored {
            let sum = sums.entry(name).or_insert_with_key(|name| {
                means.push(Mean { name: name.clone(), mean: None, n: 0, shared: false });
                CriterionSum { place: means.len() - 1, ..CriterionSum::default() }
            });
            sum.n_cases += 1;
            if let Some(worth) = worth {
                let it = &mut means[sum.place];
                sum.n_scored += 1.0;
                let mean = it.mean.unwrap_or(0.0);
                it.mean = Some(mean + (worth - mean) / sum.n_scored);
                if sum.last.as_deref() != Some(result.base()) {
                    it.n += 1;
                    sum.last = Some(result.base().to_owned());
                }
            }
        }
    }
    for sum in sums.into_values() {
        means[sum.place].shared = sum.n_cases == n_graded;
    }
    means
}

/// What each criterion of a case is worth to its score, where it was scored; several graders count as their mean.
pub(super) fn case_criterion_scores(
    run: &Run,
    rubrics: &Rubrics,
    result: &CaseResult,
) -> Vec<(CriterionName, Option<f64>)> {
    let mut scores: Vec<(String, Vec<f64>)> = Vec::new();
    let mut add = |id: &str, worth: Option<f64>| match scores.iter_mut().find(|(known, _)| known == id) {
        Some((_, all)) => all.extend(worth),
        None => scores.push((id.to_owned(), worth.into_iter().collect())),
    };
    let rubric = rubrics.get(&result.rubric);
    for grade in &result.grades {
        match find_rubric_question(rubric, &grade.criterion) {
            // A node leads somewhere; what it leads to is the score.
            Some(Question { criterion, node: Some(_) }) => add(&criterion.id, None),
            _ => add(&grade.criterion, worth(run, result, &grade.criterion, &grade.outcome)),
        }
    }
    for step in &result.verdict.path {
        let tree =
            find_rubric_question(rubric, &step.node).map_or(WHOLE, |question| question.criterion.id.as_str());
        if step.score.is_some() {
            add(tree, step.score);
        }
    }
    let mean =
        |values: Vec<f64>| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
    let name = |id: String| CriterionName {
        label: criterion_label(run, rubrics, result, &id),
        is_negative: run.is_negative(result, &id),
        id,
    };
    scores.into_iter().map(|(id, worths)| (name(id), mean(worths))).collect()
}

/// What an outcome is worth: of what must not hold, none at all is best.
pub(super) fn worth(run: &Run, result: &CaseResult, id: &str, outcome: &Outcome) -> Option<f64> {
    let unit = outcome.unit().filter(|unit| (0.0..=1.0).contains(unit))?;
    Some(if run.is_negative(result, id) { 1.0 - unit } else { unit })
}

pub(super) fn find_rubric_question<'a>(rubric: Option<&'a Rubric>, id: &str) -> Option<Question<'a>> {
    rubric?.questions().nth(rubric?.position(id)?)
}

fn criterion_label(run: &Run, rubrics: &Rubrics, result: &CaseResult, id: &str) -> String {
    let rubric = rubrics.get(&result.rubric);
    let is_tree = rubric.is_some_and(|rubric| {
        rubric.criteria.iter().any(|criterion| matches!(criterion.ask, CriterionKind::Tree(_)))
    });
    let question = find_rubric_question(rubric, id);
    let title = match question {
        _ if id == WHOLE && (is_tree || !result.verdict.path.is_empty()) => "decision path",
        _ if id == WHOLE => "rubric as a whole",
        Some(it) => it.criterion.title(),
        None => id,
    };
    if run.worth_name(result, id) == id { title.to_owned() } else { format!("not {title}") }
}
