use std::io::Write;

use jurist_core::stats::{Aim, n_per_group_shares, n_to_detect};

use super::CommandOutcome;

/// Say how many cases it takes to see a difference
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist power 0.05 --spread 0.2          a change of 0.05 in the mean score, cases paired
  jurist power --from 0.8 --to 0.85       a change of the pass rate, other cases in each run
The spread is that of the differences from case to case; `jurist compare --format json` tells it.")]
pub struct PowerArgs {
    /// A change of the mean score
    #[arg(value_name = "CHANGE", required_unless_present = "from")]
    change: Option<f64>,
    /// The standard deviation of the differences from case to case
    #[arg(long, value_name = "SD", default_value_t = 0.25)]
    spread: f64,
    /// A pass rate
    #[arg(long, value_name = "RATE", requires = "to", conflicts_with = "change")]
    from: Option<f64>,
    /// Another one
    #[arg(long, value_name = "RATE", requires = "from")]
    to: Option<f64>,
    /// How often a difference that is there is to be seen
    #[arg(long, value_name = "SHARE", default_value_t = 0.8)]
    power: f64,
    /// How often one that is not there may be
    #[arg(long, value_name = "SHARE", default_value_t = 0.05)]
    alpha: f64,
    /// How many times more variable a sampled mean is than one of as many cases drawn alike
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
                "{n} cases, each in both runs, show a change of {change} {often} if differences spread by {}.",
                args.spread
            )
        }
        (None, Some(from), Some(to)) => {
            let n = (n_per_group_shares(from, to, aim)? * args.design_effect).ceil();
            format!("{n} cases in each of two runs tell a pass rate of {from} from one of {to} {often}.")
        }
        _ => unreachable!("clap asks for one of them"),
    };
    writeln!(crate::render::stdout(), "{sentence}")?;
    Ok(CommandOutcome::Passed)
}
