//! What scores look like: by criterion, by agent or any other field, and where they say less than it seems.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::summary::Estimate;

/// One score on 0..=1, best is 1, with what is known of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored {
    /// Scores of one case are not independent.
    pub case: String,
    /// Which answer to the case this is about, where there are several: an agent, a trial.
    pub candidate: String,
    pub criterion: String,
    pub unit: f64,
    /// Agent, metadata: anything to look at it by.
    pub fields: BTreeMap<String, String>,
}

/// How scores are spread.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Description {
    /// Several scores of one case count one by one here, and as one in the estimate.
    #[serde(rename = "n_scores")]
    pub n: usize,
    #[serde(flatten)]
    pub estimate: Estimate,
    /// The standard deviation; not to be had from a single score.
    pub sd: Option<f64>,
    /// Least, lower quarter, middle, upper quarter, most.
    pub quartiles: [f64; 5],
    /// How many lie in each tenth; the last holds 1 as well.
    pub tenths: [usize; 10],
    /// Share of the lowest and of the highest score that there can be.
    pub floor: f64,
    pub ceiling: f64,
}

/// `None` if nothing was scored. What is no number is no score.
pub fn describe<'a>(scored: impl IntoIterator<Item = &'a Scored>, seed: u64) -> Option<Description> {
    let scored: Vec<&Scored> = scored.into_iter().filter(|it| it.unit.is_finite()).collect();
    let estimate = Estimate::of(scored.iter().map(|it| (it.case.as_str(), it.unit)), seed)?;
    let mut values: Vec<f64> = scored.iter().map(|it| it.unit).collect();
    values.sort_by(f64::total_cmp);
    let n = values.len();
    let share =
        |wanted: &dyn Fn(f64) -> bool| values.iter().filter(|it| wanted(**it)).count() as f64 / n as f64;
    let mut tenths = [0; 10];
    for value in &values {
        tenths[tenth(*value)] += 1;
    }
    Some(Description {
        n,
        estimate,
        sd: sd(&values),
        quartiles: [0.0, 0.25, 0.5, 0.75, 1.0].map(|it| quantile(&values, it)),
        tenths,
        floor: share(&|it| it <= 0.0),
        ceiling: share(&|it| 1.0 <= it),
    })
}

/// Which tenth a score on 0..=1 lies in.
pub fn tenth(unit: f64) -> usize {
    // Sums of fractions may miss a tenth they reach on paper.
    ((unit * 10.0 + 1e-9) as usize).min(9)
}

fn sd(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|it| (it - mean).powi(2)).sum();
    (1 < values.len()).then(|| (squares / (n - 1.0)).sqrt())
}

/// Between two values in line, as numpy and R do it by default.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    low + (high - low) * place.fract()
}

/// Each criterion over everything, in the order in which they appear.
pub fn by_criterion(scored: &[Scored], seed: u64) -> Vec<(String, Description)> {
    grouped(scored, seed, |it| Some(&it.criterion))
}

/// Everything by the value of one field, such as the agent; what lacks the field is left out.
pub fn by_field(scored: &[Scored], field: &str, seed: u64) -> Vec<(String, Description)> {
    grouped(scored, seed, |it| it.fields.get(field))
}

fn grouped(
    scored: &[Scored],
    seed: u64,
    key: impl Fn(&Scored) -> Option<&String>,
) -> Vec<(String, Description)> {
    let mut groups: Vec<(&String, Vec<&Scored>)> = Vec::new();
    let mut places: BTreeMap<&String, usize> = BTreeMap::new();
    for it in scored {
        let Some(name) = key(it) else { continue };
        let at = *places.entry(name).or_insert_with(|| {
            groups.push((name, Vec::new()));
            groups.len() - 1
        });
        groups[at].1.push(it);
    }
    let described = groups.into_iter().filter_map(|(name, all)| Some((name.clone(), describe(all, seed)?)));
    described.collect()
}

/// The weighted score of each candidate as a score of its own, over the criteria it was scored in.
pub fn weighted(scored: &[Scored], weights: &BTreeMap<String, f64>) -> Vec<Scored> {
    let mut sums: BTreeMap<(&str, &str), (f64, f64, &Scored)> = BTreeMap::new();
    for it in scored.iter().filter(|it| it.unit.is_finite()) {
        let weight = weights.get(&it.criterion).copied().unwrap_or(1.0);
        let sum = sums.entry((&it.case, &it.candidate)).or_insert((0.0, 0.0, it));
        (sum.0, sum.1) = (sum.0 + weight * it.unit, sum.1 + weight);
    }
    let score = |(points, total, it): (f64, f64, &Scored)| {
        (0.0 < total).then(|| Scored {
            criterion: "weighted score".to_owned(),
            unit: points / total,
            ..it.clone()
        })
    };
    sums.into_values().filter_map(score).collect()
}

/// Something that makes scores say less than it seems.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Warning {
    /// Nearly everything gets the lowest score.
    Floor { criterion: String, share: f64 },
    /// Nearly everything gets the highest score.
    Ceiling { criterion: String, share: f64 },
    /// Criteria that always move together: they may be one question, or the grader may answer all of them
    /// from one impression (halo).
    Together {
        criteria: Vec<String>,
        /// The weakest correlation between two of them.
        correlation: f64,
        /// Candidates scored in all of them.
        n: usize,
    },
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let percent = |share: &f64| format!("{:.0} %", share * 100.0);
        match self {
            Self::Floor { criterion, share } => {
                write!(
                    f,
                    "`{criterion}` gives {} of the candidates its lowest score, so it tells few apart",
                    percent(share)
                )
            }
            Self::Ceiling { criterion, share } => {
                write!(
                    f,
                    "`{criterion}` gives {} of the candidates its highest score, so it tells few apart",
                    percent(share)
                )
            }
            Self::Together { criteria, correlation, n } => {
                let names = criteria.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ");
                write!(
                    f,
                    "{names} move together in {n} candidates (correlation {correlation:.2}): one question, or one impression that colours all answers"
                )
            }
        }
    }
}

/// From so many candidates on, an odd distribution is more than chance.
const ENOUGH: usize = 10;
/// A criterion this one-sided tells at most one candidate in ten from the others.
const ONE_SIDED: f64 = 0.9;
/// Four fifths of what one criterion says (r²) are then said by the other.
const TOGETHER: f64 = 0.9;

/// A criterion and the scores of candidates, by case and candidate.
type Column<'a> = (&'a str, BTreeMap<(&'a str, &'a str), f64>);

/// What to know before believing the scores.
pub fn warnings(scored: &[Scored]) -> Vec<Warning> {
    let mut found = Vec::new();
    let mut columns: Vec<Column<'_>> = Vec::new();
    for it in scored.iter().filter(|it| it.unit.is_finite()) {
        let at = columns.iter().position(|column| column.0 == it.criterion).unwrap_or_else(|| {
            columns.push((&it.criterion, BTreeMap::new()));
            columns.len() - 1
        });
        columns[at].1.insert((&it.case, &it.candidate), it.unit);
    }
    for (criterion, values) in columns.iter().filter(|it| ENOUGH <= it.1.len()) {
        let share = |wanted: &dyn Fn(f64) -> bool| {
            values.values().filter(|it| wanted(**it)).count() as f64 / values.len() as f64
        };
        let (floor, ceiling) = (share(&|it| it <= 0.0), share(&|it| 1.0 <= it));
        let criterion = (*criterion).to_owned();
        if ONE_SIDED <= floor {
            found.push(Warning::Floor { criterion, share: floor });
        } else if ONE_SIDED <= ceiling {
            found.push(Warning::Ceiling { criterion, share: ceiling });
        }
    }
    found.extend(together(&columns));
    found
}

/// Groups in which every two move together; a criterion is in one group at most.
fn together(columns: &[Column<'_>]) -> Vec<Warning> {
    let n = columns.len();
    let correlations: Vec<Vec<Option<f64>>> =
        (0..n).map(|a| (0..n).map(|b| correlation(&columns[a].1, &columns[b].1)).collect()).collect();
    let strong = |a: usize, b: usize| correlations[a][b].filter(|it| TOGETHER <= *it);
    let (mut found, mut taken) = (Vec::new(), BTreeSet::new());
    for first in 0..n {
        let mut group = vec![first];
        for next in first + 1..n {
            let fits = group.iter().all(|it| strong(*it, next).is_some());
            if fits && !taken.contains(&first) && !taken.contains(&next) {
                group.push(next);
            }
        }
        if group.len() < 2 {
            continue;
        }
        taken.extend(group.iter().copied());
        let pairs = group.iter().flat_map(|a| group.iter().filter(move |b| a < b).map(move |b| (*a, *b)));
        let correlation = pairs.filter_map(|(a, b)| correlations[a][b]).fold(1.0, f64::min);
        let shared = |key: &&(&str, &str)| group.iter().all(|it| columns[*it].1.contains_key(*key));
        found.push(Warning::Together {
            criteria: group.iter().map(|it| columns[*it].0.to_owned()).collect(),
            correlation,
            n: columns[first].1.keys().filter(shared).count(),
        });
    }
    found
}

/// Pearson's, over what both have; `None` for too few, and where one of them never changes.
fn correlation(one: &BTreeMap<(&str, &str), f64>, other: &BTreeMap<(&str, &str), f64>) -> Option<f64> {
    let pairs: Vec<(f64, f64)> = one.iter().filter_map(|(key, a)| Some((*a, *other.get(key)?))).collect();
    let n = pairs.len() as f64;
    let (a, b) = pairs.iter().fold((0.0, 0.0), |sum, it| (sum.0 + it.0 / n, sum.1 + it.1 / n));
    let (mut ab, mut aa, mut bb) = (0.0, 0.0, 0.0);
    for (x, y) in &pairs {
        (ab, aa, bb) = (ab + (x - a) * (y - b), aa + (x - a).powi(2), bb + (y - b).powi(2));
    }
    (ENOUGH <= pairs.len() && 1e-12 < aa && 1e-12 < bb).then(|| (ab / (aa * bb).sqrt()).clamp(-1.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Criteria as columns, cases as rows; the agents take turns.
    fn table(names: &[&str], rows: &[&[f64]]) -> Vec<Scored> {
        let scored = |at: usize, criterion: usize, unit: f64| Scored {
            case: format!("case {at}"),
            candidate: String::new(),
            criterion: names[criterion].to_owned(),
            unit,
            fields: [("agent".to_owned(), ["a", "b"][at % 2].to_owned())].into(),
        };
        let row = |(at, row): (usize, &&[f64])| -> Vec<Scored> {
            row.iter().enumerate().map(|(criterion, unit)| scored(at, criterion, *unit)).collect()
        };
        rows.iter().enumerate().flat_map(row).collect()
    }

    #[test]
    fn scores_are_described() {
        let scored = table(&["x"], &[&[0.0], &[0.5], &[0.7], &[1.0], &[f64::NAN]]);
        let found = describe(&scored, 1).unwrap();
        assert_eq!((found.n, found.floor, found.ceiling), (4, 0.25, 0.25));
        assert_eq!(found.tenths, [1, 0, 0, 0, 0, 1, 0, 1, 0, 1]);
        assert!((found.estimate.mean - 0.55).abs() < 1e-12);
        // sd and quartiles as numpy gives them.
        assert!((found.sd.unwrap() - 0.420_317_340_414).abs() < 1e-9);
        let expected = [0.0, 0.375, 0.6, 0.775, 1.0];
        assert!(found.quartiles.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
        assert_eq!(describe(&[], 1), None);
        assert_eq!(describe(&scored[..1], 1).unwrap().sd, None);
    }

    #[test]
    fn scores_are_looked_at_by_criterion_and_by_field() {
        let scored = table(&["x", "y"], &[&[0.0, 1.0], &[1.0, 1.0], &[0.5, 0.0]]);
        let means = |all: Vec<(String, Description)>| -> Vec<(String, f64)> {
            all.into_iter().map(|it| (it.0, it.1.estimate.mean)).collect()
        };
        let named = |all: &[(&str, f64)]| all.iter().map(|it| (it.0.to_owned(), it.1)).collect::<Vec<_>>();
        assert_eq!(means(by_criterion(&scored, 1)), named(&[("x", 0.5), ("y", 2.0 / 3.0)]));
        assert_eq!(means(by_field(&scored, "agent", 1)), named(&[("a", 0.375), ("b", 1.0)]));
        assert_eq!(by_field(&scored, "language", 1), []);
        let weights = [("x".to_owned(), 3.0)].into();
        let units: Vec<f64> = weighted(&scored, &weights).iter().map(|it| it.unit).collect();
        assert_eq!(units, [0.25, 1.0, 0.375]);
    }

    #[test]
    fn one_sided_criteria_and_halos_are_told() {
        let rows: Vec<Vec<f64>> = (0..20)
            .map(|at| {
                let x = f64::from(at % 5) / 4.0;
                vec![x, x * 0.8 + 0.1, f64::from(at % 3) / 2.0, 0.0, if at == 0 { 0.5 } else { 1.0 }]
            })
            .collect();
        let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
        let names = ["clear", "correct", "brief", "dead", "easy"];
        let told: Vec<String> = warnings(&table(&names, &rows)).iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "`dead` gives 100 % of the candidates its lowest score, so it tells few apart",
                "`easy` gives 95 % of the candidates its highest score, so it tells few apart",
                "`clear`, `correct` move together in 20 candidates (correlation 1.00): one question, or one impression that colours all answers",
            ]
        );
        assert_eq!(warnings(&table(&names, &rows[..5])), []);
    }
}
