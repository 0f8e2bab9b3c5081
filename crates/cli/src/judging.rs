use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use jurist_core::dialect::{DeferPolicy, ProjectSettings, RateLimitSettings};
use jurist_core::grade::Usd;
use jurist_core::plan::{CallRange, estimate_judge_calls};
use jurist_core::report::without_traceback;
use jurist_core::rubric::Rubric;
use jurist_core::suite::{FilledVariables, Judge, McpServer};
use jurist_engine::agent::Agents;
use jurist_engine::batch::BatchClient;
use jurist_engine::call::{Cache, Caching, CallNotice, ModelClient, VendorRateLimits, unknown_price_error};
use jurist_engine::embed::TextServices;
use jurist_engine::judge::{CheckPrograms, ResolvedJudges, permit_check};
use jurist_engine::load::{self, SuiteFiles};
use jurist_engine::model::resolve::Resolver;
use jurist_engine::permission::{NotPermitted, permit_addresses, require_permission};
use jurist_engine::prepare::{RunRequest, RunResources, apply_on_error};
use jurist_engine::record::{Cassette, Recorder, Tape};
use jurist_engine::trust::{TrustRule, decide_trust, require_trust};
use jurist_server::{NewRun, ReplyCaching};

use crate::render;
use crate::suite_loading::ChosenRubric;

/// Who judges, and within what bounds; the same for every command that asks a model.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Judge")]
pub struct JudgingArgs {
    /// Judge model, such as claude-sonnet-4-5 or ollama/qwen3; `auto` uses the first one found on this
    /// machine
    #[arg(long, value_name = "MODEL")]
    judge: Option<String>,
    /// Base URL of the model's API, if not the vendor's
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// Spend at most this amount in US dollars
    #[arg(long, value_name = "DOLLARS", value_parser = parse_dollars)]
    max_cost: Option<Usd>,
    /// Maximum number of concurrent cases, and of concurrent calls per vendor
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    concurrency: Option<u32>,
    /// Do not use the reply cache
    #[arg(long, conflicts_with = "refresh")]
    no_cache: bool,
    /// Ignore cached replies and store the new ones
    #[arg(long)]
    refresh: bool,
    /// Record every call to this file (a cassette)
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    record: Option<PathBuf>,
    /// Replay calls from this file; needs no API key
    #[arg(long, value_name = "FILE")]
    replay: Option<PathBuf>,
    /// Allow the programs, servers and environment variables that a file names
    #[arg(long)]
    pub allow_commands: bool,
    /// Use all settings of .jurist/config.yaml (addresses, variables, programs) without `jurist trust`
    #[arg(long)]
    trust_settings: bool,
    /// Use the vendor's batch API, at half the price, and wait for the results
    #[arg(long, conflicts_with = "replay")]
    pub batch: bool,
    /// Treat cases that could not be graded (no API key, server or annotator) as errors; for CI
    #[arg(long)]
    no_defer: bool,
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
}

pub fn parse_dollars(text: &str) -> Result<Usd, String> {
    let bad = || "an amount of dollars such as 0.5".to_owned();
    let amount: f64 = text.trim_start_matches('$').parse().map_err(|_| bad())?;
    if (0.0..9e6).contains(&amount) { Ok(Usd::from_nanos((amount * 1e9).round() as i64)) } else { Err(bad()) }
}

impl JudgingArgs {
    /// For commands that make no sense of a recording.
    pub fn refuse_tape(&self, why: &str) -> anyhow::Result<()> {
        anyhow::ensure!(self.record.is_none() && self.replay.is_none(), "{why}");
        Ok(())
    }

    /// For commands that would begin a recording again and again.
    pub fn refuse_recording(&self, why: &str) -> anyhow::Result<()> {
        anyhow::ensure!(self.record.is_none(), "{why}");
        Ok(())
    }

    /// Writes the flags into a request to a server; what only makes sense here is refused.
    pub fn apply_to_new_run(&self, new_run: &mut NewRun) -> anyhow::Result<()> {
        self.refuse_tape("--record and --replay work only for runs on this machine")?;
        anyhow::ensure!(
            self.base_url.is_none() && self.concurrency.is_none() && !self.batch && !self.allow_commands,
            "--base-url, --concurrency, --batch and --allow-commands work only for runs on this machine; the server has its own settings"
        );
        new_run.judge.clone_from(&self.judge);
        new_run.max_cost = self.max_cost.map(|usd| usd.nanos() as f64 / 1e9);
        new_run.seed = self.seed;
        new_run.replies = match (self.no_cache, self.refresh) {
            (true, _) => ReplyCaching::Off,
            (_, true) => ReplyCaching::Refresh,
            _ => ReplyCaching::Use,
        };
        Ok(())
    }

    /// The judge that the flags name.
    pub fn run_request(&self) -> RunRequest {
        RunRequest {
            judge_model: self.judge.clone(),
            base_url: self.base_url.clone(),
            seed: self.seed,
            ..RunRequest::default()
        }
    }

    /// The same with the judge of cases that name none.
    pub async fn complete_run_request(&self, resolver: &Resolver) -> anyhow::Result<RunRequest> {
        let flags = self.run_request();
        let judge = self.resolve_judge_model(flags.judge(&Judge::default()), resolver).await?;
        Ok(RunRequest { default_judge: judge.model, ..flags })
    }

    /// The judge that a file states, as the flags have it.
    pub fn judge(&self, stated: &Judge) -> Judge {
        self.run_request().judge(stated)
    }

    /// What all units of a run share.
    pub fn run_resources(
        &self,
        resolver: Arc<Resolver>,
        servers: BTreeMap<String, McpServer>,
        project: SuiteFiles,
    ) -> RunResources {
        RunResources {
            text_services: self.text_services(&resolver),
            programs: self.check_programs(&resolver, project.clone()),
            agents: Arc::new(Agents::new(
                Arc::clone(&resolver),
                servers,
                project,
                self.base_url.clone(),
                self.allow_commands,
            )),
            resolver,
        }
    }

    pub fn resolver(&self, settings: &ProjectSettings) -> anyhow::Result<Arc<Resolver>> {
        Ok(Arc::new(self.build_resolver(settings)?))
    }

    pub fn build_resolver(&self, settings: &ProjectSettings) -> anyhow::Result<Resolver> {
        let settings = decide_trust(settings.clone(), TrustRule::from_flag(self.trust_settings));
        let may_send = match require_trust(&settings) {
            Ok(()) => true,
            // Replayed calls send nothing. Embeddings and moderation are not replayed, so they are refused.
            Err(_) if self.replay.is_some() => false,
            Err(error) => return Err(error.into()),
        };
        let resolver = Resolver::new(settings, load::variable)?;
        let resolver = if may_send { resolver } else { resolver.without_requests() };
        Ok(resolver.with_trusted_address(self.base_url.as_deref()))
    }

    /// Whether what was not graded is an error: by the flag, or by `defer: error` in the settings.
    pub fn no_defer(&self, settings: &ProjectSettings) -> bool {
        self.no_defer || settings.defer == DeferPolicy::Error
    }

    /// The judge, found on this machine or in the recording where that is asked for.
    pub async fn resolve_judge_model(&self, judge: Judge, resolver: &Resolver) -> anyhow::Result<Judge> {
        let named = judge.model.clone().or_else(|| load::variable("JURIST_JUDGE"));
        let model = match (named.as_deref(), &self.replay) {
            (Some("auto"), _) => Some(resolver.local().await?),
            (None, Some(path)) => Cassette::load(path)?.models().first().map(|model| (*model).to_owned()),
            _ => judge.model.clone(),
        };
        Ok(Judge { model, ..judge })
    }

    /// The rubric with the settings of this command, and its judges.
    pub async fn prepare_judges(
        &self,
        chosen: &ChosenRubric,
    ) -> anyhow::Result<(Arc<Rubric>, ResolvedJudges)> {
        self.prepare_judges_with(chosen, self.resolver(&chosen.settings)?).await
    }

    /// The same with the caller's resolver.
    pub async fn prepare_judges_with(
        &self,
        chosen: &ChosenRubric,
        resolver: Arc<Resolver>,
    ) -> anyhow::Result<(Arc<Rubric>, ResolvedJudges)> {
        let judge = self.resolve_judge_model(self.judge(&chosen.judge), &resolver).await?;
        self.consent(&judge, &chosen.judges)?;
        self.permit_judge_addresses(&resolver, &chosen.variables, &judge, &chosen.judges)?;
        self.permit_embedding_addresses(&resolver, &chosen.variables, &chosen.rubric)?;
        let mut judges = ResolvedJudges::new(
            &resolver,
            &judge,
            &chosen.judges,
            self.seed,
            &self.text_services(&resolver),
        )?;
        self.check_prices(&judges, estimate_judge_calls(&chosen.rubric, &judge))?;
        self.permit_checks(&chosen.rubric)?;
        judges.programs = Some(self.check_programs(&resolver, chosen.project.clone()));
        Ok((apply_on_error(&chosen.rubric, &judge), judges))
    }

    /// Fails for a model without a known price under `--max-cost`, if it may be called; a recording costs nothing.
    pub fn check_prices(&self, judges: &ResolvedJudges, calls: CallRange) -> anyhow::Result<()> {
        let is_paid = self.max_cost.is_some() && self.replay.is_none() && 0 < calls.most;
        match judges.unpriced_model().filter(|_| is_paid) {
            Some(model) => Err(unknown_price_error(model).into()),
            None => Ok(()),
        }
    }

    /// Whether anything names a judge, a recording included.
    pub fn names_judge(&self, configured: &Judge, settings: &ProjectSettings) -> anyhow::Result<bool> {
        Ok(self.replay.is_some() || self.resolver(settings)?.names_judge(&self.judge(configured)))
    }

    /// A program that a file names is not run unless a person agrees: files may come from strangers.
    pub fn consent(&self, judge: &Judge, named: &BTreeMap<String, Judge>) -> anyhow::Result<()> {
        let by_person = |text: &str| self.judge.as_deref() == Some(text);
        let of_judge = |judge: &Judge| judge.models().cloned().collect::<Vec<_>>();
        let mut models: Vec<String> = of_judge(judge);
        models.extend(named.values().flat_map(of_judge));
        let program = models.iter().find(|model| model.starts_with("command:") && !by_person(model));
        match program {
            Some(program) => {
                let is_allowed = self.allow_commands || self.replay.is_some();
                let program = program.trim_start_matches("command:");
                Ok(require_permission(is_allowed, format!("the program `{program}` as judge"))?)
            }
            None => Ok(()),
        }
    }

    /// Judges at addresses that only the file names get variables of the environment only if a person agrees.
    pub fn permit_judge_addresses(
        &self,
        resolver: &Resolver,
        variables: &FilledVariables,
        judge: &Judge,
        named: &BTreeMap<String, Judge>,
    ) -> Result<(), NotPermitted> {
        let is_allowed = self.allow_commands || self.replay.is_some();
        let addresses = judge.addresses().chain(named.values().flat_map(Judge::addresses));
        permit_addresses(is_allowed, resolver, variables, addresses.map(str::to_owned))
    }

    /// The same for the embedding models of a rubric's checks.
    pub fn permit_embedding_addresses(
        &self,
        resolver: &Resolver,
        variables: &FilledVariables,
        rubric: &Rubric,
    ) -> Result<(), NotPermitted> {
        let is_allowed = self.allow_commands || self.replay.is_some();
        let addresses = rubric.embedding_models().filter_map(|model| model.base_url);
        permit_addresses(is_allowed, resolver, variables, addresses)
    }

    /// The same for a rubric that no judge is asked about; settings are not needed where it names no address.
    pub fn permit_embedding_servers(&self, chosen: &ChosenRubric) -> anyhow::Result<()> {
        if chosen.rubric.embedding_models().any(|model| model.base_url.is_some()) {
            let resolver = self.resolver(&chosen.settings)?;
            self.permit_embedding_addresses(&resolver, &chosen.variables, &chosen.rubric)?;
        }
        Ok(())
    }

    /// Programs and services that a rubric names run only if a person agrees.
    pub fn permit_checks(&self, rubric: &Rubric) -> anyhow::Result<()> {
        for it in rubric.external_checks() {
            permit_check(self.allow_commands, &it.check).with_context(|| format!("`{}`", it.criterion.id))?;
        }
        Ok(())
    }

    /// What runs the programs and asks the services that decide checks.
    pub fn check_programs(&self, resolver: &Arc<Resolver>, project: SuiteFiles) -> Arc<CheckPrograms> {
        Arc::new(CheckPrograms::new(Arc::clone(resolver), project, self.allow_commands))
    }

    /// Embeddings for checks that compare meanings.
    pub fn text_services(&self, resolver: &Arc<Resolver>) -> Arc<TextServices> {
        Arc::new(TextServices::new(Arc::clone(resolver), self.base_url.clone()))
    }

    pub fn caller(&self, settings: &ProjectSettings) -> anyhow::Result<ModelClient> {
        let tape = match (&self.record, &self.replay) {
            (Some(path), _) => Tape::Record(Recorder::new(path)?),
            (_, Some(path)) => Tape::Replay(Cassette::load(path)?),
            _ => Tape::Off,
        };
        let limits = self.rate_limits(settings);
        let caching = match (self.no_cache, self.refresh) {
            (true, _) => Caching::Off,
            (_, true) => Caching::Refresh,
            _ => Caching::Use,
        };
        let caller = ModelClient::default().with_cap(self.max_cost).with_limits(limits).with_tape(tape);
        let caller = caller.with_listener(|notice| match notice {
            CallNotice::CircuitOpened { vendor, why } => {
                render::print_warning(&format!(
                    "{vendor} keeps failing; calls to it are paused: {}",
                    without_traceback(&why)
                ));
            }
            CallNotice::Retrying { vendor, why } => {
                render::print_warning(&format!(
                    "calls to {vendor} fail and are retried: {}",
                    without_traceback(&why)
                ));
            }
        });
        let caller = if self.batch { caller.with_batches() } else { caller };
        Ok(match cache() {
            Some(cache) => caller.with_cache(cache, caching),
            None => caller,
        })
    }

    /// Sends what waits for a batch, if anything does, and waits for the replies.
    pub async fn run_batch(&self, caller: &ModelClient) -> anyhow::Result<BatchOutcome> {
        let Some(batches) = &caller.batches else { return Ok(BatchOutcome::Nothing) };
        let n_wanted = batches.n_wanted();
        if n_wanted == 0 {
            return Ok(BatchOutcome::Nothing);
        }
        let folder = load::cache_folder().context("batches need a cache folder; set JURIST_CACHE or HOME")?;
        render::print_terminal_summary(&format!("sending {n_wanted} requests as a batch"));
        let poll = load::variable("JURIST_BATCH_POLL_MS")
            .and_then(|variable| variable.parse().ok())
            .unwrap_or(10_000);
        let progress = std::sync::Mutex::new(render::ProgressLine::new());
        let listener = |batch_progress: jurist_engine::batch::BatchProgress| {
            let line = || {
                format!(
                    "batch {}: {}, {} of {}",
                    batch_progress.id, batch_progress.status, batch_progress.done, batch_progress.total
                )
            };
            progress.lock().unwrap_or_else(std::sync::PoisonError::into_inner).show(line);
        };
        let (folder, poll) = (folder.join("batches"), std::time::Duration::from_millis(poll));
        let batch_client = BatchClient { folder: &folder, poll, listener: &listener };
        if let Err(error) = caller.run_batches(&batch_client).await {
            render::print_error(&format!("the batch failed: {error}"));
            return Ok(BatchOutcome::Failed);
        }
        Ok(BatchOutcome::Done)
    }

    /// Number of concurrent model calls; callers use it to size their worker pools.
    pub fn width(&self, settings: &ProjectSettings) -> usize {
        self.rate_limits(settings).concurrency
    }

    /// The limits of the settings, with `--concurrency` in place of theirs.
    fn rate_limits(&self, settings: &ProjectSettings) -> VendorRateLimits {
        let settings = decide_trust(settings.clone(), TrustRule::from_flag(self.trust_settings));
        let concurrency = self.concurrency.or(settings.limits.concurrency);
        RateLimitSettings { concurrency, ..settings.limits }.into()
    }

    pub fn finish(&self, caller: &ModelClient) -> anyhow::Result<()> {
        if let (Some(cap), Some(spent)) = (self.max_cost, caller.budget.spent_amount())
            && cap < spent
        {
            render::print_warning(&format!(
                "{spent} were spent, more than --max-cost {cap}: what an agent reports is known only after it has run"
            ));
        }
        if let Some(folder) = caller.lossy_cache() {
            render::print_warning(&format!(
                "cannot write the reply cache `{}`; these replies will be paid for again",
                folder.display()
            ));
        }
        if let Some(path) = &self.record {
            let n_calls = caller.tape.finish()?;
            render::print_terminal_summary(&format!("{n_calls} calls recorded in {}", path.display()));
        }
        Ok(())
    }
}

/// The result of sending waiting requests as a batch.
pub enum BatchOutcome {
    Nothing,
    Done,
    Failed,
}

/// The folder of cached replies.
pub fn cache() -> Option<Cache> {
    load::cache_folder().map(|cache_folder| Cache::new(cache_folder.join("replies")))
}
