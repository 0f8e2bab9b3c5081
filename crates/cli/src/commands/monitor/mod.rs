mod show;
mod target;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use jurist_core::dialect::to_native;
use jurist_core::grade::Time;
use jurist_core::quantity::plural;
use jurist_core::source::to_yaml;
use jurist_core::suite::{Monitor, Suite};
use jurist_engine::bundle::Bundle;
use jurist_server::monitor::{NewComparison, NewRescore, Side};
use jurist_store::Region;
use jurist_store::decisions::DecisionState;

use crate::connection::Reach;
use crate::outcome::CommandOutcome;
use crate::render::printable;
use crate::runtime::wait_for;
use crate::suite_loading::{LoadingArgs, load_valid_suite};
use target::MonitorBackend;

/// Manage monitors, which judge a sample of live traces
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist monitor apply monitor.yaml             Create or update a monitor
  jurist monitor show support                   Estimates for all traffic
  jurist monitor decisions support              Decisions about traces
  jurist monitor why 4bf92f3577b3               Explain the decision on a trace
  jurist monitor rescore support --overlap 200  Compare two rubric versions
  jurist monitor list --server https://jurist.example.org

`jurist serve` receives the traces, samples them and judges the sample.")]
pub struct MonitorArgs {
    #[command(flatten)]
    reach: Reach,
    #[command(subcommand)]
    what: MonitorSubcommand,
}

#[derive(Debug, clap::Subcommand)]
enum MonitorSubcommand {
    /// Create or update monitors from files
    #[command(after_help = "\
Examples:
  jurist monitor apply monitor.yaml
  jurist monitor apply support.yaml --server https://jurist.example.org")]
    Apply {
        /// Monitor files
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
        /// Region in the ids of rubric versions; a server uses its own
        #[arg(long, value_name = "NAME", value_parser = region, default_value = "local")]
        region: Region,
        #[command(flatten)]
        loading: LoadingArgs,
    },
    /// List all monitors
    #[command(after_help = "\
Examples:
  jurist monitor list
  jurist monitor list --json")]
    List {
        #[command(flatten)]
        json: JsonOutputArg,
    },
    /// Show estimates for all traffic from a monitor's sample
    #[command(after_help = "\
Examples:
  jurist monitor show support
  jurist monitor show support --agent desk --since 2026-03-01
  jurist monitor show support --trend --criterion tone")]
    Show {
        /// Name of the monitor
        #[arg(value_name = "NAME")]
        name: String,
        #[command(flatten)]
        window: TrafficWindowArgs,
        /// Show estimates per day
        #[arg(long)]
        trend: bool,
        /// With `--trend`: use one criterion instead of the overall score
        #[arg(long, value_name = "NAME", requires = "trend")]
        criterion: Option<String>,
        #[command(flatten)]
        json: JsonOutputArg,
    },
    /// Pause a monitor; sampled traces wait
    #[command(after_help = "\
Examples:
  jurist monitor pause support
  jurist monitor pause support --reason 'the judge is being replaced'")]
    Pause {
        /// Name of the monitor
        #[arg(value_name = "NAME")]
        name: String,
        /// Reason shown to other users
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Resume a paused monitor
    #[command(after_help = "\
Examples:
  jurist monitor resume support")]
    Resume {
        /// Name of the monitor
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Remove a monitor; its results stay stored
    #[command(after_help = "\
Examples:
  jurist monitor rm support")]
    Rm {
        /// Name of the monitor
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Explain why a trace was sampled, scored or skipped
    #[command(after_help = "\
Examples:
  jurist monitor why 4bf92f3577b3")]
    Why {
        /// Id of the trace, or the beginning of its id
        #[arg(value_name = "TRACE")]
        trace: String,
        #[command(flatten)]
        json: JsonOutputArg,
    },
    /// List decisions about traces, newest first
    #[command(after_help = "\
Examples:
  jurist monitor decisions support
  jurist monitor decisions support --state over_budget")]
    Decisions {
        /// Name of the monitor
        #[arg(value_name = "NAME")]
        name: String,
        /// Only decisions in this state, such as `scored`, `over_budget` or `judge_error`
        #[arg(long, value_name = "STATE", value_parser = str::parse::<DecisionState>)]
        state: Option<DecisionState>,
        #[command(flatten)]
        json: JsonOutputArg,
    },
    /// List traces on which judges disagree, newest first
    #[command(after_help = "\
Examples:
  jurist monitor disputed support")]
    Disputed {
        /// Name of the monitor
        #[arg(value_name = "NAME")]
        name: String,
        #[command(flatten)]
        json: JsonOutputArg,
    },
    /// Re-score traces of earlier rubric versions with the newest
    #[command(after_help = "\
Examples:
  jurist monitor rescore support                Print the projected cost
  jurist monitor rescore support --since 2026-03-01 --yes
  jurist monitor rescore support --overlap 200 --yes
  jurist monitor rescore support --errors --yes")]
    Rescore {
        /// Name of the monitor
        #[arg(value_name = "NAME")]
        name: String,
        /// Use only traces from this time on
        #[arg(long, value_name = "TIME", value_parser = parse_date_or_time)]
        since: Option<Time>,
        /// Re-score a random sample of this size, to compare two versions
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
        overlap: Option<u64>,
        /// Re-score traces whose judge failed under the current version
        #[arg(long, conflicts_with = "overlap")]
        errors: bool,
        /// Re-score traces that were skipped for lack of budget under the current version
        #[arg(long, conflicts_with_all = ["overlap", "errors"])]
        over_budget: bool,
        /// Start it; without this flag only the projected cost is printed
        #[arg(long)]
        yes: bool,
    },
    /// Judge two agents, or two versions, on the tasks both did
    #[command(after_help = "\
Examples:
  jurist monitor compare support desk desk2     Print the projected cost
  jurist monitor compare support desk:version=1 desk:version=2 --pairs 50 --yes")]
    Compare {
        /// Name of the monitor
        #[arg(value_name = "NAME")]
        name: String,
        /// Agent, optionally filtered by metadata: support, or support:version=2
        #[arg(value_name = "A", value_parser = parse_comparison_side)]
        a: Side,
        /// The other agent, written in the same way
        #[arg(value_name = "B", value_parser = parse_comparison_side)]
        b: Side,
        /// Use only traces from this time on
        #[arg(long, value_name = "TIME", value_parser = parse_date_or_time)]
        since: Option<Time>,
        /// Maximum number of pairs
        #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
        pairs: u64,
        /// Start it; without this flag only the projected cost is printed
        #[arg(long)]
        yes: bool,
    },
    /// Show the results of comparisons
    #[command(after_help = "\
Examples:
  jurist monitor comparisons support")]
    Comparisons {
        /// Name of the monitor
        #[arg(value_name = "NAME")]
        name: String,
        #[command(flatten)]
        json: JsonOutputArg,
    },
    /// Show the results of re-scoring
    #[command(after_help = "\
Examples:
  jurist monitor rescores support")]
    Rescores {
        /// Name of the monitor
        #[arg(value_name = "NAME")]
        name: String,
        #[command(flatten)]
        json: JsonOutputArg,
    },
}

#[derive(Debug, Clone, Copy, clap::Args)]
struct JsonOutputArg {
    /// Print the API's JSON
    #[arg(long)]
    json: bool,
}

/// Which traffic.
#[derive(Debug, clap::Args)]
struct TrafficWindowArgs {
    /// Use only this agent
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Start of the time range, such as 2026-03-01 [default: 30 days ago]
    #[arg(long, value_name = "TIME", value_parser = parse_date_or_time)]
    since: Option<Time>,
    /// End of the time range [default: now]
    #[arg(long, value_name = "TIME", value_parser = parse_date_or_time)]
    until: Option<Time>,
}

/// Parses the region of a server.
pub fn region(text: &str) -> Result<Region, String> {
    Region::new(text).ok_or_else(|| "up to eight lower-case letters and digits, such as eu".to_owned())
}

/// A time, or the beginning of a day in UTC.
pub fn parse_date_or_time(text: &str) -> Result<Time, String> {
    let whole = if text.len() == 10 { format!("{text}T00:00:00Z") } else { text.to_owned() };
    Time::parse(&whole).map_err(|error| error.to_string())
}

/// `agent`, or `agent:key=value,key=value`.
fn parse_comparison_side(text: &str) -> Result<Side, String> {
    let (agent, told) = text.split_once(':').unwrap_or((text, ""));
    let mut metadata = serde_json::Map::new();
    for part in told.split(',').filter(|part| !part.is_empty()) {
        let (key, value) = part.split_once('=').ok_or_else(|| format!("`{part}` is not key=value"))?;
        metadata.insert(key.to_owned(), serde_json::from_str(value).unwrap_or_else(|_| value.into()));
    }
    Ok(Side { agent: agent.to_owned(), metadata })
}

pub fn run_monitor_command(args: &MonitorArgs) -> anyhow::Result<CommandOutcome> {
    wait_for(async {
        let target = args.target().await?;
        let mut out = crate::render::stdout();
        match &args.what {
            MonitorSubcommand::Apply { files, region, loading } => {
                return apply_monitor_files(&target, files, region, loading).await;
            }
            MonitorSubcommand::List { json } => {
                let all = target.list().await?;
                if json.print_if_requested(&mut out, &all)? {
                    return Ok(CommandOutcome::Passed);
                }
                let ids = all.iter().map(|monitor| monitor.version.rubric_version.as_str());
                show::show_monitor_list(&mut out, &all, &target.version_names(ids).await?)?;
            }
            MonitorSubcommand::Show { name, window, trend: true, criterion, json } => {
                let all = target.trend(name, window, criterion.as_deref()).await?;
                if !json.print_if_requested(&mut out, &all)? {
                    let ids = all.iter().map(|trend| trend.rubric_version.as_str());
                    show::show_daily_trend(&mut out, &all, &target.version_names(ids).await?)?;
                }
            }
            MonitorSubcommand::Show { name, window, json, .. } => {
                let (monitor, found) = (target.monitor(name).await?, target.estimates(name, window).await?);
                if !json.print_if_requested(&mut out, &found)? {
                    let versions = target.version_names([monitor.version.rubric_version.as_str()]).await?;
                    let has_state =
                        |state: DecisionState| found.states.iter().any(|count| count.state == state.as_str());
                    let over_budget = match has_state(DecisionState::OverBudget) {
                        true => target.newest_in_state(name, DecisionState::OverBudget).await?,
                        false => None,
                    };
                    let over_budget = over_budget.as_ref();
                    show::show_monitor_estimates(&mut out, &monitor, &found, &versions, over_budget)?;
                    if has_state(DecisionState::JudgeError)
                        && let Some(decision) =
                            target.newest_in_state(name, DecisionState::JudgeError).await?
                    {
                        show::show_newest_error(&mut out, &decision)?;
                    }
                }
            }
            MonitorSubcommand::Pause { name, reason } => {
                target.pause(name, reason.as_deref()).await?;
                writeln!(out, "{} is paused", printable(name))?;
            }
            MonitorSubcommand::Resume { name } => {
                target.resume(name).await?;
                writeln!(out, "resumed {}", printable(name))?;
            }
            MonitorSubcommand::Rm { name } => {
                target.remove(name).await?;
                writeln!(out, "{}: removed; its results stay stored", printable(name))?;
            }
            MonitorSubcommand::Why { trace, json } => {
                let all = target.why(trace).await?;
                if !json.print_if_requested(&mut out, &all)? {
                    show::show_trace_decisions(&mut out, trace, &all)?;
                }
            }
            MonitorSubcommand::Decisions { name, state, json } => {
                let all = target.decisions(name, *state, None).await?;
                if !json.print_if_requested(&mut out, &all)? {
                    show::show_decision_list(&mut out, &all)?;
                }
            }
            MonitorSubcommand::Disputed { name, json } => {
                let all = target.decisions(name, None, Some(true)).await?;
                if !json.print_if_requested(&mut out, &all)? {
                    show::show_disputed_traces(&mut out, &all)?;
                }
            }
            MonitorSubcommand::Rescore { name, since, overlap, errors, over_budget, yes } => {
                let overlap = overlap.map(|overlap| usize::try_from(overlap).unwrap_or(usize::MAX));
                let asked = NewRescore {
                    since: *since,
                    overlap,
                    errors: *errors,
                    over_budget: *over_budget,
                    confirmed: *yes,
                };
                let plan = target.rescore(name, &asked).await?;
                let versions = target.version_names([plan.rubric_version.as_str()]).await?;
                show::show_rescore_plan(&mut out, name, &plan, &versions)?;
            }
            MonitorSubcommand::Compare { name, a, b, since, pairs, yes } => {
                let n = Some(usize::try_from(*pairs).unwrap_or(usize::MAX));
                let asked = NewComparison { a: a.clone(), b: b.clone(), since: *since, n, confirmed: *yes };
                show::show_comparison_plan(&mut out, name, &target.compare(name, &asked).await?)?;
            }
            MonitorSubcommand::Comparisons { name, json } => {
                let all = target.comparisons(name).await?;
                if !json.print_if_requested(&mut out, &all)? {
                    show::show_comparison_results(&mut out, &all)?;
                }
            }
            MonitorSubcommand::Rescores { name, json } => {
                let all = target.rescores(name).await?;
                if !json.print_if_requested(&mut out, &all)? {
                    let ids = all.iter().flat_map(|rescore| {
                        let earlier = rescore.offsets.iter().map(|offset| offset.from_version.as_str());
                        [rescore.rubric_version.as_str()].into_iter().chain(earlier)
                    });
                    show::show_rescore_results(&mut out, &all, &target.version_names(ids).await?)?;
                }
            }
        }
        Ok(CommandOutcome::Passed)
    })
}

impl JsonOutputArg {
    /// Prints the value if `--json` was given; returns whether it was printed.
    fn print_if_requested(self, out: &mut impl Write, value: &impl serde::Serialize) -> anyhow::Result<bool> {
        if self.json {
            writeln!(out, "{}", serde_json::to_string_pretty(value)?)?;
        }
        Ok(self.json)
    }
}

/// All files are read before anything is changed.
async fn apply_monitor_files(
    target: &MonitorBackend,
    files: &[PathBuf],
    region: &Region,
    loading: &LoadingArgs,
) -> anyhow::Result<CommandOutcome> {
    let (mut all, mut names) = (Vec::new(), BTreeSet::new());
    for path in files {
        let Some(suite) = load_valid_suite(path, loading.options())? else {
            return Ok(CommandOutcome::BadInput);
        };
        anyhow::ensure!(
            !suite.monitors.is_empty(),
            "`{}` has no monitor: it needs `agent`, or a list of `monitors`",
            path.display()
        );
        for monitor in suite.monitors {
            let name = monitor.name().to_owned();
            anyhow::ensure!(
                names.insert(name.clone()),
                "two monitors are called `{name}`; give one of them a `name`"
            );
            all.push((name, read_monitor_source(path, &monitor)?));
        }
    }
    let mut out = crate::render::stdout();
    for (name, source) in &all {
        let applied = target.apply(name, source, region).await.with_context(|| format!("`{name}`"))?;
        let became = match (applied.is_changed, applied.is_new_rubric) {
            (false, _) => "unchanged",
            (true, true) => "new rubric version",
            (true, false) => "same rubric, other settings",
        };
        let id = applied.monitor.version.rubric_version.as_str();
        let versions = target.version_names([id]).await?;
        let rubric = versions.name(id);
        writeln!(out, "{}: {became}, rubric {rubric}", printable(name))?;
    }
    if std::io::stdout().is_terminal() {
        writeln!(out, "{} from now on; earlier traces are not re-scored", plural(all.len(), "monitor"))?;
    }
    Ok(CommandOutcome::Passed)
}

/// As it is written, if that says it all; otherwise with everything that it refers to.
fn read_monitor_source(path: &Path, monitor: &Monitor) -> anyhow::Result<String> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let files = BTreeMap::from([("monitor.yaml".to_owned(), text.clone())]);
    let alone = Bundle { suite: "monitor.yaml".to_owned(), files, ..Bundle::default() }.load();
    if alone.suite.is_some_and(|suite| suite.monitors == [monitor.clone()]) {
        return Ok(text);
    }
    Ok(to_yaml(&to_native(&Suite { monitors: vec![monitor.clone()], ..Suite::default() })))
}
