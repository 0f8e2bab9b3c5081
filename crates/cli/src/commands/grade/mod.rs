mod checked;
mod judged;

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use anyhow::Context;
use jurist_core::check::Check;
use jurist_core::rubric::Ask;
use serde_json::Value as Json;

use super::judging::{Judging, wait_for};
use super::{Ended, Loading, rubric};
use checked::Grading;

/// Grade records with checks, at memory speed, or with judges, as fast as they answer
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A record is a line of JSON with `output` (also: outputs, response, trace), perhaps `reference`
(also: reference_outputs, expected) and `id`. It may name its own check: `evaluator` and `params`.
Judges also see `input` (also: inputs, question), `context` and `diff`.
Records stream: memory does not grow with the file, all cores work, results keep the order.

Examples:
  jurist grade answers.jsonl --check contains --params '{\"value\": \"Paris\"}'
  jurist grade runs.jsonl --check trajectory_match --params '{\"mode\": \"unordered\"}'
  jurist grade answers.jsonl --rubric rubric.yaml      a whole rubric: a verdict for each record
  jurist grade answers.jsonl --rubric rubric.yaml --judge gpt-5-mini --max-cost 2
  cat cases.jsonl | jurist grade                       records that carry their own check")]
pub struct Args {
    /// Records, one JSON object per line; standard input without any
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The check to run on every record; `jurist checks` lists them
    #[arg(long, value_name = "NAME", conflicts_with = "rubric")]
    check: Option<String>,
    /// Its parameters
    #[arg(long, value_name = "JSON", requires = "check", default_value = "{}")]
    params: String,
    /// A rubric; judges answer what its checks do not
    #[arg(long, value_name = "FILE")]
    rubric: Option<PathBuf>,
    /// Which rubric, where the file has several
    #[arg(long, value_name = "NAME", requires = "rubric")]
    rubric_name: Option<String>,
    /// Stop at the first record that cannot be read
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    judging: Judging,
    #[command(flatten)]
    loading: Loading,
}

pub fn run(args: &Args) -> anyhow::Result<Ended> {
    let grading = match (&args.check, &args.rubric) {
        (Some(name), _) => {
            let params: Json = serde_json::from_str(&args.params).context("`--params` is not JSON")?;
            Grading::One(Check::new(name, &params)?)
        }
        (None, Some(path)) => {
            let Some(chosen) = rubric(path, args.rubric_name.as_deref(), "--rubric-name", &args.loading)?
            else {
                return Ok(Ended::BadInput);
            };
            if !chosen.rubric.questions().all(|it| matches!(it.criterion.ask, Ask::Check(_))) {
                return wait_for(judged::run(args, &chosen));
            }
            Grading::of(&chosen.rubric)?
        }
        (None, None) => Grading::Own,
    };
    checked::run(args, &grading)
}

impl Args {
    fn inputs(&self) -> Vec<PathBuf> {
        if self.files.is_empty() { vec![PathBuf::from("-")] } else { self.files.clone() }
    }
}

fn opened(path: &Path) -> anyhow::Result<Box<dyn BufRead + Send>> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(BufReader::new(std::io::stdin())));
    }
    let file = File::open(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    Ok(Box::new(BufReader::with_capacity(1 << 20, file)))
}

/// What came of the records.
#[derive(Default)]
struct Tally {
    graded: usize,
    failed: usize,
    /// Without a verdict, because a grader broke.
    incomplete: usize,
    /// Without a verdict, because there was no money left.
    over: usize,
    /// Without a verdict, because somebody was not asked.
    deferred: usize,
    bad: usize,
    stopped: bool,
}

impl Tally {
    fn ended(&self) -> Ended {
        match self {
            Self { stopped: true, .. } => Ended::BadInput,
            Self { failed, .. } if 0 < *failed => Ended::Failed,
            Self { over, .. } if 0 < *over => Ended::OverBudget,
            Self { bad, incomplete, .. } if 0 < bad + incomplete => Ended::Incomplete,
            _ => Ended::Passed,
        }
    }
}

fn record(line: &[u8]) -> Result<Json, String> {
    let line = std::str::from_utf8(line).map_err(|_| "not text in UTF-8".to_owned())?;
    let record: Json = serde_json::from_str(line.trim_start_matches('\u{feff}'))
        .map_err(|error| format!("not JSON: {error}"))?;
    if record.is_object() { Ok(record) } else { Err("a record must be a JSON object".to_owned()) }
}

/// Ids from outside are kept as given.
fn id_of(record: &Json) -> Json {
    ["id", "candidate", "trace_id"].iter().find_map(|it| record.get(*it)).cloned().unwrap_or(Json::Null)
}
