//! Agreement, correlation and consensus by name, from JSON: what files of cases and other programs ask for.
//!
//! A name with a list as input is a function with its arguments; with an object, a family with its named inputs.

use std::cmp::Ordering;

use serde_json::{Map, Value as Json, json};

use crate::rubric::Value;
use crate::stats::agreement::alpha::alpha;
use crate::stats::agreement::gwet::{
    ChanceCorrectedAgreement, ChanceModel, Credit, compute_chance_corrected_agreement,
};
use crate::stats::agreement::icc::{Design, Icc, IccUnit, icc};
use crate::stats::agreement::kappa::{Kappa, KappaWeights, cohen, cohen_error_by_chance, fleiss, randolph};
use crate::stats::agreement::measure_agreement::percent_agreement;
use crate::stats::agreement::ratings::{Level, Ratings};
use crate::stats::basics::correlation::{
    kendall, kendall_c, kendall_p_in_large_samples, pearson, somers_d, spearman,
};
use crate::stats::basics::undefined::{Undefined, ensure_size};
use crate::stats::calibration::reliability::reliability;
use crate::stats::consensus::glad::glad;
use crate::stats::consensus::votes::{
    Errors, RaterVote, RaterVotes, StopRule, agreement_with, dawid_skene, majority,
};

/// `None` for a name of something else.
pub(super) fn compute_agreement_statistic(name: &str, input: &Json) -> Option<Result<Json, Undefined>> {
    match input.as_array() {
        Some(arguments) => compute_agreement_function(name, arguments),
        None => compute_agreement_family(name, input),
    }
}

fn compute_agreement_function(name: &str, arguments: &[Json]) -> Option<Result<Json, Undefined>> {
    let argument = |at: usize| arguments.get(at).unwrap_or(&Json::Null);
    let two = || two_raters(argument(0), argument(1), &Json::Null);
    let numbers = || two().and_then(|ratings| paired_numbers(&ratings));
    // An order is enough for ranks.
    let places =
        || two().map(|ratings| ratings.pairs(0, 1).into_iter().map(|(a, b)| (a as f64, b as f64)).unzip());
    let number = |result: Result<f64, Undefined>| result.map(|value| json!(value));
    Some(match name {
        "percent_agreement" => number(two().and_then(|ratings| Ok(percent_agreement(&ratings)?.value))),
        "cohen_kappa" => {
            number(two().and_then(|ratings| Ok(two_rater_kappa(&ratings, KappaWeights::None)?.value)))
        }
        "weighted_kappa" => number(two().and_then(|ratings| {
            Ok(two_rater_kappa(&ratings, parse_kappa_weights(argument(2), KappaWeights::Quadratic)?)?.value)
        })),
        "fleiss_kappa" => number(parse_answer_counts(argument(0)).and_then(|ratings| fleiss(&ratings))),
        "krippendorff_alpha" => {
            number(parse_rating_triples(argument(0)).and_then(|ratings| alpha(&ratings, level(argument(1))?)))
        }
        "pearson_r" => number(numbers().and_then(|(x, y)| Ok(pearson(&x, &y)?.value))),
        "spearman_rho" => number(places().and_then(|(x, y): (Vec<_>, Vec<_>)| Ok(spearman(&x, &y)?.value))),
        "kendall_tau" => number(places().and_then(|(x, y): (Vec<_>, Vec<_>)| Ok(kendall(&x, &y)?.value))),
        "mae" => number(numbers().and_then(|(x, y)| mean_difference_size(&x, &y, f64::abs))),
        "rmse" => number(
            numbers().and_then(|(x, y)| Ok(mean_difference_size(&x, &y, |value| value * value)?.sqrt())),
        ),
        "brier" => number(numbers().and_then(|(x, y)| Ok(reliability(&x, &y, 1)?.brier))),
        "ece" => {
            let n_bins = argument(2).as_u64().unwrap_or(10) as usize;
            number(ensure_size("bins", n_bins).and_then(|()| {
                let (x, y) = numbers()?;
                Ok(reliability(&x, &y, n_bins)?.ece)
            }))
        }
        "dawid_skene" => NamedVotes::of_triples(argument(0), [1, 0, 2])
            .map(|named_votes| named_votes.dawid_skene_consensus()),
        "majority_vote" => NamedVotes::of_triples(argument(0), [1, 0, 2])
            .map(|named_votes| named_votes.by_item(&named_votes.majority())),
        _ => {
            let (design, unit) = icc_kind(name)?;
            number(
                parse_rating_rows(argument(0), Rows::Items)
                    .and_then(|ratings| Ok(icc(&ratings, design, unit)?.value)),
            )
        }
    })
}

fn compute_agreement_family(name: &str, input: &Json) -> Option<Result<Json, Undefined>> {
    Some(match name {
        "krippendorff_alpha" => alpha_family(input),
        "cohen_kappa" => cohen_family(input),
        "fleiss_kappa" => fleiss_family(input),
        "gwet_ac1" | "gwet_ac2" => gwet_family(input),
        "icc" => icc_family(input),
        "correlation" => correlation_family(input),
        "dawid_skene" => NamedVotes::of(input).map(|named_votes| named_votes.dawid_skene_family(input)),
        "rater_aggregation" => NamedVotes::of(input).map(|named_votes| named_votes.aggregation_family()),
        "glad" => NamedVotes::of(input).map(|named_votes| named_votes.glad_family(input)),
        _ => return None,
    })
}

fn alpha_family(input: &Json) -> Result<Json, Undefined> {
    let ratings = parse_ratings_input(input, Rows::Raters)?;
    let of = |level| alpha(&ratings, level).ok();
    Ok(json!({
        "alpha": alpha(&ratings, level(&input["level"])?)?,
        "nominal_alpha": of(Level::Nominal),
        "ordinal_alpha": of(Level::Ordinal),
        "interval_alpha": of(Level::Interval),
        "ratio_alpha": of(Level::Ratio),
    }))
}

fn cohen_family(input: &Json) -> Result<Json, Undefined> {
    let ratings = parse_ratings_input(input, Rows::Raters)?;
    let weights = parse_kappa_weights(&input["weights"], KappaWeights::None)?;
    let kappa = two_rater_kappa(&ratings, weights)?;
    let by_chance = cohen_error_by_chance(&ratings.pairs(0, 1), ratings.n_answers(), weights)?;
    let (low, high) = kappa.interval();
    Ok(json!({
        "kappa": kappa.value,
        "std_kappa": kappa.standard_error,
        "kappa_low": low,
        "kappa_upp": high,
        "std_kappa0": by_chance,
        "z": kappa.value / by_chance,
        "percent_agreement": kappa.observed,
    }))
}

fn fleiss_family(input: &Json) -> Result<Json, Undefined> {
    let ratings = parse_ratings_input(input, Rows::Raters)?;
    let free = input["method"].as_str().is_some_and(|input| input.starts_with("randolph"));
    Ok(json!({ "kappa": if free { randolph(&ratings)? } else { fleiss(&ratings)? } }))
}

fn gwet_family(input: &Json) -> Result<Json, Undefined> {
    let ratings = parse_ratings_input(input, Rows::Raters)?;
    let credit = credit(&input["weights"])?;
    let mut all = Map::new();
    for (name, chance) in [
        ("gwet_ac", ChanceModel::Gwet),
        ("fleiss", ChanceModel::Fleiss),
        ("krippendorff", ChanceModel::Krippendorff),
        ("conger", ChanceModel::Conger),
        ("brennan_prediger", ChanceModel::BrennanPrediger),
    ] {
        let it @ ChanceCorrectedAgreement { value, standard_error, observed, by_chance, .. } =
            compute_chance_corrected_agreement(&ratings, chance, credit)?;
        let parts = json!({
            "coef": value, "se": standard_error, "ci": it.interval(), "pa": observed, "pe": by_chance,
        });
        all.insert(name.to_owned(), parts);
    }
    Ok(Json::Object(all))
}

fn icc_family(input: &Json) -> Result<Json, Undefined> {
    let ratings = parse_ratings_input(input, Rows::Items)?;
    let mut all = Map::new();
    // With absolute agreement (A) or consistency (C), as McGraw and Wong name them.
    for (name, design, unit) in [
        ("ICC(1,1)", Design::OneWay, IccUnit::Single),
        ("ICC(A,1)", Design::Random, IccUnit::Single),
        ("ICC(C,1)", Design::Fixed, IccUnit::Single),
        ("ICC(1,k)", Design::OneWay, IccUnit::Mean),
        ("ICC(A,k)", Design::Random, IccUnit::Mean),
        ("ICC(C,k)", Design::Fixed, IccUnit::Mean),
    ] {
        let Icc { value, interval, f, degrees, p, .. } = icc(&ratings, design, unit)?;
        let parts = json!({
            "ICC": value,
            "F": f,
            "df1": degrees.numerator,
            "df2": degrees.denominator,
            "pval": p,
            "CI95": interval,
        });
        all.insert(name.to_owned(), parts);
    }
    Ok(Json::Object(all))
}

fn correlation_family(input: &Json) -> Result<Json, Undefined> {
    let (x, y) = paired_numbers(&two_raters(&input["x"], &input["y"], &Json::Null)?)?;
    let (linear, by_rank, by_pair) = (pearson(&x, &y)?, spearman(&x, &y)?, kendall(&x, &y)?);
    Ok(json!({
        "pearson": linear.value,
        "pearson_p": linear.p,
        "pearson_ci95_fisher": linear.interval(),
        "spearman": by_rank.value,
        "spearman_p": by_rank.p,
        "kendall_tau_b": by_pair.value,
        "kendall_tau_b_p_asymptotic": kendall_p_in_large_samples(&x, &y)?,
        "kendall_p_exact_or_auto": by_pair.p,
        "kendall_tau_c": kendall_c(&x, &y)?,
        "somers_d": somers_d(&x, &y)?,
    }))
}

/// Votes with the names of who gave them to what.
struct NamedVotes {
    votes: RaterVotes,
    items: Vec<Json>,
    raters: Vec<Json>,
    answers: Vec<Json>,
}

impl NamedVotes {
    fn of(input: &Json) -> Result<Self, Undefined> {
        if input["long"].is_array() {
            return Self::of_triples(&input["long"], [0, 1, 2]);
        }
        let Some(items) = input["responses"].as_object() else {
            return Undefined::because("the input has neither `long` nor `responses`");
        };
        let mut triples = Vec::new();
        for (item, raters) in items {
            for (rater, answers) in raters.as_object().into_iter().flatten() {
                for answer in answers.as_array().unwrap_or(&vec![answers.clone()]) {
                    triples.push(json!([item, rater, answer]));
                }
            }
        }
        Self::of_triples(&Json::Array(triples), [0, 1, 2])
    }

    /// `order` has the positions of item, rater and answer.
    fn of_triples(triples: &Json, order: [usize; 3]) -> Result<Self, Undefined> {
        let triples = require_json_list(triples, "votes")?;
        let names = |which: usize| {
            let mut names: Vec<Json> = triples.iter().map(|triple| triple[order[which]].clone()).collect();
            names.sort_by(compare_natural_order);
            names.dedup();
            names
        };
        let (items, raters, answers) = (names(0), names(1), names(2));
        let place = |names: &[Json], name: &Json| {
            names.binary_search_by(|value| compare_natural_order(value, name)).unwrap_or(0)
        };
        let vote = |value: &Json| RaterVote {
            rater: place(&raters, &value[order[1]]),
            item: place(&items, &value[order[0]]),
            answer: place(&answers, &value[order[2]]),
        };
        let votes =
            RaterVotes::new(raters.len(), items.len(), answers.len(), triples.iter().map(vote).collect())?;
        Ok(Self { votes, items, raters, answers })
    }

    fn majority(&self) -> Vec<usize> {
        majority(&self.votes).iter().map(|majority| majority.answer).collect()
    }

    fn by_item(&self, answers: &[usize]) -> Json {
        self.items
            .iter()
            .zip(answers)
            .map(|(item, index)| (key(item), self.answers[*index].clone()))
            .collect()
    }

    fn by_rater(&self, values: impl IntoIterator<Item = f64>) -> Json {
        self.raters.iter().zip(values).map(|(rater, value)| (key(rater), json!(value))).collect()
    }

    fn labels(&self, answers: &[usize]) -> Vec<&Json> {
        answers.iter().map(|index| &self.answers[*index]).collect()
    }

    /// Share of items on which these answers are true, where the truth is known.
    fn accuracy(&self, answers: &[usize], truth: &Json) -> Option<f64> {
        let truth = truth.as_array().filter(|items| items.len() == answers.len())?;
        let right =
            self.labels(answers).into_iter().zip(truth).filter(|(label, truth)| label == truth).count();
        Some(right as f64 / answers.len() as f64)
    }

    fn dawid_skene_consensus(&self) -> Json {
        let model = dawid_skene(&self.votes, Errors::Confusion, StopRule::Settled);
        let answers = model.answers();
        let round = |value: f64| (value * 1e4).round() / 1e4;
        let sure = self.items.iter().zip(&answers).zip(&model.beliefs);
        json!({
            "labels": self.by_item(&answers),
            "confidence": sure.map(|((item, at), it)| (key(item), json!(round(it[*at])))).collect::<Json>(),
            "reliability": self.by_rater(model.reliability.iter().map(|reliability| round(*reliability))),
        })
    }

    fn dawid_skene_family(&self, input: &Json) -> Json {
        // Votes in a long list are crowd-kit's, responses by item those of the paper.
        let stop = if input["long"].is_array() { StopRule::LikeCrowdKit } else { StopRule::Settled };
        let model = dawid_skene(&self.votes, Errors::Confusion, stop);
        let (answers, majority) = (model.answers(), self.majority());
        let skills = agreement_with(&self.votes, &majority).into_iter().map(Option::unwrap_or_default);
        let priors: Json =
            self.answers.iter().zip(&model.prior).map(|(value, p)| (key(value), json!(p))).collect();
        let rates: Json =
            self.raters.iter().zip(&model.confusion).map(|(value, rows)| (key(value), json!(rows))).collect();
        json!({
            "class_marginals": model.prior,
            "observer1_error_rates_rows_true": model.confusion[0],
            "error_rates_rows_true": rates,
            "most_likely_class": self.labels(&answers),
            "labels": self.labels(&answers),
            "accuracy_ds": self.accuracy(&answers, &input["truth"]),
            "accuracy_majority": self.accuracy(&majority, &input["truth"]),
            "priors": priors,
            "wawa_skills": self.by_rater(skills),
        })
    }

    fn aggregation_family(&self) -> Json {
        let model = dawid_skene(&self.votes, Errors::OneCoin, StopRule::LikeCrowdKit);
        json!({
            "majority": self.by_item(&self.majority()),
            "one_coin_labels": self.by_item(&model.answers()),
            "one_coin_skills": self.by_rater(model.reliability),
        })
    }

    fn glad_family(&self, input: &Json) -> Json {
        let model = glad(&self.votes);
        let answers = model.answers();
        let mut order: Vec<usize> = (0..self.raters.len()).collect();
        order.sort_by(|a, b| model.abilities[*b].total_cmp(&model.abilities[*a]));
        json!({
            "labels": self.labels(&answers),
            "worker_alphas_order_desc": order.into_iter().map(|order| &self.raters[order]).collect::<Vec<_>>(),
            "accuracy": self.accuracy(&answers, &input["truth"]),
        })
    }
}

/// What the rows of a table are.
#[derive(Clone, Copy, PartialEq)]
enum Rows {
    Raters,
    Items,
}

/// In any of the shapes that ratings come in; `rows` unless the layout says otherwise.
fn parse_ratings_input(input: &Json, rows: Rows) -> Result<Ratings, Undefined> {
    if input["ratings"].is_array() {
        let rows = match input["layout"].as_str() {
            Some(layout) if layout.starts_with("item") => Rows::Items,
            Some(layout) if layout.starts_with("rater") => Rows::Raters,
            _ => rows,
        };
        return parse_rating_rows(&input["ratings"], rows);
    }
    if input["counts"].is_array() {
        return parse_answer_counts(&input["counts"]);
    }
    if input["table"].is_array() {
        return parse_contingency_table(&input["table"]);
    }
    two_raters(&input["rater1"], &input["rater2"], &input["categories"])
}

fn parse_rating_rows(table: &Json, rows: Rows) -> Result<Ratings, Undefined> {
    let table = require_json_list(table, "ratings")?;
    let table: Vec<&Vec<Json>> =
        table.iter().map(|table| require_json_list(table, "ratings")).collect::<Result<_, _>>()?;
    let width = table.first().map_or(0, |values| values.len());
    if table.iter().any(|table| table.len() != width) {
        return Undefined::because("the raters did not get the same number of items");
    }
    if rows == Rows::Items {
        let cells: Vec<Option<Value>> =
            table.iter().flat_map(|row| row.iter().map(parse_rating_value)).collect();
        return Ratings::of_values(numbered_rater_names(width), &cells);
    }
    let cells: Vec<Option<Value>> =
        (0..width).flat_map(|at| table.iter().map(move |row| parse_rating_value(&row[at]))).collect();
    Ratings::of_values(numbered_rater_names(table.len()), &cells)
}

/// One list for each rater, item by item; `scale` holds all possible answers, in their order.
fn two_raters(a: &Json, b: &Json, scale: &Json) -> Result<Ratings, Undefined> {
    let (a, b) = (require_json_list(a, "first ratings")?, require_json_list(b, "second ratings")?);
    if a.len() != b.len() {
        return Undefined::because(format!("{} ratings cannot be paired with {}", a.len(), b.len()));
    }
    let cells = a.iter().zip(b).flat_map(|(a, b)| [a, b]);
    let Some(scale) = scale.as_array() else {
        return Ratings::of_values(
            numbered_rater_names(2),
            &cells.map(parse_rating_value).collect::<Vec<_>>(),
        );
    };
    let cells: Vec<Option<String>> = cells.map(|cell| (!cell.is_null()).then(|| key(cell))).collect();
    let cells: Vec<Option<&str>> = cells.iter().map(Option::as_deref).collect();
    let scale: Vec<String> = scale.iter().map(key).collect();
    Ratings::of_labels(numbered_rater_names(2), &cells, &scale.iter().map(String::as_str).collect::<Vec<_>>())
}

/// How often two raters gave which pair of answers.
fn parse_contingency_table(table: &Json) -> Result<Ratings, Undefined> {
    ensure_size("ratings in `table`", sum_of_counts(table))?;
    let mut cells = Vec::new();
    for (a, row) in require_json_list(table, "table")?.iter().enumerate() {
        for (b, n) in require_json_list(row, "table")?.iter().enumerate() {
            for _ in 0..n.as_u64().unwrap_or(0) {
                cells.extend([Some(a as f64), Some(b as f64)]);
            }
        }
    }
    Ratings::of_numbers(numbered_rater_names(2), &cells)
}

/// The sum of all counts of a table, in rows or by name.
fn sum_of_counts(table: &Json) -> usize {
    match table {
        Json::Array(rows) => rows.iter().map(sum_of_counts).fold(0, usize::saturating_add),
        Json::Object(row) => row.values().map(sum_of_counts).fold(0, usize::saturating_add),
        cell => usize::try_from(cell.as_u64().unwrap_or(0)).unwrap_or(usize::MAX),
    }
}

/// How often each answer was given to each item, by name or in a row.
fn parse_answer_counts(counts: &Json) -> Result<Ratings, Undefined> {
    ensure_size("ratings in `counts`", sum_of_counts(counts))?;
    let expand = |(label, n): (String, &Json)| vec![Some(label); n.as_u64().unwrap_or(0) as usize];
    let rows: Vec<Vec<Option<String>>> = require_json_list(counts, "counts")?
        .iter()
        .map(|require_json_list| match require_json_list {
            Json::Object(row) => row.iter().map(|(label, n)| (label.clone(), n)).flat_map(expand).collect(),
            _ => require_json_list
                .as_array()
                .into_iter()
                .flatten()
                .enumerate()
                .map(|(at, n)| (at.to_string(), n))
                .flat_map(expand)
                .collect(),
        })
        .collect();
    let n_raters = rows.iter().map(Vec::len).max().unwrap_or(0);
    ensure_size("raters times items", n_raters.saturating_mul(rows.len()))?;
    let cells: Vec<Option<&str>> =
        rows.iter().flat_map(|row| (0..n_raters).map(|at| row.get(at).and_then(Option::as_deref))).collect();
    // The scale has all columns: chance agreement may count categories that were never chosen.
    let n_columns = counts[0].as_array().map_or(0, Vec::len);
    let scale: Vec<String> = (0..n_columns).map(|n| n.to_string()).collect();
    Ratings::of_labels(
        numbered_rater_names(n_raters),
        &cells,
        &scale.iter().map(String::as_str).collect::<Vec<_>>(),
    )
}

fn parse_rating_triples(triples: &Json) -> Result<Ratings, Undefined> {
    let triples = require_json_list(triples, "ratings")?;
    let names: Vec<(String, String)> =
        triples.iter().map(|triple| (key(&triple[0]), key(&triple[1]))).collect();
    let rated = names.iter().zip(triples).filter_map(|((rater, item), value)| {
        Some((rater.as_str(), item.as_str(), parse_rating_value(&value[2])?))
    });
    Ratings::of_entries(rated)
}

fn two_rater_kappa(ratings: &Ratings, weights: KappaWeights) -> Result<Kappa, Undefined> {
    if ratings.n_raters() != 2 {
        return Undefined::because(format!("it is for two raters, and there are {}", ratings.n_raters()));
    }
    cohen(&ratings.pairs(0, 1), ratings.n_answers(), weights)
}

/// The answers of the first two raters about the items that both rated.
fn paired_numbers(ratings: &Ratings) -> Result<(Vec<f64>, Vec<f64>), Undefined> {
    let numbers = ratings.numbers()?;
    Ok(ratings.pairs(0, 1).into_iter().map(|(a, b)| (numbers[a], numbers[b])).unzip())
}

fn mean_difference_size(x: &[f64], y: &[f64], size: impl Fn(f64) -> f64) -> Result<f64, Undefined> {
    if x.is_empty() {
        return Undefined::because("no item was rated by both");
    }
    Ok(x.iter().zip(y).map(|(x, y)| size(x - y)).sum::<f64>() / x.len() as f64)
}

fn parse_kappa_weights(name: &Json, default: KappaWeights) -> Result<KappaWeights, Undefined> {
    Ok(match name.as_str() {
        None => default,
        Some("none" | "unweighted") => KappaWeights::None,
        Some("linear") => KappaWeights::Linear,
        Some("quadratic") => KappaWeights::Quadratic,
        Some(other) => return Undefined::because(format!("there are no `{other}` weights")),
    })
}

fn credit(name: &Json) -> Result<Credit, Undefined> {
    Ok(match name.as_str() {
        None | Some("identity" | "unweighted") => Credit::Identity,
        Some("ordinal") => Credit::Ordinal,
        Some("linear") => Credit::Linear,
        Some("quadratic") => Credit::Quadratic,
        Some("radical") => Credit::Radical,
        Some("ratio") => Credit::Ratio,
        Some("circular") => Credit::Circular,
        Some("bipolar") => Credit::Bipolar,
        Some(other) => return Undefined::because(format!("there are no `{other}` weights")),
    })
}

fn level(name: &Json) -> Result<Level, Undefined> {
    Ok(match name.as_str() {
        None | Some("nominal") => Level::Nominal,
        Some("ordinal") => Level::Ordinal,
        Some("interval") => Level::Interval,
        Some("ratio") => Level::Ratio,
        Some(other) => return Undefined::because(format!("there is no `{other}` level of measurement")),
    })
}

fn icc_kind(name: &str) -> Option<(Design, IccUnit)> {
    Some(match name {
        "icc_1_1" => (Design::OneWay, IccUnit::Single),
        "icc_2_1" => (Design::Random, IccUnit::Single),
        "icc_3_1" => (Design::Fixed, IccUnit::Single),
        "icc_1_k" => (Design::OneWay, IccUnit::Mean),
        "icc_2_k" => (Design::Random, IccUnit::Mean),
        "icc_3_k" => (Design::Fixed, IccUnit::Mean),
        _ => return None,
    })
}

fn require_json_list<'a>(input: &'a Json, what: &str) -> Result<&'a Vec<Json>, Undefined> {
    input.as_array().ok_or_else(|| Undefined(format!("the {what} are not a list")))
}

/// A number in quotes is a number; null is a gap.
fn parse_rating_value(it: &Json) -> Option<Value> {
    match it {
        Json::Null => None,
        Json::Bool(it) => Some(Value::Bool(*it)),
        Json::Number(it) => it.as_f64().map(Value::Number),
        other => {
            let text = key(other);
            Some(
                text.parse()
                    .ok()
                    .filter(|text: &f64| text.is_finite())
                    .map_or(Value::Text(text), Value::Number),
            )
        }
    }
}

/// 5 and 5.0 have one name.
fn key(it: &Json) -> String {
    match it {
        Json::String(it) => it.clone(),
        Json::Number(number) => number.as_f64().map_or_else(|| it.to_string(), |value| value.to_string()),
        _ => it.to_string(),
    }
}

fn numbered_rater_names(n: usize) -> Vec<String> {
    (1..=n).map(|n| n.to_string()).collect()
}

/// Numbers by their size, also as text, before everything else.
fn compare_natural_order(a: &Json, b: &Json) -> Ordering {
    let number = |value: &Json| key(value).parse::<f64>().ok();
    match (number(a), number(b)) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => key(a).cmp(&key(b)),
    }
}
