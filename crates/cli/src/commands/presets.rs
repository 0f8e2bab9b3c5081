use std::io::Write;

use anyhow::bail;
use jurist_core::diagnostic::closest;
use jurist_core::rubric::presets::{ALL, find};

use super::Ended;

/// List the ready-made rubrics, or print one
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist presets                        what there is
  jurist presets safety > safety.yaml   a copy to change

In a suite: `rubric: {preset: safety}`.")]
pub struct Args {
    #[arg(value_name = "NAME")]
    name: Option<String>,
}

pub fn run(args: &Args) -> anyhow::Result<Ended> {
    let mut out = crate::render::stdout();
    let Some(name) = &args.name else {
        for preset in ALL {
            writeln!(out, "{:<18}{}", preset.name, preset.description())?;
        }
        return Ok(Ended::Passed);
    };
    let Some(preset) = find(name) else {
        let names: Vec<&str> = ALL.iter().map(|it| it.name).collect();
        match closest(name, &names) {
            Some(meant) => bail!("there is no preset `{name}`; did you mean `{meant}`?"),
            None => bail!("there is no preset `{name}`; there are {}", names.join(", ")),
        }
    };
    write!(out, "{}", preset.text)?;
    Ok(Ended::Passed)
}
