use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use jurist_core::stats::compute;
use jurist_engine::load::read_input;
use serde_json::{Value as Json, json};

use super::Ended;

/// Statistics of any kind on plain JSON
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// One problem per line in, one result per line out
    #[command(after_help = "\
A line is {\"family\": \"krippendorff_alpha\", \"input\": {\"ratings\": [[1, 2, null], [1, 2, 3]], \"level\": \"ordinal\"}}
or {\"fn\": \"cohen_kappa\", \"args\": [[\"a\", \"b\"], [\"a\", \"b\"]]}. An `id` is repeated in the result.
A result is {\"result\": …}, {\"undefined\": \"because …\"} or {\"error\": …}.")]
    Compute {
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

pub fn run(args: &Args) -> anyhow::Result<Ended> {
    let What::Compute { file } = &args.what;
    let text = read_input(file).with_context(|| format!("cannot read `{}`", file.display()))?;
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let (mut n_lines, mut n_known) = (0, 0);
    for line in text.lines().filter(|it| !it.trim().is_empty()) {
        n_lines += 1;
        let (id, answer) = match serde_json::from_str::<Json>(line) {
            Err(error) => (Json::Null, json!({ "error": format!("not JSON: {error}") })),
            Ok(problem) => (problem["id"].clone(), answer(&problem)),
        };
        n_known += usize::from(answer.get("error").is_none());
        let mut told = serde_json::Map::new();
        if !id.is_null() {
            told.insert("id".to_owned(), id);
        }
        told.extend(answer.as_object().cloned().unwrap_or_default());
        writeln!(out, "{}", Json::Object(told))?;
    }
    out.flush()?;
    Ok(if n_known == 0 && 0 < n_lines { Ended::BadInput } else { Ended::Passed })
}

fn answer(problem: &Json) -> Json {
    let (name, input) = match (problem["family"].as_str(), problem["fn"].as_str()) {
        (Some(family), _) => (family, &problem["input"]),
        (None, Some(name)) => (name, &problem["args"]),
        (None, None) => return json!({ "error": "a line needs `family` and `input`, or `fn` and `args`" }),
    };
    match compute(name, input) {
        Some(Ok(result)) => json!({ "result": result }),
        Some(Err(why)) => json!({ "undefined": why.to_string() }),
        None => json!({ "error": format!("no statistic is called `{name}`") }),
    }
}
