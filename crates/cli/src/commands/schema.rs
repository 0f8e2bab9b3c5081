use std::io::Write;

use jurist_core::schema::{SCHEMAS, schema};

use crate::outcome::CommandOutcome;

/// Print a JSON Schema for editors and other programs
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist schema suite > suite.schema.json
  jurist schema grade

For completion in an editor with the YAML language server, start a suite with:
  # yaml-language-server: $schema=./suite.schema.json")]
pub struct SchemaArgs {
    /// Schema to print
    #[arg(value_name = "WHAT", default_value = "suite", value_parser = clap::builder::PossibleValuesParser::new(SCHEMAS))]
    what: String,
}

pub fn run_schema_command(args: &SchemaArgs) -> anyhow::Result<CommandOutcome> {
    let text = schema(&args.what).unwrap_or_default();
    write!(crate::render::stdout(), "{text}")?;
    Ok(CommandOutcome::Passed)
}
