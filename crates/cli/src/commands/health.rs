use std::io::Write;
use std::time::Duration;

use anyhow::{Context, bail};
use jurist_engine::model::http::{NetworkOptions, client};

use crate::outcome::CommandOutcome;
use crate::runtime::wait_for;

/// Check that a server is ready
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Ends with 0 if the server is ready: its database answers, and its disk has
room. Otherwise with 2. Containers without a shell use it as a health check.

Examples:
  jurist health
  jurist health https://jurist.example.org --timeout 10")]
pub struct HealthArgs {
    /// Address of the server
    #[arg(value_name = "URL", default_value = "http://127.0.0.1:8000")]
    url: String,
    /// Seconds to wait for the answer
    #[arg(long, value_name = "SECONDS", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=600))]
    timeout: u64,
}

pub fn run_health_command(args: &HealthArgs) -> anyhow::Result<CommandOutcome> {
    let url = format!("{}/ready", args.url.trim_end_matches('/'));
    let status = wait_for(async {
        let request =
            client(&NetworkOptions::default())?.get(&url).timeout(Duration::from_secs(args.timeout));
        let answer = request.send().await.with_context(|| format!("no answer from `{url}`"))?;
        Ok(answer.status())
    })?;
    if !status.is_success() {
        bail!("the server is not ready: `{url}` answers {status}");
    }
    writeln!(crate::render::stdout(), "ready")?;
    Ok(CommandOutcome::Passed)
}
