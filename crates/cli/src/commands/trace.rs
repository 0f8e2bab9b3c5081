use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use jurist_core::candidate::{StepRole, Trace, TraceFormat, read_traces, render_trace_for_person};
use jurist_core::quantity::plural;

use crate::outcome::CommandOutcome;

/// Show, convert and summarise agent traces
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist trace show session.jsonl        Show the messages
  jurist trace show run.json --depth 0   Show the main agent, fold sub-agents
  jurist trace stats runs.jsonl          Tool calls, errors, tokens and cost
  jurist trace convert run.json          One JSON line per trace
  jurist trace formats                   List the supported formats

A file holds one trace, or one per line. `-` reads standard input.")]
pub struct TraceArgs {
    #[command(subcommand)]
    what: TraceSubcommand,
}

#[derive(Debug, clap::Subcommand)]
enum TraceSubcommand {
    /// Print a trace as text
    #[command(after_help = "\
Examples:
  jurist trace show session.jsonl
  jurist trace show run.json --depth 0     Show the main agent, fold sub-agents
  jurist trace show run.json --lines 40    Show more lines per text
  jurist trace show --format otlp - < spans.json")]
    Show {
        #[command(flatten)]
        input: TraceFileArgs,
        /// Number of lines to show per text
        #[arg(long, default_value_t = 12)]
        lines: usize,
        /// Fold sub-agents deeper than this; 0 shows only the main agent
        #[arg(long, default_value_t = u32::MAX, hide_default_value = true)]
        depth: u32,
    },
    /// Convert a trace to Jurist's format
    #[command(after_help = "\
Examples:
  jurist trace convert run.json
  jurist trace convert session.jsonl > traces.jsonl")]
    Convert(TraceFileArgs),
    /// Summarise tool calls, errors, tokens and cost
    #[command(after_help = "\
Examples:
  jurist trace stats runs.jsonl")]
    Stats(TraceFileArgs),
    /// List the supported trace formats
    #[command(after_help = "\
Examples:
  jurist trace formats")]
    Formats,
}

#[derive(Debug, clap::Args)]
struct TraceFileArgs {
    /// Trace file; `-` reads standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Trace format [default: detected]
    #[arg(long, value_name = "NAME", value_parser = parse_trace_format)]
    format: Option<TraceFormat>,
}

pub fn parse_trace_format(name: &str) -> Result<TraceFormat, String> {
    let names =
        || TraceFormat::ALL.iter().map(|trace_format| trace_format.name()).collect::<Vec<_>>().join(", ");
    TraceFormat::from_name(name).ok_or_else(|| format!("one of {}", names()))
}

pub fn run_trace_command(args: &TraceArgs) -> anyhow::Result<CommandOutcome> {
    let mut out = crate::render::stdout();
    match &args.what {
        TraceSubcommand::Show { input, lines, depth } => {
            for (at, (format, trace)) in read_trace_file(input)?.iter().enumerate() {
                if 0 < at {
                    writeln!(out)?;
                }
                writeln!(out, "\x1b[1m{}\x1b[0m", headline(*format, trace))?;
                write!(out, "{}", colour_trace_lines(&render_trace_for_person(trace, *lines, *depth)))?;
            }
        }
        TraceSubcommand::Convert(input) => {
            for (_, trace) in read_trace_file(input)? {
                writeln!(out, "{}", serde_json::to_string(&trace)?)?;
            }
        }
        TraceSubcommand::Stats(input) => stats(&read_trace_file(input)?, &mut out)?,
        TraceSubcommand::Formats => {
            for format in TraceFormat::ALL {
                writeln!(out, "{:<18}{}", format.name(), format.what())?;
            }
        }
    }
    Ok(CommandOutcome::Passed)
}

fn read_trace_file(input: &TraceFileArgs) -> anyhow::Result<Vec<(TraceFormat, Trace)>> {
    let path: &Path = &input.file;
    let name = path.display();
    let text = jurist_engine::load::read_input(path)
        .map_err(|error| anyhow::anyhow!("cannot read `{name}`: {error}"))?;
    read_traces(&text, input.format).with_context(|| format!("`{name}`"))
}

fn headline(format: TraceFormat, trace: &Trace) -> String {
    let n_calls = trace.tool_calls().count();
    let n_errors =
        trace.steps.iter().flat_map(|step| &step.results).filter(|tool_result| tool_result.error).count();
    let mut parts =
        vec![format.name().to_owned(), plural(trace.steps.len(), "message"), plural(n_calls, "tool call")];
    if 0 < n_errors {
        parts.push(plural(n_errors, "error"));
    }
    if !trace.usage.is_nothing() {
        parts.push(format!("{} tokens in, {} out", trace.usage.input, trace.usage.output));
    }
    parts.extend(trace.cost.map(|usd| usd.to_string()));
    parts.extend(trace.status.clone());
    parts.join(" · ")
}

/// Roles in colour, thoughts dimmed, errors red; the stream drops colours where they are not wanted.
fn colour_trace_lines(text: &str) -> String {
    let line = |line: &str| {
        let word = line.trim_start();
        let is_title = word.starts_with(|word: char| word.is_ascii_digit())
            && word.split_whitespace().count() <= 3
            && !line.starts_with("     ");
        let colour = match word {
            _ if is_title && word.ends_with("user") => "36",
            _ if is_title && word.ends_with("assistant") => "32",
            _ if is_title => "35",
            _ if word.starts_with("✗ ") => "31",
            _ if word.starts_with("(thinks) ") => "2",
            _ if word.starts_with("→ ") => "33",
            _ => return format!("{line}\n"),
        };
        format!("\x1b[{colour}m{line}\x1b[0m\n")
    };
    text.lines().map(line).collect()
}

fn stats(traces: &[(TraceFormat, Trace)], out: &mut impl Write) -> anyhow::Result<()> {
    let mut tools: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let (mut n_messages, mut n_answers, mut usage, mut cost) =
        (0, 0, jurist_core::candidate::Usage::default(), None);
    for (_, trace) in traces {
        n_messages += trace.steps.len();
        n_answers += trace.steps.iter().filter(|step| step.role == StepRole::Assistant).count();
        usage = usage.plus(trace.usage);
        cost = match (cost, trace.cost) {
            (None, it) => it,
            (Some(sum), Some(more)) => Some(jurist_core::quantity::Usd::plus(sum, more)),
            (sum, None) => sum,
        };
        let names: BTreeMap<&str, &str> = trace
            .tool_calls()
            .filter_map(|tool_call| Some((tool_call.id.as_deref()?, tool_call.name.as_str())))
            .collect();
        for call in trace.tool_calls() {
            tools.entry(&call.name).or_default().0 += 1;
        }
        for result in
            trace.steps.iter().flat_map(|step| &step.results).filter(|tool_result| tool_result.error)
        {
            let name = result.name.as_deref().or_else(|| names.get(result.call.as_deref()?).copied());
            tools.entry(name.unwrap_or("(unnamed)")).or_default().1 += 1;
        }
    }
    writeln!(out, "{:<28}{:>8}", "traces", traces.len())?;
    writeln!(out, "{:<28}{:>8}", "messages", n_messages)?;
    writeln!(out, "{:<28}{:>8}", "messages of the assistant", n_answers)?;
    if !usage.is_nothing() {
        writeln!(out, "{:<28}{:>8}", "tokens in", usage.input)?;
        writeln!(out, "{:<28}{:>8}", "tokens in, cached", usage.cached)?;
        writeln!(out, "{:<28}{:>8}", "tokens out", usage.output)?;
    }
    if let Some(cost) = cost {
        writeln!(out, "{:<28}{:>8}", "cost", cost.to_string())?;
    }
    writeln!(out, "\n{:<28}{:>8}{:>8}", "tool", "calls", "errors")?;
    let mut tools: Vec<_> = tools.into_iter().collect();
    tools.sort_by_key(|tool| std::cmp::Reverse(tool.1.0));
    for (name, (n_calls, n_errors)) in tools {
        writeln!(out, "{name:<28}{n_calls:>8}{n_errors:>8}")?;
    }
    Ok(())
}
