//! Answers as scores from 0 to 1, and one score for each candidate.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use jurist_core::grade::{Grade, Outcome};
use jurist_core::quantity::plural;
use jurist_core::rubric::Value;

use super::row_names::find_names_without_row;
use crate::reporting::printable_line;

/// The scale on which scores are computed.
pub const UNIT_SCALE: (f64, f64) = (0.0, 1.0);

/// The ends of a scale, such as `1-5`.
pub fn parse_scale_ends(text: &str) -> Result<(f64, f64), String> {
    let ends = text.split_once('-').and_then(|(low, high)| Some((low.parse().ok()?, high.parse().ok()?)));
    ends.filter(|(low, high)| low < high)
        .ok_or_else(|| "the lowest and highest value of a scale, such as 1-5".to_owned())
}

/// An answer on 0..=1: as it was scored, or by the ends of its scale. Values outside the given scale are left out and
/// counted; without a scale, its meaning is unknown.
pub fn unit_score(
    grade: &Grade,
    scale: Option<(f64, f64)>,
    n_off_scale: &mut usize,
) -> anyhow::Result<Option<f64>> {
    let Outcome::Scored { value, unit } = &grade.outcome else { return Ok(None) };
    unit_of_value((&grade.criterion, &grade.candidate), value, *unit, scale, n_off_scale)
}

/// The same of an answer to a criterion about a candidate.
pub fn unit_of_value(
    (criterion, candidate): (&str, &str),
    value: &Value,
    unit: Option<f64>,
    scale: Option<(f64, f64)>,
    n_off_scale: &mut usize,
) -> anyhow::Result<Option<f64>> {
    let number = match (unit, value, scale) {
        (Some(unit), ..) => unit,
        (None, Value::Bool(is_yes), _) => f64::from(u8::from(*is_yes)),
        (None, Value::Number(number), Some((low, high))) => (number - low) / (high - low),
        (None, Value::Number(number), None) => *number,
        (None, Value::Text(_), _) => return Ok(None),
    };
    if (0.0..=1.0).contains(&number) {
        return Ok(Some(number));
    }
    *n_off_scale += 1;
    anyhow::ensure!(
        scale.is_some(),
        "`{criterion}` of `{candidate}` is {value}, which is not between 0 and 1; set the scale, such as --scale 1-5"
    );
    Ok(None)
}

/// A score of the command line, which is on 0 to 1 whatever the scale of the ratings is.
pub fn parse_unit_score(text: &str) -> Result<f64, String> {
    let score = text.parse().ok().filter(|score| (0.0..=1.0).contains(score));
    score.ok_or_else(|| "a number from 0 to 1; a 4 on a scale of 1 to 5 is 0.75".to_owned())
}

/// Says how many answers were left out because they are not on the scale.
pub fn off_scale_note(n: usize, scale: Option<(f64, f64)>) -> Option<String> {
    let (low, high) = scale.filter(|_| 0 < n)?;
    let verb = if n == 1 { "is" } else { "are" };
    Some(format!("{} {verb} not between {low} and {high} and excluded.", plural(n, "answer")))
}

/// One number for each candidate on one criterion: the mean of its graders.
pub struct CandidateScores {
    pub criterion: String,
    pub numbers: BTreeMap<String, f64>,
    /// The scores behind each number.
    pub scores: BTreeMap<String, Vec<f64>>,
    /// Candidates that were graded and have no number.
    pub without: Vec<String>,
    pub n_off_scale: usize,
    /// The scale on which the grades were given, where it is known and is not 0 to 1.
    pub scale: Option<(f64, f64)>,
    /// What each choice is worth from 0 to 1, for a criterion of choices.
    pub choices: ChoiceScores,
}

/// What each choice of a criterion is worth from 0 to 1.
pub type ChoiceScores = BTreeMap<String, f64>;

/// The candidates that pass at a pass mark, by the majority of their graders.
pub struct MajorityPasses {
    pub passes: BTreeMap<String, bool>,
    /// Candidates on which as many pass as fail.
    pub ties: Vec<String>,
}

impl CandidateScores {
    /// Names judged cases as their labels do.
    #[must_use]
    pub fn named_as(self, people: &Self) -> Self {
        let candidates = |scores: &Self| -> BTreeSet<String> {
            scores.numbers.keys().chain(&scores.without).cloned().collect()
        };
        let names = find_names_without_row(&candidates(&self), &candidates(people));
        let rename = |name: String| names.get(&name).cloned().unwrap_or(name);
        Self {
            numbers: self.numbers.into_iter().map(|(name, number)| (rename(name), number)).collect(),
            scores: self.scores.into_iter().map(|(name, scores)| (rename(name), scores)).collect(),
            without: self.without.into_iter().map(rename).collect(),
            ..self
        }
    }

    /// Decides each candidate at a pass mark by majority. A tie has none.
    pub fn decide_by_majority(&self, pass_mark: f64) -> MajorityPasses {
        let mut decided = MajorityPasses { passes: BTreeMap::new(), ties: Vec::new() };
        for (candidate, scores) in &self.scores {
            let n_passes = scores.iter().filter(|score| is_at_pass_mark(**score, pass_mark)).count();
            match (2 * n_passes).cmp(&scores.len()) {
                Ordering::Equal => decided.ties.push(candidate.clone()),
                more_or_fewer => {
                    decided.passes.insert(candidate.clone(), more_or_fewer == Ordering::Greater);
                }
            }
        }
        decided
    }
}

/// Whether a score reaches a pass mark, which it may miss by what computers round.
fn is_at_pass_mark(score: f64, pass_mark: f64) -> bool {
    pass_mark - 1e-9 <= score
}

/// How to resolve a tie between people.
pub const TIE_ADVICE: &str = "a third person or a decision on the page Disputes";

/// A note about candidates without a label, because as many people pass them as fail them.
pub fn pass_mark_ties_note(n: usize) -> Option<String> {
    let (have, them) = if n == 1 { ("has", "it") } else { ("have", "them") };
    (0 < n).then(|| {
        format!(
            "{} {have} no label at the pass mark, because as many people pass {them} as fail {them}. A tie needs \
             {TIE_ADVICE}; `--human labels` has the decisions.",
            plural(n, "candidate")
        )
    })
}

/// Gives each label of a choice the worth of the choice. A label that is yes or no may stay a word.
pub fn score_choices(grades: &mut [Grade], criterion: &str, choices: &ChoiceScores) -> anyhow::Result<()> {
    if choices.is_empty() {
        return Ok(());
    }
    let mut unknown: BTreeMap<String, usize> = BTreeMap::new();
    for grade in grades.iter_mut().filter(|grade| grade.criterion == criterion) {
        let Outcome::Scored { value, unit: unit @ None } = &mut grade.outcome else { continue };
        *unit = choices.get(&value.to_string()).copied();
        if unit.is_none() && matches!(value, Value::Text(_)) && value.as_yes_or_no().is_none() {
            *unknown.entry(value.to_string()).or_default() += 1;
        }
    }
    let n_unknown: usize = unknown.values().sum();
    anyhow::ensure!(
        n_unknown == 0,
        "{} of `{criterion}` {} no choice whose worth is known: {}; known are {}; use a run as --judge, whose rubric has \
         every choice, or write the worth from 0 to 1 instead of the word",
        plural(n_unknown, "label"),
        if n_unknown == 1 { "is" } else { "are" },
        list_first(unknown.keys().map(|choice| format!("`{choice}`"))),
        list_first(choices.iter().map(|(choice, worth)| format!("`{choice}` {worth}")))
    );
    Ok(())
}

/// Names that are listed in a message.
const MOST_NAMES: usize = 5;

/// The first names, and the number of the others.
pub fn list_first(names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.map(|name| printable_line(&name)).collect();
    let listed = names.iter().take(MOST_NAMES).cloned().collect::<Vec<_>>().join(", ");
    if MOST_NAMES < names.len() { format!("{listed} and {} more", names.len() - MOST_NAMES) } else { listed }
}

/// The mean score of each candidate on a criterion, of one grader or of all.
pub fn average_candidate_scores(
    grades: &[Grade],
    criterion: &str,
    grader: Option<&str>,
    scale: Option<(f64, f64)>,
) -> anyhow::Result<CandidateScores> {
    let is_meant =
        |grade: &&Grade| grade.criterion == criterion && grader.is_none_or(|name| grade.grader.name == name);
    let is_word = |grade: &Grade| matches!(&grade.outcome, Outcome::Scored { value, .. } if !matches!(value, Value::Number(_)));
    // A scale is for numbers: 1 may be its lowest point, but yes is not on it.
    let is_binary = grades.iter().filter(is_meant).all(has_yes_or_no)
        && (scale.is_none() || grades.iter().filter(is_meant).any(is_word));
    let (mut all, mut n_off_scale) = (BTreeMap::<&str, Vec<f64>>::new(), 0);
    for grade in grades.iter().filter(is_meant) {
        let scores = all.entry(&grade.candidate).or_default();
        let unit = match &grade.outcome {
            Outcome::Scored { value, unit: None } if is_binary => {
                value.as_yes_or_no().map(|is_yes| f64::from(u8::from(is_yes)))
            }
            _ => unit_score(grade, scale, &mut n_off_scale)?,
        };
        scores.extend(unit);
    }
    let without =
        all.iter().filter(|(_, scores)| scores.is_empty()).map(|(id, _)| (*id).to_owned()).collect();
    let scored = all.into_iter().filter(|(_, scores)| !scores.is_empty());
    let scores: BTreeMap<String, Vec<f64>> = scored.map(|(id, scores)| (id.to_owned(), scores)).collect();
    let mean = |scores: &Vec<f64>| scores.iter().sum::<f64>() / scores.len() as f64;
    let numbers = scores.iter().map(|(id, scores)| (id.clone(), mean(scores))).collect();
    let (scale, choices) =
        (scale.filter(|_| !is_binary), choice_scores_of_grades(grades.iter().filter(is_meant)));
    Ok(CandidateScores {
        criterion: criterion.to_owned(),
        numbers,
        scores,
        without,
        n_off_scale,
        scale,
        choices,
    })
}

/// The value of each choice according to the grades; none for a choice with different values.
fn choice_scores_of_grades<'a>(grades: impl Iterator<Item = &'a Grade>) -> ChoiceScores {
    let mut known: BTreeMap<String, Option<f64>> = BTreeMap::new();
    for grade in grades {
        if let Outcome::Scored { value: Value::Text(choice), unit: Some(unit) } = &grade.outcome {
            let worth = known.entry(choice.clone()).or_insert(Some(*unit));
            *worth = worth.filter(|worth| (worth - unit).abs() < 1e-9);
        }
    }
    known.into_iter().filter_map(|(choice, worth)| Some((choice, worth?))).collect()
}

/// The scale of a rubric, where labels without a scale can only be meant on it: all of them lie on it, and one of them
/// is above 1.
pub fn scale_of_labels(grades: &[Grade], criterion: &str, (low, high): (f64, f64)) -> Option<(f64, f64)> {
    let number = |grade: &Grade| match &grade.outcome {
        Outcome::Scored { value: Value::Number(number), unit: None } => Some(*number),
        _ => None,
    };
    let labels: Vec<f64> =
        grades.iter().filter(|grade| grade.criterion == criterion).filter_map(number).collect();
    let are_on_it = labels.iter().all(|label| (low..=high).contains(label));
    (are_on_it && labels.iter().any(|label| 1.0 < *label)).then_some((low, high))
}

/// Whether a grade is yes or no in any spelling, or has no score.
fn has_yes_or_no(grade: &Grade) -> bool {
    match &grade.outcome {
        Outcome::Scored { value, .. } => value.as_yes_or_no().is_some(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use jurist_core::grade::ShortGrade;

    use super::*;

    fn label(candidate: &str, value: &str, grader: &str) -> Grade {
        let text = format!(
            r#"{{"candidate": "{candidate}", "criterion": "style", "value": {value}, "grader": "{grader}"}}"#
        );
        ShortGrade::parse(&text).unwrap().into_grade()
    }

    #[test]
    fn a_tie_of_people_has_no_majority_at_a_pass_mark() {
        let labels = [("a", "1"), ("a", "0"), ("b", "1"), ("b", "0.8"), ("b", "0"), ("c", "0.2")]
            .map(|(id, value)| label(id, value, "x"));
        let scores = average_candidate_scores(&labels, "style", None, None).unwrap();
        for pass_mark in [0.3, 0.7, 0.8] {
            let decided = scores.decide_by_majority(pass_mark);
            assert_eq!(decided.ties, ["a"]);
            assert_eq!(decided.passes, BTreeMap::from([("b".to_owned(), true), ("c".to_owned(), false)]));
        }
        assert_eq!(scores.numbers["a"].to_bits(), 0.5_f64.to_bits());
    }

    #[test]
    fn a_label_of_a_choice_is_worth_what_the_choice_is() {
        let choices = ChoiceScores::from([("plain".to_owned(), 1.0), ("chatty".to_owned(), 0.6)]);
        let mut labels =
            [("a", "\"plain\""), ("b", "\"chatty\""), ("c", "0.5")].map(|(id, value)| label(id, value, "x"));
        score_choices(&mut labels, "style", &choices).unwrap();
        assert_eq!(labels.each_ref().map(|label| label.outcome.unit()), [Some(1.0), Some(0.6), None]);
        let mut odd = [label("a", "\"Plain\"", "x")];
        let error = score_choices(&mut odd, "style", &choices).unwrap_err().to_string();
        assert!(error.starts_with("1 label of `style` is no choice whose worth is known: `Plain`; known are `chatty` 0.6, `plain` 1;"), "{error}");
    }

    #[test]
    fn labels_have_the_scale_of_the_rubric_if_they_fit_only_there() {
        let on_scale_of_rubric = |values: [f64; 2]| {
            let grade = |value: f64| {
                let text = format!(r#"{{"candidate": "a", "criterion": "tone", "value": {value}}}"#);
                ShortGrade::parse(&text).unwrap().into_grade()
            };
            scale_of_labels(&values.map(grade), "tone", (1.0, 5.0))
        };
        assert_eq!(on_scale_of_rubric([1.0, 4.0]), Some((1.0, 5.0)));
        for values in [[0.0, 1.0], [0.5, 1.0], [1.0, 1.0], [0.5, 4.0], [3.0, 7.0]] {
            assert_eq!(on_scale_of_rubric(values), None, "{values:?}");
        }
    }
}
