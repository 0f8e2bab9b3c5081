//! One judge and one candidate: asks every question that can still change the verdict, until none is open.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::future::join_all;
use jurist_core::candidate::JudgeInput;
use jurist_core::catalogue::GradingMethod;
use jurist_core::check::{
    Check, CheckSubject, CompiledCheck, ExternalCheck, ExternalInput, ExternalVerdict, ScoredCriterion,
    VerdictPart,
};
use jurist_core::grade::{
    Deferral, Evidence, FORMAT, Failure, Grade, GradeFlag, GradedPoint, Grader, GraderKind, Outcome, Reason,
};
use jurist_core::judge::{
    JudgeAnswer, JudgePromptError, JudgeQuestion, JudgeReply, JudgeReplyError, Prompter, Recipe,
    RecipeAction, RecipeResult,
};
use jurist_core::rubric::{
    CheckOf, Criterion, CriterionKind, EvidenceMissing, Polarity, Question, Rubric, Value,
};
use jurist_core::score::{self, NotComparable, QuestionAnswer, QuoteStatus};
use jurist_core::stats::Mapping;
use jurist_core::suite::Calls;

use super::converse::{JudgeExchange, JudgeQuestionError, QuestionLog, ReplyTurn, ask_with_repair};
use super::{CheckFailure, CheckPrograms, JudgeCase, JudgeModel, JudgeOpinion, permit_check};
use crate::call::{ModelClient, Tries};
use crate::embed::Embedders;

/// Quotes of one answer that are verified; further ones are ignored.
const MAX_QUOTES: usize = 20;

/// Bytes of a shared prompt prefix from which on a vendor's prompt cache pays off: one question is sent first and
/// fills the cache.
const WORTH_CACHING: usize = 8_000;

/// Time limit of a check. Its own limits end it earlier, except on an overloaded machine.
const CHECK_TIME: Duration = Duration::from_secs(60);

/// Bytes on which every check takes less than a second, so that it may run on an async thread.
const SHORT: usize = 4_000;

/// Whether checks on this input are short enough for an async thread.
fn is_quick_to_check(material: &JudgeInput) -> bool {
    let texts = [&material.response, &material.reference, &material.diff];
    material.trace.is_none()
        && material.raw_output.is_none()
        && material.raw_reference.is_none()
        && material.other_references.is_empty()
        && texts.into_iter().flatten().map(String::len).sum::<usize>() < SHORT
}

/// State of one judge's work on one candidate.
pub(super) struct JudgeSession<'a> {
    pub(super) caller: &'a ModelClient,
    pub(super) member: &'a JudgeModel,
    pub(super) case: JudgeCase<'a>,
    pub(super) prompter: &'a Prompter<'a>,
    pub(super) calls: Calls,
    pub(super) mappings: &'a BTreeMap<String, Mapping>,
    pub(super) embedders: Option<&'a Embedders>,
    pub(super) programs: Option<&'a CheckPrograms>,
    pub(super) transcript: bool,
}

/// Answers of one member in the order of the questions; `None` for questions that were not reached.
pub struct JudgeAnswers {
    answers: Vec<Option<AnsweredQuestion>>,
    verdict_in_candidate: bool,
}

impl std::fmt::Debug for JudgeAnswers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MemberAnswers").finish_non_exhaustive()
    }
}

impl JudgeAnswers {
    /// The score of each criterion, for comparison with other candidates.
    pub fn scores_to_compare(&self, rubric: &Rubric) -> Result<Vec<ScoredCriterion>, NotComparable> {
        score::scores_to_compare(rubric, &self.answers())
    }

    /// Answers for scoring. Questions that were not reached or not to be asked count as the rubric defines.
    fn answers(&self) -> Vec<QuestionAnswer<'_>> {
        let skipped = QuestionAnswer { outcome: &Outcome::NotApplicable, quote: QuoteStatus::NotAsked };
        self.answers.iter().map(|answered| answered.as_ref().map_or(skipped, to_score_answer)).collect()
    }
}

/// An answer with its evidence and cost.
struct AnsweredQuestion {
    outcome: Outcome,
    reason: String,
    evidence: Vec<Evidence>,
    /// Whether a quote was required, and whether it was found.
    quote: QuoteStatus,
    /// Whether the answer does not count because no quote supports it.
    lacks_evidence: bool,
    points: Vec<GradedPoint>,
    took: QuestionLog,
    template: String,
    kind: GraderKind,
}

/// Builds an opinion from one judge's answers. It is separate from the session, because a session prepares prompts,
/// which searches the whole candidate.
pub(super) struct OpinionBuilder<'a> {
    pub(super) member: &'a JudgeModel,
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
            let own = std::mem::take(&mut answered.took.exchanges);
            exchanges.extend(
                own.into_iter()
                    .map(|judge_exchange| JudgeExchange { criterion: criterion.clone(), ..judge_exchange }),
            );
            grades.push(self.build_grade(question, answered, verdict_in_candidate));
        }
        JudgeOpinion { judge: self.member.line.name.clone(), verdict, grades, exchanges }
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
                name: self.member.line.name.clone(),
                configuration: Some(self.configuration(&answered.template, &question.id())),
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
            spend: answered.took.spend.unwrap_or_default(),
            time: None,
            attempts: answered.took.attempts,
        }
    }

    /// Everything that influences this judge's answers besides the candidate.
    fn configuration(&self, template: &str, criterion: &str) -> String {
        let JudgeModel { line, temperature, max_tokens, draw } = self.member;
        // Keys of an object are sorted, so that the text is the same in every version of the program.
        let configuration = serde_json::json!({
            "model": line.name,
            "temperature": temperature,
            "max_tokens": max_tokens,
            "draw": draw,
            "calls": self.calls,
            "mapping": self.mappings.get(criterion),
            "template": template,
        });
        blake3::hash(configuration.to_string().as_bytes()).to_hex()[..16].to_owned()
    }
}

impl JudgeSession<'_> {
    pub(super) async fn answer(&self) -> Result<JudgeAnswers, JudgePromptError> {
        let rubric = self.case.rubric;
        let questions: Vec<Question<'_>> = rubric.questions().collect();
        let mut known: Vec<Option<AnsweredQuestion>> = self.conditions(&questions);
        loop {
            let open = {
                let answers: Vec<Option<QuestionAnswer<'_>>> = known
                    .iter()
                    .map(|answered_question| answered_question.as_ref().map(to_score_answer))
                    .collect();
                score::open_questions(rubric, &answers)
            };
            if open.is_empty() {
                let verdict_in_candidate = self.prompter.has_verdict_in_candidate();
                return Ok(JudgeAnswers { answers: known, verdict_in_candidate });
            }
            // Code that computes by the scores of the others waits for them.
            let (last, first): (Vec<usize>, Vec<usize>) =
                open.into_iter().partition(|at| questions[*at].criterion.needs_scores());
            for (at, answered) in self.ask_all(&questions, &first).await? {
                known[at] = Some(self.enforce_evidence(&questions[at], answered));
            }
            if first.is_empty() {
                for at in last {
                    known[at] = Some(self.ask_about_scores(questions[at].criterion, &known).await);
                }
            }
        }
    }

    /// A criterion that code decides by the scores of the others.
    async fn ask_about_scores(
        &self,
        criterion: &Criterion,
        known: &[Option<AnsweredQuestion>],
    ) -> AnsweredQuestion {
        let failed = |detail: String| AnsweredQuestion {
            kind: GraderKind::Check,
            ..answer_with_outcome(Outcome::Failed { failure: Failure::Crashed, detail }, "")
        };
        let CriterionKind::Check(method) = &criterion.ask else {
            return failed("only a check is given scores".to_owned());
        };
        let check = match CompiledCheck::compile(method) {
            Ok(CompiledCheck::External(check)) => check,
            Ok(_) => return failed(format!("`{}` is not given scores", method.entry.name)),
            Err(error) => return failed(error.to_string()),
        };
        let unasked = QuestionAnswer { outcome: &WAITS, quote: QuoteStatus::NotAsked };
        let answers: Vec<QuestionAnswer<'_>> =
            known.iter().map(|answered| answered.as_ref().map_or(unasked, to_score_answer)).collect();
        let scored = match score::scores_for_code(self.case.rubric, &answers) {
            Ok(scored) => scored,
            Err(missing) => return failed(format!("`{}` has no score", missing.criterion)),
        };
        let mut scores = serde_json::Map::new();
        for (name, weights) in check.scores.iter().flatten() {
            // A criterion that does not apply has no score.
            let find_score = |id: &String| scored.iter().find(|scored| scored.names.first() == Some(id));
            let found: Vec<(f64, f64)> =
                weights.iter().filter_map(|(id, weight)| Some((*weight, find_score(id)?.score))).collect();
            // Criteria that weigh nothing count alike, and a name without any score is left out: it is not 0.
            let is_weighted = found.iter().any(|(weight, _)| 0.0 < *weight);
            let weigh = |weight: f64| if is_weighted { weight } else { 1.0 };
            let total: f64 = found.iter().map(|(weight, _)| weigh(*weight)).sum();
            let sum: f64 = found.iter().map(|(weight, score)| weigh(*weight) * score).sum();
            if !found.is_empty() {
                scores.insert(name.clone(), (sum / total).into());
            }
        }
        let input = ExternalInput { scores: Some(&scores), ..self.external_input() };
        let answered = self.run_program_check(criterion, &check, &input).await;
        AnsweredQuestion { kind: GraderKind::Check, ..answered }
    }

    /// Questions that are decided without a judge.
    fn conditions(&self, questions: &[Question<'_>]) -> Vec<Option<AnsweredQuestion>> {
        let text = self.case.material.text();
        let mut out = Vec::new();
        collect_closed_questions(&self.case.rubric.criteria, &text, false, &mut out);
        questions
            .iter()
            .zip(out)
            .map(|(_, is_closed)| is_closed.then(|| answer_with_outcome(Outcome::NotApplicable, "")))
            .collect()
    }

    async fn ask_all(
        &self,
        questions: &[Question<'_>],
        open: &[usize],
    ) -> Result<Vec<(usize, AnsweredQuestion)>, JudgePromptError> {
        let is_plain = |at: &&usize| {
            let criterion = questions[**at].criterion;
            matches!(criterion.ask, CriterionKind::Question(_)) && criterion.by.contains(&GraderKind::Judge)
        };
        let together: Vec<usize> = open.iter().filter(is_plain).copied().collect();
        if self.calls == Calls::PerCriterion || together.len() < 2 {
            let each = |open: &[usize]| {
                let asks: Vec<_> = open
                    .iter()
                    .map(
                        |&at| async move { Ok::<_, JudgePromptError>((at, self.ask(&questions[at]).await?)) },
                    )
                    .collect();
                join_all(asks)
            };
            let n_ahead = if 2 < together.len() && self.prompter.is_long(WORTH_CACHING) { 1 } else { 0 };
            let (ahead, rest) = open.split_at(n_ahead);
            let mut all = each(ahead).await;
            all.extend(each(rest).await);
            return all.into_iter().collect();
        }
        let mut all = self.ask_together(questions, &together).await?;
        let rest = open.iter().filter(|open| !together.contains(open));
        let each = rest.map(|&at| async move { Ok((at, self.ask(&questions[at]).await?)) });
        all.extend(join_all(each).await.into_iter().collect::<Result<Vec<_>, JudgePromptError>>()?);
        Ok(all)
    }

    /// Asks about all criteria in one call. Criteria without a usable answer are asked about again, together, as long
    /// as each round brings new answers.
    ///
    /// All rounds share one limit of attempts, so that the cost of a malfunctioning judge does not grow with the number
    /// of criteria.
    async fn ask_together(
        &self,
        questions: &[Question<'_>],
        together: &[usize],
    ) -> Result<Vec<(usize, AnsweredQuestion)>, JudgePromptError> {
        let (mut open, mut all) = (together.to_vec(), Vec::new());
        let (mut tries, mut took) = (Tries::default(), QuestionLog::default());
        while !open.is_empty() {
            if let [at] = open.as_slice()
                && !all.is_empty()
            {
                all.push((*at, self.ask_alone(&questions[*at], &mut tries).await?));
                break;
            }
            let about: Vec<&Question<'_>> = open.iter().map(|at| &questions[*at]).collect();
            let criteria: Vec<&Criterion> = about.iter().map(|question| question.criterion).collect();
            let asked = self.prompter.criteria(self.case.rubric, &criteria)?;
            let (read, more) = self.converse(&about, &asked, &mut tries).await;
            took.add(more);
            let said =
                match read {
                    Ok(JudgeReply::Answers(said)) => said,
                    Ok(_) => Vec::new(),
                    Err(trouble) => {
                        all.extend(open.iter().map(|at| {
                            (*at, self.answer_from_error(&trouble, QuestionLog::default(), &asked))
                        }));
                        break;
                    }
                };
            let is_usable = |at: &usize| self.usable_answer(&questions[*at], &said).is_ok();
            let is_last = tries.is_used_up() || !open.iter().any(is_usable);
            let (settled, unanswered): (Vec<usize>, Vec<usize>) =
                open.into_iter().partition(|at| is_last || is_usable(at));
            all.extend(
                settled.into_iter().map(|at| (at, self.settle_joint_answer(&questions[at], &said, &asked))),
            );
            open = unanswered;
        }
        // The cost of a joint call is counted with the first answer.
        if let Some((_, first)) = all.first_mut() {
            let own = std::mem::take(&mut first.took);
            took.add(own);
            first.took = took;
        }
        Ok(all)
    }

    fn settle_joint_answer(
        &self,
        question: &Question<'_>,
        said: &JointReply,
        asked: &JudgeQuestion,
    ) -> AnsweredQuestion {
        match answer_about(said, &question.criterion.id) {
            Ok(answer) => {
                self.answer_from_reply(question, &answer, QuestionLog::default(), &asked.prompt.template)
            }
            Err(malformed) => {
                self.answer_from_error(&JudgeQuestionError::Reply(malformed), QuestionLog::default(), asked)
            }
        }
    }

    async fn ask(&self, question: &Question<'_>) -> Result<AnsweredQuestion, JudgePromptError> {
        let criterion = question.criterion;
        if let CriterionKind::Check(method) = &criterion.ask {
            let answered = match CompiledCheck::compile(method) {
                Ok(CompiledCheck::Local(check)) => self.run_local_check(check, self.case.material).await,
                Ok(CompiledCheck::External(check)) => match &check.then {
                    Some(inner) => self.run_check_on_value(&check, inner).await,
                    None => self.run_program_check(criterion, &check, &self.external_input()).await,
                },
                Ok(CompiledCheck::MaxScore(_)) => answer_with_outcome(WAITS, ""),
                Err(error) => answer_with_outcome(
                    Outcome::Failed { failure: Failure::Crashed, detail: error.to_string() },
                    "",
                ),
            };
            return Ok(AnsweredQuestion { kind: GraderKind::Check, ..answered });
        }
        if !criterion.by.contains(&GraderKind::Judge) {
            if let Some(label) = self.case.labels.and_then(|label| label.get(&question.id())) {
                let outcome = self.score_value(question, &label.value);
                let reason = label.reason.as_deref().unwrap_or_default();
                return Ok(AnsweredQuestion {
                    kind: GraderKind::Human,
                    ..answer_with_outcome(outcome, reason)
                });
            }
            return Ok(answer_with_outcome(
                Outcome::Deferred { why: Deferral::WaitsForPerson },
                "a person answers this",
            ));
        }
        if let Some(it) = self.case.contests.and_then(|contest| contest.get(&question.id())) {
            let took =
                QuestionLog { spend: it.spend, exchanges: it.exchanges.clone(), ..QuestionLog::default() };
            return Ok(AnsweredQuestion { took, ..answer_with_outcome(it.outcome.clone(), &it.reason) });
        }
        match (&criterion.ask, question.node) {
            (_, Some(node)) => {
                let asked = self.prompter.node(node)?;
                let (read, took) = self.converse(&[], &asked, &mut Tries::default()).await;
                Ok(match read {
                    Ok(JudgeReply::Choice { label, reason }) => {
                        let value = Value::Text(label);
                        let unit = question.unit(&value).ok().flatten();
                        let outcome = Outcome::Scored { value, unit };
                        AnsweredQuestion {
                            took,
                            template: asked.prompt.template,
                            ..answer_with_outcome(outcome, &reason)
                        }
                    }
                    Ok(_) => self.answer_from_error(
                        &JudgeQuestionError::Reply(JudgeReplyError::NotJson),
                        took,
                        &asked,
                    ),
                    Err(trouble) => self.answer_from_error(&trouble, took, &asked),
                })
            }
            (CriterionKind::Recipe(method), None) => {
                self.run_recipe(&Recipe { method, prompter: self.prompter }).await
            }
            _ => self.ask_alone(question, &mut Tries::default()).await,
        }
    }

    /// Asks about one criterion that is answered on a scale.
    async fn ask_alone(
        &self,
        question: &Question<'_>,
        tries: &mut Tries,
    ) -> Result<AnsweredQuestion, JudgePromptError> {
        let asked = self.prompter.criterion(self.case.rubric, question.criterion)?;
        let (read, took) = self.converse(&[question], &asked, tries).await;
        Ok(match read {
            Ok(JudgeReply::Answer(answer)) => {
                self.answer_from_reply(question, &answer, took, &asked.prompt.template)
            }
            Ok(_) => {
                self.answer_from_error(&JudgeQuestionError::Reply(JudgeReplyError::NotJson), took, &asked)
            }
            Err(trouble) => self.answer_from_error(&trouble, took, &asked),
        })
    }

    async fn run_recipe(&self, recipe: &Recipe<'_>) -> Result<AnsweredQuestion, JudgePromptError> {
        let (mut replies, mut took, mut template) = (Vec::new(), QuestionLog::default(), String::new());
        loop {
            match recipe.next(&replies)? {
                RecipeAction::Done(judged) => return Ok(self.answer_from_recipe(judged, took, template)),
                RecipeAction::Ask(asked) => {
                    template.clone_from(&asked.prompt.template);
                    let (read, more) = self.converse(&[], &asked, &mut Tries::default()).await;
                    took.add(more);
                    match read {
                        Ok(reply) => replies.push(reply),
                        Err(trouble) => return Ok(self.answer_from_error(&trouble, took, &asked)),
                    }
                }
            }
        }
    }

    fn answer_from_recipe(
        &self,
        judged: RecipeResult,
        took: QuestionLog,
        template: String,
    ) -> AnsweredQuestion {
        let evidence = self.locate_quotes(&judged.quotes);
        let RecipeResult { outcome, reason, points, .. } = judged;
        // Among the recipes only `requirements` asks for quotes, one per requirement.
        let quotes = || points.iter().flat_map(|point| &point.evidence);
        let n_found = quotes().filter(|evidence| evidence.found.is_some()).count();
        let quote = match quotes().count() {
            0 => QuoteStatus::NotAsked,
            n_quotes => QuoteStatus::of(n_found, n_quotes),
        };
        AnsweredQuestion { evidence, quote, points, took, template, ..answer_with_outcome(outcome, &reason) }
    }

    fn answer_from_reply(
        &self,
        question: &Question<'_>,
        said: &JudgeAnswer,
        took: QuestionLog,
        template: &str,
    ) -> AnsweredQuestion {
        let outcome = match &said.value {
            Some(value) => self.calibrate_outcome(question, self.score_value(question, value)),
            None => Outcome::Abstained { why: said.reason.clone() },
        };
        let evidence = self.locate_quotes(&said.quotes);
        let quote = self.quote_of(&evidence);
        AnsweredQuestion {
            quote,
            evidence,
            took,
            template: template.to_owned(),
            ..answer_with_outcome(outcome, &said.reason)
        }
    }

    fn quote_of(&self, evidence: &[Evidence]) -> QuoteStatus {
        if !self.case.rubric.require_evidence {
            return QuoteStatus::NotAsked;
        }
        QuoteStatus::of(evidence.iter().filter(|evidence| evidence.found.is_some()).count(), evidence.len())
    }

    /// The quotes that were not found, if the answer is invalid without them.
    fn unfound_quotes(&self, question: &Question<'_>, said: &JudgeAnswer) -> Option<Vec<String>> {
        let unit = self.score_value(question, said.value.as_ref()?).unit()?;
        if is_absence(unit, &said.quotes) {
            return None;
        }
        let evidence = self.locate_quotes(&said.quotes);
        let lacks =
            score::lacks_evidence(self.case.rubric, question.criterion, self.quote_of(&evidence), unit);
        let unfound =
            evidence.into_iter().filter(|evidence| evidence.found.is_none()).map(|evidence| evidence.quote);
        lacks.then(|| unfound.collect())
    }

    /// Applies the rubric's rule for missing evidence to an answer.
    fn enforce_evidence(&self, question: &Question<'_>, mut answered: AnsweredQuestion) -> AnsweredQuestion {
        let rubric = self.case.rubric;
        let Outcome::Scored { value, unit: Some(unit) } = &answered.outcome else { return answered };
        if !score::lacks_evidence(rubric, question.criterion, answered.quote, *unit) {
            return answered;
        }
        answered.lacks_evidence = true;
        let is_error = rubric.evidence_missing == Some(EvidenceMissing::Error);
        if is_error && !is_absence(*unit, &answered.evidence) {
            let detail = format!("no verifiable evidence for the answer {value}");
            answered.outcome = Outcome::Failed { failure: Failure::EvidenceNotFound, detail };
        }
        answered
    }

    fn score_value(&self, question: &Question<'_>, value: &Value) -> Outcome {
        match question.unit(value) {
            Ok(unit) => Outcome::Scored { value: value.clone(), unit },
            Err(error) => Outcome::Failed { failure: Failure::OffScale, detail: error.to_string() },
        }
    }

    /// Maps a judge's score to the human scale, if there is a calibration; the raw score is kept.
    fn calibrate_outcome(&self, question: &Question<'_>, outcome: Outcome) -> Outcome {
        match (outcome, self.mappings.get(&question.id())) {
            (Outcome::Scored { value, unit: Some(unit) }, Some(mapping)) => {
                Outcome::Scored { value, unit: Some(mapping.apply(unit).clamp(0.0, 1.0)) }
            }
            (outcome, _) => outcome,
        }
    }

    fn locate_quotes(&self, quotes: &[String]) -> Vec<Evidence> {
        quotes.iter().take(MAX_QUOTES).map(|quote| self.prompter.evidence(quote)).collect()
    }

    fn answer_from_error(
        &self,
        trouble: &JudgeQuestionError,
        took: QuestionLog,
        asked: &JudgeQuestion,
    ) -> AnsweredQuestion {
        AnsweredQuestion {
            took,
            template: asked.prompt.template.clone(),
            ..answer_with_outcome(trouble.outcome(), &trouble.reason())
        }
    }

    /// Runs a check in this process.
    async fn run_local_check(&self, check: Check, material: &JudgeInput) -> AnsweredQuestion {
        let subject = CheckSubject::from_material(material);
        let texts = check.texts(&subject);
        let vectors = match (check.embedding_model(), self.embedders) {
            (Some(model), Some(embedders)) => embedders.embed_texts(model, &texts).await,
            _ => Ok(Vec::new()),
        };
        let vectors = match vectors {
            Ok(vectors) => vectors,
            Err(error) => {
                let outcome = Outcome::Failed { failure: Failure::Unavailable, detail: error.to_string() };
                return answer_with_outcome(outcome, "");
            }
        };
        let run = move |material: &JudgeInput| {
            let vector =
                |text: &str| vectors.get(texts.iter().position(|one_text| one_text == text)?).cloned();
            check.run_with(&CheckSubject::from_material(material), &vector)
        };
        if is_quick_to_check(material) {
            let finding = run(material);
            return answer_with_outcome(Outcome::from(&finding), &finding.comment);
        }
        // Long texts may take seconds and would block other tasks of this thread.
        let material = material.clone();
        let running = tokio::task::spawn_blocking(move || run(&material));
        let failure = match tokio::time::timeout(CHECK_TIME, running).await {
            Ok(Ok(finding)) => return answer_with_outcome(Outcome::from(&finding), &finding.comment),
            Ok(Err(_)) => (Failure::Crashed, "the check was aborted".to_owned()),
            Err(_) => (Failure::Timeout, format!("the check took more than {} s", CHECK_TIME.as_secs())),
        };
        answer_with_outcome(Outcome::Failed { failure: failure.0, detail: failure.1 }, "")
    }

    /// Runs a check in this process on what code makes of the output.
    async fn run_check_on_value(&self, check: &ExternalCheck, inner: &GradingMethod) -> AnsweredQuestion {
        let computed = match self.programs {
            Some(programs) => programs.compute_value(check, &self.external_input()).await,
            None => Err(permit_check(false, check).expect_err("it was not allowed").into()),
        };
        let failed = |failure, detail| answer_with_outcome(Outcome::Failed { failure, detail }, "");
        let value = match computed {
            Ok(value) => value,
            Err(CheckFailure { failure, detail }) => return failed(failure, detail),
        };
        let response = match &value {
            serde_json::Value::String(text) => text.clone(),
            other => serde_json::to_string_pretty(other).unwrap_or_default(),
        };
        let material =
            JudgeInput { response: Some(response), raw_output: Some(value), ..self.case.material.clone() };
        match Check::compile(inner) {
            Ok(check) => self.run_local_check(check, &material).await,
            Err(error) => failed(Failure::Crashed, error.to_string()),
        }
    }

    fn external_input(&self) -> ExternalInput<'_> {
        ExternalInput {
            case: self.case.candidate,
            material: self.case.material,
            criteria: self.case.rubric.description.as_deref(),
            scores: None,
        }
    }

    /// Runs a check that a program or a service decides.
    async fn run_program_check(
        &self,
        criterion: &Criterion,
        check: &ExternalCheck,
        input: &ExternalInput<'_>,
    ) -> AnsweredQuestion {
        let decided = match self.programs {
            Some(programs) => programs.decide(check, input).await,
            None => {
                let refused = permit_check(false, check).expect_err("it was not allowed");
                Err(refused.into())
            }
        };
        match decided {
            Ok(verdict) => {
                let mark = criterion.threshold.unwrap_or(self.case.rubric.pass_mark);
                let unit = match criterion.polarity {
                    Polarity::Plain => verdict.unit(mark),
                    Polarity::Negated | Polarity::Guard => verdict.decided_unit(),
                };
                let outcome = Outcome::Scored { value: Value::Number(unit), unit: Some(unit) };
                let points = verdict.parts.iter().map(point_from_part).collect();
                AnsweredQuestion {
                    points,
                    ..answer_with_outcome(outcome, &external_check_reason(&verdict, unit))
                }
            }
            Err(CheckFailure { failure, detail }) => {
                answer_with_outcome(Outcome::Failed { failure, detail }, "")
            }
        }
    }

    /// Asks, and asks once more if the reply cannot be used or its quotes are not found.
    ///
    /// `about` are the questions that are answered on a scale and whose quotes are verified.
    async fn converse(
        &self,
        about: &[&Question<'_>],
        asked: &JudgeQuestion,
        tries: &mut Tries,
    ) -> (Result<JudgeReply, JudgeQuestionError>, QuestionLog) {
        let read = |text: &str, turn: ReplyTurn| {
            let read = self.prompter.read(&asked.form, text)?;
            let malformed = match (turn, &read, about) {
                (ReplyTurn::First, JudgeReply::Answer(answer), [question]) => {
                    self.unfound_quotes(question, answer).map(JudgeReplyError::QuotesNotFound)
                }
                (ReplyTurn::First, JudgeReply::Answers(said), _) => self.joint_reply_problem(about, said),
                (ReplyTurn::First, JudgeReply::Verdicts(verdicts), _) => {
                    self.unfound_in_verdicts(verdicts).map(JudgeReplyError::QuotesNotFound)
                }
                _ => None,
            };
            malformed.map_or(Ok(read), Err)
        };
        ask_with_repair(self.caller, self.member, asked, self.transcript, tries, read).await
    }

    /// The problem of a joint reply without any usable answer.
    fn joint_reply_problem(&self, about: &[&Question<'_>], said: &JointReply) -> Option<JudgeReplyError> {
        let mut first = None;
        for question in about {
            first = first.or(Some(self.usable_answer(question, said).err()?));
        }
        first
    }

    /// The answer of a joint reply about a criterion, if its quotes are found.
    fn usable_answer(
        &self,
        question: &Question<'_>,
        said: &JointReply,
    ) -> Result<JudgeAnswer, JudgeReplyError> {
        let answer = answer_about(said, &question.criterion.id)?;
        match self.unfound_quotes(question, &answer) {
            Some(quotes) => Err(JudgeReplyError::QuotesNotFound(quotes)),
            None => Ok(answer),
        }
    }

    /// The quotes of requirements that were not found, if there are too many.
    fn unfound_in_verdicts(&self, verdicts: &[Option<(bool, String)>]) -> Option<Vec<String>> {
        let quotes = verdicts.iter().flatten().map(|verdict| verdict.1.clone());
        let quotes: Vec<String> = quotes.filter(|quote| !quote.trim().is_empty()).collect();
        let evidence = self.locate_quotes(&quotes);
        let is_missing = !evidence.is_empty() && self.quote_of(&evidence) == QuoteStatus::Missing;
        let unfound =
            evidence.into_iter().filter(|evidence| evidence.found.is_none()).map(|evidence| evidence.quote);
        is_missing.then(|| unfound.collect())
    }
}

/// Answers of a joint reply by criterion id.
type JointReply = [(String, Result<JudgeAnswer, JudgeReplyError>)];

/// The answer of a joint reply about one criterion.
fn answer_about(said: &JointReply, id: &str) -> Result<JudgeAnswer, JudgeReplyError> {
    let answer = said.iter().find(|(about, _)| about == id).map(|(_, answer)| answer.clone());
    answer.unwrap_or_else(|| Err(JudgeReplyError::LeftOut(id.to_owned())))
}

/// Outcome of a comparison until all outputs of the case are graded.
const WAITS: Outcome = Outcome::Deferred { why: Deferral::NotGraded };

fn point_from_part(part: &VerdictPart) -> GradedPoint {
    GradedPoint { text: part.text.clone(), holds: part.passed, evidence: Vec::new() }
}

/// The program's reason, with its own score if a different one counts.
fn external_check_reason(verdict: &ExternalVerdict, unit: f64) -> String {
    let mut reason = verdict.comment.clone();
    if 1e-9 < (unit - verdict.score).abs() {
        let decision = if verdict.passed == Some(true) { "passed" } else { "did not pass" };
        reason = format!("{reason} ({decision}, with a score of {})", verdict.score);
    }
    let named = verdict.named_scores.iter().map(|(name, score)| format!("{name} {score}"));
    let named: Vec<String> = named.collect();
    if named.is_empty() { reason } else { format!("{reason} [{}]", named.join(", ")) }
}

fn answer_with_outcome(outcome: Outcome, reason: &str) -> AnsweredQuestion {
    AnsweredQuestion {
        outcome,
        reason: reason.to_owned(),
        evidence: Vec::new(),
        quote: QuoteStatus::NotAsked,
        lacks_evidence: false,
        points: Vec::new(),
        took: QuestionLog::default(),
        template: String::new(),
        kind: GraderKind::Judge,
    }
}

/// Whether the judge reports that something is absent: the score is 0, and there is nothing to quote.
fn is_absence<T>(unit: f64, quotes: &[T]) -> bool {
    unit == 0.0 && quotes.is_empty()
}

fn to_score_answer(answered: &AnsweredQuestion) -> QuestionAnswer<'_> {
    QuestionAnswer { outcome: &answered.outcome, quote: answered.quote }
}

/// For each question, depth first, whether a condition excludes it.
fn collect_closed_questions(criteria: &[Criterion], text: &str, outside: bool, out: &mut Vec<bool>) {
    for criterion in criteria {
        let is_closed = outside || criterion.when.as_ref().is_some_and(|when| !when.holds(text));
        match &criterion.ask {
            CriterionKind::Group(group) => collect_closed_questions(&group.criteria, text, is_closed, out),
            _ => out.extend(std::iter::repeat_n(is_closed, criterion.n_questions())),
        }
    }
}
