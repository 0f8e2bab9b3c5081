//! Numbers of decisions by day, version, agent, stratum and state.

use std::collections::BTreeMap;

use jurist_core::grade::Time;
use jurist_core::plan::TraceStratum;

use crate::clock::utc_day_start;
use crate::db::{Arg, Bulk, DbRow, args};
use crate::decision_state::DecisionState;
use crate::filter::SelectQuery;
use crate::{MonitorId, MonitorVersionId, Probability, ProjectId, RubricVersionId, Store, StoreError};

/// Number of traces of one state, stratum and version.
#[derive(Debug, Clone, PartialEq)]
pub struct DecisionTally {
    pub version: MonitorVersionId,
    pub rubric_version: RubricVersionId,
    pub stratum: TraceStratum,
    pub state: DecisionState,
    pub n: u64,
    /// How many traces these represent, if the sender sampled before sending.
    pub population: f64,
    /// The sum of (1 − u) / u², where u is the sender's sampling probability.
    pub population_variance: f64,
    /// Start of the day, if grouped by day.
    pub day: Option<Time>,
    /// The agent, if grouped by agent; empty for traces without one.
    pub agent: Option<String>,
}

/// What sums are grouped by, in addition to versions and strata.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TallyGrouping {
    All,
    Day,
    Agent,
    AgentAndDay,
}

pub(crate) const ADD_TALLIES: Bulk = Bulk {
    into: "decision_tallies (project, monitor, day, monitor_version, agent, stratum, state, n, population, \
           population_variance)",
    types: "ttittttirr",
    tail: "ON CONFLICT (project, monitor, day, monitor_version, agent, stratum, state) DO UPDATE SET
           n = decision_tallies.n + excluded.n, population = decision_tallies.population + excluded.population,
           population_variance = decision_tallies.population_variance + excluded.population_variance",
};

const TALLY: &str =
    "SELECT d.monitor_version, v.rubric_version, d.stratum, d.state, DAY AS day, AGENT AS agent,
    CAST(SUM(d.n) AS BIGINT) AS n, SUM(d.population) AS population,
    SUM(d.population_variance) AS population_variance
    FROM decision_tallies d JOIN monitor_versions v ON v.id = d.monitor_version
    WHERE d.project = $1 AND d.monitor = $2 AND $3 <= d.day AND d.day < $4";

const TALLY_BY: &str =
    "GROUP BY d.monitor_version, v.rubric_version, d.stratum, d.statePER HAVING 0 < SUM(d.n)
    ORDER BY 5, 6, d.monitor_version, d.stratum, d.state";

impl Store {
    /// Numbers of traces by state, stratum and rubric version, for whole days.
    pub async fn tally_decisions(
        &self,
        project: ProjectId,
        monitor: MonitorId,
        agent: Option<&str>,
        (from, until): (Time, Time),
        per: TallyGrouping,
    ) -> Result<Vec<DecisionTally>, StoreError> {
        let rows =
            select_decision_tallies(project, monitor, agent, (from, until), per).fetch(&self.db).await?;
        let read = |row: &DbRow| {
            Ok(DecisionTally {
                version: row.parse("monitor_version")?,
                rubric_version: row.parse("rubric_version")?,
                stratum: row.parse("stratum")?,
                state: row.parse("state")?,
                n: row.count("n")?,
                population: row.get("population")?,
                population_variance: row.get("population_variance")?,
                day: row.maybe_time("day")?,
                agent: row.get("agent")?,
            })
        };
        rows.iter().map(read).collect()
    }
}

/// The columns by which a decision is counted.
pub(crate) struct TallySubject<'a> {
    pub(crate) monitor: MonitorId,
    pub(crate) version: MonitorVersionId,
    pub(crate) agent: &'a str,
    pub(crate) stratum: TraceStratum,
    pub(crate) upstream: Probability,
    pub(crate) decided: Time,
}

/// Changes of the sums. The map sorts them, so that two transactions lock rows in the same order and do not deadlock.
#[derive(Default)]
pub(crate) struct DecisionTallyChanges(BTreeMap<DecisionTallyKey, DecisionSums>);

/// The columns that identify a sum.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct DecisionTallyKey {
    monitor: MonitorId,
    day: i64,
    version: MonitorVersionId,
    agent: String,
    stratum: TraceStratum,
    state: DecisionState,
}

/// What is added to a sum.
#[derive(Default)]
struct DecisionSums {
    n: i64,
    population: f64,
    population_variance: f64,
}

impl DecisionTallyChanges {
    pub(crate) fn add(&mut self, subject: &TallySubject<'_>, state: DecisionState, times: i64) {
        let upstream = subject.upstream.get();
        let key = DecisionTallyKey {
            monitor: subject.monitor,
            day: utc_day_start(subject.decided),
            version: subject.version,
            agent: subject.agent.to_owned(),
            stratum: subject.stratum,
            state,
        };
        let sums = self.0.entry(key).or_default();
        let weight = times as f64;
        sums.n += times;
        sums.population += weight / upstream;
        sums.population_variance += weight * (1.0 - upstream) / (upstream * upstream);
    }

    pub(crate) fn args(self, project: ProjectId) -> Vec<Vec<Arg>> {
        let row = |(key, sums): (DecisionTallyKey, DecisionSums)| {
            let DecisionTallyKey { monitor, day, version, agent, stratum, state } = key;
            let DecisionSums { n, population, population_variance } = sums;
            let (stratum, state) = (stratum.as_str(), state.as_str());
            args![project, monitor, day, version, agent, stratum, state, n, population, population_variance]
        };
        self.0.into_iter().map(row).collect()
    }
}

pub(crate) fn select_decision_tallies(
    project: ProjectId,
    monitor: MonitorId,
    agent: Option<&str>,
    (from, until): (Time, Time),
    per: TallyGrouping,
) -> SelectQuery {
    SelectQuery::new(&per.fill_columns(TALLY, "d"), args![project, monitor, utc_day_start(from), until])
        .and_maybe("d.agent = ?", agent)
        .then(&per.fill_grouping(TALLY_BY, "d"))
}

impl TallyGrouping {
    /// Replaces `DAY` and `AGENT` in a statement by columns of a table.
    pub(crate) fn fill_columns(self, sql: &str, table: &str) -> String {
        let (mut day, mut agent) = ("CAST(NULL AS BIGINT)".to_owned(), "CAST(NULL AS TEXT)".to_owned());
        match self {
            Self::All => {}
            Self::Day => day = format!("{table}.day"),
            Self::Agent => agent = format!("{table}.agent"),
            Self::AgentAndDay => (day, agent) = (format!("{table}.day"), format!("{table}.agent")),
        }
        sql.replace("DAY", &day).replace("AGENT", &agent)
    }

    /// Replaces `PER` in a statement by the further columns of `GROUP BY`.
    pub(crate) fn fill_grouping(self, sql: &str, table: &str) -> String {
        let more = match self {
            Self::All => String::new(),
            Self::Day => format!(", {table}.day"),
            Self::Agent => format!(", {table}.agent"),
            Self::AgentAndDay => format!(", {table}.day, {table}.agent"),
        };
        sql.replace("PER", &more)
    }
}
