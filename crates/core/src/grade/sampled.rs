//! How candidates came to be graded, where not everything was: beside grades in a table or in lines.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::lines::BadLine;
use super::table::{CANDIDATE, read_column_names};

/// How one candidate was sampled.
#[derive(Debug, Clone, PartialEq)]
pub struct SampledCandidate {
    pub candidate: String,
    pub stratum: Option<String>,
    /// How likely it was to be drawn.
    pub probability: Option<f64>,
}

impl SampledCandidate {
    /// Of the keys `stratum` and `probability` of a line; none where it has neither.
    pub fn of_line(text: &str) -> Result<Option<Self>, BadLine> {
        let Ok(line) = serde_json::from_str::<Json>(text) else { return Ok(None) };
        let written = |key: &str| {
            line.get(key)
                .filter(|line| !line.is_null())
                .map(|line| line.as_str().map_or_else(|| line.to_string(), str::to_owned))
        };
        let Some(candidate) = written("candidate") else { return Ok(None) };
        let probability = written("probability").as_deref().map(parse_probability).transpose()?;
        let stratum = written("stratum");
        let is_sampled = stratum.is_some() || probability.is_some();
        Ok(is_sampled.then_some(Self { candidate, stratum, probability }))
    }

    /// Of the columns `stratum` and `probability` of a table, a row without an answer included.
    pub fn of_table(text: &str, delimiter: u8) -> Result<Vec<Self>, BadLine> {
        let bad = |error: csv::Error| BadLine::Shape(format!("not a table: {error}"));
        let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).from_reader(text.as_bytes());
        let header = read_column_names(&mut reader)?;
        let column =
            |names: &[&str]| names.iter().find_map(|name| header.iter().position(|header| header == name));
        let (stratum, probability) = (column(&["stratum"]), column(&["probability"]));
        if stratum.is_none() && probability.is_none() {
            return Ok(Vec::new());
        }
        let item = column(&CANDIDATE).unwrap_or(0);
        let mut all = Vec::new();
        for row in reader.records() {
            let row = row.map_err(bad)?;
            let cell = |at: usize| row.get(at).map(str::trim).filter(|text| !text.is_empty());
            all.push(Self {
                candidate: cell(item).ok_or(BadLine::Missing("candidate"))?.to_owned(),
                stratum: stratum.and_then(cell).map(str::to_owned),
                probability: probability.and_then(cell).map(parse_probability).transpose()?,
            });
        }
        Ok(all)
    }
}

fn parse_probability(text: &str) -> Result<f64, BadLine> {
    let number = text.parse().ok().filter(|text: &f64| text.is_finite());
    number.ok_or_else(|| BadLine::Shape(format!("a probability is `{text}`; it must be a number up to 1")))
}

/// How many there are in each stratum: a table with the columns `stratum` and `size`.
pub fn read_stratum_sizes(text: &str, delimiter: u8) -> Result<BTreeMap<String, usize>, BadLine> {
    let bad = |error: csv::Error| BadLine::Shape(format!("not a table: {error}"));
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).from_reader(text.as_bytes());
    let header = read_column_names(&mut reader)?;
    let column = |names: &[&str]| header.iter().position(|header| names.contains(&header.as_str()));
    let stratum = column(&["stratum"]).ok_or(BadLine::Missing("stratum"))?;
    let size = column(&["size", "population", "n"]).ok_or(BadLine::Missing("size"))?;
    let mut sizes = BTreeMap::new();
    for row in reader.records() {
        let row = row.map_err(bad)?;
        let (name, written) = (row[stratum].trim(), row[size].trim());
        let size = written.parse().map_err(|_| {
            BadLine::Shape(format!("the size of `{name}` is `{written}`; it must be a whole number"))
        })?;
        if sizes.insert(name.to_owned(), size).is_some() {
            return Err(BadLine::Shape(format!("`{name}` appears twice")));
        }
    }
    Ok(sizes)
}

#[cfg(test)]
mod tests {
    use super::super::{Outcome, read_grade_table};
    use super::*;

    #[test]
    fn tables_say_how_they_were_sampled_beside_their_grades() {
        let text =
            "id,judge,stratum,probability,time\na,1,failed,1,2026-03-20\nb,,fine,0.1,\nc,NaN,fine,0.1,";
        let grades = read_grade_table(text, b',').unwrap().grades;
        let read: Vec<(&str, &str)> =
            grades.iter().map(|grade| (grade.0.candidate.as_str(), grade.0.grader.name.as_str())).collect();
        assert_eq!(read, [("a", "judge"), ("c", "judge")]);
        assert!(grades[0].0.time.is_some() && matches!(grades[1].0.outcome, Outcome::Abstained { .. }));
        let sampled = SampledCandidate::of_table(text, b',').unwrap();
        assert_eq!(
            (sampled.len(), sampled[1].stratum.as_deref(), sampled[1].probability),
            (3, Some("fine"), Some(0.1))
        );
        assert!(SampledCandidate::of_table("id,judge\na,1", b',').unwrap().is_empty());
    }

    #[test]
    fn sizes_and_probabilities_are_numbers() {
        assert_eq!(read_stratum_sizes("stratum,size\na,10\nb,7", b',').unwrap()["b"], 7);
        let check = |result: Result<(), BadLine>, expected: &str| {
            let error = result.unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        };
        check(read_stratum_sizes("stratum,size\na,many", b',').map(|_| ()), "the size of `a` is `many`");
        check(read_stratum_sizes("stratum,size\na,1\na,1", b',').map(|_| ()), "`a` appears twice");
        check(read_stratum_sizes("size\n1", b',').map(|_| ()), "`stratum` is missing");
        check(
            SampledCandidate::of_table("id,probability\na,often", b',').map(|_| ()),
            "a probability is `often`",
        );
        check(read_grade_table("id,ann\na,inf", b',').map(|_| ()), "`inf` is not a finite number");
        let line = r#"{"candidate": 7, "criterion": "c", "value": 1, "stratum": "x", "probability": 0.5}"#;
        let result = SampledCandidate::of_line(line).unwrap().unwrap();
        assert_eq!((result.candidate.as_str(), result.probability), ("7", Some(0.5)));
        assert!(crate::grade::GradesFileLine::parse(line).is_ok());
    }
}
