//! Bradley–Terry on inputs as reference packages take them: matrices of wins and ties, or lists of who won.

use serde_json::{Value as Json, json};

use crate::stats::basics::undefined::{Undefined, ensure_size};
use crate::stats::ranking::rank::{
    BradleyTerryModel, Fit, PairCounts, Position, TieModel, elo_points, inverse,
};

/// The answer to a named question; `None` for a name that is not ours.
pub(super) fn compute_ranking_statistic(name: &str, input: &Json) -> Option<Result<Json, Undefined>> {
    (name == "bradley_terry").then(|| compute_bradley_terry(input))
}

fn compute_bradley_terry(input: &Json) -> Result<Json, Undefined> {
    let cells = cells(input)?;
    let n_seen = cells
        .iter()
        .map(|pair_counts| pair_counts.first.max(pair_counts.second).saturating_add(1))
        .max()
        .unwrap_or(0);
    let n = ["n_items", "n_players", "n"]
        .iter()
        .find_map(|key| input[*key].as_u64())
        .map_or(n_seen, |n| n as usize);
    if n < n_seen {
        return Err(Undefined(format!("only {n} players were announced, and {n_seen} were compared")));
    }
    ensure_size("players times players", n.saturating_mul(n))?;
    let names: Vec<String> = match input["names"].as_array().or_else(|| input["players"].as_array()) {
        Some(names) => names.iter().map(|name| name.as_str().unwrap_or("?").to_owned()).collect(),
        None => (0..n).map(|n| n.to_string()).collect(),
    };
    if names.len() != n {
        return Err(Undefined(format!("{} names were given for {n} players", names.len())));
    }
    let rule =
        ["tie_rule", "model"].iter().find_map(|key| input[*key].as_str()).unwrap_or_default().to_lowercase();
    const RULES: [&str; 4] = ["davidson", "half", "bradley", "bt"];
    if !rule.is_empty() && !RULES.iter().any(|text| rule.contains(text)) {
        return Err(Undefined(format!(
            "`{rule}` is not a model of ties; there are bradley_terry (half a win to each) and davidson"
        )));
    }
    let wants_position = ["position", "home_advantage"].iter().any(|key| input[*key].as_bool() == Some(true));
    let mut model = BradleyTerryModel {
        ties: if rule.contains("davidson") { TieModel::Davidson } else { TieModel::HalfWins },
        position: if wants_position { Position::Estimated } else { Position::Ignored },
        penalty: ["penalty", "l2"].iter().find_map(|key| input[*key].as_f64()).unwrap_or(0.0),
    };
    let method = input["method"].as_str().unwrap_or_default();
    const METHODS: [&str; 6] = ["mm", "lsr", "opt", "Newton", "BFGS", "map"];
    if !method.is_empty() && !METHODS.iter().any(|text| method.contains(text)) {
        return Err(Undefined(format!("`{method}` is not a method; there are {}", METHODS.join(", "))));
    }
    let alpha = input["alpha"].as_f64().filter(|number| 0.0 < *number);
    if let Some(alpha) = alpha {
        match method {
            it if it.contains("mm") => {
                return Ok(strengths_to_json(&by_minorisation(n, &cells, alpha)?, input));
            }
            it if ["opt", "Newton", "BFGS", "map"].iter().any(|word| it.contains(word)) => {
                model.penalty = alpha;
            }
            _ => return Ok(strengths_to_json(&by_markov_chain(n, &cells, alpha)?, input)),
        }
    }
    let fit = Fit::new(&names, &cells, model)?;
    let mut answer = strengths_to_json(&fit.parameters[..n], input);
    let reference = reference_player(input, n);
    let error = |at: usize| reference.map_or_else(|| fit.error(at), |n| fit.error_between(at, n));
    answer["se_naive"] = json!((0..n).map(error).collect::<Vec<f64>>());
    if let Some(position) = fit.position() {
        answer["position"] = json!(position);
    }
    if model.ties == TieModel::Davidson {
        answer["nu"] = json!(fit.nu());
    }
    Ok(answer)
}

fn reference_player(input: &Json, n: usize) -> Option<usize> {
    input["reference"].as_u64().map(|n| n as usize).filter(|one_n| *one_n < n)
}

/// Strengths as they are asked for: against one player if there is a reference, else around zero.
fn strengths_to_json(strengths: &[f64], input: &Json) -> Json {
    let zero = reference_player(input, strengths.len()).map_or(0.0, |index| strengths[index]);
    let theta: Vec<f64> = strengths.iter().map(|strength| strength - zero).collect();
    let elo: Vec<f64> = strengths.iter().copied().map(elo_points).collect();
    json!({ "theta": theta, "params": strengths, "elo": elo })
}

fn cells(input: &Json) -> Result<Vec<PairCounts>, Undefined> {
    let list = ["comparisons", "data", "pairs"].iter().find_map(|key| input[*key].as_array());
    let matrix = |key: &str| -> Vec<Vec<f64>> {
        let row = |value: &Json| {
            value.as_array().into_iter().flatten().map(|item| item.as_f64().unwrap_or(0.0)).collect()
        };
        input[key].as_array().into_iter().flatten().map(row).collect()
    };
    let (wins, ties) = (matrix("wins"), matrix("ties"));
    let at = |matrix: &[Vec<f64>], one: usize, other: usize| {
        matrix.get(one).and_then(|matrix| matrix.get(other)).copied().unwrap_or(0.0)
    };
    let n = wins.len().max(ties.len());
    let mut cells = Vec::new();
    for first in 0..n {
        for second in first + 1..n {
            let tied = at(&ties, first, second).max(at(&ties, second, first));
            let (won, lost) = (at(&wins, first, second), at(&wins, second, first));
            cells.push(PairCounts { first, second, won, lost, tied });
        }
    }
    for it in list.into_iter().flatten() {
        let number = |at: usize| it.get(at).and_then(Json::as_f64);
        let (Some(first), Some(second)) = (number(0), number(1)) else {
            return Err(Undefined(format!("`{it}` is not a comparison of two players")));
        };
        // Two numbers are winner and loser; a third is what the first of them gets.
        let share = number(2).unwrap_or(1.0);
        let (won, lost, tied) = if share > 0.5 {
            (1.0, 0.0, 0.0)
        } else if share < 0.5 {
            (0.0, 1.0, 0.0)
        } else {
            (0.0, 0.0, 1.0)
        };
        cells.push(PairCounts { first: first as usize, second: second as usize, won, lost, tied });
    }
    cells.retain(|pair_counts| {
        pair_counts.first != pair_counts.second && 0.0 < pair_counts.won + pair_counts.lost + pair_counts.tied
    });
    Ok(cells)
}

/// Winner, loser and how often, with ties as half a win to each.
fn wins_with_half_ties(cells: &[PairCounts]) -> impl Iterator<Item = (usize, usize, f64)> {
    let both = |pair_counts: &PairCounts| {
        [
            (pair_counts.first, pair_counts.second, pair_counts.won + pair_counts.tied / 2.0),
            (pair_counts.second, pair_counts.first, pair_counts.lost + pair_counts.tied / 2.0),
        ]
    };
    cells.iter().flat_map(both)
}

/// Strengths on their own scale, with a mean of one.
fn strength_weights(strengths: &[f64]) -> Vec<f64> {
    let weights: Vec<f64> = strengths.iter().map(|strength| strength.exp()).collect();
    let total: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight * strengths.len() as f64 / total).collect()
}

fn iterate_strengths(
    n: usize,
    mut step: impl FnMut(&[f64]) -> Option<Vec<f64>>,
) -> Result<Vec<f64>, Undefined> {
    let unsettled = || Undefined("the strengths do not settle".to_owned());
    let mut strengths = vec![0.0; n];
    for _ in 0..100_000 {
        let next: Vec<f64> =
            step(&strength_weights(&strengths)).ok_or_else(unsettled)?.iter().map(|step| step.ln()).collect();
        let middle = next.iter().sum::<f64>() / n as f64;
        let moved: f64 = next.iter().zip(&strengths).map(|(a, b)| (a - middle - b).abs()).sum();
        strengths = next.into_iter().map(|next| next - middle).collect();
        if moved < 1e-12 {
            return Ok(strengths);
        }
        if !moved.is_finite() {
            break;
        }
    }
    Err(unsettled())
}

/// As choix's `mm_pairwise`: Hunter's algorithm with a gamma prior on the strengths.
fn by_minorisation(n: usize, cells: &[PairCounts], alpha: f64) -> Result<Vec<f64>, Undefined> {
    iterate_strengths(n, |weights| {
        let (mut won, mut met) = (vec![alpha; n], vec![alpha; n]);
        for (winner, loser, times) in wins_with_half_ties(cells) {
            won[winner] += times;
            for it in [winner, loser] {
                met[it] += times / (weights[winner] + weights[loser]);
            }
        }
        Some(won.iter().zip(&met).map(|(won, met)| won / met).collect())
    })
}

/// As choix's `ilsr_pairwise`: strengths are the stationary distribution of a random walk from losers to winners.
/// `alpha` is the rate of jumps between any two, which connects the graph.
fn by_markov_chain(n: usize, cells: &[PairCounts], alpha: f64) -> Result<Vec<f64>, Undefined> {
    iterate_strengths(n, |weights| {
        // Balance of what comes and goes, one line of which follows from the others and makes room for the sum.
        let mut balance = vec![vec![0.0; n]; n];
        let mut walk = |from: usize, to: usize, rate: f64| {
            balance[to][from] += rate;
            balance[from][from] -= rate;
        };
        for from in 0..n {
            (0..n).filter(|n| *n != from).for_each(|to| walk(from, to, alpha));
        }
        for (winner, loser, times) in wins_with_half_ties(cells) {
            walk(loser, winner, times / (weights[winner] + weights[loser]));
        }
        balance[n - 1].fill(1.0);
        Some(inverse(&balance)?.iter().map(|row| row[n - 1]).collect())
    })
}
