//! Runs of this machine in the database of the project. Each result is written at once, so that a killed run loses no
//! grades.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use anyhow::Context;
use jurist_core::grade::{
    FORMAT, Grade, Grader, GraderKind, MetadataFields, Outcome, Reason, RubricHash, Spend, Usd,
};
use jurist_core::run::{CaseResult, Run, RunId};
use jurist_core::task_results::TaskResults;
use jurist_engine::call::{BudgetReservation, SharedBudget};
use jurist_engine::judge::JudgeExchange;
use jurist_engine::model::{BoxFuture, ModelError};
use jurist_server::annotate::{
    load_annotations, people_grades, results_of, settled_grades, task_names, ungraded_questions,
};
use jurist_store::grades::{GradeFilter, GradeHead};
use jurist_store::labels::StoredLabel;
use jurist_store::run_labels::StoredRunLabel;
use jurist_store::runs::{NewRunResult, RunFilter, RunHead, runs_back};
use jurist_store::{ProjectId, Store, StoreError, clock};
use serde_json::{Value as Json, json};
use tokio::sync::{Mutex, OnceCell, mpsc};

use crate::database::{DatabaseArgs, project_of};

/// Results that are written in one transaction.
pub const BATCH: usize = 256;

/// The stored runs of a database, which is opened at the first access.
#[derive(Debug, Default)]
pub struct StoredRuns {
    place: DatabaseArgs,
    project_store: OnceCell<ProjectStore>,
}

#[derive(Debug, Clone)]
struct ProjectStore {
    store: Store,
    project: ProjectId,
}

/// A run that is being written.
#[derive(Debug)]
pub struct RunLog {
    run: RunId,
    /// `None` if the database cannot be written.
    project_store: Option<ProjectStore>,
    costs: Option<Arc<RunCosts>>,
}

/// A run of which a part was graded before.
#[derive(Debug)]
pub struct ResumedRun {
    pub run: Run,
    /// Its results so far, by the unit's place in the plan.
    pub results: Vec<(usize, CaseResult)>,
    /// The cost of earlier attempts, including calls without a result.
    pub paid: Usd,
    pub log: RunLog,
}

/// The cost of a run's calls. It is added to the run in the database before a reply is used, so that the next attempt
/// knows what a killed one has spent.
#[derive(Debug)]
pub struct RunCosts {
    project_store: ProjectStore,
    run: RunId,
    /// Billionths of a dollar that are not written yet.
    pending: AtomicI64,
    /// The task with this lock writes the pending cost of all tasks that wait for it.
    writing: Mutex<()>,
}

impl RunCosts {
    async fn add(&self, cost: Usd) {
        if cost != Usd::default() {
            self.pending.fetch_add(cost.nanos(), Ordering::SeqCst);
            // A full disk is reported at the end; the run continues until then.
            let _ = self.write().await;
        }
    }

    /// Writes the pending cost. If that fails, it stays pending and is written with the next call.
    pub async fn write(&self) -> Result<(), StoreError> {
        let _alone = self.writing.lock().await;
        let nanos = self.pending.swap(0, Ordering::SeqCst);
        if nanos == 0 {
            return Ok(());
        }
        let (ProjectStore { store, project }, subject) = (&self.project_store, self.run.to_string());
        let written =
            store.add_subject_cost(*project, &subject, Usd::from_nanos(nanos), clock::current_time()).await;
        if written.is_err() {
            self.pending.fetch_add(nanos, Ordering::SeqCst);
        }
        written
    }
}

/// A call under way.
#[derive(Debug)]
struct CallCost(Arc<RunCosts>);

impl BudgetReservation for CallCost {
    fn settle(self: Box<Self>, cost: Option<Usd>) -> BoxFuture<'static, ()> {
        Box::pin(async move { self.0.add(cost.unwrap_or_default()).await })
    }
}

/// Where each call of a run writes its cost; the cap itself is the caller's.
#[derive(Debug)]
struct RunCostRecorder(Arc<RunCosts>);

impl SharedBudget for RunCostRecorder {
    fn reserve<'a>(
        &'a self,
        _: &'a str,
        _: Option<Usd>,
    ) -> BoxFuture<'a, Result<Box<dyn BudgetReservation>, ModelError>> {
        Box::pin(async { Ok(Box::new(CallCost(Arc::clone(&self.0))) as Box<dyn BudgetReservation>) })
    }

    fn charge(&self, cost: Usd) -> BoxFuture<'_, ()> {
        Box::pin(self.0.add(cost))
    }
}

/// What came of one place in the plan.
#[derive(Debug)]
pub struct RunUnitResult {
    pub place: usize,
    pub result: CaseResult,
    pub exchanges: Vec<JudgeExchange>,
}

/// Kinds of grades in the database that belong to no run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoredGradeKind {
    /// Final labels.
    Labels,
    People,
    Judges,
}

impl StoredGradeKind {
    /// The kind that has this name in the place of a file.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "labels" => Some(Self::Labels),
            "people" => Some(Self::People),
            "judges" => Some(Self::Judges),
            _ => None,
        }
    }
}

/// The origin of labels that were decided in an annotation task.
const ADJUDICATED: &str = "adjudicated";

/// Rows that are read in one query.
const PAGE: usize = 1_000;

impl StoredRuns {
    /// The stored runs of one database.
    pub fn of_database(place: &DatabaseArgs) -> Self {
        Self { place: place.clone(), project_store: OnceCell::new() }
    }

    /// The names of the annotation tasks by their ids, as answers carry them.
    pub async fn task_names_by_id(&self) -> anyhow::Result<BTreeMap<String, String>> {
        let ProjectStore { store, project } = self.project_store().await?;
        let tasks = task_names(store, *project).await?;
        Ok(tasks.into_iter().map(|(task, name)| (task.id.to_string(), name)).collect())
    }

    /// Grades of the database. If a grader answered a question about a candidate more than once, the newest answer
    /// counts. Grades of people have the name of their annotation task.
    pub async fn load_stored_grades(
        &self,
        which: StoredGradeKind,
    ) -> anyhow::Result<Vec<(Grade, MetadataFields)>> {
        let ProjectStore { store, project } = self.project_store().await?;
        match which {
            StoredGradeKind::Judges => load_judge_grades(store, *project).await,
            StoredGradeKind::People | StoredGradeKind::Labels => {
                let mut all = Vec::new();
                for (task, name) in task_names(store, *project).await? {
                    let ungraded = ungraded_questions(store, *project, &task).await?;
                    if !ungraded.is_empty() {
                        let ungraded: Vec<String> = ungraded.iter().map(ToString::to_string).collect();
                        crate::render::print_note(&format!(
                            "`{name}`: not included: {}",
                            ungraded.join(", ")
                        ));
                    }
                    all.extend(match which {
                        StoredGradeKind::People => people_grades(store, *project, &task, &name).await?,
                        _ => settled_grades(store, *project, &task, &name).await?,
                    });
                }
                if which == StoredGradeKind::Labels {
                    all.extend(other_labels(store, *project).await?);
                }
                Ok(all)
            }
        }
    }

    /// Results of an annotation task, by its name: over all items, and by a field of its items.
    pub async fn task_results(&self, name: &str, by: Option<&str>) -> anyhow::Result<TaskResults> {
        anyhow::ensure!(self.place.exists(), "there is no database at `{}`", self.place.url());
        let ProjectStore { store, project } = self.project_store().await?;
        let tasks = task_names(store, *project).await?;
        let known: Vec<String> = tasks.iter().map(|(_, name)| format!("`{name}`")).collect();
        let (mut answered, mut without_answers) = (Vec::new(), Vec::new());
        for (task, known) in tasks {
            if known == name || task.id.to_string() == name || task.name == name {
                let answers = load_annotations(store, *project, &task).await?;
                let side = if answers.is_empty() { &mut without_answers } else { &mut answered };
                side.push((known, answers));
            }
        }
        // Of tasks with the same name, the one with answers is chosen.
        let mut meant = if answered.is_empty() { without_answers } else { answered };
        if 1 < meant.len() {
            let names: Vec<String> = meant.iter().map(|(known, _)| format!("`{known}`")).collect();
            anyhow::bail!(
                "several annotation tasks are called `{name}`; choose one by its id: {}",
                names.join(", ")
            );
        }
        let Some((name, answers)) = meant.pop() else {
            let known = if known.is_empty() { "there is none".to_owned() } else { known.join(", ") };
            anyhow::bail!("there is no annotation task `{name}`; there are {known}");
        };
        Ok(results_of(store, *project, &name, answers, by).await?)
    }

    async fn project_store(&self) -> anyhow::Result<&ProjectStore> {
        let open = async || {
            let store = self.place.open_quickly().await?;
            let project = project_of(&store, None).await?;
            Ok(ProjectStore { store, project })
        };
        self.project_store.get_or_try_init(open).await
    }

    /// Begins a run; its results come one by one.
    pub async fn begin(&self, run: &Run) -> anyhow::Result<RunLog> {
        let project_store = self.project_store().await?.clone();
        project_store.store.begin_run(project_store.project, run).await?;
        Ok(RunLog::new(run.id, project_store))
    }

    /// Goes on with a run.
    pub async fn resume(&self, name: &str) -> anyhow::Result<ResumedRun> {
        use futures_util::TryStreamExt;
        let id = self.find(name).await?;
        let project_store = self.project_store().await?.clone();
        let run = project_store.store.run(project_store.project, id).await?;
        let results: Vec<(usize, CaseResult)> =
            project_store.store.result_stream(project_store.project, id).try_collect().await?;
        let paid =
            project_store.store.subject_spend(project_store.project, &id.to_string(), None).await?.settled;
        // Runs that an older version began have written it with their results alone.
        let of_results = results.iter().filter_map(|(_, result)| result.spend.cost);
        let paid = paid.max(of_results.fold(Usd::default(), Usd::plus));
        Ok(ResumedRun { run, results, paid, log: RunLog::new(id, project_store) })
    }

    /// By its id, the end of its id, `latest`, `previous`, `latest~2`, or the path of a file that the JSON reporter
    /// wrote.
    pub async fn load(&self, name: &str) -> anyhow::Result<Run> {
        if Path::new(name).is_file() {
            let text = std::fs::read(name).with_context(|| format!("cannot read `{name}`"))?;
            return serde_json::from_slice(&text).with_context(|| format!("`{name}` is not a run in JSON"));
        }
        let id = self.find(name).await?;
        let ProjectStore { store, project } = self.project_store().await?;
        Ok(store.load_run(*project, id).await?)
    }

    /// Labels of people for the cases of a stored run; a file has none.
    pub async fn load_run_labels(&self, name: &str) -> anyhow::Result<Vec<StoredRunLabel>> {
        if Path::new(name).is_file() {
            return Ok(Vec::new());
        }
        let id = self.find(name).await?;
        let ProjectStore { store, project } = self.project_store().await?;
        let (mut all, mut after) = (Vec::new(), None);
        loop {
            let page = store.run_labels(*project, id, after.as_ref(), PAGE).await?;
            all.extend(page.items);
            after = page.next;
            if after.is_none() {
                return Ok(all);
            }
        }
    }

    /// A run to compare a new one with: `latest` is the one before it, `previous` the one before that.
    pub async fn load_before(&self, name: &str, new: RunId) -> anyhow::Result<Run> {
        let Some(n_back) = runs_back(name).filter(|_| self.place.exists()) else {
            return self.load(name).await;
        };
        let ProjectStore { store, project } = self.project_store().await?;
        let mut earlier = new;
        for _ in 0..=n_back {
            let before = store.run_before(*project, earlier).await?;
            earlier = before.with_context(|| format!("there is no stored run `{name}` before this one"))?;
        }
        Ok(store.load_run(*project, earlier).await?)
    }

    /// The newest first.
    pub async fn heads(&self, filter: &RunFilter) -> anyhow::Result<Vec<RunHead>> {
        let mut heads = Vec::new();
        if !self.place.exists() {
            return Ok(heads);
        }
        let (ProjectStore { store, project }, mut after) = (self.project_store().await?, None);
        loop {
            let page = store.runs(*project, filter, after.as_ref(), 200).await?;
            heads.extend(page.items);
            after = page.next;
            if after.is_none() {
                return Ok(heads);
            }
        }
    }

    /// Prompts and replies of the judges of a case, in the order of the calls.
    pub async fn exchanges(&self, name: &str, case: &str) -> anyhow::Result<Vec<JudgeExchange>> {
        let id = self.find(name).await?;
        let ProjectStore { store, project } = self.project_store().await?;
        let exchanges = store.exchanges(*project, &id.to_string(), case).await?;
        exchanges.into_iter().map(|exchange| Ok(serde_json::from_value(exchange)?)).collect()
    }

    pub async fn remove(&self, name: &str) -> anyhow::Result<()> {
        let id = self.find(name).await?;
        let ProjectStore { store, project } = self.project_store().await?;
        Ok(store.remove_run(*project, id).await?)
    }

    async fn find(&self, name: &str) -> anyhow::Result<RunId> {
        // Ids and names of runs have no dots and no separators.
        let is_path = name.contains(['.', '/', '\\']) && !Path::new(name).exists();
        anyhow::ensure!(!is_path, "cannot read `{name}`: there is no such file");
        // A lookup does not create a database.
        if !self.place.exists() {
            let hint = format!("; `{}` has no runs", self.place.url());
            return Err(StoreError::Unknown { what: "run", id: name.to_owned(), hint }.into());
        }
        let ProjectStore { store, project } = self.project_store().await?;
        Ok(store.find_run(*project, name).await?)
    }
}

impl RunLog {
    fn new(run: RunId, project_store: ProjectStore) -> Self {
        let (pending, writing) = (AtomicI64::new(0), Mutex::new(()));
        let costs = Arc::new(RunCosts { project_store: project_store.clone(), run, pending, writing });
        Self { run, project_store: Some(project_store), costs: Some(costs) }
    }

    /// A log that stores nothing.
    pub fn nowhere(run: RunId) -> Self {
        Self { run, project_store: None, costs: None }
    }

    /// A budget that stores the cost of each call of the run.
    pub fn cost_recorder(&self) -> Option<Arc<dyn SharedBudget>> {
        Some(Arc::new(RunCostRecorder(Arc::clone(self.costs.as_ref()?))))
    }

    /// Writes the cost that could not be written when it arose.
    pub async fn write_costs(&self) -> Result<(), StoreError> {
        match &self.costs {
            Some(costs) => costs.write().await,
            None => Ok(()),
        }
    }

    /// Stores all results. After an error, later results are received and not stored.
    pub async fn store_results(&self, mut coming: mpsc::Receiver<RunUnitResult>) -> Result<(), StoreError> {
        let (mut some, mut outcome) = (Vec::new(), Ok(()));
        while 0 < coming.recv_many(&mut some, BATCH).await {
            if let (Some(ProjectStore { store, project }), Ok(())) = (&self.project_store, &outcome) {
                let json = |judge_exchange: &JudgeExchange| {
                    serde_json::to_value(judge_exchange).expect("an exchange is plain data")
                };
                let exchange_rows: Vec<Vec<Json>> = some
                    .iter()
                    .map(|run_unit_result| run_unit_result.exchanges.iter().map(json).collect())
                    .collect();
                let graded = some.iter().zip(&exchange_rows);
                let graded = graded.map(|(run_unit_result, exchanges)| NewRunResult {
                    place: run_unit_result.place,
                    result: &run_unit_result.result,
                    exchanges,
                });
                let graded: Vec<NewRunResult<'_>> = graded.collect();
                outcome = store.put_results(*project, self.run, &graded, clock::current_time()).await;
            }
            some.clear();
        }
        outcome
    }

    pub async fn end(&self) -> Result<(), StoreError> {
        match &self.project_store {
            Some(ProjectStore { store, project }) => {
                store.end_run(*project, self.run, clock::current_time()).await
            }
            None => Ok(()),
        }
    }
}

async fn load_judge_grades(
    store: &Store,
    project: ProjectId,
) -> anyhow::Result<Vec<(Grade, MetadataFields)>> {
    let filter = GradeFilter { grader_kind: Some(GraderKind::Judge), ..GradeFilter::default() };
    let (mut all, mut known, mut after) = (Vec::new(), HashSet::new(), None);
    loop {
        let page = store.whole_grades(project, &filter, after.as_ref(), PAGE).await?;
        for (head, grade) in page.items {
            let Some(grade) = grade else { continue };
            let question = (grade.candidate.clone(), grade.rubric.clone(), grade.criterion.clone());
            if known.insert((question, grade.grader.clone())) {
                all.push((grade, grade_head_fields(&head)));
            }
        }
        after = page.next;
        if after.is_none() {
            return Ok(all);
        }
    }
}

/// What the database stores about a grade in addition to the grade.
pub fn grade_head_fields(head: &GradeHead) -> MetadataFields {
    let agent = head.agent.as_ref().map(|agent| ("agent".to_owned(), json!(agent)));
    let version = ("rubric_version".to_owned(), json!(head.rubric_version.to_string()));
    let probability = ("probability".to_owned(), json!(head.probability.get()));
    agent.into_iter().chain([version, probability]).collect()
}

/// Labels that were not decided in an annotation task.
async fn other_labels(store: &Store, project: ProjectId) -> anyhow::Result<Vec<(Grade, MetadataFields)>> {
    let mut all = Vec::new();
    for rubric in store.rubrics(project).await? {
        for version in store.rubric_versions(project, rubric.id).await? {
            let mut after = None;
            loop {
                let page = store.labels(project, &version.id, None, after.as_ref(), PAGE).await?;
                let others = page.items.into_iter().filter(|label| label.origin != ADJUDICATED);
                all.extend(others.map(|label| (label_to_grade(label, &version.hash), MetadataFields::new())));
                after = page.next;
                if after.is_none() {
                    break;
                }
            }
        }
    }
    Ok(all)
}

fn label_to_grade(label: StoredLabel, version: &RubricHash) -> Grade {
    Grade {
        format: FORMAT,
        candidate: label.candidate,
        rubric: Some(version.clone()),
        criterion: label.criterion,
        grader: Grader { kind: GraderKind::Human, name: label.origin, configuration: None },
        outcome: Outcome::Scored { value: label.value, unit: label.unit },
        reason: Reason::default(),
        evidence: Vec::new(),
        points: Vec::new(),
        flags: Vec::new(),
        spend: Spend::default(),
        time: Some(label.time),
        attempts: Vec::new(),
    }
}
