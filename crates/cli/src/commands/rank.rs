use std::collections::HashMap;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use jurist_core::report;
use jurist_core::stats::ranking::{
    Elo, Pair, Preferred, WinRates, elo, estimate_strengths, order_by_strength,
};
use jurist_engine::load::read_input;
use serde::Deserialize;
use serde_json::json;

use crate::grades::AnalysisOutputArgs;
use crate::outcome::CommandOutcome;
use crate::reporting::printable_line;

/// Rank candidates from pairwise comparisons
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A line of FILE is one comparison. `first` is the candidate shown first;
comparisons with the same `case` are treated as dependent:
  {\"case\": \"7\", \"first\": \"agent-a\", \"second\": \"agent-b\", \"winner\": \"agent-b\"}
A winner of \"tie\" (or draw, neither, both, equal, or no winner) is a tie.

Examples:
  jurist rank battles.jsonl --chart strengths.svg
  jurist rank battles.jsonl --chart wins.png --picture wins")]
pub struct RankArgs {
    /// Comparisons, one JSON object per line
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Regularisation of strengths; needed for a finite strength if a candidate won every comparison
    #[arg(long, value_name = "PENALTY", default_value_t = 0.0)]
    penalty: f64,
    /// Chart type: strengths with intervals, or a matrix of win rates
    #[arg(long, value_enum, default_value = "strengths", requires = "chart")]
    picture: RankChartKind,
    #[command(flatten)]
    output: AnalysisOutputArgs,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum RankChartKind {
    Strengths,
    Wins,
}

/// Words for a comparison without a winner.
const TIES: [&str; 6] = ["tie", "draw", "neither", "both", "equal", "none"];

#[derive(Deserialize)]
struct ComparisonLine {
    #[serde(default)]
    case: serde_json::Value,
    first: String,
    second: String,
    winner: Option<String>,
}

pub fn run_rank_command(args: &RankArgs) -> anyhow::Result<CommandOutcome> {
    let name = args.file.display();
    let text = read_input(&args.file).with_context(|| format!("cannot read `{name}`"))?;
    let (mut names, mut cases): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    let mut places: [HashMap<String, usize>; 2] = Default::default();
    let mut place = |which: usize, list: &mut Vec<String>, name: String| {
        *places[which].entry(name).or_insert_with_key(|name| {
            list.push(name.clone());
            list.len() - 1
        })
    };
    let mut pairs = Vec::new();
    for (at, row) in text.lines().enumerate().filter(|line| !line.1.trim().is_empty()) {
        let row: ComparisonLine = serde_json::from_str(row).map_err(|error| {
            // An error about the data names the field; a syntax error names only a position, and is left out.
            let why = error.to_string();
            let why = why.split(" at line").next().filter(|_| error.is_data());
            let why = why.map(|why| format!(": {why}")).unwrap_or_default();
            anyhow::anyhow!(
                "`{name}`, line {} is not a comparison{why}; a line looks like \
                 {{\"first\": \"agent-a\", \"second\": \"agent-b\", \"winner\": \"agent-b\"}}",
                at + 1
            )
        })?;
        // A comparison without a case is a case of its own.
        let case = if row.case.is_null() { format!("line {at}") } else { row.case.to_string() };
        let preferred = match &row.winner {
            Some(it) if *it == row.first => Preferred::First,
            Some(it) if *it == row.second => Preferred::Second,
            None => Preferred::Neither,
            Some(it) if it.trim().is_empty() || TIES.contains(&it.trim().to_lowercase().as_str()) => {
                Preferred::Neither
            }
            Some(it) => anyhow::bail!(
                "`{name}`, line {}: the winner `{it}` is neither `{}` nor `{}`, nor a tie ({})",
                at + 1,
                row.first,
                row.second,
                TIES.join(", ")
            ),
        };
        let (first, second) = (place(0, &mut names, row.first), place(0, &mut names, row.second));
        pairs.push(Pair::new(place(1, &mut cases, case), first, second, preferred));
    }
    anyhow::ensure!(!pairs.is_empty(), "`{name}` holds no comparison");
    let ranking = estimate_strengths(&names, &pairs, args.penalty)?;
    let (rates, ratings) = (WinRates::new(names.len(), &pairs), elo(names.len(), &pairs, Elo::default()));
    let order = order_by_strength(&ranking);
    let mut out = crate::render::stdout();
    if args.output.json {
        let report =
            json!({ "ranking": ranking, "elo": ratings, "win_rates": rates.matrix(), "names": names });
        writeln!(out, "{}", serde_json::to_string_pretty(&report)?)?;
    } else {
        let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).clamp(6, 40);
        writeln!(out, "\x1b[1m{:<width$}  strength  95 % interval      as Elo  win rate\x1b[0m", "")?;
        for at in &order {
            let it = &ranking.players[*at].strength;
            let interval =
                it.interval.map(|(low, high)| format!("{low:+.2} to {high:+.2}")).unwrap_or_default();
            let others: Vec<f64> = (0..names.len()).filter_map(|other| rates.rate(*at, other)).collect();
            let rate = 100.0 * others.iter().sum::<f64>() / others.len().max(1) as f64;
            let name: String = printable_line(&names[*at]).chars().take(width).collect();
            writeln!(
                out,
                "{name:<width$}  {:>+8.2}  {interval:<17} {:>7.0}  {rate:>6.0} %",
                it.value,
                it.elo()
            )?;
        }
        if let Some(position) = ranking.position {
            let odds = position.value.exp();
            let is_significant = position.interval.is_some_and(|(low, high)| 0.0 < low || high < 0.0);
            let word = if is_significant { "has a significant effect" } else { "has no significant effect" };
            writeln!(out, "Position bias: being shown first {word} (odds ratio {odds:.2}).")?;
        }
        let apart = |pair: &[usize]| {
            let (a, b) =
                (ranking.players[pair[0]].strength.interval, ranking.players[pair[1]].strength.interval);
            a.zip(b).is_some_and(|((low, _), (_, high))| high < low)
        };
        if order.len() > 1 && !apart(&order[..2]) {
            writeln!(out, "These {} comparisons do not distinguish the first two.", pairs.len())?;
        }
    }
    if let Some(picture) = &args.output.chart {
        picture.draw(&match args.picture {
            RankChartKind::Strengths => report::build_strength_forest(&order, &ranking, &pairs),
            RankChartKind::Wins => report::build_win_matrix(&order, &names, &rates),
        })?;
    }
    Ok(CommandOutcome::Passed)
}
