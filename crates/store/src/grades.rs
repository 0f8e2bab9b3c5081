//! Grades and verdicts: numbers, which are added and never changed, and their texts, which retention can delete.
//!
//! The id is a hash of the fields that identify a grade, so work that is done twice is counted once.

use std::collections::BTreeSet;

use jurist_core::grade::{Grade, GraderKind, Outcome, Time, Usd, Verdict, VerdictStatus};

use crate::db::{Arg, Bulk, DbRow, args, statements};
use crate::filter::SelectQuery;
use crate::pack::pack;
use crate::traces::status_of;
use crate::{
    Cursor, GradeId, MonitorId, Probability, ProjectId, ResultPage, RubricVersionId, Store, StoreError,
};

/// A grade with the fields that it is counted by.
#[derive(Debug, Clone, PartialEq)]
pub struct NewGrade {
    pub grade: Grade,
    pub rubric_version: RubricVersionId,
    /// 1 for the first time; higher numbers if the candidate is graded again on purpose.
    pub attempt: u32,
    /// The agent, if the candidate is a trace.
    pub agent: Option<String>,
    /// Whether the criterion is met, if it has a pass mark.
    pub is_passed: Option<bool>,
    /// Probability with which the candidate was sampled.
    pub probability: Probability,
    pub time: Time,
}

#[derive(Debug, Clone, PartialEq)]
pub struct NewVerdict {
    pub candidate: String,
    pub rubric_version: RubricVersionId,
    pub monitor: Option<MonitorId>,
    pub attempt: u32,
    pub agent: Option<String>,
    pub probability: Probability,
    pub cost: Option<Usd>,
    pub time: Time,
    pub verdict: Verdict,
}

/// The numbers of a grade.
#[derive(Debug, Clone, PartialEq)]
pub struct GradeHead {
    pub id: GradeId,
    pub candidate: String,
    pub rubric_version: RubricVersionId,
    pub criterion: String,
    pub grader_kind: GraderKind,
    pub grader: String,
    pub configuration: Option<String>,
    pub attempt: u64,
    pub agent: Option<String>,
    pub outcome: OutcomeKind,
    pub unit: Option<f64>,
    pub is_passed: Option<bool>,
    pub probability: Probability,
    pub cost: Option<Usd>,
    pub time: Time,
}

#[derive(Debug, Clone, PartialEq)]
pub struct StoredVerdict {
    pub id: GradeId,
    pub candidate: String,
    pub rubric_version: RubricVersionId,
    pub monitor: Option<MonitorId>,
    pub attempt: u64,
    pub agent: Option<String>,
    pub probability: Probability,
    pub cost: Option<Usd>,
    pub time: Time,
    pub verdict: Verdict,
}

/// The newest verdict of a monitor about a candidate.
#[derive(Debug, Clone, PartialEq)]
pub struct VerdictHead {
    pub candidate: String,
    pub rubric_version: RubricVersionId,
    /// The monitor's name.
    pub monitor: Option<String>,
    pub status: VerdictStatus,
    pub score: Option<f64>,
    pub time: Time,
}

/// Kind of an outcome, without its details.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum OutcomeKind {
    Scored,
    NotApplicable,
    Abstained,
    Failed,
    Deferred,
}

/// Filter for lists of grades; `None` matches everything.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GradeFilter {
    pub candidate: Option<String>,
    pub rubric_version: Option<RubricVersionId>,
    pub criterion: Option<String>,
    pub grader_kind: Option<GraderKind>,
    pub grader: Option<String>,
    pub agent: Option<String>,
    pub outcome: Option<OutcomeKind>,
    /// On 0..=1.
    pub max_unit: Option<f64>,
    pub from: Option<Time>,
    pub until: Option<Time>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct VerdictFilter {
    pub candidate: Option<String>,
    pub rubric_version: Option<RubricVersionId>,
    pub monitor: Option<MonitorId>,
    pub agent: Option<String>,
    pub status: Option<VerdictStatus>,
    pub from: Option<Time>,
    pub until: Option<Time>,
}

statements! {
    GET = "SELECT grades.*, grade_details.body FROM grades LEFT JOIN grade_details ON grade_details.grade = grades.id
        WHERE grades.project = $1 AND grades.id = $2";
    OF_CANDIDATE = "SELECT grades.*, grade_details.body FROM grades
        LEFT JOIN grade_details ON grade_details.grade = grades.id
        WHERE grades.project = $1 AND grades.candidate = $2 ORDER BY grades.time, grades.id";
}

pub(crate) const ADD: Bulk = Bulk {
    into: "grades (id, project, candidate, rubric_version, criterion, grader_kind, grader, configuration, attempt, \
           agent, outcome, unit, is_passed, probability, cost, time)",
    types: "ttttttttittririi",
    tail: "ON CONFLICT DO NOTHING RETURNING id",
};

pub(crate) const ADD_DETAILS: Bulk = Bulk {
    into: "grade_details (grade, project, candidate, body)",
    types: "tttb",
    tail: "ON CONFLICT DO NOTHING",
};

pub(crate) const ADD_VERDICTS: Bulk = Bulk {
    into: "verdicts (id, project, candidate, rubric_version, monitor, attempt, agent, status, score, probability, \
           cost, time, body)",
    types: "tttttittrriib",
    tail: "ON CONFLICT DO NOTHING RETURNING id",
};

const LIST: &str = "SELECT * FROM grades WHERE project = $1 AND (time, id) < ($2, $3)";
const LIST_WHOLE: &str =
    "SELECT grades.*, (SELECT body FROM grade_details WHERE grade_details.grade = grades.id) AS body
    FROM grades WHERE project = $1 AND (time, id) < ($2, $3)";
const LIST_VERDICTS: &str = "SELECT * FROM verdicts WHERE project = $1 AND (time, id) < ($2, $3)";
const NEWEST: &str = "SELECT v.candidate, v.rubric_version, v.status, v.score, v.time, m.name AS monitor
    FROM verdicts v LEFT JOIN monitors m ON m.id = v.monitor WHERE v.project = $1";
const OF_CANDIDATES: &str =
    "SELECT grades.*, (SELECT body FROM grade_details WHERE grade_details.grade = grades.id) AS body
    FROM grades WHERE project = $1 AND rubric_version = $2 AND grader_kind = $3";
pub(crate) fn of_candidates(
    project: ProjectId,
    version: &RubricVersionId,
    kind: GraderKind,
    candidates: &[&str],
) -> SelectQuery {
    SelectQuery::new(OF_CANDIDATES, args![project, version, kind_name(kind)])
        .and_in("candidate", candidates.iter().map(|candidate| Arg::from(*candidate)).collect())
        .then("ORDER BY candidate, time, id")
}

const KNOWN: &str = "SELECT id FROM grades WHERE project = $1";
const VALUES: &str = "SELECT id, time, unit, probability FROM grades WHERE project = $1 AND unit IS NOT NULL \
    AND (time, id) < ($2, $3)";

impl Store {
    /// Which of these grades are stored, so that no grader is asked twice.
    pub async fn known_grades(
        &self,
        project: ProjectId,
        ids: &[GradeId],
    ) -> Result<BTreeSet<GradeId>, StoreError> {
        let mut known = BTreeSet::new();
        for some in ids.chunks(500) {
            let some = some.iter().map(Arg::from).collect();
            let rows = SelectQuery::new(KNOWN, args![project]).and_in("id", some).fetch(&self.db).await?;
            known.extend(read_grade_ids(&rows)?);
        }
        Ok(known)
    }

    /// A grade; its text is `None` after retention has deleted it.
    pub async fn grade(
        &self,
        project: ProjectId,
        id: &GradeId,
    ) -> Result<(GradeHead, Option<Grade>), StoreError> {
        let row = self.db.optional(GET, args![project, id]).await?;
        read_whole(&row.ok_or_else(|| StoreError::unknown("grade", id))?)
    }

    /// All grades of a candidate, the oldest first.
    pub async fn grades_of(
        &self,
        project: ProjectId,
        candidate: &str,
    ) -> Result<Vec<(GradeHead, Option<Grade>)>, StoreError> {
        self.db.fetch(OF_CANDIDATE, args![project, candidate]).await?.iter().map(read_whole).collect()
    }

    /// The newest first.
    pub async fn grades(
        &self,
        project: ProjectId,
        filter: &GradeFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<ResultPage<GradeHead>, StoreError> {
        let rows = filter.select(LIST, project, after, limit).fetch(&self.db).await?;
        let heads = rows.iter().map(read_grade_row).collect::<Result<_, _>>()?;
        Ok(ResultPage::of(heads, limit, |grade_head: &GradeHead| {
            Cursor::new(grade_head.time.micros(), &grade_head.id)
        }))
    }

    /// Grades with their texts, for exports; the newest first.
    pub async fn whole_grades(
        &self,
        project: ProjectId,
        filter: &GradeFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<ResultPage<(GradeHead, Option<Grade>)>, StoreError> {
        let rows = filter.select(LIST_WHOLE, project, after, limit).fetch(&self.db).await?;
        let all = rows.iter().map(read_whole).collect::<Result<_, _>>()?;
        Ok(ResultPage::of(all, limit, |it: &(GradeHead, Option<Grade>)| {
            Cursor::new(it.0.time.micros(), &it.0.id)
        }))
    }

    /// The grades of one kind of grader for some candidates; those whose text retention has deleted are left out.
    pub async fn grades_by(
        &self,
        project: ProjectId,
        version: &RubricVersionId,
        kind: GraderKind,
        candidates: &[&str],
    ) -> Result<Vec<Grade>, StoreError> {
        let mut all = Vec::new();
        for some in candidates.chunks(200) {
            for row in &of_candidates(project, version, kind, some).fetch(&self.db).await? {
                all.extend(read_whole(row)?.1);
            }
        }
        Ok(all)
    }

    /// Scores alone, each with the probability it was sampled with, for statistics; the newest first.
    pub async fn units(
        &self,
        project: ProjectId,
        filter: &GradeFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<ResultPage<(f64, Probability)>, StoreError> {
        let rows = filter.select(VALUES, project, after, limit).fetch(&self.db).await?;
        let is_last = rows.len() <= limit;
        let last = rows.iter().take(limit).last().filter(|_| !is_last);
        let next =
            last.map(|row| Ok::<_, StoreError>(Cursor::new(row.get("time")?, &row.get::<String>("id")?)));
        let items = rows.iter().take(limit).map(|row| Ok((row.get("unit")?, row.probability()?)));
        Ok(ResultPage { items: items.collect::<Result<_, StoreError>>()?, next: next.transpose()? })
    }

    /// The newest first.
    pub async fn verdicts(
        &self,
        project: ProjectId,
        filter: &VerdictFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<ResultPage<StoredVerdict>, StoreError> {
        let rows = filter.select(project, after, limit).fetch(&self.db).await?;
        let verdicts = rows.iter().map(read_verdict).collect::<Result<_, _>>()?;
        Ok(ResultPage::of(verdicts, limit, |stored_verdict: &StoredVerdict| {
            Cursor::new(stored_verdict.time.micros(), &stored_verdict.id)
        }))
    }

    /// The newest verdict of each monitor on each of some candidates.
    pub async fn newest_verdicts(
        &self,
        project: ProjectId,
        candidates: &[String],
    ) -> Result<Vec<VerdictHead>, StoreError> {
        if candidates.is_empty() {
            return Ok(Vec::new());
        }
        let rows = select_newest_verdicts(project, candidates).fetch(&self.db).await?;
        let mut all: Vec<VerdictHead> = Vec::new();
        for row in &rows {
            let it = VerdictHead {
                candidate: row.get("candidate")?,
                rubric_version: row.parse("rubric_version")?,
                monitor: row.get("monitor")?,
                status: status_of(row)?,
                score: row.get("score")?,
                time: row.time("time")?,
            };
            // The newest come first.
            let is_same =
                |there: &VerdictHead| there.candidate == it.candidate && there.monitor == it.monitor;
            if !all.iter().rev().take_while(|there| there.candidate == it.candidate).any(is_same) {
                all.push(it);
            }
        }
        Ok(all)
    }
}

pub(crate) fn select_newest_verdicts(project: ProjectId, candidates: &[String]) -> SelectQuery {
    SelectQuery::new(NEWEST, args![project])
        .and_in("v.candidate", candidates.iter().map(Arg::from).collect())
        .then("ORDER BY v.candidate, v.time DESC, v.id")
}

impl NewGrade {
    /// The same for the same candidate, rubric version, criterion, grader and attempt.
    pub fn id(&self, project: ProjectId) -> GradeId {
        let (grade, attempt) = (&self.grade, self.attempt.to_string());
        GradeId::of(
            "grd_",
            &[
                &project.to_string(),
                &grade.candidate,
                &self.rubric_version.to_string(),
                &grade.criterion,
                kind_name(grade.grader.kind),
                &grade.grader.name,
                grade.grader.configuration.as_deref().unwrap_or_default(),
                &attempt,
            ],
        )
    }

    pub(crate) fn args(&self, id: &GradeId, project: ProjectId) -> Vec<Arg> {
        let grade = &self.grade;
        args![
            id,
            project,
            &grade.candidate,
            &self.rubric_version,
            &grade.criterion,
            kind_name(grade.grader.kind),
            &grade.grader.name,
            grade.grader.configuration.as_deref(),
            self.attempt,
            self.agent.as_deref(),
            OutcomeKind::of(&grade.outcome).as_str(),
            finite_unit(grade),
            self.is_passed.map(i64::from),
            self.probability,
            grade.spend.cost,
            self.time,
        ]
    }
}

impl NewVerdict {
    /// The same for the same candidate, rubric version, monitor and attempt.
    pub fn id(&self, project: ProjectId) -> GradeId {
        let monitor = self.monitor.map(|monitor| monitor.to_string()).unwrap_or_default();
        let parts = [
            &project.to_string(),
            &self.candidate,
            &self.rubric_version.to_string(),
            &monitor,
            &self.attempt.to_string(),
        ];
        GradeId::of("vrd_", &parts.map(String::as_str))
    }

    pub(crate) fn args(&self, id: &GradeId, project: ProjectId) -> Vec<Arg> {
        args![
            id,
            project,
            &self.candidate,
            &self.rubric_version,
            self.monitor,
            self.attempt,
            self.agent.as_deref(),
            self.verdict.status.as_str(),
            self.verdict.score,
            self.probability,
            self.cost,
            self.time,
            pack(&serde_json::to_vec(&self.verdict).expect("a verdict is plain data")),
        ]
    }
}

impl GradeFilter {
    fn select(&self, sql: &str, project: ProjectId, after: Option<&Cursor>, limit: usize) -> SelectQuery {
        let place = Cursor::top(after);
        SelectQuery::new(sql, args![project, place.sort, place.id])
            .and_maybe("candidate = ?", self.candidate.as_deref())
            .and_maybe("rubric_version = ?", self.rubric_version.as_ref())
            .and_maybe("criterion = ?", self.criterion.as_deref())
            .and_maybe("grader_kind = ?", self.grader_kind.map(kind_name))
            .and_maybe("grader = ?", self.grader.as_deref())
            .and_maybe("agent = ?", self.agent.as_deref())
            .and_maybe("outcome = ?", self.outcome.map(OutcomeKind::as_str))
            .and_maybe("unit <= ?", self.max_unit)
            .and_maybe("? <= time", self.from)
            .and_maybe("time < ?", self.until)
            .then("ORDER BY time DESC, id DESC")
            .limit(limit + 1)
    }

    #[cfg(feature = "testing")]
    pub(crate) fn statements(&self, project: ProjectId) -> [String; 3] {
        [LIST, LIST_WHOLE, VALUES].map(|text| self.select(text, project, None, 1).sql)
    }
}

impl VerdictFilter {
    pub(crate) fn select(&self, project: ProjectId, after: Option<&Cursor>, limit: usize) -> SelectQuery {
        let place = Cursor::top(after);
        SelectQuery::new(LIST_VERDICTS, args![project, place.sort, place.id])
            .and_maybe("candidate = ?", self.candidate.as_deref())
            .and_maybe("rubric_version = ?", self.rubric_version.as_ref())
            .and_maybe("monitor = ?", self.monitor)
            .and_maybe("agent = ?", self.agent.as_deref())
            .and_maybe("status = ?", self.status.map(VerdictStatus::as_str))
            .and_maybe("? <= time", self.from)
            .and_maybe("time < ?", self.until)
            .then("ORDER BY time DESC, id DESC")
            .limit(limit + 1)
    }
}

impl OutcomeKind {
    const ALL: [Self; 5] = [Self::Scored, Self::NotApplicable, Self::Abstained, Self::Failed, Self::Deferred];

    pub fn of(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Scored { .. } => Self::Scored,
            Outcome::NotApplicable => Self::NotApplicable,
            Outcome::Abstained { .. } => Self::Abstained,
            Outcome::Failed { .. } => Self::Failed,
            Outcome::Deferred { .. } => Self::Deferred,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Scored => "scored",
            Self::NotApplicable => "not_applicable",
            Self::Abstained => "abstained",
            Self::Failed => "failed",
            Self::Deferred => "deferred",
        }
    }
}

impl std::str::FromStr for OutcomeKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|outcome_kind| outcome_kind.as_str() == text)
            .ok_or_else(|| format!("`{text}` is not an outcome"))
    }
}

/// The score, unless it is infinite or NaN, which would spoil the sums.
pub(crate) fn finite_unit(grade: &Grade) -> Option<f64> {
    grade.outcome.unit().filter(|unit| unit.is_finite())
}

pub(crate) fn kind_name(kind: GraderKind) -> &'static str {
    match kind {
        GraderKind::Check => "check",
        GraderKind::Judge => "judge",
        GraderKind::Human => "human",
    }
}

pub(crate) fn read_grader_kind(row: &DbRow) -> Result<GraderKind, StoreError> {
    let name: String = row.get("grader_kind")?;
    let kinds = [GraderKind::Check, GraderKind::Judge, GraderKind::Human];
    let kind = kinds.into_iter().find(|kind| kind_name(*kind) == name);
    kind.ok_or_else(|| StoreError::damaged_row("grader", &name, "there is no such kind"))
}

pub(crate) fn read_grade_ids(rows: &[DbRow]) -> Result<BTreeSet<GradeId>, StoreError> {
    rows.iter().map(|row| row.parse("id")).collect()
}

fn read_grade_row(row: &DbRow) -> Result<GradeHead, StoreError> {
    Ok(GradeHead {
        id: row.parse("id")?,
        candidate: row.get("candidate")?,
        rubric_version: row.parse("rubric_version")?,
        criterion: row.get("criterion")?,
        grader_kind: read_grader_kind(row)?,
        grader: row.get("grader")?,
        configuration: row.get("configuration")?,
        attempt: row.count("attempt")?,
        agent: row.get("agent")?,
        outcome: row.parse("outcome")?,
        unit: row.get("unit")?,
        is_passed: row.get::<Option<i64>>("is_passed")?.map(|row| row != 0),
        probability: row.probability()?,
        cost: row.maybe_usd("cost")?,
        time: row.time("time")?,
    })
}

fn read_whole(row: &DbRow) -> Result<(GradeHead, Option<Grade>), StoreError> {
    let is_there = row.get::<Option<Vec<u8>>>("body")?.is_some();
    Ok((read_grade_row(row)?, is_there.then(|| row.unpack_json("body")).transpose()?))
}

fn read_verdict(row: &DbRow) -> Result<StoredVerdict, StoreError> {
    Ok(StoredVerdict {
        id: row.parse("id")?,
        candidate: row.get("candidate")?,
        rubric_version: row.parse("rubric_version")?,
        monitor: row.maybe_parse("monitor")?,
        attempt: row.count("attempt")?,
        agent: row.get("agent")?,
        probability: row.probability()?,
        cost: row.maybe_usd("cost")?,
        time: row.time("time")?,
        verdict: row.unpack_json("body")?,
    })
}
