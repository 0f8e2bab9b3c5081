//! Records before checks: in batches, on all cores, results in the order of the records.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{BufRead, BufWriter, Write};
use std::sync::Arc;

use anyhow::Context;
use jurist_core::check::{Check, Finding, Subject};
use jurist_core::grade::{Outcome, Status, Value};
use jurist_core::rubric::{Ask, Rubric};
use jurist_core::score::{Answer, Quote, verdict};
use jurist_engine::embed::Embedders;
use serde_json::{Value as Json, json};

use super::super::Ended;
use super::super::judge::settings;
use super::super::judging::Judging;
use super::{Args, Tally, id_of, opened, record};
use crate::render;

/// What every record is held to.
pub(super) enum Grading {
    One(Check),
    Rubric(Arc<Rubric>, Vec<Check>),
    /// Each record says for itself.
    Own,
}

/// So many lines are read before they are shared out.
const BATCH: usize = 4096;

/// Models take their time, so results come in smaller portions.
const SMALL_BATCH: usize = 256;

impl Grading {
    /// A rubric whose criteria are all checks.
    pub(super) fn of(rubric: &Arc<Rubric>) -> anyhow::Result<Self> {
        let mut checks = Vec::new();
        for question in rubric.questions() {
            if let Ask::Check(method) = &question.criterion.ask {
                let check = Check::compile(method);
                checks.push(check.with_context(|| format!("criterion `{}`", question.criterion.id))?);
            }
        }
        Ok(Self::Rubric(Arc::clone(rubric), checks))
    }

    /// Whether a record may ask for embeddings; those that name their own check may ask for anything.
    fn is_about_meaning(&self) -> bool {
        let wants = |it: &Check| it.embedding_model().is_some();
        match self {
            Self::One(check) => wants(check),
            Self::Rubric(_, checks) => checks.iter().any(wants),
            Self::Own => true,
        }
    }
}

pub(super) fn run(args: &Args, grading: &Grading) -> anyhow::Result<Ended> {
    let meanings =
        grading.is_about_meaning().then(|| Meanings { judging: &args.judging, made: OnceCell::new() });
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut tally = Tally::default();
    for path in args.inputs() {
        let name = path.display().to_string();
        stream(opened(&path)?, &name, grading, meanings.as_ref(), args.strict, &mut out, &mut tally)?;
    }
    out.flush()?;
    let Tally { graded, failed, incomplete, bad, .. } = &tally;
    let undecided = if 0 < *incomplete { format!(", {incomplete} without a verdict") } else { String::new() };
    render::summary(&format!("{graded} graded, {failed} failed{undecided}, {bad} not readable"));
    Ok(tally.ended())
}

fn stream(
    mut input: Box<dyn BufRead + Send>,
    name: &str,
    grading: &Grading,
    meanings: Option<&Meanings<'_>>,
    strict: bool,
    out: &mut impl Write,
    tally: &mut Tally,
) -> anyhow::Result<()> {
    let n_threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let batch = if meanings.is_some() && !matches!(grading, Grading::Own) { SMALL_BATCH } else { BATCH };
    let (mut number, mut lines) = (0, Vec::with_capacity(BATCH));
    loop {
        lines.clear();
        while lines.len() < batch {
            let mut line = Vec::new();
            if input.read_until(b'\n', &mut line).with_context(|| format!("cannot read `{name}`"))? == 0 {
                break;
            }
            lines.push(line);
        }
        if lines.is_empty() {
            return Ok(());
        }
        let vectors = match meanings {
            Some(meanings) => meanings.of(&lines, grading)?,
            None => Vectors::new(),
        };
        let share = lines.len().div_ceil(n_threads);
        let graded: Vec<Option<Result<Graded, String>>> = std::thread::scope(|scope| {
            let workers: Vec<_> = lines
                .chunks(share)
                .map(|part| {
                    scope.spawn(|| {
                        part.iter()
                            .map(|it| (!it.trim_ascii().is_empty()).then(|| grade(it, grading, &vectors)))
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
                    tally.failed += usize::from(graded.status == Some(Status::Fail));
                    tally.incomplete += usize::from(graded.status == Some(Status::Error));
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
    /// Absent where a check stands alone.
    status: Option<Status>,
}

/// The check that a record names for itself.
fn own_check(record: &Json) -> Result<(&str, Check), String> {
    let name = ["evaluator", "check"].iter().find_map(|it| record.get(*it)?.as_str());
    let name = name.ok_or("the record names no `evaluator`; or use --check")?;
    let params = record.get("params").cloned().unwrap_or_else(|| json!({}));
    Ok((name, Check::new(name, &params).map_err(|error| error.to_string())?))
}

fn grade(line: &[u8], grading: &Grading, vectors: &Vectors) -> Result<Graded, String> {
    let record = record(line)?;
    let subject = Subject::from_record(&record).map_err(|error| error.to_string())?;
    let id = id_of(&record);
    match grading {
        Grading::One(check) => Ok(told(&id, None, &run_check(check, &subject, vectors))),
        Grading::Own => {
            let (name, check) = own_check(&record)?;
            Ok(told(&id, Some(name), &run_check(&check, &subject, vectors)))
        }
        Grading::Rubric(rubric, checks) => Ok(judged(&id, rubric, checks, &subject, vectors)),
    }
}

fn run_check(check: &Check, subject: &Subject<'_>, vectors: &Vectors) -> Finding {
    let model = check.embedding_model().unwrap_or_default();
    check.run_with(subject, &|text| vectors.get(&(model.to_owned(), text.to_owned())).cloned())
}

fn told(id: &Json, check: Option<&str>, finding: &Finding) -> Graded {
    let mut line = said(finding);
    line["id"] = id.clone();
    if let Some(check) = check {
        line["check"] = json!(check);
    }
    Graded { line: line.to_string(), status: None }
}

fn said(finding: &Finding) -> Json {
    let mut said = json!({ "score": finding.score, "value": finding.value, "comment": finding.comment });
    if !finding.metadata.is_empty() {
        said["metadata"] = Json::Object(finding.metadata.clone());
    }
    said
}

fn judged(id: &Json, rubric: &Rubric, checks: &[Check], subject: &Subject<'_>, vectors: &Vectors) -> Graded {
    let findings: Vec<Finding> = checks.iter().map(|it| run_check(it, subject, vectors)).collect();
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
    let line = json!({ "id": id, "status": verdict.status, "score": verdict.score, "verdict": verdict, "grades": grades });
    Graded { line: line.to_string(), status: Some(verdict.status) }
}

/// Embeddings of texts, by model and text.
type Vectors = HashMap<(String, String), Vec<f32>>;

/// Makes the embeddings that the checks of a batch ask for; nothing is set up before one does.
struct Meanings<'a> {
    judging: &'a Judging,
    made: OnceCell<(Arc<Embedders>, tokio::runtime::Runtime)>,
}

impl Meanings<'_> {
    fn made(&self) -> anyhow::Result<&(Arc<Embedders>, tokio::runtime::Runtime)> {
        if self.made.get().is_none() {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            let embedders = self.judging.embedders(&self.judging.resolver(&settings()?)?);
            let _ = self.made.set((embedders, runtime));
        }
        self.made.get().context("what was just set is there")
    }

    fn of(&self, lines: &[Vec<u8>], grading: &Grading) -> anyhow::Result<Vectors> {
        let mut texts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut add = |check: &Check, subject: &Subject<'_>| {
            if let Some(model) = check.embedding_model() {
                texts.entry(model.to_owned()).or_default().extend(check.texts(subject));
            }
        };
        // Most records that name their own check name another one.
        let names_one = |it: &[u8]| it.windows(7).any(|it| it == b"similar");
        let may_ask = |it: &&Vec<u8>| !matches!(grading, Grading::Own) || names_one(it);
        for line in lines.iter().filter(may_ask) {
            let Ok(record) = record(line) else { continue };
            let Ok(subject) = Subject::from_record(&record) else { continue };
            match grading {
                Grading::One(check) => add(check, &subject),
                Grading::Rubric(_, checks) => checks.iter().for_each(|it| add(it, &subject)),
                Grading::Own => {
                    if let Ok((_, check)) = own_check(&record) {
                        add(&check, &subject);
                    }
                }
            }
        }
        let mut vectors = Vectors::new();
        for (model, texts) in texts {
            let texts: Vec<String> = texts.into_iter().collect();
            let (embedders, runtime) = self.made()?;
            let made = runtime.block_on(embedders.embed(&model, &texts))?;
            vectors.extend(texts.into_iter().zip(made).map(|(text, it)| ((model.clone(), text), it)));
        }
        Ok(vectors)
    }
}
