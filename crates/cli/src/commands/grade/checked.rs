//! Records before checks: in batches, on all cores, results in the order of the records.

use std::cell::OnceCell;
use std::io::{BufWriter, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Context;
use futures_util::StreamExt;
use jurist_core::candidate::{RecordField, RecordFields};
use jurist_core::check::{Check, CheckFinding, CheckSubject};
use jurist_core::grade::{Outcome, VerdictStatus};
use jurist_core::rubric::{CriterionKind, Rubric};
use jurist_core::score::{QuestionAnswer, QuoteStatus, compute_verdict};
use jurist_engine::embed::TextServices;
use jurist_engine::judge::CHECK_TIME;
use jurist_engine::record_file::{RawRecord, RecordFile};
use serde_json::{Value as Json, json};

use super::check_watch::{CheckWatch, watch_checks};
use super::judged::{JudgedRecord, finding_line};
use super::notices::{FieldNotices, SeenFields};
use super::recipe::{RecipeJob, RecipeJudges, is_recipe};
use super::services::{ServiceAnswers, ServiceQuestions, asks_service};
use super::{GradeArgs, RecordTally, own_params, record_id};
use crate::commands::judge::command_outcome_for_decision;
use crate::judging::JudgingArgs;
use crate::outcome::CommandOutcome;
use crate::render;
use crate::suite_loading::load_current_settings;

/// The checks that every record is graded with.
pub(super) enum RecordChecks {
    One(Check),
    Rubric(Arc<Rubric>, Vec<Check>),
    /// Each record names its own check.
    Own,
}

/// So many records are read before they are shared out.
const BATCH: usize = 4096;

/// Models take their time, so results come in smaller portions.
const SMALL_BATCH: usize = 256;

impl RecordChecks {
    /// A rubric whose criteria are all checks.
    pub(super) fn of(rubric: &Arc<Rubric>) -> anyhow::Result<Self> {
        let mut checks = Vec::new();
        for question in rubric.questions() {
            if let CriterionKind::Check(method) = &question.criterion.ask {
                let check = Check::compile(method);
                checks.push(check.with_context(|| format!("criterion `{}`", question.criterion.id))?);
            }
        }
        Ok(Self::Rubric(Arc::clone(rubric), checks))
    }

    /// The checks of every record.
    pub(super) fn all_checks(&self) -> &[Check] {
        match self {
            Self::One(check) => std::slice::from_ref(check),
            Self::Rubric(_, checks) => checks,
            Self::Own => &[],
        }
    }

    /// Whether a record may ask a service; those that name their own check may ask for anything.
    pub(super) fn asks_services(&self) -> bool {
        matches!(self, Self::Own) || self.all_checks().iter().any(asks_service)
    }
}

pub(super) fn grade_with_checks(args: &GradeArgs, grading: &RecordChecks) -> anyhow::Result<CommandOutcome> {
    let settings = load_current_settings()?;
    let no_defer = args.judging.no_defer(&settings);
    let judges = match grading {
        RecordChecks::Own => Some(RecipeJudges::new(&args.judging, settings)),
        _ => None,
    };
    let mut stage = Stage {
        grading,
        services: grading
            .asks_services()
            .then(|| BatchServices { judging: &args.judging, made: OnceCell::new() }),
        judges,
        runtime: OnceCell::new(),
        notices: FieldNotices::default(),
        no_defer,
        strict: args.strict,
        out: BufWriter::new(render::stdout()),
        tally: RecordTally::default(),
    };
    for path in args.inputs() {
        stage.grade_file(RecordFile::open(&path)?)?;
        if stage.tally.stopped {
            break;
        }
    }
    stage.out.flush()?;
    let tally = stage.tally;
    if let Some(caller) = stage.judges.as_ref().and_then(RecipeJudges::caller) {
        args.judging.finish(caller)?;
    }
    let RecordTally { graded, failed, incomplete, bad, .. } = &tally;
    let undecided = if 0 < *incomplete { format!(", {incomplete} without a verdict") } else { String::new() };
    render::print_terminal_summary(&format!("{graded} graded, {failed} failed{undecided}, {bad} unreadable"));
    Ok(tally.command_outcome())
}

/// Everything that records pass on their way from a file to a line of output.
struct Stage<'a, W: Write> {
    grading: &'a RecordChecks,
    services: Option<BatchServices<'a>>,
    /// For records that name a recipe of their own.
    judges: Option<RecipeJudges<'a>>,
    runtime: OnceCell<tokio::runtime::Runtime>,
    notices: FieldNotices,
    no_defer: bool,
    strict: bool,
    out: W,
    tally: RecordTally,
}

impl<W: Write> Stage<'_, W> {
    fn grade_file(&mut self, mut file: RecordFile) -> anyhow::Result<()> {
        let is_slow = self.services.is_some() && !matches!(self.grading, RecordChecks::Own);
        let batch = if is_slow { SMALL_BATCH } else { BATCH };
        let mut records: Vec<RawRecord> = Vec::with_capacity(BATCH);
        loop {
            records.clear();
            // Records before the broken part of the file are graded first.
            let mut end = Ok(());
            while records.len() < batch {
                match file.next_record() {
                    Ok(Some(record)) => records.push(record),
                    Ok(None) => break,
                    Err(error) => {
                        end = Err(error);
                        break;
                    }
                }
            }
            let is_over = records.is_empty();
            if !is_over {
                self.grade_batch(&records)?;
            }
            end?;
            if is_over || self.tally.stopped {
                return Ok(());
            }
        }
    }

    fn grade_batch(&mut self, records: &[RawRecord]) -> anyhow::Result<()> {
        let answers = match &self.services {
            Some(services) => services.ask(records, self.grading)?,
            None => ServiceAnswers::default(),
        };
        let n_threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let (grading, notices) = (self.grading, &self.notices);
        let grade_part = |part: &[RawRecord], watch: &CheckWatch| {
            let mut new_fields = SeenFields::default();
            let runner = CheckRunner { answers: &answers, watch: Some(watch) };
            let graded: Vec<_> = part
                .iter()
                .map(|record| grade_record(record, grading, runner, notices, &mut new_fields))
                .collect();
            (graded, new_fields)
        };
        let grade_part = &grade_part;
        let watches: Vec<CheckWatch> = (0..n_threads).map(|_| CheckWatch::default()).collect();
        let grade_parts = || {
            std::thread::scope(|scope| {
                let parts = records.chunks(records.len().div_ceil(n_threads)).zip(&watches);
                let workers: Vec<_> =
                    parts.map(|(part, watch)| scope.spawn(move || grade_part(part, watch))).collect();
                workers
                    .into_iter()
                    .map(|worker| worker.join().expect("grading a record does not panic"))
                    .collect::<Vec<_>>()
            })
        };
        let parts = watch_checks(&watches, CHECK_TIME, grade_parts);
        let (mut graded, mut new_fields) = (Vec::with_capacity(records.len()), SeenFields::default());
        for (part, fields_of_part) in parts {
            graded.extend(part);
            new_fields.merge(fields_of_part);
        }
        if !new_fields.is_empty() {
            self.notices.say(new_fields);
        }
        if graded.iter().any(|result| matches!(result, Ok(RecordGrading::Recipe(_)))) {
            return self.judge_batch(records, graded);
        }
        for (record, step) in records.iter().zip(graded) {
            match step {
                Ok(RecordGrading::Done(graded)) => self.write(record, Ok(graded))?,
                Err(problem) => self.write(record, Err(problem))?,
                // There was no batch, or it was sent to the judges.
                Ok(RecordGrading::Recipe(_)) => {}
            }
            if self.tally.stopped {
                break;
            }
        }
        Ok(())
    }

    /// Runs the recipes of a batch concurrently and writes the results in the order of the records.
    fn judge_batch(
        &mut self,
        records: &[RawRecord],
        graded: Vec<Result<RecordGrading, String>>,
    ) -> anyhow::Result<()> {
        let Some(judges) = self.judges.take() else { return Ok(()) };
        let runtime = match self.runtime.take() {
            Some(runtime) => runtime,
            None => tokio::runtime::Builder::new_multi_thread().enable_all().build()?,
        };
        let no_defer = self.no_defer;
        let done = runtime.block_on(async {
            let each = graded.into_iter().map(|result| {
                let judges = &judges;
                async move {
                    match result {
                        Ok(RecordGrading::Done(graded)) => Ok(graded),
                        Ok(RecordGrading::Recipe(job)) => judges
                            .grade(&job)
                            .await
                            .map(|judged_record| build_recipe_line(&job, &judged_record, no_defer)),
                        Err(problem) => Err(problem),
                    }
                }
            });
            let mut results = futures_util::stream::iter(each)
                .buffered(judges.width())
                .zip(futures_util::stream::iter(records));
            while let Some((result, record)) = results.next().await {
                self.write(record, result)?;
                // The result may have cost money, and a program may be waiting for the line.
                self.out.flush()?;
                if self.tally.stopped {
                    break;
                }
            }
            anyhow::Ok(())
        });
        self.judges = Some(judges);
        let _ = self.runtime.set(runtime);
        done
    }

    fn write(&mut self, record: &RawRecord, result: Result<GradedRecordLine, String>) -> anyhow::Result<()> {
        match result {
            Ok(graded) => {
                self.tally.graded += 1;
                match graded.ended {
                    CommandOutcome::Failed => self.tally.failed += 1,
                    CommandOutcome::Incomplete => self.tally.incomplete += 1,
                    CommandOutcome::OverBudget => self.tally.over += 1,
                    _ => {}
                }
                writeln!(self.out, "{}", graded.line)?;
            }
            Err(problem) => {
                self.tally.bad += 1;
                render::print_error(&format!("{}: {problem}", record.place()));
                self.tally.stopped |= self.strict;
            }
        }
        Ok(())
    }
}

/// A record that was graded, or waits for a judge.
pub(super) enum RecordGrading {
    Done(GradedRecordLine),
    Recipe(Box<RecipeJob>),
}

pub(super) struct GradedRecordLine {
    pub(super) line: String,
    ended: CommandOutcome,
}

/// The result of a recipe in the form of a check's finding. A finding is not a verdict, so the command does not fail
/// because of it.
fn build_recipe_line(job: &RecipeJob, judged: &JudgedRecord, no_defer: bool) -> GradedRecordLine {
    let line = finding_line(judged, Some(&job.name));
    let ended = match command_outcome_for_decision(&judged.decision, no_defer) {
        CommandOutcome::Failed => CommandOutcome::Passed,
        other => other,
    };
    GradedRecordLine { line: line.to_string(), ended }
}

/// The name of the check or recipe that a record names for itself.
fn own_name<'a>(fields: &RecordFields<'a>) -> Result<&'a str, String> {
    let name = fields.non_null_value(RecordField::Evaluator).and_then(Json::as_str);
    name.ok_or_else(|| "the record names no `evaluator`; or use --check".to_owned())
}

/// The check that a record names for itself.
fn own_check(name: &str, record: &Json) -> Result<Check, String> {
    let check = Check::new(name, &own_params(record)?).map_err(|error| error.to_string())?;
    // A record may come from a stranger, who must not choose where texts are sent.
    let names_address = check.embedding_model().is_some_and(|model| model.base_url.is_some());
    if names_address { Err("a record cannot set `base_url`; use --base-url".to_owned()) } else { Ok(check) }
}

fn grade_record(
    raw: &RawRecord,
    grading: &RecordChecks,
    runner: CheckRunner<'_>,
    notices: &FieldNotices,
    new_fields: &mut SeenFields,
) -> Result<RecordGrading, String> {
    grade_parsed_record(&raw.place(), raw.parse()?, grading, runner, notices, new_fields)
}

pub(super) fn grade_parsed_record(
    place: &str,
    record: Json,
    grading: &RecordChecks,
    runner: CheckRunner<'_>,
    notices: &FieldNotices,
    new_fields: &mut SeenFields,
) -> Result<RecordGrading, String> {
    let mut fields = RecordFields::read(&record);
    if let (RecordChecks::Own, Some(params)) = (grading, record.get("params")) {
        let keys = ["question_key", "context_key", "requirements_key"];
        fields
            .unknown
            .retain(|name| keys.iter().all(|key| params.get(*key).is_none_or(|named| named != *name)));
    }
    notices.note_fields(&fields, new_fields);
    let id = record_id(&fields);
    if let RecordChecks::Own = grading {
        let name = own_name(&fields)?;
        if is_recipe(name) {
            let name = name.to_owned();
            return Ok(RecordGrading::Recipe(Box::new(RecipeJob { name, record, place: place.to_owned() })));
        }
    }
    let subject = CheckSubject::from_fields(&fields).map_err(|error| error.to_string())?;
    // A check alone takes null for an empty text, as Potato's evaluators do. A rubric treats null as a missing
    // response.
    if let (RecordChecks::Rubric(..), Some(Json::Null)) = (grading, subject.response.as_deref()) {
        return Err(fields.no_output().to_string());
    }
    Ok(RecordGrading::Done(match grading {
        RecordChecks::One(check) => build_check_line(&id, None, &runner.run(check, &subject)),
        RecordChecks::Own => {
            let name = own_name(&fields)?;
            build_check_line(&id, Some(name), &runner.run(&own_check(name, &record)?, &subject))
        }
        RecordChecks::Rubric(rubric, checks) => grade_by_rubric_checks(&id, rubric, checks, &subject, runner),
    }))
}

/// Runs checks in this process.
#[derive(Clone, Copy)]
pub(super) struct CheckRunner<'a> {
    pub(super) answers: &'a ServiceAnswers,
    /// What stops a check that takes too long, if anything does.
    pub(super) watch: Option<&'a CheckWatch>,
}

impl CheckRunner<'_> {
    pub(super) fn run(self, check: &Check, subject: &CheckSubject<'_>) -> CheckFinding {
        let model = check.embedding_model().cloned().unwrap_or_default();
        let vector = |text: &str| self.answers.embedding(&model, text);
        let moderation = match self.answers.moderation(check, subject).transpose() {
            Ok(report) => report,
            Err(why) => return CheckFinding::from_failure(why),
        };
        let run = |stop: Option<&AtomicBool>| {
            let subject = CheckSubject { stop, moderation, ..subject.clone() };
            check.run_with(&subject, &vector)
        };
        match self.watch {
            Some(watch) => watch.run(|stop| run(Some(stop))),
            None => run(None),
        }
    }
}

pub(super) fn build_check_line(id: &Json, check: Option<&str>, finding: &CheckFinding) -> GradedRecordLine {
    let mut line = finding_to_json(finding);
    line["id"] = id.clone();
    if let Some(check) = check {
        line["check"] = json!(check);
    }
    let ended = if finding.failed { CommandOutcome::Incomplete } else { CommandOutcome::Passed };
    GradedRecordLine { line: line.to_string(), ended }
}

fn finding_to_json(finding: &CheckFinding) -> Json {
    let mut json_finding =
        json!({ "score": finding.score, "value": finding.value, "comment": finding.comment });
    if finding.failed {
        json_finding["error"] = json!(finding.comment);
    }
    if !finding.metadata.is_empty() {
        json_finding["metadata"] = Json::Object(finding.metadata.clone());
    }
    json_finding
}

fn grade_by_rubric_checks(
    id: &Json,
    rubric: &Rubric,
    checks: &[Check],
    subject: &CheckSubject<'_>,
    runner: CheckRunner<'_>,
) -> GradedRecordLine {
    let findings: Vec<CheckFinding> = checks.iter().map(|check| runner.run(check, subject)).collect();
    let outcomes: Vec<Outcome> = findings.iter().map(Outcome::from).collect();
    let answers: Vec<QuestionAnswer<'_>> =
        outcomes.iter().map(|outcome| QuestionAnswer { outcome, quote: QuoteStatus::NotAsked }).collect();
    let verdict = compute_verdict(rubric, &answers, 0.0);
    let grades: Vec<Json> = rubric
        .questions()
        .zip(&findings)
        .map(|(question, check_finding)| {
            let mut grade = finding_to_json(check_finding);
            grade["criterion"] = json!(question.id());
            grade
        })
        .collect();
    let line = json!({ "id": id, "status": verdict.status, "score": verdict.score, "verdict": verdict, "grades": grades });
    let ended = match verdict.status {
        VerdictStatus::Fail => CommandOutcome::Failed,
        VerdictStatus::Error => CommandOutcome::Incomplete,
        VerdictStatus::Pass | VerdictStatus::Deferred => CommandOutcome::Passed,
    };
    GradedRecordLine { line: line.to_string(), ended }
}

/// Sends the requests of a batch's checks to services; nothing is prepared before the first one.
struct BatchServices<'a> {
    judging: &'a JudgingArgs,
    made: OnceCell<(Arc<TextServices>, tokio::runtime::Runtime)>,
}

impl BatchServices<'_> {
    fn ensure_services(&self) -> anyhow::Result<&(Arc<TextServices>, tokio::runtime::Runtime)> {
        if self.made.get().is_none() {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            let services = self.judging.text_services(&self.judging.resolver(&load_current_settings()?)?);
            let _ = self.made.set((services, runtime));
        }
        self.made.get().context("what was just set is there")
    }

    fn ask(&self, records: &[RawRecord], grading: &RecordChecks) -> anyhow::Result<ServiceAnswers> {
        let mut questions = ServiceQuestions::default();
        // Most records that name their own check name another one.
        let may_ask = |raw: &&RawRecord| {
            !matches!(grading, RecordChecks::Own) || raw.mentions("similar") || raw.mentions("moderation")
        };
        for raw in records.iter().filter(may_ask) {
            let Ok(record) = raw.parse() else { continue };
            let fields = RecordFields::read(&record);
            let Ok(subject) = CheckSubject::from_fields(&fields) else { continue };
            grading.all_checks().iter().for_each(|check| questions.add(check, &subject));
            if let RecordChecks::Own = grading
                && let Ok(check) = own_name(&fields).and_then(|name| own_check(name, &record))
            {
                questions.add(&check, &subject);
            }
        }
        if questions.is_empty() {
            return Ok(ServiceAnswers::default());
        }
        let (services, runtime) = self.ensure_services()?;
        Ok(runtime.block_on(questions.ask(services))?)
    }
}
