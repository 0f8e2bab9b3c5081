//! Records before one check that a program or a service decides; results in the order of the records.

use std::io::{BufWriter, Write};
use std::path::Path;

use futures_util::{StreamExt, stream};
use jurist_core::candidate::{CaseData, JudgeInput, RecordFields};
use jurist_core::check::{ExternalCheck, ExternalInput};
use jurist_core::judge::RecordKeys;
use jurist_engine::judge::{CheckFailure, CheckPrograms, permit_check};
use jurist_engine::load::SuiteFiles;
use serde_json::{Map, Value as Json, json};

use super::judged::read_records;
use super::notices::{FieldNotices, SeenFields};
use super::{GradeArgs, RecordTally, record_id};
use crate::outcome::CommandOutcome;
use crate::render;
use crate::suite_loading::load_current_settings;

/// Records that are worked on at the same time; how many programs run at once is decided elsewhere.
const WIDTH: usize = 64;

/// Fields of a record that only programs get.
pub(super) const CASE_FIELDS: [&str; 2] = ["vars", "metadata"];

/// A record with what was decided about it.
pub(super) struct DecidedRecord {
    pub(super) record: Json,
    pub(super) line: Json,
}

pub(super) async fn grade_with_external_check(
    args: &GradeArgs,
    check: ExternalCheck,
) -> anyhow::Result<CommandOutcome> {
    permit_check(args.judging.allow_commands, &check)?;
    let resolver = args.judging.resolver(&load_current_settings()?)?;
    let project = SuiteFiles::of(Path::new("records.jsonl"), args.loading.options().outside);
    let programs = args.judging.check_programs(&resolver, project);
    let mut out = BufWriter::new(render::stdout());
    let mut tally = RecordTally::default();
    let mut notices = FieldNotices::new(CASE_FIELDS.map(str::to_owned).into());
    let records = stream::unfold(read_records(args.inputs(), WIDTH), |mut records| async move {
        records.recv().await.map(|record| (record, records))
    });
    let decided = records.map(|record| async {
        let record = record?;
        let place = record.place();
        let decided = match record.parse() {
            Ok(parsed) => decide_external_record(&place, parsed, &check, &programs).await,
            Err(problem) => Err(problem),
        };
        anyhow::Ok((place, decided))
    });
    let mut decided = std::pin::pin!(decided.buffered(WIDTH));
    while let Some(result) = decided.next().await {
        let (place, result) = result?;
        match result {
            Ok(DecidedRecord { record, line }) => {
                let mut new_fields = SeenFields::default();
                notices.note_fields(&RecordFields::read(&record), &mut new_fields);
                notices.say(new_fields);
                tally.graded += 1;
                tally.incomplete += usize::from(line.get("failure").is_some());
                writeln!(out, "{line}")?;
                out.flush()?;
            }
            Err(problem) => {
                tally.bad += 1;
                render::print_error(&format!("{place}: {problem}"));
                tally.stopped |= args.strict;
            }
        }
        if tally.stopped {
            break;
        }
    }
    out.flush()?;
    render::print_terminal_summary(&format!(
        "{} graded, {} without a score, {} unreadable",
        tally.graded, tally.incomplete, tally.bad
    ));
    Ok(tally.command_outcome())
}

pub(super) async fn decide_external_record(
    place: &str,
    record: Json,
    check: &ExternalCheck,
    programs: &CheckPrograms,
) -> Result<DecidedRecord, String> {
    let fields = RecordFields::read(&record);
    let id = record_id(&fields);
    let mut material =
        JudgeInput::from_record(&record, &RecordKeys::default()).map_err(|error| error.to_string())?;
    if material.response.is_none() && material.trace.is_none() && material.diff.is_none() {
        return Err(fields.no_output().to_string());
    }
    material.case_data = read_case_data(&record);
    let input =
        ExternalInput { case: place, material: &material, criteria: None, assertions: &[], scores: None };
    let line = match programs.decide(check, &input).await {
        Ok(verdict) => {
            let finding = verdict.finding();
            let mut line = json!({
                "id": id, "score": finding.score, "value": finding.value, "comment": finding.comment,
            });
            if !finding.metadata.is_empty() {
                line["metadata"] = Json::Object(finding.metadata);
            }
            line
        }
        Err(CheckFailure { failure, detail }) => {
            json!({ "id": id, "score": null, "value": null, "comment": detail, "failure": failure })
        }
    };
    Ok(DecidedRecord { record, line })
}

/// The fields of a record that are not graded.
pub(super) fn read_case_data(record: &Json) -> CaseData {
    let map = |key: &str| record.get(key).and_then(Json::as_object).cloned();
    let vars: Map<String, Json> = map("vars").or_else(|| map("inputs")).unwrap_or_default();
    CaseData { vars, metadata: map("metadata").unwrap_or_default(), provider: None }
}
