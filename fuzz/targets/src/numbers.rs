//! Schedules, tables of ratings and statistics.

use std::collections::BTreeMap;

use jurist_core::dialect::Dialect;
use jurist_core::grade::{
    Grade, GradesFileLine, Outcome, SampledCandidate, Value, read_grade_table, read_stratum_sizes,
    step_grades,
};
use jurist_core::plan::next_time;
use jurist_core::quantity::Time;
use jurist_core::stats::agreement::{self, Level, Ratings};
use jurist_core::stats::by_name::{self, compute_problem};
use serde_json::Value as Json;

use crate::dialects::load_alone;

const MINUTE: i64 = 60_000_000;

/// A schedule that a monitor may have comes round, after whatever moment.
pub fn schedule(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let is_accepted = is_monitor_schedule(text);
    for after in
        ["1970-01-01T00:00:00Z", "2026-03-16T10:30:59Z", "2096-02-28T23:59:00Z", "9999-12-31T23:59:59Z"]
    {
        let after = Time::parse(after).expect("a time");
        let next = next_time(text, after);
        if let Some(next) = next {
            assert!(after.micros() < next.micros(), "{text:?} comes round at {next}, before {after}");
            assert_eq!(next.micros().rem_euclid(MINUTE), 0, "{text:?} at {next}");
            let again = next_time(text, Time::from_micros(next.micros() - 1));
            assert_eq!(again, Some(next), "{text:?} comes round at {next} and not");
        }
        assert_eq!(is_accepted, next.is_some(), "{text:?}: accepted, and when it comes round: {next:?}");
    }
}

fn is_monitor_schedule(schedule: &str) -> bool {
    // Criteria of its own, so that nothing else can be wrong with it.
    let rubric = "{criteria: [{name: kind, description: It is kind.}]}";
    let file = format!("agent: a\nrubric: {rubric}\njudge_model: m\nschedule: {}\n", Json::from(schedule));
    load_alone(&file, Dialect::Monitor).suite.is_some()
}

/// A table or lines of grades: values are finite, scores are scores, and agreement can be measured.
pub fn read_table(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    for delimiter in *b",\t" {
        if let Ok(table) = read_grade_table(text, delimiter) {
            let grades: Vec<&Grade> = table.grades.iter().map(|(grade, _)| grade).collect();
            grades.iter().for_each(|grade| check_grade(grade));
            measure_agreement(&grades);
        }
        let _ = (SampledCandidate::of_table(text, delimiter), read_stratum_sizes(text, delimiter));
    }
    for line in text.lines() {
        if let Ok((GradesFileLine::Grades(grades), _)) = GradesFileLine::with_fields(line) {
            grades.iter().for_each(check_grade);
        }
        step_grades(line).unwrap_or_default().iter().for_each(check_grade);
        let _ = (GradesFileLine::parse(line), SampledCandidate::of_line(line));
    }
}

fn check_grade(grade: &Grade) {
    if let Outcome::Scored { value, unit } = &grade.outcome {
        assert!(!matches!(value, Value::Number(number) if !number.is_finite()), "{grade:?}");
        assert!(unit.is_none_or(|unit| (0.0..=1.0).contains(&unit)), "{grade:?}");
    }
}

/// Many grades take seconds, and say nothing that a few do not.
const MAX_RATED: usize = 30;

fn measure_agreement(grades: &[&Grade]) {
    let mut by_criterion: BTreeMap<&str, Vec<(&str, &str, Value)>> = BTreeMap::new();
    for grade in grades.iter().take(MAX_RATED) {
        if let Outcome::Scored { value, .. } = &grade.outcome {
            let entry = (grade.grader.name.as_str(), grade.candidate.as_str(), value.clone());
            by_criterion.entry(&grade.criterion).or_default().push(entry);
        }
    }
    for entries in by_criterion.into_values() {
        let is_number = entries.iter().all(|(_, _, value)| matches!(value, Value::Number(_)));
        let level = if is_number { Level::Ordinal } else { Level::Nominal };
        if let Ok(ratings) = Ratings::of_entries(entries) {
            let _ = agreement::measure_agreement(&ratings, level, 1);
        }
    }
}

/// A line of `jurist stats compute`.
pub fn compute_statistic(input: &[u8]) {
    let Ok(problem) = serde_json::from_slice::<Json>(input) else { return };
    let (name, input) = match (problem["family"].as_str(), problem["fn"].as_str()) {
        (Some(family), _) => (family, &problem["input"]),
        (None, Some(name)) => (name, &problem["args"]),
        (None, None) => return,
    };
    if compute_problem(name, input).is_none() {
        let first = by_name::compute_statistic(name, input);
        assert_eq!(first, by_name::compute_statistic(name, input), "the same question has one answer");
    }
}
