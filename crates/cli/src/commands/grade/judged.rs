//! Records before judges: as many at work as there are calls at a time, results in the order of the records.

use std::collections::VecDeque;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use jurist_core::candidate::{JudgeInput, RecordFields};
use jurist_core::grade::VerdictStatus;
use jurist_core::judge::RecordKeys;
use jurist_core::quantity::plural;
use jurist_core::rubric::Rubric;
use jurist_core::stats::consensus::effective_votes;
use jurist_core::suite::named_row_fields;
use jurist_engine::call::ModelClient;
use jurist_engine::judge::{JudgeCase, JudgeDecision, ResolvedJudges};
use jurist_engine::model::resolve::Resolver;
use jurist_engine::record_file::{RawRecord, RecordFile, RecordsError};
use serde_json::{Value as Json, json};

use super::external::{CASE_FIELDS, read_case_data};
use super::notices::{FieldNotices, SeenFields};
use super::{GradeArgs, RecordTally, record_id};
use crate::commands::judge::{command_outcome_for_decision, decision_line, finding};
use crate::judging::{BatchOutcome, JudgingArgs};
use crate::outcome::CommandOutcome;
use crate::render;
use crate::suite_loading::ChosenRubric;

/// The form of an output line with judge results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineShape {
    /// A verdict with all its grades.
    Verdict,
    /// Score, value and comment, as in the finding of a check.
    Finding,
}

/// Everything by which records are judged.
pub(super) struct JudgingContext {
    rubric: Arc<Rubric>,
    keys: RecordKeys,
    judges: ResolvedJudges,
    caller: Arc<ModelClient>,
}

/// A context, with what deserves a word in the records that it will judge.
pub(super) struct PreparedContext {
    pub(super) context: JudgingContext,
    pub(super) notices: FieldNotices,
}

/// The judges' result for each record, in the order of the records; as many at work as there are calls at a time.
pub(super) async fn grade_with_judges(
    args: &GradeArgs,
    chosen: &ChosenRubric,
    shape: LineShape,
) -> anyhow::Result<CommandOutcome> {
    let resolver = args.judging.resolver(&chosen.settings)?;
    let caller = Arc::new(args.judging.caller(&chosen.settings)?);
    let PreparedContext { context, mut notices } =
        JudgingContext::prepare(&args.judging, chosen, resolver, caller).await?;
    let court = Arc::new(context);
    let caller = &court.caller;
    let width = args.judging.width(&chosen.settings);
    let no_defer = args.judging.no_defer(&chosen.settings);
    if args.judging.batch
        && let Some(ended) = collect_batch_replies(args, &court, width).await?
    {
        return Ok(ended);
    }
    let mut out = BufWriter::new(render::stdout());
    let (mut tally, mut waiting) = (RecordTally::default(), VecDeque::new());
    let mut records = read_records(args.inputs(), width);
    let mut votes = Vec::new();
    let mut progress = render::ProgressLine::new();
    let interrupt = tokio::signal::ctrl_c();
    tokio::pin!(interrupt);
    let mut is_open = true;
    loop {
        if waiting.is_empty() && (!is_open || tally.stopped) {
            break;
        }
        let has_room = is_open && !tally.stopped && waiting.len() < width;
        let done = tokio::select! {
            record = records.recv(), if has_room => match record {
                Some(record) => {
                    let record = record?;
                    let (place, court) = (record.place(), Arc::clone(&court));
                    waiting.push_back(WaitingRecord { place, task: tokio::spawn(court.judge(record)) });
                    continue;
                }
                None => {
                    is_open = false;
                    continue;
                }
            },
            done = await_first_record(&mut waiting), if !waiting.is_empty() => done.context("grading a record does not panic")?,
            _ = &mut interrupt => {
                out.flush()?;
                args.judging.finish(caller)?;
                return Ok(CommandOutcome::Interrupted);
            }
        };
        let Some(WaitingRecord { place, .. }) = waiting.pop_front() else { break };
        match done {
            Ok(judged) => {
                let mut new_fields = SeenFields::default();
                notices.note_fields(&RecordFields::read(&judged.record), &mut new_fields);
                notices.say(new_fields);
                let decision = &judged.decision;
                let status = command_outcome_for_decision(decision, no_defer);
                tally.graded += 1;
                // A finding is not a verdict, so it does not fail the command.
                tally.failed += usize::from(status == CommandOutcome::Failed && shape == LineShape::Verdict);
                tally.incomplete += usize::from(status == CommandOutcome::Incomplete);
                tally.over += usize::from(status == CommandOutcome::OverBudget);
                tally.deferred += usize::from(decision.status == VerdictStatus::Deferred);
                let scores: Option<Vec<f64>> =
                    decision.opinions.iter().map(|opinion| opinion.verdict.score).collect();
                votes.extend(scores.filter(|_| decision.panel.is_some() && !decision.escalated));
                let line = match shape {
                    LineShape::Verdict => decision_line(&judged.id, decision),
                    LineShape::Finding => finding_line(&judged, None),
                };
                writeln!(out, "{line}")?;
                // The result may have cost money, and a program may be waiting for the line.
                out.flush()?;
            }
            Err(problem) => {
                tally.bad += 1;
                render::print_error(&format!("{place}: {problem}"));
                tally.stopped |= args.strict;
                if tally.stopped {
                    break;
                }
            }
        }
        progress.show(|| format!("{} graded · {}", tally.graded, format_spent_amount(caller)));
    }
    progress.clear();
    out.flush()?;
    args.judging.finish(caller)?;
    let read = caller.meter.read();
    render::print_note(&format!(
        "{} graded, {} failed, {}, {} deferred, {} unreadable · {} requests, {} from cache · {}",
        tally.graded,
        tally.failed,
        plural(tally.incomplete, "error"),
        tally.deferred,
        tally.bad,
        read.requests,
        read.from_cache,
        format_spent_amount(caller)
    ));
    if let Some(effective) = effective_votes(&votes) {
        let n = court.judges.members.len();
        render::print_note(&format!(
            "{n} judges are worth {effective:.1} independent votes (from the correlation of their scores)"
        ));
    }
    Ok(tally.command_outcome())
}

fn format_spent_amount(caller: &ModelClient) -> String {
    caller.budget.spent_amount().map_or("cost not known".to_owned(), |usd| usd.to_string())
}

/// Gets every reply that the records ask for in batches; a tree's next question waits for the next one.
///
/// How it ends, if it does not get them.
async fn collect_batch_replies(
    args: &GradeArgs,
    court: &Arc<JudgingContext>,
    width: usize,
) -> anyhow::Result<Option<CommandOutcome>> {
    let paths = args.inputs();
    anyhow::ensure!(
        !paths.iter().any(|path| path.as_os_str() == "-"),
        "--batch reads its records several times; give a file"
    );
    loop {
        let mut records = read_records(paths.clone(), width);
        let mut waiting = VecDeque::new();
        while let Some(record) = records.recv().await {
            let record = record?;
            let court = Arc::clone(court);
            waiting.push_back(tokio::spawn(async move { court.judge(record).await.map(|_| ()) }));
            if width <= waiting.len()
                && let Some(task) = waiting.pop_front()
            {
                let _ = task.await;
            }
        }
        for task in waiting {
            let _ = task.await;
        }
        match args.judging.run_batch(&court.caller).await? {
            BatchOutcome::Nothing => return Ok(None),
            BatchOutcome::Done => {}
            BatchOutcome::Failed => return Ok(Some(CommandOutcome::Incomplete)),
        }
    }
}

/// The first that waits, done.
async fn await_first_record(
    waiting: &mut VecDeque<WaitingRecord>,
) -> Result<Judgement, tokio::task::JoinError> {
    match waiting.front_mut() {
        Some(first) => (&mut first.task).await,
        None => std::future::pending().await,
    }
}

/// A record that is before its judges.
struct WaitingRecord {
    place: String,
    task: tokio::task::JoinHandle<Judgement>,
}

/// A record with what its judges decided.
pub(super) struct JudgedRecord {
    pub(super) id: Json,
    pub(super) record: Json,
    pub(super) decision: JudgeDecision,
}

type Judgement = Result<JudgedRecord, String>;
pub(super) type Records = tokio::sync::mpsc::Receiver<Result<RawRecord, RecordsError>>;

/// Records, read on a thread of its own, since a pipe may keep us waiting.
pub(super) fn read_records(paths: Vec<PathBuf>, width: usize) -> Records {
    let (sender, receiver) = tokio::sync::mpsc::channel(width);
    std::thread::spawn(move || {
        for path in paths {
            let mut file = match RecordFile::open(&path) {
                Ok(file) => file,
                Err(error) => return drop(sender.blocking_send(Err(error))),
            };
            while let Some(record) = file.next_record().transpose() {
                let is_over = record.is_err();
                if sender.blocking_send(record).is_err() || is_over {
                    return;
                }
            }
        }
    });
    receiver
}

impl JudgingContext {
    pub(super) async fn prepare(
        judging: &JudgingArgs,
        chosen: &ChosenRubric,
        resolver: Arc<Resolver>,
        caller: Arc<ModelClient>,
    ) -> anyhow::Result<PreparedContext> {
        let (rubric, judges) = judging.prepare_judges_with(chosen, resolver).await?;
        let keys = RecordKeys::of_rubric(&rubric)?;
        let of_programs = rubric.external_checks().next().map(|_| CASE_FIELDS).into_iter().flatten();
        let named = keys.names().chain(of_programs).map(str::to_owned);
        let used = named_row_fields(&rubric).into_iter().chain(named).collect();
        let context = Self { rubric, keys, judges, caller };
        Ok(PreparedContext { context, notices: FieldNotices::new(used) })
    }

    async fn judge(self: Arc<Self>, raw: RawRecord) -> Judgement {
        self.judge_parsed(&raw.place(), raw.parse()?).await
    }

    pub(super) fn client(&self) -> &ModelClient {
        &self.caller
    }

    pub(super) async fn judge_parsed(&self, place: &str, record: Json) -> Judgement {
        judge_record(place, record, &self.keys, &self.rubric, &self.judges, &self.caller).await
    }
}

/// Has one record judged by a rubric.
pub(super) async fn judge_record(
    place: &str,
    record: Json,
    keys: &RecordKeys,
    rubric: &Rubric,
    judges: &ResolvedJudges,
    caller: &ModelClient,
) -> Judgement {
    let fields = RecordFields::read(&record);
    // A record without an id is named by its position.
    let id = match record_id(&fields) {
        Json::Null => Json::from(place),
        id => id,
    };
    let mut material = JudgeInput::from_record(&record, keys).map_err(|error| error.to_string())?;
    if material.response.is_none() && material.trace.is_none() && material.diff.is_none() {
        return Err(fields.no_output().to_string());
    }
    material.case_data = read_case_data(&record);
    let candidate = id.as_str().map_or_else(|| id.to_string(), str::to_owned);
    let case = JudgeCase {
        candidate: &candidate,
        material: &material,
        row: record.as_object(),
        rubric,
        labels: None,
        contests: None,
    };
    let decision = judges.decide(caller, case).await.map_err(|error| error.to_string())?;
    Ok(JudgedRecord { id, record, decision })
}

/// The judge results in the form of a check's result.
pub(super) fn finding_line(judged: &JudgedRecord, check: Option<&str>) -> Json {
    let is_tree = judged.decision.opinions.iter().any(|opinion| !opinion.verdict.path.is_empty());
    let mut line = Json::Object(finding(&judged.decision, is_tree));
    line["id"] = judged.id.clone();
    line["spend"] = json!(judged.decision.spend);
    if judged.decision.panel.is_some() {
        line["score"] = json!(judged.decision.score);
    }
    if let Some(check) = check {
        line["check"] = json!(check);
    }
    line
}
