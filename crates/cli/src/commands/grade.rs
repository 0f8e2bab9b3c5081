use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use jurist_core::check::{Check, Finding, Subject};
use jurist_core::grade::{Outcome, Status, Value};
use jurist_core::rubric::{Ask, Rubric};
use jurist_core::score::{Answer, Quote, verdict};
use serde_json::{Value as Json, json};

use super::{Ended, Loading, rubric};
use crate::render;

/// Grade records with checks, at memory speed
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A record is a line of JSON with `output` (also: outputs, response, trace), perhaps `reference`
(also: reference_outputs, expected) and `id`. It may name its own check: `evaluator` and `params`.
Records stream: memory does not grow with the file, all cores work, results keep the order.

Examples:
  jurist grade answers.jsonl --check contains --params '{\"value\": \"Paris\"}'
  jurist grade runs.jsonl --check trajectory_match --params '{\"mode\": \"unordered\"}'
  jurist grade answers.jsonl --rubric rubric.yaml      a rubric whose criteria are all checks
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
    /// A rubric whose criteria are all checks
    #[arg(long, value_name = "FILE")]
    rubric: Option<PathBuf>,
    /// Stop at the first record that cannot be read
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    loading: Loading,
}

/// What every record is held to.
enum Grading {
    One(Check),
    Rubric(Arc<Rubric>, Vec<Check>),
    /// Each record says for itself.
    Own,
}

/// So many lines are read before they are shared out.
const BATCH: usize = 4096;

pub fn run(args: &Args) -> anyhow::Result<Ended> {
    let grading = match (&args.check, &args.rubric) {
        (Some(name), _) => {
            let params: Json = serde_json::from_str(&args.params).context("`--params` is not JSON")?;
            Grading::One(Check::new(name, &params)?)
        }
        (None, Some(path)) => {
            let Some((rubric, _)) = rubric(path, None, &args.loading)? else { return Ok(Ended::BadInput) };
            let checks = checks_of(&rubric)?;
            Grading::Rubric(rubric, checks)
        }
        (None, None) => Grading::Own,
    };
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut tally = Tally::default();
    let stdin = [PathBuf::from("-")];
    for path in if args.files.is_empty() { stdin.as_slice() } else { &args.files } {
        let name = path.display().to_string();
        let input: Box<dyn BufRead> = if path.as_os_str() == "-" {
            Box::new(std::io::stdin().lock())
        } else {
            Box::new(BufReader::with_capacity(
                1 << 20,
                File::open(path).with_context(|| format!("cannot read `{name}`"))?,
            ))
        };
        stream(input, &name, &grading, args.strict, &mut out, &mut tally)?;
    }
    out.flush()?;
    render::summary(&format!("{} graded, {} failed, {} not readable", tally.graded, tally.failed, tally.bad));
    Ok(match tally {
        Tally { stopped: true, .. } => Ended::BadInput,
        Tally { failed, .. } if 0 < failed => Ended::Failed,
        Tally { bad, .. } if 0 < bad => Ended::Incomplete,
        _ => Ended::Passed,
    })
}

#[derive(Default)]
struct Tally {
    graded: usize,
    failed: usize,
    bad: usize,
    stopped: bool,
}

fn checks_of(rubric: &Rubric) -> anyhow::Result<Vec<Check>> {
    let check = |it: jurist_core::rubric::Question<'_>| match &it.criterion.ask {
        Ask::Check(method) => {
            Check::compile(method).with_context(|| format!("criterion `{}`", it.criterion.id))
        }
        _ => anyhow::bail!(
            "criterion `{}` is not a check; `jurist grade` asks no judge and no person",
            it.criterion.id
        ),
    };
    rubric.questions().map(check).collect()
}

fn stream(
    mut input: Box<dyn BufRead + '_>,
    name: &str,
    grading: &Grading,
    strict: bool,
    out: &mut impl Write,
    tally: &mut Tally,
) -> anyhow::Result<()> {
    let n_threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let (mut number, mut lines) = (0, Vec::with_capacity(BATCH));
    loop {
        lines.clear();
        while lines.len() < BATCH {
            let mut line = String::new();
            if input.read_line(&mut line).with_context(|| format!("cannot read `{name}`"))? == 0 {
                break;
            }
            lines.push(line);
        }
        if lines.is_empty() {
            return Ok(());
        }
        let share = lines.len().div_ceil(n_threads);
        let graded: Vec<Option<Result<Graded, String>>> = std::thread::scope(|scope| {
            let workers: Vec<_> = lines
                .chunks(share)
                .map(|part| {
                    scope.spawn(|| {
                        part.iter()
                            .map(|it| (!it.trim().is_empty()).then(|| grade(it, grading)))
                            .collect::<Vec<_>>()
                    })
                })
                .collect();
            workers.into_iter().flat_map(|it| it.join().expect("grading a record does not panic")).collect()
        });
        for result in graded {
            number += 1;
            match result {
                None => {}
                Some(Ok(graded)) => {
                    tally.graded += 1;
                    tally.failed += usize::from(graded.failed);
                    writeln!(out, "{}", graded.line)?;
                }
                Some(Err(problem)) => {
                    tally.bad += 1;
                    render::trouble(&format!("{name}:{number}: {problem}"));
                    if strict {
                        tally.stopped = true;
                        return Ok(());
                    }
                }
            }
        }
    }
}

struct Graded {
    line: String,
    failed: bool,
}

fn grade(line: &str, grading: &Grading) -> Result<Graded, String> {
    let record: Json = serde_json::from_str(line.trim_start_matches('\u{feff}'))
        .map_err(|error| format!("not JSON: {error}"))?;
    if !record.is_object() {
        return Err("a record must be a JSON object".to_owned());
    }
    let field = |keys: &[&str]| keys.iter().find_map(|it| record.get(*it));
    let output =
        field(&["output", "outputs", "response", "trace", "messages"]).ok_or("the record has no `output`")?;
    let subject = Subject {
        output,
        reference: field(&["reference", "reference_outputs", "expected", "expected_output"]),
    };
    let id = field(&["id", "candidate", "trace_id"]).cloned().unwrap_or(Json::Null);
    match grading {
        Grading::One(check) => Ok(told(&id, None, &check.run(&subject))),
        Grading::Own => {
            let name = field(&["evaluator", "check"])
                .and_then(Json::as_str)
                .ok_or("the record names no `evaluator`; or use --check")?;
            let mut params = record.get("params").cloned().unwrap_or_else(|| json!({}));
            // Potato, whose records these are, looks for text whatever its case.
            if name == "contains"
                && params.get("substring").is_some()
                && params.get("case_sensitive").is_none()
            {
                params["case_sensitive"] = json!(false);
            }
            let check = Check::new(name, &params).map_err(|error| error.to_string())?;
            Ok(told(&id, Some(name), &check.run(&subject)))
        }
        Grading::Rubric(rubric, checks) => Ok(judged(&id, rubric, checks, &subject)),
    }
}

fn told(id: &Json, check: Option<&str>, finding: &Finding) -> Graded {
    let mut line = said(finding);
    line["id"] = id.clone();
    if let Some(check) = check {
        line["check"] = json!(check);
    }
    Graded { line: line.to_string(), failed: false }
}

fn said(finding: &Finding) -> Json {
    let mut said = json!({ "score": finding.score, "value": finding.value, "comment": finding.comment });
    if !finding.metadata.is_empty() {
        said["metadata"] = Json::Object(finding.metadata.clone());
    }
    said
}

fn judged(id: &Json, rubric: &Rubric, checks: &[Check], subject: &Subject<'_>) -> Graded {
    let findings: Vec<Finding> = checks.iter().map(|it| it.run(subject)).collect();
    let outcome = |it: &Finding| match it.score {
        Some(score) => Outcome::Scored { value: Value::Number(score), unit: Some(score) },
        None => Outcome::Abstained { why: it.comment.clone() },
    };
    let outcomes: Vec<Outcome> = findings.iter().map(outcome).collect();
    let answers: Vec<Answer<'_>> =
        outcomes.iter().map(|outcome| Answer { outcome, quote: Quote::NotAsked }).collect();
    let verdict = verdict(rubric, &answers, 0.0);
    let grades: Vec<Json> = rubric
        .questions()
        .zip(&findings)
        .map(|(question, it)| {
            let mut grade = said(it);
            grade["criterion"] = json!(question.id());
            grade
        })
        .collect();
    let line = json!({ "id": id, "status": verdict.status, "score": verdict.score, "failed_gates": verdict.failed_gates, "grades": grades });
    Graded { line: line.to_string(), failed: verdict.status == Status::Fail }
}
