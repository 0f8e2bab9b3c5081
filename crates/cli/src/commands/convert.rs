use std::io::Write;
use std::path::PathBuf;

use jurist_core::dialect::{VariableExpansion, to_native};
use jurist_core::source::{to_yaml, tree_to_json};

use jurist_engine::load::LoadOptions;
use jurist_engine::load_script::ScriptPolicy;

use crate::outcome::CommandOutcome;
use crate::suite_loading::{LoadingArgs, load_valid_suite};

/// Convert a file of any dialect to the native format
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist convert promptfooconfig.yaml > suite.yaml
  jurist convert config.yaml --to json | jq .evals[0]

References, defaults and imports are resolved. {{ env.X }} stays as written, so
that no secret is printed.")]
pub struct ConvertArgs {
    /// File to convert, in any dialect
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Output format
    #[arg(long, value_enum, default_value_t = ConvertFormat::Native)]
    to: ConvertFormat,
    #[command(flatten)]
    loading: LoadingArgs,
    /// Allow scripts that make prompts, tests or variables of the file
    #[arg(long)]
    allow_commands: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum ConvertFormat {
    /// Native YAML
    Native,
    /// The same content as JSON
    Json,
}

pub fn run_convert_command(args: &ConvertArgs) -> anyhow::Result<CommandOutcome> {
    let scripts = if args.allow_commands { ScriptPolicy::Allowed } else { ScriptPolicy::Refused };
    let options = LoadOptions { variables: VariableExpansion::Kept, scripts, ..args.loading.options() };
    let Some(suite) = load_valid_suite(&args.file, options)? else { return Ok(CommandOutcome::BadInput) };
    let tree = to_native(&suite);
    if ["rubrics", "evals", "monitors", "annotation", "servers", "judges"]
        .iter()
        .all(|text| tree.get(text).is_none())
    {
        anyhow::bail!("`{}` defines nothing to convert", args.file.display());
    }
    let mut out = crate::render::stdout();
    match args.to {
        ConvertFormat::Native => write!(out, "{}", to_yaml(&tree))?,
        ConvertFormat::Json => writeln!(out, "{}", tree_to_json(&tree, true))?,
    }
    Ok(CommandOutcome::Passed)
}
