//! Records before one check that a program or a service decides; results in the order of the records.

use std::io::{BufWriter, Write};
use std::path::Path;

use futures_util::{StreamExt, stream};
use jurist_core::candidate::{CaseData, Material, RecordFields};
use jurist_core::check::{ExternalCheck, ExternalInput};
use jurist_core::judge::Keys;
use jurist_engine::judge::{CheckFailure, CheckPrograms, permit_check};
use jurist_engine::load::Project;
use jurist_engine::record_file::RawRecord;
use serde_json::{Map, Value as Json, json};

use super::super::Ended;
use super::super::judge::settings;
use super::judged::read_records;
use super::notices::{FieldNotices, SeenFields};
use super::{Args, Tally, id_of};
use crate::render;

/// Records that are worked on at the same time; how many programs run at once is decided elsewhere.
const WIDTH: usize = 64;

/// Fields of a record that only programs get.
pub(super) const CASE_FIELDS: [&str; 2] = ["vars", "metadata"];

/// A record with what was decided about it.
struct DecidedRecord {
    record: Json,
    line: Json,
}

pub(super) async fn run(args: &Args, check: ExternalCheck) -> anyhow::Result<Ended> {
    permit_check(args.judging.allow_commands, &check)?;
    let resolver = args.judging.resolver(&settings()?)?;
    let project = Project::of(Path::new("records.jsonl"), args.loading.options().outside);
    let programs = args.judging.check_programs(&resolver, project);
    let mut out = BufWriter::new(render::stdout());
    let mut tally = Tally::default();
    let mut notices = FieldNotices::new(CASE_FIELDS.map(str::to_owned).into());
    let records = stream::unfold(read_records(args.inputs(), WIDTH), |mut records| async move {
        records.recv().await.map(|record| (record, records))
    });
    let decided = records.map(|record| async {
        let record = record?;
        anyhow::Ok((record.place(), decide(&record, &check, &programs).await))
    });
    let mut decided = std::pin::pin!(decided.buffered(WIDTH));
    while let Some(result) = decided.next().await {
        let (place, result) = result?;
        match result {
            Ok(DecidedRecord { record, line }) => {
                let mut seen = SeenFields::default();
                notices.look(&RecordFields::read(&record), &mut seen);
                notices.say(seen);
                tally.graded += 1;
                tally.incomplete += usize::from(line.get("failure").is_some());
                writeln!(out, "{line}")?;
                out.flush()?;
            }
            Err(problem) => {
                tally.bad += 1;
                render::trouble(&format!("{place}: {problem}"));
                tally.stopped |= args.strict;
            }
        }
        if tally.stopped {
            break;
        }
    }
    out.flush()?;
    render::summary(&format!(
        "{} graded, {} without a score, {} not readable",
        tally.graded, tally.incomplete, tally.bad
    ));
    Ok(tally.ended())
}

async fn decide(
    raw: &RawRecord,
    check: &ExternalCheck,
    programs: &CheckPrograms,
) -> Result<DecidedRecord, String> {
    let record = raw.parse()?;
    let fields = RecordFields::read(&record);
    let id = id_of(&fields);
    let mut material = Material::from_record(&record, &Keys::default()).map_err(|error| error.to_string())?;
    if material.response.is_none() && material.trace.is_none() && material.diff.is_none() {
        return Err(fields.no_output().to_string());
    }
    material.case_data = case_data(&record);
    let place = raw.place();
    let input = ExternalInput { case: &place, material: &material, criteria: None };
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

/// What a record says besides what is graded.
pub(super) fn case_data(record: &Json) -> CaseData {
    let map = |key: &str| record.get(key).and_then(Json::as_object).cloned();
    let vars: Map<String, Json> = map("vars").or_else(|| map("inputs")).unwrap_or_default();
    CaseData { vars, metadata: map("metadata").unwrap_or_default() }
}
