#![cfg(test)]

use jurist_store::testing::WatchedDatabase;
use tokio::runtime::{Builder, Runtime};

use super::{SimulationReport, simulate};

/// Seeds that `make test` tries; `JURIST_SIM_SEEDS` tries so many others, from `JURIST_SIM_FROM` on.
const SEEDS: std::ops::RangeInclusive<u64> = 1..=100;

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok().filter(|text| !text.is_empty())?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is a number, not `{text}`")))
}

struct Bench {
    database: Runtime,
    template: WatchedDatabase,
}

impl Bench {
    fn new() -> Self {
        let database = Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        let template = database.block_on(WatchedDatabase::make());
        Self { database, template }
    }

    fn simulate(&self, seed: u64) -> SimulationReport {
        simulate(seed, &self.template, &self.database)
    }

    fn check(&self, seed: u64) -> SimulationReport {
        let report = self.simulate(seed);
        if !report.violations.is_empty() {
            let log = &report.log[report.log.len().saturating_sub(400)..];
            panic!(
                "{}\n{}\n\nseed {seed} fails; to try it again:\nJURIST_SIM_SEED={seed} cargo nextest run --workspace \
                 -E 'package(jurist-server) & test(simulation::)'",
                log.join("\n"),
                report.violations.join("\n"),
            );
        }
        report
    }
}

#[test]
fn leases_money_traces_and_alerts_survive_faults() {
    let bench = Bench::new();
    if let Some(seed) = number("JURIST_SIM_SEED") {
        bench.check(seed);
        return;
    }
    let seeds = match (number("JURIST_SIM_FROM"), number("JURIST_SIM_SEEDS")) {
        (from, Some(n)) => from.unwrap_or(1)..=from.unwrap_or(1) + n - 1,
        (_, None) => SEEDS,
    };
    let (mut n_calls, mut n_deaths, mut n_faults, mut n_notices) = (0, 0, 0, 0);
    for seed in seeds {
        let report = bench.check(seed);
        n_calls += report.n_calls;
        n_deaths += report.n_deaths;
        n_faults += report.n_faults;
        n_notices += report.n_notices;
    }
    // A simulation in which nothing happens would find nothing.
    assert!(0 < n_calls && 0 < n_deaths && 0 < n_faults && 0 < n_notices);
}

#[test]
fn a_seed_replays_step_by_step() {
    let bench = Bench::new();
    for seed in [3, 11] {
        let (first, second) = (bench.simulate(seed), bench.simulate(seed));
        for (at, (one, other)) in first.log.iter().zip(&second.log).enumerate() {
            assert_eq!(one, other, "seed {seed}, step {at}");
        }
        assert_eq!(first.log.len(), second.log.len(), "seed {seed}");
    }
}
