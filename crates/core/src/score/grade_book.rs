//! All grades of many candidates against one rubric, and the verdicts they come to.

use std::collections::HashMap;

use super::{
    Combine, PanelVerdict, QuestionAnswer, QuoteStatus, combine_panel, compute_verdict, lacks_evidence,
};
use crate::candidate::CandidatePart;
use crate::grade::{Deferral, Evidence, Failure, Grade, Grader, GraderKind, Outcome, Verdict, locate};
use crate::rubric::{Criterion, CriterionKind, EvidenceMissing, Question, Rubric, When};

/// Collects grades in any order.
#[derive(Debug)]
pub struct GradeBook<'r> {
    rubric: &'r Rubric,
    questions: Vec<Question<'r>>,
    /// Of each question: its own condition, and those of the groups around it.
    conditions: Vec<Vec<&'r When>>,
    graders: Vec<Grader>,
    grader_index: HashMap<Grader, usize>,
    candidates: Vec<GradedCandidate>,
    candidate_index: HashMap<String, usize>,
}

#[derive(Debug)]
struct GradedCandidate {
    id: String,
    response: Option<String>,
    grades: Vec<GradeBookEntry>,
}

#[derive(Debug)]
struct GradeBookEntry {
    question: usize,
    grader: usize,
    outcome: Outcome,
    quote: QuoteStatus,
    /// What a judge quoted from the response; kept only where quotes decide.
    quotes: Vec<String>,
}

/// Why a grade does not fit the rubric.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum GradeRejection {
    #[error("there is no criterion `{written}`")]
    UnknownCriterion { written: String, known: Vec<String> },
    #[error("`{criterion}`: {problem}")]
    OffScale { criterion: String, problem: String },
    #[error("`{criterion}` of `{candidate}` is graded twice by `{grader}`; give each grade its own `grader`")]
    Twice { candidate: String, criterion: String, grader: String },
    #[error("`{criterion}` is {found}, but `{value}` on its scale is {expected}")]
    WrongUnit { criterion: String, value: String, found: f64, expected: f64 },
    #[error("graded with rubric version {found}, not {expected}")]
    OtherVersion { found: String, expected: String },
}

/// What the rubric says about one candidate.
#[derive(Debug, Clone, PartialEq)]
pub enum CandidateVerdict {
    /// Every criterion has at most one grade.
    Single(Verdict),
    /// Several graders answered the same criteria; each was scored by itself.
    Panel { panel: PanelVerdict, members: Vec<(Grader, Verdict)> },
}

impl<'r> GradeBook<'r> {
    pub fn new(rubric: &'r Rubric) -> Self {
        let mut conditions = Vec::new();
        collect_conditions(&rubric.criteria, &mut Vec::new(), &mut conditions);
        Self {
            rubric,
            conditions,
            questions: rubric.questions().collect(),
            graders: Vec::new(),
            grader_index: HashMap::new(),
            candidates: Vec::new(),
            candidate_index: HashMap::new(),
        }
    }

    /// The text of a candidate, by which conditions and length penalties are decided.
    pub fn candidate(&mut self, id: &str, response: String) {
        let at = self.entry(id);
        self.candidates[at].response = Some(response);
    }

    pub fn add(&mut self, grade: Grade) -> Result<(), GradeRejection> {
        if let Some(version) = grade.rubric.as_ref().filter(|rubric| *rubric != self.rubric.version()) {
            let (found, expected) = (version.short().to_owned(), self.rubric.version().short().to_owned());
            return Err(GradeRejection::OtherVersion { found, expected });
        }
        let Some(question) = self.rubric.position(&grade.criterion) else {
            let known = self.questions.iter().map(Question::id).collect();
            return Err(GradeRejection::UnknownCriterion { written: grade.criterion, known });
        };
        let outcome = fill_outcome_unit(&self.questions[question], grade.outcome)?;
        let quote = match grade.grader.kind {
            GraderKind::Check | GraderKind::Human => QuoteStatus::NotAsked,
            GraderKind::Judge => {
                let n_found = grade.evidence.iter().filter(|evidence| evidence.found.is_some()).count();
                QuoteStatus::of(n_found, grade.evidence.len())
            }
        };
        let wanted = self.rubric.require_evidence && quote != QuoteStatus::NotAsked;
        let of_response =
            |evidence: &Evidence| evidence.found.as_ref().is_none_or(|location| location.part == "response");
        let elsewhere = grade.evidence.iter().any(|evidence| !of_response(evidence));
        let quotes = grade
            .evidence
            .into_iter()
            .filter(|evidence| wanted && !elsewhere && of_response(evidence))
            .map(|evidence| evidence.quote)
            .collect();
        let grader = self.grader(grade.grader);
        let at = self.entry(&grade.candidate);
        let entry = &mut self.candidates[at];
        if entry.grades.iter().any(|grade| (grade.question, grade.grader) == (question, grader)) {
            let grader = self.graders[grader].name.clone();
            return Err(GradeRejection::Twice {
                candidate: grade.candidate,
                criterion: grade.criterion,
                grader,
            });
        }
        entry.grades.push(GradeBookEntry { question, grader, outcome, quote, quotes });
        Ok(())
    }

    fn entry(&mut self, id: &str) -> usize {
        if let Some(&at) = self.candidate_index.get(id) {
            return at;
        }
        self.candidates.push(GradedCandidate { id: id.to_owned(), response: None, grades: Vec::new() });
        self.candidate_index.insert(id.to_owned(), self.candidates.len() - 1);
        self.candidates.len() - 1
    }

    fn grader(&mut self, grader: Grader) -> usize {
        if let Some(&at) = self.grader_index.get(&grader) {
            return at;
        }
        self.graders.push(grader.clone());
        self.grader_index.insert(grader, self.graders.len() - 1);
        self.graders.len() - 1
    }

    /// Candidates whose text is needed and was not given.
    pub fn without_text(&self) -> Option<&str> {
        let needed = self.rubric.length_penalty.is_some();
        self.candidates
            .iter()
            .find(|candidate| needed && candidate.response.is_none())
            .map(|graded_candidate| graded_candidate.id.as_str())
    }

    /// Every candidate with what the rubric says about it, in the order they first appeared.
    pub fn ballots(&self, combine: Combine) -> impl Iterator<Item = (&str, CandidateVerdict)> {
        self.candidates.iter().map(move |entry| (entry.id.as_str(), self.ballot(entry, combine)))
    }

    fn ballot(&self, entry: &GradedCandidate, combine: Combine) -> CandidateVerdict {
        let mut n_graders = vec![0_u32; self.questions.len()];
        entry.grades.iter().for_each(|grade| n_graders[grade.question] += 1);
        let mut members: Vec<usize> = entry
            .grades
            .iter()
            .filter(|grade| 1 < n_graders[grade.question])
            .map(|grade| grade.grader)
            .collect();
        members.sort_unstable();
        members.dedup();
        if members.is_empty() {
            return CandidateVerdict::Single(self.verdict(entry, |_| true));
        }
        let members: Vec<(Grader, Verdict)> = members
            .into_iter()
            .map(|member| {
                // What only one grader answered holds for every member.
                let counts = |grade_book_entry: &GradeBookEntry| {
                    grade_book_entry.grader == member || n_graders[grade_book_entry.question] == 1
                };
                (self.graders[member].clone(), self.verdict(entry, counts))
            })
            .collect();
        let verdicts: Vec<Verdict> = members.iter().map(|member| member.1.clone()).collect();
        CandidateVerdict::Panel { panel: combine_panel(&verdicts, combine, self.rubric.pass_mark), members }
    }

    fn verdict(&self, entry: &GradedCandidate, counts: impl Fn(&GradeBookEntry) -> bool) -> Verdict {
        const NOT_GRADED: Outcome = Outcome::Deferred { why: Deferral::NotGraded };
        static NO_EVIDENCE: Outcome =
            Outcome::Failed { failure: Failure::EvidenceNotFound, detail: String::new() };
        let nothing = QuestionAnswer { outcome: &NOT_GRADED, quote: QuoteStatus::NotAsked };
        let mut answers = vec![nothing; self.questions.len()];
        for given in entry.grades.iter().filter(|grade| counts(grade)) {
            let quote = given.quote_in(entry.response.as_deref());
            let criterion = self.questions[given.question].criterion;
            let is_unproven = |unit: f64| {
                // That nothing is there scores 0 as it is, and cannot be quoted.
                (0.0 < unit || !given.quotes.is_empty())
                    && lacks_evidence(self.rubric, criterion, quote, unit)
            };
            let is_error = self.rubric.evidence_missing == Some(EvidenceMissing::Error)
                && given.outcome.unit().is_some_and(is_unproven);
            let outcome = if is_error { &NO_EVIDENCE } else { &given.outcome };
            answers[given.question] = QuestionAnswer { outcome, quote };
        }
        if let Some(response) = &entry.response {
            for (conditions, answer) in self.conditions.iter().zip(&mut answers) {
                if conditions.iter().any(|when| !when.holds(response)) {
                    answer.outcome = &Outcome::NotApplicable;
                }
            }
        }
        let penalty = self
            .rubric
            .length_penalty
            .zip(entry.response.as_deref())
            .map_or(0.0, |(length_penalty, text)| length_penalty.of(text));
        compute_verdict(self.rubric, &answers, penalty)
    }
}

impl GradeBookEntry {
    /// Verifies a quote against the response if the response is available.
    fn quote_in(&self, response: Option<&str>) -> QuoteStatus {
        match response {
            Some(response) if !self.quotes.is_empty() => {
                let parts = [CandidatePart { name: "response".to_owned(), text: response.to_owned() }];
                let n_found = self.quotes.iter().filter(|quote| locate(quote, &parts).is_some()).count();
                QuoteStatus::of(n_found, self.quotes.len())
            }
            _ => self.quote,
        }
    }
}

fn collect_conditions<'r>(
    criteria: &'r [Criterion],
    around: &mut Vec<&'r When>,
    all: &mut Vec<Vec<&'r When>>,
) {
    for criterion in criteria {
        around.extend(&criterion.when);
        match &criterion.ask {
            CriterionKind::Group(group) => collect_conditions(&group.criteria, around, all),
            _ => all.extend(std::iter::repeat_n(around.clone(), criterion.n_questions())),
        }
        if criterion.when.is_some() {
            around.pop();
        }
    }
}

/// The outcome with its unit filled in, or why the answer is not one.
fn fill_outcome_unit(question: &Question<'_>, outcome: Outcome) -> Result<Outcome, GradeRejection> {
    let Outcome::Scored { value, unit: given } = outcome else { return Ok(outcome) };
    let criterion = question.id();
    let unit = match question.unit(&value) {
        Ok(unit) => unit,
        Err(error) => return Err(GradeRejection::OffScale { criterion, problem: error.to_string() }),
    };
    if let (Some(found), Some(expected)) = (given, unit)
        && 1e-6 < (found - expected).abs()
    {
        return Err(GradeRejection::WrongUnit { criterion, value: value.to_string(), found, expected });
    }
    Ok(Outcome::Scored { value, unit })
}
