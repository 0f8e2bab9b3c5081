use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use jurist_core::check::{Check, Finding, Subject};
use jurist_core::grade::{Outcome, Status, Value};
use jurist_core::judge::{Keys, Material};
use jurist_core::rubric::{Ask, Rubric};
use jurist_core::score::{Answer, Quote, verdict};
use jurist_engine::call::Caller;
use jurist_engine::judge::{Bench, Case};
use serde_json::{Value as Json, json};

use super::judge::decision_line;
use super::judging::{Judging, wait_for};
use super::{Chosen, Ended, Loading, rubric};
use crate::render;

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
    /// Stop at the first record that cannot be read
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    judging: Judging,
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
            let Some(chosen) = rubric(path, None, &args.loading)? else { return Ok(Ended::BadInput) };
            if !chosen.rubric.questions().all(|it| matches!(it.criterion.ask, Ask::Check(_))) {
                return wait_for(judged_stream(args, &chosen));
            }
            let checks = checks_of(&chosen.rubric)?;
            Grading::Rubric(chosen.rubric, checks)
        }
        (None, None) => Grading::Own,
    };
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut tally = Tally::default();
    for path in args.inputs() {
        let name = path.display().to_string();
        stream(opened(&path)?, &name, &grading, args.strict, &mut out, &mut tally)?;
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

#[derive(Default)]
struct Tally {
    graded: usize,
    failed: usize,
    /// Without a verdict, because a grader broke.
    incomplete: usize,
    /// Without a verdict, because there was no money left.
    over: usize,
    bad: usize,
    stopped: bool,
}

fn checks_of(rubric: &Rubric) -> anyhow::Result<Vec<Check>> {
    let check = |it: jurist_core::rubric::Question<'_>| match &it.criterion.ask {
        Ask::Check(method) => {
            Some(Check::compile(method).with_context(|| format!("criterion `{}`", it.criterion.id)))
        }
        _ => None,
    };
    rubric.questions().filter_map(check).collect()
}

/// What judges say about each record, in the order of the records; as many at work as there are calls at a time.
async fn judged_stream(args: &Args, chosen: &Chosen) -> anyhow::Result<Ended> {
    let (rubric, bench) = args.judging.bench(chosen).await?;
    let (bench, caller) = (Arc::new(bench), Arc::new(args.judging.caller(&chosen.settings)?));
    let width = args.judging.width(&chosen.settings);
    let mut out = BufWriter::new(std::io::stdout());
    let (mut tally, mut waiting) = (Tally::default(), VecDeque::new());
    let mut lines = args.inputs().into_iter().flat_map(numbered);
    let mut progress = render::Progress::new();
    let interrupt = tokio::signal::ctrl_c();
    tokio::pin!(interrupt);
    loop {
        while waiting.len() < width
            && !tally.stopped
            && let Some(line) = lines.next()
        {
            let (place, line) = line?;
            let (rubric, bench, caller) = (Arc::clone(&rubric), Arc::clone(&bench), Arc::clone(&caller));
            waiting.push_back((
                place,
                tokio::spawn(async move { decided(&line, &rubric, &bench, &caller).await }),
            ));
        }
        let Some((place, task)) = waiting.front_mut() else { break };
        let done = tokio::select! {
            done = task => done.context("grading a record does not panic")?,
            _ = &mut interrupt => {
                out.flush()?;
                args.judging.finish(&caller)?;
                return Ok(Ended::Interrupted);
            }
        };
        match done {
            Ok((line, status)) => {
                tally.graded += 1;
                tally.failed += usize::from(status == Ended::Failed);
                tally.incomplete += usize::from(status == Ended::Incomplete);
                tally.over += usize::from(status == Ended::OverBudget);
                writeln!(out, "{line}")?;
            }
            Err(problem) => {
                tally.bad += 1;
                render::trouble(&format!("{place}: {problem}"));
                tally.stopped |= args.strict;
            }
        }
        waiting.pop_front();
        progress.show(|| format!("{} graded · {}", tally.graded, spent(&caller)));
    }
    progress.clear();
    out.flush()?;
    args.judging.finish(&caller)?;
    let read = caller.meter.read();
    render::summary(&format!(
        "{} graded, {} failed, {} without a verdict, {} not readable · {} requests, {} from cache · {}",
        tally.graded,
        tally.failed,
        tally.incomplete + tally.over,
        tally.bad,
        read.requests,
        read.from_cache,
        spent(&caller)
    ));
    Ok(match tally {
        Tally { stopped: true, .. } => Ended::BadInput,
        Tally { failed, .. } if 0 < failed => Ended::Failed,
        Tally { over, .. } if 0 < over => Ended::OverBudget,
        Tally { bad, incomplete, .. } if 0 < bad + incomplete => Ended::Incomplete,
        _ => Ended::Passed,
    })
}

fn spent(caller: &Caller) -> String {
    caller.budget.spent().map_or("price not known".to_owned(), |it| it.to_string())
}

/// The lines of a file that say something, each with its place.
fn numbered(path: PathBuf) -> Box<dyn Iterator<Item = anyhow::Result<(String, String)>> + Send> {
    let name = path.display().to_string();
    match opened(&path) {
        Err(error) => Box::new(std::iter::once(Err(error))),
        Ok(input) => Box::new(input.lines().enumerate().filter_map(move |(at, line)| match line {
            Ok(line) if line.trim().is_empty() => None,
            Ok(line) => Some(Ok((format!("{name}:{}", at + 1), line))),
            Err(error) => Some(Err(anyhow::anyhow!("cannot read `{name}`: {error}"))),
        })),
    }
}

async fn decided(
    line: &str,
    rubric: &Rubric,
    bench: &Bench,
    caller: &Caller,
) -> Result<(Json, Ended), String> {
    let record: Json = serde_json::from_str(line.trim_start_matches('\u{feff}'))
        .map_err(|error| format!("not JSON: {error}"))?;
    if !record.is_object() {
        return Err("a record must be a JSON object".to_owned());
    }
    let id =
        ["id", "candidate", "trace_id"].iter().find_map(|it| record.get(*it)).cloned().unwrap_or(Json::Null);
    let material = Material::from_record(&record, Keys::default()).map_err(|error| error.to_string())?;
    if material.parts().is_empty() {
        return Err("the record has no `output`".to_owned());
    }
    let candidate = id.as_str().map_or_else(|| id.to_string(), str::to_owned);
    let row = record.as_object();
    let case = Case { candidate: &candidate, material: &material, row, rubric };
    let decision = bench.decide(caller, case).await.map_err(|error| error.to_string())?;
    Ok((decision_line(&id, &decision), super::judge::ended(&decision)))
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
