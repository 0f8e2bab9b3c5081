//! Texts about a case that all formats share: its figures, and each grader's answer with its reason.

use std::borrow::Cow;

use super::score_text::{format_native_score, parse_case_rubric};
use super::{describe_deferral, join_grader_names, variant_in_words, with_evidence};
use crate::grade::{Evidence, Grade, Grader, GraderKind, Outcome, Spend, TRACEBACK_TITLE, Usd};
use crate::run::{CaseResult, Run};

/// The figures of a case in a fixed order; what it does not have is `None`. A score on the rubric's own scale comes
/// before the one on 0..=1, and only where the rubric has such a scale.
pub(super) fn case_figures(run: &Run, result: &CaseResult) -> Vec<(&'static str, Option<String>)> {
    let number = |it: Option<f64>| it.map(|value| value.to_string());
    let own = format_native_score(result, parse_case_rubric(run, result).as_ref());
    let status = ("status", Some(result.verdict.status.as_str().to_owned()));
    let figures = [
        ("score", number(result.verdict.score)),
        ("pass_mark", number(run.shown_pass_mark(&result.rubric))),
        ("judges", Some(join_grader_names(result)).filter(|text| !text.is_empty())),
        ("cost", format_known_cost(result.spend)),
    ];
    [status].into_iter().chain(own.map(|own| ("own_score", Some(own)))).chain(figures).collect()
}

/// The cost of a case: `–` if it is not known, `no calls` if no model was called.
pub fn format_case_cost(result: &CaseResult) -> String {
    // The cost of an agent is known only if it reports it.
    let has_calls = has_judge_answers(result) || result.metadata.contains_key("agent");
    let otherwise = if has_calls { UNKNOWN_COST } else { "no calls" };
    format_known_cost(result.spend).unwrap_or_else(|| otherwise.to_owned())
}

/// The cost of a run: `not known` if a judge has no price, `None` if no model was called.
pub fn format_run_cost(run: &Run) -> Option<String> {
    let is_unpriced = |result: CaseResult| result.spend.cost.is_none() && has_judge_answers(&result);
    match run.results.iter().any(is_unpriced) {
        true => Some(UNKNOWN_COST.to_owned()),
        false => format_known_cost(run.spend),
    }
}

/// A model without a price.
const UNKNOWN_COST: &str = "not known";

/// A known cost. Replies from the cache or from a recording cost nothing.
pub(super) fn format_known_cost(spend: Spend) -> Option<String> {
    let cost = spend.cost?;
    let is_cached = spend.from_cache && cost == Usd::default();
    Some(if is_cached { "$0 (cached)".to_owned() } else { cost.to_string() })
}

/// Whether a judge answered. The cost of a failed call is usually 0, and a deferred grade has none.
fn has_judge_answers(result: &CaseResult) -> bool {
    let is_answer = |grade: &Grade| {
        let has_answer = matches!(grade.outcome, Outcome::Scored { .. } | Outcome::Abstained { .. });
        has_answer && grade.grader.kind == GraderKind::Judge
    };
    result.grades.iter().any(is_answer)
}

/// The figures that a case has, as `name: value`.
pub(super) fn figure_lines(run: &Run, result: &CaseResult) -> impl Iterator<Item = String> {
    case_figures(run, result).into_iter().filter_map(|(name, value)| Some(format!("{name}: {}", value?)))
}

/// How long a run took, in seconds; the time of its cases is not recorded.
pub(super) fn run_duration_seconds(run: &Run) -> Option<f64> {
    run.ended.map(|time| (time.micros() - run.started.micros()).max(0) as f64 / 1e6)
}

/// One answer of a grader, with all criteria to which the grader gave it.
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
            None => (Cow::Borrowed(grade.criterion.as_str()), format_grade_outcome(grade)),
        };
        let answer = with_evidence(grade, outcome);
        let reason = without_traceback(grade.reason.as_str());
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
        // If the target failed, no grader was asked.
        let is_ungraded = self.grader == Grader::NONE && matches!(self.outcome, Outcome::Failed { .. });
        let words =
            if is_ungraded { self.answer.clone() } else { format!("{} by {}", self.answer, self.grader) };
        if self.reason.is_empty() { words } else { format!("{words} — {}", self.reason) }
    }

    /// The line, and the quotes under it.
    pub fn lines(&self) -> Vec<String> {
        let quotes = self.evidence.iter().map(|evidence| format!("  {}", format_evidence_quote(evidence)));
        std::iter::once(self.line()).chain(quotes).collect()
    }
}

/// Answers of all graders about a case, in the order of its grades.
pub(super) fn collect_grader_statements<'a>(run: &Run, result: &'a CaseResult) -> Vec<GraderStatement<'a>> {
    let mut all: Vec<GraderStatement<'_>> = Vec::new();
    for it in result.grades.iter().map(|grade| GraderStatement::of(run, result, grade)) {
        let same = |other: &&mut GraderStatement<'_>| {
            (&other.answer, other.reason, other.grader, other.evidence)
                == (&it.answer, it.reason, it.grader, it.evidence)
        };
        match all.iter_mut().find(same) {
            // Equal grades are shown once, such as those of a grader that was not asked.
            Some(other) => other.criteria.extend(it.criteria),
            None => all.push(it),
        }
    }
    all
}

/// A quote and its position.
pub(super) fn format_evidence_quote(evidence: &Evidence) -> String {
    match &evidence.found {
        Some(it) => format!("“{}” ({}, {}–{})", evidence.quote, it.part, it.start, it.end),
        None => format!("“{}” (not found)", evidence.quote),
    }
}

/// The same, with the reason of a grader for which a key or a judge is missing.
pub(super) fn format_grade_outcome(grade: &Grade) -> String {
    match &grade.outcome {
        Outcome::Deferred { why } => describe_deferral(*why, grade.reason.as_str()),
        outcome => format_outcome(outcome),
    }
}

/// A message of a program without the traceback of Python that may follow it.
pub fn without_traceback(message: &str) -> &str {
    let mut breaks = message.match_indices('\n').map(|(at, _)| at);
    let end = breaks.find(|at| message[at + 1..].starts_with(TRACEBACK_TITLE));
    end.map_or(message, |end| &message[..end])
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
        Outcome::Failed { failure, detail } => {
            format!("{}: {}", variant_in_words(failure), without_traceback(detail))
        }
        Outcome::Deferred { why } => format!("not asked: {}", variant_in_words(why)),
    }
}
