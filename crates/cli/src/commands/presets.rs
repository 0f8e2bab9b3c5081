use std::io::Write;

use anyhow::bail;
use jurist_core::diagnostic::closest;
use jurist_core::rubric::presets::{ALL, find_preset};

use crate::outcome::CommandOutcome;

/// List the built-in rubrics, or print one
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist presets                        List all
  jurist presets safety > safety.yaml   Copy one to change it

In a suite: `rubric: {preset: safety}`.")]
pub struct PresetsArgs {
    /// Name of a built-in rubric
    #[arg(value_name = "NAME")]
    name: Option<String>,
}

pub fn run_presets_command(args: &PresetsArgs) -> anyhow::Result<CommandOutcome> {
    let mut out = crate::render::stdout();
    let Some(name) = &args.name else {
        for preset in ALL {
            writeln!(out, "{:<18}{}", preset.name, preset.description())?;
        }
        return Ok(CommandOutcome::Passed);
    };
    let Some(preset) = find_preset(name) else {
        let names: Vec<&str> = ALL.iter().map(|preset| preset.name).collect();
        match closest(name, &names) {
            Some(meant) => bail!("there is no preset `{name}`; did you mean `{meant}`?"),
            None => bail!("there is no preset `{name}`; there are {}", names.join(", ")),
        }
    };
    write!(out, "{}", preset.text)?;
    Ok(CommandOutcome::Passed)
}
