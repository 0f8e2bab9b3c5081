//! What each criterion came to over all cases.

use std::collections::BTreeMap;

use crate::grade::Outcome;
use crate::report::Rubrics;
use crate::report::is_bad;
use crate::rubric::{Question, Rubric, WHOLE};
use crate::run::{CaseResult, Run};

/// A criterion over all cases.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mean {
    pub id: String,
    /// What to call it; of what must not hold, its absence is what is scored.
    pub label: String,
    /// On 0..=1, best is 1; absent when nobody could score it.
    pub mean: Option<f64>,
    /// How many cases it was scored in.
    pub n: usize,
    /// Whether it was asked in every case that was graded.
    pub shared: bool,
}

/// Every criterion, in the order in which the cases name them. A tree is one of them.
pub(super) fn means(run: &Run, rubrics: &Rubrics) -> Vec<Mean> {
    let mut found: Vec<Mean> = Vec::new();
    let mut place: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let mut n_graded = 0;
    for result in &run.results {
        let asked = asked(run, rubrics, result);
        n_graded += usize::from(!asked.is_empty());
        for (id, worth) in asked {
            let (at, n_asked) = place.entry(id.clone()).or_insert_with(|| {
                let label = label(run, rubrics, result, &id);
                found.push(Mean { id, label, mean: None, n: 0, shared: false });
                (found.len() - 1, 0)
            });
            *n_asked += 1;
            if let Some(worth) = worth {
                let it = &mut found[*at];
                it.n += 1;
                let mean = it.mean.unwrap_or(0.0);
                it.mean = Some(mean + (worth - mean) / it.n as f64);
            }
        }
    }
    for (at, n_asked) in place.into_values() {
        found[at].shared = n_asked == n_graded;
    }
    found
}

/// What each criterion of a case is worth to its score, where it was scored; several graders count as their mean.
pub(super) fn asked(run: &Run, rubrics: &Rubrics, result: &CaseResult) -> Vec<(String, Option<f64>)> {
    let mut asked: Vec<(String, Vec<f64>)> = Vec::new();
    let mut add = |id: &str, worth: Option<f64>| match asked.iter_mut().find(|it| it.0 == id) {
        Some(it) => it.1.extend(worth),
        None => asked.push((id.to_owned(), worth.into_iter().collect())),
    };
    let rubric = rubrics.get(&result.rubric);
    for grade in &result.grades {
        match question(rubric, &grade.criterion) {
            // A node leads somewhere; what it leads to is the score.
            Some(Question { criterion, node: Some(_) }) => add(&criterion.id, None),
            _ => add(&grade.criterion, worth(run, result, &grade.criterion, &grade.outcome)),
        }
    }
    for step in &result.verdict.path {
        let tree = question(rubric, &step.node).map_or(WHOLE, |it| it.criterion.id.as_str());
        if step.score.is_some() {
            add(tree, step.score);
        }
    }
    let mean = |it: Vec<f64>| (!it.is_empty()).then(|| it.iter().sum::<f64>() / it.len() as f64);
    asked.into_iter().map(|(id, worths)| (id, mean(worths))).collect()
}

/// What an outcome is worth: of what must not hold, none at all is best.
pub(super) fn worth(run: &Run, result: &CaseResult, id: &str, outcome: &Outcome) -> Option<f64> {
    let unit = outcome.unit().filter(|it| (0.0..=1.0).contains(it))?;
    let bad = run.rubrics.get(&result.rubric).is_some_and(|it| is_bad(it, id));
    Some(if bad { 1.0 - unit } else { unit })
}

pub(super) fn question<'a>(rubric: Option<&'a Rubric>, id: &str) -> Option<Question<'a>> {
    rubric?.questions().nth(rubric?.position(id)?)
}

fn label(run: &Run, rubrics: &Rubrics, result: &CaseResult, id: &str) -> String {
    let question = question(rubrics.get(&result.rubric), id);
    let title = match question {
        _ if id == WHOLE && !result.verdict.path.is_empty() => "decision path",
        _ if id == WHOLE => "rubric as a whole",
        Some(it) => it.criterion.title(),
        None => id,
    };
    let bad = run.rubrics.get(&result.rubric).is_some_and(|it| is_bad(it, id));
    if bad { format!("not {title}") } else { title.to_owned() }
}
