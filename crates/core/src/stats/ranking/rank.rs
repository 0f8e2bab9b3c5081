//! Who is better, from comparisons two by two.
//!
//! Bradley–Terry: the odds that one is preferred over the other are those of their strengths. Ties are
//! either half a win to each, or an answer of their own after Davidson (1970), whose odds grow as the two
//! are nearer; a term for the place a player is shown in takes the bias of the judge out of the strengths
//! (Davidson and Beaver, 1977). All of these are one logit model over the answers, so one Newton fits them.

use serde::Serialize;

use crate::stats::basics::numbers::around;
use crate::stats::basics::special::t_quantile;
use crate::stats::basics::undefined::Undefined;

/// One comparison of two players, by their places in a list of names.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// Comparisons of one case are not independent, so they are drawn together.
    pub case: usize,
    /// The one that was shown first.
    pub first: usize,
    pub second: usize,
    pub preferred: Preferred,
    /// The number of equal comparisons; 1 for a single one.
    pub times: f64,
}

impl Pair {
    /// A comparison on a case of its own.
    pub fn new(case: usize, first: usize, second: usize, preferred: Preferred) -> Self {
        Self { case, first, second, preferred, times: 1.0 }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preferred {
    First,
    Second,
    /// As good as each other.
    Neither,
}

impl Preferred {
    /// What the first gets of the point that there is.
    pub(crate) fn first_share(self) -> f64 {
        match self {
            Self::First => 1.0,
            Self::Second => 0.0,
            Self::Neither => 0.5,
        }
    }
}

/// What a tie says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TieModel {
    /// Half a win to each, as the arenas count.
    #[default]
    HalfWins,
    /// An answer of its own, more likely between equals.
    Davidson,
}

/// Position bias: the effect of being shown first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Position {
    #[default]
    Ignored,
    Estimated,
}

/// How strengths are estimated.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct BradleyTerryModel {
    pub ties: TieModel,
    pub position: Position,
    /// Taken off the log-likelihood for each squared strength. Above zero, strengths exist for any
    /// comparisons, nearer to each other than they would be.
    pub penalty: f64,
}

/// Players in the order they were given, and what else the comparisons say.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ranking {
    pub players: Vec<Ranked>,
    /// By how much being shown first raises the log-odds.
    pub position: Option<Strength>,
    /// Davidson's ν: 0 without ties, 2 where equals tie half of the time.
    pub ties: Option<f64>,
}

/// How strong one player is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ranked {
    pub name: String,
    #[serde(flatten)]
    pub strength: Strength,
}

/// A number of log-odds; those of all players sum to zero.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Strength {
    pub value: f64,
    /// The standard error, as if every comparison were independent.
    pub error: f64,
    /// Where it may really lie, in 95 of 100 cases; absent where there are hardly more cases than
    /// strengths.
    pub interval: Option<(f64, f64)>,
}

impl Strength {
    /// The same on the scale that chess made popular, where 400 points are odds of ten to one.
    pub fn elo(&self) -> f64 {
        elo_points(self.value)
    }
}

/// The middle of the scale that the arenas use.
pub(crate) const MIDDLE: f64 = 1000.0;

/// Points for which the odds are ten to one.
pub(crate) const TEN_TO_ONE: f64 = 400.0;

pub(crate) fn elo_points(strength: f64) -> f64 {
    MIDDLE + strength * TEN_TO_ONE / std::f64::consts::LN_10
}

/// Strengths with intervals by how far whole cases pull them (the sandwich of Huber and White), by Student's
/// distribution.
///
/// ```
/// use jurist_core::stats::ranking::{BradleyTerryModel, Pair, Preferred, fit_bradley_terry};
///
/// let names = ["terse", "thorough"].map(str::to_owned);
/// let says = |case, preferred| Pair::new(case, 0, 1, preferred);
/// let pairs: Vec<Pair> = (0..40).map(|case| says(case, if case % 4 == 0 { Preferred::First } else { Preferred::Second })).collect();
/// let ranking = fit_bradley_terry(&names, &pairs, BradleyTerryModel::default()).unwrap();
/// // Three of four comparisons won are odds of three to one.
/// let odds = (ranking.players[1].strength.value - ranking.players[0].strength.value).exp();
/// assert!((odds - 3.0).abs() < 1e-9);
/// ```
pub fn fit_bradley_terry(
    names: &[String],
    pairs: &[Pair],
    model: BradleyTerryModel,
) -> Result<Ranking, Undefined> {
    let fit = Fit::new(names, &PairCounts::all(pairs), model)?;
    let spread = fit.case_errors(pairs, model.ties);
    let strength = |at: usize| {
        let value = fit.parameters[at];
        let interval =
            spread.as_ref().map(|spread| around(value, spread[at])).filter(|(low, high)| low < high);
        Strength { value, error: fit.error(at), interval }
    };
    let players =
        names.iter().enumerate().map(|(at, name)| Ranked { name: name.clone(), strength: strength(at) });
    Ok(Ranking {
        players: players.collect(),
        position: fit.layout.position.map(strength),
        ties: (model.ties == TieModel::Davidson).then(|| fit.nu()),
    })
}

/// All comparisons of two players in one order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PairCounts {
    pub(crate) first: usize,
    pub(crate) second: usize,
    pub(crate) won: f64,
    pub(crate) lost: f64,
    pub(crate) tied: f64,
}

impl PairCounts {
    fn of(pair: &Pair) -> Self {
        let mut cell = Self { first: pair.first, second: pair.second, won: 0.0, lost: 0.0, tied: 0.0 };
        match pair.preferred {
            Preferred::First => cell.won = pair.times,
            Preferred::Second => cell.lost = pair.times,
            Preferred::Neither => cell.tied = pair.times,
        }
        cell
    }

    /// A tie is half a win to each.
    fn without_ties(self) -> Self {
        let half = self.tied / 2.0;
        Self { won: self.won + half, lost: self.lost + half, tied: 0.0, ..self }
    }

    fn all(pairs: &[Pair]) -> Vec<Self> {
        let mut cells = std::collections::BTreeMap::new();
        for pair in pairs {
            let (first, second) = (pair.first, pair.second);
            let cell = cells.entry((first, second)).or_insert(Self {
                first,
                second,
                won: 0.0,
                lost: 0.0,
                tied: 0.0,
            });
            match pair.preferred {
                Preferred::First => cell.won += pair.times,
                Preferred::Second => cell.lost += pair.times,
                Preferred::Neither => cell.tied += pair.times,
            }
        }
        cells.into_values().filter(|pair_counts| pair_counts.first != pair_counts.second).collect()
    }

    fn n(&self) -> f64 {
        self.won + self.lost + self.tied
    }
}

/// Positions of the parameters after the strengths.
#[derive(Debug, Clone, Copy)]
struct ParameterLayout {
    n_players: usize,
    position: Option<usize>,
    tie: Option<usize>,
    n: usize,
}

/// The most likely parameters and their covariance.
pub(crate) struct Fit {
    pub(crate) parameters: Vec<f64>,
    covariance: Vec<Vec<f64>>,
    layout: ParameterLayout,
}

/// More than this is no strength: the odds are beyond anything that comparisons could show.
const MOST: f64 = 30.0;

impl Fit {
    pub(crate) fn new(
        names: &[String],
        cells: &[PairCounts],
        model: BradleyTerryModel,
    ) -> Result<Self, Undefined> {
        let n_players = names.len();
        if n_players < 2 || cells.is_empty() {
            return Undefined::because("there are no comparisons");
        }
        if model.penalty <= 0.0 {
            ensure_connected_players(names, cells)?;
        }
        let mut cells = cells.to_vec();
        let mut layout = ParameterLayout { n_players, position: None, tie: None, n: n_players };
        let mut add = || {
            layout.n += 1;
            layout.n - 1
        };
        let position = (model.position == Position::Estimated).then(&mut add);
        // Without a tie, ν is zero and its logarithm no number.
        let any_tie = cells.iter().any(|pair_counts| 0.0 < pair_counts.tied);
        let tie = (model.ties == TieModel::Davidson && any_tie).then(&mut add);
        (layout.position, layout.tie) = (position, tie);
        match tie {
            Some(_) if cells.iter().all(|pair_counts| pair_counts.won + pair_counts.lost <= 0.0) => {
                return Undefined::because("every comparison is a tie");
            }
            Some(_) => {}
            None => {
                cells.iter_mut().for_each(|pair_counts| *pair_counts = pair_counts.without_ties());
            }
        }
        Self::newton(&cells, layout, model.penalty)
    }

    fn newton(cells: &[PairCounts], layout: ParameterLayout, penalty: f64) -> Result<Self, Undefined> {
        let mut parameters = vec![0.0; layout.n];
        let mut likelihood = log_likelihood(cells, layout, penalty, &parameters);
        for turn in 0..200 {
            let (gradient, information) = gradient_and_information(cells, layout, penalty, &parameters);
            let Some(covariance) = inverse(&information) else {
                return Err(explain_missing_fit(layout, turn));
            };
            let step: Vec<f64> =
                covariance.iter().map(|row| row.iter().zip(&gradient).map(|(a, b)| a * b).sum()).collect();
            // Far from the top, a whole step may lead down on the other side.
            let mut share = 1.0;
            let next = loop {
                let next: Vec<f64> = parameters.iter().zip(&step).map(|(at, by)| at + share * by).collect();
                let next_likelihood = log_likelihood(cells, layout, penalty, &next);
                if likelihood - 1e-9 * likelihood.abs() <= next_likelihood || share < 1e-6 {
                    likelihood = next_likelihood;
                    break next;
                }
                share /= 2.0;
            };
            parameters = next;
            if parameters.iter().any(|parameter| MOST < parameter.abs()) {
                return Err(explain_missing_fit(layout, turn));
            }
            if step.iter().all(|step| step.abs() < 1e-9) {
                let middle = parameters[..layout.n_players].iter().sum::<f64>() / layout.n_players as f64;
                parameters[..layout.n_players].iter_mut().for_each(|parameter| *parameter -= middle);
                return Ok(Self { parameters, covariance, layout });
            }
        }
        Err(explain_missing_fit(layout, 200))
    }

    /// Of each parameter, half of its interval. Comparisons of one case are not independent, so that each case
    /// counts once: by the sum of how far its comparisons pull.
    fn case_errors(&self, pairs: &[Pair], ties: TieModel) -> Option<Vec<f64>> {
        let n = self.layout.n;
        let mut pulls: std::collections::BTreeMap<usize, Vec<f64>> = std::collections::BTreeMap::new();
        for pair in pairs.iter().filter(|pair| pair.first != pair.second) {
            let cell = PairCounts::of(pair);
            let cell = if ties == TieModel::Davidson && self.layout.tie.is_some() {
                cell
            } else {
                cell.without_ties()
            };
            let answers = possible_answers(&cell, self.layout);
            let (chances, _) = chances(&answers, &self.parameters);
            let pull = pulls.entry(pair.case).or_insert_with(|| vec![0.0; n]);
            for ((terms, observed), chance) in answers.iter().zip(&chances) {
                terms.iter().for_each(|(at, by)| pull[*at] += by * (observed - cell.n() * chance));
            }
        }
        let n_cases = pulls.len() as f64;
        // As many are estimated, one of them by the others.
        let degrees = n_cases - (n as f64 - 1.0);
        if degrees < 2.0 {
            return None;
        }
        let mut squares = vec![0.0; n];
        for pull in pulls.values() {
            // How far the case moves each parameter.
            for (square, row) in squares.iter_mut().zip(&self.covariance) {
                let moved: f64 = row.iter().zip(pull).map(|(a, b)| a * b).sum();
                *square += moved * moved;
            }
        }
        let t = t_quantile(0.975, degrees);
        Some(squares.iter().map(|square| t * (square * n_cases / degrees).sqrt()).collect())
    }

    /// What being shown first is worth, in log-odds.
    pub(crate) fn position(&self) -> Option<f64> {
        self.layout.position.map(|index| self.parameters[index])
    }

    /// Davidson's ν.
    pub(crate) fn nu(&self) -> f64 {
        self.layout.tie.map_or(0.0, |index| self.parameters[index].exp())
    }

    /// The standard error of one parameter, where strengths sum to zero.
    pub(crate) fn error(&self, at: usize) -> f64 {
        // What holds the sum has a variance of its own, 1/n², which is no part of the answer.
        let variance_of_mean =
            if at < self.layout.n_players { (self.layout.n_players as f64).powi(-2) } else { 0.0 };
        (self.covariance[at][at] - variance_of_mean).max(0.0).sqrt()
    }

    /// The standard error of how much stronger one is than another.
    pub(crate) fn error_between(&self, one: usize, other: usize) -> f64 {
        let it = &self.covariance;
        (it[one][one] + it[other][other] - 2.0 * it[one][other]).max(0.0).sqrt()
    }
}

fn explain_missing_fit(layout: ParameterLayout, turn: usize) -> Undefined {
    Undefined(match layout.position {
        Some(_) if turn == 0 => {
            "no candidate was shown in both positions, so position bias and strength cannot be separated"
                .to_owned()
        }
        _ => "the comparisons have no contradictions, so the best strengths are not finite".to_owned(),
    })
}

/// The three answers of a comparison: what each is worth to whom. Utilities are linear in the parameters.
fn utilities(cell: &PairCounts, layout: ParameterLayout) -> [(Vec<(usize, f64)>, f64); 3] {
    let place = |share: f64| layout.position.map(|position| (position, share));
    let first = [(cell.first, 1.0)].into_iter().chain(place(1.0)).collect();
    let second = vec![(cell.second, 1.0)];
    let both = [(cell.first, 0.5), (cell.second, 0.5)].into_iter();
    let tie = both.chain(place(0.5)).chain(layout.tie.map(|tie| (tie, 1.0))).collect();
    [(first, cell.won), (second, cell.lost), (tie, cell.tied)]
}

/// How likely each answer is; a tie only where the model knows ties.
fn chances(answers: &[(Vec<(usize, f64)>, f64)], parameters: &[f64]) -> (Vec<f64>, f64) {
    let worth: Vec<f64> =
        answers.iter().map(|(terms, _)| terms.iter().map(|(at, by)| by * parameters[*at]).sum()).collect();
    let most = worth.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let total = most + worth.iter().map(|worth| (worth - most).exp()).sum::<f64>().ln();
    let observed = answers.iter().zip(&worth).map(|((_, n), value)| n * (value - total)).sum();
    (worth.iter().map(|worth| (worth - total).exp()).collect(), observed)
}

fn possible_answers(cell: &PairCounts, layout: ParameterLayout) -> Vec<(Vec<(usize, f64)>, f64)> {
    utilities(cell, layout).into_iter().take(if layout.tie.is_some() { 3 } else { 2 }).collect()
}

fn log_likelihood(cells: &[PairCounts], layout: ParameterLayout, penalty: f64, parameters: &[f64]) -> f64 {
    let observed: f64 =
        cells.iter().map(|pair_counts| chances(&possible_answers(pair_counts, layout), parameters).1).sum();
    observed
        - penalty * parameters[..layout.n_players].iter().map(|parameter| parameter * parameter).sum::<f64>()
}

/// The gradient of the log-likelihood and the information matrix, under the constraint that strengths sum to zero.
fn gradient_and_information(
    cells: &[PairCounts],
    layout: ParameterLayout,
    penalty: f64,
    parameters: &[f64],
) -> (Vec<f64>, Vec<Vec<f64>>) {
    let mut gradient = vec![0.0; layout.n];
    let mut information = vec![vec![0.0; layout.n]; layout.n];
    let n_players = layout.n_players;
    let sum: f64 = parameters[..n_players].iter().sum();
    for at in 0..n_players {
        gradient[at] = -2.0 * penalty * parameters[at] - sum;
        information[at][..n_players].fill(1.0);
        information[at][at] += 2.0 * penalty;
    }
    for cell in cells {
        let answers = possible_answers(cell, layout);
        let (chances, _) = chances(&answers, parameters);
        let n = cell.n();
        let mut mean: Vec<(usize, f64)> = Vec::new();
        for ((terms, observed), chance) in answers.iter().zip(&chances) {
            for (at, by) in terms {
                gradient[*at] += by * (observed - n * chance);
                mean.push((*at, by * chance));
                for (other, with) in terms {
                    information[*at][*other] += n * chance * by * with;
                }
            }
        }
        for (at, by) in &mean {
            for (other, with) in &mean {
                information[*at][*other] -= n * by * with;
            }
        }
    }
    (gradient, information)
}

/// The inverse of a symmetric matrix by Gauss–Jordan; `None` where it is as good as singular.
pub(crate) fn inverse(matrix: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    let n = matrix.len();
    let unit = |at: usize| (0..n).map(move |n| f64::from(u8::from(n == at)));
    let mut rows: Vec<Vec<f64>> =
        matrix.iter().enumerate().map(|(at, row)| row.iter().copied().chain(unit(at)).collect()).collect();
    let largest = matrix.iter().flatten().fold(0.0, |most: f64, value| most.max(value.abs()));
    for at in 0..n {
        let pivot = (at..n).max_by(|a, b| rows[*a][at].abs().total_cmp(&rows[*b][at].abs()))?;
        rows.swap(at, pivot);
        let head = rows[at][at];
        if head.abs() <= largest * 1e-13 || head.is_nan() {
            return None;
        }
        rows[at].iter_mut().for_each(|row| *row /= head);
        let row = rows[at].clone();
        for other in (0..n).filter(|n| *n != at) {
            let by = rows[other][at];
            rows[other].iter_mut().zip(&row).for_each(|(value, from)| *value -= by * from);
        }
    }
    Some(rows.into_iter().map(|row| row[n..].to_vec()).collect())
}

/// Finite strengths exist only if, however the players are parted in two, each side has a point from the
/// other (Ford, 1957). The reason names the side that has not.
fn ensure_connected_players(names: &[String], cells: &[PairCounts]) -> Result<(), Undefined> {
    let mut points = vec![vec![false; names.len()]; names.len()];
    for cell in cells {
        points[cell.first][cell.second] |= 0.0 < cell.won + cell.tied;
        points[cell.second][cell.first] |= 0.0 < cell.lost + cell.tied;
    }
    let takes_from = |winner: usize, loser: usize| points[winner][loser];
    let reached = |from: usize, step: &dyn Fn(usize, usize) -> bool| {
        let (mut visited, mut to_visit) = (vec![false; names.len()], vec![from]);
        visited[from] = true;
        while let Some(at) = to_visit.pop() {
            let next: Vec<usize> =
                (0..names.len()).filter(|index| !visited[*index] && step(at, *index)).collect();
            next.iter().for_each(|index| visited[*index] = true);
            to_visit.extend(next);
        }
        visited
    };
    let met = reached(0, &|a, b| takes_from(a, b) || takes_from(b, a));
    if let Some(apart) = met.iter().position(|met| !met) {
        let (one, other) = (&names[0], &names[apart]);
        return Undefined::because(format!("no chain of comparisons leads from `{one}` to `{other}`"));
    }
    // Whoever can be reached upwards loses to nobody else; the smallest such side says most.
    let sides = (0..names.len()).map(|start| reached(start, &|a, b| takes_from(b, a)));
    let Some(above) = sides.min_by_key(|side| side.iter().filter(|flag| **flag).count()) else {
        return Ok(());
    };
    let side = |wanted: bool| -> Vec<String> {
        names
            .iter()
            .zip(&above)
            .filter(|(_, is_above)| **is_above == wanted)
            .map(|(name, _)| format!("`{name}`"))
            .collect()
    };
    let (above, below) = (side(true), side(false));
    Err(Undefined(match (above.as_slice(), below.as_slice()) {
        (_, []) => return Ok(()),
        ([one], _) => format!("{one} won every comparison, so its strength is not finite"),
        (_, [one]) => format!("{one} lost every comparison, so its strength is not finite"),
        (above, _) => {
            let above = above.join(", ");
            format!("{above} won every comparison with the others, so their strengths are not finite")
        }
    }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value as Json, json};

    use super::*;
    use crate::stats::basics::resample::Chance;
    use crate::stats::by_name::compute_statistic;

    fn names(n: usize) -> Vec<String> {
        (0..n).map(|n| n.to_string()).collect()
    }

    fn near(actual: &[f64], expected: &[f64]) -> bool {
        actual.len() == expected.len() && actual.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-8)
    }

    #[track_caller]
    fn check(input: &Json, key: &str, expected: &[f64]) {
        let answer = compute_statistic("bradley_terry", input).unwrap().unwrap();
        let result: Vec<f64> =
            answer[key].as_array().unwrap().iter().map(|item| item.as_f64().unwrap()).collect();
        assert!(near(&result, expected), "{key}: {result:?} {expected:?}");
    }

    #[track_caller]
    fn check_undefined(input: &Json, because: &str) {
        let answer = compute_statistic("bradley_terry", input).unwrap();
        assert_eq!(answer, Err(Undefined(because.to_owned())), "{input}");
    }

    /// The expected strengths are those of choix 0.4.1.
    #[test]
    fn strengths_are_those_of_the_reference() {
        let mut wins = json!([[0, 1], [0, 1], [0, 2], [1, 2], [2, 1], [1, 3], [3, 2], [0, 3], [2, 3]]);
        let penalised =
            |method: &str| json!({ "comparisons": wins, "n_items": 5, "method": method, "alpha": 0.1 });
        check(
            &penalised("ilsr_pairwise"),
            "params",
            &[
                1.132_571_744_843_8,
                -0.189_116_179_871_4,
                -0.413_084_927_801_1,
                -0.765_090_202_200_2,
                0.234_719_565_028_9,
            ],
        );
        check(
            &penalised("mm_pairwise"),
            "params",
            &[
                1.993_563_079_108_2,
                -0.482_252_111_244_9,
                -0.900_259_794_543_7,
                -1.378_545_592_769_6,
                0.767_494_419_45,
            ],
        );
        check(
            &penalised("opt_pairwise"),
            "params",
            &[1.817_129_616_238_9, -0.261_535_150_797_8, -0.582_751_258_583, -0.972_843_206_858_1, 0.0],
        );
        wins.as_array_mut().unwrap().extend([json!([1, 0]), json!([3, 1]), json!([2, 0])]);
        let expected = [0.547_214_087_032_8, -0.171_148_468_298_1, -0.002_198_631_560_7, -0.373_866_987_174];
        check(&json!({ "comparisons": wins }), "params", &expected);
    }

    /// The expected numbers are those of a binomial GLM with an intercept (statsmodels).
    #[test]
    fn position_is_taken_out_of_the_strengths() {
        let results = [
            (0, 1, 14, 5),
            (0, 2, 19, 4),
            (0, 3, 14, 1),
            (1, 0, 6, 5),
            (1, 2, 8, 1),
            (1, 3, 10, 3),
            (2, 0, 4, 7),
            (2, 1, 7, 6),
            (2, 3, 8, 2),
            (3, 0, 1, 10),
            (3, 1, 5, 7),
            (3, 2, 9, 4),
        ];
        let mut list = Vec::new();
        for (first, second, won, lost) in results {
            list.extend((0..won).map(|_| json!([first, second, 1])));
            list.extend((0..lost).map(|_| json!([first, second, 0])));
        }
        let input = json!({ "comparisons": list, "position": true, "reference": 3 });
        check(&input, "theta", &[1.660_232_015_243_3, 1.074_539_048_807_5, 0.383_264_469_333, 0.0]);
        check(&input, "se_naive", &[0.345_332_478_027_7, 0.336_944_359_374_5, 0.326_323_532_617_2, 0.0]);
        let answer = compute_statistic("bradley_terry", &input).unwrap().unwrap();
        assert!((answer["position"].as_f64().unwrap() - 0.653_344_953_038_2).abs() < 1e-8);
    }

    /// The expected numbers maximise Davidson's likelihood written out (scipy).
    #[test]
    fn ties_may_be_an_answer_of_their_own() {
        let input = json!({
            "wins": [[0, 12, 15, 20], [8, 0, 11, 14], [5, 9, 0, 13], [2, 6, 7, 0]],
            "ties": [[0, 5, 4, 1], [5, 0, 6, 3], [4, 6, 0, 4], [1, 3, 4, 0]],
            "tie_rule": "davidson", "reference": 3,
        });
        let answer = compute_statistic("bradley_terry", &input).unwrap().unwrap();
        let expected = [1.861_553_01, 1.118_862_29, 0.785_584_56, 0.0];
        for (result, expected) in answer["theta"].as_array().unwrap().iter().zip(expected) {
            assert!((result.as_f64().unwrap() - expected).abs() < 1e-6, "{answer}");
        }
        assert!((answer["nu"].as_f64().unwrap() - 0.428_990_97).abs() < 1e-6);
    }

    #[test]
    fn strengths_that_do_not_exist_are_no_numbers() {
        check_undefined(&json!({ "wins": [[0]] }), "there are no comparisons");
        check_undefined(
            &json!({ "wins": [[0, 3, 2], [0, 0, 1], [0, 1, 0]] }),
            "`0` won every comparison, so its strength is not finite",
        );
        check_undefined(
            &json!({ "wins": [[0, 3, 2], [1, 0, 1], [0, 0, 0]] }),
            "`2` lost every comparison, so its strength is not finite",
        );
        check_undefined(
            &json!({ "wins": [[0, 3, 0, 0], [1, 0, 0, 0], [0, 0, 0, 2], [0, 0, 1, 0]] }),
            "no chain of comparisons leads from `0` to `2`",
        );
        check_undefined(
            &json!({ "wins": [[0, 3, 1, 0], [1, 0, 0, 1], [0, 0, 0, 2], [0, 0, 1, 0]] }),
            "`0`, `1` won every comparison with the others, so their strengths are not finite",
        );
        check_undefined(
            &json!({ "wins": [[0, 0], [0, 0]], "ties": [[0, 3], [3, 0]], "tie_rule": "davidson" }),
            "every comparison is a tie",
        );
        check_undefined(
            &json!({ "comparisons": [[0, 1, 1], [0, 1, 0]], "position": true }),
            "no candidate was shown in both positions, so position bias and strength cannot be separated",
        );
        check_undefined(
            &json!({ "comparisons": [[0, 1, 1], [1, 0, 1], [0, 1, 1]], "position": true }),
            "the comparisons have no contradictions, so the best strengths are not finite",
        );
        assert_eq!(compute_statistic("kappa", &json!({})), None);
    }

    #[test]
    fn intervals_hold_the_truth_as_often_as_they_say() {
        // Two players of whom one wins 70 of 100: strengths are ± half the log-odds.
        let truth = 0.5 * (0.7_f64 / 0.3).ln();
        let mut chance = Chance::new(11);
        let n_covered = (0..25)
            .filter(|_| {
                let preferred = |won: bool| if won { Preferred::First } else { Preferred::Second };
                let pairs: Vec<Pair> =
                    (0..80).map(|n| Pair::new(n, 0, 1, preferred(chance.below(10) < 7))).collect();
                let ranking = fit_bradley_terry(&names(2), &pairs, BradleyTerryModel::default()).unwrap();
                let (low, high) = ranking.players[0].strength.interval.unwrap();
                low <= truth && truth <= high
            })
            .count();
        assert!((21..=25).contains(&n_covered), "{n_covered}");
    }

    #[test]
    fn comparisons_of_one_case_are_drawn_together() {
        let pairs = |cases: usize| -> Vec<Pair> {
            let preferred = |n: usize| if n % 40 < 24 { Preferred::First } else { Preferred::Second };
            (0..120).map(|n| Pair::new(n % cases, 0, 1, preferred(n % 40))).collect()
        };
        let width = |cases: usize| {
            let ranking = fit_bradley_terry(&names(2), &pairs(cases), BradleyTerryModel::default()).unwrap();
            ranking.players[0].strength.interval.map(|(low, high)| high - low)
        };
        assert!(width(120).unwrap() * 1.5 < width(40).unwrap());
        assert_eq!(width(1), None);
    }

    fn some_pairs() -> impl Strategy<Value = Vec<Pair>> {
        let preferred =
            prop_oneof![Just(Preferred::First), Just(Preferred::Second), Just(Preferred::Neither)];
        let pair =
            (0..4_usize, 0..4_usize, preferred).prop_map(|(a, b, preferred)| Pair::new(0, a, b, preferred));
        proptest::collection::vec(pair, 0..40)
    }

    fn model() -> impl Strategy<Value = BradleyTerryModel> {
        let ties = prop_oneof![Just(TieModel::HalfWins), Just(TieModel::Davidson)];
        let position = prop_oneof![Just(Position::Ignored), Just(Position::Estimated)];
        let penalty = prop_oneof![Just(0.0), 0.01..1.0_f64];
        (ties, position, penalty).prop_map(|(ties, position, penalty)| BradleyTerryModel {
            ties,
            position,
            penalty,
        })
    }

    proptest! {
        #[test]
        fn strengths_sum_to_zero_and_do_not_depend_on_the_order(mut pairs in some_pairs(), model in model(), turn in 0..40_usize) {
            let fit = |pairs: &[Pair]| Fit::new(&names(4), &PairCounts::all(pairs), model);
            let before = fit(&pairs);
            if !pairs.is_empty() {
                let turn = turn % pairs.len();
                pairs.rotate_left(turn);
            }
            match (before, fit(&pairs)) {
                (Ok(before), Ok(after)) => {
                    prop_assert!(near(&before.parameters, &after.parameters));
                    prop_assert!(before.parameters[..4].iter().sum::<f64>().abs() < 1e-9);
                    prop_assert!(before.parameters.iter().all(|parameter| parameter.is_finite()));
                }
                (Err(before), Err(after)) => prop_assert_eq!(before, after),
                _ => prop_assert!(false, "defined in one order only"),
            }
        }

        #[test]
        fn who_shows_up_first_does_not_matter_where_position_is_ignored(pairs in some_pairs()) {
            let turned: Vec<Pair> = pairs.iter().map(|pair| Pair {
                first: pair.second,
                second: pair.first,
                preferred: match pair.preferred {
                    Preferred::First => Preferred::Second,
                    Preferred::Second => Preferred::First,
                    Preferred::Neither => Preferred::Neither,
                },
                ..*pair
            }).collect();
            let fit = |pairs: &[Pair]| Fit::new(&names(4), &PairCounts::all(pairs), BradleyTerryModel::default()).map(|it| it.parameters);
            match (fit(&pairs), fit(&turned)) {
                (Ok(a), Ok(b)) => prop_assert!(near(&a, &b)),
                (a, b) => prop_assert_eq!(a.err(), b.err()),
            }
        }
    }
}
