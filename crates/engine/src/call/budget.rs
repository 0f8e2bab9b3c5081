//! Budgets. The highest possible cost of a call is reserved before the call, so a cap holds under any concurrency.

use std::sync::{Mutex, PoisonError};

use jurist_core::grade::Usd;
use tokio::sync::Notify;

use crate::model::{BoxFuture, ModelError, ModelErrorKind};

/// A budget that several processes share, such as that of a project with many workers.
pub trait SharedBudget: Send + Sync + std::fmt::Debug {
    /// Reserves the highest possible cost of a call; `None` if its price is unknown. Waits while other reservations may
    /// be released. The error gives the reason why the reservation is impossible.
    fn reserve<'a>(
        &'a self,
        model: &'a str,
        most: Option<Usd>,
    ) -> BoxFuture<'a, Result<Box<dyn BudgetReservation>, ModelError>>;

    /// Adds a cost that is known only after it was paid, such as what an agent reports. Budgets that only reserve ignore
    /// it.
    fn charge(&self, _cost: Usd) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Whether a call of this cost can be paid, now or after other reservations are settled.
    fn may_fit(&self, _most: Usd) -> BoxFuture<'_, bool> {
        Box::pin(std::future::ready(true))
    }
}

/// A reservation for one call. If it is dropped without being settled, it counts as spent, because the call may have
/// been made.
pub trait BudgetReservation: Send + Sync + std::fmt::Debug {
    /// Settles the reservation at the real cost; `None` if the cost is unknown.
    fn settle(self: Box<Self>, cost: Option<Usd>) -> BoxFuture<'static, ()>;
}

/// The error for a model without a known price under a cap, with the remedy.
pub fn unknown_price_error(model: &str) -> ModelError {
    let detail = format!(
        "`{model}` has no known price, so it cannot be used with a cost cap; add `'{model}': {{input: 0.5, output: 2}}` \
         with its dollars per million tokens to `prices` in .jurist/config.yaml, and trust that file with \
         `jurist trust` or --trust-settings (a server reads it when it starts)"
    );
    ModelError::new(ModelErrorKind::OverBudget, detail)
}

/// The budget of this process: limit, reserved and spent amounts.
#[derive(Debug)]
pub struct CallBudget {
    cap: Option<Usd>,
    state: Mutex<BudgetState>,
    settled: Notify,
}

#[derive(Debug, Default, Clone, Copy)]
struct BudgetState {
    spent: i64,
    reserved: i64,
    /// Replies without a known price.
    n_unpriced: u64,
}

/// A reservation that must be settled; dropping it releases the amount.
#[derive(Debug)]
pub(super) struct LocalReservation<'a> {
    budget: &'a CallBudget,
    nanos: i64,
}

impl CallBudget {
    pub fn new(cap: Option<Usd>) -> Self {
        Self { cap, state: Mutex::default(), settled: Notify::new() }
    }

    /// The amount spent so far; `None` if some calls have no known price.
    pub fn spent_amount(&self) -> Option<Usd> {
        let state = self.state();
        (state.n_unpriced == 0).then(|| Usd::from_nanos(state.spent))
    }

    /// The amount that can still be reserved; `None` is no limit.
    pub(super) fn remaining_amount(&self) -> Option<Usd> {
        let state = self.state();
        let gone = state.spent.saturating_add(state.reserved);
        self.cap.map(|cap| Usd::from_nanos(cap.nanos().saturating_sub(gone).max(0)))
    }

    /// The error for a call whose highest possible cost does not fit.
    pub(super) fn refusal(&self, most: Usd) -> ModelError {
        let (spent, cap) = (Usd::from_nanos(self.state().spent), self.cap.unwrap_or_default());
        let detail = format!("{spent} of {cap} are spent, and one more call may cost up to {most}");
        ModelError::new(ModelErrorKind::OverBudget, detail)
    }

    /// The error for an agent that reports its cost, if what others have reported has used up the cap.
    pub fn used_up_error(&self) -> Option<ModelError> {
        let (cap, spent) = (self.cap?, Usd::from_nanos(self.state().spent));
        let is_used_up = Usd::default() < spent && cap <= spent;
        is_used_up.then(|| ModelError::new(ModelErrorKind::OverBudget, format!("{spent} of {cap} are spent")))
    }

    /// Adds a cost that was not reserved here; `None` if it is unknown.
    pub fn charge(&self, cost: Option<Usd>) {
        self.promise(0).settle(cost);
    }

    /// Reserves the highest possible cost of a call. Waits while other reservations may be released.
    pub(super) async fn reserve(
        &self,
        model: &str,
        most: Option<Usd>,
    ) -> Result<LocalReservation<'_>, ModelError> {
        let (Some(cap), Some(most)) = (self.cap, most) else {
            return match self.cap {
                Some(_) => Err(unknown_price_error(model)),
                None => Ok(self.promise(most.map_or(0, Usd::nanos))),
            };
        };
        let nanos = most.nanos();
        loop {
            let settled = self.settled.notified();
            {
                let mut state = self.state();
                if state.spent.saturating_add(state.reserved).saturating_add(nanos) <= cap.nanos() {
                    state.reserved += nanos;
                    return Ok(LocalReservation { budget: self, nanos });
                }
                if state.reserved == 0 || cap.nanos() < state.spent.saturating_add(nanos) {
                    drop(state);
                    return Err(self.refusal(most));
                }
            }
            settled.await;
        }
    }

    fn promise(&self, nanos: i64) -> LocalReservation<'_> {
        self.state().reserved += nanos;
        LocalReservation { budget: self, nanos }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, BudgetState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LocalReservation<'_> {
    /// Settles the reservation at the real cost; `None` if the cost is unknown.
    pub(super) fn settle(self, cost: Option<Usd>) {
        let mut state = self.budget.state();
        match cost {
            Some(cost) => state.spent = state.spent.saturating_add(cost.nanos()),
            None => state.n_unpriced += 1,
        }
    }
}

impl Drop for LocalReservation<'_> {
    fn drop(&mut self) {
        self.budget.state().reserved -= self.nanos;
        self.budget.settled.notify_waiters();
    }
}
