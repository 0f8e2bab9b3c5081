//! The answers of one judge, and the opinion that is built from them.

use std::collections::BTreeMap;

use jurist_core::check::ScoredCriterion;
use jurist_core::grade::{
    Deferral, Evidence, FORMAT, Failure, Grade, GradeFlag, GradedPoint, Grader, GraderKind, Outcome, Reason,
};
use jurist_core::rubric::{CheckOf, CriterionKind, Question, Rubric};
use jurist_core::score::{self, NotComparable, QuestionAnswer, QuoteStatus};
use jurist_core::stats::calibration::Mapping;
use jurist_core::suite::Calls;

use super::converse::{JudgeExchange, QuestionLog};
use super::{JudgeCase, JudgeModel, JudgeOpinion, JudgeSeat};

/// Answers of one member in the order of the questions; `None` for questions that were not reached.
pub struct JudgeAnswers {
    pub(super) answers: Vec<Option<AnsweredQuestion>>,
    pub(super) verdict_in_candidate: bool,
}

impl std::fmt::Debug for JudgeAnswers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JudgeAnswers").finish_non_exhaustive()
    }
}

impl JudgeAnswers {
    /// The score of each criterion, for comparison with other candidates.
    pub fn scores_to_compare(&self, rubric: &Rubric) -> Result<Vec<ScoredCriterion>, NotComparable> {
        score::scores_to_compare(rubric, &self.answers())
    }

    /// Answers for scoring. Questions without an answer (not reached, or excluded) count as not applicable.
    fn answers(&self) -> Vec<QuestionAnswer<'_>> {
        let skipped = QuestionAnswer { outcome: &Outcome::NotApplicable, quote: QuoteStatus::NotAsked };
        self.answers.iter().map(|answered| answered.as_ref().map_or(skipped, to_score_answer)).collect()
    }
}

/// An answer with its evidence and cost.
pub(super) struct AnsweredQuestion {
    pub(super) outcome: Outcome,
    pub(super) reason: String,
    pub(super) evidence: Vec<Evidence>,
    /// Whether a quote was required, and whether it was found.
    pub(super) quote: QuoteStatus,
    /// Whether the answer does not count because no quote supports it.
    pub(super) lacks_evidence: bool,
    pub(super) points: Vec<GradedPoint>,
    pub(super) log: QuestionLog,
    pub(super) template: String,
    pub(super) kind: GraderKind,
}

/// Builds an opinion from one judge's answers. It is separate from the session, because a session prepares prompts,
/// which searches the whole candidate.
pub(super) struct OpinionBuilder<'a> {
    pub(super) seat: JudgeSeat<'a>,
    pub(super) case: JudgeCase<'a>,
    pub(super) calls: Calls,
    pub(super) mappings: &'a BTreeMap<String, Mapping>,
}

impl OpinionBuilder<'_> {
    pub(super) fn conclude(&self, mut answers: JudgeAnswers) -> JudgeOpinion {
        let verdict_in_candidate = answers.verdict_in_candidate;
        let rubric = self.case.rubric;
        let questions: Vec<Question<'_>> = rubric.questions().collect();
        for CheckOf { criterion, .. } in rubric.max_scores() {
            let Some(at) = questions.iter().position(|question| question.criterion.id == criterion.id) else {
                continue;
            };
            // A question that a condition excludes stays excluded.
            if answers.answers[at]
                .as_ref()
                .is_some_and(|answered_question| answered_question.outcome == WAITS)
            {
                answers.answers[at] = Some(self.contest_answer(&criterion.id));
            }
        }
        let penalty = rubric
            .length_penalty
            .map_or(0.0, |length_penalty| length_penalty.of(self.case.material.answer()));
        let verdict = score::compute_verdict(rubric, &answers.answers(), penalty);
        let (mut grades, mut exchanges) = (Vec::new(), Vec::new());
        for (question, answered) in questions.iter().zip(answers.answers) {
            let Some(mut answered) = answered else { continue };
            let criterion = question.id();
            let own = std::mem::take(&mut answered.log.exchanges);
            exchanges.extend(
                own.into_iter()
                    .map(|judge_exchange| JudgeExchange { criterion: criterion.clone(), ..judge_exchange }),
            );
            grades.push(self.build_grade(question, answered, verdict_in_candidate));
        }
        JudgeOpinion { judge: self.seat.member.line.name.clone(), verdict, grades, exchanges }
    }

    /// The candidate's result in a comparison, if there was one.
    fn contest_answer(&self, criterion: &str) -> AnsweredQuestion {
        let answered = match self.case.contests.and_then(|contest| contest.get(criterion)) {
            Some(contested) => answer_with_outcome(contested.outcome.clone(), &contested.reason),
            None => {
                let detail = "`max-score` compares several outputs of one case; use it with `jurist eval`";
                answer_with_outcome(
                    Outcome::Failed { failure: Failure::Crashed, detail: detail.to_owned() },
                    "",
                )
            }
        };
        AnsweredQuestion { kind: GraderKind::Check, ..answered }
    }

    fn build_grade(
        &self,
        question: &Question<'_>,
        answered: AnsweredQuestion,
        verdict_in_candidate: bool,
    ) -> Grade {
        let grader = match (answered.kind, &question.criterion.ask) {
            (GraderKind::Check, CriterionKind::Check(method)) => {
                Grader { kind: GraderKind::Check, name: method.entry.name.to_owned(), configuration: None }
            }
            (GraderKind::Human, _) => {
                let label = self.case.labels.and_then(|label| label.get(&question.id()));
                let name = label.and_then(|label| label.by.clone()).unwrap_or_else(|| "a person".to_owned());
                Grader { kind: GraderKind::Human, name, configuration: None }
            }
            _ if answered.outcome == (Outcome::Deferred { why: Deferral::WaitsForPerson }) => {
                Grader { kind: GraderKind::Human, name: "not assigned".to_owned(), configuration: None }
            }
            _ => Grader {
                kind: GraderKind::Judge,
                name: self.seat.judge_of(question.criterion).line.name.clone(),
                configuration: Some(self.configuration(question, &answered.template)),
            },
        };
        let is_planted = grader.kind == GraderKind::Judge && verdict_in_candidate;
        let flags = [
            is_planted.then_some(GradeFlag::VerdictInCandidate),
            answered.lacks_evidence.then_some(GradeFlag::NoVerifiableEvidence),
        ];
        Grade {
            format: FORMAT,
            candidate: self.case.candidate.to_owned(),
            rubric: Some(self.case.rubric.version().clone()),
            criterion: question.id(),
            grader,
            outcome: answered.outcome,
            reason: Reason::new(&answered.reason),
            evidence: answered.evidence,
            points: answered.points,
            flags: flags.into_iter().flatten().collect(),
            spend: answered.log.spend.unwrap_or_default(),
            time: None,
            attempts: answered.log.attempts,
        }
    }

    /// Everything that influences this judge's answers, except the candidate.
    fn configuration(&self, question: &Question<'_>, template: &str) -> String {
        let JudgeModel { line, temperature, max_tokens, draw } = self.seat.judge_of(question.criterion);
        // Keys of an object are sorted, so that the text is the same in every version of the program.
        let configuration = serde_json::json!({
            "model": line.name,
            "temperature": temperature,
            "max_tokens": max_tokens,
            "draw": draw,
            "calls": self.calls,
            "mapping": self.mappings.get(&question.id()),
            "template": template,
        });
        blake3::hash(configuration.to_string().as_bytes()).to_hex()[..16].to_owned()
    }
}

/// Outcome of a comparison until all outputs of the case are graded.
pub(super) const WAITS: Outcome = Outcome::Deferred { why: Deferral::NotGraded };

pub(super) fn answer_with_outcome(outcome: Outcome, reason: &str) -> AnsweredQuestion {
    AnsweredQuestion {
        outcome,
        reason: reason.to_owned(),
        evidence: Vec::new(),
        quote: QuoteStatus::NotAsked,
        lacks_evidence: false,
        points: Vec::new(),
        log: QuestionLog::default(),
        template: String::new(),
        kind: GraderKind::Judge,
    }
}

pub(super) fn to_score_answer(answered: &AnsweredQuestion) -> QuestionAnswer<'_> {
    QuestionAnswer { outcome: &answered.outcome, quote: answered.quote }
}
