//! What every format tells about a case, in words: its figures, and who said what and why.

use std::borrow::Cow;

use super::{join_grader_names, status_word, variant_in_words, with_evidence};
use crate::grade::{Evidence, Grade, GraderKind, Outcome};
use crate::run::{CaseResult, Run};

/// The figures of a case in a fixed order; what it does not have is `None`.
pub(super) fn case_figures(run: &Run, result: &CaseResult) -> [(&'static str, Option<String>); 6] {
    let number = |it: Option<f64>| it.map(|value| value.to_string());
    [
        ("status", Some(status_word(result.verdict.status).to_owned())),
        ("score", number(result.verdict.score)),
        ("pass_mark", number(run.pass_mark(&result.rubric))),
        ("judges", Some(join_grader_names(result)).filter(|text| !text.is_empty())),
        ("cost", result.spend.cost.map(|usd| usd.to_string())),
        ("rubric", Some(result.rubric.to_string())),
    ]
}

/// The figures that a case has, as `name: value`.
pub(super) fn figure_lines(run: &Run, result: &CaseResult) -> impl Iterator<Item = String> {
    case_figures(run, result).into_iter().filter_map(|(name, value)| Some(format!("{name}: {}", value?)))
}

/// How long a run took, in seconds; of its cases nobody wrote it down.
pub(super) fn run_duration_seconds(run: &Run) -> Option<f64> {
    run.ended.map(|time| (time.micros() - run.started.micros()).max(0) as f64 / 1e6)
}

/// What one grader said, about all the criteria of which it said the same.
pub(super) struct GraderStatement<'a> {
    pub criteria: Vec<Cow<'a, str>>,
    pub grader: &'a str,
    pub outcome: &'a Outcome,
    /// The outcome in words.
    pub answer: String,
    pub reason: &'a str,
    pub evidence: &'a [Evidence],
}

impl<'a> GraderStatement<'a> {
    /// A check answers whether something holds; where it must not hold, the statement has the worth of the answer. The
    /// answers of judges and people stay as they gave them.
    pub fn of(run: &Run, result: &CaseResult, grade: &'a Grade) -> Self {
        let is_check = grade.grader.kind == GraderKind::Check;
        let worth =
            run.answer_worth(result, grade).filter(|_| is_check && run.is_negative(result, &grade.criterion));
        let (criterion, outcome) = match worth {
            Some(worth) => (run.worth_name(result, &grade.criterion), format!("{worth:.2}")),
            None => (Cow::Borrowed(grade.criterion.as_str()), format_outcome(&grade.outcome)),
        };
        let answer = with_evidence(grade, outcome);
        let reason = grade.reason.as_str();
        Self {
            criteria: vec![criterion],
            grader: &grade.grader.name,
            outcome: &grade.outcome,
            // A broken grader's detail is often its reason as well.
            reason: if answer.ends_with(reason) { "" } else { reason },
            answer,
            evidence: &grade.evidence,
        }
    }

    /// In a line, without its quotes.
    pub fn line(&self) -> String {
        format!("{}: {}", self.criteria.join(", "), self.words())
    }

    /// The line without its criteria.
    pub fn words(&self) -> String {
        let words = format!("{} by {}", self.answer, self.grader);
        if self.reason.is_empty() { words } else { format!("{words} — {}", self.reason) }
    }

    /// The line, and the quotes under it.
    pub fn lines(&self) -> Vec<String> {
        let quotes = self.evidence.iter().map(|evidence| format!("  {}", format_evidence_quote(evidence)));
        std::iter::once(self.line()).chain(quotes).collect()
    }
}

/// Everything said about a case, in the order of its grades.
pub(super) fn collect_grader_statements<'a>(run: &Run, result: &'a CaseResult) -> Vec<GraderStatement<'a>> {
    let mut all: Vec<GraderStatement<'_>> = Vec::new();
    for it in result.grades.iter().map(|grade| GraderStatement::of(run, result, grade)) {
        let same = |other: &&mut GraderStatement<'_>| {
            (&other.answer, other.reason, other.grader, other.evidence)
                == (&it.answer, it.reason, it.grader, it.evidence)
        };
        match all.iter_mut().find(same) {
            // Whoever was not asked says the same to everything.
            Some(other) => other.criteria.extend(it.criteria),
            None => all.push(it),
        }
    }
    all
}

/// A quote, and where it stands.
pub(super) fn format_evidence_quote(evidence: &Evidence) -> String {
    match &evidence.found {
        Some(it) => format!("“{}” ({}, {}–{})", evidence.quote, it.part, it.start, it.end),
        None => format!("“{}” (not found)", evidence.quote),
    }
}

/// What came of a question; a score on 0..=1 follows where the answer is on another scale.
pub(super) fn format_outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Scored { value, unit } => {
            let value = value.to_string();
            match unit.map(|unit| format!("{unit:.2}")) {
                Some(unit) if value.parse::<f64>().is_ok_and(|value| format!("{value:.2}") == unit) => unit,
                Some(unit) => format!("{value} ({unit})"),
                None => value,
            }
        }
        Outcome::NotApplicable => "does not apply".to_owned(),
        Outcome::Abstained { why } => format!("cannot assess: {why}"),
        Outcome::Failed { failure, detail } if detail.is_empty() => variant_in_words(failure),
        Outcome::Failed { failure, detail } => format!("{}: {detail}", variant_in_words(failure)),
        Outcome::Deferred { why } => format!("not asked: {}", variant_in_words(why)),
    }
}
