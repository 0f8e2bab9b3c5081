//! Caps, reservations and unknown prices.

use std::sync::Mutex;

use jurist_core::grade::{Deferral, Usd, VerdictStatus};
use jurist_engine::call::{BudgetReservation, SharedBudget, VendorRateLimits};
use jurist_engine::model::{BoxFuture, ModelError};
use serde_json::json;

use super::*;

#[tokio::test]
async fn what_may_have_been_paid_counts_against_the_cap() {
    // No usage is told: all that was reserved counts.
    let raw = json!({ "choices": [{ "message": { "content": GOOD } }] }).to_string();
    for act in [Act::Raw(raw), Act::Drop] {
        let server = Server::script(vec![act]).await;
        let caller = caller().with_cap(Some(Usd::from_nanos(1_000_000_000)));
        decide(&bench(vec![member("openai", &server)]), &caller, &unit()).await;
        assert!(Usd::from_nanos(8_000_000) < caller.budget.spent_amount().unwrap());
    }
}

#[tokio::test]
async fn a_cap_holds_under_a_thousand_calls_at_once() {
    let server = Server::script(vec![say(GOOD)]).await;
    let bench = bench(vec![member("openai", &server)]);
    let one = decide(&bench, &caller(), &unit()).await.spend.cost.unwrap().nanos();
    let cap = Usd::from_nanos(one * 100);
    let caller = caller()
        .with_cap(Some(cap))
        .with_limits(VendorRateLimits { concurrency: 1000, ..VendorRateLimits::default() });
    let rubric = unit();
    let materials: Vec<JudgeInput> = (0..1000)
        .map(|n| JudgeInput { response: Some(format!("It is Paris, {n:04}.")), ..material() })
        .collect();
    let each = materials.iter().map(|material| {
        bench.decide(
            &caller,
            JudgeCase { candidate: "c", material, row: None, rubric: &rubric, labels: None, contests: None },
        )
    });
    let decisions = futures_util::future::join_all(each).await;
    let count = |wanted: VerdictStatus| {
        decisions.iter().filter(|decision| decision.as_ref().unwrap().status == wanted).count()
    };
    let spent = caller.budget.spent_amount().unwrap();
    assert!(spent <= cap, "{spent} of {cap}");
    assert!(50 < count(VerdictStatus::Fail), "{} were graded", count(VerdictStatus::Fail));
    assert_eq!(count(VerdictStatus::Fail) + count(VerdictStatus::Deferred), 1000);
}

/// Money of somebody else, who writes down what is asked of it.
#[derive(Debug, Default)]
struct Ledger(Arc<Mutex<Vec<String>>>);

#[derive(Debug)]
struct Entry(Arc<Mutex<Vec<String>>>);

impl SharedBudget for Ledger {
    fn reserve<'a>(
        &'a self,
        model: &'a str,
        most: Option<Usd>,
    ) -> BoxFuture<'a, Result<Box<dyn BudgetReservation>, ModelError>> {
        let is_enough = most.is_some_and(|usd| 0 < usd.nanos());
        self.0.lock().unwrap().push(format!("{model} {is_enough}"));
        Box::pin(async { Ok(Box::new(Entry(Arc::clone(&self.0))) as Box<dyn BudgetReservation>) })
    }
}

impl BudgetReservation for Entry {
    fn settle(self: Box<Self>, cost: Option<Usd>) -> BoxFuture<'static, ()> {
        let paid = if cost == Some(Usd::default()) { "nothing" } else { "something" };
        self.0.lock().unwrap().push(paid.to_owned());
        Box::pin(async {})
    }
}

#[tokio::test]
async fn each_try_is_set_aside_in_a_shared_purse_and_settled() {
    let away = Act::Status(503, Vec::new(), "{}".to_owned());
    let server = Server::script(vec![away, say("no answer"), say(GOOD)]).await;
    let purse = Arc::new(Ledger::default());
    let kept = Arc::clone(&purse.0);
    let bench = bench(vec![member("openai", &server)]);
    decide(&bench, &caller().with_shared_budget(purse), &unit()).await;
    let asked = format!("{} true", bench.members[0].line.name);
    let asked = asked.as_str();
    assert_eq!(*kept.lock().unwrap(), [asked, "nothing", asked, "something", asked, "something"]);
}

#[tokio::test]
async fn what_is_given_up_in_the_middle_of_a_call_stays_set_aside() {
    let server = Server::start(|_| Act::Wait(Duration::from_secs(60), Box::new(Act::Fit))).await;
    let purse = Arc::new(Ledger::default());
    let kept = Arc::clone(&purse.0);
    let (bench, caller) = (bench(vec![member("openai", &server)]), caller().with_shared_budget(purse));
    let rubric = unit();
    tokio::select! {
        decision = decide(&bench, &caller, &rubric) => panic!("{decision:?}"),
        () = until(|| server.n_seen() == 1) => {}
    }
    assert_eq!(kept.lock().unwrap().len(), 1, "nobody knows what it cost");
}

#[tokio::test]
async fn an_unpriced_model_does_not_run_under_a_cap() {
    let server = Server::script(vec![say(GOOD)]).await;
    let mut member = member("openai", &server);
    let line = jurist_engine::model::ModelEndpoint { price: None, ..(*member.line).clone() };
    member.line = Arc::new(line);
    let decision =
        decide(&bench(vec![member]), &caller().with_cap(Some(Usd::from_nanos(1_000_000_000))), &unit()).await;
    assert_eq!(decision.opinions[0].grades[0].outcome, Outcome::Deferred { why: Deferral::OverBudget });
    assert_eq!(server.n_seen(), 0);
}
