use std::io::Write;
use std::path::PathBuf;

use jurist_core::dialect::{Variables, to_native};
use jurist_core::source::{to_json, to_yaml};

use jurist_engine::load::Options;

use super::{Ended, Loading, suite};

/// Print a file of any dialect in the native form
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist convert promptfooconfig.yaml > suite.yaml
  jurist convert config.yaml --to json | jq .evals[0]

References, defaults and imports are resolved; {{ env.X }} stays as written, so that no secret is printed.")]
pub struct Args {
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// What to print
    #[arg(long, value_enum, default_value_t = To::Native)]
    to: To,
    #[command(flatten)]
    loading: Loading,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum To {
    /// YAML
    Native,
    /// The same as JSON
    Json,
}

pub fn run(args: &Args) -> anyhow::Result<Ended> {
    let options = Options { variables: Variables::Kept, ..args.loading.options() };
    let Some(suite) = suite(&args.file, options)? else { return Ok(Ended::BadInput) };
    let tree = to_native(&suite);
    if ["rubrics", "evals", "monitors", "annotation", "servers", "judges"]
        .iter()
        .all(|it| tree.get(it).is_none())
    {
        anyhow::bail!("`{}` defines nothing that could be converted", args.file.display());
    }
    let mut out = crate::render::stdout();
    match args.to {
        To::Native => write!(out, "{}", to_yaml(&tree))?,
        To::Json => writeln!(out, "{}", to_json(&tree, true))?,
    }
    Ok(Ended::Passed)
}
