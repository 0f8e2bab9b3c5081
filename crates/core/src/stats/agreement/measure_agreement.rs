//! How far raters agree: all of them, two by two, and without each of them.

use std::collections::BTreeMap;

use serde::Serialize;

use super::alpha::{alpha, alpha_with_interval};
use super::gwet::{Credit, gwet_with_interval};
use super::icc::{Design, IccUnit, icc};
use super::kappa::{KappaWeights, cohen_with_interval, fleiss_with_interval};
use super::ratings::{Level, Ratings};
use crate::grade::{Outcome, Value};
use crate::run::{CaseResult, Run};
use crate::stats::basics::correlation::{Correlation, kendall, pearson, spearman};
use crate::stats::basics::measure::{Coefficient, CoefficientResult, share_with_interval};
use crate::stats::basics::undefined::Undefined;

/// What raters of the same items have in common.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Agreement {
    pub level: Level,
    pub n_raters: usize,
    /// Items rated twice or more.
    pub n_items: usize,
    /// Share of the pairs of ratings of one item that are the same.
    pub percent: CoefficientResult,
    pub krippendorff_alpha: CoefficientResult,
    pub fleiss_kappa: CoefficientResult,
    /// AC1 for labels, AC2 with the weights of the level for everything else.
    pub gwet_ac: CoefficientResult,
    /// By design and unit, such as `ICC(2,k)`.
    pub icc: BTreeMap<&'static str, CoefficientResult>,
    pub pairs: Vec<PairAgreement>,
    pub without: Vec<LeaveOneOutAgreement>,
}

/// What two raters have in common.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PairAgreement {
    pub raters: (String, String),
    #[serde(flatten)]
    pub measures: PairMeasures,
}

/// Measures of two lists of ratings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PairMeasures {
    pub percent: CoefficientResult,
    pub kappa: CoefficientResult,
    pub kappa_linear: CoefficientResult,
    pub kappa_quadratic: CoefficientResult,
    pub pearson: CoefficientResult,
    pub spearman: CoefficientResult,
    pub kendall: CoefficientResult,
}

/// Agreement without one rater. If it is higher, that rater differs from the others.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LeaveOneOutAgreement {
    pub rater: String,
    pub percent: CoefficientResult,
    pub krippendorff_alpha: CoefficientResult,
}

/// The part of it that people look at first. Everything else takes several times as long.
#[derive(Debug, Clone, PartialEq)]
pub struct AgreementSummary {
    /// Items rated twice or more.
    pub n_items: usize,
    pub krippendorff_alpha: CoefficientResult,
    pub pairs: Vec<PairKappa>,
    /// α without each rater, and without an interval.
    pub without: Vec<(String, CoefficientResult)>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct PairKappa {
    pub raters: (String, String),
    /// With quadratic weights where answers have an order.
    pub kappa: CoefficientResult,
    /// Items that both rated.
    pub n: usize,
}

pub fn summarise_agreement(ratings: &Ratings, level: Level, seed: u64) -> AgreementSummary {
    let n = ratings.n_raters();
    let name = |at: usize| ratings.raters()[at].clone();
    let weights = if level == Level::Nominal { KappaWeights::None } else { KappaWeights::Quadratic };
    let pair_seed = (n <= MOST_RATERS).then_some(seed);
    let pair = |(a, b): (usize, usize)| {
        let pairs = ratings.pairs(a, b);
        let kappa = cohen_with_interval(&pairs, ratings.n_answers(), weights, pair_seed);
        PairKappa { raters: (name(a), name(b)), kappa: kappa.into(), n: pairs.len() }
    };
    let without = |out: usize| {
        let rest = ratings.of_raters(&(0..n).filter(|n| *n != out).collect::<Vec<_>>());
        let left = n_comparable(&rest);
        (name(out), alpha(&rest, level).map(|alpha| Coefficient::new(alpha, None, left)).into())
    };
    AgreementSummary {
        n_items: n_comparable(ratings),
        krippendorff_alpha: alpha_with_interval(ratings, level, seed).into(),
        pairs: pairs_of(n).map(pair).collect(),
        // Without one of two raters there is no agreement to measure.
        without: (0..n).filter(|_| 2 < n).map(without).collect(),
    }
}

/// Of more raters, κ of each two is given without an interval: there are 66 pairs of twelve.
pub const MOST_RATERS: usize = 12;

fn pairs_of(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(move |a| (a + 1..n).map(move |b| (a, b)))
}

/// Items rated twice or more.
fn n_comparable(ratings: &Ratings) -> usize {
    ratings.by_item().filter(|answers| 2 <= answers.clone().count()).count()
}

pub fn measure_agreement(ratings: &Ratings, level: Level, seed: u64) -> Agreement {
    let n = ratings.n_raters();
    let all: Vec<usize> = (0..n).collect();
    let without = |out: usize| {
        let rest = ratings.of_raters(&all.iter().copied().filter(|n| *n != out).collect::<Vec<_>>());
        LeaveOneOutAgreement {
            rater: ratings.raters()[out].clone(),
            percent: percent_agreement(&rest).into(),
            krippendorff_alpha: alpha(&rest, level)
                .map(|alpha| Coefficient::new(alpha, None, n_comparable(&rest)))
                .into(),
        }
    };
    let pair_seed = (n <= MOST_RATERS).then_some(seed);
    let pair = |(a, b): (usize, usize)| PairAgreement {
        raters: (ratings.raters()[a].clone(), ratings.raters()[b].clone()),
        measures: pair_measures(ratings, a, b, pair_seed),
    };
    let kinds = [
        ("ICC(1,1)", Design::OneWay, IccUnit::Single),
        ("ICC(2,1)", Design::Random, IccUnit::Single),
        ("ICC(3,1)", Design::Fixed, IccUnit::Single),
        ("ICC(1,k)", Design::OneWay, IccUnit::Mean),
        ("ICC(2,k)", Design::Random, IccUnit::Mean),
        ("ICC(3,k)", Design::Fixed, IccUnit::Mean),
    ];
    Agreement {
        level,
        n_raters: n,
        n_items: n_comparable(ratings),
        percent: percent_agreement(ratings).into(),
        krippendorff_alpha: alpha_with_interval(ratings, level, seed).into(),
        fleiss_kappa: fleiss_with_interval(ratings, seed).into(),
        gwet_ac: gwet_ac(ratings, level, seed).into(),
        icc: kinds
            .map(|(name, design, unit)| {
                (name, icc(ratings, design, unit).map(|icc| icc.coefficient()).into())
            })
            .into(),
        pairs: pairs_of(n).map(pair).collect(),
        // Without one of two raters there is no agreement to measure.
        without: all.iter().filter(|_| 2 < n).map(|n| without(*n)).collect(),
    }
}

/// Agreement criterion by criterion, of everybody who graded one.
pub fn agreement_by_criterion(run: &Run) -> BTreeMap<String, Agreement> {
    let all = ratings_by_criterion(run).into_iter();
    all.map(|(criterion, (ratings, level))| (criterion, measure_agreement(&ratings, level, run.seed)))
        .collect()
}

/// Who gave which case what, criterion by criterion. Numbers have an order, everything else is a label.
pub fn ratings_by_criterion(run: &Run) -> BTreeMap<String, (Ratings, Level)> {
    let results: Vec<CaseResult> = run.results.iter().collect();
    let mut entries: BTreeMap<&str, Vec<(&str, &str, Value)>> = BTreeMap::new();
    for result in &results {
        for grade in &result.grades {
            if let Outcome::Scored { value, .. } = &grade.outcome {
                let entry = (grade.grader.name.as_str(), result.case.as_str(), value.clone());
                entries.entry(&grade.criterion).or_default().push(entry);
            }
        }
    }
    let rated = |(criterion, entries): (&str, Vec<(&str, &str, Value)>)| {
        let is_ordered = entries.iter().all(|(_, _, value)| matches!(value, Value::Number(_)));
        let level = if is_ordered { Level::Ordinal } else { Level::Nominal };
        Some((criterion.to_owned(), (Ratings::of_entries(entries).ok()?, level)))
    };
    entries.into_iter().filter_map(rated).collect()
}

/// Share of the pairs of ratings of one item that are the same, on average over items.
pub fn percent_agreement(ratings: &Ratings) -> Result<Coefficient, Undefined> {
    ratings.ensure_comparable()?;
    let same: Vec<f64> = ratings.same_pairs().collect();
    share_with_interval(same.iter().sum(), same.len())
}

pub(crate) fn gwet_ac(ratings: &Ratings, level: Level, seed: u64) -> Result<Coefficient, Undefined> {
    ratings.ensure_two_rated_items()?;
    gwet_with_interval(ratings, credit_of(level), seed)
}

fn credit_of(level: Level) -> Credit {
    match level {
        Level::Nominal => Credit::Identity,
        Level::Ordinal => Credit::Ordinal,
        Level::Interval => Credit::Quadratic,
        Level::Ratio => Credit::Ratio,
    }
}

/// κ has an interval where there is a seed to draw it with.
pub(crate) fn pair_measures(ratings: &Ratings, a: usize, b: usize, seed: Option<u64>) -> PairMeasures {
    let pairs = ratings.pairs(a, b);
    let kappa =
        |weights| CoefficientResult::from(cohen_with_interval(&pairs, ratings.n_answers(), weights, seed));
    // Ranks need an order and no more; a straight line needs numbers.
    let (first, second): (Vec<f64>, Vec<f64>) = pairs.iter().map(|(a, b)| (*a as f64, *b as f64)).unzip();
    let numbers = ratings.numbers().map(|number| {
        pairs.iter().map(|(a, b)| (number[*a], number[*b])).unzip::<f64, f64, Vec<_>, Vec<_>>()
    });
    let of = |result: Result<Correlation, Undefined>| {
        CoefficientResult::from(result.map(|correlation| correlation.coefficient()))
    };
    PairMeasures {
        percent: percent_agreement(&ratings.of_raters(&[a, b])).into(),
        kappa: kappa(KappaWeights::None),
        kappa_linear: kappa(KappaWeights::Linear),
        kappa_quadratic: kappa(KappaWeights::Quadratic),
        pearson: of(numbers.and_then(|(x, y)| pearson(&x, &y))),
        spearman: of(spearman(&first, &second)),
        kendall: of(kendall(&first, &second)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::gwet::{ChanceModel, compute_chance_corrected_agreement};
    use super::super::kappa::fleiss;
    use super::super::ratings::tests::ratings;
    use super::*;
    use crate::stats::comparison::compare::tests::run_of;

    #[test]
    fn the_rater_who_stands_apart_is_seen() {
        let result =
            measure_agreement(&ratings("1 2 3 4 5 1\n 1 2 3 4 4 1\n 5 1 . 2 1 4"), Level::Ordinal, 1);
        assert_eq!((result.n_raters, result.n_items, result.pairs.len()), (3, 6, 3));
        let alpha_of = |coefficient: &CoefficientResult| coefficient.value().unwrap();
        assert!(alpha_of(&result.krippendorff_alpha) < 0.3);
        assert!(0.9 < alpha_of(&result.without[2].krippendorff_alpha), "{:?}", result.without);
        assert!(0.8 < alpha_of(&result.pairs[0].measures.kappa_quadratic));
        assert_eq!(result.icc["ICC(2,1)"].value().map(|value| value < 0.5), Some(true));
    }

    #[test]
    fn in_short_the_same_is_said() {
        for level in [Level::Ordinal, Level::Nominal] {
            let ratings = ratings("1 2 3 4 5 1\n 1 2 3 4 4 1\n 5 1 . 2 1 4");
            let (all, short) =
                (measure_agreement(&ratings, level, 1), summarise_agreement(&ratings, level, 1));
            assert_eq!((short.n_items, &short.krippendorff_alpha), (all.n_items, &all.krippendorff_alpha));
            assert_eq!(short.pairs.iter().map(|pair| pair.n).collect::<Vec<_>>(), [6, 5, 5]);
            for (short, all) in short.pairs.iter().zip(&all.pairs) {
                let of = &all.measures;
                let kappa = if level == Level::Nominal { &of.kappa } else { &of.kappa_quadratic };
                assert_eq!((&short.raters, &short.kappa), (&all.raters, kappa));
            }
            for (short, all) in short.without.iter().zip(&all.without) {
                assert_eq!((&short.0, short.1.value()), (&all.rater, all.krippendorff_alpha.value()));
            }
        }
    }

    #[test]
    fn what_is_undefined_says_why_in_json() {
        let result = measure_agreement(&ratings("1 1\n 1 1"), Level::Nominal, 1);
        let json = serde_json::to_value(&result).unwrap();
        assert_eq!(json["percent"]["value"], 1.0);
        assert!(
            json["krippendorff_alpha"]["undefined"].as_str().unwrap().starts_with("all ratings"),
            "{json}"
        );
        assert!(json["pairs"][0]["kappa"]["undefined"].is_string());
        let one = serde_json::to_value(measure_agreement(&ratings("1\n 2"), Level::Nominal, 1)).unwrap();
        for name in ["krippendorff_alpha", "fleiss_kappa", "gwet_ac"] {
            assert!(one[name]["undefined"].as_str().unwrap().starts_with("there is only one item"), "{one}");
        }
        let alone = measure_agreement(&ratings("1 2"), Level::Nominal, 1);
        assert_eq!(
            alone.percent,
            CoefficientResult::Undefined { undefined: "there is only one rater".into() }
        );
    }

    #[test]
    fn graders_of_a_run_are_compared_criterion_by_criterion() {
        let mut run = run_of(&[("x", Some(0.5)), ("y", Some(1.0)), ("z", None)]);
        let alone = &agreement_by_criterion(&run)["a"];
        assert_eq!(
            alone.percent,
            CoefficientResult::Undefined { undefined: "there is only one rater".into() }
        );
        run.results.change(|_, result| {
            let mut second = result.grades[0].clone();
            second.grader.name = "m2".to_owned();
            result.grades.push(second);
        });
        // A grader that failed did not rate.
        let both = &agreement_by_criterion(&run)["a"];
        assert_eq!((both.n_items, both.level, both.percent.value()), (2, Level::Ordinal, Some(1.0)));
    }

    /// Tables of up to five raters and twelve items with gaps.
    fn tables() -> impl Strategy<Value = (usize, Vec<Option<u8>>)> {
        (2_usize..5, 2_usize..12).prop_flat_map(|(raters, items)| {
            let cells = prop::collection::vec(prop::option::weighted(0.8, 1_u8..6), raters * items);
            (Just(raters), cells)
        })
    }

    fn table((raters, cells): &(usize, Vec<Option<u8>>)) -> Ratings {
        let numbers: Vec<Option<f64>> = cells.iter().map(|cell| cell.map(f64::from)).collect();
        Ratings::of_numbers((0..*raters).map(|n| n.to_string()).collect(), &numbers).unwrap()
    }

    fn same(a: Result<f64, Undefined>, b: Result<f64, Undefined>) -> bool {
        match (a, b) {
            (Ok(a), Ok(b)) => (a - b).abs() < 1e-9,
            (a, b) => a.is_err() && b.is_err(),
        }
    }

    /// Without the draws of its interval.
    fn gwet_value(ratings: &Ratings, level: Level) -> Result<f64, Undefined> {
        ratings.ensure_two_rated_items()?;
        Ok(compute_chance_corrected_agreement(ratings, ChanceModel::Gwet, credit_of(level))?.value)
    }

    proptest! {
        #[test]
        fn the_order_of_raters_and_items_is_nothing(some in tables()) {
            let some = table(&some);
            let raters: Vec<usize> = (0..some.n_raters()).rev().collect();
            let items: Vec<usize> = (0..some.n_items()).rev().collect();
            let turned = some.of_raters(&raters).of_items(&items);
            for level in [Level::Nominal, Level::Ordinal, Level::Interval, Level::Ratio] {
                prop_assert!(same(alpha(&some, level), alpha(&turned, level)));
                let of = |ratings: &Ratings| gwet_value(ratings, level);
                prop_assert!(same(of(&some), of(&turned)));
            }
            prop_assert!(same(fleiss(&some), fleiss(&turned)));
            let of = |ratings: &Ratings| icc(ratings, Design::Random, IccUnit::Mean).map(|icc| icc.value);
            prop_assert!(same(of(&some), of(&turned)));
        }

        #[test]
        fn two_raters_agree_with_each_other_alike(some in tables()) {
            let some = table(&some);
            let (forth, back) = (pair_measures(&some, 0, 1, None), pair_measures(&some, 1, 0, None));
            for (a, b) in [
                (&forth.kappa, &back.kappa),
                (&forth.kappa_linear, &back.kappa_linear),
                (&forth.kappa_quadratic, &back.kappa_quadratic),
                (&forth.pearson, &back.pearson),
                (&forth.kendall, &back.kendall),
            ] {
                prop_assert!(a.value().zip(b.value()).map_or(a.value() == b.value(), |(a, b)| (a - b).abs() < 1e-9));
            }
        }

        #[test]
        fn perfect_agreement_is_one(answers in prop::collection::vec(1_u8..6, 3..12), raters in 2_usize..5) {
            prop_assume!(answers.iter().any(|answer| *answer != answers[0]));
            let cells = answers.iter().flat_map(|answer| vec![Some(*answer); raters]).collect();
            let some = table(&(raters, cells));
            for level in [Level::Nominal, Level::Ordinal, Level::Interval, Level::Ratio] {
                prop_assert!(same(alpha(&some, level), Ok(1.0)));
                prop_assert!(same(gwet_value(&some, level), Ok(1.0)));
            }
            prop_assert!(same(fleiss(&some), Ok(1.0)));
            prop_assert!(same(icc(&some, Design::OneWay, IccUnit::Single).map(|icc| icc.value), Ok(1.0)));
            prop_assert_eq!(pair_measures(&some, 0, 1, None).kappa_quadratic.value(), Some(1.0));
        }

        #[test]
        fn a_gap_more_than_there_was_changes_nothing(some in tables()) {
            let (raters, mut cells) = some;
            let before = table(&(raters, cells.clone()));
            cells.extend(vec![None; raters]);
            let after = table(&(raters, cells));
            prop_assert!(same(alpha(&before, Level::Ordinal), alpha(&after, Level::Ordinal)));
            prop_assert!(same(fleiss(&before), fleiss(&after)));
        }
    }
}
