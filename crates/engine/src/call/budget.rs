//! Money is reserved before it is spent; a cap holds under any concurrency.

use std::sync::{Mutex, PoisonError};

use jurist_core::grade::Usd;
use tokio::sync::Notify;

use crate::model::{BoxFuture, ModelError, ModelErrorKind};

/// Money that others spend from as well: that of a project with many workers, for instance.
pub trait SharedBudget: Send + Sync + std::fmt::Debug {
    /// Sets aside as much as a call can cost, `None` where nobody knows. Waits while others may give back what
    /// is missing; the error says why it will not do.
    fn reserve<'a>(
        &'a self,
        model: &'a str,
        most: Option<Usd>,
    ) -> BoxFuture<'a, Result<Box<dyn BudgetReservation>, ModelError>>;

    /// Whether a call that can cost so much will be paid, now or once others have given back what they do not need.
    fn may_fit(&self, _most: Usd) -> BoxFuture<'_, bool> {
        Box::pin(std::future::ready(true))
    }
}

/// Set aside for one call that is about to be made. Dropped, it may have been spent: the call was under way.
pub trait BudgetReservation: Send + Sync + std::fmt::Debug {
    /// What it really cost; `None` if nobody knows.
    fn settle(self: Box<Self>, cost: Option<Usd>) -> BoxFuture<'static, ()>;
}

/// Why a model without a price does not run under a cap, and what would let it.
pub fn unknown_price_error(model: &str) -> ModelError {
    let detail = format!(
        "`{model}` has no known price, so it cannot be used with a cost cap; add `'{model}': {{input: 0.5, output: 2}}` \
         with its dollars per million tokens to `prices` in .jurist/config.yaml"
    );
    ModelError::new(ModelErrorKind::OverBudget, detail)
}

/// What may be spent, what is promised, what is gone.
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
    /// Replies whose price nobody knows.
    n_unpriced: u64,
}

/// A promise that must be settled; dropped, it was never needed.
#[derive(Debug)]
pub(super) struct LocalReservation<'a> {
    budget: &'a CallBudget,
    nanos: i64,
}

impl CallBudget {
    pub fn new(cap: Option<Usd>) -> Self {
        Self { cap, state: Mutex::default(), settled: Notify::new() }
    }

    /// What is spent so far; `None` if some of it has no known price.
    pub fn spent_amount(&self) -> Option<Usd> {
        let state = self.state();
        (state.n_unpriced == 0).then(|| Usd::from_nanos(state.spent))
    }

    /// What can still be promised; `None` is no limit.
    pub(super) fn remaining_amount(&self) -> Option<Usd> {
        let state = self.state();
        let gone = state.spent.saturating_add(state.reserved);
        self.cap.map(|cap| Usd::from_nanos(cap.nanos().saturating_sub(gone).max(0)))
    }

    /// Why something that may cost so much is not asked.
    pub(super) fn refusal(&self, most: Usd) -> ModelError {
        let (spent, cap) = (Usd::from_nanos(self.state().spent), self.cap.unwrap_or_default());
        let detail = format!("{spent} of {cap} are spent, and one more call may cost up to {most}");
        ModelError::new(ModelErrorKind::OverBudget, detail)
    }

    /// Counts what was paid elsewhere; `None` if nobody knows how much.
    pub fn charge(&self, cost: Option<Usd>) {
        self.promise(0).settle(cost);
    }

    /// Promises as much as a call can cost. Waits while others may give back what is missing.
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
    /// What it really cost; `None` if nobody knows.
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
