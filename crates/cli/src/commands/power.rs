use std::io::Write;

use jurist_core::stats::comparison::{Aim, n_per_group_shares, n_to_detect};

use crate::outcome::CommandOutcome;

/// Compute the number of cases needed to detect a difference
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist power 0.05 --spread 0.2       Detect a change of 0.05, cases paired
  jurist power --from 0.8 --to 0.85    The same of a pass rate, unpaired

`jurist compare --format json` reports the standard deviation for --spread.")]
pub struct PowerArgs {
    /// Change of the mean score to detect
    #[arg(value_name = "CHANGE", required_unless_present = "from", allow_negative_numbers = true)]
    change: Option<f64>,
    /// Standard deviation of the paired differences
    #[arg(long, value_name = "SD", default_value_t = 0.25)]
    spread: f64,
    /// Pass rate before
    #[arg(long, value_name = "RATE", requires = "to", conflicts_with = "change")]
    from: Option<f64>,
    /// Pass rate after
    #[arg(long, value_name = "RATE", requires = "from")]
    to: Option<f64>,
    /// Statistical power
    #[arg(long, value_name = "SHARE", default_value_t = 0.8)]
    power: f64,
    /// Significance level (two-sided)
    #[arg(long, value_name = "SHARE", default_value_t = 0.05)]
    alpha: f64,
    /// Design effect of the sample: its variance divided by that of a simple random sample
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    design_effect: f64,
}

pub fn run_power_command(args: &PowerArgs) -> anyhow::Result<CommandOutcome> {
    let aim = Aim { alpha: args.alpha, power: args.power };
    let often = format!("{:.0} times out of 100", args.power * 100.0);
    let sentence = match (args.change, args.from, args.to) {
        (Some(change), ..) => {
            let n = n_to_detect(change, args.spread, args.design_effect, aim)?;
            format!(
                "{n} paired cases detect a change of {change} {often}, if the standard deviation of differences is {}.",
                args.spread
            )
        }
        (None, Some(from), Some(to)) => {
            let n = (n_per_group_shares(from, to, aim)? * args.design_effect).ceil();
            format!("{n} cases in each of two runs distinguish pass rates of {from} and {to} {often}.")
        }
        _ => unreachable!("clap asks for one of them"),
    };
    writeln!(crate::render::stdout(), "{sentence}")?;
    Ok(CommandOutcome::Passed)
}
