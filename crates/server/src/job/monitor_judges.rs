//! The judges of a monitor, as this machine's settings resolve them.

use std::collections::BTreeMap;
use std::sync::Arc;

use jurist_core::money::{BadCap, Currency};
use jurist_core::suite::{Calls, Judge, Monitor};
use jurist_engine::embed::TextServices;
pub use jurist_engine::judge::ResolvedJudges;
use jurist_engine::model::resolve::Resolver;

use super::{Work, WorkRefusal};

/// Seconds for one call of a monitor's judge by default. A call that times out is made once more, so a trace whose
/// judge hangs is pending for two minutes and a little.
const TIMEOUT: f64 = 60.0;

/// A budget without an exchange rate would limit nothing.
fn check_budget(monitor: &Monitor, work: &Work) -> Result<(), WorkRefusal> {
    let Some(budget) = &monitor.budget else { return Ok(()) };
    let rates = &work.settings.rates;
    let cap =
        budget.currency.parse().and_then(|currency: Currency| rates.cap(budget.monthly, currency, None));
    match cap {
        Ok(_) => Ok(()),
        Err(BadCap::NoRate(currency)) => Err(WorkRefusal::Wrong(format!(
            "the exchange rate of {currency}, the currency of its `budget`, is unknown here; add it to `rates` in the \
             settings of servers and workers, and trust them with `jurist trust`"
        ))),
        Err(bad) => Err(WorkRefusal::Wrong(format!("its `budget`: {bad}"))),
    }
}

/// Resolves the judges of a monitor with this machine's settings.
pub fn build_monitor_judges(monitor: &Monitor, work: &Work) -> Result<Vec<ResolvedJudges>, WorkRefusal> {
    if let Some(program) = monitor.judges.iter().find(|judge| judge.starts_with("command:"))
        && !work.allow_commands
    {
        return Err(WorkRefusal::NotAllowed(format!("`{program}` is a program as judge")));
    }
    if let Some(it) = monitor.rubric.external_checks().next() {
        let why = format!(
            "`{}` is decided by {}, and a monitor runs no programs",
            it.criterion.id,
            it.check.describe()
        );
        return Err(WorkRefusal::Wrong(why));
    }
    if let Some(it) = monitor.rubric.max_scores().next() {
        let why = format!(
            "`{}` compares the outputs of one case, and a monitor looks at one trace",
            it.criterion.id
        );
        return Err(WorkRefusal::Wrong(why));
    }
    if let Some(model) = monitor.rubric.embedding_models().find(|model| model.base_url.is_some()) {
        let why = format!(
            "the embedding model `{}` has a `base_url`, and a monitor uses the addresses of the server's settings",
            model.name
        );
        return Err(WorkRefusal::Wrong(why));
    }
    check_budget(monitor, work)?;
    let environment = work.environment.clone();
    let resolver = Arc::new(Resolver::new(work.settings.clone(), move |name| environment.get(name))?);
    let text_services = Arc::new(TextServices::by_name(Arc::clone(&resolver)));
    let names: Vec<Option<String>> = match monitor.judges.as_slice() {
        [] => vec![None],
        several => several.iter().cloned().map(Some).collect(),
    };
    let resolve = |model: Option<String>| {
        let judge = Judge { model, calls: Some(Calls::PerRubric), ..Judge::default() };
        let mut judge = judge.or(&Judge { panel: Vec::new(), jury: None, ..work.settings.judge.clone() });
        judge.timeout = judge.timeout.or(Some(TIMEOUT));
        let mut resolved = ResolvedJudges::new(&resolver, &judge, &BTreeMap::new(), 0, &text_services)?;
        resolved.transcript = true;
        Ok(resolved)
    };
    names.into_iter().map(resolve).collect()
}
