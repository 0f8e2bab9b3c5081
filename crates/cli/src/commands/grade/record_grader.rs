//! Grades records in the memory of another program, by the steps of `jurist grade`; prints nothing.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use clap::Parser;
use jurist_core::candidate::RecordFields;
use jurist_core::check::{Check, CheckSubject, CompiledCheck, ExternalCheck};
use jurist_core::dialect::ProjectSettings;
use jurist_core::suite::{Judge, Jury};
use jurist_engine::call::{Cache, Caching, CallNotice, ModelClient, SharedBudget};
use jurist_engine::embed::TextServices;
use jurist_engine::judge::{CheckPrograms, permit_check};
use jurist_engine::load::SuiteFiles;
use jurist_engine::model::LanguageModel;
use jurist_engine::model::resolve::Resolver;
use serde_json::{Value as Json, json};

use super::checked::{CheckRunner, RecordChecks, RecordGrading, build_check_line, grade_parsed_record};
use super::external::{CASE_FIELDS, decide_external_record};
use super::judged::{JudgedRecord, JudgingContext, LineShape, finding_line};
use super::notices::{FieldNotices, SeenFields};
use super::recipe::{ensure_judge, is_recipe, recipe_rubric};
use super::services::{ServiceAnswers, ServiceQuestions};
use super::{NO_COMPARISON, needs_judges, record_id};
use crate::commands::judge::decision_line;
use crate::judging::JudgingArgs;
use crate::suite_loading::{ChosenRubric, LoadingArgs, load_current_settings};

/// The flags of `jurist grade` that choose judges and decide how files are read.
#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
pub struct GradingFlags {
    #[command(flatten)]
    pub(crate) judging: JudgingArgs,
    #[command(flatten)]
    pub(crate) loading: LoadingArgs,
}

impl GradingFlags {
    /// Reads flags as a command line has them; the error is the sentence that the command prints.
    pub fn parse_flags(flags: &[String]) -> Result<Self, String> {
        Self::try_parse_from(flags).map_err(|error| {
            let text = error.to_string();
            let sentence = text.split("\n\n").next().unwrap_or_default().trim();
            sentence.strip_prefix("error: ").unwrap_or(sentence).to_owned()
        })
    }
}

/// A model of the calling program, by the name under which flags and files mention it.
#[derive(Debug, Clone)]
pub struct ProvidedModel {
    pub name: String,
    pub model: Arc<dyn LanguageModel>,
}

/// Calls that several graders share: one budget, cache, rate limit and recording.
#[derive(Debug, Clone)]
pub struct SharedModelClient {
    client: Arc<ModelClient>,
    messages: Arc<Mutex<Vec<String>>>,
}

impl SharedModelClient {
    /// By the flags and the settings of the project in which the program runs.
    pub fn open(
        flags: &GradingFlags,
        has_provided_models: bool,
        shared_budget: Option<Arc<dyn SharedBudget>>,
    ) -> Result<Self, String> {
        let settings = load_current_settings().map_err(|error| error.to_string())?;
        Self::with_settings(flags, &settings, has_provided_models, shared_budget)
            .map_err(|error| error.to_string())
    }

    fn with_settings(
        flags: &GradingFlags,
        settings: &ProjectSettings,
        has_provided_models: bool,
        shared_budget: Option<Arc<dyn SharedBudget>>,
    ) -> anyhow::Result<Self> {
        let messages: Arc<Mutex<Vec<String>>> = Arc::default();
        let sink = Arc::clone(&messages);
        let client = flags.judging.caller(settings)?.with_listener(move |notice| {
            let text = describe_notice(&notice);
            sink.lock().unwrap_or_else(PoisonError::into_inner).push(text);
        });
        let client = if has_provided_models {
            // Another function may have the same name, so its replies are not cached.
            client.with_cache(Cache::new(PathBuf::new()), Caching::Off)
        } else {
            client
        };
        let client = match shared_budget {
            Some(budget) => client.with_shared_budget(budget),
            None => client,
        };
        Ok(Self { client: Arc::new(client), messages })
    }
}

fn describe_notice(notice: &CallNotice) -> String {
    match notice {
        CallNotice::CircuitOpened { vendor, why } => {
            format!("{vendor} keeps failing and is left alone for now: {why}")
        }
        CallNotice::Retrying { vendor, why } => format!("calls to {vendor} fail and are made again: {why}"),
    }
}

/// Judges in addition to those of the flags.
#[derive(Debug, Clone, Default)]
pub struct JudgeOverrides {
    pub provided: Vec<ProvidedModel>,
    /// Without one, a grader has calls of its own.
    pub client: Option<SharedModelClient>,
    /// The budget that other processes share; not used with `client`, which has one of its own.
    pub shared_budget: Option<Arc<dyn SharedBudget>>,
    /// Draws from the judge, which vote.
    pub n_draws: Option<u32>,
    /// Seconds for one call.
    pub timeout: Option<f64>,
}

impl JudgeOverrides {
    fn apply(&self, judge: &Judge) -> Judge {
        let jury = self.n_draws.filter(|size| 1 < *size).map(|size| Jury { size, consensus: 0.51 });
        let panel = if self.n_draws.is_some() { Vec::new() } else { judge.panel.clone() };
        let jury = if self.n_draws.is_some() { jury } else { judge.jury };
        Judge { jury, panel, timeout: self.timeout.or(judge.timeout), ..judge.clone() }
    }

    fn build_resolver(&self, flags: &GradingFlags, chosen: &ChosenRubric) -> anyhow::Result<Arc<Resolver>> {
        let resolver = flags.judging.build_resolver(&chosen.settings)?;
        let with_own = self
            .provided
            .iter()
            .fold(resolver, |resolver, own| resolver.with_model(&own.name, Arc::clone(&own.model)));
        Ok(Arc::new(with_own))
    }
}

/// Everything that grades records one by one.
#[derive(Debug)]
pub struct RecordGrader {
    method: RecordGradingMethod,
    notices: RwLock<FieldNotices>,
    messages: Arc<Mutex<Vec<String>>>,
}

enum RecordGradingMethod {
    Checks { checks: RecordChecks, text_services: Option<Arc<TextServices>> },
    Judges { context: JudgingContext, shape: LineShape },
    External { check: Box<ExternalCheck>, programs: Arc<CheckPrograms> },
}

impl std::fmt::Debug for RecordGradingMethod {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Checks { .. } => "Checks",
            Self::Judges { .. } => "Judges",
            Self::External { .. } => "External",
        })
    }
}

/// What the calls of a grader came to.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct GradingCost {
    /// In dollars; `None` where the price of a model is not known.
    pub dollars: Option<f64>,
    pub requests: u64,
    pub from_cache: u64,
}

impl RecordGrader {
    /// Grades by a rubric: a verdict for each record.
    pub(crate) async fn for_rubric(
        chosen: &ChosenRubric,
        flags: &GradingFlags,
        overrides: &JudgeOverrides,
    ) -> anyhow::Result<Self> {
        anyhow::ensure!(chosen.rubric.max_scores().next().is_none(), NO_COMPARISON);
        if needs_judges(&chosen.rubric) {
            return Self::with_judges(chosen, flags, overrides, LineShape::Verdict).await;
        }
        flags.judging.permit_embedding_servers(chosen)?;
        let checks = RecordChecks::of(&chosen.rubric)?;
        Self::with_checks(checks, flags)
    }

    /// Grades by one check or recipe: score, value and comment for each record.
    pub async fn for_evaluator(
        name: &str,
        params: &Json,
        flags: &GradingFlags,
        overrides: &JudgeOverrides,
    ) -> anyhow::Result<Self> {
        anyhow::ensure!(params.is_object(), "the parameters of `{name}` must be a mapping");
        let settings = load_current_settings()?;
        if is_recipe(name) {
            let chosen = recipe_rubric(name, params, &settings).map_err(anyhow::Error::msg)?;
            if overrides.provided.is_empty() {
                ensure_judge(&flags.judging, name, &chosen).map_err(anyhow::Error::msg)?;
            }
            return Self::with_judges(&chosen, flags, overrides, LineShape::Finding).await;
        }
        match CompiledCheck::new(name, params)? {
            CompiledCheck::Local(check) => Self::with_checks(RecordChecks::One(check), flags),
            CompiledCheck::External(check) => {
                permit_check(flags.judging.allow_commands, &check)?;
                let resolver = flags.judging.resolver(&settings)?;
                let project = SuiteFiles::of(Path::new("records"), flags.loading.options().outside);
                let programs = flags.judging.check_programs(&resolver, project);
                let notices = FieldNotices::new(CASE_FIELDS.map(str::to_owned).into());
                Ok(Self::new(RecordGradingMethod::External { check: Box::new(check), programs }, notices))
            }
            CompiledCheck::MaxScore(_) => anyhow::bail!(NO_COMPARISON),
        }
    }

    fn new(method: RecordGradingMethod, notices: FieldNotices) -> Self {
        Self { method, notices: RwLock::new(notices), messages: Arc::default() }
    }

    fn with_checks(checks: RecordChecks, flags: &GradingFlags) -> anyhow::Result<Self> {
        let text_services = if checks.asks_services() {
            let resolver = flags.judging.resolver(&load_current_settings()?)?;
            Some(flags.judging.text_services(&resolver))
        } else {
            None
        };
        Ok(Self::new(RecordGradingMethod::Checks { checks, text_services }, FieldNotices::default()))
    }

    async fn with_judges(
        chosen: &ChosenRubric,
        flags: &GradingFlags,
        overrides: &JudgeOverrides,
        shape: LineShape,
    ) -> anyhow::Result<Self> {
        anyhow::ensure!(!flags.judging.batch, "batches are for `jurist grade --batch`");
        let chosen = ChosenRubric { judge: overrides.apply(&chosen.judge), ..chosen.clone() };
        let resolver = overrides.build_resolver(flags, &chosen)?;
        let shared = match &overrides.client {
            Some(client) => client.clone(),
            None => {
                let has_provided_models = !overrides.provided.is_empty();
                let shared_budget = overrides.shared_budget.clone();
                SharedModelClient::with_settings(flags, &chosen.settings, has_provided_models, shared_budget)?
            }
        };
        let prepared = JudgingContext::prepare(&flags.judging, &chosen, resolver, shared.client).await?;
        let method = RecordGradingMethod::Judges { context: prepared.context, shape };
        Ok(Self { messages: shared.messages, ..Self::new(method, prepared.notices) })
    }

    /// Whether a record is graded without waiting for anything.
    pub fn is_immediate(&self) -> bool {
        matches!(self.method, RecordGradingMethod::Checks { text_services: None, .. })
    }

    /// The line of JSON that `jurist grade` prints about a record; `place` names it where it has no id.
    pub async fn grade(&self, place: &str, record: Json) -> Result<String, String> {
        match &self.method {
            RecordGradingMethod::Checks { checks, text_services } => {
                let answers = match text_services {
                    Some(text_services) => ask_services(checks, &record, text_services).await?,
                    None => ServiceAnswers::default(),
                };
                self.check_record(place, record, checks, &answers)
            }
            RecordGradingMethod::Judges { context, shape } => {
                let judged = context.judge_parsed(place, record).await?;
                self.note_fields(&RecordFields::read(&judged.record));
                Ok(match shape {
                    LineShape::Verdict => decision_line(&judged.id, &judged.decision),
                    LineShape::Finding => evaluation_line(&judged),
                }
                .to_string())
            }
            RecordGradingMethod::External { check, programs } => {
                let decided = decide_external_record(place, record, check, programs).await?;
                self.note_fields(&RecordFields::read(&decided.record));
                Ok(decided.line.to_string())
            }
        }
    }

    /// The same without waiting; only if [`Self::is_immediate`] is true.
    pub fn grade_at_once(&self, place: &str, record: Json) -> Result<String, String> {
        match &self.method {
            RecordGradingMethod::Checks { checks, .. } => {
                self.check_record(place, record, checks, &ServiceAnswers::default())
            }
            _ => Err("a judge or a program decides about this record".to_owned()),
        }
    }

    fn check_record(
        &self,
        place: &str,
        record: Json,
        checks: &RecordChecks,
        answers: &ServiceAnswers,
    ) -> Result<String, String> {
        let mut new_fields = SeenFields::default();
        let graded = {
            let notices = self.notices.read().unwrap_or_else(PoisonError::into_inner);
            let runner = CheckRunner { answers, watch: None };
            grade_parsed_record(place, record, checks, runner, &notices, &mut new_fields)?
        };
        self.keep_notices(new_fields);
        match graded {
            RecordGrading::Done(graded) => Ok(graded.line),
            RecordGrading::Recipe(_) => Err("a judge decides about this record".to_owned()),
        }
    }

    fn note_fields(&self, fields: &RecordFields<'_>) {
        let mut new_fields = SeenFields::default();
        self.notices.read().unwrap_or_else(PoisonError::into_inner).note_fields(fields, &mut new_fields);
        self.keep_notices(new_fields);
    }

    fn keep_notices(&self, new_fields: SeenFields) {
        if !new_fields.is_empty() {
            let new = self.notices.write().unwrap_or_else(PoisonError::into_inner).take_messages(new_fields);
            let texts = new.into_iter().map(|notice| notice.text);
            self.messages.lock().unwrap_or_else(PoisonError::into_inner).extend(texts);
        }
    }

    /// What deserves a word since the last time: fields that nothing uses, vendors that fail.
    pub fn take_messages(&self) -> Vec<String> {
        std::mem::take(&mut *self.messages.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn caller(&self) -> Option<&ModelClient> {
        if let RecordGradingMethod::Judges { context, .. } = &self.method {
            Some(context.client())
        } else {
            None
        }
    }

    pub fn cost(&self) -> GradingCost {
        let Some(caller) = self.caller() else {
            return GradingCost { dollars: Some(0.0), ..GradingCost::default() };
        };
        let read = caller.meter.read();
        GradingCost {
            dollars: caller.budget.spent_amount().map(|usd| usd.nanos() as f64 / 1e9),
            requests: read.requests,
            from_cache: read.from_cache,
        }
    }

    /// Puts a recording in its final order, if there is one.
    pub fn finish(&self) -> Result<(), String> {
        match self.caller() {
            Some(caller) => caller.tape.finish().map(|_| ()).map_err(|error| error.to_string()),
            None => Ok(()),
        }
    }
}

/// One check that compares meanings, with directions of texts from the calling program.
pub fn run_embedding_check(
    params: &Json,
    record: &Json,
    embed: impl FnOnce(&[String]) -> Result<Vec<Vec<f32>>, String>,
) -> Result<String, String> {
    let check = Check::new("embedding_similarity", params).map_err(|error| error.to_string())?;
    let fields = RecordFields::read(record);
    let subject = CheckSubject::from_fields(&fields).map_err(|error| error.to_string())?;
    let texts: Vec<String> = check.texts(&subject).into_iter().collect::<BTreeSet<_>>().into_iter().collect();
    let made = if texts.is_empty() { Vec::new() } else { embed(&texts)? };
    if made.len() != texts.len() {
        return Err(format!("the embeddings of {} texts are {} in number", texts.len(), made.len()));
    }
    let model = check.embedding_model().cloned().unwrap_or_default();
    let mut answers = ServiceAnswers::default();
    answers.add_embeddings(&model, texts, made);
    let runner = CheckRunner { answers: &answers, watch: None };
    Ok(build_check_line(&record_id(&fields), None, &runner.run(&check, &subject)).line)
}

async fn ask_services(
    checks: &RecordChecks,
    record: &Json,
    services: &TextServices,
) -> Result<ServiceAnswers, String> {
    let fields = RecordFields::read(record);
    let subject = CheckSubject::from_fields(&fields).map_err(|error| error.to_string())?;
    let mut questions = ServiceQuestions::default();
    checks.all_checks().iter().for_each(|check| questions.add(check, &subject));
    questions.ask(services).await.map_err(|error| error.to_string())
}

/// The judge results in the form of a check's result, with the grades behind them.
fn evaluation_line(judged: &JudgedRecord) -> Json {
    let mut line = finding_line(judged, None);
    let opinion = judged.decision.opinions.first();
    line["status"] = json!(judged.decision.status);
    line["grades"] = json!(opinion.map(|opinion| &opinion.grades));
    line["steps"] = json!(opinion.map(|opinion| &opinion.verdict.path));
    line
}
