//! Records before judges: as many at work as there are calls at a time, results in the order of the records.

use std::collections::VecDeque;
use std::io::{BufRead, BufWriter, Write};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use jurist_core::candidate::Material;
use jurist_core::grade::Status;
use jurist_core::judge::Keys;
use jurist_core::rubric::Rubric;
use jurist_core::stats::effective_votes;
use jurist_engine::call::Caller;
use jurist_engine::judge::{Bench, Case, Decision};
use serde_json::Value as Json;

use super::super::judge::{decision_line, ended};
use super::super::judging::Batched;
use super::super::{Chosen, Ended};
use super::{Args, Tally, id_of, opened, record};
use crate::render;

/// What judges say about each record, in the order of the records; as many at work as there are calls at a time.
pub(super) async fn run(args: &Args, chosen: &Chosen) -> anyhow::Result<Ended> {
    let (rubric, bench) = args.judging.bench(chosen).await?;
    let (bench, caller) = (Arc::new(bench), Arc::new(args.judging.caller(&chosen.settings)?));
    let width = args.judging.width(&chosen.settings);
    let no_defer = args.judging.no_defer(&chosen.settings);
    if args.judging.batch
        && let Some(ended) = collected(args, &rubric, &bench, &caller, width).await?
    {
        return Ok(ended);
    }
    let mut out = BufWriter::new(std::io::stdout());
    let (mut tally, mut waiting) = (Tally::default(), VecDeque::new());
    let mut lines = lines(args.inputs(), width);
    let mut votes = Vec::new();
    let mut progress = render::Progress::new();
    let interrupt = tokio::signal::ctrl_c();
    tokio::pin!(interrupt);
    let mut is_open = true;
    loop {
        if waiting.is_empty() && (!is_open || tally.stopped) {
            break;
        }
        let has_room = is_open && !tally.stopped && waiting.len() < width;
        let done = tokio::select! {
            line = lines.recv(), if has_room => match line {
                Some(line) => {
                    let (place, line) = line?;
                    let (rubric, bench, caller) = (Arc::clone(&rubric), Arc::clone(&bench), Arc::clone(&caller));
                    let at = place.clone();
                    let task = tokio::spawn(async move { decided(&at, &line, &rubric, &bench, &caller).await });
                    waiting.push_back((place, task));
                    continue;
                }
                None => {
                    is_open = false;
                    continue;
                }
            },
            done = next(&mut waiting), if !waiting.is_empty() => done.context("grading a record does not panic")?,
            _ = &mut interrupt => {
                out.flush()?;
                args.judging.finish(&caller)?;
                return Ok(Ended::Interrupted);
            }
        };
        let Some((place, _)) = waiting.pop_front() else { break };
        match done {
            Ok((id, decision)) => {
                let status = ended(&decision, no_defer);
                tally.graded += 1;
                tally.failed += usize::from(status == Ended::Failed);
                tally.incomplete += usize::from(status == Ended::Incomplete);
                tally.over += usize::from(status == Ended::OverBudget);
                tally.deferred += usize::from(decision.status == Status::Deferred);
                let scores: Option<Vec<f64>> = decision.opinions.iter().map(|it| it.verdict.score).collect();
                votes.extend(scores.filter(|_| decision.panel.is_some() && !decision.escalated));
                writeln!(out, "{}", decision_line(&id, &decision))?;
                // It may have cost money, and somebody may be waiting for it.
                out.flush()?;
            }
            Err(problem) => {
                tally.bad += 1;
                render::trouble(&format!("{place}: {problem}"));
                tally.stopped |= args.strict;
                if tally.stopped {
                    break;
                }
            }
        }
        progress.show(|| format!("{} graded · {}", tally.graded, spent(&caller)));
    }
    progress.clear();
    out.flush()?;
    args.judging.finish(&caller)?;
    let read = caller.meter.read();
    render::note(&format!(
        "{} graded, {} failed, {} errors, {} not asked, {} not readable · {} requests, {} from cache · {}",
        tally.graded,
        tally.failed,
        tally.incomplete,
        tally.deferred,
        tally.bad,
        read.requests,
        read.from_cache,
        spent(&caller)
    ));
    if let Some(effective) = effective_votes(&votes) {
        let n = bench.members.len();
        render::note(&format!(
            "{n} judges are worth {effective:.1} independent votes, by how their scores correlate"
        ));
    }
    Ok(tally.ended())
}

fn spent(caller: &Caller) -> String {
    caller.budget.spent().map_or("price not known".to_owned(), |it| it.to_string())
}

/// Gets every reply that the records ask for in batches; a tree's next question waits for the next one.
///
/// How it ends, if it does not get them.
async fn collected(
    args: &Args,
    rubric: &Arc<Rubric>,
    bench: &Arc<Bench>,
    caller: &Arc<Caller>,
    width: usize,
) -> anyhow::Result<Option<Ended>> {
    let paths = args.inputs();
    anyhow::ensure!(
        !paths.iter().any(|it| it.as_os_str() == "-"),
        "--batch reads its records several times; give a file"
    );
    loop {
        let mut lines = lines(paths.clone(), width);
        let mut waiting = VecDeque::new();
        while let Some(line) = lines.recv().await {
            let (place, line) = line?;
            let (rubric, bench, caller) = (Arc::clone(rubric), Arc::clone(bench), Arc::clone(caller));
            waiting.push_back(tokio::spawn(async move {
                decided(&place, &line, &rubric, &bench, &caller).await.map(|_| ())
            }));
            if width <= waiting.len()
                && let Some(task) = waiting.pop_front()
            {
                let _ = task.await;
            }
        }
        for task in waiting {
            let _ = task.await;
        }
        match args.judging.run_batch(caller).await? {
            Batched::Nothing => return Ok(None),
            Batched::Done => {}
            Batched::Failed => return Ok(Some(Ended::Incomplete)),
        }
    }
}

/// The first that waits, done.
async fn next(waiting: &mut VecDeque<(String, Task)>) -> Result<Decided, tokio::task::JoinError> {
    match waiting.front_mut() {
        Some((_, task)) => task.await,
        None => std::future::pending().await,
    }
}

type Decided = Result<(Json, Decision), String>;
type Task = tokio::task::JoinHandle<Decided>;
type Lines = tokio::sync::mpsc::Receiver<anyhow::Result<(String, Vec<u8>)>>;

/// Lines that say something, each with its place; read on a thread of its own, since a pipe may keep us waiting.
fn lines(paths: Vec<PathBuf>, width: usize) -> Lines {
    let (sender, receiver) = tokio::sync::mpsc::channel(width);
    std::thread::spawn(move || {
        for path in paths {
            let name = path.display().to_string();
            let input = match opened(&path) {
                Ok(input) => input,
                Err(error) => return drop(sender.blocking_send(Err(error))),
            };
            for (at, line) in input.split(b'\n').enumerate() {
                let line = match line {
                    Ok(line) if line.trim_ascii().is_empty() => continue,
                    Ok(line) => Ok((format!("{name}:{}", at + 1), line)),
                    Err(error) => Err(anyhow::anyhow!("cannot read `{name}`: {error}")),
                };
                if sender.blocking_send(line).is_err() {
                    return;
                }
            }
        }
    });
    receiver
}

async fn decided(place: &str, line: &[u8], rubric: &Rubric, bench: &Bench, caller: &Caller) -> Decided {
    let record = record(line)?;
    // Without an id of its own, a record is known by where it stands.
    let id = match id_of(&record) {
        Json::Null => Json::from(place),
        id => id,
    };
    let material = Material::from_record(&record, Keys::default()).map_err(|error| error.to_string())?;
    if material.response.is_none() && material.trace.is_none() && material.diff.is_none() {
        return Err("the record has no `output`".to_owned());
    }
    let candidate = id.as_str().map_or_else(|| id.to_string(), str::to_owned);
    let case = Case {
        candidate: &candidate,
        material: &material,
        row: record.as_object(),
        rubric,
        labels: None,
        contests: None,
    };
    let decision = bench.decide(caller, case).await.map_err(|error| error.to_string())?;
    Ok((id, decision))
}
