//! Runs: a header, one result for each position of the plan, and the end time.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use futures_util::stream::{self, Stream, TryStreamExt};
use jurist_core::grade::{FORMAT, Spend, Time, Usd, VerdictStatus};
use jurist_core::report::declared_score_scale;
use jurist_core::run::{CaseResult, Packed, Run, RunId, RunProvenance, RunResults, cut_trial_name};
use jurist_core::stats::comparison::CaseFigure;
use serde_json::Value as Json;

use crate::db::{Arg, DbRow, Tx, args, statements};
use crate::filter::{SelectQuery, contains_pattern};
use crate::pack::pack;
use crate::{Cursor, ProjectId, ResultPage, Store, StoreError, exchanges};

/// A run without its results.
#[derive(Debug, Clone, PartialEq)]
pub struct RunHead {
    pub id: RunId,
    pub suite: Option<String>,
    pub provenance: RunProvenance,
    pub started: Time,
    pub ended: Option<Time>,
    pub n_pass: u64,
    pub n_fail: u64,
    pub n_error: u64,
    pub n_deferred: u64,
    /// Mean over the results that have a score.
    pub score: Option<f64>,
    /// Ends of the scale that the scores of all rubrics share; unknown for a run that an earlier version stored.
    pub scale: Option<(f64, f64)>,
    /// Cost of the results, and of calls that were paid for without a result.
    pub cost: Usd,
}

/// Which runs are listed; an absent field accepts all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunFilter {
    pub suite: Option<String>,
    pub branch: Option<String>,
    /// The beginning of a commit's hash.
    pub commit: Option<String>,
    pub author: Option<String>,
    /// A run has all of them.
    pub tags: Vec<String>,
    /// Only runs that have ended.
    pub is_ended: bool,
    /// Words; each must be part of the id, suite, branch, commit, author or a tag. Not case-sensitive for A to Z.
    pub search: Vec<String>,
    /// Started at this time or later.
    pub from: Option<Time>,
    /// Started before this time.
    pub until: Option<Time>,
}

/// The result of one position of the plan.
#[derive(Debug)]
pub struct NewRunResult<'a> {
    pub place: usize,
    pub result: &'a CaseResult,
    /// Prompts and replies of its judges.
    pub exchanges: &'a [Json],
}

statements! {
    BEGIN = "INSERT INTO runs (id, project, format, suite, seed, rubrics, started, branch, commit_hash, author, ci_url,
        scale_min, scale_max) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";
    ADD_TAG = "INSERT INTO run_tags (run, place, tag) VALUES ($1, $2, $3)";
    REMOVE_TAGS = "DELETE FROM run_tags WHERE run IN (SELECT id FROM runs WHERE project = $1 AND id = $2)";
    SEED = "SELECT seed FROM runs WHERE project = $1 AND id = $2";
    FIGURES = "SELECT run_results.case_name, run_results.base, run_results.rubric, run_results.status,
        run_results.score
        FROM run_results JOIN runs ON runs.id = run_results.run
        WHERE runs.project = $1 AND run_results.run = $2 ORDER BY run_results.place";
    SUITES = "SELECT suite FROM runs WHERE project = $1 AND suite IS NOT NULL
        GROUP BY suite ORDER BY MAX(id) DESC LIMIT $2";
    BRANCHES = "SELECT branch FROM runs WHERE project = $1 AND suite = $2 AND branch IS NOT NULL
        GROUP BY branch ORDER BY MAX(id) DESC LIMIT $3";
    // A new result replaces one without a verdict (grader error or deferred). A verdict is never replaced, so that a
    // worker that has lost its lease cannot change it.
    PUT = "INSERT INTO run_results (run, place, case_name, base, candidate, rubric, status, score, cost, body)
        SELECT id, $3, $4, $5, $6, $7, $8, $9, $10, $11 FROM runs WHERE project = $1 AND id = $2
        ON CONFLICT (run, place) DO UPDATE SET case_name = excluded.case_name, base = excluded.base,
        candidate = excluded.candidate, rubric = excluded.rubric, status = excluded.status, score = excluded.score,
        cost = excluded.cost, body = excluded.body WHERE run_results.status IN ('error', 'deferred')";
    END = "UPDATE runs SET ended = $3 WHERE project = $1 AND id = $2";
    GET = "SELECT * FROM runs WHERE project = $1 AND id = $2";
    RESULTS = "SELECT run_results.place, run_results.body FROM run_results JOIN runs ON runs.id = run_results.run
        WHERE runs.project = $1 AND run_results.run = $2 AND $3 < run_results.place
        ORDER BY run_results.place LIMIT $4";
    DEFERRED = "SELECT run_results.body FROM run_results JOIN runs ON runs.id = run_results.run
        WHERE runs.project = $1 AND run_results.run = $2 AND run_results.status = 'deferred'
        ORDER BY run_results.place LIMIT $3";
    HEAD = "SELECT id, suite, branch, commit_hash, author, ci_url, started, ended, scale_min, scale_max,
        (SELECT COUNT(*) FROM run_results WHERE run = runs.id AND status = 'pass') AS n_pass,
        (SELECT COUNT(*) FROM run_results WHERE run = runs.id AND status = 'fail') AS n_fail,
        (SELECT COUNT(*) FROM run_results WHERE run = runs.id AND status = 'error') AS n_error,
        (SELECT COUNT(*) FROM run_results WHERE run = runs.id AND status = 'deferred') AS n_deferred,
        (SELECT AVG(score) FROM run_results WHERE run = runs.id) AS score,
        (SELECT CAST(COALESCE(SUM(cost), 0) AS BIGINT) FROM run_results WHERE run = runs.id) AS cost,
        (SELECT CAST(COALESCE(SUM(settled), 0) AS BIGINT) FROM spend_subjects
            WHERE spend_subjects.project = runs.project AND subject = runs.id) AS paid
        FROM runs WHERE project = $1 AND id = $2";
    PLACES = "SELECT place, status FROM run_results JOIN runs ON runs.id = run_results.run
        WHERE runs.project = $1 AND run_results.run = $2 AND $3 <= place AND place <= $4 ORDER BY place";
    LATEST = "SELECT id FROM runs WHERE project = $1 ORDER BY id DESC LIMIT 1 OFFSET $2";
    LATEST_BEFORE = "SELECT id FROM runs WHERE project = $1 AND id < $2 ORDER BY id DESC LIMIT 1";
    ENDING = "SELECT id FROM runs WHERE project = $1 AND id LIKE $2 LIMIT 2";
    REMOVE_RESULTS = "DELETE FROM run_results WHERE run IN (SELECT id FROM runs WHERE project = $1 AND id = $2)";
    REMOVE_LABELS = "DELETE FROM run_labels WHERE run IN (SELECT id FROM runs WHERE project = $1 AND id = $2)";
    REMOVE_SUBMISSION = "DELETE FROM submissions WHERE run IN (SELECT id FROM runs WHERE project = $1 AND id = $2)";
    REMOVE_EXCHANGES = "DELETE FROM exchanges WHERE project = $1 AND owner = $2";
    REMOVE = "DELETE FROM runs WHERE project = $1 AND id = $2";
}

/// Tags of runs, whose ids are added.
const TAGS: &str = "SELECT run, tag FROM run_tags WHERE 0 <= place";

/// Headers of runs, to which conditions of a filter are added.
const HEADS: &str =
    "SELECT id, suite, branch, commit_hash, author, ci_url, started, ended, scale_min, scale_max,
        (SELECT COUNT(*) FROM run_results WHERE run = runs.id AND status = 'pass') AS n_pass,
        (SELECT COUNT(*) FROM run_results WHERE run = runs.id AND status = 'fail') AS n_fail,
        (SELECT COUNT(*) FROM run_results WHERE run = runs.id AND status = 'error') AS n_error,
        (SELECT COUNT(*) FROM run_results WHERE run = runs.id AND status = 'deferred') AS n_deferred,
        (SELECT AVG(score) FROM run_results WHERE run = runs.id) AS score,
        (SELECT CAST(COALESCE(SUM(cost), 0) AS BIGINT) FROM run_results WHERE run = runs.id) AS cost,
        (SELECT CAST(COALESCE(SUM(settled), 0) AS BIGINT) FROM spend_subjects
            WHERE spend_subjects.project = runs.project AND subject = runs.id) AS paid
        FROM runs WHERE project = $1 AND id < $2";

const HAS_WORD: &str = "(LOWER(id) LIKE LOWER(?) ESCAPE '!' OR LOWER(suite) LIKE LOWER(?) ESCAPE '!'
        OR LOWER(branch) LIKE LOWER(?) ESCAPE '!' OR LOWER(commit_hash) LIKE LOWER(?) ESCAPE '!'
        OR LOWER(author) LIKE LOWER(?) ESCAPE '!'
        OR id IN (SELECT run FROM run_tags WHERE LOWER(tag) LIKE LOWER(?) ESCAPE '!'))";

/// Number of runs that a name goes back: `latest` is 0, `previous` and `latest~1` are 1.
pub fn runs_back(name: &str) -> Option<usize> {
    match name {
        "latest" => Some(0),
        "previous" => Some(1),
        _ => name.strip_prefix("latest~")?.parse().ok(),
    }
}

/// Results that a stream reads at a time.
const PAGE: usize = 200;

impl Store {
    /// Stores the header of a run; results follow.
    pub async fn begin_run(&self, project: ProjectId, run: &Run) -> Result<(), StoreError> {
        let mut tx = self.db.begin().await?;
        insert_run(&mut tx, project, run).await?;
        tx.commit().await
    }

    /// Stores results with their exchanges in one transaction.
    pub async fn put_results(
        &self,
        project: ProjectId,
        run: RunId,
        results: &[NewRunResult<'_>],
        now: Time,
    ) -> Result<(), StoreError> {
        let (owner, mut exchange_rows) = (run.to_string(), Vec::new());
        let mut tx = self.db.begin().await?;
        for NewRunResult { place, result, exchanges } in results {
            exchange_rows.extend(exchanges::exchange_rows(project, &owner, &result.case, exchanges, now));
            let body = serde_json::to_vec(result).expect("a result is plain data");
            let args = args![
                project,
                &owner,
                *place,
                &result.case,
                result.base(),
                &result.candidate,
                result.rubric.as_str(),
                result.verdict.status.as_str(),
                result.verdict.score,
                result.spend.cost,
                pack(&body),
            ];
            let is_put = tx.execute(PUT, args).await? == 1;
            if !is_put && tx.optional(GET, args![project, &owner]).await?.is_none() {
                return Err(StoreError::unknown("run", &run));
            }
        }
        tx.insert(exchanges::ADD, exchange_rows).await?;
        tx.commit().await
    }

    pub async fn end_run(&self, project: ProjectId, run: RunId, time: Time) -> Result<(), StoreError> {
        match self.db.execute(END, args![project, run.to_string(), time]).await? {
            0 => Err(StoreError::unknown("run", &run)),
            _ => Ok(()),
        }
    }

    /// The run, without its results and their sum.
    pub async fn run(&self, project: ProjectId, id: RunId) -> Result<Run, StoreError> {
        let row = self.db.optional(GET, args![project, id.to_string()]).await?;
        let row = row.ok_or_else(|| StoreError::unknown("run", &id))?;
        let format = u32::try_from(row.count("format")?).unwrap_or(u32::MAX);
        if FORMAT < format {
            return Err(StoreError::damaged_row("run", &id, "it was written by a newer version of Jurist"));
        }
        let tags = self.run_tags(vec![id.to_string()]).await?.into_values().next().unwrap_or_default();
        Ok(Run {
            format,
            id,
            suite: row.get("suite")?,
            provenance: read_run_provenance(&row, tags)?,
            started: row.time("started")?,
            ended: row.maybe_time("ended")?,
            seed: row.parse("seed")?,
            rubrics: row.unpack_json::<BTreeMap<_, _>>("rubrics")?,
            results: RunResults::default(),
            spend: Spend::default(),
            summary: None,
        })
    }

    /// Up to `limit` results after a position of the plan, in plan order.
    pub async fn results(
        &self,
        project: ProjectId,
        run: RunId,
        after: Option<usize>,
        limit: usize,
    ) -> Result<Vec<(usize, CaseResult)>, StoreError> {
        let after = after.map_or(-1, |n| i64::try_from(n).unwrap_or(i64::MAX));
        let rows = self.db.fetch(RESULTS, args![project, run.to_string(), after, limit]).await?;
        let read = |row: &DbRow| {
            let place = usize::try_from(row.count("place")?).unwrap_or(usize::MAX);
            Ok((place, row.unpack_json("body")?))
        };
        rows.iter().map(read).collect()
    }

    /// Up to `limit` deferred results.
    pub async fn deferred_results(
        &self,
        project: ProjectId,
        run: RunId,
        limit: usize,
    ) -> Result<Vec<CaseResult>, StoreError> {
        let rows = self.db.fetch(DEFERRED, args![project, run.to_string(), limit]).await?;
        rows.iter().map(|row| row.unpack_json("body")).collect()
    }

    /// All results in plan order; reads one page at a time into memory.
    pub fn result_stream(
        &self,
        project: ProjectId,
        run: RunId,
    ) -> impl Stream<Item = Result<(usize, CaseResult), StoreError>> + Send + '_ {
        let pages = stream::try_unfold(Some(None), move |after: Option<Option<usize>>| async move {
            let Some(after) = after else { return Ok(None) };
            let page = self.results(project, run, after, PAGE).await?;
            let next = page.last().filter(|_| page.len() == PAGE).map(|(place, _)| Some(*place));
            Ok::<_, StoreError>(Some((stream::iter(page.into_iter().map(Ok)), next)))
        });
        pages.try_flatten()
    }

    /// A run with all its results.
    pub async fn load_run(&self, project: ProjectId, id: RunId) -> Result<Run, StoreError> {
        let mut run = self.run(project, id).await?;
        let spent = |(_, result): (usize, CaseResult)| (result.spend, Packed::new(&result));
        let results: Vec<(Spend, Packed)> =
            self.result_stream(project, id).map_ok(spent).try_collect().await?;
        run.spend = results.iter().fold(Spend::default(), |sum, (spend, _)| sum.plus(*spend));
        run.results = results.into_iter().map(|(_, result)| result).collect();
        // This includes calls without a result, which were paid for as well.
        let paid = self.subject_spend(project, &id.to_string(), None).await?.settled;
        run.spend.cost = run.spend.cost.map(|cost| cost.max(paid));
        Ok(run)
    }

    /// The newest first.
    pub async fn runs(
        &self,
        project: ProjectId,
        filter: &RunFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<ResultPage<RunHead>, StoreError> {
        let rows = select_run_heads(project, filter, after, limit + 1).fetch(&self.db).await?;
        let heads = self.read_tagged_heads(&rows).await?;
        Ok(ResultPage::of(heads, limit, |run_head: &RunHead| Cursor::new(0, &run_head.id)))
    }

    /// The header of one run.
    pub async fn run_head(&self, project: ProjectId, id: RunId) -> Result<RunHead, StoreError> {
        let row = self.db.optional(HEAD, args![project, id.to_string()]).await?;
        let row = row.ok_or_else(|| StoreError::unknown("run", &id))?;
        Ok(self.read_tagged_heads(&[row]).await?.remove(0))
    }

    async fn read_tagged_heads(&self, rows: &[DbRow]) -> Result<Vec<RunHead>, StoreError> {
        let ids = rows.iter().map(|row| row.get("id")).collect::<Result<Vec<String>, _>>()?;
        let mut tags = self.run_tags(ids.clone()).await?;
        let tagged = rows.iter().zip(&ids);
        tagged.map(|(row, id)| read_run_head(row, tags.remove(id).unwrap_or_default())).collect()
    }

    /// The tags of each of these runs that has any.
    async fn run_tags(&self, runs: Vec<String>) -> Result<BTreeMap<String, Vec<String>>, StoreError> {
        let mut tags: BTreeMap<String, Vec<String>> = BTreeMap::new();
        if runs.is_empty() {
            return Ok(tags);
        }
        for row in select_run_tags(runs).fetch(&self.db).await? {
            tags.entry(row.get("run")?).or_default().push(row.get("tag")?);
        }
        Ok(tags)
    }

    /// The suites that have runs, the one with the newest run first.
    pub async fn run_suites(&self, project: ProjectId, limit: usize) -> Result<Vec<String>, StoreError> {
        let rows = self.db.fetch(SUITES, args![project, limit]).await?;
        rows.iter().map(|row| row.get("suite")).collect()
    }

    /// The branches of a suite's runs, the one with the newest run first.
    pub async fn run_branches(
        &self,
        project: ProjectId,
        suite: &str,
        limit: usize,
    ) -> Result<Vec<String>, StoreError> {
        let rows = self.db.fetch(BRANCHES, args![project, suite.to_owned(), limit]).await?;
        rows.iter().map(|row| row.get("branch")).collect()
    }

    /// The random seed of a run.
    pub async fn run_seed(&self, project: ProjectId, id: RunId) -> Result<u64, StoreError> {
        let row = self.db.optional(SEED, args![project, id.to_string()]).await?;
        row.ok_or_else(|| StoreError::unknown("run", &id))?.parse("seed")
    }

    /// The verdict of every result in plan order. Grades and texts are not read, which takes a hundredth of the time.
    pub async fn result_figures(
        &self,
        project: ProjectId,
        run: RunId,
    ) -> Result<Vec<CaseFigure>, StoreError> {
        let rows = self.db.fetch(FIGURES, args![project, run.to_string()]).await?;
        let read = |row: &DbRow| {
            let (rubric, status): (String, String) = (row.get("rubric")?, row.get("status")?);
            let (case, base): (String, Option<String>) = (row.get("case_name")?, row.get("base")?);
            Ok(CaseFigure {
                base: base.unwrap_or_else(|| cut_trial_name(&case).to_owned()),
                case,
                rubric: read_json_name(&run, rubric)?,
                status: read_json_name(&run, status)?,
                score: row.get("score")?,
            })
        };
        rows.iter().map(read).collect()
    }

    /// Positions within a range of the plan that have a result, with its status.
    pub async fn graded_places(
        &self,
        project: ProjectId,
        id: RunId,
        places: RangeInclusive<usize>,
    ) -> Result<BTreeMap<usize, VerdictStatus>, StoreError> {
        let args = args![project, id.to_string(), *places.start(), *places.end()];
        let rows = self.db.fetch(PLACES, args).await?;
        let place = |row: &DbRow| {
            let place = usize::try_from(row.count("place")?).unwrap_or(usize::MAX);
            let status: String = row.get("status")?;
            Ok((place, read_json_name(&id, status)?))
        };
        rows.iter().map(place).collect()
    }

    /// A run by its id, the end of its id, or a name such as `latest~1`: see [`runs_back`].
    pub async fn find_run(&self, project: ProjectId, name: &str) -> Result<RunId, StoreError> {
        let latest = self.find_run_back(project, 0).await?;
        if let Some(n) = runs_back(name)
            && let Some(found) = self.find_run_back(project, n).await?
        {
            return Ok(found);
        }
        let end = name.trim_start_matches("run_");
        let is_end = 6 <= end.len() && end.bytes().all(|byte| byte.is_ascii_hexdigit());
        let rows = match is_end {
            true => self.db.fetch(ENDING, args![project, format!("%{end}")]).await?,
            false => Vec::new(),
        };
        let hint = match rows.as_slice() {
            [only] => return only.parse("id"),
            [] => latest.map(|run_id| format!("; the latest is {run_id}")).unwrap_or_default(),
            _ => "; several end like that".to_owned(),
        };
        Err(StoreError::Unknown { what: "run", id: name.to_owned(), hint })
    }

    async fn find_run_back(&self, project: ProjectId, n: usize) -> Result<Option<RunId>, StoreError> {
        let row = self.db.optional(LATEST, args![project, n]).await?;
        row.map(|row| row.parse("id")).transpose()
    }

    /// The last run that began before another one.
    pub async fn run_before(&self, project: ProjectId, run: RunId) -> Result<Option<RunId>, StoreError> {
        let row = self.db.optional(LATEST_BEFORE, args![project, run.to_string()]).await?;
        row.map(|row| row.parse("id")).transpose()
    }

    /// Deletes a run with its results, labels and exchanges.
    pub async fn remove_run(&self, project: ProjectId, run: RunId) -> Result<(), StoreError> {
        let mut tx = self.db.begin().await?;
        let args = || args![project, run.to_string()];
        tx.execute(REMOVE_LABELS, args()).await?;
        tx.execute(REMOVE_RESULTS, args()).await?;
        tx.execute(REMOVE_TAGS, args()).await?;
        tx.execute(REMOVE_SUBMISSION, args()).await?;
        tx.execute(REMOVE_EXCHANGES, args()).await?;
        if tx.execute(REMOVE, args()).await? == 0 {
            return Err(StoreError::unknown("run", &run));
        }
        tx.commit().await
    }
}

pub(crate) async fn insert_run(tx: &mut Tx, project: ProjectId, run: &Run) -> Result<(), StoreError> {
    let rubrics = serde_json::to_vec(&run.rubrics).expect("rubrics are plain data");
    let RunProvenance { branch, commit, author, tags, ci_url } = run.provenance.clone();
    let (scale_min, scale_max) = declared_score_scale(&run.rubrics).unzip();
    let args = args![
        run.id.to_string(),
        project,
        run.format,
        run.suite.clone(),
        run.seed.to_string(),
        pack(&rubrics),
        run.started,
        branch,
        commit,
        author,
        ci_url,
        scale_min,
        scale_max,
    ];
    tx.execute(BEGIN, args).await.map_err(|error| error.into_taken("run", &run.id.to_string()))?;
    for (place, tag) in tags.into_iter().enumerate() {
        tx.execute(ADD_TAG, args![run.id.to_string(), place, tag]).await?;
    }
    Ok(())
}

pub(crate) fn select_run_tags(runs: Vec<String>) -> SelectQuery {
    let runs = runs.into_iter().map(Arg::from).collect();
    SelectQuery::new(TAGS, Vec::new()).and_in("run", runs).then("ORDER BY run, place")
}

/// The list with the conditions of a filter.
pub(crate) fn select_run_heads(
    project: ProjectId,
    filter: &RunFilter,
    after: Option<&Cursor>,
    limit: usize,
) -> SelectQuery {
    let commit = filter.commit.as_ref().map(|commit| commit.to_ascii_lowercase());
    let mut query = SelectQuery::new(HEADS, args![project, Cursor::top(after).id])
        .and_maybe("suite = ?", filter.suite.clone())
        .and_maybe("branch = ?", filter.branch.clone())
        .and_maybe("SUBSTR(commit_hash, 1, LENGTH(CAST(? AS TEXT))) = ?", commit)
        .and_maybe("author = ?", filter.author.clone());
    for tag in &filter.tags {
        query = query.and("id IN (SELECT run FROM run_tags WHERE tag = ?)", tag.clone());
    }
    for word in &filter.search {
        query = query.and(HAS_WORD, contains_pattern(word));
    }
    let query = query.and_maybe("? <= started", filter.from).and_maybe("started < ?", filter.until);
    let query = if filter.is_ended { query.then("AND ended IS NOT NULL") } else { query };
    query.then("ORDER BY id DESC").limit(limit)
}

fn read_run_provenance(row: &DbRow, tags: Vec<String>) -> Result<RunProvenance, StoreError> {
    Ok(RunProvenance {
        branch: row.get("branch")?,
        commit: row.get("commit_hash")?,
        author: row.get("author")?,
        tags,
        ci_url: row.get("ci_url")?,
    })
}

/// A value whose JSON form is a word.
fn read_json_name<T: serde::de::DeserializeOwned>(run: &RunId, name: String) -> Result<T, StoreError> {
    serde_json::from_value(Json::String(name)).map_err(|error| StoreError::damaged_row("run", run, &error))
}

fn read_run_head(row: &DbRow, tags: Vec<String>) -> Result<RunHead, StoreError> {
    Ok(RunHead {
        id: row.parse("id")?,
        suite: row.get("suite")?,
        provenance: read_run_provenance(row, tags)?,
        started: row.time("started")?,
        ended: row.maybe_time("ended")?,
        n_pass: row.count("n_pass")?,
        n_fail: row.count("n_fail")?,
        n_error: row.count("n_error")?,
        n_deferred: row.count("n_deferred")?,
        score: row.get("score")?,
        scale: row.get::<Option<f64>>("scale_min")?.zip(row.get("scale_max")?),
        cost: Usd::from_nanos(row.get("cost")?).max(Usd::from_nanos(row.get("paid")?)),
    })
}
