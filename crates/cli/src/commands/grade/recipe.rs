//! Recipes by name: each is a rubric of one criterion, which a judge answers.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use jurist_core::catalogue::{RECIPES, find_catalogue_entry};
use jurist_core::diagnostic::{Diagnostic, DiagnosticSeverity};
use jurist_core::dialect::{
    self, Dialect, ProjectEnvironment, ProjectSettings, ReadError, VariableExpansion,
};
use jurist_core::judge::RecordKeys;
use jurist_engine::call::ModelClient;
use jurist_engine::judge::ResolvedJudges;
use jurist_engine::load::{Outside, SuiteFiles};
use serde_json::{Map, Value as Json, json};

use super::judged::{JudgedRecord, judge_record};
use crate::judging::JudgingArgs;
use crate::suite_loading::ChosenRubric;

/// A tree of questions is an evaluator of Potato's as well, and a judge answers it.
pub(super) const TREE: &str = "rubric_dag";

pub(super) fn is_recipe(name: &str) -> bool {
    name == TREE || find_catalogue_entry(RECIPES, name).is_some()
}

/// A recipe as a rubric, with the judge that its `config` names.
pub(super) fn recipe_rubric(
    name: &str,
    params: &Json,
    settings: &ProjectSettings,
) -> Result<ChosenRubric, String> {
    let params = params.as_object().ok_or("`params` must be a mapping of parameters")?;
    // Potato's own evaluators have parameters that only its dialect knows.
    let is_of_potato = !name.contains(['-', ':']) && name != "factuality";
    let (dialect, file) = if is_of_potato {
        (Dialect::Potato, json!({ "evaluators": [{ "name": name, "params": params }] }))
    } else {
        let mut recipe = Map::from_iter([("type".to_owned(), json!(name))]);
        recipe.extend(params.clone());
        (
            Dialect::Native,
            json!({ "rubrics": { name: { "criteria": [{ "name": name, "recipe": recipe }] } } }),
        )
    };
    let (path, text) = (Path::new("params.json"), file.to_string());
    let world = ProjectEnvironment {
        root: PathBuf::new(),
        read: &|requested| if requested == path { Ok(text.as_str().into()) } else { Err(ReadError::Missing) },
        glob: &|_| Ok(Vec::new()),
        variable: &|_| None,
        variables: VariableExpansion::Filled,
        call: &dialect::refuse_scripts,
    };
    let loaded = dialect::read_suite(path, Some(dialect), &world);
    let diagnostics = loaded.diagnostics.into_sorted();
    let mut errors = diagnostics
        .iter()
        .filter(|diagnostic: &&Diagnostic| diagnostic.severity == DiagnosticSeverity::Error);
    if let Some(error) = errors.next() {
        let help = error.help.as_ref().map(|help| format!("; {help}")).unwrap_or_default();
        return Err(format!("`{name}`: {}{help}", error.message));
    }
    let suite = loaded.suite.ok_or_else(|| format!("`{name}` cannot be read"))?;
    let rubric = suite.rubrics.into_values().next().ok_or_else(|| format!("`{name}` cannot be read"))?;
    Ok(ChosenRubric {
        rubric,
        judge: suite.judge.or(&settings.judge),
        judges: suite.judges,
        variables: suite.variables,
        settings: settings.clone(),
        project: SuiteFiles::of(path, Outside::Refused),
        candidate: None,
    })
}

/// Refuses a recipe without a judge.
pub(super) fn ensure_judge(judging: &JudgingArgs, name: &str, chosen: &ChosenRubric) -> Result<(), String> {
    match judging.names_judge(&chosen.judge, &chosen.settings) {
        Ok(true) => Ok(()),
        Ok(false) => {
            Err(format!("`{name}` is a recipe and needs a judge; use --judge MODEL, or set JURIST_JUDGE"))
        }
        Err(error) => Err(error.to_string()),
    }
}

/// Judges for records that name a recipe of their own. Judges are resolved when the first record needs them.
pub(super) struct RecipeJudges<'a> {
    judging: &'a JudgingArgs,
    settings: ProjectSettings,
    caller: OnceCell<Arc<ModelClient>>,
    /// By the `config` of a record.
    judges: Mutex<HashMap<String, Arc<ResolvedJudges>>>,
}

/// Prepared judges that are in memory. Each has connections of its own, so their number is limited.
const MAX_PREPARED: usize = 32;

/// A record whose recipe is still to be carried out.
pub(super) struct RecipeJob {
    pub(super) name: String,
    pub(super) record: Json,
    pub(super) place: String,
}

impl<'a> RecipeJudges<'a> {
    pub(super) fn new(judging: &'a JudgingArgs, settings: ProjectSettings) -> Self {
        Self { judging, settings, caller: OnceCell::new(), judges: Mutex::default() }
    }

    /// Calls at a time.
    pub(super) fn width(&self) -> usize {
        self.judging.width(&self.settings)
    }

    /// The model client, if a model was called.
    pub(super) fn caller(&self) -> Option<&Arc<ModelClient>> {
        self.caller.get()
    }

    fn make_caller(&self) -> Result<Arc<ModelClient>, String> {
        if let Some(caller) = self.caller.get() {
            return Ok(Arc::clone(caller));
        }
        let caller = Arc::new(self.judging.caller(&self.settings).map_err(|error| error.to_string())?);
        Ok(Arc::clone(self.caller.get_or_init(|| caller)))
    }

    async fn prepare_judges_for(
        &self,
        name: &str,
        chosen: &ChosenRubric,
        config: &str,
    ) -> Result<Arc<ResolvedJudges>, String> {
        let known = || self.judges.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(judges) = known().get(config) {
            return Ok(Arc::clone(judges));
        }
        ensure_judge(self.judging, name, chosen)?;
        let (_, judges) = self.judging.prepare_judges(chosen).await.map_err(|error| error.to_string())?;
        let judges = Arc::new(judges);
        let mut known = known();
        if MAX_PREPARED <= known.len() {
            known.clear();
        }
        known.insert(config.to_owned(), Arc::clone(&judges));
        Ok(judges)
    }

    pub(super) async fn grade(&self, job: &RecipeJob) -> Result<JudgedRecord, String> {
        if self.judging.batch {
            return Err(
                "--batch sends the questions of one rubric or recipe; name it with --rubric or --check"
                    .to_owned(),
            );
        }
        let params = super::own_params(&job.record)?;
        let chosen = recipe_rubric(&job.name, &params, &self.settings)?;
        let keys = RecordKeys::of_rubric(&chosen.rubric).map_err(|error| error.to_string())?;
        let config = params.get("config").map(Json::to_string).unwrap_or_default();
        let judges = self.prepare_judges_for(&job.name, &chosen, &config).await?;
        let caller = self.make_caller()?;
        judge_record(&job.place, job.record.clone(), &keys, &chosen.rubric, &judges, &caller).await
    }
}
