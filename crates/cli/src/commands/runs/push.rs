use std::io::Write;

use anyhow::Context;
use jurist_core::quantity::plural;
use jurist_core::run::Run;
use jurist_engine::model::http::{NetworkOptions, client};
use jurist_server::{EndedRun, PushedResult, PushedRun};
use reqwest::Method;
use serde_json::Value as Json;

use crate::connection::choose_token;
use crate::connection::remote::Remote;
use crate::outcome::CommandOutcome;
use crate::render::{self, printable};
use crate::stored_runs::StoredRuns;

/// Which run is sent where.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist runs push latest --server https://jurist.example.org
  jurist runs push run.json --server https://jurist.example.org --project shop

Cases, answers, grades, cost, branch, commit, author and tags are sent; prompts
and replies of judges stay here. The command may be repeated: a run that has
arrived is not sent again.")]
pub struct RunPushArgs {
    /// Run: an id, the end of an id, `latest`, `previous`, or a file
    #[arg(value_name = "RUN", default_value = "latest")]
    run: String,
    /// Address of the server
    #[arg(long, value_name = "URL")]
    server: String,
    /// API token with the scopes `read` and `write` [default: JURIST_TOKEN]
    #[arg(long, value_name = "TOKEN")]
    token: Option<String>,
    /// Project name or id [default: the token's project]
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
}

/// Results of one request, at most; the server takes 500.
const MAX_RESULTS: usize = 200;
/// Bytes of one request, beyond which no further result is added. Servers take 32 MB by default.
const MAX_BYTES: usize = 4 * 1024 * 1024;

pub async fn push_stored_run(runs: &StoredRuns, args: &RunPushArgs) -> anyhow::Result<CommandOutcome> {
    let run = runs.load(&args.run).await?;
    let Some(ended) = run.ended else {
        anyhow::bail!(
            "{} has not finished; continue it with `jurist eval FILE --resume {}` first",
            run.id,
            run.id
        );
    };
    let token = choose_token(args.token.as_ref());
    let client = client(&NetworkOptions::default())?;
    let remote = Remote::new(&args.server, token, args.project.clone(), client)?;
    let path = format!("/runs/{}", run.id);
    let head = serde_json::to_vec(&describe_run(&run))?;
    let begun = remote.send_repeatedly(Method::PUT, &path, &head).await?;
    let mut out = render::stdout();
    let address = remote.address(run.id).await.unwrap_or_else(|| args.server.clone());
    if begun["is_ended"] == true {
        writeln!(out, "{} is already there: {}", run.id, printable(&address))?;
        return Ok(CommandOutcome::Passed);
    }
    let n_redacted = push_results(&remote, &run, &path).await?;
    let end = EndedRun { ended, n_results: run.results.len() as u64 };
    remote.send_repeatedly(Method::POST, &format!("{path}/end"), &serde_json::to_vec(&end)?).await?;
    if 0 < n_redacted {
        render::print_note(&format!(
            "the server replaced secrets in {}",
            plural(usize::try_from(n_redacted).unwrap_or(usize::MAX), "result")
        ));
    }
    let n_results = plural(run.results.len(), "result");
    writeln!(out, "{} sent with {n_results}: {}", run.id, printable(&address))?;
    Ok(CommandOutcome::Passed)
}

fn describe_run(run: &Run) -> PushedRun {
    PushedRun {
        format: run.format,
        suite: run.suite.clone(),
        provenance: run.provenance.clone().into(),
        started: run.started,
        seed: run.seed,
        rubrics: run.rubrics.clone(),
    }
}

/// Sends all results in parts, and returns in how many the server found secrets.
async fn push_results(remote: &Remote, run: &Run, path: &str) -> anyhow::Result<u64> {
    let (path, mut progress) = (format!("{path}/results"), render::ProgressLine::new());
    let (mut part, mut first, mut n_in_part, mut n_redacted) = (Vec::new(), 0, 0, 0);
    let send = async |part: &mut Vec<u8>, first: usize, n_in_part: usize| -> anyhow::Result<u64> {
        let body = [&br#"{"items":["#[..], part.as_slice(), &b"]}"[..]].concat();
        let answer = remote.send_repeatedly(Method::PUT, &path, &body).await;
        let answer: Json = answer.with_context(|| match n_in_part {
            1 => format!("case `{}` was not sent", printable(&run.results.get(first).case)),
            n => format!("results {} to {} were not sent", first + 1, first + n),
        })?;
        part.clear();
        Ok(answer["n_redacted"].as_u64().unwrap_or(0))
    };
    for (place, result) in run.results.iter().enumerate() {
        let item = serde_json::to_vec(&PushedResult { place, result })?;
        let is_full = n_in_part == MAX_RESULTS || MAX_BYTES < part.len() + item.len();
        if 0 < n_in_part && is_full {
            n_redacted += send(&mut part, first, n_in_part).await?;
            (first, n_in_part) = (place, 0);
            progress.show(|| format!("{place} of {} sent", run.results.len()));
        }
        if 0 < n_in_part {
            part.push(b',');
        }
        part.extend_from_slice(&item);
        n_in_part += 1;
    }
    if 0 < n_in_part {
        n_redacted += send(&mut part, first, n_in_part).await?;
    }
    progress.clear();
    Ok(n_redacted)
}
