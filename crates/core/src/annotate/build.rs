//! From what a file asks of people to what one of them is asked.

use super::{ErrorCategory, FormCriterion, NotesField, ScalePoint, Scheme, SchemeKind, SeverityLevel};
use crate::rubric::{CriterionKind, GraderKind, NodeAnswers, Question, Rubric, Scale, Value};
use crate::suite;

/// The schemes of an annotation task. Steps come first: an annotator who has marked each step gives a better overall
/// rating.
pub fn build_schemes(annotation: &suite::AnnotationTask) -> Vec<Scheme> {
    let (mut steps, rest): (Vec<_>, Vec<_>) = annotation
        .schemes
        .iter()
        .map(|scheme| build_scheme(scheme, annotation.shows_score))
        .partition(|scheme| matches!(scheme.kind, SchemeKind::Trajectory { .. }));
    steps.extend(rest);
    steps
}

/// One scheme with everything in a rubric that people answer; `None` if there is nothing.
///
/// These are the criteria with `by: human`. If there are none, they are all criteria that a judge is asked about, so
/// that human answers can be compared with the judge's.
pub fn schemes_of_rubric(rubric: &Rubric, name: &str, shows_score: bool) -> Option<Scheme> {
    let is_human = |question: &Question<'_>| question.criterion.by.contains(&GraderKind::Human);
    let any_human = rubric.questions().any(|question| is_human(&question));
    let is_asked = |question: &Question<'_>| match question.criterion.ask {
        CriterionKind::Check(_) | CriterionKind::Group(_) => false,
        CriterionKind::Question(_) | CriterionKind::Recipe(_) | CriterionKind::Tree(_) => {
            !any_human || is_human(question)
        }
    };
    let criteria: Vec<FormCriterion> =
        rubric.questions().filter(is_asked).map(|question| criterion_from_question(&question)).collect();
    let shows_score = shows_score && is_one_scale(&criteria);
    let kind = SchemeKind::Rubric { criteria, overall: None, notes: None, shows_score };
    let scheme = Scheme {
        name: name.to_owned(),
        description: rubric.description.clone(),
        required: true,
        shown_when: None,
        kind,
    };
    matches!(&scheme.kind, SchemeKind::Rubric { criteria, .. } if !criteria.is_empty()).then_some(scheme)
}

fn build_scheme(scheme: &suite::TaskScheme, shows_score: bool) -> Scheme {
    let kind = match &scheme.kind {
        suite::TaskSchemeKind::Rubric { rubric, overall, notes, may_skip } => {
            let criteria = rubric
                .questions()
                .map(|question| FormCriterion { may_skip: *may_skip, ..criterion_from_question(&question) })
                .collect();
            build_rubric_scheme(criteria, overall.as_ref(), notes.as_ref(), shows_score)
        }
        suite::TaskSchemeKind::Trajectory(it) => SchemeKind::Trajectory {
            steps: Vec::new(),
            marks: it.marks.clone(),
            errors: it
                .errors
                .iter()
                .map(|error| ErrorCategory { category: error.category.clone(), types: error.types.clone() })
                .collect(),
            severities: it
                .severities
                .iter()
                .map(|severity| SeverityLevel { name: severity.name.clone(), weight: severity.weight })
                .collect(),
            initial: it.initial,
        },
        suite::TaskSchemeKind::Pairwise { labels, tie_label, .. } => {
            SchemeKind::Pairwise { labels: labels.clone(), tie_label: tie_label.clone() }
        }
        suite::TaskSchemeKind::Likert { size, min_label, max_label } => {
            SchemeKind::Likert { size: *size, min_label: min_label.clone(), max_label: max_label.clone() }
        }
        suite::TaskSchemeKind::Slider { min, max, step, start, min_label, max_label } => SchemeKind::Slider {
            min: *min,
            max: *max,
            step: *step,
            start: *start,
            min_label: min_label.clone(),
            max_label: max_label.clone(),
        },
        suite::TaskSchemeKind::Choice { labels, dropdown, many, limits } => {
            SchemeKind::Choice { labels: labels.clone(), many: *many, dropdown: *dropdown, limits: *limits }
        }
        suite::TaskSchemeKind::Text { multiline, placeholder, limits } => {
            SchemeKind::Text { multiline: *multiline, placeholder: placeholder.clone(), limits: *limits }
        }
    };
    Scheme {
        name: scheme.name.clone(),
        description: scheme.description.clone(),
        required: scheme.required,
        shown_when: scheme.shown_when.clone(),
        kind,
    }
}

fn build_rubric_scheme(
    criteria: Vec<FormCriterion>,
    overall: Option<&suite::Overall>,
    notes: Option<&suite::Notes>,
    shows_score: bool,
) -> SchemeKind {
    let overall = overall.and_then(|overall| {
        let mut points = criteria.first()?.points.clone();
        for point in &mut points {
            point.text = match &point.value {
                Value::Number(at) => overall.levels.get(&(*at as i64)).cloned(),
                _ => None,
            };
        }
        Some(FormCriterion {
            name: "overall".to_owned(),
            label: overall.label.clone().unwrap_or_else(|| "Overall".to_owned()),
            description: overall.description.clone(),
            weight: 0.0,
            points,
            may_skip: false,
        })
    });
    let notes = notes.map(|notes| NotesField {
        label: notes.label.clone().unwrap_or_else(|| "Notes".to_owned()),
        placeholder: notes.placeholder.clone(),
    });
    SchemeKind::Rubric { criteria, overall, notes, shows_score }
}

fn criterion_from_question(question: &Question<'_>) -> FormCriterion {
    let criterion = question.criterion;
    let name = question.id();
    let (label, description) = match question.node {
        Some(node) => (node.ask.clone(), None),
        None => {
            let description = Some(criterion.description.clone())
                .filter(|text| !text.is_empty() && text != criterion.title());
            (criterion.title().to_owned(), description)
        }
    };
    FormCriterion {
        name,
        label,
        description,
        weight: criterion.weight,
        points: scale_points(question),
        may_skip: criterion.cannot_assess.is_some(),
    }
}

/// The scale of a question, lowest first.
pub(super) fn scale_points(question: &Question<'_>) -> Vec<ScalePoint> {
    let criterion = question.criterion;
    let values: Vec<(Value, Option<String>, Option<String>)> =
        match (&question.node.map(|node| &node.answers), &criterion.ask) {
            (Some(NodeAnswers::Choices(choices)), _) => {
                choices.iter().map(|choice| (Value::Text(choice.0.clone()), None, None)).collect()
            }
            (Some(NodeAnswers::YesNo { .. }), _) => {
                ["no", "yes"].map(|text| (Value::Text(text.to_owned()), None, None)).to_vec()
            }
            (None, CriterionKind::Question(scale)) => scale_values(scale),
            // A recipe answers on 0..=1.
            _ => scale_values(&Scale::Unit),
        };
    let level = |value: &Value| {
        criterion.levels.iter().find(|(point, _)| point == value).map(|(_, text)| text.clone())
    };
    values
        .into_iter()
        .map(|(value, label, text)| {
            let unit = question.unit(&value).ok().flatten();
            ScalePoint { text: level(&value).or(text), value, label, unit }
        })
        .collect()
}

fn scale_values(scale: &Scale) -> Vec<(Value, Option<String>, Option<String>)> {
    match scale {
        Scale::Binary => vec![
            (Value::Bool(false), Some("Not met".to_owned()), None),
            (Value::Bool(true), Some("Met".to_owned()), None),
        ],
        Scale::Unit => (0..=10).map(|n| (Value::Number(f64::from(n) / 10.0), None, None)).collect(),
        Scale::Likert { min, max, labels } => {
            (*min..=*max).map(|n| (Value::Number(n as f64), labels.get(&n).cloned(), None)).collect()
        }
        Scale::Ranges(ranges) => ranges
            .iter()
            .flat_map(|range| {
                (range.from..=range.to).map(|n| (Value::Number(n as f64), None, Some(range.text.clone())))
            })
            .collect(),
        Scale::Choices(choices) => {
            let mut choices: Vec<_> = choices.iter().collect();
            choices.sort_by(|a, b| a.score.total_cmp(&b.score));
            choices.into_iter().map(|choice| (Value::Text(choice.label.clone()), None, None)).collect()
        }
    }
}

/// Whether a mean over them means anything.
pub(super) fn is_one_scale(criteria: &[FormCriterion]) -> bool {
    let ends = |criterion: &FormCriterion| match (
        criterion.points.first().map(|point| &point.value),
        criterion.points.last().map(|point| &point.value),
    ) {
        (Some(Value::Number(low)), Some(Value::Number(high))) => Some((*low, *high)),
        _ => None,
    };
    let first = criteria.first().and_then(ends);
    first.is_some() && criteria.iter().all(|criterion| ends(criterion) == first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rubric::{Criterion, Draft};

    fn rubric(criteria: Vec<Criterion>) -> Rubric {
        Rubric::new(Draft { criteria, ..Draft::default() }).unwrap()
    }

    fn criteria(scheme: &Scheme) -> &[FormCriterion] {
        let SchemeKind::Rubric { criteria, .. } = &scheme.kind else { panic!("no rubric") };
        criteria
    }

    #[test]
    fn people_are_asked_what_is_theirs_or_else_what_a_judge_would_be() {
        let mut tone = Criterion::new("tone", "It is polite.", CriterionKind::Question(Scale::likert(1, 5)));
        let clear = Criterion::new("clear", "It is clear.", CriterionKind::Question(Scale::Binary));
        let all = schemes_of_rubric(&rubric(vec![tone.clone(), clear.clone()]), "r", true).unwrap();
        assert_eq!(
            criteria(&all).iter().map(|criterion| criterion.name.as_str()).collect::<Vec<_>>(),
            ["tone", "clear"]
        );
        assert!(matches!(all.kind, SchemeKind::Rubric { shows_score: false, .. }), "two scales have no mean");
        tone.by = vec![GraderKind::Judge, GraderKind::Human];
        let theirs = schemes_of_rubric(&rubric(vec![tone, clear]), "r", true).unwrap();
        assert_eq!(criteria(&theirs).len(), 1);
        let units: Vec<Option<f64>> = criteria(&theirs)[0].points.iter().map(|point| point.unit).collect();
        assert_eq!(units, [0.0, 0.25, 0.5, 0.75, 1.0].map(Some));
    }
}
