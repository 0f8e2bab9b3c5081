//! Results of an annotation task: means in the units of each scale with their intervals, over all items or by any field
//! of the data.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value as Json;

use crate::annotate::{
    Answer, AnswerDraft, Rating, ScalePoint, Scheme, SchemeKind, collect_question_ratings, find_numeric_ends,
    rating_unit, running_score, weighted_score,
};
use crate::grade::{MetadataFields, part_of};
use crate::rubric::Value;
use crate::stats::summaries::{ScoreEntry, ScoreField, ScoreTable};

/// What one person submitted about one item.
#[derive(Debug, Clone)]
pub struct SubmittedAnswer<'a> {
    pub candidate: &'a str,
    pub annotator: &'a str,
    pub schemes: &'a [Scheme],
    pub draft: &'a AnswerDraft,
    /// What is known of the item, such as the agent that produced it.
    pub fields: &'a MetadataFields,
}

/// Annotations of a task.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TaskResults {
    pub n_answers: usize,
    pub n_items: usize,
    pub n_people: usize,
    /// Over all annotations.
    pub questions: Vec<QuestionResult>,
    /// By the value of the requested field.
    pub groups: Vec<ResultGroup>,
    /// Fields for grouping.
    pub fields: Vec<String>,
}

/// The answers whose field has one value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ResultGroup {
    pub value: String,
    pub n_answers: usize,
    pub questions: Vec<QuestionResult>,
}

/// What people said to one question, or a score that follows from their answers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QuestionResult {
    pub scheme: String,
    pub name: String,
    pub label: String,
    pub kind: QuestionKind,
    /// The ends of its scale, where answers are numbers.
    pub scale: Option<(f64, f64)>,
    /// In the units of the scale.
    pub mean: Option<f64>,
    /// Where the mean may really lie, in 95 of 100 cases; items count once, however many people rated them.
    pub interval: Option<(f64, f64)>,
    pub n_scored: usize,
    pub n_not_applicable: usize,
    /// Annotators who could not tell.
    pub n_abstained: usize,
    /// How often each answer was given, where answers are labels.
    pub counts: BTreeMap<String, usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionKind {
    Criterion,
    /// A rating of the whole.
    Overall,
    /// Follows from the ratings and their weights.
    WeightedScore,
    /// What is left after mistakes in steps.
    RunningScore,
    /// An answer without an order, of which there are counts.
    Choice,
}

/// What people said, over everything and by the value of one field.
pub fn compute_task_results(answers: &[SubmittedAnswer<'_>], by: Option<&str>) -> TaskResults {
    let count = |name: &dyn Fn(&SubmittedAnswer<'_>) -> String| {
        answers.iter().map(name).collect::<BTreeSet<String>>().len()
    };
    let mut groups: Vec<(String, Vec<&SubmittedAnswer<'_>>)> = Vec::new();
    for answer in answers {
        // An item with several tags counts for each of them.
        for value in by.map(|by| field_values(answer.fields, by)).unwrap_or_default() {
            match groups.iter_mut().find(|(known, _)| *known == value) {
                Some((_, members)) => members.push(answer),
                None => groups.push((value, vec![answer])),
            }
        }
    }
    groups.sort_by(|(a, _), (b, _)| a.cmp(b));
    let group = |(value, of_value): (String, Vec<&SubmittedAnswer<'_>>)| ResultGroup {
        value,
        n_answers: of_value.len(),
        questions: question_results(&of_value),
    };
    TaskResults {
        n_answers: answers.len(),
        n_items: count(&|answer| answer.candidate.to_owned()),
        n_people: count(&|answer| answer.annotator.to_owned()),
        questions: question_results(&answers.iter().collect::<Vec<_>>()),
        groups: groups.into_iter().map(group).collect(),
        fields: fields_of(answers),
    }
}

/// The values of a field; a dot leads into what is nested, and a list is several.
fn field_values(fields: &MetadataFields, name: &str) -> Vec<String> {
    let nested = || {
        let (first, rest) = name.split_once('.')?;
        fields.get(first)?.get(rest)
    };
    let text = |value: &Json| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match fields.get(name).or_else(nested) {
        None | Some(Json::Null | Json::Object(_)) => Vec::new(),
        Some(Json::Array(values)) => values.iter().map(text).collect(),
        Some(one) => vec![text(one)],
    }
}

/// Names of fields that tell answers apart: with more than one value, and with fewer values than items.
fn fields_of(answers: &[SubmittedAnswer<'_>]) -> Vec<String> {
    let mut values: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut candidates: BTreeSet<&str> = BTreeSet::new();
    for answer in answers {
        candidates.insert(answer.candidate);
        for (name, value) in answer.fields {
            let names = match value {
                Json::Object(inside) => inside.keys().map(|key| format!("{name}.{key}")).collect(),
                _ => vec![name.clone()],
            };
            for name in names {
                let of_field = field_values(answer.fields, &name);
                values.entry(name).or_default().extend(of_field);
            }
        }
    }
    let tells_apart = |values: &BTreeSet<String>| 1 < values.len() && values.len() < candidates.len();
    values.into_iter().filter(|(_, values)| tells_apart(values)).map(|(name, _)| name).collect()
}

/// What is gathered about one question.
struct QuestionAccumulator {
    result: QuestionResult,
    /// Positions on the scale, from 0 to 1, by item.
    positions: ScoreTable,
}

/// Questions in the order in which they are asked.
fn question_results(answers: &[&SubmittedAnswer<'_>]) -> Vec<QuestionResult> {
    let mut all: Vec<QuestionAccumulator> = Vec::new();
    for answer in answers {
        gather_ratings(answer, &mut all);
        gather_scores(answer, &mut all);
    }
    let finish = |gathered: QuestionAccumulator| {
        let QuestionAccumulator { mut result, positions } = gathered;
        let described = positions.describe_by(ScoreField::Criterion).into_iter().next();
        if let (Some((_, summary)), Some((low, high))) = (described, result.scale) {
            let native = |position: f64| low + position * (high - low);
            result.mean = Some(native(summary.estimate.mean));
            let interval = summary.estimate.interval.filter(|(low, high)| low < high);
            result.interval = interval.map(|(low, high)| (native(low), native(high)));
        }
        result
    };
    all.into_iter().map(finish).collect()
}

/// The answers of an annotator, question by question; parts of a total are left to the total.
fn gather_ratings(answer: &SubmittedAnswer<'_>, all: &mut Vec<QuestionAccumulator>) {
    for it in collect_question_ratings(answer.schemes, answer.draft) {
        let kind = answer.schemes.iter().find(|scheme| scheme.name == it.scheme).map(|scheme| &scheme.kind);
        // A step of one item is not that of another; the running score sums them up.
        let is_left_out = matches!(kind, Some(SchemeKind::Trajectory { .. }))
            || (matches!(kind, Some(SchemeKind::Verify { .. })) && part_of(&it.criterion).is_some());
        if is_left_out {
            continue;
        }
        let scale = scale_of(kind, &it.points);
        let kind = match kind {
            Some(SchemeKind::Rubric { overall: Some(overall), criteria, .. })
                if overall.name == it.criterion
                    && !criteria.iter().any(|known| known.name == it.criterion) =>
            {
                QuestionKind::Overall
            }
            _ if scale.is_none() => QuestionKind::Choice,
            _ => QuestionKind::Criterion,
        };
        let gathered = find_or_add_question(all, (it.scheme, &it.criterion, &it.label), kind, scale);
        match &it.rating {
            Rating::NotApplicable => gathered.result.n_not_applicable += 1,
            Rating::Abstained => gathered.result.n_abstained += 1,
            Rating::Scored { value } => {
                gathered.result.n_scored += 1;
                let unit = scale.and_then(|scale| answer_position(value, &it.rating, &it.points, scale));
                if let Some(unit) = unit {
                    gathered.positions.push(&build_score_entry(answer, unit));
                }
                // Labels with a score have a mean, which does not say how often each was chosen.
                if unit.is_none() || matches!(value, Value::Text(_)) {
                    *gathered.result.counts.entry(value.to_string()).or_default() += 1;
                }
            }
        }
    }
}

/// Scores that follow from the answers of an annotator.
fn gather_scores(answer: &SubmittedAnswer<'_>, all: &mut Vec<QuestionAccumulator>) {
    for scheme in answer.schemes {
        let (name, kind, scale, score) = match (&scheme.kind, answer.draft.get(&scheme.name)) {
            (SchemeKind::Rubric { criteria, .. }, Some(Answer::Rubric { criteria: rated, .. })) => {
                let scale = criteria.first().and_then(|criterion| find_numeric_ends(&criterion.points));
                ("weighted_score", QuestionKind::WeightedScore, scale, weighted_score(criteria, rated))
            }
            (kind @ SchemeKind::Trajectory { initial, .. }, Some(Answer::Trajectory { steps })) => {
                let scale = Some((0.0, *initial)).filter(|_| 0.0 < *initial);
                ("score", QuestionKind::RunningScore, scale, running_score(kind, steps))
            }
            _ => continue,
        };
        let (Some((low, high)), Some(score)) = (scale, score) else { continue };
        let label = if kind == QuestionKind::WeightedScore { "Weighted score" } else { "Running score" };
        let gathered = find_or_add_question(all, (&scheme.name, name, label), kind, scale);
        gathered.result.n_scored += 1;
        gathered.positions.push(&build_score_entry(answer, (score - low) / (high - low)));
    }
}

fn find_or_add_question<'a>(
    all: &'a mut Vec<QuestionAccumulator>,
    (scheme, name, label): (&str, &str, &str),
    kind: QuestionKind,
    scale: Option<(f64, f64)>,
) -> &'a mut QuestionAccumulator {
    let is_same = |known: &QuestionAccumulator| {
        (known.result.scheme.as_str(), known.result.name.as_str()) == (scheme, name)
            && known.result.kind == kind
    };
    let at = all.iter().position(is_same).unwrap_or_else(|| {
        let result = QuestionResult {
            scheme: scheme.to_owned(),
            name: name.to_owned(),
            label: label.to_owned(),
            kind,
            scale,
            mean: None,
            interval: None,
            n_scored: 0,
            n_not_applicable: 0,
            n_abstained: 0,
            counts: BTreeMap::new(),
        };
        all.push(QuestionAccumulator { result, positions: ScoreTable::default() });
        all.len() - 1
    });
    &mut all[at]
}

/// Answers about one item are not independent.
fn build_score_entry<'a>(answer: &SubmittedAnswer<'a>, unit: f64) -> ScoreEntry<'a> {
    let (case, candidate) = (answer.candidate, answer.annotator);
    ScoreEntry { case, candidate, grader: "", criterion: "", file: "", group: "", unit }
}

/// The ends of a scale: its own numbers, 0 and 1 where its answers are worth something, nothing for mere labels.
fn scale_of(kind: Option<&SchemeKind>, points: &[ScalePoint]) -> Option<(f64, f64)> {
    if let Some(SchemeKind::Likert { size, .. }) = kind {
        return Some((1.0, f64::from(*size)));
    }
    let is_worth = !points.is_empty() && points.iter().all(|point| point.unit.is_some());
    find_numeric_ends(points).or_else(|| is_worth.then_some((0.0, 1.0)))
}

/// Where an answer lies on its scale, from 0 to 1.
fn answer_position(
    value: &Value,
    rating: &Rating,
    points: &[ScalePoint],
    (low, high): (f64, f64),
) -> Option<f64> {
    match value {
        Value::Number(number) => Some((number - low) / (high - low)),
        Value::Bool(_) | Value::Text(_) => rating_unit(points, rating),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::annotate::FormCriterion;
    use crate::annotate::Rated;

    #[test]
    fn labels_with_a_score_have_a_mean_and_counts() {
        let points = [("stilted", 0.0), ("chatty", 0.5), ("plain", 1.0)].map(|(label, unit)| ScalePoint {
            value: Value::Text(label.to_owned()),
            label: None,
            text: None,
            unit: Some(unit),
        });
        let criterion = FormCriterion {
            name: "style".to_owned(),
            label: "Style".to_owned(),
            description: None,
            weight: 1.0,
            points: points.to_vec(),
            may_skip: false,
        };
        let kind =
            SchemeKind::Rubric { criteria: vec![criterion], overall: None, notes: None, shows_score: false };
        let schemes =
            [Scheme { name: "rubric".to_owned(), description: None, required: true, shown_when: None, kind }];
        let drafts = ["plain", "chatty", "plain"].map(|label| {
            let rated = Rated::of(Value::Text(label.to_owned()));
            let criteria = BTreeMap::from([("style".to_owned(), rated)]);
            AnswerDraft::from([(
                "rubric".to_owned(),
                Answer::Rubric { criteria, overall: None, notes: None },
            )])
        });
        let fields = MetadataFields::new();
        let submitted = drafts.iter().zip(["ana", "ben", "cleo"]).map(|(draft, annotator)| SubmittedAnswer {
            candidate: "a1",
            annotator,
            schemes: &schemes,
            draft,
            fields: &fields,
        });
        let results = compute_task_results(&submitted.collect::<Vec<_>>(), None);
        let style = &results.questions[0];
        assert_eq!((style.kind, style.n_scored), (QuestionKind::Criterion, 3));
        assert!(style.mean.is_some_and(|mean| (mean - 2.5 / 3.0).abs() < 1e-9), "{style:?}");
        assert_eq!(style.counts, BTreeMap::from([("chatty".to_owned(), 1), ("plain".to_owned(), 2)]));
    }
}
