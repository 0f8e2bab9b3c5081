use std::io::Write;

use anyhow::Context;
use jurist_server::{AlertShown, load_alerts};
use jurist_store::alerts::AlertSelection;
use jurist_store::{AlertId, clock};

use super::CommandOutcome;
use super::connection::{Reach, Reached};
use super::judging::wait_for;
use crate::render::printable;

/// List and acknowledge alerts
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist alerts                  List open alerts
  jurist alerts --all            Include resolved alerts
  jurist alerts ack alr_0190c4…  Acknowledge an alert
  jurist alerts --server https://jurist.example.org --project support

Exit code 1: at least one open alert is not acknowledged.")]
pub struct AlertsArgs {
    #[command(flatten)]
    reach: Reach,
    /// Include resolved alerts
    #[arg(long)]
    all: bool,
    /// Print the API's JSON
    #[arg(long)]
    json: bool,
    #[command(subcommand)]
    what: Option<AlertsSubcommand>,
}

#[derive(Debug, clap::Subcommand)]
enum AlertsSubcommand {
    /// Acknowledge an alert
    Ack {
        /// Id of the alert
        #[arg(value_name = "ALERT")]
        id: AlertId,
    },
}

/// The newest so many.
const SHOWN: usize = 100;

pub fn run_alerts_command(args: &AlertsArgs) -> anyhow::Result<CommandOutcome> {
    wait_for(async {
        let reached = args.reach.open().await?;
        if let Some(AlertsSubcommand::Ack { id }) = &args.what {
            match &reached {
                Reached::Store(store, project) => {
                    store.alert(*project, *id).await?;
                    store.alert_seen(*project, *id, None, clock::current_time()).await?;
                }
                Reached::Server(remote) => {
                    remote.send(reqwest::Method::POST, &format!("/alerts/{id}/acknowledge"), None).await?;
                }
            }
            writeln!(crate::render::stdout(), "acknowledged {id}")?;
            return Ok(CommandOutcome::Passed);
        }
        let found = match &reached {
            Reached::Store(store, project) => {
                let which = if args.all { AlertSelection::All } else { AlertSelection::Open };
                load_alerts(store, *project, which, None, SHOWN).await?.0
            }
            Reached::Server(remote) => {
                let mut page = remote.get(&format!("/alerts?all={}&limit={SHOWN}", args.all)).await?;
                serde_json::from_value(page["items"].take())
                    .context("cannot read the server's response; its version may differ")?
            }
        };
        let mut out = crate::render::stdout();
        match args.json {
            true => writeln!(out, "{}", serde_json::to_string_pretty(&found)?)?,
            false => write!(out, "{}", render_alert_list(&found))?,
        }
        let is_new =
            |alert_shown: &AlertShown| alert_shown.resolved.is_none() && alert_shown.acknowledged.is_none();
        Ok(if found.iter().any(is_new) { CommandOutcome::Failed } else { CommandOutcome::Passed })
    })
}

fn render_alert_list(all: &[AlertShown]) -> String {
    if all.is_empty() {
        return "no alerts\n".to_owned();
    }
    let line = |alert_shown: &AlertShown| {
        let (mark, rest) = match (&alert_shown.resolved, &alert_shown.acknowledged) {
            (Some(time), _) => ("\x1b[32m✓\x1b[0m", format!("over since {time}")),
            (None, Some(time)) => ("\x1b[33m!\x1b[0m", format!("seen {time}")),
            (None, None) => ("\x1b[31m!\x1b[0m", format!("jurist alerts ack {}", alert_shown.id)),
        };
        format!(
            "{mark} {}\n  {} since {}, {rest}\n",
            printable(&alert_shown.message),
            alert_shown.kind,
            alert_shown.raised
        )
    };
    all.iter().map(line).collect()
}
