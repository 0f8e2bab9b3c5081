//! Answers as scores from 0 to 1, and one score for each candidate.

use std::collections::BTreeMap;

use jurist_core::grade::{Grade, Outcome};
use jurist_core::quantity::plural;
use jurist_core::rubric::Value;

/// The scale on which scores are computed.
pub const UNIT_SCALE: (f64, f64) = (0.0, 1.0);

/// The ends of a scale, such as `1-5`.
pub fn parse_scale_ends(text: &str) -> Result<(f64, f64), String> {
    let ends = text.split_once('-').and_then(|(low, high)| Some((low.parse().ok()?, high.parse().ok()?)));
    ends.filter(|(low, high)| low < high)
        .ok_or_else(|| "the lowest and highest value of a scale, such as 1-5".to_owned())
}

/// An answer on 0..=1: as it was scored, or by the ends of its scale. What lies off a scale that was given is
/// left out and counted; without a scale, its meaning is unknown.
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

/// One number for each candidate on one criterion: the mean of everybody who scored it.
pub struct CandidateScores {
    pub criterion: String,
    pub numbers: BTreeMap<String, f64>,
    /// Candidates that were graded and have no number.
    pub without: Vec<String>,
    pub n_off_scale: usize,
    /// The scale on which the grades were given, where it is known and is not 0 to 1.
    pub scale: Option<(f64, f64)>,
}

/// Scores of one candidate, added up.
#[derive(Default)]
struct ScoreTotal {
    total: f64,
    n: f64,
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
    let (mut sums, mut n_off_scale) = (BTreeMap::<&str, ScoreTotal>::new(), 0);
    for grade in grades.iter().filter(is_meant) {
        let sum = sums.entry(&grade.candidate).or_default();
        let unit = match &grade.outcome {
            Outcome::Scored { value, unit: None } if is_binary => {
                value.as_yes_or_no().map(|is_yes| f64::from(u8::from(is_yes)))
            }
            _ => unit_score(grade, scale, &mut n_off_scale)?,
        };
        if let Some(unit) = unit {
            sum.total += unit;
            sum.n += 1.0;
        }
    }
    let without = sums.iter().filter(|(_, sum)| sum.n <= 0.0).map(|(id, _)| (*id).to_owned()).collect();
    let scored = sums.iter().filter(|(_, sum)| 0.0 < sum.n);
    let numbers = scored.map(|(id, sum)| ((*id).to_owned(), sum.total / sum.n)).collect();
    let scale = scale.filter(|_| !is_binary);
    Ok(CandidateScores { criterion: criterion.to_owned(), numbers, without, n_off_scale, scale })
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
