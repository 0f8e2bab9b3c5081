//! Answers to one criterion by several graders, made comparable.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context;
use jurist_core::grade::{Grade, Outcome};
use jurist_core::quantity::plural;
use jurist_core::rubric::Value;
use jurist_core::stats::agreement::{Level, Ratings};

use super::sources::DeclaredScales;

/// Answers of one criterion by everybody, and what the distance between two of them means.
pub struct CriterionRatings<'a> {
    pub criterion: &'a str,
    pub ratings: Ratings,
    pub level: Level,
    /// Further answers of a grader for a candidate, of which the first counts.
    pub n_repeated: usize,
    /// What is odd about the answers, in sentences.
    pub hints: Vec<String>,
    /// The words for no and yes, where the answers are computed with as 0 and 1.
    words: Option<[&'static str; 2]>,
}

impl CriterionRatings<'_> {
    /// Says how many answers were left out because they are not the first.
    pub fn repeated_answers_note(&self) -> Option<String> {
        let again = |n: usize| plural(n, "answer") + if n == 1 { " is" } else { " are" };
        let note = |n| format!("{} excluded: only a grader's first grade of a candidate counts.", again(n));
        Some(self.n_repeated).filter(|n| 0 < *n).map(note)
    }

    /// An answer in the words of the data.
    pub fn answer_word<'w>(&self, label: &'w str) -> &'w str {
        match (self.words, label) {
            (Some([no, _]), "0") => no,
            (Some([_, yes]), "1") => yes,
            _ => label,
        }
    }

    /// Notes that are printed before the figures.
    pub fn notes(&self) -> impl Iterator<Item = String> + '_ {
        self.repeated_answers_note().into_iter().chain(self.hints.iter().cloned())
    }
}

/// Groups ratings by criterion, in order of first appearance. Numeric ratings are ordinal by default.
/// A scale from a flag or from the grades also contains the levels that no rater used.
pub fn group_ratings_by_criterion<'a>(
    grades: &'a [Grade],
    level: Option<Level>,
    scale: Option<(f64, f64)>,
    declared: &DeclaredScales,
) -> anyhow::Result<Vec<CriterionRatings<'a>>> {
    let mut order: Vec<&str> = Vec::new();
    let mut entries: BTreeMap<&str, Vec<(&str, &str, Value)>> = BTreeMap::new();
    for grade in grades {
        if let Outcome::Scored { value, .. } = &grade.outcome {
            if !order.contains(&grade.criterion.as_str()) {
                order.push(&grade.criterion);
            }
            let entry = (grade.grader.name.as_str(), grade.candidate.as_str(), value.clone());
            entries.entry(&grade.criterion).or_default().push(entry);
        }
    }
    let mut all = Vec::new();
    for criterion in order {
        let mut entries = entries.remove(criterion).unwrap_or_default();
        let words = unify_yes_and_no(&mut entries);
        let mut hints = Vec::new();
        hints.extend(read_numbers(&mut entries));
        hints.extend(disjoint_answers_hint(&entries));
        let is_ordered = entries.iter().all(|(_, _, value)| matches!(value, Value::Number(_)));
        let level = level.unwrap_or(if is_ordered { Level::Ordinal } else { Level::Nominal });
        let n_entries = entries.len();
        let ratings = Ratings::of_entries(entries).with_context(|| format!("`{criterion}`"))?;
        let n_repeated = n_entries - ratings.n_ratings();
        // Yes and no have no position on a numeric scale.
        let are_numbers = is_ordered && ratings.numbers().is_ok();
        let ratings = match (scale, declared.get(criterion)) {
            (Some((low, high)), _) if are_numbers => {
                ratings.on_scale(low, high).with_context(|| format!("`{criterion}`"))?
            }
            (None, Some((low, high))) if are_numbers => match ratings.on_scale(*low, *high) {
                Ok(ratings) => ratings,
                Err(why) => {
                    hints.push(format!("The scale of the rubric is not used: {why}."));
                    ratings
                }
            },
            _ => ratings,
        };
        all.push(CriterionRatings { criterion, ratings, level, n_repeated, hints, words });
    }
    Ok(all)
}

/// Gives one spelling to yes and no, which graders write differently, such as yes and 1. Returns the words for no and
/// yes in the spelling of the first answer, unless the answers are compared as they are written.
fn unify_yes_and_no(entries: &mut [(&str, &str, Value)]) -> Option<[&'static str; 2]> {
    if entries.iter().all(|(_, _, value)| matches!(value, Value::Number(_))) {
        return None;
    }
    let meanings: BTreeSet<bool> =
        entries.iter().map(|(_, _, value)| value.as_yes_or_no()).collect::<Option<_>>()?;
    let spellings: BTreeSet<String> = entries.iter().map(|(_, _, value)| value.to_string()).collect();
    let has_bools = entries.iter().any(|(_, _, value)| matches!(value, Value::Bool(_)));
    if !has_bools && spellings.len() == meanings.len() {
        return None;
    }
    let (_, _, first) = entries.first()?;
    let words = first.no_and_yes();
    for (_, _, value) in entries {
        if let Some(is_yes) = value.as_yes_or_no() {
            *value = Value::Bool(is_yes);
        }
    }
    words
}

/// Reads numbers in text as numbers if all answers to a criterion are numbers, and adds a note.
fn read_numbers(entries: &mut [(&str, &str, Value)]) -> Option<String> {
    let number = |value: &Value| match value {
        Value::Text(text) => text.trim().parse::<f64>().ok().filter(|text| text.is_finite()),
        Value::Number(number) => Some(*number),
        Value::Bool(_) => None,
    };
    let n_texts = entries.iter().filter(|(_, _, value)| matches!(value, Value::Text(_))).count();
    let n_numbers = entries.iter().filter(|(_, _, value)| number(value).is_some()).count();
    let has_comma = |value: &Value| {
        let decimal =
            |text: &str| text.contains(',') && text.trim().replacen(',', ".", 1).parse::<f64>().is_ok();
        matches!(value, Value::Text(text) if decimal(text))
    };
    let n_commas = entries.iter().filter(|(_, _, value)| has_comma(value)).count();
    if 0 < n_commas {
        return Some(format!(
            "{} with a decimal comma and read as a label; write 0.5 instead of 0,5.",
            is_or_are(n_commas, "answer is written", "answers are written")
        ));
    }
    if n_texts == 0 || n_numbers == 0 {
        return None;
    }
    if n_numbers < entries.len() {
        return Some(format!(
            "{} not a number, so all values are treated as labels.",
            is_or_are(entries.len() - n_numbers, "answer is", "answers are")
        ));
    }
    for (_, _, value) in entries.iter_mut() {
        if let Some(number) = number(value) {
            *value = Value::Number(number);
        }
    }
    Some(format!(
        "{}.",
        is_or_are(
            n_texts,
            "number is written as text and read as a number",
            "numbers are written as text and read as numbers"
        )
    ))
}

fn is_or_are(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// Two graders of whom neither ever gives an answer of the other use different words, such as yes and 1.
fn disjoint_answers_hint(entries: &[(&str, &str, Value)]) -> Option<String> {
    let mut words: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (grader, _, value) in entries {
        words.entry(*grader).or_default().insert(value.to_string());
    }
    let all: Vec<(&&str, &BTreeSet<String>)> = words.iter().take(100).collect();
    let is_number = |words: &BTreeSet<String>| words.iter().all(|word| word.parse::<f64>().is_ok());
    let apart = |a: &BTreeSet<String>, b: &BTreeSet<String>| {
        a.is_disjoint(b)
            && (2 <= a.len().min(b.len()) || is_number(a) != is_number(b))
            && !(is_number(a) && is_number(b))
    };
    let listed = |words: &BTreeSet<String>| {
        words.iter().take(3).map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
    };
    let pairs = all.iter().enumerate().flat_map(|(at, a)| all[at + 1..].iter().map(move |b| (a, b)));
    let ((a, words_of_a), (b, words_of_b)) = pairs.into_iter().find(|((_, a), (_, b))| apart(a, b))?;
    Some(format!(
        "`{a}` and `{b}` have no value in common ({} against {}); if these mean the same, use the same spelling.",
        listed(words_of_a),
        listed(words_of_b)
    ))
}
