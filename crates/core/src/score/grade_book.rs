//! All grades of many candidates against one rubric, and the verdicts that follow from them.

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
                let criterion = self.questions[question].criterion;
                QuoteStatus::of_answer(criterion, &grade.evidence, &grade.points)
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
        for counted in entry.grades.iter().filter(|grade| counts(grade)) {
            let quote = counted.quote_in(entry.response.as_deref());
            let criterion = self.questions[counted.question].criterion;
            let is_unproven = |unit: f64| {
                // That nothing is there scores 0 as it is, and cannot be quoted.
                (0.0 < unit || !counted.quotes.is_empty())
                    && lacks_evidence(self.rubric, criterion, quote, unit)
            };
            let is_error = self.rubric.evidence_missing == Some(EvidenceMissing::Error)
                && counted.outcome.unit().is_some_and(is_unproven);
            let outcome = if is_error { &NO_EVIDENCE } else { &counted.outcome };
            answers[counted.question] = QuestionAnswer { outcome, quote };
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
                let located =
                    |quote: &String| Evidence { quote: quote.clone(), found: locate(quote, &parts) };
                QuoteStatus::of_quotes(&self.quotes.iter().map(located).collect::<Vec<_>>())
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
    let Outcome::Scored { value, unit: own_unit } = outcome else { return Ok(outcome) };
    let criterion = question.id();
    let unit = match question.unit(&value) {
        Ok(unit) => unit,
        Err(error) => return Err(GradeRejection::OffScale { criterion, problem: error.to_string() }),
    };
    if let (Some(stated), Some(expected)) = (own_unit, unit)
        && 1e-6 < (stated - expected).abs()
    {
        return Err(GradeRejection::WrongUnit {
            criterion,
            value: value.to_string(),
            found: stated,
            expected,
        });
    }
    Ok(Outcome::Scored { value, unit })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::{outcomes, rubric, rubric_with};
    use super::*;
    use crate::grade::VerdictStatus;
    use crate::rubric::{Draft, LengthPenalty, LengthUnit, Value};
    use crate::suite::{Aggregate, TieBreak};

    const MEAN: Combine = Combine::Panel { aggregate: Aggregate::Mean, tie_break: TieBreak::Fail };

    fn grade(candidate: &str, criterion: &str, grader: &str, answer: &str) -> Grade {
        let kind = if grader.starts_with("judge") { "judge" } else { "human" };
        serde_json::from_value(json!({
            "candidate": candidate, "criterion": criterion, "grader": { "kind": kind, "name": grader },
            "outcome": outcomes(answer)[0],
        }))
        .unwrap()
    }

    /// A judge's grade with quotes, each with the part in which it was found.
    fn quoting(criterion: &str, answer: &str, quotes: &[(&str, Option<&str>)]) -> Grade {
        let evidence = quotes.iter().map(|(quote, part)| {
            let location = part.map(|part| json!({ "in": part, "start": 0, "end": 1 }));
            serde_json::from_value(json!({ "quote": quote, "found": location })).unwrap()
        });
        Grade { evidence: evidence.collect(), ..grade("c", criterion, "judge", answer) }
    }

    fn only(book: &GradeBook<'_>) -> Verdict {
        let mut all: Vec<(&str, CandidateVerdict)> = book.ballots(MEAN).collect();
        match all.pop() {
            Some((_, CandidateVerdict::Single(verdict))) if all.is_empty() => verdict,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn grades_of_each_candidate_come_together_in_the_order_of_candidates() {
        let rubric = rubric("a, b");
        let mut book = GradeBook::new(&rubric);
        for (candidate, criterion, answer) in
            [("y", "b", "1"), ("x", "a", "0.5"), ("y", "a", "0"), ("x", "b", "0.5")]
        {
            book.add(grade(candidate, criterion, "ann", answer)).unwrap();
        }
        let scores: Vec<(String, Option<f64>)> = book
            .ballots(MEAN)
            .map(|(id, ballot)| match ballot {
                CandidateVerdict::Single(verdict) => (id.to_owned(), verdict.score),
                CandidateVerdict::Panel { .. } => panic!("one grader is no panel"),
            })
            .collect();
        assert_eq!(scores, [("y".to_owned(), Some(0.5)), ("x".to_owned(), Some(0.5))]);
        // What has no grade is deferred.
        book.add(grade("z", "a", "ann", "1")).unwrap();
        let Some((_, CandidateVerdict::Single(last))) = book.ballots(MEAN).last() else {
            panic!("one grader")
        };
        assert_eq!((last.status, last.counts.deferred), (VerdictStatus::Deferred, 1));
    }

    #[test]
    fn graders_of_the_same_criterion_are_a_panel_and_share_the_rest() {
        let rubric = rubric("a, b");
        let mut book = GradeBook::new(&rubric);
        for (criterion, grader, answer) in [("a", "ann", "1"), ("a", "bob", "0"), ("b", "ann", "1")] {
            book.add(grade("c", criterion, grader, answer)).unwrap();
        }
        let Some((_, CandidateVerdict::Panel { panel, members })) = book.ballots(MEAN).next() else {
            panic!("two graders")
        };
        let scores: Vec<(&str, Option<f64>)> =
            members.iter().map(|(grader, verdict)| (grader.name.as_str(), verdict.score)).collect();
        assert_eq!(scores, [("ann", Some(1.0)), ("bob", Some(0.5))]);
        assert_eq!(panel.score, Some(0.75));
    }

    #[test]
    fn what_does_not_fit_the_rubric_is_refused() {
        let (rubric, other) = (rubric("a, b"), rubric("c"));
        let mut book = GradeBook::new(&rubric);
        let version = |rubric: &Rubric, name: &str| Grade {
            rubric: Some(rubric.version().clone()),
            ..grade("c", "a", name, "1")
        };
        book.add(version(&rubric, "ann")).unwrap();
        assert!(matches!(book.add(version(&other, "bob")), Err(GradeRejection::OtherVersion { .. })));
        assert!(matches!(book.add(grade("c", "a", "ann", "0")), Err(GradeRejection::Twice { .. })));
        let unknown = book.add(grade("c", "z", "ann", "1"));
        assert!(
            matches!(unknown, Err(GradeRejection::UnknownCriterion { known, .. }) if known == ["a", "b"])
        );
        assert!(matches!(book.add(grade("c", "b", "ann", "7")), Err(GradeRejection::OffScale { .. })));
        let scored = |unit| Outcome::Scored { value: Value::Number(0.5), unit };
        let with_unit = |unit| Grade { outcome: scored(unit), ..grade("c", "b", "cid", "1") };
        assert!(matches!(book.add(with_unit(Some(0.4))), Err(GradeRejection::WrongUnit { .. })));
        book.add(with_unit(Some(0.5))).unwrap();
    }

    #[test]
    fn a_condition_is_decided_by_the_response() {
        for criteria in ["a when, b", "(a) when, b", "(a when), b"] {
            let rubric = rubric(criteria);
            for (response, score) in [("without", 1.0), ("with x", 0.5)] {
                let mut book = GradeBook::new(&rubric);
                book.candidate("c", response.to_owned());
                book.add(grade("c", "a", "ann", "0")).unwrap();
                book.add(grade("c", "b", "ann", "1")).unwrap();
                assert_eq!(only(&book).score, Some(score), "{criteria}: {response}");
            }
        }
    }

    #[test]
    fn a_length_penalty_needs_the_response() {
        let penalty = LengthPenalty { free: 2, cap: 4, penalty: 0.5, unit: LengthUnit::Words };
        let rubric = rubric_with("a", Draft { length_penalty: Some(penalty), ..Draft::default() });
        let mut book = GradeBook::new(&rubric);
        book.add(grade("c", "a", "ann", "1")).unwrap();
        assert_eq!(book.without_text(), Some("c"));
        book.candidate("c", "one two three four five".to_owned());
        assert_eq!((book.without_text(), only(&book).score), (None, Some(0.5)));
        let plain = super::super::tests::rubric("a");
        let mut without = GradeBook::new(&plain);
        without.add(grade("c", "a", "ann", "1")).unwrap();
        assert_eq!(without.without_text(), None);
    }

    #[test]
    fn recipes_are_held_to_the_quotes_that_they_ask_for() {
        use crate::catalogue::{GradingMethod, RECIPES, find_catalogue_entry};
        let status = |recipe: &str, points: &serde_json::Value| {
            let entry = find_catalogue_entry(RECIPES, recipe).unwrap();
            let params = serde_json::Map::from_iter([("requirements".to_owned(), json!(["r1", "r2"]))]);
            let ask = CriterionKind::Recipe(GradingMethod { entry, params });
            let criteria = vec![Criterion::new("a", "…", ask)];
            let draft = Draft { criteria, require_evidence: true, ..Draft::default() };
            let rubric = Rubric::new(draft).unwrap();
            let mut book = GradeBook::new(&rubric);
            let points = serde_json::from_value(points.clone()).unwrap();
            book.add(Grade { points, ..grade("c", "a", "judge", "1") }).unwrap();
            only(&book).status
        };
        let point = |quotes: &serde_json::Value| json!({ "text": "r", "holds": true, "evidence": quotes });
        let supported = json!([{ "quote": "Paris", "found": { "in": "response", "start": 0, "end": 5 } }]);
        let none = json!([]);
        assert_eq!(status("answer_relevance", &none), VerdictStatus::Pass);
        assert_eq!(status("agent_as_judge", &json!([point(&supported), point(&none)])), VerdictStatus::Pass);
        assert_eq!(status("agent_as_judge", &json!([point(&none), point(&none)])), VerdictStatus::Fail);
    }

    #[test]
    fn quotes_are_looked_for_in_the_response_that_is_there() {
        const RESPONSE: &str = "The lighthouse was finished in the year 1911 by Ingrid Solheim.";
        let true_quote = ("finished in the year 1911", None);
        let invented = ("demolished by an earthquake", None);
        let status = |missing: Option<EvidenceMissing>, grade: Grade, response: Option<&str>| {
            let draft = Draft { require_evidence: true, evidence_missing: missing, ..Draft::default() };
            let rubric = rubric_with("a", draft);
            let mut book = GradeBook::new(&rubric);
            response.iter().for_each(|text| book.candidate("c", (*text).to_owned()));
            book.add(grade).unwrap();
            only(&book).status
        };
        use VerdictStatus::{Error, Fail, Pass};
        let error = Some(EvidenceMissing::Error);
        assert_eq!(status(None, quoting("a", "1", &[true_quote]), Some(RESPONSE)), Pass);
        assert_eq!(status(None, quoting("a", "1", &[invented]), Some(RESPONSE)), Fail);
        assert_eq!(status(error, quoting("a", "1", &[invented]), Some(RESPONSE)), Error);
        assert_eq!(status(error, quoting("a", "1", &[true_quote]), Some(RESPONSE)), Pass);
        // Without the response, what the grade says of its quotes holds.
        assert_eq!(status(None, quoting("a", "1", &[true_quote]), None), Fail);
        assert_eq!(status(None, quoting("a", "1", &[("1911", Some("response"))]), None), Pass);
        // A quote of another part cannot be looked for here.
        let elsewhere = [("never written here at all", Some("diff"))];
        assert_eq!(status(None, quoting("a", "1", &elsewhere), Some(RESPONSE)), Pass);
        let mixed = [("never written here at all", Some("diff")), invented];
        assert_eq!(status(None, quoting("a", "1", &mixed), Some(RESPONSE)), Pass);
        assert_eq!(status(error, quoting("a", "1", &[]), Some(RESPONSE)), Error);
        // A quote counts once, however often it is repeated.
        let repeated = [true_quote, true_quote, ("never written here", None), invented];
        assert_eq!(status(None, quoting("a", "1", &repeated), Some(RESPONSE)), Fail);
        // People quote nothing, and a 0 without a quote is an answer.
        assert_eq!(status(error, grade("c", "a", "ann", "1"), Some(RESPONSE)), Pass);
        let person = Grade { grader: grade("c", "a", "ann", "1").grader, ..quoting("a", "1", &[invented]) };
        assert_eq!(status(error, person, Some(RESPONSE)), Pass);
        assert_eq!(status(error, quoting("a", "0", &[]), Some(RESPONSE)), Fail);
        assert_eq!(status(error, quoting("a", "0", &[invented]), Some(RESPONSE)), Error);
    }
}
