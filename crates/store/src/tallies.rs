//! Sums over grades and verdicts: daily sums are stored; hourly sums are computed on request.

use std::collections::BTreeMap;

use jurist_core::grade::{GraderKind, Time, Usd, VerdictStatus};

use crate::db::{Arg, Bulk, DbRow, args};
use crate::filter::SelectQuery;
use crate::grades::{NewGrade, NewVerdict, OutcomeKind, finite_unit, kind_name, read_grader_kind};
use crate::{Probability, ProjectId, RubricVersionId, Store, StoreError};

/// Sums of one criterion and one grader.
#[derive(Debug, Clone, PartialEq)]
pub struct GradeTally {
    pub rubric_version: RubricVersionId,
    pub criterion: String,
    pub grader_kind: GraderKind,
    pub grader: String,
    /// Start of the day or hour, if grouped by one.
    pub time: Option<Time>,
    pub n_scored: u64,
    pub n_not_applicable: u64,
    pub n_abstained: u64,
    pub n_failed: u64,
    pub n_deferred: u64,
    /// Grades that meet the pass mark, of those that have one.
    pub n_passed: u64,
    pub n_judged: u64,
    pub units: WeightedMoments,
    pub cost: Usd,
}

/// Sums of the verdicts of a rubric version.
#[derive(Debug, Clone, PartialEq)]
pub struct VerdictTally {
    pub rubric_version: RubricVersionId,
    pub time: Option<Time>,
    pub n_pass: u64,
    pub n_fail: u64,
    pub n_error: u64,
    pub n_deferred: u64,
    /// Passes and failures, each multiplied by its sampling weight.
    pub weighted_pass: f64,
    pub weighted_fail: f64,
    pub scores: WeightedMoments,
    pub cost: Usd,
}

/// Moments that give the mean and its standard error, unweighted and weighted by 1 / probability.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct WeightedMoments {
    pub n: u64,
    pub x: f64,
    pub xx: f64,
    pub w: f64,
    pub wx: f64,
    pub ww: f64,
    pub wwx: f64,
    pub wwxx: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TallyPeriod {
    /// One sum over the whole time range.
    All,
    /// UTC days.
    Day,
    /// Hours. This reads every grade of the time range, so use it for days, not for years.
    Hour,
}

/// Filter for sums; `None` matches everything. For [`By::All`] and [`By::Day`], times are rounded to whole days.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TallyFilter {
    pub rubric_version: Option<RubricVersionId>,
    /// For grades only.
    pub criterion: Option<String>,
    /// For grades only.
    pub grader: Option<String>,
    pub agent: Option<String>,
    pub from: Option<Time>,
    pub until: Option<Time>,
}

const DAY: i64 = 86_400_000_000;

pub(crate) const ADD_GRADES: Bulk = Bulk {
    into: "grade_tallies (project, rubric_version, criterion, grader_kind, grader, agent, day, n_scored, n_passed, \
           n_judged, n_not_applicable, n_abstained, n_failed, n_deferred, cost, n_values, x, xx, w, wx, ww, wwx, wwxx)",
    types: "ttttttiiiiiiiiiirrrrrrr",
    tail: "ON CONFLICT (project, day, rubric_version, criterion, grader_kind, grader, agent) DO UPDATE SET
        n_scored = grade_tallies.n_scored + excluded.n_scored,
        n_passed = grade_tallies.n_passed + excluded.n_passed,
        n_judged = grade_tallies.n_judged + excluded.n_judged,
        n_not_applicable = grade_tallies.n_not_applicable + excluded.n_not_applicable,
        n_abstained = grade_tallies.n_abstained + excluded.n_abstained,
        n_failed = grade_tallies.n_failed + excluded.n_failed,
        n_deferred = grade_tallies.n_deferred + excluded.n_deferred,
        cost = grade_tallies.cost + excluded.cost,
        n_values = grade_tallies.n_values + excluded.n_values,
        x = grade_tallies.x + excluded.x, xx = grade_tallies.xx + excluded.xx,
        w = grade_tallies.w + excluded.w, wx = grade_tallies.wx + excluded.wx,
        ww = grade_tallies.ww + excluded.ww, wwx = grade_tallies.wwx + excluded.wwx,
        wwxx = grade_tallies.wwxx + excluded.wwxx",
};

pub(crate) const ADD_VERDICTS: Bulk = Bulk {
    into: "verdict_tallies (project, rubric_version, agent, day, n_pass, n_fail, n_error, n_deferred, cost, w_pass, \
           w_fail, n_values, x, xx, w, wx, ww, wwx, wwxx)",
    types: "tttiiiiiirrirrrrrrr",
    tail: "ON CONFLICT (project, day, rubric_version, agent) DO UPDATE SET
        n_pass = verdict_tallies.n_pass + excluded.n_pass, n_fail = verdict_tallies.n_fail + excluded.n_fail,
        n_error = verdict_tallies.n_error + excluded.n_error,
        n_deferred = verdict_tallies.n_deferred + excluded.n_deferred,
        cost = verdict_tallies.cost + excluded.cost,
        w_pass = verdict_tallies.w_pass + excluded.w_pass, w_fail = verdict_tallies.w_fail + excluded.w_fail,
        n_values = verdict_tallies.n_values + excluded.n_values,
        x = verdict_tallies.x + excluded.x, xx = verdict_tallies.xx + excluded.xx,
        w = verdict_tallies.w + excluded.w, wx = verdict_tallies.wx + excluded.wx,
        ww = verdict_tallies.ww + excluded.ww, wwx = verdict_tallies.wwx + excluded.wwx,
        wwxx = verdict_tallies.wwxx + excluded.wwxx",
};

/// Columns of the stored daily sums, such as `n_scored`.
macro_rules! stored_sums {
    ($($column:literal),*) => {
        concat!($("CAST(SUM(", $column, ") AS BIGINT) AS ", $column, ", "),*)
    };
}

const MOMENTS: &str = "SUM(x) AS x, SUM(xx) AS xx, SUM(w) AS w, SUM(wx) AS wx, SUM(ww) AS ww, SUM(wwx) AS wwx, \
    SUM(wwxx) AS wwxx";

const STORED_GRADES: &str = stored_sums!(
    "n_scored",
    "n_passed",
    "n_judged",
    "n_not_applicable",
    "n_abstained",
    "n_failed",
    "n_deferred",
    "cost",
    "n_values"
);

const STORED_VERDICTS: &str = stored_sums!("n_pass", "n_fail", "n_error", "n_deferred", "cost", "n_values");

/// The same columns, computed from single grades.
const COUNTED_GRADES: &str = "\
    COUNT(CASE WHEN outcome = 'scored' THEN 1 END) AS n_scored, COUNT(CASE WHEN is_passed = 1 THEN 1 END) AS n_passed, \
    COUNT(is_passed) AS n_judged, COUNT(CASE WHEN outcome = 'not_applicable' THEN 1 END) AS n_not_applicable, \
    COUNT(CASE WHEN outcome = 'abstained' THEN 1 END) AS n_abstained, \
    COUNT(CASE WHEN outcome = 'failed' THEN 1 END) AS n_failed, \
    COUNT(CASE WHEN outcome = 'deferred' THEN 1 END) AS n_deferred, \
    CAST(COALESCE(SUM(cost), 0) AS BIGINT) AS cost, COUNT(unit) AS n_values, ";

const COUNTED_VERDICTS: &str = "\
    COUNT(CASE WHEN status = 'pass' THEN 1 END) AS n_pass, COUNT(CASE WHEN status = 'fail' THEN 1 END) AS n_fail, \
    COUNT(CASE WHEN status = 'error' THEN 1 END) AS n_error, \
    COUNT(CASE WHEN status = 'deferred' THEN 1 END) AS n_deferred, \
    CAST(COALESCE(SUM(cost), 0) AS BIGINT) AS cost, \
    COALESCE(SUM(CASE WHEN status = 'pass' THEN 1 / probability END), 0.0) AS w_pass, \
    COALESCE(SUM(CASE WHEN status = 'fail' THEN 1 / probability END), 0.0) AS w_fail, COUNT(score) AS n_values, ";

const HOUR: &str = "time / 3600000000 * 3600000000";

impl Store {
    /// One row per rubric version, criterion and grader, and per day or hour if requested.
    pub async fn grade_tallies(
        &self,
        project: ProjectId,
        by: TallyPeriod,
        filter: &TallyFilter,
    ) -> Result<Vec<GradeTally>, StoreError> {
        filter.grades(project, by).fetch(&self.db).await?.iter().map(|row| read_grades(row, by)).collect()
    }

    /// One row per rubric version, and per day or hour if requested.
    pub async fn verdict_tallies(
        &self,
        project: ProjectId,
        by: TallyPeriod,
        filter: &TallyFilter,
    ) -> Result<Vec<VerdictTally>, StoreError> {
        filter.verdicts(project, by).fetch(&self.db).await?.iter().map(|row| read_verdicts(row, by)).collect()
    }
}

impl TallyFilter {
    pub(crate) fn grades(&self, project: ProjectId, by: TallyPeriod) -> SelectQuery {
        let keys = "rubric_version, criterion, grader_kind, grader";
        let select = match by {
            TallyPeriod::Hour => {
                let sums = from_rows("unit");
                format!(
                    "SELECT {keys}, {HOUR} AS bucket, {COUNTED_GRADES} {sums} FROM grades WHERE project = $1"
                )
            }
            TallyPeriod::Day => format!(
                "SELECT {keys}, day AS bucket, {STORED_GRADES} {MOMENTS} FROM grade_tallies WHERE project = $1"
            ),
            TallyPeriod::All => {
                format!("SELECT {keys}, {STORED_GRADES} {MOMENTS} FROM grade_tallies WHERE project = $1")
            }
        };
        self.narrow(&select, project, by)
            .and_maybe("criterion = ?", self.criterion.as_deref())
            .and_maybe("grader = ?", self.grader.as_deref())
            .then(&group_by_clause(keys, by))
    }

    pub(crate) fn verdicts(&self, project: ProjectId, by: TallyPeriod) -> SelectQuery {
        let weighted = "SUM(w_pass) AS w_pass, SUM(w_fail) AS w_fail,";
        let stored_sums =
            format!("{STORED_VERDICTS} {weighted} {MOMENTS} FROM verdict_tallies WHERE project = $1");
        let select = match by {
            TallyPeriod::Hour => {
                let sums = from_rows("score");
                format!(
                    "SELECT rubric_version, {HOUR} AS bucket, {COUNTED_VERDICTS} {sums} FROM verdicts WHERE project = $1"
                )
            }
            TallyPeriod::Day => format!("SELECT rubric_version, day AS bucket, {stored_sums}"),
            TallyPeriod::All => format!("SELECT rubric_version, {stored_sums}"),
        };
        self.narrow(&select, project, by).then(&group_by_clause("rubric_version", by))
    }

    fn narrow(&self, select: &str, project: ProjectId, by: TallyPeriod) -> SelectQuery {
        let (from, until) = match by {
            TallyPeriod::Hour => ("? <= time", "time < ?"),
            TallyPeriod::Day | TallyPeriod::All => ("? <= day", "day < ?"),
        };
        let day = |time: Time| if by == TallyPeriod::Hour { time.micros() } else { tally_day_start(time) };
        SelectQuery::new(select, args![project])
            .and_maybe("rubric_version = ?", self.rubric_version.as_ref())
            .and_maybe("agent = ?", self.agent.as_deref())
            .and_maybe(from, self.from.map(day))
            .and_maybe(
                until,
                self.until.map(|time| if by == TallyPeriod::Hour { time.micros() } else { day_after(time) }),
            )
    }
}

/// Start of the day that contains a time; also right for times before 1970.
fn tally_day_start(time: Time) -> i64 {
    time.micros().div_euclid(DAY) * DAY
}

/// Start of the first day that begins at or after a time.
fn day_after(time: Time) -> i64 {
    -(-time.micros()).div_euclid(DAY) * DAY
}

fn from_rows(value: &str) -> String {
    let sum = |what: &str, name: &str| format!("COALESCE(SUM({}), 0.0) AS {name}", what.replace('x', value));
    // Rows without a value have no weight.
    let w = "(CASE WHEN x IS NOT NULL THEN 1 / probability END)";
    [
        sum("x", "x"),
        sum("x * x", "xx"),
        sum(w, "w"),
        sum(&format!("{w} * x"), "wx"),
        sum(&format!("{w} * {w}"), "ww"),
        sum(&format!("{w} * {w} * x"), "wwx"),
        sum(&format!("{w} * {w} * x * x"), "wwxx"),
    ]
    .join(", ")
}

fn group_by_clause(keys: &str, by: TallyPeriod) -> String {
    match by {
        TallyPeriod::All => format!("GROUP BY {keys} ORDER BY {keys}"),
        TallyPeriod::Day => format!("GROUP BY {keys}, day ORDER BY {keys}, day"),
        TallyPeriod::Hour => format!("GROUP BY {keys}, {HOUR} ORDER BY {keys}, {HOUR}"),
    }
}

impl WeightedMoments {
    fn add(&mut self, x: Option<f64>, probability: Probability) {
        let Some(x) = x else { return };
        let w = 1.0 / probability.get();
        self.n += 1;
        self.x += x;
        self.xx += x * x;
        self.w += w;
        self.wx += w * x;
        self.ww += w * w;
        self.wwx += w * w * x;
        self.wwxx += w * w * x * x;
    }

    fn args(&self) -> Vec<Arg> {
        args![self.n, self.x, self.xx, self.w, self.wx, self.ww, self.wwx, self.wwxx]
    }

    /// Unweighted, over the graded candidates.
    pub fn mean(&self) -> Option<f64> {
        (0 < self.n).then(|| self.x / self.n as f64)
    }

    /// Weighted, as an estimate for the whole population.
    pub fn weighted_mean(&self) -> Option<f64> {
        (0.0 < self.w).then(|| self.wx / self.w)
    }

    /// Standard error of the weighted mean by linearisation; `None` for fewer than two values.
    pub fn weighted_error(&self) -> Option<f64> {
        let mean = self.weighted_mean().filter(|_| 2 <= self.n)?;
        let spread = self.wwxx - 2.0 * mean * self.wwx + mean * mean * self.ww;
        let n = self.n as f64;
        Some((spread.max(0.0) * n / (n - 1.0)).sqrt() / self.w)
    }
}

impl GradeTally {
    pub fn pass_rate(&self) -> Option<f64> {
        (0 < self.n_judged).then(|| self.n_passed as f64 / self.n_judged as f64)
    }
}

impl VerdictTally {
    /// Unweighted, over the graded candidates.
    pub fn pass_rate(&self) -> Option<f64> {
        let n = self.n_pass + self.n_fail;
        (0 < n).then(|| self.n_pass as f64 / n as f64)
    }

    /// Weighted, as an estimate for the whole population.
    pub fn weighted_pass_rate(&self) -> Option<f64> {
        let w = self.weighted_pass + self.weighted_fail;
        (0.0 < w).then(|| self.weighted_pass / w)
    }
}

#[derive(Default)]
struct GradeSums {
    by_outcome: [u64; 5],
    n_passed: u64,
    n_judged: u64,
    cost: i64,
    units: WeightedMoments,
}

/// Rows to add to the sums, one per key.
pub(crate) fn of_grades(project: ProjectId, grades: &[&NewGrade]) -> Vec<Vec<Arg>> {
    let mut sums: BTreeMap<_, GradeSums> = BTreeMap::new();
    for new in grades {
        let grader = &new.grade.grader;
        let key = (
            tally_day_start(new.time),
            new.rubric_version.to_string(),
            new.grade.criterion.as_str(),
            kind_name(grader.kind),
            grader.name.as_str(),
            new.agent.as_deref().unwrap_or_default(),
        );
        let sum = sums.entry(key).or_default();
        sum.by_outcome[OutcomeKind::of(&new.grade.outcome) as usize] += 1;
        sum.n_passed += u64::from(new.is_passed == Some(true));
        sum.n_judged += u64::from(new.is_passed.is_some());
        sum.cost = sum.cost.saturating_add(new.grade.spend.cost.map_or(0, Usd::nanos));
        sum.units.add(finite_unit(&new.grade), new.probability);
    }
    let row = |((day, version, criterion, kind, grader, agent), sum): (_, GradeSums)| {
        let [scored, not_applicable, abstained, failed, deferred] = sum.by_outcome;
        let mut row: Vec<Arg> = args![project, version, criterion, kind, grader, agent, day, scored];
        row.extend(args![sum.n_passed, sum.n_judged, not_applicable, abstained, failed, deferred, sum.cost]);
        row.extend(sum.units.args());
        row
    };
    sums.into_iter().map(row).collect()
}

#[derive(Default)]
struct VerdictSums {
    by_status: [u64; 4],
    w_pass: f64,
    w_fail: f64,
    cost: i64,
    scores: WeightedMoments,
}

pub(crate) fn of_verdicts(project: ProjectId, verdicts: &[&NewVerdict]) -> Vec<Vec<Arg>> {
    let mut sums: BTreeMap<_, VerdictSums> = BTreeMap::new();
    for new in verdicts {
        let agent = new.agent.as_deref().unwrap_or_default();
        let sum = sums.entry((tally_day_start(new.time), new.rubric_version.to_string(), agent)).or_default();
        match new.verdict.status {
            VerdictStatus::Pass => sum.w_pass += 1.0 / new.probability.get(),
            VerdictStatus::Fail => sum.w_fail += 1.0 / new.probability.get(),
            VerdictStatus::Error | VerdictStatus::Deferred => {}
        }
        sum.by_status[new.verdict.status as usize] += 1;
        sum.cost = sum.cost.saturating_add(new.cost.map_or(0, Usd::nanos));
        sum.scores.add(new.verdict.score.filter(|score| score.is_finite()), new.probability);
    }
    let row = |((day, version, agent), sum): (_, VerdictSums)| {
        let [pass, fail, error, deferred] = sum.by_status;
        let mut row: Vec<Arg> = args![project, version, agent, day, pass, fail, error, deferred, sum.cost];
        row.extend(args![sum.w_pass, sum.w_fail]);
        row.extend(sum.scores.args());
        row
    };
    sums.into_iter().map(row).collect()
}

fn bucket(row: &DbRow, by: TallyPeriod) -> Result<Option<Time>, StoreError> {
    if by == TallyPeriod::All { Ok(None) } else { row.time("bucket").map(Some) }
}

fn read_moments(row: &DbRow) -> Result<WeightedMoments, StoreError> {
    Ok(WeightedMoments {
        n: row.count("n_values")?,
        x: row.get("x")?,
        xx: row.get("xx")?,
        w: row.get("w")?,
        wx: row.get("wx")?,
        ww: row.get("ww")?,
        wwx: row.get("wwx")?,
        wwxx: row.get("wwxx")?,
    })
}

fn read_grades(row: &DbRow, by: TallyPeriod) -> Result<GradeTally, StoreError> {
    Ok(GradeTally {
        rubric_version: row.parse("rubric_version")?,
        criterion: row.get("criterion")?,
        grader_kind: read_grader_kind(row)?,
        grader: row.get("grader")?,
        time: bucket(row, by)?,
        n_scored: row.count("n_scored")?,
        n_not_applicable: row.count("n_not_applicable")?,
        n_abstained: row.count("n_abstained")?,
        n_failed: row.count("n_failed")?,
        n_deferred: row.count("n_deferred")?,
        n_passed: row.count("n_passed")?,
        n_judged: row.count("n_judged")?,
        units: read_moments(row)?,
        cost: Usd::from_nanos(row.get("cost")?),
    })
}

fn read_verdicts(row: &DbRow, by: TallyPeriod) -> Result<VerdictTally, StoreError> {
    Ok(VerdictTally {
        rubric_version: row.parse("rubric_version")?,
        time: bucket(row, by)?,
        n_pass: row.count("n_pass")?,
        n_fail: row.count("n_fail")?,
        n_error: row.count("n_error")?,
        n_deferred: row.count("n_deferred")?,
        weighted_pass: row.get("w_pass")?,
        weighted_fail: row.get("w_fail")?,
        scores: read_moments(row)?,
        cost: Usd::from_nanos(row.get("cost")?),
    })
}
