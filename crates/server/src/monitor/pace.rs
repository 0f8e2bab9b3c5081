//! Pacing: lowers the sample rate so that the budget lasts until the end of the month.

use std::fmt;

use jurist_core::grade::{Time, Usd};
use jurist_core::money::{self, Cap, Currency, Month, Rates, pacing_factor};
use jurist_core::suite::Monitor;
use jurist_store::spend::MonthSpend;
use jurist_store::{ProjectId, Store, StoreError};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::LoadedMonitorVersion;

/// Why a trace that did not fail is not judged.
pub(crate) const FOR_FAILURES: &str = "the rest of the monthly budget is reserved for failed traces";

/// The pace that follows from the spent budget and the elapsed time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SamplingPace {
    /// Factor on the sample rates.
    pub factor: f64,
    /// Only sampled traces with errors are judged. The others still count as sampled, so that the estimate shows them
    /// as missing instead of ignoring them.
    pub is_for_failures: bool,
}

/// The pace by the project's cap and the monitor's own budget; the lower factor counts. The factor is 1 if there is
/// neither, or if the monitor has no pacing.
pub async fn compute_sampling_pace(
    store: &Store,
    project: ProjectId,
    watched: &LoadedMonitorVersion,
    rates: &Rates,
    now: Time,
) -> Result<SamplingPace, StoreError> {
    let Some(wanted) = watched.monitor.pacing else {
        return Ok(SamplingPace { factor: 1.0, is_for_failures: false });
    };
    let elapsed = Month::of(now).elapsed_share(now);
    let factor = |budget: &MonthlyBudget| {
        pacing_factor(&money::SpendPace {
            elapsed,
            spent: budget.spent,
            cap: budget.cap,
            floor: wanted.floor,
            kept_for_failures: wanted.kept_for_failures,
        })
    };
    let budgets = load_monthly_budgets(store, project, watched, rates, now).await?;
    let factor = budgets.iter().map(factor).fold(1.0, f64::min);
    Ok(SamplingPace { factor: factor.max(wanted.floor), is_for_failures: factor <= 0.0 })
}

/// A budget of this month.
pub(crate) struct MonthlyBudget {
    pub cap: Usd,
    /// Spent, or reserved for calls in progress.
    pub spent: Usd,
}

/// The budgets that limit a monitor's calls: the project's cap and the monitor's own budget, if they are set.
pub(crate) async fn load_monthly_budgets(
    store: &Store,
    project: ProjectId,
    watched: &LoadedMonitorVersion,
    rates: &Rates,
    now: Time,
) -> Result<Vec<MonthlyBudget>, StoreError> {
    let budget =
        |cap: Usd, spend: MonthSpend| MonthlyBudget { cap, spent: spend.settled.plus(spend.reserved) };
    let all = store.month_spend(project, now).await?;
    let mut budgets: Vec<MonthlyBudget> = all.cap.map(|cap| budget(cap, all)).into_iter().collect();
    if let Some(cap) = monthly_monitor_budget(&watched.monitor, rates) {
        let month = Month::of(now).to_string();
        let own = store.subject_spend(project, &watched.monitor_id.to_string(), Some(&month)).await?;
        budgets.push(budget(cap, own));
    }
    Ok(budgets)
}

/// Monthly budget of a monitor, in addition to the project's cap.
pub(crate) fn monthly_monitor_budget(monitor: &Monitor, rates: &Rates) -> Option<Usd> {
    Some(monitor_budget_cap(monitor, rates)?.usd())
}

/// Monthly budget of a monitor, in the currency of its file
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct MonitorBudgetView {
    /// Most that the monitor may spend in a month, in `currency`.
    pub amount: f64,
    /// Code of the currency (ISO 4217).
    #[schema(example = "GBP")]
    pub currency: String,
    /// Exchange rate to US dollars, where amounts in dollars are shown next to the budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
}

impl MonitorBudgetView {
    pub(crate) fn of(monitor: &Monitor) -> Option<Self> {
        let budget = monitor.budget.as_ref()?;
        Some(Self { amount: budget.monthly, currency: budget.currency.clone(), rate: None })
    }

    /// The budget with its exchange rate; `None` if it has none.
    pub fn cap(&self) -> Option<Cap> {
        Cap::new(self.amount, self.currency.parse().ok()?, self.rate?).ok()
    }
}

/// The amount, such as `£20.00`.
impl fmt::Display for MonitorBudgetView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // An amount in its own currency needs no exchange rate.
        let currency = self.currency.parse::<Currency>();
        let cap = currency.and_then(|currency| Cap::new(self.amount, currency, 1.0));
        match cap {
            Ok(cap) => f.pad(&cap.format_limit()),
            Err(_) => f.pad(&format!("{:.2} {}", self.amount, self.currency)),
        }
    }
}

/// The same in the currency of the file.
pub(crate) fn monitor_budget_cap(monitor: &Monitor, rates: &Rates) -> Option<Cap> {
    let budget = monitor.budget.as_ref()?;
    rates.cap(budget.monthly, budget.currency.parse().ok()?, None).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_shown_in_its_own_currency() {
        let budget = |amount: f64, currency: &str| MonitorBudgetView {
            amount,
            currency: currency.to_owned(),
            rate: None,
        };
        assert_eq!(budget(2.0, "EUR").to_string(), "€2.00");
        assert_eq!(budget(0.002, "GBP").to_string(), "£0.002");
        assert_eq!(budget(0.135, "GBP").to_string(), "£0.135");
        assert_eq!(budget(300.0, "JPY").to_string(), "300.00 JPY");
        assert_eq!(budget(1.0, "GBP").cap(), None, "without a rate, dollars cannot be converted");
    }
}
