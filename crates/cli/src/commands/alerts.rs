use std::io::Write;

use anyhow::Context;
use jurist_core::grade::Time;
use jurist_server::{AlertShown, LONGEST_SNOOZE, load_alerts, snooze_alert_for_hours};
use jurist_store::alerts::AlertSelection;
use jurist_store::{AlertId, clock};

use crate::connection::{Reach, Reached};
use crate::outcome::CommandOutcome;
use crate::render::printable;
use crate::runtime::wait_for;

/// List, acknowledge and snooze alerts
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist alerts                  List open alerts
  jurist alerts --all            Include resolved alerts
  jurist alerts ack alr_0190c4…  Acknowledge an alert
  jurist alerts snooze alr_0190c4… --hours 24
  jurist alerts --server https://jurist.example.org --project support

Exit code 1: at least one open alert is neither acknowledged nor snoozed.")]
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
    #[command(after_help = "\
Examples:
  jurist alerts ack alr_0190c4…")]
    Ack {
        /// Id of the alert
        #[arg(value_name = "ALERT")]
        id: AlertId,
    },
    /// Hold back the notifications of an alert for some hours
    #[command(after_help = "\
Examples:
  jurist alerts snooze alr_0190c4…               For 24 hours
  jurist alerts snooze alr_0190c4… --hours 72
  jurist alerts snooze alr_0190c4… --hours 0     End the snooze")]
    Snooze {
        /// Id of the alert
        #[arg(value_name = "ALERT")]
        id: AlertId,
        /// Hours from now, at most 2160 (90 days); 0 ends a snooze
        #[arg(long, value_name = "N", default_value_t = 24, value_parser = clap::value_parser!(u32).range(0..=i64::from(LONGEST_SNOOZE)))]
        hours: u32,
    },
}

/// The newest so many.
const MAX_ALERTS: usize = 100;

pub fn run_alerts_command(args: &AlertsArgs) -> anyhow::Result<CommandOutcome> {
    wait_for(async {
        let reached = args.reach.open().await?;
        match &args.what {
            Some(AlertsSubcommand::Ack { id }) => return run_acknowledge(&reached, *id).await,
            Some(AlertsSubcommand::Snooze { id, hours }) => return run_snooze(&reached, *id, *hours).await,
            None => {}
        }
        let (alerts, last_check) = match &reached {
            Reached::Store(store, project) => {
                let which = if args.all { AlertSelection::All } else { AlertSelection::Open };
                (load_alerts(store, *project, which, None, MAX_ALERTS).await?.0, None)
            }
            Reached::Server(remote) => {
                let mut page = remote.get(&format!("/alerts?all={}&limit={MAX_ALERTS}", args.all)).await?;
                let last_check = page["last_check"].as_str().map(printable);
                let alerts = serde_json::from_value(page["items"].take())
                    .context("cannot read the server's response; its version may differ")?;
                (alerts, last_check)
            }
        };
        let mut out = crate::render::stdout();
        match args.json {
            true => writeln!(out, "{}", serde_json::to_string_pretty(&alerts)?)?,
            false => write!(out, "{}", render_alert_list(&alerts, last_check.as_deref()))?,
        }
        let now = clock::current_time();
        let is_new = |alert: &AlertShown| {
            alert.resolved.is_none() && alert.acknowledged.is_none() && !is_snoozed(alert, now)
        };
        Ok(if alerts.iter().any(is_new) { CommandOutcome::Failed } else { CommandOutcome::Passed })
    })
}

async fn run_acknowledge(reached: &Reached, id: AlertId) -> anyhow::Result<CommandOutcome> {
    match reached {
        Reached::Store(store, project) => {
            store.alert(*project, id).await?;
            store.alert_seen(*project, id, None, clock::current_time()).await?;
        }
        Reached::Server(remote) => {
            remote.send(reqwest::Method::POST, &format!("/alerts/{id}/acknowledge"), None).await?;
        }
    }
    writeln!(crate::render::stdout(), "acknowledged {id}")?;
    Ok(CommandOutcome::Passed)
}

async fn run_snooze(reached: &Reached, id: AlertId, hours: u32) -> anyhow::Result<CommandOutcome> {
    let alert: AlertShown = match reached {
        Reached::Store(store, project) => {
            store.alert(*project, id).await?;
            let is_open = snooze_alert_for_hours(store, *project, id, hours, clock::current_time()).await?;
            anyhow::ensure!(is_open, "the alert is resolved; there is nothing to snooze");
            store.alert(*project, id).await?.into()
        }
        Reached::Server(remote) => {
            let body = serde_json::json!({ "hours": hours });
            let answer =
                remote.ask(reqwest::Method::POST, &format!("/alerts/{id}/snooze"), Some(&body)).await?;
            serde_json::from_value(answer)
                .context("cannot read the server's response; its version may differ")?
        }
    };
    let until = alert.snoozed_until.unwrap_or_default();
    match hours {
        0 => writeln!(crate::render::stdout(), "{id} is no longer snoozed")?,
        _ => writeln!(crate::render::stdout(), "snoozed {id} until {until}")?,
    }
    Ok(CommandOutcome::Passed)
}

fn is_snoozed(alert: &AlertShown, now: Time) -> bool {
    let until = alert.snoozed_until.as_deref().and_then(|until| Time::parse(until).ok());
    until.is_some_and(|until| now < until)
}

/// `last_check`: when the server checked all monitors; unknown if the database was read directly.
fn render_alert_list(all: &[AlertShown], last_check: Option<&str>) -> String {
    if all.is_empty() {
        let last = last_check.map_or_else(String::new, |time| format!("; the last check was at {time}"));
        return format!(
            "no alerts; a running server checks all monitors when it starts and every ten minutes{last}\n"
        );
    }
    let now = clock::current_time();
    let line = |alert_shown: &AlertShown| {
        let snoozed_until = alert_shown.snoozed_until.as_deref().filter(|_| is_snoozed(alert_shown, now));
        let (mark, rest) = match (&alert_shown.resolved, &alert_shown.acknowledged) {
            (Some(time), _) => ("\x1b[32m✓\x1b[0m", format!("resolved {time}")),
            (None, Some(time)) => ("\x1b[33m!\x1b[0m", format!("acknowledged {time}")),
            (None, None) if let Some(until) = snoozed_until => {
                ("\x1b[33m!\x1b[0m", format!("snoozed until {until}"))
            }
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
