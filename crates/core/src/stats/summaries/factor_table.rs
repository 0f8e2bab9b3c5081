//! A run by what differs between its cases, such as models by prompts: a cell for each two.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use super::summary::{Estimate, estimate_pass_rate};
use crate::grade::{GraderKind, VerdictStatus};
use crate::run::{CaseResult, Run};
use crate::stats::basics::proportion::Proportion;

/// Cases in rows and columns.
#[derive(Debug, Clone, PartialEq)]
pub struct FactorTable {
    /// Everything that cases differ in and that can be an axis.
    pub keys: Vec<FactorKey>,
    /// Absent where nothing differs.
    pub rows_by: Option<String>,
    pub columns_by: Option<String>,
    pub rows: Vec<String>,
    pub columns: Vec<String>,
    /// Row by row; none where there is no case.
    pub cells: Vec<Vec<Option<FactorCell>>>,
}

/// A field that cases differ in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactorKey {
    pub key: String,
    pub n_values: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub struct FactorCell {
    /// Number of results, including those without a verdict.
    pub n: usize,
    pub passed: usize,
    /// Those that passed or failed.
    pub decided: usize,
    pub score: Option<Estimate>,
    /// Of those that were decided.
    pub pass_rate: Option<Proportion>,
}

/// What usually is to be compared comes first.
const KNOWN: [&str; 4] = ["agent", "model", "prompt", "judge"];

/// More rows or columns than this are no table to look at.
const MOST: usize = 40;

/// The level of cases without a value for the factor.
const UNKNOWN_VALUE: &str = "–";

/// One result, as much as is needed of it.
struct CaseFactors {
    case: String,
    status: VerdictStatus,
    score: Option<f64>,
    values: BTreeMap<String, String>,
}

impl CaseFactors {
    fn new(result: &CaseResult) -> Self {
        let word = |value: &Json| match value {
            Json::String(text) => Some(text.clone()),
            Json::Number(_) | Json::Bool(_) => Some(value.to_string()),
            Json::Null | Json::Array(_) | Json::Object(_) => None,
        };
        let judges = result.grades.iter().filter(|grade| grade.grader.kind == GraderKind::Judge);
        let judges: BTreeSet<&str> = judges.map(|grade| grade.grader.name.as_str()).collect();
        let judges: Vec<&str> = judges.into_iter().collect();
        let mut values: BTreeMap<String, String> =
            result.metadata.iter().filter_map(|(key, value)| Some((key.clone(), word(value)?))).collect();
        if !judges.is_empty() {
            values.entry("judge".to_owned()).or_insert(judges.join(", "));
        }
        let (status, score) = (result.verdict.status, result.verdict.score);
        Self { case: result.base().to_owned(), status, score, values }
    }

    fn value(&self, key: Option<&str>) -> &str {
        match key {
            Some(key) => self.values.get(key).map_or(UNKNOWN_VALUE, String::as_str),
            None => "all",
        }
    }
}

/// Rows and columns by the requested factors, or else by the factors that the suite varies.
pub fn build_factor_table(run: &Run, rows_by: Option<&str>, columns_by: Option<&str>) -> FactorTable {
    let cases: Vec<CaseFactors> = run.results.iter().map(|result| CaseFactors::new(&result)).collect();
    let keys = keys(&cases);
    let has = |key: &str| keys.iter().any(|factor| factor.key == key);
    let rows_by = rows_by
        .filter(|rows_by| has(rows_by))
        .or_else(|| keys.iter().map(|factor| factor.key.as_str()).find(|key| Some(*key) != columns_by));
    let says_more = |key: &&str| rows_by.is_some_and(|rows| is_finer(&cases, rows, key));
    let columns_by = columns_by
        .filter(|columns_by| has(columns_by) && Some(*columns_by) != rows_by)
        .or_else(|| KNOWN.into_iter().filter(|known| has(known) && Some(*known) != rows_by).find(says_more));
    let names = |key: Option<&str>| -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for it in &cases {
            let value = it.value(key);
            if !all.iter().any(|text| text == value) {
                all.push(value.to_owned());
            }
        }
        all
    };
    let (rows, columns) = (names(rows_by), names(columns_by));
    let mut groups: BTreeMap<(&str, &str), Vec<&CaseFactors>> = BTreeMap::new();
    for it in &cases {
        groups.entry((it.value(rows_by), it.value(columns_by))).or_default().push(it);
    }
    let cell = |row: &str, column: &str| {
        groups.get(&(row, column)).map(|case_factorses| build_factor_cell(case_factorses))
    };
    let cells = rows.iter().map(|row| columns.iter().map(|column| cell(row, column)).collect()).collect();
    let owned = |text: Option<&str>| text.map(str::to_owned);
    FactorTable { rows_by: owned(rows_by), columns_by: owned(columns_by), cells, rows, columns, keys }
}

/// What has at least two values and not too many, the usual first.
fn keys(cases: &[CaseFactors]) -> Vec<FactorKey> {
    let mut values: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (key, value) in cases.iter().flat_map(|case_factors| &case_factors.values) {
        let all = values.entry(key).or_default();
        if all.len() <= MOST {
            all.insert(value);
        }
    }
    // One that only some cases have tells them from the others.
    let lacks = |key: &str| cases.iter().any(|case_factors| !case_factors.values.contains_key(key));
    let mut keys: Vec<FactorKey> = values
        .into_iter()
        .map(|(key, all)| FactorKey { key: key.to_owned(), n_values: all.len() + usize::from(lacks(key)) })
        .filter(|factor| (2..=MOST).contains(&factor.n_values))
        .collect();
    keys.sort_by_key(|factor| KNOWN.iter().position(|known| *known == factor.key).unwrap_or(KNOWN.len()));
    keys
}

/// Whether a key tells apart what another does not: a model that is named like its agent adds no column.
fn is_finer(cases: &[CaseFactors], rows: &str, key: &str) -> bool {
    let count =
        |of: &dyn Fn(&CaseFactors) -> (String, String)| cases.iter().map(of).collect::<BTreeSet<_>>().len();
    let both = count(&|it| (it.value(Some(rows)).to_owned(), it.value(Some(key)).to_owned()));
    both > count(&|it| (it.value(Some(rows)).to_owned(), String::new()))
}

fn build_factor_cell(group: &[&CaseFactors]) -> FactorCell {
    let n_of =
        |status: VerdictStatus| group.iter().filter(|case_factors| case_factors.status == status).count();
    let passed = n_of(VerdictStatus::Pass);
    let decided = passed + n_of(VerdictStatus::Fail);
    let scores =
        group.iter().filter_map(|case_factors| Some((case_factors.case.as_str(), case_factors.score?)));
    let score = Estimate::of(scores);
    let verdicts = group.iter().map(|case_factors| (case_factors.case.as_str(), case_factors.status));
    FactorCell { n: group.len(), passed, decided, score, pass_rate: estimate_pass_rate(verdicts) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::stats::comparison::compare::tests::run_of;

    fn run() -> Run {
        let names: Vec<String> = (0..8).map(|n| format!("case {n}")).collect();
        let scores = [1.0, 0.9, 0.2, 0.8, 0.1, 0.3, 0.9, 1.0];
        let cases: Vec<(&str, Option<f64>)> =
            names.iter().zip(scores).map(|(name, value)| (name.as_str(), Some(value))).collect();
        let mut run = run_of(&cases);
        run.results.change(|at, result| {
            let model = if at < 4 { "small" } else { "large" };
            result.metadata.insert("agent".to_owned(), json!(model));
            result.metadata.insert("model".to_owned(), json!(model));
            result.metadata.insert("prompt".to_owned(), json!(at % 2 + 1));
            result.metadata.insert("question".to_owned(), json!(format!("question {at}")));
        });
        run
    }

    #[test]
    fn models_stand_beside_prompts() {
        let result = build_factor_table(&run(), None, None);
        // A model that is its agent would only make a diagonal.
        assert_eq!(
            (result.rows_by.as_deref(), result.columns_by.as_deref()),
            (Some("agent"), Some("prompt"))
        );
        assert_eq!(
            (result.rows, result.columns),
            (vec!["small".into(), "large".into()], vec!["1".into(), "2".into()])
        );
        let cell = result.cells[0][0].clone().unwrap();
        assert_eq!((cell.n, cell.passed, cell.decided), (2, 1, 2));
        assert!((cell.score.unwrap().mean - 0.6).abs() < 1e-12);
        let keys: Vec<&str> = result.keys.iter().map(|factor| factor.key.as_str()).collect();
        assert_eq!(keys, ["agent", "model", "prompt", "question"]);
    }

    #[test]
    fn any_field_is_an_axis_and_without_one_all_stand_together() {
        let result = build_factor_table(&run(), Some("question"), Some("model"));
        assert_eq!((result.rows.len(), result.columns.len()), (8, 2));
        assert_eq!(result.cells[0][1], None, "the large one was not asked");
        let alone = build_factor_table(&run_of(&[("a", Some(1.0)), ("b", None)]), None, None);
        assert_eq!((alone.rows, alone.columns), (vec!["all".to_owned()], vec!["all".to_owned()]));
        let cell = alone.cells[0][0].clone().unwrap();
        assert_eq!((cell.n, cell.passed, cell.decided), (2, 1, 1), "an error is no failure");
    }
}
