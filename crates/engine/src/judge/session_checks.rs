//! The criteria that code decides: checks in this process, programs, and code that computes by other scores.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jurist_core::candidate::JudgeInput;
use jurist_core::catalogue::GradingMethod;
use jurist_core::check::{
    Check, CheckFinding, CheckSubject, CompiledCheck, ExternalCheck, ExternalInput, ExternalVerdict,
    ModerationReport, VerdictPart,
};
use jurist_core::grade::{Failure, GradedPoint, GraderKind, Outcome};
use jurist_core::rubric::{Criterion, CriterionKind, Polarity, Value};
use jurist_core::score::{self, QuestionAnswer, QuoteStatus};

use super::judge_session::JudgeSession;
use super::opinion::{AnsweredQuestion, WAITS, answer_with_outcome, to_score_answer};
use super::{CheckFailure, permit_check};
use crate::background::run_on_blocking_thread;
use crate::embed::NoModeration;

/// Time limit of a check. Its own limits end it earlier, except on an overloaded machine.
pub const CHECK_TIME: Duration = Duration::from_secs(60);

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

/// Tells a check on another thread that its finding is no longer needed: its time is over, or the run was cancelled.
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs a check on a thread of its own, for so long at most.
async fn run_long_check(
    check: impl FnOnce(&AtomicBool) -> CheckFinding + Send + 'static,
    limit: Duration,
) -> AnsweredQuestion {
    let stop = StopOnDrop(Arc::default());
    let flag = Arc::clone(&stop.0);
    let running = run_on_blocking_thread(move || check(&flag));
    let (failure, detail) = match tokio::time::timeout(limit, running).await {
        Ok(Ok(finding)) => return answer_with_outcome(Outcome::from(&finding), &finding.comment),
        Ok(Err(_)) => (Failure::Crashed, "the check was aborted".to_owned()),
        Err(_) => (Failure::Timeout, format!("the check took more than {} s", limit.as_secs_f64())),
    };
    answer_with_outcome(Outcome::Failed { failure, detail }, "")
}

impl JudgeSession<'_> {
    /// A criterion that code decides by the scores of the others.
    pub(super) async fn ask_about_scores(
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
            let weighted_scores: Vec<(f64, f64)> =
                weights.iter().filter_map(|(id, weight)| Some((*weight, find_score(id)?.score))).collect();
            // If no criterion has a weight, all count equally. A name without any score is left out: it is not 0.
            let is_weighted = weighted_scores.iter().any(|(weight, _)| 0.0 < *weight);
            let weigh = |weight: f64| if is_weighted { weight } else { 1.0 };
            let total: f64 = weighted_scores.iter().map(|(weight, _)| weigh(*weight)).sum();
            let sum: f64 = weighted_scores.iter().map(|(weight, score)| weigh(*weight) * score).sum();
            if !weighted_scores.is_empty() {
                scores.insert(name.clone(), (sum / total).into());
            }
        }
        let input = ExternalInput { scores: Some(&scores), ..self.external_input() };
        let answered = self.run_program_check(criterion, &check, &input).await;
        AnsweredQuestion { kind: GraderKind::Check, ..answered }
    }

    /// Runs a check in this process.
    pub(super) async fn run_local_check(&self, check: Check, material: &JudgeInput) -> AnsweredQuestion {
        let subject = CheckSubject::from_material(material);
        let texts = check.texts(&subject);
        let vectors = match (check.embedding_model(), self.text_services) {
            (Some(model), Some(text_services)) => text_services.embed_texts(model, &texts).await,
            _ => Ok(Vec::new()),
        };
        let vectors = match vectors {
            Ok(vectors) => vectors,
            Err(error) => {
                let outcome = Outcome::Failed { failure: Failure::Unavailable, detail: error.to_string() };
                return answer_with_outcome(outcome, "");
            }
        };
        let moderation = match self.moderate_response(&check, &subject).await {
            Ok(report) => report,
            Err(error) => {
                let outcome = Outcome::Failed { failure: Failure::Unavailable, detail: error.to_string() };
                return answer_with_outcome(outcome, "");
            }
        };
        let run = move |material: &JudgeInput, stop: Option<&AtomicBool>| {
            let vector =
                |text: &str| vectors.get(texts.iter().position(|one_text| one_text == text)?).cloned();
            let moderation = moderation.as_ref();
            let subject = CheckSubject { stop, moderation, ..CheckSubject::from_material(material) };
            check.run_with(&subject, &vector)
        };
        if is_quick_to_check(material) {
            let finding = run(material, None);
            return answer_with_outcome(Outcome::from(&finding), &finding.comment);
        }
        // Long texts may take seconds and would block other tasks of this thread.
        let material = material.clone();
        run_long_check(move |stop| run(&material, Some(stop)), CHECK_TIME).await
    }

    /// The report of a moderation service about the response, if the check uses one.
    async fn moderate_response(
        &self,
        check: &Check,
        subject: &CheckSubject<'_>,
    ) -> Result<Option<ModerationReport>, NoModeration> {
        let moderation =
            check.moderation_model().zip(check.text_to_moderate(subject)).zip(self.text_services);
        match moderation {
            Some(((model, text), text_services)) => text_services.moderate(model, &text).await.map(Some),
            None => Ok(None),
        }
    }

    /// Runs a check in this process on the value that code computes from the output.
    pub(super) async fn run_check_on_value(
        &self,
        check: &ExternalCheck,
        inner: &GradingMethod,
    ) -> AnsweredQuestion {
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

    pub(super) fn external_input(&self) -> ExternalInput<'_> {
        ExternalInput {
            case: self.case.candidate,
            material: self.case.material,
            criteria: self.description.as_deref(),
            assertions: &self.assertions,
            scores: None,
        }
    }

    /// Runs a check that a program or a service decides.
    pub(super) async fn run_program_check(
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
}

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

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(30);

    /// A check that compares without end, and sends a message when it is stopped.
    fn endless(ended: mpsc::Sender<()>) -> impl FnOnce(&AtomicBool) -> CheckFinding + Send + 'static {
        move |stop: &AtomicBool| {
            let references = vec![serde_json::json!("b"); 1_000];
            let check = Check::new("edit_distance", &serde_json::json!({})).expect("a check");
            let subject = CheckSubject {
                other_references: &references,
                stop: Some(stop),
                ..CheckSubject::from_outputs(&references[0], Some(&references[0]))
            };
            loop {
                let finding = check.run(&subject);
                if finding.failed {
                    ended.send(()).expect("the test waits");
                    return finding;
                }
            }
        }
    }

    #[tokio::test]
    async fn a_check_over_its_time_has_no_score_and_stops() {
        let (ended, end) = mpsc::channel();
        let answered = run_long_check(endless(ended), Duration::from_millis(20)).await;
        let detail = "the check took more than 0.02 s".to_owned();
        assert_eq!(answered.outcome, Outcome::Failed { failure: Failure::Timeout, detail });
        end.recv_timeout(PATIENCE).expect("the thread stops");
    }

    #[tokio::test]
    async fn a_check_that_nobody_waits_for_stops() {
        let (ended, end) = mpsc::channel();
        let waiting = run_long_check(endless(ended), CHECK_TIME);
        assert!(tokio::time::timeout(Duration::from_millis(20), waiting).await.is_err());
        end.recv_timeout(PATIENCE).expect("the thread stops");
    }
}
