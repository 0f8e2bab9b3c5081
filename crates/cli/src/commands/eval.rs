use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use jurist_core::candidate::Candidate;
use jurist_core::grade::{Status, Usd};
use jurist_core::plan::{CallRange, Plan, Select, Unit, plan};
use jurist_core::quantity::plural;
use jurist_core::run::Packed;
use jurist_core::suite::{Case, Judge, Suite};
use jurist_engine::agent::Agents;
use jurist_engine::bundle::{Bundle, Reading};
use jurist_engine::embed::Embedders;
use jurist_engine::execute::jobs;
use jurist_engine::judge::{Bench, Expected, expected};
use jurist_engine::load::Project;
use jurist_engine::model::resolve::Resolver;
use jurist_server::{NewRun, Shard};

use super::judging::wait_for;
use super::kept::{Resumed, Runs};
use super::remote::Server;
use super::running::{Ready, Running};
use super::{Ended, Loading, suite_and_reading};

/// Grade a suite: every case before its checks and judges, a verdict for each
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist eval suite.yaml --explain            what would be asked, and what it may cost; spends nothing
  jurist eval suite.yaml --max-cost 2
  jurist eval suite.yaml --reporter junit=results.xml --reporter md=summary.md
  jurist eval suite.yaml --replay calls.jsonl in CI, without a key
  jurist eval suite.yaml --resume latest      go on where a run stopped
  jurist eval suite.yaml --only-failed latest
  jurist eval suite.yaml --server https://jurist.example.org
                                              let a server's workers grade, and follow them
  jurist eval suite.yaml --allow-commands     run the agents and servers that the file names

A case without an answer in the file is run: its targets, or a model with the tools of its MCP server.
What cannot be run, for want of a key or a server, is deferred with the reason.
Exit codes: 0 passed or deferred, 1 a case failed, 2 bad file, 3 a grader broke, 5 stopped by a budget, 130 interrupted.")]
pub struct Args {
    /// Suites, in any dialect
    #[arg(value_name = "FILE", required_unless_present = "config")]
    files: Vec<PathBuf>,
    /// The same as FILE
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print the plan and spend nothing
    #[arg(long)]
    explain: bool,
    /// Only cases with this in their name
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Only cases with this tag; may be given several times
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// Only the i-th of n parts, such as 2/5
    #[arg(long, value_name = "I/N", value_parser = shard)]
    shard: Option<(u32, u32)>,
    /// Only the cases that did not pass in this run
    #[arg(long, value_name = "RUN")]
    only_failed: Option<String>,
    /// Go on with a run that was stopped
    #[arg(long, value_name = "RUN", conflicts_with = "only_failed")]
    resume: Option<String>,
    /// The model that answers where a case has no answer, no target and no agent of its own
    #[arg(long, value_name = "MODEL")]
    agent: Option<String>,
    #[command(flatten)]
    server: Server,
    #[command(flatten)]
    running: Running,
    #[command(flatten)]
    loading: Loading,
}

fn shard(text: &str) -> Result<(u32, u32), String> {
    let parts = text.split_once('/').and_then(|(part, n)| Some((part.parse().ok()?, n.parse().ok()?)));
    let right = |(part, n): &(u32, u32)| 1 <= *part && part <= n;
    parts.filter(right).ok_or_else(|| "a part of all, such as 2/5".to_owned())
}

pub fn run(args: &Args) -> anyhow::Result<Ended> {
    wait_for(graded(args))
}

async fn graded(args: &Args) -> anyhow::Result<Ended> {
    let runs = Runs::default();
    let mut select =
        Select { filter: args.filter.clone(), tags: args.tag.clone(), shard: args.shard, names: None };
    if let Some(name) = &args.only_failed {
        let before = runs.load(name).await?;
        let failed = before.results.iter().filter(|it| it.verdict.status != Status::Pass);
        select.names = Some(failed.map(|it| it.case).collect());
    }
    let n_files = args.files.len() + usize::from(args.config.is_some());
    anyhow::ensure!(
        n_files < 2 || (!args.running.has_reporters() && args.resume.is_none()),
        "--reporter and --resume are for one suite at a time; `jurist report` writes stored runs"
    );
    let (mut ended, mut wrong) = (Ended::Passed, false);
    for file in args.files.iter().chain(&args.config) {
        let Some((mut suite, settings, reading)) = suite_and_reading(file, args.loading.options())? else {
            wrong = true;
            continue;
        };
        if args.server.is_named() && !args.explain {
            let sent = Sent { suite: &suite, settings: &settings, reading: &reading, file, select: &select };
            ended = worse(ended, sent.evaluated(args, &runs).await?);
            continue;
        }
        let judging = &args.running.judging;
        let resolver = judging.resolver(&settings)?;
        let flags = judging.judge(&Judge::default());
        let default_model = judging.found(flags.clone(), &resolver).await?.model;
        for case in &mut suite.cases {
            if let Some(on_error) = case.judge.on_error {
                case.rubric = Arc::new(case.rubric.with_on_error(on_error));
            }
            let named = args.agent.clone().or(case.agent.model.take());
            // A live run without a model of its own is the judge's; those of a matrix are told apart later.
            let is_one = case.matrix.models.is_empty() || flags.model.is_some();
            let judge = || judging.judge(&case.judge).model.or_else(|| default_model.clone());
            let judge = case.server.as_ref().filter(|_| is_one).and_then(|_| judge());
            case.agent.model = named.or(judge);
        }
        let plan = plan(&suite, &select).with_context(|| format!("`{}`", file.display()))?;
        // The plan has everything of them; rows of data need not be held twice.
        suite.cases = Vec::new();
        let embedders = judging.embedders(&resolver);
        let suite = Loaded { suite, settings, resolver, embedders, default_model, file };
        ended = worse(
            ended,
            if args.explain {
                explain(args, &suite, &plan)?
            } else {
                evaluated(args, &runs, &suite, plan).await?
            },
        );
        if ended == Ended::Interrupted {
            return Ok(ended);
        }
    }
    Ok(if wrong { Ended::BadInput } else { ended })
}

/// A suite that others grade.
struct Sent<'a> {
    suite: &'a Suite,
    settings: &'a jurist_core::dialect::Settings,
    reading: &'a Reading,
    file: &'a Path,
    select: &'a Select,
}

impl Sent<'_> {
    async fn evaluated(&self, args: &Args, runs: &Runs) -> anyhow::Result<Ended> {
        let told = || format!("`{}`", self.file.display());
        anyhow::ensure!(args.resume.is_none(), "--resume is for runs on this machine");
        args.running.refuse_local()?;
        let plan = plan(self.suite, self.select).with_context(told)?;
        let project = Project::of(self.file, args.loading.options().outside);
        let bundle = Bundle::new(self.reading, &project, args.loading.dialect, &plan).with_context(told)?;
        let mut asked = NewRun::of(bundle);
        args.running.judging.tell(&mut asked)?;
        asked.filter.clone_from(&self.select.filter);
        asked.tags.clone_from(&self.select.tags);
        asked.shard = self.select.shard.map(|(part, of)| Shard { part, of });
        asked.names.clone_from(&self.select.names);
        asked.agent.clone_from(&args.agent);
        asked.retry_errors = args.running.retry_errors();
        let resolver = args.running.judging.resolver(self.settings)?;
        let remote = args.server.remote(resolver.client())?;
        remote.evaluated(&args.running, runs, &asked).await
    }
}

/// A suite with what decides who judges it.
struct Loaded<'a> {
    suite: Suite,
    settings: jurist_core::dialect::Settings,
    resolver: Arc<Resolver>,
    embedders: Arc<Embedders>,
    /// Who judges where a case names nobody: found on this machine, or in a recording.
    default_model: Option<String>,
    file: &'a Path,
}

impl Loaded<'_> {
    /// Benches by what they are made from; many units share one.
    fn bench(
        &self,
        args: &Args,
        unit: &Unit,
        made: &mut BTreeMap<String, Arc<Bench>>,
    ) -> anyhow::Result<Arc<Bench>> {
        let mut judge = args.running.judging.judge(&unit.cell.judge());
        if judge.model.as_deref().is_none_or(|it| it == "auto") {
            judge.model.clone_from(&self.default_model);
        }
        args.running.judging.consent(&judge, &self.suite.judges)?;
        let key = format!("{judge:?} {}", unit.trial);
        if let Some(bench) = made.get(&key) {
            return Ok(Arc::clone(bench));
        }
        let mut bench = Bench::new(
            &self.resolver,
            &judge,
            &self.suite.judges,
            args.running.judging.seed,
            &self.embedders,
        )?;
        bench.transcript = true;
        // Trials are independent draws.
        for member in &mut bench.members {
            member.draw += (unit.trial - 1) * 1000;
        }
        let bench = Arc::new(bench);
        made.insert(key, Arc::clone(&bench));
        Ok(bench)
    }
}

/// How several files end is how the worst of them does.
fn worse(a: Ended, b: Ended) -> Ended {
    let rank = |it: &Ended| match it {
        Ended::Passed => 0,
        Ended::Incomplete => 1,
        Ended::OverBudget => 2,
        Ended::Failed => 3,
        Ended::BadInput => 4,
        Ended::Interrupted => 5,
    };
    if rank(&a) < rank(&b) { b } else { a }
}

/// The plan, case by case: what is graded, by whom, in how many calls, for how much.
fn explain(args: &Args, loaded: &Loaded<'_>, plan: &Plan) -> anyhow::Result<Ended> {
    let mut out = anstream::stdout();
    let (mut sum, mut least_cost, mut most_cost, mut made) =
        (CallRange::default(), Some(0.0), Some(0.0), BTreeMap::new());
    let mut most_tokens = 0.0;
    writeln!(out, "\x1b[1m{}\x1b[0m", loaded.file.display())?;
    for unit in &plan.units {
        let bench = loaded.bench(args, unit, &mut made)?;
        let names: Vec<&str> = bench.members.iter().map(|it| it.line.name.as_str()).collect();
        let judges = if unit.calls.most == 0 { "checks alone".to_owned() } else { distinct(&names) };
        let calls = told_range(unit.calls);
        let case = unit.cell.case().expect("it was filled when it was planned");
        let Expected { tokens, cost } = expected(&bench, size(&case.candidate), unit.calls);
        most_tokens += tokens;
        let told = match cost {
            Some((least, most)) => told_cost(least, most),
            None => "price not known".to_owned(),
        };
        writeln!(out, "  {}", unit.name)?;
        writeln!(
            out,
            "      {} · rubric {} · {judges} · {calls} · {told}",
            source(&case),
            case.rubric.version().short()
        )?;
        sum = CallRange { least: sum.least + unit.calls.least, most: sum.most + unit.calls.most };
        let add = |sum: Option<f64>, it: Option<f64>| sum.zip(it).map(|(sum, it)| sum + it);
        (least_cost, most_cost) = (add(least_cost, cost.map(|it| it.0)), add(most_cost, cost.map(|it| it.1)));
    }
    let cost = least_cost
        .zip(most_cost)
        .map_or("price not known".to_owned(), |(least, most)| told_cost(least, most));
    writeln!(
        out,
        "{} · {} · up to {most_tokens:.0} tokens · {cost}; estimated, without repairs and without the agents' own",
        plural(plan.units.len(), "unit"),
        told_range(sum)
    )?;
    Ok(Ended::Passed)
}

fn distinct(names: &[&str]) -> String {
    let mut counted: BTreeMap<&str, usize> = BTreeMap::new();
    for name in names {
        *counted.entry(name).or_default() += 1;
    }
    let one = |(name, n): (&str, usize)| if n == 1 { name.to_owned() } else { format!("{n} × {name}") };
    counted.into_iter().map(one).collect::<Vec<_>>().join(", ")
}

fn told_range(range: CallRange) -> String {
    match range {
        CallRange { least, most } if least == most => plural(most as usize, "call"),
        CallRange { least, most } => format!("{least} to {most} calls"),
    }
}

fn told_cost(least: f64, most: f64) -> String {
    let dollars = |it: f64| Usd::from_nanos((it * 1e9).round() as i64).to_string();
    if (least - most).abs() < 1e-9 {
        format!("about {}", dollars(most))
    } else {
        format!("about {} to {}", dollars(least), dollars(most))
    }
}

/// Where the answer comes from.
fn source(case: &Case) -> String {
    let Candidate { response, trace, diff, .. } = &case.candidate;
    let live = || match (case.targets.first(), &case.server, &case.agent.model) {
        (Some(target), None, _) => format!("run by {}", target.name()),
        (Some(target), Some(server), _) => format!("run by {} with {server}", target.name()),
        (None, Some(server), Some(model)) => format!("run by {model} with {server}"),
        (None, Some(server), None) => format!("run with {server}, by no model yet (deferred)"),
        (None, None, Some(model)) => format!("run by {model}"),
        (None, None, None) => "no answer, and nothing to run (deferred)".to_owned(),
    };
    match (response, trace, diff) {
        (Some(_), ..) => "fixed response".to_owned(),
        (_, Some(_), _) => "trace".to_owned(),
        (_, _, Some(_)) => "diff".to_owned(),
        _ => live(),
    }
}

fn size(candidate: &Candidate) -> usize {
    let texts = [&candidate.input, &candidate.response, &candidate.diff];
    texts.into_iter().flatten().map(String::len).sum::<usize>()
        + candidate.context.iter().map(String::len).sum::<usize>()
}

async fn evaluated(args: &Args, runs: &Runs, loaded: &Loaded<'_>, plan: Plan) -> anyhow::Result<Ended> {
    let judging = &args.running.judging;
    let caller = judging.caller(&loaded.settings)?;
    let live = plan.units.iter().find(|it| !it.cell.template().candidate.is_given());
    if let Some(unit) = live.filter(|_| judging.batch) {
        anyhow::bail!("--batch is for answers that are given, and `{}` has to be run", unit.name);
    }
    // Everybody who will judge is found before a run begins.
    let made = std::cell::RefCell::new(BTreeMap::new());
    for unit in &plan.units {
        loaded.bench(args, unit, &mut made.borrow_mut())?;
    }
    let Resumed { run, results: before, paid, log } = match &args.resume {
        Some(name) => runs.resume(name).await?,
        None => {
            let suite = loaded.suite.name.clone().unwrap_or_else(|| loaded.file.display().to_string());
            let run = args.running.new_run(suite, plan.units.iter().map(|it| &it.cell.template().rubric));
            let log = args.running.log(runs, &run).await;
            Resumed { run, results: Vec::new(), paid: Usd::default(), log }
        }
    };
    let mut rubrics = plan.units.iter().map(|it| it.cell.template().rubric.version());
    anyhow::ensure!(
        rubrics.all(|it| run.rubrics.contains_key(it)),
        "a rubric has changed since {} began; begin a new run",
        run.id
    );
    let mut done = BTreeMap::new();
    for (at, result) in before {
        let unit = plan.units.get(at).filter(|it| it.name == result.case).with_context(|| {
            format!("`{}` is no longer where it was in {}; begin a new run", result.case, run.id)
        })?;
        // What had no verdict is asked again, as is what was graded against another version.
        let has_verdict = matches!(result.verdict.status, Status::Pass | Status::Fail);
        if has_verdict && result.rubric == *unit.cell.template().rubric.version() {
            done.insert(at, Packed::new(&result));
        }
    }
    let project = Project::of(loaded.file, args.loading.options().outside);
    let servers = loaded.suite.servers.clone();
    let base_url = judging.judge(&Judge::default()).base_url;
    let resolver = Arc::clone(&loaded.resolver);
    let agents = Arc::new(Agents::new(resolver, servers, project, base_url, judging.allow_commands));
    let jobs = jobs(
        plan,
        &agents,
        |at| done.contains_key(&at),
        |unit| loaded.bench(args, unit, &mut made.borrow_mut()),
    )?;
    let ready = Ready { jobs, run, log, done, paid };
    args.running.go(runs, ready, caller, &loaded.settings).await
}
