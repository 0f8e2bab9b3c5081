//! Records before judges: as many at work as there are calls at a time, results in the order of the records.

use std::collections::VecDeque;
use std::io::{BufRead, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use jurist_core::judge::{Keys, Material};
use jurist_core::rubric::Rubric;
use jurist_engine::call::Caller;
use jurist_engine::judge::{Bench, Case};
use serde_json::Value as Json;

use super::super::judge::{decision_line, ended};
use super::super::{Chosen, Ended};
use super::{Args, Tally, id_of, opened, record};
use crate::render;

/// What judges say about each record, in the order of the records; as many at work as there are calls at a time.
pub(super) async fn run(args: &Args, chosen: &Chosen) -> anyhow::Result<Ended> {
    let (rubric, bench) = args.judging.bench(chosen).await?;
    let (bench, caller) = (Arc::new(bench), Arc::new(args.judging.caller(&chosen.settings)?));
    let width = args.judging.width(&chosen.settings);
    let mut out = BufWriter::new(std::io::stdout());
    let (mut tally, mut waiting) = (Tally::default(), VecDeque::new());
    let mut lines = args.inputs().into_iter().flat_map(|it| numbered(&it));
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
    Ok(tally.ended())
}

fn spent(caller: &Caller) -> String {
    caller.budget.spent().map_or("price not known".to_owned(), |it| it.to_string())
}

/// The lines of a file that say something, each with its place.
fn numbered(path: &Path) -> Box<dyn Iterator<Item = anyhow::Result<(String, String)>> + Send> {
    let name = path.display().to_string();
    match opened(path) {
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
    let record = record(line)?;
    let id = id_of(&record);
    let material = Material::from_record(&record, Keys::default()).map_err(|error| error.to_string())?;
    if material.parts().is_empty() {
        return Err("the record has no `output`".to_owned());
    }
    let candidate = id.as_str().map_or_else(|| id.to_string(), str::to_owned);
    let row = record.as_object();
    let case = Case { candidate: &candidate, material: &material, row, rubric };
    let decision = bench.decide(caller, case).await.map_err(|error| error.to_string())?;
    Ok((decision_line(&id, &decision), ended(&decision)))
}
