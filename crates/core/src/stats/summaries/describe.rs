//! What scores look like: by criterion, by agent or any other field, and where they say less than it seems.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use serde::Serialize;

use super::summary::Estimate;
use crate::stats::basics::bounded::Cluster;

/// One score on 0..=1, best is 1, with what is known of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoreEntry<'a> {
    /// Scores of one case are not independent.
    pub case: &'a str,
    /// Which answer to the case this is about, where there are several: an agent, a trial.
    pub candidate: &'a str,
    pub grader: &'a str,
    pub criterion: &'a str,
    /// Where it was read.
    pub file: &'a str,
    /// What it is looked at by: an agent, a value of metadata.
    pub group: &'a str,
    pub unit: f64,
}

/// Fields that scores can be grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScoreField {
    Criterion,
    File,
    Group,
}

/// Scores in rows of numbers. Every name is kept once, so that there may be millions of them.
#[derive(Debug, Default)]
pub struct ScoreTable {
    names: Vec<Arc<str>>,
    places: HashMap<Arc<str>, u32>,
    rows: Vec<ScoreRow>,
}

/// A score whose names are places in the list of names.
#[derive(Debug, Clone, Copy)]
struct ScoreRow {
    answer: AnswerKey,
    criterion: u32,
    group: u32,
    unit: f64,
}

/// Rows with the same value of a field.
struct RowGroup<'a> {
    /// The value, as its place in the list of names.
    name: u32,
    rows: Vec<&'a ScoreRow>,
}

/// Criteria of one answer by one grader can be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct AnswerKey {
    case: u32,
    candidate: u32,
    grader: u32,
    file: u32,
}

impl ScoreTable {
    /// What is no number is no score.
    pub fn push(&mut self, scored: &ScoreEntry<'_>) {
        if !scored.unit.is_finite() {
            return;
        }
        let case = self.place(scored.case);
        let candidate = if scored.candidate == scored.case { case } else { self.place(scored.candidate) };
        let answer =
            AnswerKey { case, candidate, grader: self.place(scored.grader), file: self.place(scored.file) };
        let (criterion, group) = (self.place(scored.criterion), self.place(scored.group));
        self.rows.push(ScoreRow { answer, criterion, group, unit: scored.unit });
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The values of a field in the order in which they appear.
    pub fn values(&self, field: ScoreField) -> Vec<String> {
        self.group_rows(field).iter().map(|group| self.names[group.name as usize].to_string()).collect()
    }

    /// Everything by the value of one field, in the order in which they appear.
    pub fn describe_by(&self, field: ScoreField) -> Vec<(String, ScoreDistribution)> {
        let groups = self.group_rows(field);
        let described = groups
            .iter()
            .filter_map(|group| Some((self.names[group.name as usize].to_string(), describe(&group.rows)?)));
        described.collect()
    }

    /// Only scores with this value of a field.
    pub fn only(&self, field: ScoreField, value: &str) -> Self {
        let place = self.places.get(value).copied();
        let rows = self.rows.iter().filter(|row| Some(field.of(row)) == place).copied().collect();
        Self { names: self.names.clone(), places: self.places.clone(), rows }
    }

    fn place(&mut self, name: &str) -> u32 {
        if let Some(place) = self.places.get(name) {
            return *place;
        }
        let (name, place) = (Arc::<str>::from(name), self.names.len() as u32);
        self.names.push(Arc::clone(&name));
        self.places.insert(name, place);
        place
    }

    fn group_rows(&self, field: ScoreField) -> Vec<RowGroup<'_>> {
        let mut groups: Vec<RowGroup<'_>> = Vec::new();
        let mut places: HashMap<u32, usize> = HashMap::new();
        for row in &self.rows {
            let name = field.of(row);
            let at = *places.entry(name).or_insert_with(|| {
                groups.push(RowGroup { name, rows: Vec::new() });
                groups.len() - 1
            });
            groups[at].rows.push(row);
        }
        groups
    }
}

impl ScoreField {
    fn of(self, row: &ScoreRow) -> u32 {
        match self {
            Self::Criterion => row.criterion,
            Self::File => row.answer.file,
            Self::Group => row.group,
        }
    }
}

/// How scores are spread.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScoreDistribution {
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

/// `None` if nothing was scored.
fn describe(rows: &[&ScoreRow]) -> Option<ScoreDistribution> {
    let mut by_case: Vec<&ScoreRow> = rows.to_vec();
    by_case.sort_by_key(|row| row.answer.case);
    let cluster =
        |rows: &[&ScoreRow]| Cluster { sum: rows.iter().map(|row| row.unit).sum(), n: rows.len() as f64 };
    let clusters: Vec<Cluster> =
        by_case.chunk_by(|a, b| a.answer.case == b.answer.case).map(cluster).collect();
    let estimate = Estimate::of_clusters(&clusters)?;
    let mut values: Vec<f64> = rows.iter().map(|row| row.unit).collect();
    values.sort_unstable_by(f64::total_cmp);
    let n = values.len();
    let share = |wanted: &dyn Fn(f64) -> bool| {
        values.iter().filter(|value| wanted(**value)).count() as f64 / n as f64
    };
    let mut tenths = [0; 10];
    for value in &values {
        tenths[tenth(*value)] += 1;
    }
    Some(ScoreDistribution {
        n,
        estimate,
        sd: sd(&values),
        quartiles: [0.0, 0.25, 0.5, 0.75, 1.0].map(|value| sorted_quantile(&values, value)),
        tenths,
        floor: share(&|it| it <= 0.0),
        ceiling: share(&|it| 1.0 <= it),
    })
}

/// Which tenth a score on 0..=1 lies in.
pub fn tenth(unit: f64) -> usize {
    // Sums of binary fractions may miss a tenth that decimal ones reach.
    ((unit * 10.0 + 1e-9) as usize).min(9)
}

fn sd(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (1 < values.len()).then(|| (squares / (n - 1.0)).sqrt())
}

/// Between two values in line, as numpy and R do it by default.
fn sorted_quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    low + (high - low) * place.fract()
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
                    "`{criterion}` gives {} of the candidates its lowest score (floor effect), so it distinguishes few candidates",
                    percent(share)
                )
            }
            Self::Ceiling { criterion, share } => {
                write!(
                    f,
                    "`{criterion}` gives {} of the candidates its highest score (ceiling effect), so it distinguishes few candidates",
                    percent(share)
                )
            }
            Self::Together { criteria, correlation, n } => {
                let names =
                    criteria.iter().map(|criterion| format!("`{criterion}`")).collect::<Vec<_>>().join(", ");
                write!(
                    f,
                    "{names} are strongly correlated over {n} candidates ({correlation:.2}): they may measure the same thing (halo effect)"
                )
            }
        }
    }
}

/// From so many candidates on, an odd distribution is more than chance.
const ENOUGH: usize = 10;
/// A criterion this one-sided tells at most one candidate in ten from the others.
const ONE_SIDED: f64 = 0.9;
/// One criterion then explains four fifths of the other's variance (r²).
const TOGETHER: f64 = 0.9;

/// A criterion and its score of each answer, in the order of answers.
struct CriterionColumn<'a> {
    criterion: &'a str,
    scores: Vec<AnswerScore>,
}

/// What one criterion gives an answer.
#[derive(Clone, Copy)]
struct AnswerScore {
    answer: AnswerKey,
    unit: f64,
}

/// What to know before believing the scores.
pub fn find_score_warnings(table: &ScoreTable) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let column = |RowGroup { name, rows }: RowGroup<'_>| {
        let mut scores: Vec<AnswerScore> =
            rows.iter().map(|row| AnswerScore { answer: row.answer, unit: row.unit }).collect();
        scores.sort_by_key(|score| score.answer);
        // Of several scores of one answer the last counts.
        scores.reverse();
        scores.dedup_by_key(|score| score.answer);
        scores.reverse();
        CriterionColumn { criterion: &table.names[name as usize], scores }
    };
    let columns: Vec<CriterionColumn<'_>> =
        table.group_rows(ScoreField::Criterion).into_iter().map(column).collect();
    for CriterionColumn { criterion, scores } in columns.iter().filter(|column| ENOUGH <= column.scores.len())
    {
        let share = |wanted: &dyn Fn(f64) -> bool| {
            scores.iter().filter(|score| wanted(score.unit)).count() as f64 / scores.len() as f64
        };
        let (floor, ceiling) = (share(&|it| it <= 0.0), share(&|it| 1.0 <= it));
        let criterion = (*criterion).to_owned();
        if ONE_SIDED <= floor {
            warnings.push(Warning::Floor { criterion, share: floor });
        } else if ONE_SIDED <= ceiling {
            warnings.push(Warning::Ceiling { criterion, share: ceiling });
        }
    }
    warnings.extend(group_correlated_criteria(&columns));
    warnings
}

/// Groups of criteria whose scores correlate pairwise; a criterion is in one group at most.
fn group_correlated_criteria(columns: &[CriterionColumn<'_>]) -> Vec<Warning> {
    let n = columns.len();
    let with = |a: usize, b: usize| correlate_scores(&columns[a].scores, &columns[b].scores);
    let correlations: Vec<Vec<Option<f64>>> =
        (0..n).map(|a| (0..n).map(|b| (a < b).then(|| with(a, b))?).collect()).collect();
    let strong = |a: usize, b: usize| correlations[a][b].filter(|correlation| TOGETHER <= *correlation);
    let (mut warnings, mut taken) = (Vec::new(), BTreeSet::new());
    for first in 0..n {
        let mut group = vec![first];
        for next in first + 1..n {
            let fits = group.iter().all(|group| strong(*group, next).is_some());
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
        let has = |at: usize, key: &AnswerKey| {
            columns[at].scores.binary_search_by_key(key, |score| score.answer).is_ok()
        };
        let shared = |score: &&AnswerScore| group.iter().all(|at| has(*at, &score.answer));
        warnings.push(Warning::Together {
            criteria: group.iter().map(|at| columns[*at].criterion.to_owned()).collect(),
            correlation,
            n: columns[first].scores.iter().filter(shared).count(),
        });
    }
    warnings
}

/// Pearson's, over what both have; `None` for too few, and where one of them never changes.
fn correlate_scores(one: &[AnswerScore], other: &[AnswerScore]) -> Option<f64> {
    let mut others = other.iter().peekable();
    let mut pairs: Vec<(f64, f64)> = Vec::new();
    for score in one {
        while others.next_if(|other| other.answer < score.answer).is_some() {}
        let same = others.next_if(|other| other.answer == score.answer);
        pairs.extend(same.map(|other| (score.unit, other.unit)));
    }
    let n = pairs.len() as f64;
    let a = pairs.iter().map(|(a, _)| a / n).sum::<f64>();
    let b = pairs.iter().map(|(_, b)| b / n).sum::<f64>();
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
    fn table(names: &[&str], rows: &[&[f64]]) -> ScoreTable {
        let mut table = ScoreTable::default();
        for (at, row) in rows.iter().enumerate() {
            for (criterion, unit) in row.iter().enumerate() {
                table.push(&ScoreEntry {
                    case: &format!("case {at}"),
                    candidate: "",
                    grader: "",
                    criterion: names[criterion],
                    file: "",
                    group: ["a", "b"][at % 2],
                    unit: *unit,
                });
            }
        }
        table
    }

    fn described(table: &ScoreTable) -> Option<ScoreDistribution> {
        table.describe_by(ScoreField::File).pop().map(|(_, distribution)| distribution)
    }

    #[test]
    fn scores_are_described() {
        let result = described(&table(&["x"], &[&[0.0], &[0.5], &[0.7], &[1.0], &[f64::NAN]])).unwrap();
        assert_eq!((result.n, result.floor, result.ceiling), (4, 0.25, 0.25));
        assert_eq!(result.tenths, [1, 0, 0, 0, 0, 1, 0, 1, 0, 1]);
        assert!((result.estimate.mean - 0.55).abs() < 1e-12);
        // sd and quartiles as numpy gives them.
        assert!((result.sd.unwrap() - 0.420_317_340_414).abs() < 1e-9);
        let expected = [0.0, 0.375, 0.6, 0.775, 1.0];
        assert!(result.quartiles.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{result:?}");
        assert_eq!(described(&table(&["x"], &[])), None);
        assert_eq!(described(&table(&["x"], &[&[0.0]])).unwrap().sd, None);
    }

    #[test]
    fn scores_are_looked_at_by_criterion_and_by_field() {
        let scored = table(&["x", "y"], &[&[0.0, 1.0], &[1.0, 1.0], &[0.5, 0.0]]);
        let means = |field| -> Vec<(String, f64)> {
            scored
                .describe_by(field)
                .into_iter()
                .map(|(name, distribution)| (name, distribution.estimate.mean))
                .collect()
        };
        let named = |all: &[(&str, f64)]| {
            all.iter().map(|(name, mean)| ((*name).to_owned(), *mean)).collect::<Vec<_>>()
        };
        assert_eq!(means(ScoreField::Criterion), named(&[("x", 0.5), ("y", 2.0 / 3.0)]));
        assert_eq!(means(ScoreField::Group), named(&[("a", 0.375), ("b", 1.0)]));
        let of_a = scored.only(ScoreField::Group, "a").describe_by(ScoreField::Criterion);
        let of_a: Vec<(String, f64)> =
            of_a.into_iter().map(|(name, distribution)| (name, distribution.estimate.mean)).collect();
        assert_eq!(of_a, named(&[("x", 0.25), ("y", 0.5)]));
        assert!(scored.only(ScoreField::Group, "c").is_empty());
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
        let sentences: Vec<String> =
            find_score_warnings(&table(&names, &rows)).iter().map(ToString::to_string).collect();
        assert_eq!(
            sentences,
            [
                "`dead` gives 100 % of the candidates its lowest score (floor effect), so it distinguishes few candidates",
                "`easy` gives 95 % of the candidates its highest score (ceiling effect), so it distinguishes few candidates",
                "`clear`, `correct` are strongly correlated over 20 candidates (1.00): they may measure the same thing (halo effect)",
            ]
        );
        assert_eq!(find_score_warnings(&table(&names, &rows[..5])), []);
    }
}
