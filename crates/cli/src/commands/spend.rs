use std::io::Write;

use anyhow::Context;
use jurist_core::grade::{Time, Usd};
use jurist_core::money::{Cap, Currency, Rates};
use jurist_engine::trust::find_trusted_rates;
use jurist_server::{CapShown, PartShown, SpendShown, load_month_spend, set_cap_of};
use jurist_store::audit::NewAuditEntry;
use jurist_store::clock;
use serde_json::json;

use crate::connection::{Reach, Reached};
use crate::outcome::CommandOutcome;
use crate::render::printable;
use crate::runtime::wait_for;
use crate::suite_loading::load_current_settings;

/// Show this month's judge costs and set the monthly cap
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist spend                       This month, from this folder's database
  jurist spend --month 2026-10 --json
  jurist spend --server https://jurist.example.org --project support
  jurist spend cap 80                At most £80 a month; judging stops there
  jurist spend cap 100 --currency EUR --rate 1.09
  jurist spend cap none

Months are in UTC. The cost that a killed worker may have caused is counted as
spent.")]
pub struct SpendArgs {
    #[command(flatten)]
    reach: Reach,
    /// Month to show, such as 2026-03 [default: the current month]
    #[arg(long, value_name = "MONTH", value_parser = month)]
    month: Option<Time>,
    /// Print the API's JSON
    #[arg(long)]
    json: bool,
    #[command(subcommand)]
    what: Option<SpendSubcommand>,
}

#[derive(Debug, clap::Subcommand)]
enum SpendSubcommand {
    /// Set the monthly cap
    #[command(after_help = "\
Examples:
  jurist spend cap 80                At most £80 a month; judging stops there
  jurist spend cap 100 --currency EUR --rate 1.09
  jurist spend cap none              No limit")]
    Cap {
        /// Amount, or `none` for no limit
        #[arg(value_name = "AMOUNT", value_parser = amount)]
        amount: CapAmount,
        /// Currency code, such as EUR
        #[arg(long, value_name = "CODE", default_value = "GBP")]
        currency: Currency,
        /// Exchange rate to USD [default: the server's settings]
        #[arg(long, value_name = "DOLLARS")]
        rate: Option<f64>,
    },
}

#[derive(Debug, Clone, Copy)]
enum CapAmount {
    NoLimit,
    Of(f64),
}

fn month(text: &str) -> Result<Time, String> {
    Time::parse(&format!("{text}-01T00:00:00Z")).map_err(|_| "a month is one such as 2026-03".to_owned())
}

fn amount(text: &str) -> Result<CapAmount, String> {
    if text == "none" {
        return Ok(CapAmount::NoLimit);
    }
    let number = text.trim_start_matches(['£', '€', '$']).parse();
    number.map(CapAmount::Of).map_err(|_| "an amount such as 50, or `none`".to_owned())
}

pub fn run_spend_command(args: &SpendArgs) -> anyhow::Result<CommandOutcome> {
    wait_for(async {
        let reached = args.reach.open().await?;
        if let Some(SpendSubcommand::Cap { amount, currency, rate }) = &args.what {
            set_spend_cap(&reached, *amount, *currency, *rate).await?;
        }
        let now = clock::current_time();
        let of = args.month.unwrap_or(now);
        let page = match &reached {
            Reached::Store(store, project) => load_month_spend(store, *project, of, now).await?,
            Reached::Server(remote) => {
                let month: String = of.to_string().chars().take(7).collect();
                serde_json::from_value(remote.get(&format!("/spend?month={month}")).await?)
                    .context("cannot read the server's response; its version may differ")?
            }
        };
        let mut out = crate::render::stdout();
        match args.json {
            true => writeln!(out, "{}", serde_json::to_string_pretty(&page)?)?,
            false => write!(out, "{}", render_spend_page(&page))?,
        }
        Ok(CommandOutcome::Passed)
    })
}

async fn set_spend_cap(
    reached: &Reached,
    amount: CapAmount,
    currency: Currency,
    rate: Option<f64>,
) -> anyhow::Result<()> {
    match (reached, amount) {
        (Reached::Server(remote), CapAmount::NoLimit) => {
            remote.send(reqwest::Method::DELETE, "/spend/cap", None).await
        }
        (Reached::Server(remote), CapAmount::Of(amount)) => {
            let body = json!({ "amount": amount, "currency": currency, "rate": rate });
            remote.send(reqwest::Method::PUT, "/spend/cap", Some(&body)).await
        }
        (Reached::Store(store, project), amount) => {
            let cap = match amount {
                CapAmount::NoLimit => None,
                CapAmount::Of(amount) => {
                    let rates = match rate {
                        Some(_) => Rates::default(),
                        None => find_trusted_rates(load_current_settings()?, currency)?,
                    };
                    Some(rates.cap(amount, currency, rate)?)
                }
            };
            set_cap_of(store, *project, cap, clock::current_time()).await?;
            let entry = NewAuditEntry {
                project: Some(*project),
                actor: "command line".to_owned(),
                action: if cap.is_some() { "cap.set" } else { "cap.lift" }.to_owned(),
                target: project.to_string(),
                body: cap.as_ref().map_or(json!({}), |cap| json!(CapShown::from(cap))),
            };
            store.note(&entry, clock::current_time()).await?;
            Ok(())
        }
    }
}

/// Columns of the bar.
const WIDTH: usize = 40;

fn render_spend_page(month: &SpendShown) -> String {
    let cap =
        month.cap.as_ref().and_then(|cap| Cap::new(cap.amount, cap.currency.parse().ok()?, cap.rate).ok());
    let money = |dollars: f64| {
        let amount = Usd::from_nanos((dollars * 1e9).round() as i64);
        cap.map_or_else(|| amount.to_string(), |cap| cap.format_amount(amount))
    };
    let mut page = String::new();
    let is_over = 1.0 <= month.elapsed;
    let elapsed = if is_over { "over".to_owned() } else { format!("{:.0} % elapsed", 100.0 * month.elapsed) };
    page += &format!("\x1b[1m{}\x1b[0m, {elapsed}\n\n", month.month);
    match &month.cap {
        None => page += &format!("{} spent, without a limit\n", money(month.spent)),
        Some(limit) => {
            let share = if limit.dollars == 0.0 { 1.0 } else { month.spent / limit.dollars };
            page += &format!(
                "{}  {} of {}, {:.0} %\n",
                bar(share, month.elapsed),
                money(month.spent),
                cap.map_or_else(|| money(limit.dollars), |cap| cap.format_limit()),
                100.0 * share
            );
            if limit.currency != "USD" {
                page += &format!(
                    "exchange rate: 1 {} = ${} (from the time when the cap was set)\n",
                    limit.currency, limit.rate
                );
            }
        }
    }
    if 0.0 < month.reserved {
        page += &format!("{} reserved for running calls\n", money(month.reserved));
    }
    if 0.0 < month.assumed {
        page +=
            &format!("{} of it by calls with unknown cost, counted at their maximum\n", money(month.assumed));
    }
    if let Some(it) = &month.forecast {
        page += &format!(
            "projected month-end spend {} (80 % interval {} to {})",
            money(it.expected),
            money(it.low),
            money(it.high)
        );
        page += &match &it.reaches_cap {
            Some(time) => format!(
                ";\n\x1b[33mthe cap will be reached on {}; judging stops then\x1b[0m\n",
                &time[..10.min(time.len())]
            ),
            None => "\n".to_owned(),
        };
    } else if let Some(why) = &month.no_forecast {
        page += &format!("no forecast yet: {why}\n");
    }
    if !month.days.is_empty() {
        page += &format!("\n{}  day by day\n", sparkline(month));
    }
    for (name, parts) in
        [("for", &month.purposes), ("judge", &month.judges), ("run or monitor", &month.subjects)]
    {
        page += &render_spend_table(name, parts, &money);
    }
    page
}

/// A bar with the money spent, and a mark at the elapsed part of the month.
fn bar(share: f64, elapsed: f64) -> String {
    let full = ((share * WIDTH as f64).round() as usize).min(WIDTH);
    let today = ((elapsed * WIDTH as f64) as usize).min(WIDTH - 1);
    let colour = match share {
        it if 1.0 <= it => 31,
        it if 0.8 <= it => 33,
        _ => 32,
    };
    let cell = |at: usize| match (at < full, at == today) {
        (_, true) => '┃',
        (true, false) => '█',
        (false, false) => '░',
    };
    let cells: String = (0..WIDTH).map(cell).collect();
    format!("\x1b[{colour}m{cells}\x1b[0m")
}

/// A column for each day with spending.
fn sparkline(month: &SpendShown) -> String {
    let most = month.days.iter().map(|day| day.spent).fold(f64::MIN_POSITIVE, f64::max);
    let column =
        |spent: f64| ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'][((spent / most * 7.0).round() as usize).min(7)];
    month.days.iter().map(|day| column(day.spent)).collect()
}

/// The largest number of parts that are printed; the others are counted.
const PARTS: usize = 8;

fn render_spend_table(name: &str, parts: &[PartShown], money: &dyn Fn(f64) -> String) -> String {
    if parts.is_empty() {
        return String::new();
    }
    let width =
        parts.iter().take(PARTS).map(|part| part.name.chars().count()).chain([name.len()]).max().unwrap_or(0);
    let has_budgets = parts.iter().take(PARTS).any(|part| part.budget.is_some());
    let head = if has_budgets { format!("  {:>12}", "budget") } else { String::new() };
    let mut table = format!("\n\x1b[1m{name:width$}  {:>12}  {:>8}{head}\x1b[0m\n", "spent", "calls");
    for part in parts.iter().take(PARTS) {
        let name = printable(&part.name);
        let budget = part.budget.as_ref().map(|budget| format!("  {budget:>12}"));
        let budget = budget.unwrap_or_default();
        table += &format!("{name:width$}  {:>12}  {:>8}{budget}\n", money(part.spent), part.n_calls);
    }
    if PARTS < parts.len() {
        table += &format!("and {} more\n", parts.len() - PARTS);
    }
    table
}

#[cfg(test)]
mod tests {
    use jurist_server::monitor::MonitorBudgetView;

    use super::*;

    #[test]
    fn a_month_reads_at_a_glance() {
        let part = |name: &str, spent: f64| PartShown { name: name.into(), spent, n_calls: 12, budget: None };
        let budget = MonitorBudgetView { amount: 24.0, currency: "EUR".into(), rate: None };
        let month = SpendShown {
            month: "2026-11".into(),
            elapsed: 1.0 / 3.0,
            cap: Some(CapShown { amount: 50.0, currency: "GBP".into(), rate: 1.25, dollars: 62.5 }),
            spent: 25.0,
            reserved: 0.0,
            assumed: 0.1,
            forecast: Some(jurist_server::ForecastShown {
                expected: 75.0,
                low: 70.0,
                high: 80.0,
                reaches_cap: Some("2026-11-26T00:00:00Z".into()),
            }),
            no_forecast: None,
            days: (1..=3)
                .map(|n| jurist_server::DayShown {
                    day: format!("2026-11-0{n}"),
                    spent: f64::from(n),
                    n_calls: 4,
                })
                .collect(),
            purposes: vec![part("monitor", 20.0), part("run", 5.0)],
            subjects: vec![PartShown { budget: Some(budget), ..part("desk", 20.0) }, part("run_1", 5.0)],
            judges: vec![part("openai/gpt-5-mini", 25.0)],
        };
        let plain = render_spend_page(&month);
        let plain = ["\x1b[0m", "\x1b[1m", "\x1b[32m", "\x1b[33m"]
            .iter()
            .fold(plain, |text, code| text.replace(code, ""));
        assert_eq!(
            plain,
            "\
2026-11, 33 % elapsed

█████████████┃██░░░░░░░░░░░░░░░░░░░░░░░░  £20.00 of £50.00, 40 %
exchange rate: 1 GBP = $1.25 (from the time when the cap was set)
£0.0800 of it by calls with unknown cost, counted at their maximum
projected month-end spend £60.00 (80 % interval £56.00 to £64.00);
the cap will be reached on 2026-11-26; judging stops then

▃▆█  day by day

for             spent     calls
monitor        £16.00        12
run             £4.00        12

judge                     spent     calls
openai/gpt-5-mini        £20.00        12

run or monitor         spent     calls        budget
desk                  £16.00        12        €24.00
run_1                  £4.00        12
"
        );
    }
}
