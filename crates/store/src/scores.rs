//! Scores of monitors: the numbers behind their estimates, stored separately from the grades.

use std::collections::BTreeMap;

use jurist_core::grade::Time;
use jurist_core::plan::TraceStratum;
use jurist_core::stats::monitoring::WeightedScoreSums;

use crate::clock::utc_day_start;
use crate::db::{Arg, Bulk, DbRow, Tx, args, statements};
use crate::decisions::{DecisionChange, DecisionOutcome, TallyGrouping, set_decision_in};
use crate::filter::SelectQuery;
use crate::{
    MonitorId, MonitorVersionId, Probability, ProjectId, RescoreId, RubricVersionId, Store, StoreError,
    TraceId,
};

/// Fields that all scores of one trace share.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreContext {
    pub monitor: MonitorId,
    pub trace: TraceId,
    /// Revision of the trace when the judge was asked.
    pub revision: u64,
    /// The monitor version under which it was judged.
    pub version: MonitorVersionId,
    pub rubric_version: RubricVersionId,
    /// `None` for scores of live traffic.
    pub rescore: Option<RescoreId>,
    pub stratum: TraceStratum,
    pub agent: Option<String>,
    /// Overall probability of being scored: sender, monitor and re-scoring multiplied.
    pub probability: Probability,
    /// Time of the decision about the trace.
    pub decided: Time,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    /// One judge, or the panel.
    pub judge: String,
    /// Empty for the overall score.
    pub criterion: String,
    /// On 0..=1; `None` after a judge error.
    pub unit: Option<f64>,
    pub is_passed: Option<bool>,
}

/// Scores of one judge on one criterion in one stratum.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreTally {
    pub version: MonitorVersionId,
    pub rubric_version: RubricVersionId,
    pub rescore: Option<RescoreId>,
    pub judge: String,
    pub criterion: String,
    pub stratum: TraceStratum,
    /// Start of the day, if grouped by day.
    pub day: Option<Time>,
    /// The agent, if grouped by agent; empty for traces without one.
    pub agent: Option<String>,
    pub n_errors: u64,
    pub units: WeightedScoreSums,
    /// Sums of passes: passed is 1 and failed is 0.
    pub passes: WeightedScoreSums,
}

/// Filter for scores; `None` matches everything.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreFilter {
    pub agent: Option<String>,
    pub rubric_version: Option<RubricVersionId>,
    /// Empty for the overall score.
    pub criterion: Option<String>,
    pub from: Time,
    pub until: Time,
}

/// A trace with a judge score and a human label for the same criterion.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelledScore {
    pub rubric_version: RubricVersionId,
    pub judge: String,
    pub criterion: String,
    pub human: f64,
    pub unit: f64,
    pub is_passed: Option<bool>,
    pub probability: Probability,
}

/// A trace with an overall judge score and at least one human label.
#[derive(Debug, Clone, PartialEq)]
pub struct WholeScore {
    pub trace: TraceId,
    pub rubric_version: RubricVersionId,
    pub judge: String,
    pub unit: f64,
    pub is_passed: Option<bool>,
    pub probability: Probability,
}

/// A trace that was scored under two versions.
#[derive(Debug, Clone, PartialEq)]
pub struct ScorePair {
    pub criterion: String,
    pub before: f64,
    pub after: f64,
    pub probability: Probability,
}

/// A score and the stratum of its trace.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StratumScore {
    pub stratum: TraceStratum,
    pub unit: f64,
}

statements! {
    THERE = "SELECT judge, criterion, unit FROM monitor_scores WHERE project = $1 AND monitor = $2 AND trace = $3
        AND rubric_version = $4 AND rescore = $5";
    LIVE = "SELECT monitor_version, rubric_version, judge, criterion, stratum, agent, probability, unit, is_passed,
        decided FROM monitor_scores WHERE project = $1 AND monitor = $2 AND trace = $3 AND rescore = ''
        ORDER BY rubric_version, judge, criterion";
    WITHDRAW = "DELETE FROM monitor_scores WHERE project = $1 AND monitor = $2 AND trace = $3 AND rescore = ''";
    LABELLED = "SELECT s.rubric_version, s.judge, s.criterion, s.unit, s.is_passed, s.probability, l.unit AS human
        FROM monitor_scores s JOIN labels l ON l.project = s.project AND l.candidate = s.trace
        AND l.rubric_version = s.rubric_version AND l.criterion = s.criterion
        WHERE s.project = $1 AND s.monitor = $2 AND $3 <= s.decided AND s.decided < $4 AND s.rescore = ''
        AND s.unit IS NOT NULL AND l.unit IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM labels newer WHERE newer.project = l.project AND newer.candidate = l.candidate
            AND newer.rubric_version = l.rubric_version AND newer.criterion = l.criterion AND l.id < newer.id)
        LIMIT 100000";
    // The join starts at the labels, because there are far fewer labels than scores.
    WHOLES = "SELECT s.trace, s.rubric_version, s.judge, s.unit, s.is_passed, s.probability
        FROM (SELECT DISTINCT project, candidate, rubric_version FROM labels WHERE project = $1) l
        CROSS JOIN monitor_scores s WHERE s.project = l.project AND s.monitor = $2 AND s.trace = l.candidate
        AND s.rubric_version = l.rubric_version AND $3 <= s.decided AND s.decided < $4 AND s.rescore = ''
        AND s.criterion = '' AND s.unit IS NOT NULL LIMIT 100000";
    // Aggregated to one text, because reading a hundred thousand rows takes longer than everything else. Scores are
    // integers (billionths), which are formatted faster than fractions.
    IN_ORDER = "SELECT string_agg(stratum || '=' || CAST(unit * 1000000000.0 + 0.5 AS BIGINT), ' ') AS scores
        FROM (SELECT stratum, unit FROM monitor_scores WHERE project = $1 AND monitor = $2
        AND rubric_version = $3 AND judge = $4 AND criterion = $5 AND rescore = '' AND unit IS NOT NULL
        AND $6 <= decided AND decided < $7 ORDER BY decided, trace LIMIT $8) ordered";
    // A separate statement, so that the one for all agents can use a covering index.
    IN_ORDER_OF = "SELECT string_agg(stratum || '=' || CAST(unit * 1000000000.0 + 0.5 AS BIGINT), ' ') AS scores
        FROM (SELECT stratum, unit FROM monitor_scores WHERE project = $1 AND monitor = $2
        AND rubric_version = $3 AND judge = $4 AND criterion = $5 AND rescore = '' AND unit IS NOT NULL
        AND $6 <= decided AND decided < $7 AND agent = $9 ORDER BY decided, trace LIMIT $8) ordered";
    PAIRS = "SELECT a.criterion, a.unit AS before_unit, b.unit AS after_unit, b.probability
        FROM monitor_scores b JOIN monitor_scores a ON a.project = b.project AND a.monitor = b.monitor
        AND a.trace = b.trace AND a.criterion = b.criterion
        WHERE b.project = $1 AND b.monitor = $2 AND b.rescore = $3 AND b.judge = $4
        AND a.rubric_version = $5 AND a.judge = $6 AND a.rescore = ''
        AND a.unit IS NOT NULL AND b.unit IS NOT NULL ORDER BY a.criterion, a.trace LIMIT 100000";
}

pub(crate) const ADD: Bulk = Bulk {
    into: "monitor_scores (project, monitor, trace, monitor_version, rubric_version, judge, criterion, rescore, \
           stratum, agent, probability, unit, is_passed, decided, time)",
    types: "ttttttttttrriii",
    tail: "ON CONFLICT (project, monitor, trace, rubric_version, judge, criterion, rescore) DO UPDATE
           SET unit = excluded.unit, is_passed = excluded.is_passed, time = excluded.time
           WHERE monitor_scores.unit IS NULL",
};

pub(crate) const ADD_TALLIES: Bulk = Bulk {
    into: "score_tallies (project, monitor, day, monitor_version, rubric_version, rescore, judge, criterion, agent, \
           stratum, n_errors, n, x, w, wx, wxx, ww, wwx, wwxx, n_judged, n_passed, p_w, p_wx, p_ww, p_wwx)",
    types: "ttitttttttiirrrrrrriirrrr",
    tail: "ON CONFLICT (project, monitor, day, monitor_version, rubric_version, rescore, judge, criterion, agent,
           stratum) DO UPDATE SET
           n_errors = score_tallies.n_errors + excluded.n_errors, n = score_tallies.n + excluded.n,
           x = score_tallies.x + excluded.x, w = score_tallies.w + excluded.w, wx = score_tallies.wx + excluded.wx,
           wxx = score_tallies.wxx + excluded.wxx, ww = score_tallies.ww + excluded.ww,
           wwx = score_tallies.wwx + excluded.wwx, wwxx = score_tallies.wwxx + excluded.wwxx,
           n_judged = score_tallies.n_judged + excluded.n_judged,
           n_passed = score_tallies.n_passed + excluded.n_passed, p_w = score_tallies.p_w + excluded.p_w,
           p_wx = score_tallies.p_wx + excluded.p_wx, p_ww = score_tallies.p_ww + excluded.p_ww,
           p_wwx = score_tallies.p_wwx + excluded.p_wwx",
};

const TALLY: &str = "SELECT monitor_version, rubric_version, rescore, judge, criterion, stratum, DAY AS day,
    AGENT AS agent,
    CAST(SUM(n_errors) AS BIGINT) AS n_errors, CAST(SUM(n) AS BIGINT) AS n, SUM(x) AS x, SUM(w) AS w, SUM(wx) AS wx,
    SUM(wxx) AS wxx, SUM(ww) AS ww, SUM(wwx) AS wwx, SUM(wwxx) AS wwxx, CAST(SUM(n_judged) AS BIGINT) AS n_judged,
    CAST(SUM(n_passed) AS BIGINT) AS n_passed, SUM(p_w) AS p_w, SUM(p_wx) AS p_wx, SUM(p_ww) AS p_ww,
    SUM(p_wwx) AS p_wwx FROM score_tallies
    WHERE project = $1 AND monitor = $2 AND $3 <= score_tallies.day AND score_tallies.day < $4";
const TALLY_BY: &str = "GROUP BY monitor_version, rubric_version, rescore, judge, criterion, stratumPER
    ORDER BY 7, 8, monitor_version, rubric_version, rescore, judge, criterion, stratum";

impl Store {
    /// Stores the scores of a trace and the new state of its decision. Existing scores are not replaced.
    ///
    /// Nothing is stored if the trace changed while it was judged, or if another worker stored its result first.
    pub async fn put_scores(
        &self,
        project: ProjectId,
        scored: &ScoreContext,
        scores: &[Score],
        outcome: Option<&DecisionOutcome<'_>>,
        now: Time,
    ) -> Result<DecisionChange, StoreError> {
        let mut tx = self.db.begin().await?;
        let before = self.hold(&mut tx, project, &scored.trace, scored.monitor).await?;
        let change = outcome.map(|outcome| before.check_change(scored.revision, outcome.state));
        if let Some(refused @ (DecisionChange::Moved | DecisionChange::Closed)) = change {
            return Ok(refused);
        }
        let key = scored.rescore.map(|rescore| rescore.to_string()).unwrap_or_default();
        let args = args![project, scored.monitor, &scored.trace, &scored.rubric_version, key];
        let mut there: BTreeMap<(String, String), bool> = BTreeMap::new();
        for row in tx.fetch(THERE, args).await? {
            let is_scored = row.get::<Option<f64>>("unit")?.is_some();
            there.insert((row.get("judge")?, row.get("criterion")?), is_scored);
        }
        let known = |score: &Score| there.get(&(score.judge.clone(), score.criterion.clone())).copied();
        let mut new: Vec<&Score> = scores.iter().filter(|score| known(score) != Some(true)).collect();
        // Rows are always locked in the same order, so that two transactions wait for each other and do not deadlock.
        new.sort_by_key(|score| (&score.judge, &score.criterion));
        tx.insert(ADD, new.iter().map(|score| score.args(project, scored, now)).collect()).await?;
        let tallied = |score: &&Score| {
            let change = if known(score).is_some() { TallyChange::Heal } else { TallyChange::Add };
            score.tally_args(project, scored, change)
        };
        tx.insert(ADD_TALLIES, new.iter().map(tallied).collect()).await?;
        if let Some(outcome) = outcome {
            set_decision_in(&mut tx, project, &before, outcome, now).await?;
        }
        tx.commit().await?;
        Ok(DecisionChange::Done)
    }

    pub async fn tally_scores(
        &self,
        project: ProjectId,
        monitor: MonitorId,
        filter: &ScoreFilter,
        per: TallyGrouping,
    ) -> Result<Vec<ScoreTally>, StoreError> {
        let rows = filter.tally(project, monitor, per).fetch(&self.db).await?;
        rows.iter().map(read_tally).collect()
    }

    /// The first scores of one judge in a time range, up to `limit`, of all agents or one, with their strata.
    pub async fn scores_in_order(
        &self,
        project: ProjectId,
        monitor: MonitorId,
        series: (&RubricVersionId, &str, &str),
        agent: Option<&str>,
        (from, until): (Time, Time),
        limit: usize,
    ) -> Result<Vec<StratumScore>, StoreError> {
        let (version, judge, criterion) = series;
        let mut args = args![project, monitor, version, judge, criterion, from, until, limit];
        args.extend(agent.map(Arg::from));
        let sql = if agent.is_some() { IN_ORDER_OF } else { IN_ORDER };
        let scores: Option<String> = self.db.one(sql, args).await?.get("scores")?;
        let read = |text: &str| {
            let (stratum, unit) = text.split_once('=')?;
            // The engines round differently; the minimum keeps a score of 1 from becoming larger.
            let unit = (f64::from(unit.parse::<u32>().ok()?) / 1e9).min(1.0);
            Some(StratumScore { stratum: stratum.parse().ok()?, unit })
        };
        let damaged = |text: &str| StoreError::damaged_row("score", &text, "it is a stratum and a number");
        let scores = scores.unwrap_or_default();
        scores.split_ascii_whitespace().map(|score| read(score).ok_or_else(|| damaged(score))).collect()
    }

    /// Traces with human labels; the newest label counts.
    pub async fn labelled_scores(
        &self,
        project: ProjectId,
        monitor: MonitorId,
        (from, until): (Time, Time),
    ) -> Result<Vec<LabelledScore>, StoreError> {
        let read = |row: &DbRow| {
            Ok(LabelledScore {
                rubric_version: row.parse("rubric_version")?,
                judge: row.get("judge")?,
                criterion: row.get("criterion")?,
                human: row.get("human")?,
                unit: row.get("unit")?,
                is_passed: row.get::<Option<i64>>("is_passed")?.map(|row| row == 1),
                probability: row.probability()?,
            })
        };
        let rows = self.db.fetch(LABELLED, args![project, monitor, from, until]).await?;
        rows.iter().map(read).collect()
    }

    /// Overall scores of traces with at least one human label.
    pub async fn whole_scores(
        &self,
        project: ProjectId,
        monitor: MonitorId,
        (from, until): (Time, Time),
    ) -> Result<Vec<WholeScore>, StoreError> {
        let read = |row: &DbRow| {
            Ok(WholeScore {
                trace: row.parse("trace")?,
                rubric_version: row.parse("rubric_version")?,
                judge: row.get("judge")?,
                unit: row.get("unit")?,
                is_passed: row.get::<Option<i64>>("is_passed")?.map(|row| row == 1),
                probability: row.probability()?,
            })
        };
        self.db.fetch(WHOLES, args![project, monitor, from, until]).await?.iter().map(read).collect()
    }

    /// Traces of a re-scoring that also have a score under an earlier version.
    pub async fn score_pairs(
        &self,
        project: ProjectId,
        monitor: MonitorId,
        (rescore, judge): (RescoreId, &str),
        (before, judge_before): (&RubricVersionId, &str),
    ) -> Result<Vec<ScorePair>, StoreError> {
        let args = args![project, monitor, rescore, judge, before, judge_before];
        let read = |row: &DbRow| {
            Ok(ScorePair {
                criterion: row.get("criterion")?,
                before: row.get("before_unit")?,
                after: row.get("after_unit")?,
                probability: row.probability()?,
            })
        };
        self.db.fetch(PAIRS, args).await?.iter().map(read).collect()
    }
}

impl Score {
    fn args(&self, project: ProjectId, scored: &ScoreContext, now: Time) -> Vec<Arg> {
        args![
            project,
            scored.monitor,
            &scored.trace,
            scored.version,
            &scored.rubric_version,
            &self.judge,
            &self.criterion,
            scored.rescore.map(|rescore| rescore.to_string()).unwrap_or_default(),
            scored.stratum.as_str(),
            scored.agent.as_deref(),
            scored.probability,
            self.unit.filter(|unit| unit.is_finite()),
            self.is_passed.map(i64::from),
            scored.decided,
            now,
        ]
    }
}

/// How a score changes the sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TallyChange {
    Add,
    /// The score replaces an error.
    Heal,
    Withdraw,
}

/// Removes the live scores of a trace from the sums. Its grades and verdicts stay.
pub(crate) async fn withdraw_scores(
    tx: &mut Tx,
    project: ProjectId,
    trace: &TraceId,
    monitor: MonitorId,
) -> Result<(), StoreError> {
    let mut changes = Vec::new();
    for row in tx.fetch(LIVE, args![project, monitor, trace]).await? {
        let scored = ScoreContext {
            monitor,
            trace: trace.clone(),
            revision: 0,
            version: row.parse("monitor_version")?,
            rubric_version: row.parse("rubric_version")?,
            rescore: None,
            stratum: row.parse("stratum")?,
            agent: row.get("agent")?,
            probability: row.probability()?,
            decided: row.time("decided")?,
        };
        let score = Score {
            judge: row.get("judge")?,
            criterion: row.get("criterion")?,
            unit: row.get("unit")?,
            is_passed: row.get::<Option<i64>>("is_passed")?.map(|row| row == 1),
        };
        changes.push(score.tally_args(project, &scored, TallyChange::Withdraw));
    }
    tx.insert(ADD_TALLIES, changes).await?;
    tx.execute(WITHDRAW, args![project, monitor, trace]).await?;
    Ok(())
}

impl Score {
    /// The changes of the sums for one score.
    fn tally_args(&self, project: ProjectId, scored: &ScoreContext, change: TallyChange) -> Vec<Arg> {
        let (mut units, mut passes) = (WeightedScoreSums::default(), WeightedScoreSums::default());
        let probability = scored.probability.get();
        let unit = self.unit.filter(|unit| unit.is_finite());
        unit.into_iter().for_each(|unit| units.add(unit, probability));
        self.is_passed
            .into_iter()
            .for_each(|is_passed| passes.add(f64::from(u8::from(is_passed)), probability));
        let sign = if change == TallyChange::Withdraw { -1 } else { 1 };
        let n_errors = sign * i64::from(unit.is_none()) - i64::from(change == TallyChange::Heal);
        let count = |n: usize| sign * i64::try_from(n).unwrap_or(i64::MAX);
        let sum = |sum: f64| sign as f64 * sum;
        args![
            project,
            scored.monitor,
            utc_day_start(scored.decided),
            scored.version,
            &scored.rubric_version,
            scored.rescore.map(|rescore| rescore.to_string()).unwrap_or_default(),
            &self.judge,
            &self.criterion,
            scored.agent.as_deref().unwrap_or_default(),
            scored.stratum.as_str(),
            n_errors,
            count(units.n),
            sum(units.x),
            sum(units.w),
            sum(units.wx),
            sum(units.wxx),
            sum(units.ww),
            sum(units.wwx),
            sum(units.wwxx),
            count(passes.n),
            sign * passes.x as i64,
            sum(passes.w),
            sum(passes.wx),
            sum(passes.ww),
            sum(passes.wwx),
        ]
    }
}

impl ScoreFilter {
    pub(crate) fn tally(&self, project: ProjectId, monitor: MonitorId, per: TallyGrouping) -> SelectQuery {
        let sql = per.fill_columns(TALLY, "score_tallies");
        SelectQuery::new(&sql, args![project, monitor, utc_day_start(self.from), self.until])
            .and_maybe("agent = ?", self.agent.as_deref())
            .and_maybe("rubric_version = ?", self.rubric_version.as_ref())
            .and_maybe("criterion = ?", self.criterion.as_deref())
            .then(&per.fill_grouping(TALLY_BY, "score_tallies"))
    }
}

fn read_tally(row: &DbRow) -> Result<ScoreTally, StoreError> {
    let rescore: String = row.get("rescore")?;
    let count = |column| row.count(column).map(|count| usize::try_from(count).unwrap_or(usize::MAX));
    // Values are 0 or 1, so squares equal the values.
    let (p_wx, p_wwx): (f64, f64) = (row.get("p_wx")?, row.get("p_wwx")?);
    Ok(ScoreTally {
        version: row.parse("monitor_version")?,
        rubric_version: row.parse("rubric_version")?,
        rescore: if rescore.is_empty() { None } else { Some(row.parse("rescore")?) },
        judge: row.get("judge")?,
        criterion: row.get("criterion")?,
        stratum: row.parse("stratum")?,
        day: row.maybe_time("day")?,
        agent: row.get("agent")?,
        n_errors: row.count("n_errors")?,
        units: WeightedScoreSums {
            n: count("n")?,
            x: row.get("x")?,
            w: row.get("w")?,
            wx: row.get("wx")?,
            wxx: row.get("wxx")?,
            ww: row.get("ww")?,
            wwx: row.get("wwx")?,
            wwxx: row.get("wwxx")?,
        },
        passes: WeightedScoreSums {
            n: count("n_judged")?,
            x: row.count("n_passed")? as f64,
            w: row.get("p_w")?,
            wx: p_wx,
            wxx: p_wx,
            ww: row.get("p_ww")?,
            wwx: p_wwx,
            wwxx: p_wwx,
        },
    })
}
