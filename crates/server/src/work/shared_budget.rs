//! The budget of a project, shared by all workers: the store reserves the cost before each call and settles it after.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jurist_core::alert;
use jurist_core::grade::{Time, Usd};
use jurist_core::money::{Cap, Month};
use jurist_engine::call::{BudgetReservation, SharedBudget, unknown_price_error};
use jurist_engine::model::{BoxFuture, ModelError, ModelErrorKind};
use jurist_store::jobs::Job;
use jurist_store::spend::{Limit, MonthSpend, ReservationRequest, Reserve};
use jurist_store::{ProjectId, ReservationId, StoreError, clock};

use super::WorkerContext;
use super::worker::retry_while_transient;
use crate::job::MONITOR;
use crate::monitor::{LoadedMonitorVersion, monitor_budget_cap};
use crate::notify;

/// Wait before the budget is checked again. Settlements of this process are noticed at once; those of other processes
/// only by this check.
const LOOK: Duration = Duration::from_secs(1);

/// The budget of calls for one purpose.
#[derive(Debug)]
pub struct ProjectBudget {
    context: WorkerContext,
    project: ProjectId,
    purpose: &'static str,
    subject: String,
    limit: Option<Limit>,
    /// The limit in the currency in which it was set, for messages.
    limit_cap: Option<Cap>,
    job: Option<Job>,
    /// Whether the alert about the exhausted budget was raised.
    is_told: AtomicBool,
}

impl ProjectBudget {
    /// For a run or a monitor, by its id.
    pub fn new(context: &WorkerContext, project: ProjectId, purpose: &'static str, subject: String) -> Self {
        let (context, is_told) = (context.clone(), AtomicBool::new(false));
        Self { context, project, purpose, subject, limit: None, limit_cap: None, job: None, is_told }
    }

    /// Sets the budget of the run or monitor, in addition to the project's cap.
    #[must_use]
    pub fn with_limit(self, limit: Option<Limit>) -> Self {
        Self { limit, ..self }
    }

    /// Sets the monthly budget of a monitor, in addition to the project's cap.
    fn with_monthly_cap(self, cap: Option<Cap>) -> Self {
        Self { limit: cap.map(|cap| Limit::InMonth(cap.usd())), limit_cap: cap, ..self }
    }

    /// Ties reservations to a job. A worker that takes over the job then knows that reservations of the earlier lease
    /// belong to no call in progress.
    #[must_use]
    pub fn with_job(self, job: &Job) -> Self {
        Self { job: Some(job.clone()), ..self }
    }

    async fn reserve_amount(&self, model: &str, most: Option<Usd>) -> Result<ReservationId, ModelError> {
        let store = &self.context.store;
        let away = |error: StoreError| {
            let why = format!("cannot reserve budget: {error}");
            ModelError::new(ModelErrorKind::Unavailable, why)
        };
        if most.is_none() {
            let month = retry_while_transient(|| store.month_spend(self.project, clock::current_time()))
                .await
                .map_err(away)?;
            if month.cap.is_some() || self.limit.is_some() {
                return Err(unknown_price_error(model));
            }
        }
        let amount = most.unwrap_or_default();
        let wanted = ReservationRequest {
            amount,
            purpose: self.purpose,
            subject: &self.subject,
            limit: self.limit,
            model,
            job: self.job.as_ref(),
        };
        // One id for all attempts: an attempt whose answer was lost may have reserved the amount.
        let id = ReservationId::at(clock::current_time());
        let mut has_waited = false;
        loop {
            let settled = self.context.settled.notified();
            let reserved =
                retry_while_transient(|| store.reserve_as(id, self.project, &wanted, clock::current_time()))
                    .await;
            let (whose, spent) = match reserved.map_err(away)? {
                Reserve::Held(id) => {
                    // The released amount may be enough for another waiting call, so it is woken.
                    if has_waited {
                        self.context.settled.notify_one();
                    }
                    return Ok(id);
                }
                Reserve::OverCap(month) => ("the month's", month),
                Reserve::OverLimit(subject) => ("its own", subject),
            };
            if !spent.may_fit(amount) {
                let cap = if whose == "the month's" {
                    self.tell(&spent, amount).await;
                    store.project(self.project).await.ok().and_then(|project| project.cap)
                } else {
                    self.limit_cap
                };
                return Err(over_budget_error(whose, &spent, amount, cap));
            }
            // The missing amount is reserved for calls in progress, which usually cost less than they reserve.
            has_waited = true;
            let _ = tokio::time::timeout(LOOK, settled).await;
        }
    }

    /// Raises the alert at most once per budget object; the store deduplicates alerts as well.
    async fn tell(&self, spent: &MonthSpend, needed: Usd) {
        if self.is_told.swap(true, Ordering::Relaxed) {
            return;
        }
        let (store, now) = (&self.context.store, clock::current_time());
        let raised = async {
            let cap = store.project(self.project).await?.cap;
            let month = Month::of(now).to_string();
            let signal = alert::spend_stop_signal(&month, spent.settled, cap.as_ref(), needed);
            notify::apply_alert_signal(store, self.project, &signal, now).await
        };
        if let Err(error) = raised.await {
            tracing::warn!(%error, "cannot raise the alert that the monthly budget is used up");
        }
    }
}

/// The budget of a monitor's calls: the project's cap and the limit in this version of the monitor.
pub(super) fn open_monitor_budget(
    context: &WorkerContext,
    project: ProjectId,
    funding: &LoadedMonitorVersion,
    job: &Job,
) -> ProjectBudget {
    let cap = monitor_budget_cap(&funding.monitor, &context.work.settings.rates);
    let budget = ProjectBudget::new(context, project, MONITOR, funding.monitor_id.to_string());
    budget.with_monthly_cap(cap).with_job(job)
}

/// The error of a call for which there is no money, with amounts in the currency of the budget.
fn over_budget_error(whose: &str, spent: &MonthSpend, amount: Usd, cap: Option<Cap>) -> ModelError {
    let money = |amount: Usd| cap.map_or_else(|| amount.to_string(), |cap| cap.format_amount(amount));
    let limit = match cap {
        Some(cap) => cap.format_limit(),
        None => money(spent.cap.unwrap_or_default()),
    };
    let (spent, most) = (money(spent.settled), money(amount));
    let detail = format!("{spent} of {whose} {limit} are spent, and one more call may cost up to {most}");
    ModelError::new(ModelErrorKind::OverBudget, detail)
}

impl SharedBudget for ProjectBudget {
    fn reserve<'a>(
        &'a self,
        model: &'a str,
        most: Option<Usd>,
    ) -> BoxFuture<'a, Result<Box<dyn BudgetReservation>, ModelError>> {
        Box::pin(async move {
            let id = self.reserve_amount(model, most).await?;
            let reservation =
                StoredReservation { context: self.context.clone(), project: self.project, id, amount: most };
            Ok(Box::new(reservation) as Box<dyn BudgetReservation>)
        })
    }

    fn may_fit(&self, most: Usd) -> BoxFuture<'_, bool> {
        Box::pin(async move {
            let (store, now) = (&self.context.store, clock::current_time());
            // If the spend cannot be read, the reservation itself decides.
            let Ok(month) = store.month_spend(self.project, now).await else { return true };
            let own = match self.limit {
                Some(Limit::InMonth(cap)) => Some((cap, Some(Month::of(now).to_string()))),
                Some(Limit::InAll(cap)) => Some((cap, None)),
                None => None,
            };
            let Some((cap, within)) = own else { return month.may_fit(most) };
            let spent = store.subject_spend(self.project, &self.subject, within.as_deref()).await;
            let is_in_own = spent.is_ok_and(|spent| MonthSpend { cap: Some(cap), ..spent }.may_fit(most));
            month.may_fit(most) && is_in_own
        })
    }
}

/// A reservation in the store. If it is dropped, it stays there until its job ends, and then counts as spent.
#[derive(Debug)]
struct StoredReservation {
    context: WorkerContext,
    project: ProjectId,
    id: ReservationId,
    amount: Option<Usd>,
}

impl BudgetReservation for StoredReservation {
    fn settle(self: Box<Self>, cost: Option<Usd>) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let cost = cost.or(self.amount).unwrap_or_default();
            let store = &self.context.store;
            match retry_while_transient(|| store.settle(self.project, self.id, cost, clock::current_time()))
                .await
            {
                Ok(true) => self.context.metrics.add_spend(cost),
                Ok(false) => {
                    tracing::warn!(reservation = %self.id, "it counted as spent before it was settled");
                }
                Err(error) => tracing::error!(%error, reservation = %self.id, "a call could not be settled"),
            }
            self.context.settled.notify_one();
        })
    }
}

/// Settles reservations of stopped workers at their full amount, because their calls may have been billed.
pub async fn reclaim_reservations(context: &WorkerContext, now: Time) -> Result<usize, StoreError> {
    let stale = context.store.stale_reservations(now, 1000).await?;
    let mut n = 0;
    for it in &stale {
        if context.store.assume_spent(it.project, it.id, now).await? {
            tracing::warn!(reservation = %it.id, amount = %it.amount, "its worker stopped, so it counts as spent");
            context.metrics.add_spend(it.amount);
            n += 1;
        }
    }
    if 0 < n {
        context.settled.notify_one();
    }
    Ok(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_in_the_currency_of_the_budget() {
        let usd = |dollars: f64| Usd::from_nanos((dollars * 1e9).round() as i64);
        let spent = MonthSpend { cap: Some(usd(0.0025)), reserved: Usd::default(), settled: usd(0.0) };
        let cap = Cap::new(0.002, "GBP".parse().unwrap(), 1.25).unwrap();
        assert_eq!(
            over_budget_error("its own", &spent, usd(0.01), Some(cap)).detail,
            "£0.00 of its own £0.002 are spent, and one more call may cost up to £0.0080"
        );
        let in_dollars = over_budget_error("its own", &spent, usd(0.01), None).detail;
        assert!(in_dollars.contains('$') && !in_dollars.contains('£'), "{in_dollars}");
    }
}
