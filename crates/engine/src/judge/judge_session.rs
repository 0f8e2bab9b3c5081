//! One judge and one candidate: asks every question that can still change the verdict, until none is open.

use std::collections::BTreeMap;

use futures_util::future::join_all;
use jurist_core::check::CompiledCheck;
use jurist_core::grade::{Deferral, Evidence, Failure, GradedPoint, GraderKind, Outcome};
use jurist_core::judge::{
    JudgeAnswer, JudgePromptError, JudgeQuestion, JudgeReply, JudgeReplyError, Prompter, Recipe,
    RecipeAction, RecipeResult,
};
use jurist_core::rubric::{Criterion, CriterionKind, EvidenceMissing, Question, Value};
use jurist_core::score::{self, QuestionAnswer, QuoteStatus};
use jurist_core::stats::calibration::Mapping;
use jurist_core::suite::Calls;

use super::converse::{
    JudgeConversation, JudgeQuestionError, QuestionLog, ReplyReading, ReplyTurn, ask_with_repair,
};
use super::opinion::{AnsweredQuestion, JudgeAnswers, WAITS, answer_with_outcome, to_score_answer};
use super::{CheckPrograms, JudgeCase, JudgeModel, JudgeSeat};
use crate::call::{ModelClient, Tries};
use crate::embed::TextServices;

/// Quotes of one answer that are verified; further ones are ignored.
const MAX_QUOTES: usize = 20;

/// Bytes of a shared prompt prefix from which on a vendor's prompt cache pays off: one question is sent first and
/// fills the cache.
const WORTH_CACHING: usize = 8_000;

/// State of one judge's work on one candidate.
pub(super) struct JudgeSession<'a> {
    pub(super) caller: &'a ModelClient,
    pub(super) seat: JudgeSeat<'a>,
    pub(super) case: JudgeCase<'a>,
    pub(super) prompter: &'a Prompter<'a>,
    /// The rubric's description with the fields of the row, for programs that check the answer.
    pub(super) description: Option<String>,
    /// The criteria as code of a test reads them; empty if no code decides.
    pub(super) assertions: Vec<serde_json::Value>,
    pub(super) calls: Calls,
    pub(super) mappings: &'a BTreeMap<String, Mapping>,
    pub(super) text_services: Option<&'a TextServices>,
    pub(super) programs: Option<&'a CheckPrograms>,
    pub(super) transcript: bool,
}

/// An answer with the place of its question.
struct PlacedAnswer {
    place: usize,
    answer: AnsweredQuestion,
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
            for PlacedAnswer { place, answer } in self.ask_all(&questions, &first).await? {
                known[place] = Some(self.enforce_evidence(&questions[place], answer));
            }
            if first.is_empty() {
                for at in last {
                    known[at] = Some(self.ask_about_scores(questions[at].criterion, &known).await);
                }
            }
        }
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
    ) -> Result<Vec<PlacedAnswer>, JudgePromptError> {
        let is_plain = |at: &&usize| {
            let criterion = questions[**at].criterion;
            matches!(criterion.ask, CriterionKind::Question(_)) && criterion.by.contains(&GraderKind::Judge)
        };
        let together: Vec<usize> = open.iter().filter(is_plain).copied().collect();
        if self.calls == Calls::PerCriterion || together.len() < 2 {
            let each = |open: &[usize]| {
                let asks: Vec<_> = open
                    .iter()
                    .map(|&place| async move {
                        let answer = self.ask(&questions[place]).await?;
                        Ok::<_, JudgePromptError>(PlacedAnswer { place, answer })
                    })
                    .collect();
                join_all(asks)
            };
            let n_first = if 2 < together.len() && self.prompter.is_long(WORTH_CACHING) { 1 } else { 0 };
            let (first, rest) = open.split_at(n_first);
            let mut all = each(first).await;
            all.extend(each(rest).await);
            return all.into_iter().collect();
        }
        let mut groups = self.group_by_judge(questions, &together);
        groups.retain(|group| 1 < group.len());
        let mut all = Vec::new();
        for answers in join_all(groups.iter().map(|group| self.ask_together(questions, group))).await {
            all.extend(answers?);
        }
        let rest = open.iter().filter(|open| !groups.iter().any(|group| group.contains(open)));
        let each = rest.map(|&place| async move {
            Ok(PlacedAnswer { place, answer: self.ask(&questions[place]).await? })
        });
        all.extend(join_all(each).await.into_iter().collect::<Result<Vec<_>, JudgePromptError>>()?);
        Ok(all)
    }

    /// Questions that the same judge answers.
    fn group_by_judge(&self, questions: &[Question<'_>], places: &[usize]) -> Vec<Vec<usize>> {
        let judge_of = |place: usize| self.seat.judge_of(questions[place].criterion);
        let is_same = |one: &JudgeModel, other: &JudgeModel| {
            (&one.line.name, &one.line.address, one.temperature)
                == (&other.line.name, &other.line.address, other.temperature)
        };
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for &place in places {
            match groups.iter_mut().find(|group| is_same(judge_of(group[0]), judge_of(place))) {
                Some(group) => group.push(place),
                None => groups.push(vec![place]),
            }
        }
        groups
    }

    /// Asks one judge about several criteria in one call. Criteria without a usable answer are asked about again,
    /// together, as long as each round brings new answers. After a round without any, each is asked about alone.
    ///
    /// All rounds, and the first question alone, share one limit of attempts, so that the cost of a malfunctioning
    /// judge does not grow with the number of criteria.
    async fn ask_together(
        &self,
        questions: &[Question<'_>],
        together: &[usize],
    ) -> Result<Vec<PlacedAnswer>, JudgePromptError> {
        let (mut open, mut all) = (together.to_vec(), Vec::new());
        let (mut tries, mut total) = (Tries::default(), QuestionLog::default());
        while !open.is_empty() {
            if let [at] = open.as_slice()
                && !all.is_empty()
            {
                let answer = self.ask_alone(&questions[*at], &mut tries).await?;
                all.push(PlacedAnswer { place: *at, answer });
                break;
            }
            let about: Vec<&Question<'_>> = open.iter().map(|at| &questions[*at]).collect();
            let criteria: Vec<&Criterion> = about.iter().map(|question| question.criterion).collect();
            let judge_question = self.prompter.criteria(self.case.rubric, &criteria)?;
            let judge = self.seat.judge_of(criteria[0]);
            let JudgeConversation { reply, log } =
                self.converse(judge, &about, &judge_question, &mut tries).await;
            total.add(log);
            let (answers, error) = match reply {
                Ok(JudgeReply::Answers(answers)) => (answers, None),
                Ok(_) => (Vec::new(), None),
                Err(error) => (Vec::new(), Some(error)),
            };
            let settle = |place: usize| {
                let answer = match &error {
                    Some(error) => self.answer_from_error(error, QuestionLog::default(), &judge_question),
                    None => self.settle_joint_answer(&questions[place], &answers, &judge_question),
                };
                PlacedAnswer { place, answer }
            };
            let is_usable = |at: &usize| self.usable_answer(&questions[*at], &answers).is_ok();
            let is_read = |at: &usize| answer_about(&answers, &questions[*at].criterion.id).is_ok();
            let is_reply = error.as_ref().is_none_or(|error| matches!(error, JudgeQuestionError::Reply(_)));
            let is_last = tries.is_used_up() || !is_reply;
            let has_progress = open.iter().any(is_usable);
            let (settled, unanswered): (Vec<usize>, Vec<usize>) = open
                .into_iter()
                .partition(|at| is_last || if has_progress { is_usable(at) } else { is_read(at) });
            all.extend(settled.into_iter().map(settle));
            open = unanswered;
            if !has_progress {
                let mut alone = self.ask_each_alone(questions, &open, &mut tries).await?;
                open.retain(|place| !alone.iter().any(|answer| answer.place == *place));
                all.append(&mut alone);
                all.extend(open.drain(..).map(settle));
            }
        }
        // The cost of a joint call is counted with the first answer.
        if let Some(PlacedAnswer { answer: first, .. }) = all.first_mut() {
            let own = std::mem::take(&mut first.log);
            total.add(own);
            first.log = total;
        }
        Ok(all)
    }

    /// Asks about each criterion alone, after a joint reply without a usable answer. The first one shows whether the
    /// judge answers such questions at all: if it has failed, the others are not asked.
    async fn ask_each_alone(
        &self,
        questions: &[Question<'_>],
        places: &[usize],
        tries: &mut Tries,
    ) -> Result<Vec<PlacedAnswer>, JudgePromptError> {
        let Some((&place, rest)) = places.split_first() else { return Ok(Vec::new()) };
        let answer = self.ask_alone(&questions[place], tries).await?;
        let (outcome, reason) = (answer.outcome.clone(), answer.reason.clone());
        let mut all = vec![PlacedAnswer { place, answer }];
        match &outcome {
            Outcome::Failed { .. } => {}
            // The reason for which the first one waits (a cap, a batch) applies to the others too.
            Outcome::Deferred { .. } => {
                let wait = |&place: &usize| PlacedAnswer {
                    place,
                    answer: answer_with_outcome(outcome.clone(), &reason),
                };
                all.extend(rest.iter().map(wait));
            }
            _ => {
                let each = rest.iter().map(|&place| async move {
                    let answer = self.ask_alone(&questions[place], &mut Tries::default()).await?;
                    Ok(PlacedAnswer { place, answer })
                });
                all.extend(join_all(each).await.into_iter().collect::<Result<Vec<_>, JudgePromptError>>()?);
            }
        }
        Ok(all)
    }

    fn settle_joint_answer(
        &self,
        question: &Question<'_>,
        reply: &JointReply,
        judge_question: &JudgeQuestion,
    ) -> AnsweredQuestion {
        match answer_about(reply, &question.criterion.id) {
            Ok(answer) => self.answer_from_reply(
                question,
                &answer,
                QuestionLog::default(),
                &judge_question.prompt.template,
            ),
            Err(malformed) => self.answer_from_error(
                &JudgeQuestionError::Reply(malformed),
                QuestionLog::default(),
                judge_question,
            ),
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
        if let Some(result) = self.case.contests.and_then(|contest| contest.get(&question.id())) {
            let log = QuestionLog {
                spend: result.spend,
                exchanges: result.exchanges.clone(),
                ..QuestionLog::default()
            };
            return Ok(AnsweredQuestion {
                log,
                ..answer_with_outcome(result.outcome.clone(), &result.reason)
            });
        }
        let judge = self.seat.judge_of(criterion);
        match (&criterion.ask, question.node) {
            (_, Some(node)) => {
                let judge_question = self.prompter.node(node)?;
                let JudgeConversation { reply, log } =
                    self.converse(judge, &[], &judge_question, &mut Tries::default()).await;
                Ok(match reply {
                    Ok(JudgeReply::Choice { label, reason }) => {
                        let value = Value::Text(label);
                        let unit = question.unit(&value).ok().flatten();
                        let outcome = Outcome::Scored { value, unit };
                        AnsweredQuestion {
                            log,
                            template: judge_question.prompt.template,
                            ..answer_with_outcome(outcome, &reason)
                        }
                    }
                    Ok(_) => self.answer_from_error(
                        &JudgeQuestionError::Reply(JudgeReplyError::NotJson),
                        log,
                        &judge_question,
                    ),
                    Err(error) => self.answer_from_error(&error, log, &judge_question),
                })
            }
            (CriterionKind::Recipe(method), None) => {
                self.run_recipe(criterion, judge, &Recipe { method, prompter: self.prompter }).await
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
        let judge_question = self.prompter.criterion(self.case.rubric, question.criterion)?;
        let judge = self.seat.judge_of(question.criterion);
        let JudgeConversation { reply, log } =
            self.converse(judge, &[question], &judge_question, tries).await;
        Ok(match reply {
            Ok(JudgeReply::Answer(answer)) => {
                self.answer_from_reply(question, &answer, log, &judge_question.prompt.template)
            }
            Ok(_) => self.answer_from_error(
                &JudgeQuestionError::Reply(JudgeReplyError::NotJson),
                log,
                &judge_question,
            ),
            Err(error) => self.answer_from_error(&error, log, &judge_question),
        })
    }

    async fn run_recipe(
        &self,
        criterion: &Criterion,
        judge: &JudgeModel,
        recipe: &Recipe<'_>,
    ) -> Result<AnsweredQuestion, JudgePromptError> {
        let (mut replies, mut total, mut template) = (Vec::new(), QuestionLog::default(), String::new());
        loop {
            match recipe.next(&replies)? {
                RecipeAction::Done(result) => {
                    return Ok(self.answer_from_recipe(criterion, result, total, template));
                }
                RecipeAction::Ask(judge_question) => {
                    template.clone_from(&judge_question.prompt.template);
                    let JudgeConversation { reply, log } =
                        self.converse(judge, &[], &judge_question, &mut Tries::default()).await;
                    total.add(log);
                    match reply {
                        Ok(reply) => replies.push(reply),
                        Err(error) => return Ok(self.answer_from_error(&error, total, &judge_question)),
                    }
                }
            }
        }
    }

    fn answer_from_recipe(
        &self,
        criterion: &Criterion,
        result: RecipeResult,
        log: QuestionLog,
        template: String,
    ) -> AnsweredQuestion {
        let evidence = self.locate_quotes(&result.quotes);
        let RecipeResult { outcome, reason, points, .. } = result;
        let quote = QuoteStatus::of_answer(criterion, &evidence, &points);
        AnsweredQuestion { evidence, quote, points, log, template, ..answer_with_outcome(outcome, &reason) }
    }

    fn answer_from_reply(
        &self,
        question: &Question<'_>,
        answer: &JudgeAnswer,
        log: QuestionLog,
        template: &str,
    ) -> AnsweredQuestion {
        let outcome = match &answer.value {
            Some(value) => self.calibrate_outcome(question, self.score_value(question, value)),
            None => Outcome::Abstained { why: answer.reason.clone() },
        };
        let evidence = self.locate_quotes(&answer.quotes);
        let quote = self.quote_of(&evidence);
        AnsweredQuestion {
            quote,
            evidence,
            log,
            template: template.to_owned(),
            ..answer_with_outcome(outcome, &answer.reason)
        }
    }

    fn quote_of(&self, evidence: &[Evidence]) -> QuoteStatus {
        if !self.case.rubric.require_evidence {
            return QuoteStatus::NotAsked;
        }
        QuoteStatus::of_quotes(evidence)
    }

    /// The quotes that were not found, if the answer is invalid without them.
    fn unfound_quotes(&self, question: &Question<'_>, answer: &JudgeAnswer) -> Option<Vec<String>> {
        let unit = self.score_value(question, answer.value.as_ref()?).unit()?;
        if is_absence(unit, &answer.quotes) {
            return None;
        }
        let evidence = self.locate_quotes(&answer.quotes);
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

    /// Maps a judge's score to the human scale, if there is a calibration; the value of the outcome is not changed.
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
        error: &JudgeQuestionError,
        log: QuestionLog,
        judge_question: &JudgeQuestion,
    ) -> AnsweredQuestion {
        AnsweredQuestion {
            log,
            template: judge_question.prompt.template.clone(),
            ..answer_with_outcome(error.outcome(), &error.reason())
        }
    }

    /// Asks, and asks once more if the reply cannot be used or its quotes are not found.
    ///
    /// `about` are the questions that are answered on a scale and whose quotes are verified.
    async fn converse(
        &self,
        judge: &JudgeModel,
        about: &[&Question<'_>],
        judge_question: &JudgeQuestion,
        tries: &mut Tries,
    ) -> JudgeConversation<JudgeReply> {
        let read = |text: &str, turn: ReplyTurn| {
            let read = self.prompter.read(&judge_question.form, text)?;
            let malformed = match (turn, &read, about) {
                (ReplyTurn::First, JudgeReply::Answer(answer), [question]) => {
                    self.unfound_quotes(question, answer).map(JudgeReplyError::QuotesNotFound)
                }
                (ReplyTurn::First, JudgeReply::Answers(answers), _) => {
                    self.joint_reply_problem(about, answers)
                }
                (ReplyTurn::First, JudgeReply::Verdicts(verdicts), _) => {
                    self.unfound_in_verdicts(verdicts).map(JudgeReplyError::QuotesNotFound)
                }
                _ => None,
            };
            if let Some(malformed) = malformed {
                return Err(malformed);
            }
            let has_answer = match &read {
                JudgeReply::Answers(answers) => answers.iter().any(|(_, answer)| answer.is_ok()),
                _ => true,
            };
            Ok(ReplyReading { value: read, has_answer })
        };
        ask_with_repair(self.caller, judge, judge_question, self.transcript, tries, read).await
    }

    /// The problem of a joint reply without any usable answer.
    fn joint_reply_problem(&self, about: &[&Question<'_>], reply: &JointReply) -> Option<JudgeReplyError> {
        let mut first = None;
        for question in about {
            first = first.or(Some(self.usable_answer(question, reply).err()?));
        }
        first
    }

    /// The answer of a joint reply about a criterion, if its quotes are found.
    fn usable_answer(
        &self,
        question: &Question<'_>,
        reply: &JointReply,
    ) -> Result<JudgeAnswer, JudgeReplyError> {
        let answer = answer_about(reply, &question.criterion.id)?;
        match self.unfound_quotes(question, &answer) {
            Some(quotes) => Err(JudgeReplyError::QuotesNotFound(quotes)),
            None => Ok(answer),
        }
    }

    /// The quotes of requirements that were not found, if too many requirements are met without one.
    fn unfound_in_verdicts(&self, verdicts: &[Option<(bool, String)>]) -> Option<Vec<String>> {
        if !self.case.rubric.require_evidence {
            return None;
        }
        let point = |(holds, quote): &(bool, String)| {
            let is_quoted = !quote.trim().is_empty();
            let evidence = is_quoted.then(|| self.prompter.evidence(quote)).into_iter().collect();
            GradedPoint { text: String::new(), holds: *holds, evidence }
        };
        let points: Vec<GradedPoint> = verdicts.iter().flatten().map(point).collect();
        let is_missing = QuoteStatus::of_points(&points) == QuoteStatus::Missing;
        let unfound = points.into_iter().flat_map(|point| point.evidence);
        let unfound = unfound.filter(|evidence| evidence.found.is_none()).map(|evidence| evidence.quote);
        is_missing.then(|| unfound.collect())
    }
}

/// Answers of a joint reply by criterion id.
type JointReply = [(String, Result<JudgeAnswer, JudgeReplyError>)];

/// The answer of a joint reply about one criterion.
fn answer_about(reply: &JointReply, id: &str) -> Result<JudgeAnswer, JudgeReplyError> {
    let answer = reply.iter().find(|(about, _)| about == id).map(|(_, answer)| answer.clone());
    answer.unwrap_or_else(|| Err(JudgeReplyError::LeftOut(id.to_owned())))
}

/// Whether the judge reports that something is absent: the score is 0, and there is nothing to quote.
fn is_absence<T>(unit: f64, quotes: &[T]) -> bool {
    unit == 0.0 && quotes.is_empty()
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
