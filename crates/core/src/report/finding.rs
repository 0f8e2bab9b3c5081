//! What failed cases failed on, for formats that list problems and not cases.

use super::outcome_text::{GraderStatement, format_evidence_quote};
use super::score_text::{format_beside_own_scale, parse_case_rubric, score_scale};
use super::{case_notes, is_cause, leaf_reason, variant_in_words};
use crate::grade::{Grade, UndecidedGate, VerdictStatus};
use crate::run::{CaseResult, Run};

/// The rule of a case that failed although no single criterion is to blame.
const VERDICT: &str = "verdict";

/// The rule of a candidate that holds text shaped like a verdict.
pub(super) const VERDICT_IN_CANDIDATE: &str = "verdict_in_candidate";

/// One criterion that a failed case does not fully meet, or a note about a case.
pub(super) struct CriterionFinding<'a> {
    pub result: &'a CaseResult,
    /// The criterion, [`VERDICT`] or [`VERDICT_IN_CANDIDATE`].
    pub rule: &'a str,
    pub severity: CriterionSeverity,
    pub message: String,
    /// Every answer to it.
    pub grades: Vec<&'a Grade>,
}

/// How much of the failure is due to a criterion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CriterionSeverity {
    /// It is a gate: the case fails by it alone.
    Gate,
    /// It lies below the pass mark.
    Below,
    /// It lies at the pass mark or above, and still lacks something.
    Short,
    /// It is no criterion and has no effect on the verdict.
    Note,
}

impl CriterionFinding<'_> {
    /// The same in every run of a suite, whatever the judge says and however the rubric changes.
    pub fn fingerprint(&self, run: &Run) -> String {
        let suite = suite_file(run).or_else(|| run.suite.clone()).unwrap_or_default();
        hash_texts_hex(&[&suite, &self.result.case, self.rule])
    }

    /// The quotes behind it, each once.
    pub fn quotes(&self) -> Vec<String> {
        let mut quotes: Vec<String> = Vec::new();
        for evidence in self.grades.iter().flat_map(|grade| &grade.evidence) {
            let quote = format_evidence_quote(evidence);
            if !quotes.contains(&quote) {
                quotes.push(quote);
            }
        }
        quotes
    }
}

/// Those of a case; one that failed has at least one. One with an error has the gates that could not be decided.
pub(super) fn list_case_findings<'a>(run: &'a Run, result: &'a CaseResult) -> Vec<CriterionFinding<'a>> {
    match result.verdict.status {
        VerdictStatus::Fail => {}
        VerdictStatus::Error => {
            return result
                .verdict
                .undecided_gates
                .iter()
                .map(|gate| build_undecided_gate_finding(result, gate))
                .collect();
        }
        VerdictStatus::Pass | VerdictStatus::Deferred => return Vec::new(),
    }
    let mut rules: Vec<&str> = Vec::new();
    let gated = result
        .verdict
        .failed_gates
        .iter()
        .map(|failed_gate| failed_gate.criterion.as_deref().unwrap_or(VERDICT));
    for rule in gated.chain(result.grades.iter().map(|grade| grade.criterion.as_str())) {
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    let mut findings: Vec<CriterionFinding<'_>> =
        rules.into_iter().filter_map(|rule| build_criterion_finding(run, result, rule)).collect();
    if findings.is_empty() {
        let (rule, severity, message) = (VERDICT, CriterionSeverity::Below, describe_low_score(run, result));
        findings.push(CriterionFinding { result, rule, severity, message, grades: Vec::new() });
    }
    findings
}

/// Notes about a case, whatever its verdict: a candidate that convinced the judge by a planted verdict passes.
pub(super) fn list_note_findings(result: &CaseResult) -> Vec<CriterionFinding<'_>> {
    let finding = |note: String| CriterionFinding {
        result,
        rule: VERDICT_IN_CANDIDATE,
        severity: CriterionSeverity::Note,
        message: format!("{}: {note}", result.case),
        grades: Vec::new(),
    };
    case_notes(result).into_iter().map(finding).collect()
}

fn build_undecided_gate_finding<'a>(result: &'a CaseResult, gate: &'a UndecidedGate) -> CriterionFinding<'a> {
    let rule = gate.criterion.as_deref().unwrap_or(VERDICT);
    let grades = result.grades.iter().filter(|grade| grade.criterion == rule).collect();
    CriterionFinding {
        result,
        rule,
        severity: CriterionSeverity::Gate,
        message: format!("{}: {gate}", result.case),
        grades,
    }
}

/// What a criterion has to do with the failure, if it has.
fn build_criterion_finding<'a>(
    run: &'a Run,
    result: &'a CaseResult,
    rule: &'a str,
) -> Option<CriterionFinding<'a>> {
    let grades: Vec<&Grade> = result.grades.iter().filter(|grade| grade.criterion == rule).collect();
    let gates = result.verdict.failed_gates.iter();
    let gates = gates.filter(|gate| gate.criterion.as_deref().unwrap_or(VERDICT) == rule);
    let gates: Vec<String> =
        gates.map(|gate| format!("gate {} failed", variant_in_words(&gate.gate))).collect();
    let severity = match gates.is_empty() {
        true if !is_cause(run, result, rule) => return None,
        true => criterion_severity(run, result, rule)?,
        false => CriterionSeverity::Gate,
    };
    let statements = grades.iter().map(|grade| GraderStatement::of(run, result, grade).words());
    let leaf = leaf_reason(result, rule).map(str::to_owned);
    let statements: Vec<String> = gates.into_iter().chain(statements).chain(leaf).collect();
    let message = format!("{}: {rule}: {}", result.case, statements.join("; "));
    Some(CriterionFinding { result, rule, severity, message, grades })
}

/// How far a criterion falls short, by the mean of all graders; `None` when nothing is missing.
fn criterion_severity(run: &Run, result: &CaseResult, rule: &str) -> Option<CriterionSeverity> {
    let grades = result.grades.iter().filter(|grade| grade.criterion == rule);
    let worths: Vec<f64> = grades.filter_map(|grade| run.answer_worth(result, grade)).collect();
    let met = (!worths.is_empty()).then(|| worths.iter().sum::<f64>() / worths.len() as f64)?;
    let mark = run.pass_mark(&result.rubric).unwrap_or(1.0);
    (met < 1.0).then_some(if met < mark { CriterionSeverity::Below } else { CriterionSeverity::Short })
}

/// The reason why a case failed if no single criterion explains it, such as for a tree.
fn describe_low_score(run: &Run, result: &CaseResult) -> String {
    let scale = parse_case_rubric(run, result).and_then(|rubric| score_scale(result, &rubric));
    let number =
        |it: Option<f64>| it.map_or_else(|| "none".to_owned(), |value| format_beside_own_scale(value, scale));
    let (score, mark) = (number(result.verdict.score), number(run.pass_mark(&result.rubric)));
    let why = result.verdict.path.last().and_then(|path| path.reason.as_deref());
    let why = why.map(|why| format!(" — {why}")).unwrap_or_default();
    format!("{}: score {score}, pass mark {mark}{why}", result.case)
}

/// Position of a case in its file, for reports that show a finding next to the source text.
pub(super) struct Location {
    pub file: String,
    /// From 1; runs of older versions have none.
    pub line: Option<u32>,
}

impl std::fmt::Display for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}", self.file),
            None => f.write_str(&self.file),
        }
    }
}

/// The file and line of a case, or the file that its suite is named by.
pub(super) fn find_case_location(run: &Run, result: &CaseResult) -> Option<Location> {
    let written = result.origin.as_ref().and_then(|origin| {
        let file = as_file(&origin.file)?;
        Some(Location { file, line: Some(origin.line) })
    });
    written.or_else(|| Some(Location { file: suite_file(run)?, line: None }))
}

/// The suite's file, where the suite is named by it.
fn suite_file(run: &Run) -> Option<String> {
    as_file(run.suite.as_deref()?)
}

/// A path with slashes, if the text is one.
fn as_file(text: &str) -> Option<String> {
    let path = text.replace('\\', "/");
    let path = path.strip_prefix("./").unwrap_or(&path);
    let (stem, ending) = path.rsplit('/').next()?.rsplit_once('.')?;
    let is_ending = ending.starts_with(|ending: char| ending.is_ascii_alphabetic())
        && ending.len() <= 5
        && ending.chars().all(|letter| letter.is_ascii_alphanumeric());
    (is_ending && !stem.is_empty() && !path.chars().any(char::is_control)).then(|| path.to_owned())
}

/// Sixteen bytes of a hash over these texts.
pub(super) fn hash_texts_hex(parts: &[&str]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        // With its length, so that no two lists run together.
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex()[..32].to_owned()
}
