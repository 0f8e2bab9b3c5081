//! Payment of batches: under a cap a batch is sent in parts, so that the cap holds for any cost of the replies.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;

use jurist_core::grade::Usd;

use super::{ModelClient, settle_reservation, unknown_price_error};
use crate::batch::{AT_ONCE, BatchClient, BatchEntry, BatchQueue, BatchReplies, BatchedReply};
use crate::model::vendors::Price;
use crate::model::{ModelError, ModelErrorKind};

impl ModelClient {
    /// Sends the waiting requests in batches and waits for the replies.
    ///
    /// The highest possible cost of a part is at most the rest of the budget; the next part is sent when the real cost
    /// of the last one is known. A request that does not fit alone is over budget.
    pub async fn run_batches(&self, batch_client: &BatchClient<'_>) -> Result<(), ModelError> {
        let Some(batches) = &self.batches else { return Ok(()) };
        let mut wanted = batches.take_wanted()?;
        // Batches of an earlier attempt are paid for already, so they are collected first.
        for ticket in batch_client.tickets() {
            let (covered, rest) = wanted.into_iter().partition(|entry| ticket.covers(entry));
            wanted = rest;
            self.collect(batches, batch_client.collect(&ticket, &covered).await?, covered).await?;
        }
        let mut wanted = VecDeque::from(wanted);
        while !wanted.is_empty() {
            let part = self.next_part(batches, &mut wanted);
            if part.is_empty() {
                continue;
            }
            let ticket = batch_client.submit(&part).await?;
            self.meter.n_requests.fetch_add(part.len() as u64, Ordering::Relaxed);
            self.collect(batches, batch_client.collect(&ticket, &part).await?, part).await?;
        }
        Ok(())
    }

    /// Takes as many requests to one model as fit into the budget; requests that do not fit alone get a budget error.
    fn next_part(&self, batches: &BatchQueue, wanted: &mut VecDeque<BatchEntry>) -> Vec<BatchEntry> {
        let (left, mut most, mut part) =
            (self.budget.remaining_amount(), Usd::default(), Vec::<BatchEntry>::new());
        while let Some(entry) = wanted.pop_front() {
            let is_other = part.first().is_some_and(|first| !first.is_with(&entry));
            let sum = entry.most().map(|usd| most.plus(usd));
            let fits = left.is_none_or(|left| sum.is_some_and(|sum| sum <= left));
            if !part.is_empty() && (is_other || part.len() == AT_ONCE || !fits) {
                wanted.push_front(entry);
                break;
            }
            if fits {
                most = sum.unwrap_or(most);
                part.push(entry);
            } else {
                let error = entry
                    .most()
                    .map_or_else(|| unknown_price_error(&entry.line.name), |most| self.budget.refusal(most));
                batches.put(entry.key, BatchedReply { result: Err(error), spend: None });
            }
        }
        part
    }

    /// Charges the replies of a part at the batch price before they are used.
    async fn collect(
        &self,
        batches: &BatchQueue,
        mut replies: BatchReplies,
        part: Vec<BatchEntry>,
    ) -> Result<(), ModelError> {
        for entry in part {
            let missing = || {
                Err(ModelError::new(ModelErrorKind::Unavailable, "the batch came back without this reply"))
            };
            let result = replies.remove(&entry.key).unwrap_or_else(missing);
            let spend = self.spend(entry.line.price.map(Price::half), &result, entry.most());
            if let Some(spend) = spend {
                self.budget.charge(spend.cost);
                settle_reservation(self.reserve_shared_budget(&entry.line, spend.cost).await?, spend.cost)
                    .await;
            }
            batches.put(entry.key, BatchedReply { result, spend });
        }
        Ok(())
    }
}
